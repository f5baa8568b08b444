/* Inverse questions: they agree with the textbook's closed forms, elasticities sum to the whole of
 * a time, and whole numbers are the nearest that suffice. test_need_back.c verifies answers. */
#include "asked.h"

#include <scaleplan/estimate.h>
#include <scaleplan/need.h>

#include "cli/plan_options.h"
#include "cli/goal.h"

/* "How to Scale Your Model", Training: on v5p FSDP hides from 850 tokens per chip on over three
 * axes, from 2550 over one; TP up to F / 2550. There a link has to have what v5p's links have, 9e10
 * bytes/s one way. */
static void test_book(void **unused)
{
    static const char *const lines[] = {
        "need --constants textbook --model llama3-70b --hw v5p:16x16x16 --batch 3481600 --strategy "
        "fsdp --for compute-bound --vary network.link_bytes_per_s",
        "need --constants textbook --model llama3-70b --hw v5p:16x16x16 --batch 10444800 --axes 1 "
        "--strategy fsdp --for compute-bound --vary network.link_bytes_per_s",
        "need --constants textbook --model llama3-70b --hw v5p:16x16x16 --batch 3481600 --strategy "
        "dp --for compute-bound --vary network.link_bytes_per_s",
    };
    (void)unused;
    for (size_t i = 0; i < 3; i++)
        assert_close(ask_for(lines[i], "need.0.needed"), 9e10, 1e-9);
}

/* W >= C N / (n B) for FSDP over n axes, where W is both directions of a link: scaling book,
 * "Training"; and the peak that such a link feeds, C <= n B W / N. */
static void test_closed_forms(void **unused)
{
    static const char *const shapes[] = {"4x4x4", "8x8x8", "8x16x16", "16x16x16"};
    static const double chips[] = {64, 512, 2048, 4096};
    (void)unused;
    for (int i = 0; i < 100; i++) {
        char line[400];
        const size_t s = draw(4);
        const double B = floor(chips[s] * spread(50, 20000)), n = (double)(1 + draw(3));
        snprintf(
            line, sizeof line,
            "need --constants textbook --model llama2-13b --hw v5p:%s --batch %.0f --axes %.0f "
            "--strategy fsdp --for compute-bound --vary "
            "chip.peak_flops_per_s.bf16,network.link_bytes_per_s",
            shapes[s], B, n);
        struct sp_report *const r = ask(line);
        assert_non_null(r);
        assert_close(number(r, "need.1.needed", 0), 4.59e14 * chips[s] / (n * B) / 2, 1e-6);
        assert_close(number(r, "need.0.needed", 0), n * B * 1.8e11 / chips[s], 1e-6);
        sp_report_free(r);
    }
}

/* TP over a whole slice: W >= Y C / (n F), scaling book, "Training": up to F / 2550 chips on v5p.
 */
static void test_tp(void **unused)
{
    static const struct {
        const char *model, *shape;
        double F, chips;
    } cases[] = {{"llama3-70b", "4x4x4", 28672, 64},
                 {"llama3-405b", "4x4x4", 53248, 64},
                 {"llama3-405b", "4x4x8", 53248, 128}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 1; n <= 3; n++) {
            char line[400];
            snprintf(line, sizeof line,
                     "need --constants textbook --model %s --hw v5p:%s --batch 1M --axes %d "
                     "--strategy tp --for compute-bound --vary network.link_bytes_per_s",
                     cases[i].model, cases[i].shape, n);
            assert_close(ask_for(line, "need.0.needed"),
                         cases[i].chips * 4.59e14 / (n * cases[i].F) / 2, 1e-6);
        }
}

/* A decode step that reads P bytes of weights and B caches of S tokens: W_hbm >= (P + B S kv) / (N
 * tau), and HBM >= (P + B S kv) / N; scaling book, "Inference". LLaMA-2 13B has 13015864320
 * parameters, of which the input table of 32000 x 5120 is looked up, and 819200 bytes a cached
 * token; prompts take next to nothing of a step. */
static void test_decode(void **unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        char line[500];
        const double chips = (double)(8 << draw(4)), B = (double)(1 + draw(16));
        const double S = (double)(256 + draw(8192)), tau = spread(0.001, 0.1);
        const double bytes = 2 * 13015864320.0 + B * S * 819200;
        snprintf(
            line, sizeof line,
            "need --model llama2-13b --hw v5e-%.0f --concurrency %.0f --context %.0f --input 1 "
            "--output 1000000 --constants textbook --for tpot=%.17g --vary "
            "chip.hbm_bytes_per_s,chip.hbm_usable_bytes",
            chips, B, S, tau);
        struct sp_report *const r = ask(line);
        assert_non_null(r);
        const bool fits = bytes <= chips * number(r, "need.1.now", 0);
        if (fits)
            assert_close(number(r, "need.0.needed", 0), bytes / (chips * tau), 1e-4);
        if (fits == (sp_find(r, "met")->number != 0)) /* else the bandwidth binds as well */
            assert_close(number(r, "need.1.needed", 0), bytes / chips, 1e-6);
        sp_report_free(r);
    }
}

/* Training within D days at the MFU that comes with it: C = 6 P T / (N MFU 86400 D). */
static void test_days(void **unused)
{
    static const char plan[] = "--model llama3-70b --hw h100-256 --batch 512x8192 --tp 8 --pp 4 "
                               "--remat full --micro-batch 1 "
                               "--profile h100-nemo";
    (void)unused;
    for (int days = 200; days <= 2000; days *= 2) {
        char line[600];
        snprintf(line, sizeof line,
                 "need %s --tokens 15T --for days=%d --vary chip.peak_flops_per_s.bf16", plan,
                 days);
        const double C = ask_for(line, "need.0.needed");
        if (isnan(C))
            continue;
        snprintf(line, sizeof line, "step %s --set hw.chip.peak_flops_per_s.bf16=%.17g", plan, C);
        const double mfu = ask_for(line, "mfu_6p"), P = 70553706496.0;
        assert_close(C, 6 * P * 15e12 / (256 * mfu * 86400 * days), 1e-6);
    }
}

/* Scales the parts of a step that no rate shortens by `factor`: latencies and waits. */
static double step_with_waits(const struct sp_planned *planned, double factor)
{
    struct sp_planned p = *planned;
    for (int c = 0; c < SP_CONSTANTS; c++)
        if (strcmp(sp_constants[c].unit, "s") == 0)
            p.profile.value[c] *= factor;
    struct sp_kernels *const kernels = &p.hw.chip.kernels;
    for (int f = 0; f < SP_KERNEL_FORMATS; f++)
        kernels->matmul[f].launch_s *= factor;
    for (int f = 0; f < SP_KERNEL_ATTENTION_FORMATS; f++)
        kernels->attention[f].launch_s *= factor;
    for (int c = 0; c < SP_COLLECTIVES; c++) {
        kernels->collective[c].latency_s *= factor;
        kernels->collective[c].rank_latency_s *= factor;
        kernels->collective[c].floor_s *= factor;
    }
    p.hw.network.send_latency_s *= factor;
    p.hw.network.hop_latency_s *= factor;
    p.hw.network.domain_latency_s *= factor;
    p.hw.network.scaleout_latency_s *= factor;
    const struct sp_step_inputs in = sp_inputs_of(&p);
    struct sp_estimate e;
    sp_estimate(&in, SP_FLOPS_6P, NULL, &e);
    return e.time.step;
}

/* All rates times k and all waits over k give the same step in other seconds, so elasticities in
 * rates and waits sum to -1. */
static void test_sum(void **unused)
{
    static const char *const lines[] = {
        "step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 --remat none",
        ("step --model llama3-8b --hw h100-8 --zero 3 --batch 16x8192 --remat full --profile "
         "h100-llm-foundry"),
        ("step --model llama3-70b --hw h100-64 --precision fp8-mixed16 --tp 4 --pp 2 --batch "
         "256x8192 --remat full --profile h100-nemo"),
        "step --model mixtral-8x7b --hw h100-64 --tp 2 --ep 8 --batch 256x4096 --remat none",
        "step --model llama2-7b --hw v5p-64 --batch 256x4096 --remat full",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char copy[LINE], line[500];
        struct sp_args args;
        struct sp_error error = {0};
        struct sp_planned planned;
        read_line(lines[i], copy, &args);
        const struct sp_sources sources = sp_sources_of(&args);
        assert_true(sp_plan_of(&args, &sources, &planned, &error));
        const double d = 1.001;
        const double waits =
            log(step_with_waits(&planned, d) / step_with_waits(&planned, 1 / d)) / (2 * log(d));
        snprintf(line, sizeof line, "sensitivity%s --delta 0.1%%", lines[i] + strlen("step"));
        const double fixed = ask_for(line, "fixed");
        if (!(fabs(fixed - waits) < 0.01))
            fail_msg("%s: the rest is %g, of waits %g", line, fixed, waits);
    }
}

/* A service's time with every wait of the engine, and every launch of a kernel, scaled by
 * `factor`. */
static double served_with_waits(struct sp_aim *aim, double factor)
{
    double *const value = aim->serve.profile.value;
    double kept[SP_PROFILE_ROOM];
    memcpy(kept, value, sizeof kept);
    for (int c = 0; c < SP_SERVING_CONSTANTS; c++)
        value[c] *= strcmp(sp_serving_constants[c].unit, "s") == 0 ? factor : 1;
    struct sp_hardware hw = aim->serve.hw;
    for (int f = 0; f < SP_KERNEL_FORMATS; f++)
        hw.chip.kernels.matmul[f].launch_s *= factor;
    const double s = sp_value_of_service(&hw, aim);
    memcpy(value, kept, sizeof kept);
    return s;
}

static void test_sum_of_services(void **unused)
{
    static const char *const lines[] = {
        "sensitivity --model llama3-70b --hw h100-8 --tp 8 --concurrency 32 --for tpot",
        ("sensitivity --model llama3-8b --hw a100-80gb-8 --tp 2 --engine trtllm --for ttft "
         "--concurrency 64"),
        "sensitivity --model deepseek-v3 --hw h200-16 --concurrency 64 --for tpot",
        "sensitivity --model deepseek-v3 --hw h200-8 --weights fp8 --concurrency 64 --for tpot",
        "sensitivity --model gpt-oss-120b --hw b200-8 --experts mxfp4 --concurrency 256 --for ttft",
        "sensitivity --model llama2-13b --hw v5e-8 --constants textbook --concurrency 8 --for tpot",
    };
    static struct sp_aim aim;
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char copy[LINE], line[400];
        struct sp_args args;
        struct sp_error error = {0};
        const double d = 1.001;
        read_line(lines[i], copy, &args);
        assert_true(sp_take_aim(&args, false, &aim, &error));
        const double waits =
            log(served_with_waits(&aim, d) / served_with_waits(&aim, 1 / d)) / (2 * log(d));
        snprintf(line, sizeof line, "%s --delta 0.1%%", lines[i]);
        const double fixed = ask_for(line, "fixed");
        sp_close_aim(&aim);
        if (!(fabs(fixed - waits) < 0.01))
            fail_msg("%s: the rest is %g, of waits %g", line, fixed, waits);
    }
}

/* For goals in closed form, answers equal the inverse formula. */
static double reciprocal(const struct sp_hardware *hw, void *waits)
{
    const double *const s = waits;
    return *s + 1e15 / hw->chip.hbm_bytes_per_s;
}

static void test_hyperbola(void **unused)
{
    struct sp_hardware hw = {.chips_per_slice = 8, .slices = 1};
    double waits = 3, low, high;
    struct sp_demand demand = {.value = reciprocal, .context = &waits};
    (void)unused;
    hw.network.kind = SP_SWITCHED;
    for (int i = 0; i < 1000; i++) {
        hw.chip.hbm_bytes_per_s = spread(1e12, 1e16);
        demand.target = waits * spread(0.5, 50);
        const struct sp_need need =
            sp_find_need(&demand, &hw, reciprocal(&hw, &waits), SP_FIGURE_HBM_RATE);
        const double expected = 1e15 / (demand.target - waits);
        if (demand.target > waits * (1 + 1e-9)) {
            assert_true(need.reachable);
            assert_close(need.needed, expected, 1e-8);
            assert_true(sp_is_met(
                &demand, (hw.chip.hbm_bytes_per_s = need.needed, reciprocal(&hw, &waits))));
        } else {
            assert_false(need.reachable);
            assert_true(isnan(need.needed));
        }
    }
    waits = 0; /* value 1e15 / W: elasticity -1 whatever the delta */
    assert_close(sp_elasticity_of(&demand, &hw, SP_FIGURE_HBM_RATE, 0.5, &low, &high), -1, 1e-12);
    assert_true(sp_find_binding(&demand, &hw) == SP_FIGURE_HBM_RATE);
}

/* A goal with a limit of 800 per chip, or with a share per chip. */
struct shared {
    double scale;
    bool grows;
    int asked; /* number of evaluations */
};

static double by_chips(const struct sp_hardware *hw, void *context)
{
    struct shared *const s = context;
    const double chips = (double)sp_chips(hw);
    s->asked++;
    return s->grows ? s->scale * chips : s->scale / chips;
}

/* The nearest sufficient multiple or divisor, in either direction; if the goal is met, the last
 * that meets it. */
static void test_numbers(void **unused)
{
    static const struct {
        double now, scale;
        bool grows, at_least, sparse;
        double target, needed;
        bool reachable;
    } cases[] = {
        {8, 800, false, false, false, 10, 80, true},     /* 100 -> 10: ten times the chips */
        {8, 800, false, false, true, 10, 128, true},     /* the first doubling beyond 8 times */
        {8, 800, false, false, true, 20, 40, true},      /* five times */
        {8, 800, false, false, false, 200, 4, true},     /* met; half of them still meets it */
        {64, 64, false, true, false, 4, 16, true},       /* a share that falls with chips: fewer */
        {64, 64, true, false, false, 1024, 16, true},    /* a cost that grows with them: fewer */
        {64, 64, true, false, false, 5000, 64, true},    /* met; twice as many is too much */
        {8, 800, false, false, false, 1e-9, NAN, false}, /* not even 4096 times */
        {8, 800, false, false, false, 801, NAN, true},   /* met, and by one chip too */
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_hardware hw = {.chips_per_slice = (int64_t)cases[i].now, .slices = 1};
        struct shared shared = {.scale = cases[i].scale, .grows = cases[i].grows};
        const struct sp_demand demand = {.value = by_chips,
                                         .context = &shared,
                                         .target = cases[i].target,
                                         .at_least = cases[i].at_least,
                                         .sparse = cases[i].sparse};
        hw.network.kind = SP_SWITCHED;
        hw.network.domain = 8;
        const struct sp_need need =
            sp_find_need(&demand, &hw, by_chips(&hw, &shared), SP_FIGURE_CHIPS);
        assert_true(need.reachable == cases[i].reachable);
        if (isnan(cases[i].needed))
            assert_true(isnan(need.needed));
        else
            assert_close(need.needed, cases[i].needed, 0);
    }
}

/* A domain is no larger than all devices of a slice: 16, 32 and 64 of 64, and 4, 2, 1. */
static void test_domains(void **unused)
{
    struct sp_hardware hw = {.chips_per_slice = 64, .slices = 1};
    struct shared shared = {.scale = 1};
    const struct sp_demand demand = {.value = by_chips, .context = &shared, .target = 1e-9};
    (void)unused;
    hw.network.kind = SP_SWITCHED;
    hw.network.domain = 8;
    assert_false(sp_find_need(&demand, &hw, 1, SP_FIGURE_DOMAIN).reachable);
    assert_int_equal(shared.asked, 6);
    double step[2];
    for (int i = 0; i < 2; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "step --model llama3-8b --hw h100-64 --tp 8 --batch 128x8192 --remat full --set "
                 "hw.network.domain=%d",
                 64 << i);
        step[i] = ask_for(line, "step_s");
    }
    assert_close(step[0], step[1], 0);
}

/* Number of evaluations: about a dozen for smooth goals; for step functions as many as bisection to
 * 10^-10 needs, 34, plus a few to find a bracket. */
static double stairs(const struct sp_hardware *hw, void *asked)
{
    ++*(int *)asked;
    return ceil(1e15 / hw->chip.hbm_bytes_per_s);
}

static double smooth(const struct sp_hardware *hw, void *asked)
{
    ++*(int *)asked;
    return 3 + 1e15 / hw->chip.hbm_bytes_per_s;
}

static void test_evaluations(void **unused)
{
    int all[2] = {0};
    (void)unused;
    for (int i = 0; i < 200; i++) {
        struct sp_hardware hw = {.chips_per_slice = 8, .slices = 1};
        hw.network.kind = SP_SWITCHED;
        hw.chip.hbm_bytes_per_s = spread(1e13, 1e14);
        for (int k = 0; k < 2; k++) {
            int asked = 0;
            const struct sp_demand demand = {
                .value = k ? stairs : smooth, .context = &asked, .target = spread(3.1, 300)};
            const double now = demand.value(&hw, &asked);
            assert_true(sp_find_need(&demand, &hw, now, SP_FIGURE_HBM_RATE).reachable);
            assert_true(asked < 50);
            all[k] += asked;
        }
    }
    assert_true(all[0] < 200 * 20);
}

/* 3 + 1e15 / W <= 3.002 needs 5e17 bytes/s; 3.0005 needs 2e18, more than a file may state. */
static void test_most(void **unused)
{
    struct sp_hardware hw = {.chips_per_slice = 8, .slices = 1};
    int asked = 0;
    (void)unused;
    hw.chip.hbm_bytes_per_s = 1e15;
    struct sp_demand demand = {.value = smooth, .context = &asked, .target = 3.002};
    assert_close(sp_find_need(&demand, &hw, 4, SP_FIGURE_HBM_RATE).needed, 5e17, 1e-9);
    demand.target = 3.0005;
    const struct sp_need need = sp_find_need(&demand, &hw, 4, SP_FIGURE_HBM_RATE);
    assert_true(!need.reachable && isnan(need.needed));
    assert_close(need.limit, 3.001, 1e-12);
}

/* A goal that is met from 4.5e15 on, as where bf16 becomes the faster arithmetic. */
static double jumping(const struct sp_hardware *hw, void *context)
{
    (void)context;
    return hw->chip.peak_flops_per_s[SP_BF16] >= 4.5e15 ? 1 : 2;
}

/* 4.5e15 is twice the figure, so it is tried itself; exp(log(4.5e15)) is below it. */
static void test_jump(void **unused)
{
    struct sp_hardware hw = {.chips_per_slice = 8, .slices = 1};
    const struct sp_demand demand = {.value = jumping, .target = 1.5};
    (void)unused;
    hw.chip.peak_flops_per_s[SP_BF16] = 2.25e15;
    assert_true(exp(log(4.5e15)) < 4.5e15);
    assert_true(
        sp_find_need(&demand, &hw, 2, (enum sp_machine_figure)(SP_FIGURE_PEAK + SP_BF16)).needed >=
        4.5e15);
    hw.chip.peak_flops_per_s[SP_BF16] = 9e15; /* the lowest that still meets it */
    assert_true(
        sp_find_need(&demand, &hw, 1, (enum sp_machine_figure)(SP_FIGURE_PEAK + SP_BF16)).needed >=
        4.5e15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_book),
                                       cmocka_unit_test(test_closed_forms),
                                       cmocka_unit_test(test_tp),
                                       cmocka_unit_test(test_decode),
                                       cmocka_unit_test(test_days),
                                       cmocka_unit_test(test_sum),
                                       cmocka_unit_test(test_sum_of_services),
                                       cmocka_unit_test(test_hyperbola),
                                       cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_domains),
                                       cmocka_unit_test(test_evaluations),
                                       cmocka_unit_test(test_most),
                                       cmocka_unit_test(test_jump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
