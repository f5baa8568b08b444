/* The closed forms of `fit`, against values worked out by hand from the scaling book's chapters on
 * training and on GPUs. */
#include "core/fit/fit_internal.h"
#include "fit_case.h"

#include <string.h>

static const unsigned everything = ~0u;

/* alpha of v5p: 4.59e14 / (2 * 9e10) = 2550; over 1, 2, 3 axes 2550, 1275, 850 tokens per chip. */
static void thresholds_v5p(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 3e6, 4096);
    for (int axes = 1; axes <= 3; axes++) {
        c.in.axes = axes;
        c.t = sp_fit_terms(&c.in);
        const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
        const struct sp_strategy dp = sp_fit_strategy(&c.in, &c.t, SP_DP);
        assert_close(fsdp.critical_tokens_per_chip, 2550. / axes, 1e-14);
        assert_close(dp.critical_tokens_per_chip, 2550. / axes, 1e-14);
        assert_close(c.t.W_ici, 1.8e11, 0);
    }
}

/* 3 M tokens over 4096 chips: 732.42 per chip. State 10 bytes x 13,015,864,320. T_math = 6 P B / (N
 * C) = 124.6 ms, 311.5 ms at 40 %. FSDP on 3 axes: 850 / 732.42. */
static void llama2_13b_3m(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 3e6, 4096);
    assert_close(c.t.tokens_per_chip, 732.421875, 0);
    const struct sp_strategy dp = sp_fit_strategy(&c.in, &c.t, SP_DP);
    assert_true(dp.exists);
    assert_close(dp.state_bytes, 130158643200., 0);
    assert_false(dp.fits);
    assert_false(dp.compute_bound);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_true(fsdp.fits);
    assert_false(fsdp.compute_bound);
    assert_int_equal(fsdp.fsdp, 4096);
    assert_close(fsdp.comms_over_math, 850 / 732.421875, 1e-14);
    /* 40 layers x 3e6 tokens x 2 (5120 + 2 x 13824) bytes. */
    assert_close(fsdp.memory_bytes, (130158643200. + 40 * 3e6 * 65536) / 4096, 1e-14);
    assert_close(fsdp.t_math_s, 6 * 13015864320. * 3e6 / (4096 * 4.59e14), 1e-14);
    assert_close(fsdp.t_math_s, 0.12462, 1e-4);
    assert_close(fsdp.step_s, fsdp.t_math_s * 850 / 732.421875, 1e-14);
    /* TP over all chips hides up to n F / alpha = 3 x 13824 / 2550. */
    const struct sp_strategy tp = sp_fit_strategy(&c.in, &c.t, SP_TP);
    assert_close(sp_max_tp_degree(c.t.C, c.t.W, c.t.F), 3 * 13824 / 2550., 1e-14);
    assert_close(tp.comms_over_math, 4096 * 2550. / (3 * 13824), 1e-14);
    assert_true(isnan(tp.critical_tokens_per_chip));
}

/* alpha^2 / (2 F) = 2550^2 / 27648 = 235.19; X_opt = sqrt(2 B N / F) = 1333.3. 1024x4: FSDP 2550 x
 * 1024 / (2 x 3e6) = 0.4352, TP 2550 x 4 / 13824 = 0.7378. */
static void llama2_13b_rule(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 3e6, 4096);
    const struct sp_strategy mixed = sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP);
    assert_close(mixed.critical_tokens_per_chip, 2550. * 2550 / (2 * 13824), 1e-14);
    assert_close(mixed.critical_tokens_per_chip, 235.19, 1e-4);
    const double x_opt = sp_optimal_fsdp_degree(3e6, 4096, c.t.W_X, c.t.W_Y, 13824, 1);
    assert_close(x_opt, 1333.333, 1e-5);
    assert_int_equal(mixed.fsdp, 1024);
    assert_int_equal(mixed.tp, 4);
    assert_close(mixed.comms_over_math, 4 * 2550 / 13824., 1e-14);
    assert_close(mixed.comms_over_math, 0.738, 1e-3);
    assert_true(mixed.compute_bound && mixed.fits);
    assert_close(sp_step_at_mfu_s(&mixed, 0.4), 0.31154, 1e-4);
    /* Taking turns: four times the threshold, and 0.4352 + 0.7378 > 1. */
    c.in.overlap = SP_OVERLAP_NONE;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy turns = sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP);
    assert_close(turns.critical_tokens_per_chip, 4 * 2550. * 2550 / (2 * 13824), 1e-14);
    assert_close(turns.critical_tokens_per_chip, 940.8, 1e-4);
    assert_close(turns.comms_over_math, 0.4352 + 4 * 2550 / 13824., 1e-14);
    assert_false(turns.compute_bound);
}

/* On 16x16x16 TP 4 is a line of 4: (3/4) V / w, so 1.5 times the ring's 0.7378 = 1.107. 2048x2: two
 * whole rings for FSDP, 2550 x 2048 / (2 x 3e6) = 0.8704; TP 2 on a line of 2 is as fast as a ring:
 * 0.3689. */
static void llama2_13b_real_axes(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 3e6, 4096);
    const struct sp_strategy four =
        sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = 4}, true);
    assert_close(four.comms_over_math, 1.5 * 4 * 2550 / 13824., 1e-14);
    assert_close(four.comms_over_math, 1.107, 1e-3);
    const struct sp_strategy two =
        sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = 2}, true);
    assert_close(two.comms_over_math, 0.8704, 1e-14);
    assert_close(two.W_X, 3.6e11, 0);
    assert_close(two.W_Y, 1.8e11, 0);
    const struct sp_strategy best = sp_fit_best(&c.in, &c.t, everything);
    assert_int_equal(best.kind, SP_FSDP_TP);
    assert_int_equal(best.fsdp, 2048);
    assert_int_equal(best.tp, 2);
    assert_true(best.fits && best.compute_bound);
    assert_close(best.step_s, best.t_math_s, 0);
    /* 40 heads and 16 chips an axis: TP of 3 does not exist. */
    assert_false(sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = 3}, true).exists);
}

/* 1 M tokens: 244.1 per chip pass the 235.2 of the continuous rule, but 1024x4 waits for FSDP at
 * 2550 x 1024 / (2 x 1e6) = 1.3056, and 512x8 for TP at 1.4757. */
static void llama2_13b_1m(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 1e6, 4096);
    const struct sp_strategy mixed = sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP);
    assert_true(c.t.tokens_per_chip > mixed.critical_tokens_per_chip);
    assert_int_equal(mixed.fsdp, 1024);
    assert_close(mixed.comms_over_math, 1.3056, 1e-14);
    assert_false(mixed.compute_bound);
}

/* 2441.4 tokens per chip: above 850 on three axes, below 2550 on one. */
static void llama2_13b_10m(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 10e6, 4096);
    assert_true(sp_fit_strategy(&c.in, &c.t, SP_FSDP).compute_bound);
    c.in.axes = 1;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy one = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_false(one.compute_bound);
    assert_close(one.comms_over_math, 2550 / 2441.40625, 1e-14);
}

/* 2550^2 / (2 x 28672) = 113.4; 4 Mi / 8960 = 468.1; X_opt = sqrt(2 x 4194304 x 8960 / 28672) =
 * 1619; 2240x4: 2550 x 2240 / (2 x 4194304) = 0.681, TP 4 x 2550 / 28672 = 0.356. */
static void llama3_70b(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-70b", "v5p-8960", 4194304, 8192);
    const struct sp_strategy mixed = sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP);
    assert_close(mixed.critical_tokens_per_chip, 2550. * 2550 / (2 * 28672), 1e-14);
    assert_close(c.t.tokens_per_chip, 468.1143, 1e-6);
    assert_close(sp_optimal_fsdp_degree(c.t.B, c.t.N, c.t.W_X, c.t.W_Y, c.t.F, c.t.r), 1619.09,
                 1e-5);
    assert_int_equal(mixed.fsdp, 2240);
    assert_int_equal(mixed.tp, 4);
    assert_close(mixed.comms_over_math, 2550 * 2240 / (2 * 4194304.), 1e-14);
    assert_true(mixed.compute_bound);
}

/* 989.4e12 over 450e9 inside a node and over 400e9 for a node of 8 beyond: 2198.7 and 2473.5 tokens
 * a GPU. 16e6 / 16384 = 976.6. TP 8 and 4 stages: X = 512; weights 989.4e12 x 512 / (5e10 x 16e6) =
 * 0.633 on the NIC, TP 989.4e12 x 8 / (4.5e11 x 53248) = 0.330 on NVLink. */
static void llama3_405b(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-405b", "h100-16384", 16e6, 8192);
    assert_close(sp_critical_tokens_per_chip(c.t.C, c.t.W_domain, c.t.r), 2198.6667, 1e-7);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_close(fsdp.critical_tokens_per_chip, 2473.5, 1e-14);
    assert_false(fsdp.compute_bound);
    assert_true(fsdp.fits);
    assert_close(fsdp.comms_over_math, 2473.5 / 976.5625, 1e-14);
    const struct sp_strategy best = sp_fit_best(&c.in, &c.t, everything);
    assert_int_equal(best.kind, SP_PP_FSDP);
    assert_int_equal(best.tp, 8);
    assert_true(best.pp > 1 && best.fits && best.compute_bound);
    assert_int_equal(best.fsdp * best.tp * best.pp * best.dp, 16384);
    assert_close(best.loads.weights[SP_LINK_SCALEOUT], 989.4e12 * (double)best.fsdp / (5e10 * 16e6),
                 1e-14);
    assert_close(best.loads.activations[SP_LINK_DOMAIN], 989.4e12 * 8 / (4.5e11 * 53248), 1e-14);
    /* Sends of a stage boundary and chunk, 2 B D bytes, against the forward pass of the layers. */
    assert_close(best.loads.activations[SP_LINK_SCALEOUT],
                 (double)(best.pp * best.chunks) * 989.4e12 / (2. * 126 * 53248 * 5e10), 1e-14);
    assert_close(best.bubble, (double)(best.pp - 1) / (double)(best.chunks * best.microbatches),
                 1e-15);
    /* 4 stages of 16 chunks: two layers in a full chunk, where 126 / 64 is the mean */
    assert_int_equal(best.pp * best.chunks, 64);
    assert_close(best.uneven, 2 / (126.0 / 64), 1e-15);
    assert_close(best.step_with_bubble_s, best.step_s * best.uneven * (1 + best.bubble), 1e-15);
}

/* Inside one node NVLink binds. 8 H100, 2199 tokens per GPU. */
static void one_node(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-7b", "h100-8", 8 * 2198., 4096);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_close(fsdp.critical_tokens_per_chip, 989.4e12 / 4.5e11, 1e-14);
    assert_false(fsdp.compute_bound);
    assert_int_equal(fsdp.binding, SP_LINK_DOMAIN);
    assert_false(sp_fit_strategy(&c.in, &c.t, SP_PP_FSDP).exists);
    assert_false(sp_fit_strategy(&c.in, &c.t, SP_HSDP).exists);
}

/* TP 8 of Llama 3 8B on NVLink: 989.4e12 x 8 / (4.5e11 x 14336) = 1.227, whatever the batch. */
static void no_batch_helps_tp(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-8b", "h100-8", 1e4, 4096);
    struct sp_strategy mesh;
    const struct sp_strategy best = sp_fit_best(&c.in, &c.t, 1u << SP_TP);
    assert_int_equal(best.tp, 8);
    assert_close(best.comms_over_math, 989.4e12 * 8 / (4.5e11 * 14336), 1e-14);
    assert_true(isinf(sp_batch_needed_any(&c.in, &c.t, SP_TP, false, &mesh)));
    assert_true(isinf(sp_batch_needed_any(&c.in, &c.t, SP_TP, true, &mesh)));
    assert_int_equal(mesh.tp, 8);
}

/* Devices without a scale-up network: only the scale-out bandwidth counts, however slow the
 * (unused) figure of the domain is. */
static void domains_of_one(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-7b", "h100-8", 1e6, 4096);
    c.hw.network.domain = 1;
    c.hw.network.domain_bytes_per_s = 1e9;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_close(fsdp.critical_tokens_per_chip, 989.4e12 / 5e10, 1e-14);
    assert_close(fsdp.comms_over_math, 989.4e12 / 5e10 / 125000, 1e-14);
}

/* A torus as large as configs allow is searched quickly, by divisors. */
static void largest_torus(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-8b", "v5p-4096", 1e9, 4096);
    c.hw.shape = (struct sp_shape){{4096, 4096, 4096}};
    c.hw.chips_per_slice = sp_shape_chips(&c.hw.shape);
    c.hw.slices = 1000000;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy best = sp_fit_best(&c.in, &c.t, everything);
    assert_true(best.exists);
    assert_true(best.dp * best.fsdp * best.tp * best.pp == sp_chips(&c.hw));
}

/* A size without a shape: data parallelism works, activations are unknown. */
static void size_only(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "a100-8", 4194304, 4096);
    c.model = (struct sp_model){.params = 25557032};
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy dp = sp_fit_strategy(&c.in, &c.t, SP_DP);
    assert_true(dp.exists && dp.fits);
    assert_true(isnan(dp.activation_bytes));
    assert_close(dp.memory_bytes, 10 * c.t.P, 0);
    assert_false(sp_fit_strategy(&c.in, &c.t, SP_TP).exists);
    assert_false(sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP).exists);
    const struct sp_strategy best = sp_fit_best(&c.in, &c.t, everything);
    assert_int_equal(best.kind, SP_DP);
    assert_true(best.fits);
}

/* Four pods: DP over the data-centre network needs C / W_dcn = 4.59e14 / 6.25e9 = 73,440 tokens a
 * pod; here 4 Mi / 4 = 1,048,576. A pod's FSDP and TP are as without DP: the weights' load on ICI
 * is that of X = DP x FSDP shards. */
static void four_pods(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-70b", "v5p-8960x4", 4194304, 8192);
    assert_close(c.t.W_dcn, 6.25e9, 0);
    assert_close(sp_critical_tokens_per_chip(c.t.C, c.t.W_dcn, c.t.r), 73440, 1e-14);
    const struct sp_strategy hsdp = sp_fit_strategy(&c.in, &c.t, SP_HSDP);
    assert_true(hsdp.exists);
    assert_int_equal(hsdp.dp, 4);
    assert_int_equal(hsdp.dp * hsdp.fsdp * hsdp.tp, 35840);
    assert_close(hsdp.loads.weights[SP_LINK_DCN], 73440 / 1048576., 1e-14);
    assert_close(hsdp.state_bytes, 10 * c.t.P / 8960, 1e-14);
    /* At 73,440 tokens per pod the data-centre network is at its edge. */
    c.in.batch_tokens = 4 * 73440.;
    c.t = sp_fit_terms(&c.in);
    assert_close(sp_fit_strategy(&c.in, &c.t, SP_HSDP).loads.weights[SP_LINK_DCN], 1, 1e-14);
}

/* Taking turns on one axis and the data-centre network: a slice of 8960 at 1.8e11 and 6.25e9 for
 * each chip of it, so W = 1 / (1 / 1.8e11 + 1 / 5.6e13), and the load is the threshold over the
 * tokens. */
static void four_pods_in_turn(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-70b", "v5p-8960x4", 4194304, 8192);
    c.in.axes = 1;
    c.in.overlap = SP_OVERLAP_NONE;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_close(fsdp.critical_tokens_per_chip, 4.59e14 * (1 / 1.8e11 + 1 / 5.6e13), 1e-14);
    assert_close(fsdp.comms_over_math, fsdp.critical_tokens_per_chip / c.t.tokens_per_chip, 1e-14);
}

/* One axis alone cannot be split by the rule: the critical batch is that of the mesh itself. */
static void four_pods_one_axis(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-70b", "v5p-8960x4", 4194304, 8192);
    c.in.axes = 1;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy hsdp = sp_fit_strategy(&c.in, &c.t, SP_HSDP);
    assert_true(isnan(c.t.W_Y));
    assert_close(hsdp.critical_tokens_per_chip,
                 sp_batch_needed(&hsdp, &c.t, SP_OVERLAP_AXES) / 35840, 1e-14);
    assert_true((c.t.tokens_per_chip >= hsdp.critical_tokens_per_chip) == hsdp.compute_bound);
}

/* Mixtures of experts move E/k times the weights: Mixtral's 8/2 on v5p, 3 axes. */
static void experts(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "mixtral-8x7b", "v5p-4096", 8e6, 4096);
    assert_close(sp_fit_strategy(&c.in, &c.t, SP_FSDP).critical_tokens_per_chip, 4 * 850., 1e-14);
}

/* Strictly below: a model of exactly the capacity does not fit. */
static void exactly_full(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "a100-40gb-8", 4194304, 4096);
    c.model = (struct sp_model){.params = 4e9};
    c.hw.chip.hbm_bytes = 40e9;
    c.t = sp_fit_terms(&c.in);
    assert_false(sp_fit_strategy(&c.in, &c.t, SP_DP).fits);
    c.model.params = 4e9 - 1;
    c.t = sp_fit_terms(&c.in);
    assert_true(sp_fit_strategy(&c.in, &c.t, SP_DP).fits);
}

/* One chip: nothing to communicate, and only DP has a meaning. */
static void one_chip(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-7b", "v5p", 1e6, 4096);
    for (int kind = 0; kind < SP_STRATEGIES; kind++)
        assert_true(sp_fit_strategy(&c.in, &c.t, (enum sp_strategy_kind)kind).exists ==
                    (kind == SP_DP));
    const struct sp_strategy dp = sp_fit_strategy(&c.in, &c.t, SP_DP);
    assert_close(dp.comms_over_math, 0, 0);
    assert_true(dp.compute_bound);
}

struct grid {
    const char *model, *hw;
    double batch;
};
static const struct grid grid[] = {
    {"llama2-13b", "v5p-4096", 3e6},
    {"llama3-70b", "v5p-8960", 4194304},
    {"llama3-405b", "h100-16384", 16e6},
    {"llama3-8b", "v5e-256", 1e6},
    {"llama3-8b", "v5e-128", 1e6},
    {"llama3-8b", "v5p:2x4x4", 1e6},
    {"mixtral-8x7b", "h100-512", 8e6},
    {"deepseek-v3", "h100-2048", 62914560},
    {"gpt2", "v4-64", 5e5},
    {"llama3-70b", "v5p-8960x4", 4194304},
    {"gpt3-175b", "a100-1024", 3.2e6},
    {"llama3-70b", "gb200-576", 8e6},
    {"llama3-8b", "v6e-256x8", 4e6},
    {"qwen3-235b-a22b", "b200-1024", 4e6},
    {"llama3.1-70b", "gb200-36", 4e6},
    {"llama3-405b", "v5p-1024x3", 16e6},
};

/* The product of degrees is the number of chips, and each divides what it shards. */
static void degrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof grid / sizeof *grid; i++) {
        struct fit_case c;
        load_case(&c, grid[i].model, grid[i].hw, grid[i].batch, 4096);
        for (int kind = 0; kind <= SP_STRATEGIES; kind++) {
            const struct sp_strategy s =
                kind < SP_STRATEGIES ? sp_fit_strategy(&c.in, &c.t, (enum sp_strategy_kind)kind)
                                     : sp_fit_best(&c.in, &c.t, everything);
            if (!s.exists)
                continue;
            const int64_t width = c.model.moe.experts ? c.model.moe.d_ff_expert : c.model.d_ff;
            assert_int_equal(s.dp * s.fsdp * s.tp * s.pp, sp_chips(&c.hw));
            if (kind != SP_TP && (c.model.heads % s.tp != 0 || width % s.tp != 0))
                fail_msg("%s on %s: TP %lld", grid[i].model, grid[i].hw, (long long)s.tp);
            assert_true(s.pp <= c.model.layers && s.pp * s.chunks <= c.model.layers);
            if (s.kind == SP_HSDP)
                assert_true(s.dp > 1 && s.fsdp * s.tp > 1);
            assert_true(isfinite(s.comms_over_math) && s.step_s > 0 && s.memory_bytes > 0);
        }
    }
}

/* DeepSeek-V3's 6.7 TB of state on v5e chips of 16 GB take more than a pod of 256: whole pods over
 * the data-centre network, none where its speed is not published. */
static void more_than_a_pod(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "deepseek-v3", "v5e-256", 4e6, 4096);
    const struct sp_strategy plan = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    const int64_t chips = sp_chips_to_fit(&plan, &c.in, &c.t);
    assert_true(chips > 256 && chips % 256 == 0);
    c.hw.network.dcn_bytes_per_s_per_host = NAN;
    assert_int_equal(sp_chips_to_fit(&plan, &c.in, &c.t), 0);
}

/* Chips that a batch feeds are counted within one slice, and a threshold as large as the batch
 * feeds one chip. */
static void chips_fed(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-64x2", 3e6, 4096);
    struct sp_strategy plan = sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP);
    plan.critical_tokens_per_chip = 1e5;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), 0);
    load_case(&c, "llama2-13b", "v5p-64", 3e6, 4096);
    plan.critical_tokens_per_chip = 2e6;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), sp_nearest_chips(&c.hw.network, 1, false));
    plan.critical_tokens_per_chip = 3e6 / 20;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), 16); /* no slice of 17 to 20 chips */
    plan.critical_tokens_per_chip = 4e6;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), 0);
    plan.critical_tokens_per_chip = NAN;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), 0);
    plan.critical_tokens_per_chip = INFINITY;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), 0);
    plan.critical_tokens_per_chip = 0;
    assert_int_equal(sp_chips_fed(&plan, &c.in, &c.t), 0);
}

/* 3e6 tokens are 11.4 sequences of 4096 for each of 64 chips, so 12. One keeps 40 layers x 4096 x 2
 * (13824 + 13824 + 5120) bytes = 10.7 GB, the states 10 P / 64; gradients that adam10 does not
 * count add up in 2 P / 64. Room for 3.5 sequences: 3 at once, 4 micro-batches. For 5.5: 5 do not
 * divide 12, 4 do. For less than one: none. A plan that fills the memory to the last byte does not
 * fit. */
static void micro_batches_of_whole_sequences(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-64", 3e6, 4096);
    c.in.accumulate = 0;
    struct sp_strategy plan = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    const double one = 40. * 4096 * 2 * (13824 + 13824 + 5120), held = 12 * c.t.P / 64;
    const struct {
        double room;
        int64_t steps;
    } rows[] = {{3.5, 4}, {5.5, 3}, {6.5, 2}, {1.5, 12}, {0.5, 0}, {3, 6}, {1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        c.t.capacity_bytes = held + rows[i].room * one;
        assert_int_equal(sp_accumulation_to_fit(&plan, &c.in, &c.t), rows[i].steps);
    }
    c.t.capacity_bytes = held + 3.5 * one;
    plan = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_true(plan.fits && plan.microbatches == 4);
    assert_close(plan.memory_bytes, held + 3 * one, 1e-12);
    /* weights pass the rings 4 times: 4 x 850 x 64 / 3e6 of the arithmetic (W: 2 axes of 4 are
     * open, lines at 9e10 x 4 / 3, in v5p-64's 4x4x4 all wrap) */
    assert_close(plan.comms_over_math, 4 * plan.critical_tokens_per_chip * 64 / 3e6, 1e-12);
}

/* Llama 3 405B on 128 H100, TP 8, 2 stages, 8 shards, adam10. Whole weights and unreduced gradients
 * are 2 x 2 x 406e9 / 16, less the 2 x 406e9 / 128 that the state counts: 95 GB beside the state's
 * 31.7. Such a plan must not fit; one that fits gathers per micro-batch, with m times the load. */
static void pipelines_count_what_they_keep(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-405b", "h100-128", 16e6, 8192);
    struct sp_strategy s = sp_new_strategy(SP_PP_FSDP);
    s.fsdp = 8;
    s.tp = 8;
    s.pp = 2;
    s.microbatches = 245; /* 16e6 / 8192 / 8 = 244.1 sequences, rounded up */
    sp_judge(&s, &c.in, &c.t);
    assert_true(s.fits && !s.keeps_weights && s.microbatches == 245);
    assert_close(s.held_bytes, 2 * c.t.P / 128, 1e-12); /* gradients, sharded */
    assert_close(s.loads.gathers, 245, 0);
    assert_close(s.memory_bytes, 12 * c.t.P / 128 + s.activation_bytes, 1e-12);
    assert_close(sp_link_load(&s.loads, SP_LINK_SCALEOUT) - s.loads.activations[SP_LINK_SCALEOUT],
                 245 * 989.4e12 * 8 / (5e10 * 16e6), 1e-12);
    /* with unlimited memory nothing is gathered twice */
    c.t.capacity_bytes = 1e15;
    sp_judge(&s, &c.in, &c.t);
    assert_true(s.keeps_weights && s.loads.gathers == 1);
    assert_close(s.held_bytes, 4 * c.t.P / 16 - 2 * c.t.P / 128, 1e-12);
}

/* Two nodes of 8 H100 move half of what they gather, 1/2 / 4e11 per byte, and the GPUs of a node
 * 7/8 / 4.5e11, which is more: FSDP waits for the node from C 7/8 / 4.5e11 tokens per chip on. Of
 * TP 8 x FSDP 2 each NIC sends one half of a shard's pair, and TP in the node 7/8 of its
 * activations. The rule drops all. */
static void exactly_these_groups(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-8b", "h100-16", 1e6, 8192);
    c.in.exact_groups = true;
    c.t = sp_fit_terms(&c.in);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_close(fsdp.loads.weights[SP_LINK_DOMAIN], c.t.C * 16 / (4.5e11 * 1e6) * 7 / 8, 1e-14);
    assert_close(fsdp.loads.weights[SP_LINK_SCALEOUT], c.t.C * 16 / (4e11 * 1e6) / 2, 1e-14);
    assert_close(fsdp.critical_tokens_per_chip, c.t.C / 4.5e11 * 7 / 8, 1e-14);
    const struct sp_strategy both =
        sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = 8}, true);
    assert_close(both.loads.weights[SP_LINK_SCALEOUT], c.t.C * 2 / (5e10 * 1e6) / 2, 1e-14);
    assert_close(both.loads.activations[SP_LINK_DOMAIN], c.t.C * 8 / (4.5e11 * c.t.F) * 7 / 8,
                 1e-14);
    c.in.exact_groups = false;
    c.t = sp_fit_terms(&c.in);
    assert_close(sp_fit_strategy(&c.in, &c.t, SP_FSDP).critical_tokens_per_chip, c.t.C / 4e11,
                 1e-14);
}

/* 61 layers on 8 stages: the fullest has ceil(61 / 8) = 8 of them, the mean is 7.625. It keeps
 * 8/7.625 of a chip's share of states, gradients and activations, as it takes 8/7.625 of the time;
 * with two chunks a stage ceil(61 / 16) = 4 layers a chunk are 8 again, with three ceil(61 / 24) =
 * 3 are 9. */
static void the_fullest_stage_is_counted(void **state)
{
    (void)state;
    const double layers[] = {8, 8, 9};
    struct fit_case c;
    load_case(&c, "deepseek-v3", "h100-128", 4096. * 4096, 4096);
    const double P = 671026419200;
    for (int chunks = 1; chunks <= 3; chunks++) {
        struct sp_strategy s = sp_new_strategy(SP_PP_FSDP);
        s.fsdp = 2;
        s.tp = 8;
        s.pp = 8;
        s.chunks = chunks;
        s.microbatches = 2048;
        sp_judge_depth(&s, &c.in, &c.t, NULL);
        const double uneven = layers[chunks - 1] / 7.625;
        const double in_flight = chunks == 1 ? 8 : (8. * chunks + 7) / chunks; /* of 2048 */
        assert_close(s.uneven, uneven, 1e-15);
        assert_close(s.state_bytes, uneven * 10 * P / 128, 1e-12);
        assert_close(s.held_bytes, uneven * 2 * P / 128, 1e-12);
        assert_close(s.activation_bytes,
                     uneven * c.t.activation_bytes[SP_REMAT_MLP] / 128 * in_flight / 2048, 1e-12);
        assert_close(s.step_with_bubble_s, s.step_s * uneven * (1 + s.bubble), 1e-12);
    }
}

/* DP hides its sum of gradients only behind the backward pass, two thirds of the arithmetic: 26.03
 * GB of gradients all-reduced over three rings of 1.8e11 take 2 x 26.03e9 / 5.4e11 = 96.4 ms (`comm
 * --op ar` shows it), where the three passes of FSDP take half as long again. */
static void dp_communicates_in_the_backward_pass(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p-4096", 3e6, 4096);
    const struct sp_strategy dp = sp_fit_strategy(&c.in, &c.t, SP_DP);
    assert_close(dp.t_comms_s, 2 * 2 * c.t.P / 5.4e11, 1e-12);
    assert_close(dp.step_s, dp.t_math_s / 3 + dp.t_comms_s, 1e-12);
    assert_false(dp.compute_bound);
    const struct sp_strategy fsdp = sp_fit_strategy(&c.in, &c.t, SP_FSDP);
    assert_close(fsdp.t_comms_s, 1.5 * dp.t_comms_s, 1e-12);
}

/* Every group of a real mesh has an axis, or part of one. */
static void meshes_have_bandwidths(void **state)
{
    (void)state;
    static const char *const machines[] = {"v5e-16", "v5p-64", "v5p-4096", "v6e-256", "v5e-8"};
    int meshes = 0;
    for (int i = 0; i < 5; i++) {
        struct fit_case c;
        load_case(&c, "llama2-13b", machines[i], 3e6, 4096);
        for (int64_t tp = 2; tp <= 16; tp *= 2) {
            const struct sp_strategy plan =
                sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = tp}, true);
            if (!plan.exists)
                continue;
            meshes++;
            assert_true(plan.fsdp == 1 || plan.W_X > 0);
            assert_true(plan.W_Y > 0);
        }
    }
    assert_true(meshes > 10);
}

/* One axis of a v5e 8x16 is the ring of 16, although the line of 8 comes first. */
static void fastest_axis(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5e:8x16", 3e6, 4096);
    c.in.axes = 1;
    c.t = sp_fit_terms(&c.in);
    assert_close(c.t.W, 2 * c.hw.network.link_bytes_per_s, 1e-15);
}

/* Both degrees of FSDP+TP are above 1: 4 chips leave 2 x 2, however small the batch. */
static void mixed_is_mixed(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama2-13b", "v5p:2x2x1", 4096, 4096);
    const struct sp_strategy mixed = sp_fit_strategy(&c.in, &c.t, SP_FSDP_TP);
    assert_true(mixed.tp == 2 && mixed.fsdp == 2);
}

/* Two stages hold the activations of few of the micro-batches, which are one sequence of 8192: with
 * v chunks the first has (2 (p-1) + (v-1) p + 1) / v of m in flight, 2v + 1 chunks. */
static void two_stages(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-70b", "h100-16", 1e6, 8192);
    const struct sp_strategy plan = sp_fit_strategy(&c.in, &c.t, SP_PP_FSDP);
    assert_int_equal(plan.pp, 2);
    const double v = (double)plan.chunks, sequences = 1e6 / 8192 / (double)plan.fsdp;
    assert_true(v > 1 && plan.microbatches == (int64_t)ceil(sequences) && sequences > 4);
    assert_close(plan.activation_bytes,
                 c.t.activation_bytes[SP_REMAT_MLP] * (2 * v + 1) / v / sequences / 16, 1e-14);
}

/* A step of 10^12 sequences of one token has a micro-batch of each, on 2 stages of 8 replicas. */
static void many_micro_batches(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-8b", "h100-16", 1e12, 1);
    const struct sp_strategy plan = sp_fit_strategy(&c.in, &c.t, SP_PP_FSDP);
    assert_true(plan.pp > 1 && plan.microbatches * plan.fsdp == 1000000000000);
}

/* TP 8 fills a node of 16 GPUs in two: the two shards meet over one NIC each. */
static void shards_between_nodes(void **state)
{
    (void)state;
    struct fit_case c;
    load_case(&c, "llama3-8b", "h100-16", 1e6, 8192);
    const struct sp_strategy plan =
        sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = 8}, true);
    assert_true(plan.exists && plan.fsdp == 2);
    assert_close(plan.loads.weights[SP_LINK_SCALEOUT], c.t.C * 2 / (5e10 * 1e6), 1e-14);
    const struct sp_strategy two =
        sp_fit_mesh(&c.in, &c.t, SP_FSDP_TP, &(struct sp_degrees){.tp = 2}, true);
    assert_close(two.loads.activations[SP_LINK_DOMAIN], c.t.C * 2 / (4.5e11 * c.t.F), 1e-14);
}

/* Strong scaling: each point is the best plan on a slice of that size, and chips that never wait
 * for a network are as efficient as the first. */
static void strong_scaling(void **state)
{
    struct fit_case c, one;
    struct sp_fit_point points[32];
    (void)state;
    load_case(&c, "llama2-13b", "v5p-512", 4e6, 4096);
    const int n = sp_fit_curve(&c.in, points, 32);
    const int64_t sizes[] = {1, 4, 8, 16, 32, 64, 128, 256, 512}; /* two chips are not sold */
    assert_int_equal(n, 9);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "v5p-%d", (int)sizes[i]);
        load_case(&one, "llama2-13b", i == 0 ? "v5p" : name, 4e6, 4096);
        const struct sp_strategy best = sp_fit_best(&one.in, &one.t, ~0u);
        assert_int_equal(points[i].chips, sizes[i]);
        assert_int_equal(points[i].best.kind, best.kind);
        assert_close(points[i].best.step_with_bubble_s, best.step_with_bubble_s, 1e-15);
        const double slowdown = best.step_with_bubble_s / best.t_math_s;
        assert_close(points[i].efficiency, 1 / slowdown, 1e-12);
    }
    assert_int_equal(sp_fit_curve(&c.in, points, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_micro_batches),
        cmocka_unit_test(shards_between_nodes),
        cmocka_unit_test(two_stages),
        cmocka_unit_test(fastest_axis),
        cmocka_unit_test(mixed_is_mixed),
        cmocka_unit_test(more_than_a_pod),
        cmocka_unit_test(chips_fed),
        cmocka_unit_test(micro_batches_of_whole_sequences),
        cmocka_unit_test(pipelines_count_what_they_keep),
        cmocka_unit_test(the_fullest_stage_is_counted),
        cmocka_unit_test(exactly_these_groups),
        cmocka_unit_test(dp_communicates_in_the_backward_pass),
        cmocka_unit_test(meshes_have_bandwidths),
        cmocka_unit_test(thresholds_v5p),
        cmocka_unit_test(llama2_13b_3m),
        cmocka_unit_test(llama2_13b_rule),
        cmocka_unit_test(llama2_13b_real_axes),
        cmocka_unit_test(llama2_13b_1m),
        cmocka_unit_test(llama2_13b_10m),
        cmocka_unit_test(llama3_70b),
        cmocka_unit_test(llama3_405b),
        cmocka_unit_test(one_node),
        cmocka_unit_test(domains_of_one),
        cmocka_unit_test(no_batch_helps_tp),
        cmocka_unit_test(largest_torus),
        cmocka_unit_test(size_only),
        cmocka_unit_test(four_pods),
        cmocka_unit_test(four_pods_one_axis),
        cmocka_unit_test(four_pods_in_turn),
        cmocka_unit_test(experts),
        cmocka_unit_test(exactly_full),
        cmocka_unit_test(one_chip),
        cmocka_unit_test(degrees),
        cmocka_unit_test(strong_scaling),
    };
    return cmocka_run_group_tests_name("strategy", tests, NULL, NULL);
}
