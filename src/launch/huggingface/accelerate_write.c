/* Hugging Face accelerate: a plan as its YAML (FSDP 2 and DDP), and what its own checks refuse
 * (parallelism_config.py and commands/launch.py, 1.15). The model, the batch and the length are in
 * the training script; a comment carries them to `step --from`. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/huggingface/accelerate.h"
#include "launch/fields/assumed.h"
#include "launch/formats/syntax.h"

static void put_sharding(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const long long group = p->shards / p->cp > 0 ? p->shards / p->cp : 1;
    fprintf(out,
            "fsdp_config:\n"
            "  fsdp_activation_checkpointing: %s\n"
            "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
            "  fsdp_reshard_after_forward: %s\n"
            "  fsdp_state_dict_type: SHARDED_STATE_DICT\n"
            "  fsdp_version: 2\n",
            sp_is(l->remat, "full") ? "true" : "false", p->zero == 2 ? "false" : "true");
    fprintf(out,
            "parallelism_config:\n"
            "  parallelism_config_dp_replicate_size: %lld\n"
            "  parallelism_config_dp_shard_size: %lld\n"
            "  parallelism_config_tp_size: %lld\n"
            "  parallelism_config_cp_size: %lld\n",
            (long long)p->dp / group, group, (long long)p->tp, (long long)p->cp);
}

static void put_options(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const long long devices = sp_plan_devices(p),
                    node = l->hw->network.domain > 0 ? (long long)l->hw->network.domain : devices;
    fprintf(out,
            "compute_environment: LOCAL_MACHINE\n"
            "distributed_type: %s\n"
            "mixed_precision: '%s'\n"
            "num_machines: %lld\n"
            "num_processes: %lld\n",
            p->zero > 0   ? "FSDP"
            : devices > 1 ? "MULTI_GPU"
                          : "'NO'",
            sp_multiplies_in_fp32(p) ? "no" : "bf16", (devices + node - 1) / node, devices);
    if (p->zero > 0)
        put_sharding(l, out);
}

void sp_write_accelerate(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    struct sp_settings *s;
    char *const options = sp_written_yaml(l, put_options, &s);
    sp_lose_plan(l, NULL);
    sp_lose_rules(l, &(struct sp_rules){.settings = s});
    sp_write_head(l, l->words[0], " settings", out);
    sp_write_assumed(l, "torchtitan", false, "# ", "\n", out);
    fprintf(out, "# scaleplan: --batch %lldx --seq %lld --micro-batch %lld\n", (long long)p->batch,
            (long long)p->seq, (long long)p->micro_batch);
    fputs(options, out);
    free(options);
    free(s);
}
