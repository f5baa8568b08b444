/* Hugging Face accelerate: a plan as its YAML (FSDP 2 and DDP), and what its own checks refuse
 * (parallelism_config.py and commands/launch.py, 1.15). The model, the batch and the length are in
 * the training script; a comment carries them to `step --from`. */
#include <stdlib.h>

#include "base/text.h"

#include "launch/huggingface/accelerate.h"
#include "launch/fields/assumed.h"
#include "launch/formats/syntax.h"

/* Settings of the plan that take more than a row. */
static void make(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const int64_t devices = sp_plan_devices(p),
                  node = l->hw->network.domain > 0 ? l->hw->network.domain : devices,
                  group = p->shards / p->cp > 0 ? p->shards / p->cp : 1;
    sp_make_setting(made, "distributed_type",
                    p->zero > 0   ? "FSDP"
                    : devices > 1 ? "MULTI_GPU"
                                  : "'NO'");
    sp_make_setting(made, "mixed_precision", sp_multiplies_in_fp32(p) ? "'no'" : "'bf16'");
    sp_make_whole(made, "num_machines", (devices + node - 1) / node);
    sp_make_whole(made, "num_processes", devices);
    if (p->zero == 0)
        return;
    sp_make_cp_kind(l, made);
    sp_make_setting(made, "fsdp_config.fsdp_activation_checkpointing",
                    sp_is(l->remat, "full") ? "true" : "false");
    sp_make_setting(made, "fsdp_config.fsdp_reshard_after_forward",
                    p->zero == 2 ? "false" : "true");
    sp_make_whole(made, "parallelism_config.parallelism_config_dp_replicate_size", p->dp / group);
    sp_make_whole(made, "parallelism_config.parallelism_config_dp_shard_size", group);
}

void sp_write_accelerate(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    struct sp_settings *const made = sp_settings_of(l), *const s = sp_settings_of(l);
    make(l, made);
    sp_put_rows(l, made, s);
    sp_lose_plan(l, NULL);
    sp_lose_rules(l, &(struct sp_rules){.settings = s});
    sp_write_head(l, l->words[0], " settings", out);
    sp_write_assumed(l, "torchtitan", false, "# ", "\n", out);
    fprintf(out, "# scaleplan: --batch %lldx --seq %lld --micro-batch %lld\n", (long long)p->batch,
            (long long)p->seq, (long long)p->micro_batch);
    sp_put_yaml(s, out);
    free(made);
    free(s);
}
