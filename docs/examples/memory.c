/* Bytes a device of a plan: Llama 3 8B, tensor parallel 2, ZeRO 1 over four replicas. */
#include <stdio.h>

#include <scaleplan/scaleplan.h>

int main(void)
{
    const struct sp_model model = {.layers = 32,
                                   .d_model = 4096,
                                   .d_ff = 14336,
                                   .heads = 32,
                                   .kv_heads = 8,
                                   .head_dim = 128,
                                   .vocab = 128256,
                                   .norms_per_layer = 2,
                                   .gated_mlp = true};
    const struct sp_precision mixed = {.weight_bytes = 2,
                                       .grad_bytes = 4,
                                       .master_bytes = 4,
                                       .optimizer_bytes = 8,
                                       .compute_dtype = SP_BF16};
    const struct sp_framework framework = {.logit_bytes = 2, .reserved_factor = 1};
    const struct sp_plan plan = {.dp = 4,
                                 .shards = 4,
                                 .tp = 2,
                                 .pp = 1,
                                 .vpp = 1,
                                 .cp = 1,
                                 .ep = 1,
                                 .etp = 1,
                                 .zero = 1,
                                 .sequence_parallel = true,
                                 .micro_batch = 1,
                                 .batch = 64,
                                 .seq = 8192,
                                 .recompute = sp_policies[SP_REMAT_FULL].recompute,
                                 .recompute_layers = 1,
                                 .schedule = SP_1F1B,
                                 .dtype = SP_BF16,
                                 .imbalance = 1};
    const enum sp_plan_problem problem = sp_check_plan(&model, &plan, 8, 1);
    if (problem != SP_PLAN_OK) {
        fprintf(stderr, "%s\n", sp_plan_problem_text(problem));
        return 1;
    }
    struct sp_stage_memory memory;
    sp_fullest_stage(&model, &mixed, &plan, &framework, &memory);
    printf("weights %lld, gradients %lld, optimizer %lld, activations %lld bytes a device\n",
           (long long)memory.params, (long long)memory.grads, (long long)memory.optimizer,
           (long long)memory.activations);
    return 0;
}
