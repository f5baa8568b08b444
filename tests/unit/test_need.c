/* What a machine would have to be: the value put back meets the goal and a thousandth less does
 * not, the textbook's closed forms give the same value, and elasticities account for all of a step.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/need.h>

#include "cli/command.h"
#include "cli/plan_options.h"
#include "draws.h"

enum { CASES = 1000 / ONE_IN };

static uint64_t state = 20;

static uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* Between a and b, spread evenly over its logarithm. */
static double spread(double a, double b)
{
    return a * pow(b / a, (double)draw(1000001) / 1e6);
}

/* The answer to a line; NULL where it is refused. */
static struct sp_report *ask(const char *line)
{
    char copy[2000], *words[80], *rest = copy;
    int n = 0;
    struct sp_args args;
    struct sp_error error = {0};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        words[n++] = word;
    words[n] = NULL;
    const struct sp_command *const command = sp_find_command(words[0], &error);
    assert_non_null(command);
    struct sp_report *const report = sp_report_new(command->name);
    if (sp_compute(command, n, words, &args, report, &error))
        return report;
    sp_report_free(report);
    return NULL;
}

static double number(const struct sp_report *r, const char *format, int i)
{
    char key[80];
    snprintf(key, sizeof key, format, i);
    const struct sp_entry *const e = sp_find(r, key);
    return e && e->kind == SP_VALUE_NUMBER ? e->number : NAN;
}

static double ask_for(const char *line, const char *key)
{
    struct sp_report *const r = ask(line);
    const double value = r ? number(r, key, 0) : NAN;
    sp_report_free(r);
    return value;
}

/* A plan that names everything, on a stack with constants of its own. */
static void random_line(char line[1200], char goal[64])
{
    static const char *const models[] = {"llama2-7b", "llama3-8b", "llama3-70b", "mixtral-8x7b"};
    static const struct {
        const char *machine, *profile;
        int chips;
    } stacks[] = {{"h100-", "h100-nemo", 64},
                  {"a100-80gb-", "a100-megatron-2022", 64},
                  {"v5p-", "v5p-maxtext", 64}};
    const size_t s = draw(3), m = draw(4);
    const int tp = 1 << draw(4), micro = 1 << draw(2);
    const double target = exp(log(0.3) + log(10) * (double)draw(1000) / 1000);
    snprintf(line, 1200,
             "--model %s --hw %s%d --profile %s --tp %d --pp %d --micro-batch %d --batch 256x4096 "
             "--remat %s --zero 1",
             models[m], stacks[s].machine, stacks[s].chips, stacks[s].profile, tp,
             s == 2 ? 1 : 1 << draw(3), micro, draw(2) ? "full" : "none");
    char ask_now[1300];
    snprintf(ask_now, sizeof ask_now, "step %s", line);
    const double step = ask_for(ask_now, "time.step_s");
    if (draw(4) == 0)
        snprintf(goal, 64, "fits");
    else if (draw(3) == 0)
        snprintf(goal, 64, "mfu=%.6f", spread(0.1, 0.9));
    else
        snprintf(goal, 64, "step=%.17g", step * target);
}

static void test_put_back(void **unused)
{
    (void)unused;
    int tried = 0, none = 0;
    for (int i = 0; i < CASES; i++) {
        char line[1200], goal[64], words[1800];
        random_line(line, goal);
        if (strstr(goal, "nan"))
            continue;
        snprintf(words, sizeof words, "need %s --for %s", line, goal);
        struct sp_report *const r = ask(words);
        assert_non_null(r);
        const bool met = sp_find(r, "met")->number != 0, least = strncmp(goal, "mfu", 3) == 0;
        for (int f = 0; !isnan(number(r, "need.%d.now", f)); f++) {
            char key[40];
            snprintf(key, sizeof key, "need.%d.path", f);
            const char *const path = sp_find(r, key)->text;
            const double needed = number(r, "need.%d.needed", f), now = number(r, "need.%d.now", f);
            if (strcmp(path, "chips") == 0 || strcmp(path, "network.domain") == 0)
                continue;
            const double target = strcmp(goal, "fits") == 0 ? 1 : number(r, "target", 0);
            if (isnan(needed)) { /* a thousand million times of it change nothing */
                for (int way = 0; way < 2; way++) {
                    snprintf(words, sizeof words, "need %s --for %s --set hw.%s=%.17g", line, goal,
                             path, now * (way ? 1e9 : 1e-9));
                    const double value = ask_for(words, "value");
                    if (!isnan(value) && (least ? value >= target : value <= target) != met)
                        fail_msg("%s: %.17g, target %.17g", words, value, target);
                }
                none++;
                continue;
            }
            /* The side that is on the way from a machine that misses the goal. */
            const double away = (needed > now) == !met ? 0.999 : 1 / 0.999;
            for (int way = 0; way < 2; way++) {
                snprintf(words, sizeof words, "need %s --for %s --set hw.%s=%.17g", line, goal,
                         path, needed * (way ? away : 1));
                const double value = ask_for(words, "value");
                if ((least ? value >= target : value <= target) != (way == 0))
                    fail_msg("%s: %.17g, target %.17g", words, value, target);
            }
            tried++;
        }
        sp_report_free(r);
    }
    assert_true(tried > 2 * CASES / 3 && none > CASES);
}

/* "How to Scale Your Model", Training: on v5p FSDP hides from 850 tokens a chip on over three axes,
 * from 2550 over one; TP up to F / 2550. There a link has to have what v5p's links have, 9e10
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

/* The parts of a step that no rate shortens: as if every latency and wait were `factor` times. */
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

/* All rates times k and all waits over k is the same step in other seconds, so that elasticities in
 * rates and in waits are -1 together. */
static void test_sum(void **unused)
{
    static const char *const lines[] = {
        "step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 --remat none",
        ("step --model llama3-8b --hw h100-8 --zero 3 --batch 16x8192 --remat full --profile "
         "h100-llm-foundry"),
        "step --model mixtral-8x7b --hw h100-64 --tp 2 --ep 8 --batch 256x4096 --remat none",
        "step --model llama2-7b --hw v5p-64 --batch 256x4096 --remat full",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char copy[400], *words[60], *rest = copy, line[500];
        int n = 0;
        struct sp_args args;
        struct sp_error error = {0};
        struct sp_planned planned;
        snprintf(copy, sizeof copy, "%s", lines[i]);
        for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
            words[n++] = word;
        words[n] = NULL;
        const struct sp_command *const step = sp_find_command("step", &error);
        assert_true(sp_parse_command(step, n, words, &args, &error));
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

/* On a goal that is known in closed form the answers are that form's. */
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
    assert_close(sp_elasticity(&demand, &hw, SP_FIGURE_HBM_RATE, 0.5, &low, &high), -1, 1e-12);
    assert_true(sp_find_binding(&demand, &hw) == SP_FIGURE_HBM_RATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put_back), cmocka_unit_test(test_book),
                                       cmocka_unit_test(test_closed_forms),
                                       cmocka_unit_test(test_sum),
                                       cmocka_unit_test(test_hyperbola)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
