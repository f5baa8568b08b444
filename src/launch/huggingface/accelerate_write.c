/* Hugging Face accelerate: a plan as its YAML (FSDP 2 and DDP), and what its own checks refuse
 * (parallelism_config.py and commands/launch.py, 1.15). The model, the batch and the length are in
 * the training script; a comment carries them to `step --from`. */
#include <stdlib.h>
#include <string.h>

#include "launch/huggingface/accelerate.h"
#include "launch/fields/assumed.h"
#include "launch/formats/syntax.h"

/* A size of parallelism_config; 1 where it is not given. */
static long long size_of(const struct sp_settings *s, const char *name)
{
    char full[72];
    snprintf(full, sizeof full, "parallelism_config.parallelism_config_%s_size", name);
    return sp_said_whole(s, full, 1);
}

void sp_check_accelerate(const struct sp_settings *s, struct sp_refusals *refused)
{
    const long long copies = size_of(s, "dp_replicate"), shards = size_of(s, "dp_shard"),
                    tp = size_of(s, "tp"), cp = size_of(s, "cp"), sequence = size_of(s, "sp");
    const char *const version = sp_said(s, "fsdp_config.fsdp_version"),
                      *const processes = sp_said(s, "num_processes"),
                      *const type = sp_said(s, "distributed_type");
    const bool given = copies * shards * tp * cp * sequence > 1;
    const bool second = type && strcmp(type, "FSDP") == 0 && version && strcmp(version, "2") == 0;
    const struct sp_check checks[] = {
        {(tp > 1 || cp > 1) && copies > 1 && shards == 1,
         "TP or context parallelism with replicas and without shards"},
        {cp > 1 && sequence > 1, "cp_size and sp_size"},
        {given && sequence == 1 && processes &&
             copies * shards * tp * cp != strtoll(processes, NULL, 10),
         "sizes of parallelism_config that do not make num_processes"},
        {given && sequence == 1 && !second, "parallelism_config without FSDP of version 2"},
    };
    refused->n = 0;
    SP_REFUSE(checks, refused);
}

static void lose(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const bool alone = p->dp * p->cp == 1, routed = l->model->moe.experts > 0;
    const struct {
        bool holds;
        const char *what;
    } losses[] = {
        {l->hw->network.kind == SP_TORUS, "TPUs, which it starts otherwise"},
        {p->pp > 1, "pipeline stages"},
        {p->vpp > 1, "chunks of layers on a stage"},
        {routed && p->ep > 1, "expert parallelism"},
        {routed && p->etp > 1, "tensor parallelism inside experts"},
        {p->zero == 1 && !alone, "ZeRO 1; it shards gradients too"},
        {p->zero == 0 && (p->tp > 1 || p->cp > 1), "weights on every replica with TP or CP"},
        {p->zero > 0 && alone && (routed || p->tp == 1), "shards of one replica"},
        {p->zero > 0 && !alone && p->shards / p->cp <= 1 && p->cp > 1,
         "shard groups inside context parallelism"},
        {p->zero > 0 && !alone && p->shards % p->cp != 0, "shard groups that CP does not divide"},
        {p->zero > 0 && !alone && p->shards == 1, "shard groups of one device"},
        {p->tp > 1 && p->sequence_parallel, "sequence parallelism with TP"},
        {strcmp(l->remat, "none") != 0 && !(strcmp(l->remat, "full") == 0 && p->zero > 0),
         "this recompute policy: the model's code decides"},
        {p->recompute_layers < 1, "recompute of a share of the layers"},
        {p->recompute.offload, "activations that wait in the host's memory"},
        {p->stages_inside, "stages as neighbours (--placement pp-inside)"},
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].holds)
            sp_lose(lost, "%s", losses[i].what);
    if (!sp_states_are(l, "fp32") || (p->dtype != SP_BF16 && !sp_multiplies_in_fp32(p)))
        sp_lose(lost, "precision recipe %s; states in fp32, matmuls in bf16 stand for it",
                l->recipe);
}

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
            strcmp(l->remat, "full") == 0 ? "true" : "false", p->zero == 2 ? "false" : "true");
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

void sp_write_accelerate(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    struct sp_refusals refused;
    struct sp_settings *s;
    char *const options = sp_written_yaml(l, put_options, &s);
    lose(l, lost);
    sp_check_accelerate(s, &refused);
    sp_lose_refusals("accelerate", &refused, lost);
    sp_write_head(l, "accelerate 1.15 settings", lost, out);
    sp_write_assumed(l, "torchtitan", false, "# ", "\n", out);
    fprintf(out, "# scaleplan: --batch %lldx --seq %lld --micro-batch %lld\n", (long long)p->batch,
            (long long)p->seq, (long long)p->micro_batch);
    fputs(options, out);
    free(options);
    free(s);
}
