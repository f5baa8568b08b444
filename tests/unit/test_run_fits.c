/* Fits to times that are known: the constant that explains a gap, by scanning all of them; curves
 * of kernels from times that a curve made. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "config/load.h"
#include "runs/gap.h"
#include "runs/kernel_times.h"
#include "runs/network_fit.h"
#include "runs/nccl_tests.h"
#include "runs/stacks_fit.h"

static double step_with(const struct sp_step_inputs *of, int constant, double value)
{
    struct sp_profile profile = *of->profile;
    struct sp_step_inputs in = *of;
    in.profile = &profile;
    profile.value[constant] = value;
    return sp_estimate_step(&in).step;
}

/* The least change of a constant, in its expected spreads, with which the step is as measured,
 * within the bounds: the first crossing in steps of 0.4 %, either way. */
static double strain_of(const struct sp_step_inputs *in, int constant, double step_s)
{
    const struct sp_constant_info *const info = &sp_constants[constant];
    const double own = in->profile->value[constant], now = step_with(in, constant, own);
    for (double away = 1.004; away < 2000; away *= 1.004)
        for (int up = 0; up < 2; up++) {
            const double value = up ? own * away : own / away;
            if (value < info->low || value > info->high)
                continue;
            if ((step_with(in, constant, value) < step_s) != (now < step_s))
                return log(away) / info->spread;
        }
    return INFINITY;
}

static void gaps_by_scanning(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "step --model llama3-8b --hw h100-8 --batch 32x4096 --tp 1 --micro-batch 1 --remat none "
        "--zero 1",
        "step --model llama3-70b --hw h100-64 --batch 128x8192 --tp 8 --pp 4 --micro-batch 1 "
        "--remat full",
        "step --model gpt2 --hw a100-80gb-16 --batch 64x1024 --micro-batch 1 --remat none",
        "step --model mixtral-8x7b --hw h100-64 --batch 256x4096 --tp 2 --ep 8 --micro-batch 1 "
        "--remat none"};
    static const double times[] = {0.9, 0.97, 1.02, 1.15, 1.5, 40};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct sp_planned p;
        struct sp_estimate e;
        read_plan(lines[i], &p);
        const struct sp_step_inputs in = sp_inputs_of(&p);
        sp_estimate(&in, SP_FLOPS_6P, NULL, &e);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            const double step = e.time.step * times[k];
            const struct sp_gap gap = sp_gap_of(&in, &e, step);
            double least = INFINITY;
            assert_close(gap.gap_s, step - e.time.step, 1e-12);
            assert_close(gap.mfu, e.rates.mfu / times[k], 1e-12);
            assert_int_equal(gap.in_range, step >= e.low_s && step <= e.high_s);
            for (int c = 0; c < SP_CONSTANTS; c++)
                least = fmin(least, strain_of(&in, c, step));
            if (isinf(least)) {
                assert_int_equal(gap.constant, SP_CONSTANTS);
                continue;
            }
            assert_true(gap.constant < SP_CONSTANTS);
            assert_true(gap.strain <= least && gap.strain > least - 0.11);
            assert_close(step_with(&in, gap.constant, gap.value), step, 1e-9);
            assert_close(gap.strain,
                         fabs(log(gap.value / in.profile->value[gap.constant])) /
                             sp_constants[gap.constant].spread,
                         1e-9);
        }
    }
}

/* Times that the curve of a chip made are fitted by it, to three digits; the error is rounded to
 * thousandths in the file. */
static void kernels_from_a_curve(void **state)
{
    (void)state;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_hardware hw;
    struct sp_kernel_fit *const fit = calloc(1, sizeof *fit);
    struct sp_kernel_time list[64];
    struct sp_kernel_times times = {list, 0};
    assert_true(sp_load_hardware("h100-8", &sources, &hw, &error));
    for (int m = 256; m <= 16384; m *= 4)
        for (int n = 1024; n <= 16384; n *= 2)
            list[times.n++] = (struct sp_kernel_time){
                .op = SP_MATMUL_TIME,
                .format = SP_KERNEL_BF16,
                .size = {m, n, 4096},
                .time_s = sp_matmul_kernel_s(&hw.chip, SP_KERNEL_BF16, m, n, 4096) *
                          (n % 3 ? 1.01 : 0.99)};
    const size_t matmuls = times.n;
    for (int seq = 1024; seq <= 16384; seq *= 2)
        list[times.n++] = (struct sp_kernel_time){
            .op = SP_ATTENTION_TIME,
            .format = SP_KERNEL_BF16,
            .size = {32, 128, seq},
            .time_s = sp_attention_kernel_s(&hw.chip, SP_KERNEL_BF16, 32, 128, seq)};
    sp_fit_kernels(&hw, &times, fit);
    assert_int_equal(fit->n, 2);
    for (int i = 0; i < 2; i++) {
        const bool matmul = fit->of[i].op == SP_MATMUL_TIME;
        const double residual = matmul ? fit->kernels.matmul[SP_KERNEL_BF16].residual
                                       : fit->kernels.attention[SP_KERNEL_BF16].residual;
        const double rows = matmul ? fit->kernels.matmul[SP_KERNEL_BF16].rows
                                   : fit->kernels.attention[SP_KERNEL_BF16].rows;
        assert_close(fit->of[i].rows, matmul ? (double)matmuls : (double)(times.n - matmuls), 0);
        assert_close(rows, fit->of[i].rows, 0);
        assert_true(fit->of[i].after < 0.012 && fit->of[i].before < 0.012);
        assert_close(residual * 1000, round(fit->of[i].after * 1000), 1e-12);
    }
    assert_close(fit->of[0].share, hw.chip.kernels.matmul[SP_KERNEL_BF16].share, 0.02);
    free(fit);
}

/* Times count inside one domain of 8, or on whole domains: 16 ranks on 2 hosts, but not 8 ranks on
 * 2, nor 12. */
static void ranks_of_networks(void **state)
{
    (void)state;
    static const struct {
        double ranks, hosts;
        bool ok;
    } rows[] = {{8, 1, true},   {4, 1, true},  {2, 1, true},  {16, 2, true},
                {64, 8, true},  {8, 2, false}, {4, 2, false}, {12, 2, false},
                {16, 4, false}, {16, 1, true}, {12, 1, false}};
    const struct sp_sources sources = {0};
    struct sp_hardware hw;
    struct sp_error error = {0};
    assert_true(sp_load_hardware("h100-64", &sources, &hw, &error));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct sp_network_fit fit;
        struct sp_nccl_time list[6];
        for (int k = 0; k < 6; k++)
            list[k] = (struct sp_nccl_time){.op = SP_ALL_REDUCE,
                                            .ranks = rows[i].ranks,
                                            .hosts = rows[i].hosts,
                                            .bytes = 1e6 * pow(4, k),
                                            .time_s = 2e-5 + 1e6 * pow(4, k) / 2e11};
        const struct sp_nccl_times times = {.of = list, .n = 6};
        memset(&fit, 0, sizeof fit);
        assert_int_equal(sp_fit_network(&hw, &times, &fit, &error), rows[i].ok);
        if (!rows[i].ok)
            continue;
        assert_int_equal(fit.n, 1);
        assert_int_equal(fit.of[0].inside, rows[i].ranks <= 8);
        assert_close(fit.of[0].least_nodes, fmax(1, rows[i].ranks / 8), 0);
        assert_close(fit.of[0].most_nodes, fmax(1, rows[i].ranks / 8), 0);
        assert_close(fit.of[0].curve.rows, 6, 0);
    }
}

/* Runs of one stack, all a tenth slower than expected, move its constants and those that its
 * families share, alike in all of them; a TPU stack stays as expected, and a machine's own fit
 * leaves less than half of the error. What a run leaves open takes a part of it, alike in runs of
 * one machine: dense models with a stated policy leave no router, degree or policy open, and the
 * network only where nodes of 8 exchange. */
static void stacks_that_share_families(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "step --model llama3-8b --hw h100-8 --batch 32x4096 --micro-batch 1 --remat none --zero 1",
        "step --model llama3-8b --hw h100-16 --batch 64x8192 --tp 2 --micro-batch 1 --remat none",
        "step --model llama2-13b --hw h100-64 --batch 128x4096 --tp 4 --pp 2 --micro-batch 2 "
        "--remat full",
        "step --model gpt2 --hw h100-8 --batch 64x1024 --micro-batch 4 --remat none",
        "step --model llama3-70b --hw h100-64 --batch 64x4096 --tp 8 --pp 4 --micro-batch 1 "
        "--remat full"};
    enum { RUNS = 5, STACKS = 4 };
    static struct sp_planned p[RUNS];
    static struct sp_profile stacks[STACKS], fitted[STACKS];
    static struct sp_joint_sample samples[RUNS];
    static double found[RUNS][SP_UNKNOWNS];
    struct sp_sample alone[RUNS];
    for (int i = 0; i < RUNS; i++)
        read_plan(lines[i], &p[i]);
    for (int s = 0; s < STACKS; s++) {
        stacks[s] = p[0].profile;
        stacks[s].kind = s == 3 ? SP_TORUS : SP_SWITCHED;
        snprintf(stacks[s].name, sizeof stacks[s].name, "stack-%d", s);
        snprintf(stacks[s].chip_family, 8, "%s", s == 1 ? "other" : s == 3 ? "tpu" : "one");
        snprintf(stacks[s].software_family, 8, "%s", s == 2 ? "other" : s == 3 ? "jax" : "one");
        snprintf(stacks[s].overlap_family, 8, "%s", s == 2 ? "other" : s == 3 ? "jax" : "one");
        for (int c = 0; c < SP_CONSTANTS; c++) {
            stacks[s].value[c] = stacks[s].expected[c] = p[0].profile.value[c];
            stacks[s].determined[c] = 0;
        }
        stacks[s].machine_factor = stacks[s].used_factor = 1;
    }
    for (int i = 0; i < RUNS; i++) {
        struct sp_sample *const one = &samples[i].sample;
        *one = (struct sp_sample){.in = sp_inputs_of(&p[i]), .weight = 1};
        one->step_s = 1; /* what the stack predicts, a tenth longer */
        one->step_s = 1.1 * exp(sp_log_error(one, &stacks[0]));
        for (int u = 0; u < SP_UNKNOWNS; u++)
            samples[i].unit[u] = i;
        alone[i] = *one;
    }
    samples[1].unit[SP_OPEN_MACHINE] = 0;
    sp_fit_jointly(samples, RUNS, stacks, STACKS, fitted, found);
    for (int i = 0; i < RUNS; i++) {
        static const int nodes[RUNS] = {1, 2, 8, 1, 8};
        assert_true(found[i][SP_OPEN_MACHINE] > 0);
        assert_int_equal(found[i][SP_OPEN_NETWORK] != 0, nodes[i] > 1);
        assert_true(found[i][SP_OPEN_ROUTER] == 0 && found[i][SP_OPEN_EXPERT_TP] == 0 &&
                    found[i][SP_OPEN_REMAT] == 0 && found[i][SP_OPEN_RELEASE] == 0);
    }
    assert_true(found[1][SP_OPEN_MACHINE] == found[0][SP_OPEN_MACHINE]);
    assert_true(found[2][SP_OPEN_MACHINE] != found[0][SP_OPEN_MACHINE]);
    double before = 0, after = 0, moved = 0;
    for (int i = 0; i < RUNS; i++) {
        before += fabs(sp_log_error(&alone[i], &stacks[0]));
        after += fabs(sp_log_error(&alone[i], &fitted[0]));
    }
    assert_close(before, RUNS * log(1.1), 1e-9);
    assert_true(after < 0.6 * before);
    for (int c = 0; c < SP_CONSTANTS; c++) {
        const double own = fitted[0].value[c] / stacks[0].value[c];
        const bool of_chip = sp_constants[c].of == SP_OF_CHIP,
                   of_host = sp_constants[c].of == SP_OF_HOST;
        moved += fabs(log(own));
        assert_close(fitted[3].value[c], stacks[3].value[c], 1e-9); /* no runs on TPUs */
        assert_close(fitted[3].determined[c], 0, 1e-9);
        if (!of_chip) /* the same software on another chip */
            assert_close(fitted[1].value[c] / stacks[1].value[c], own, 1e-9);
        if (of_chip || of_host) /* the same chip under other software */
            assert_close(fitted[2].value[c] / stacks[2].value[c], own, 1e-9);
        if (of_chip && !of_host) /* chips have no common part */
            assert_close(fitted[1].value[c], stacks[1].value[c], 1e-9);
        else if (!of_host) /* other software shares half: the common part */
            assert_true(fabs(log(fitted[2].value[c] / stacks[2].value[c])) <=
                        fabs(log(own)) * (1 + 1e-6) + 1e-12);
    }
    assert_true(moved > 0.02);
    struct sp_profile machine;
    sp_fit_profile(alone, RUNS, &stacks[0], &machine);
    after = 0;
    for (int i = 0; i < RUNS; i++)
        after += fabs(sp_log_error(&alone[i], &machine));
    assert_true(after < 0.5 * before);
    assert_true(machine.machine_factor > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_by_scanning),
        cmocka_unit_test(kernels_from_a_curve),
        cmocka_unit_test(ranks_of_networks),
        cmocka_unit_test(stacks_that_share_families),
    };
    return cmocka_run_group_tests_name("run_fits", tests, NULL, NULL);
}
