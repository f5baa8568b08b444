/* One plan's estimate: rates, odds and the lightest policy by hand; a simulated schedule against
 * its closed form. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

/* Two layers: 4 x 8^2 = 256 weights of attention and 2 x 8 x 32 = 512 of the MLP each; two tables
 * of 100 x 8; one norm of 8 at the end: P = 1536 + 1600 + 8 = 3144. */
static const struct sp_model tiny = {
    .layers = 2, .d_model = 8, .d_ff = 32, .heads = 2, .kv_heads = 2, .head_dim = 4, .vocab = 100};

/* 1 sequence of 16 tokens on each of 2 x 2 devices. */
static const struct sp_plan plan_of_tiny = {.dp = 2,
                                            .shards = 2,
                                            .tp = 1,
                                            .pp = 1,
                                            .vpp = 1,
                                            .cp = 1,
                                            .ep = 1,
                                            .etp = 1,
                                            .micro_batch = 1,
                                            .batch = 4,
                                            .seq = 16,
                                            .recompute_layers = 1,
                                            .schedule = SP_1F1B,
                                            .dtype = SP_BF16,
                                            .imbalance = 1};

struct bench {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework framework;
    struct sp_profile profile;
    struct sp_plan plan;
    struct sp_step_inputs in;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){
        .model = tiny,
        .hw = {.chip = {.hbm_bytes = 1e9, .hbm_usable_bytes = NAN, .hbm_bytes_per_s = 1e9},
               .network = {.kind = SP_SWITCHED,
                           .domain = 8,
                           .domain_bytes_per_s = 1e9,
                           .scaleout_bytes_per_s = 1e8,
                           .hop_latency_s = NAN},
               .chips_per_slice = 2,
               .slices = 1},
        .precision = {.weight_bytes = 2, .grad_bytes = 4, .master_bytes = 4, .optimizer_bytes = 8},
        .framework = {.reserved_factor = 1, .logit_bytes = 2},
        .profile = {.residual = 0.1, .memory_factor = 1},
        .plan = plan_of_tiny};
    for (int i = 0; i < SP_DTYPES; i++)
        b->hw.chip.peak_flops_per_s[i] = NAN;
    b->hw.chip.peak_flops_per_s[SP_BF16] = 1e7;
    b->hw.chip.tdp_w = NAN;
    sp_expect_constants(&b->hw, &b->framework, &b->profile);
    b->in = (struct sp_step_inputs){&b->model,   &b->hw,   &b->precision, &b->framework,
                                    &b->profile, &b->plan, NULL};
}

/* Forward: 2 FLOPs per weight, 2 x (1536 + 800) = 4672, and 4 x 16 x 8 per layer of scores: 1024.
 * The step has 64 tokens and 2 chips of 10^7 FLOP/s. */
static void rates(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    struct sp_rates r = sp_step_rates(&b.in, 0.5, SP_FLOPS_FULL);
    assert_close(r.model_flops, 3.0 * (4672 + 1024) * 64, 1e-12);
    assert_close(r.executed_flops, r.model_flops, 0);
    assert_close(r.active, 3144, 0);
    assert_close(r.peak_flops_per_s, 1e7, 0);
    assert_close(r.tokens_per_s, 128, 1e-12);
    assert_close(r.tokens_per_s_per_device, 64, 1e-12);
    assert_close(r.flops_per_s_per_device, 3.0 * 5696 * 64, 1e-12);
    assert_close(r.mfu, 3.0 * 5696 * 64 / 1e7, 1e-12);
    assert_close(r.hfu, r.mfu, 0);
    /* half of the scores; and 6 P, which has none */
    r = sp_step_rates(&b.in, 0.5, SP_FLOPS_CAUSAL);
    assert_close(r.mfu, 3.0 * 5184 * 64 / 1e7, 1e-12);
    assert_close(r.hfu, r.mfu, 0);
    r = sp_step_rates(&b.in, 0.5, SP_FLOPS_6P);
    assert_close(r.mfu, 6.0 * 3144 * 64 / 1e7, 1e-12);
    /* 6 P of the tables is more here than the scores that it leaves out: HFU is never below MFU */
    assert_close(r.hfu, r.mfu, 0);
    /* every estimate has all three conventions */
    assert_close(r.mfu_by[SP_FLOPS_FULL], 3.0 * 5696 * 64 / 1e7, 1e-12);
    assert_close(r.mfu_by[SP_FLOPS_CAUSAL], 3.0 * 5184 * 64 / 1e7, 1e-12);
    assert_close(r.mfu_by[SP_FLOPS_6P], r.mfu, 0);
    /* full recomputation repeats the layers, 2 x 1536 + 1024, but not the head */
    b.plan.recompute = sp_policies[SP_REMAT_FULL].recompute;
    r = sp_step_rates(&b.in, 0.5, SP_FLOPS_FULL);
    assert_close(r.executed_flops, (3.0 * 5696 + 4096) * 64, 1e-12);
    assert_close(r.hfu, (3.0 * 5696 + 4096) * 64 / 1e7, 1e-12);
    assert_close(sp_step_rates(&b.in, 0.5, SP_FLOPS_6P).executed_flops, (6.0 * 3144 + 3584) * 64,
                 1e-12);
}

/* Quantiles of the normal distribution: 0 is the median, 1.2815515655 and 1.9599639845 leave a
 * tenth and a fortieth. */
static void odds(void **state)
{
    (void)state;
    const struct sp_framework f = {.memory_residual = 0.1}, sure = {.memory_residual = 0};
    assert_close(sp_oom_odds(&f, 8e10, 8e10), 0.5, 1e-12);
    assert_close(sp_oom_odds(&f, 8e10 * exp(0.12815515655446), 8e10), 0.9, 1e-9);
    assert_close(sp_oom_odds(&f, 8e10 * exp(-0.19599639845401), 8e10), 0.025, 1e-9);
    assert_close(sp_oom_odds(&f, 8e10 * exp(-0.4), 8e10), 3.167124183312e-5, 1e-9);
    assert_close(sp_oom_odds(&f, 4e10, 8e10), 0, 0); /* 6.9 deviations: 2e-12 */
    assert_close(sp_oom_odds(&sure, 8e10, 8e10), 1, 0);
    assert_close(sp_oom_odds(&sure, 8e10 - 1, 8e10), 0, 0);
}

/* 15 and 40 % of a normal distribution lie above 1.03643 and 0.25335 deviations; without an error
 * no verdict is tight, and exactly the capacity does not fit. */
static void verdicts(void **state)
{
    (void)state;
    const struct sp_framework f = {.memory_residual = 0.05};
    const double C = 85899345920;
    const struct {
        double deviations;
        enum sp_verdict verdict;
        double odds;
    } rows[] = {{1.037, SP_VERDICT_YES, 0.1499},   {1.036, SP_VERDICT_TIGHT, 0.1501},
                {0.254, SP_VERDICT_TIGHT, 0.3997}, {0.253, SP_VERDICT_NO, 0.4001},
                {0, SP_VERDICT_NO, 0.5},           {-1, SP_VERDICT_NO, 0.8413}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double device = C * exp(-0.05 * rows[i].deviations);
        assert_int_equal(sp_memory_verdict(0.05, device, C), rows[i].verdict);
        assert_close(sp_oom_odds(&f, device, C), rows[i].odds, 1e-3);
    }
    assert_int_equal(sp_memory_verdict(0, C, C), SP_VERDICT_NO);
    assert_int_equal(sp_memory_verdict(0, C - 1, C), SP_VERDICT_YES);
    assert_close(sp_most_bytes(0.05, C, SP_VERDICT_YES), 0.949507 * C, 1e-5);
    assert_close(sp_most_bytes(0.05, C, SP_VERDICT_TIGHT), 0.987415 * C, 1e-5);
}

static double bytes_with(const struct bench *b, int policy)
{
    struct sp_plan plan = b->plan;
    struct sp_stage_memory m;
    plan.recompute = sp_policies[policy].recompute;
    sp_fullest_stage(&b->model, &b->precision, &plan, &b->framework, &m);
    return (double)m.device;
}

/* With exactly the bytes that a policy needs it is chosen; with one less, the next one. */
static void lightest(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    const struct sp_policy *const between = &sp_policies[SP_REMAT_MLP];
    const double none = bytes_with(&b, SP_REMAT_NONE), some = bytes_with(&b, SP_REMAT_MLP);
    assert_true(none > some && some > bytes_with(&b, SP_REMAT_FULL));
    assert_string_equal(sp_policy_name(sp_lightest_policy(&b.in, between, none)), "none");
    assert_string_equal(sp_policy_name(sp_lightest_policy(&b.in, between, none - 1)), "mlp");
    assert_string_equal(sp_policy_name(sp_lightest_policy(&b.in, between, some)), "mlp");
    assert_string_equal(sp_policy_name(sp_lightest_policy(&b.in, between, some - 1)), "full");
    assert_string_equal(sp_policy_name(sp_lightest_policy(&b.in, between, 1)), "full");
    assert_string_equal(sp_policy_name(sp_lightest_policy(&b.in, NULL, none - 1)), "full");
    assert_ptr_equal(sp_find_policy("mlp"), between);
    assert_null(sp_find_policy("some"));
}

/* Two stages of 1F1B: the simulation ends when the closed form for uneven stages says. */
static void played(void **state)
{
    (void)state;
    static struct sp_estimate e;
    static struct sp_task tasks[64];
    struct bench b;
    set_up(&b);
    sp_estimate(&b.in, SP_FLOPS_FULL, tasks, &e);
    assert_int_equal(sp_tasks_of_plan(&b.plan), 2 * 2); /* of a replica */
    assert_close(e.played_s, NAN, 0);
    b.plan.dp = b.plan.shards = 1;
    b.plan.pp = 2;
    assert_int_equal(sp_tasks_of_plan(&b.plan), 2 * 2 * 4);
    sp_estimate(&b.in, SP_FLOPS_FULL, tasks, &e);
    assert_int_equal(e.map.stages, 2);
    const struct sp_stage_time *const first = &e.kind[e.map.of[0]], *const last =
                                                                        &e.kind[e.map.of[1]];
    const double forward[] = {first->forward, last->forward},
                 backward[] = {first->backward, last->backward};
    assert_true(last->forward > first->forward); /* it has the head */
    /* two stages, four micro-batches, by hand: the last stage is the slower one and works without a
     * gap from its first forward pass to its last backward one */
    assert_close(e.played_s, forward[0] + 4 * (forward[1] + backward[1]) + backward[0], 1e-9);
    b.plan.batch = 1 << 20;
    assert_int_equal(sp_tasks_of_plan(&b.plan), 0); /* too many tasks to simulate */
    sp_estimate(&b.in, SP_FLOPS_FULL, NULL, &e);
    assert_close(e.played_s, NAN, 0);
}

/* Derived figures agree with the figures they derive from. */
static void consistent(void **state)
{
    (void)state;
    static struct sp_estimate e;
    struct bench b;
    set_up(&b);
    sp_estimate(&b.in, SP_FLOPS_FULL, NULL, &e);
    assert_close(e.high_s * e.low_s, e.time.step * e.time.step, 1e-12);
    assert_close(log(e.high_s / e.low_s), 2 * 0.12816, 1e-9);
    assert_close(e.ideal_s, 6.0 * 3144 * 64 / 2e7, 1e-12);
    assert_close(e.rates.tokens_per_s * e.time.step, 64, 1e-12);
    assert_close(e.capacity_bytes, 1e9, 0);
    assert_true(e.fits && e.over_bytes < 0 && e.oom_odds == 0);
    b.hw.chip.hbm_bytes = (double)e.memory.device - 1;
    sp_estimate(&b.in, SP_FLOPS_FULL, NULL, &e);
    assert_true(!e.fits && e.oom_odds == 1);
    assert_close(e.over_bytes, 1, 1e-6);
}

/* An estimate in parts has the same figures, and none that were left out. */
static void parts(void **state)
{
    (void)state;
    static struct sp_estimate e, part;
    struct bench b;
    set_up(&b);
    b.framework.bucket_bytes = 1000;
    sp_estimate(&b.in, SP_FLOPS_FULL, NULL, &e);
    assert_true(e.buckets.exist);
    sp_estimate_parts(&b.in, SP_FLOPS_FULL, SP_WITH_RATES, NULL, &part);
    assert_true(isnan(part.range) && isnan(part.low_s) && isnan(part.high_s));
    assert_false(part.buckets.exist);
    assert_close(part.time.step, e.time.step, 0);
    assert_close(part.rates.mfu, e.rates.mfu, 0);
    assert_int_equal(part.fullest, e.fullest);
    assert_int_equal(part.memory.device, e.memory.device);
    sp_estimate_parts(&b.in, SP_FLOPS_FULL, SP_WITH_BUCKETS | SP_WITH_STAGES, NULL, &part);
    assert_true(isnan(part.rates.mfu) && isnan(part.rates.mfu_by[SP_FLOPS_6P]));
    assert_true(isnan(part.rates.model_flops) && isnan(part.rates.flops_by[SP_FLOPS_FULL]));
    assert_close(part.buckets.tail_s, e.buckets.tail_s, 0);
    assert_int_equal(part.stage[part.fullest].device, e.memory.device);
    assert_close(part.time.step, e.time.step, 0);
}

/* Two replicas of the tiny model: a factor of two can go to TP, stages or CP; the micro-batch can
 * be 2; three other ZeRO stages and six other policies. Chunks, schedules, placement, sequence
 * parallelism, experts, shards and offload have no effect here. */
static void neighbours(void **state)
{
    (void)state;
    struct bench b;
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    set_up(&b);
    const size_t n = sp_find_neighbours(&b.in, NULL, NULL, near);
    int moved = 0;
    assert_int_equal(n, 3 + 1 + 3 + (SP_POLICIES - 1));
    for (size_t i = 0; i < n; i++) {
        struct sp_step_inputs in = b.in;
        struct sp_stage_memory m;
        in.plan = &near[i].plan;
        assert_int_equal(sp_check_plan(&b.model, in.plan, 2, 1), SP_PLAN_OK);
        assert_close(near[i].step_s, sp_estimate_step(&in).step, 0);
        sp_fullest_stage(&b.model, &b.precision, in.plan, &b.framework, &m);
        assert_close(near[i].device_bytes, (double)m.device, 0);
        assert_true(i == 0 || near[i - 1].step_s <= near[i].step_s);
        moved += near[i].changes == 2;
        for (int k = 0; k < near[i].changes; k++) {
            const struct sp_plan_field *const field = &sp_plan_fields[near[i].field[k]];
            assert_true(sp_plan_value(in.plan, field) != sp_plan_value(&b.plan, field));
        }
    }
    assert_int_equal(moved, 3);
}

/* A framework that supports only ZeRO 1, 2, full recomputation and GPipe: two ZeRO stages and one
 * policy of the changes above remain, and plans with two stages take its schedule, which is listed
 * as a change, and TP does not divide the sequence. Without pipelines or context parallelism none
 * are offered. */
static void neighbours_that_run(void **state)
{
    (void)state;
    struct bench b;
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_repertoire runs = {.zero = {false, true, true, false},
                                 .pipelines = true,
                                 .uneven_stages = true,
                                 .splits_axes = true,
                                 .contexts = true,
                                 .sequence_parallel = {true, false}};
    set_up(&b);
    b.plan.zero = 0;
    runs.policy[SP_REMAT_FULL] = true;
    runs.schedule[SP_GPIPE] = true;
    const size_t n = sp_find_neighbours(&b.in, &runs, NULL, near);
    assert_int_equal(n, 3 + 1 + 2 + 1);
    int staged = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sp_plan *const p = &near[i].plan;
        staged += p->pp == 2 && p->schedule == SP_GPIPE && near[i].changes == 3 &&
                  near[i].field[2] == SP_FIELD_SCHEDULE;
        assert_true(p->zero != 3 && !p->sequence_parallel);
    }
    assert_int_equal(staged, 1);
    runs.pipelines = false;
    assert_int_equal(sp_find_neighbours(&b.in, &runs, NULL, near), n - 1);
    runs.contexts = false;
    assert_int_equal(sp_find_neighbours(&b.in, &runs, NULL, near), n - 2);
}

/* Fixes do fit, and a plan that cannot be made to fit has none. */
static void fixes(void **state)
{
    (void)state;
    struct bench b;
    struct sp_neighbour fix[SP_MAX_FIXES];
    set_up(&b);
    b.hw.chip.hbm_bytes = bytes_with(&b, SP_REMAT_NONE) - 1;
    const size_t n = sp_find_fixes(&b.in, NULL, NULL, fix);
    int lighter = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(fix[i].verdict == SP_VERDICT_YES && fix[i].device_bytes <= b.hw.chip.hbm_bytes);
        assert_true(i == 0 || fix[i - 1].step_s <= fix[i].step_s);
        lighter += fix[i].field[0] == SP_FIELD_REMAT;
    }
    assert_int_equal(lighter, SP_POLICIES - 1); /* one byte less than none is enough for each */
    b.hw.chip.hbm_bytes = 1;
    assert_int_equal(sp_find_fixes(&b.in, NULL, NULL, fix), 0);
}

/* Runs of the machine itself: one three octaves away counts 1/e of its weight of 0.3, one of a
 * mixture nothing; by hand exp(-0.3 / e) = 0.895510. Search's bounds stay below. */
static void seen_runs(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    const double before = sp_estimate_step(&b.in).step;
    b.profile.seen[0] = (struct sp_seen_run){sp_place_of(&b.model, &b.hw, &b.plan), 0.3};
    b.profile.seen[1] = b.profile.seen[0];
    b.profile.seen[0].place.octaves[SP_GROUND_TP] += 3;
    b.profile.seen[1].place.has_experts = true;
    b.profile.seen_runs = 2;
    const struct sp_step_time t = sp_estimate_step(&b.in);
    assert_close(t.step / before, 0.895510, 1e-5);
    assert_close(t.matmul + t.attention + t.elementwise + t.recompute + t.launch + t.offload +
                     t.tp_comm + t.cp_comm + t.ep_comm + t.dp_comm + t.pp_comm + t.bubble +
                     t.optimizer + t.straggler,
                 t.step, 1e-12);
    assert_close(sp_least_seen_factor(&b.profile), exp(-0.6), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),
        cmocka_unit_test(odds),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(lightest),
        cmocka_unit_test(played),
        cmocka_unit_test(consistent),
        cmocka_unit_test(parts),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(neighbours_that_run),
        cmocka_unit_test(fixes),
        cmocka_unit_test(seen_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
