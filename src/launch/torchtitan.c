/* torchtitan: a Python recipe that sets the fields of its Trainer.Config. Tokens, not sequences,
 * measure its batches. Fields: torchtitan/config and torchtitan/trainer.py. */
#include <string.h>

#include "launch/torchtitan.h"

/* Its name of a schedule; NULL: none. */
static const char *schedule_name(const struct sp_plan *p)
{
    static const char *const names[SP_SCHEDULES] = {
        [SP_GPIPE] = "GPipe", [SP_1F1B] = "1F1B", [SP_INTERLEAVED] = "Interleaved1F1B"};
    return names[p->schedule];
}

/* What it takes the table of tokens and the head for, in layers of the first and last stage: none
 * where L divides among the chunks, one each where L + 2 does. -1: neither. */
static int64_t ends_in_layers(const struct sp_launched *l)
{
    const int64_t L = l->model->layers, chunks = l->plan->pp * l->plan->vpp;
    return L % chunks == 0 ? 0 : (L + 2) % chunks == 0 ? 1 : -1;
}

/* Activation checkpointing: the class that does it; NULL: none. */
static const char *checkpointing(const struct sp_launched *l)
{
    return strcmp(l->remat, "none") == 0   ? NULL
           : strcmp(l->remat, "full") == 0 ? "FullAC"
                                           : "SelectiveAC";
}

static void lose(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    if (p->zero < 2 && p->dp * p->cp > 1 && p->zero != 0)
        sp_lose(lost, "ZeRO %d; it shards gradients and weights too", p->zero);
    if (p->pp > 1 && !schedule_name(p))
        sp_lose(lost, "this pipeline schedule");
    if (p->pp > 1 && ends_in_layers(l) < 0)
        sp_lose(lost, "which stages hold a layer more; see module_fqns_per_model_part");
    if (p->shards < p->dp * p->cp && p->shards % p->cp != 0)
        sp_lose(lost, "shard groups of %lld inside %lld-way context parallelism",
                (long long)p->shards, (long long)p->cp);
    if (p->etp > 1)
        sp_lose(lost, "tensor parallelism inside experts");
    if (p->stages_inside)
        sp_lose(lost, "stages as neighbours (--placement pp-inside)");
    if (strcmp(l->remat, "none") != 0 && strcmp(l->remat, "full") != 0 &&
        strcmp(l->remat, "alternate") != 0)
        sp_lose(lost, "recompute policy %s; SelectiveAC stands for it", l->remat);
    if (p->recompute_layers < 1)
        sp_lose(lost, "recompute of a share of the layers");
    if (p->recompute.offload)
        sp_lose(lost, "activations that wait in the host's memory");
    if (strcmp(l->precision, "fp32") != 0)
        sp_lose(lost, "precision recipe %s; states in fp32, matmuls in bf16 stand for it",
                sp_recipe_text(l));
}

static void write(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const int64_t group = p->zero == 0 ? 1 : p->shards / p->cp > 0 ? p->shards / p->cp : 1;
    lose(l, lost);
    sp_write_head(l, "torchtitan, fields of Trainer.Config", lost, out);
    if (checkpointing(l))
        fprintf(out, "from torchtitan.distributed.activation_checkpoint import %s\n\n",
                checkpointing(l));
    fprintf(out,
            "def apply(config):\n"
            "    parallelism, training = config.parallelism, config.training\n"
            "    parallelism.data_parallel_replicate_degree = %lld\n"
            "    parallelism.data_parallel_shard_degree = %lld\n"
            "    parallelism.tensor_parallel_degree = %lld\n"
            "    parallelism.enable_sequence_parallel = %s\n"
            "    parallelism.context_parallel_degree = %lld\n"
            "    parallelism.pipeline_parallel_degree = %lld\n",
            (long long)(p->dp / group), (long long)group, (long long)p->tp,
            p->sequence_parallel || p->tp == 1 ? "True" : "False", (long long)p->cp,
            (long long)p->pp);
    if (p->ep > 1)
        fprintf(out, "    parallelism.expert_parallel_degree = %lld\n", (long long)p->ep);
    if (p->zero >= 2)
        fprintf(out, "    parallelism.fsdp_reshard_after_forward = \"%s\"\n",
                p->zero == 2 ? "never"
                : p->pp > 1  ? "always" /* by default stages keep their weights */
                             : "default");
    if (p->pp > 1) {
        fprintf(out, "    parallelism.pipeline_parallel_schedule = \"%s\"\n",
                schedule_name(p) ? schedule_name(p) : "1F1B");
        const int64_t ends = ends_in_layers(l);
        if (ends >= 0)
            fprintf(out,
                    "    parallelism.pipeline_parallel_first_stage_less_layers = %lld\n"
                    "    parallelism.pipeline_parallel_last_stage_less_layers = %lld\n"
                    "    parallelism.pipeline_parallel_layers_per_stage = %lld\n",
                    (long long)ends, (long long)ends,
                    (long long)((l->model->layers + 2 * ends) / (p->pp * p->vpp)));
        fprintf(out, "    parallelism.num_pp_microbatches = %lld\n",
                (long long)sp_plan_microbatches(p));
    }
    fprintf(out,
            "    training.max_context_length = %lld\n"
            "    training.num_tokens_per_microbatch_per_dp_rank = %.0f  # %lld x %lld\n"
            "    training.num_tokens_per_train_step = %.0f  # %lld x %lld\n",
            (long long)p->seq, (double)p->micro_batch * (double)p->seq, (long long)p->micro_batch,
            (long long)p->seq, (double)p->batch * (double)p->seq, (long long)p->batch,
            (long long)p->seq);
    fprintf(out,
            "    training.mixed_precision_param = \"%s\"\n"
            "    training.mixed_precision_reduce = \"float32\"\n",
            sp_multiplies_in_fp32(p) ? "float32" : "bfloat16");
    if (p->pp > 1 || p->ep > 1) /* it has them for neither */
        fputs("    training.disable_cuda_graphs = True\n", out);
    fprintf(out, "    config.activation_checkpoint = %s%s\n",
            checkpointing(l) ? checkpointing(l) : "None", checkpointing(l) ? ".Config()" : "");
    fputs("    return config\n", out);
}

const struct sp_target sp_target_torchtitan = {
    .write = write,
    .format = "torchtitan options",
    .detect = sp_detect_torchtitan,
    .read = sp_read_torchtitan,
};
