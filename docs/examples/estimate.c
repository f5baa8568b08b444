/* All that the models say of one plan: Llama 3 8B on eight 80 GB GPUs, ZeRO 3, with constants that
 * are expected of such a chip before any run of it is seen. */
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
    struct sp_hardware hw = {.chip = {.hbm_bytes = 80e9,
                                      .hbm_usable_bytes = 80e9,
                                      .hbm_bytes_per_s = 3.35e12,
                                      .tdp_w = 700},
                             .network = {.kind = SP_SWITCHED,
                                         .domain = 8,
                                         .domain_bytes_per_s = 4.5e11,
                                         .scaleout_bytes_per_s = 5e10},
                             .chips_per_slice = 8,
                             .slices = 1};
    hw.chip.peak_flops_per_s[SP_BF16] = 9.89e14;
    const struct sp_precision mixed = {.weight_bytes = 2,
                                       .grad_bytes = 4,
                                       .master_bytes = 4,
                                       .optimizer_bytes = 8,
                                       .compute_dtype = SP_BF16};
    const struct sp_framework framework = {.attention = 0.6,
                                           .logit_bytes = 2,
                                           .gathered_layers = 2,
                                           .reserved_factor = 1.05,
                                           .memory_residual = 0.1,
                                           .context_bytes = 2e9};
    struct sp_plan plan = {.dp = 8,
                           .shards = 8,
                           .tp = 1,
                           .pp = 1,
                           .vpp = 1,
                           .cp = 1,
                           .ep = 1,
                           .etp = 1,
                           .zero = 3,
                           .micro_batch = 1,
                           .batch = 64,
                           .seq = 8192,
                           .recompute_layers = 1,
                           .schedule = SP_1F1B,
                           .dtype = SP_BF16,
                           .imbalance = 1};
    struct sp_profile profile = {.residual = 0.1};
    sp_expect_constants(&hw, &framework, &profile);
    const struct sp_step_inputs in = {.model = &model,
                                      .hw = &hw,
                                      .precision = &mixed,
                                      .framework = &framework,
                                      .profile = &profile,
                                      .plan = &plan};
    const struct sp_policy *const policy =
        sp_lightest_policy(&in, &sp_policies[SP_REMAT_SELECTIVE], sp_capacity_bytes(&hw.chip));
    plan.recompute = policy->recompute;
    static struct sp_estimate e;
    sp_estimate(&in, SP_FLOPS_FULL, NULL, &e);
    printf(
        "recompute %s: step %.3g s, MFU %.1f %%, %.1f GB of %.0f GB a device, out of memory with "
        "a probability of %.2g\n",
        sp_policy_name(policy), e.time.step, 100 * e.rates.mfu, (double)e.memory.device / 1e9,
        e.capacity_bytes / 1e9, e.oom_odds);
    return 0;
}
