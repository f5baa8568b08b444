/* Inverse answers verified with `step`, `serve` and `search`, which do not invert: the needed value
 * meets the goal, a thousandth less does not, and what no value meets is not met at 10^9 times the
 * figure. The binding figure binds. */
#include "asked.h"

#include "draws.h"

static int cases(void)
{
    return 1000 / one_in();
}

/* A goal, and the command line that evaluates it. */
struct question {
    const char *command, *key; /* of the line, and of its answer: the goal's value */
    char line[1200], goal[64]; /* options, shared with `need`; --for */
    double target;
    bool at_least;
};

/* Memory of the fullest device as a share of the most that fits. */
static double share_of_memory(const struct sp_report *r)
{
    return number(r, "memory.device_bytes", 0) / number(r, "memory.limit_bytes", 0);
}

/* A service's value; the TPOT is defined only if no request queues. */
static double served(const struct sp_report *r, const struct question *q)
{
    const double value = number(r, q->key, 0);
    const bool fits = sp_find(r, "fits")->number != 0, estimated = !isnan(number(r, "waiting", 0));
    const bool waits = number(r, "waiting", 0) > 0;
    const bool has_place = estimated && strcmp(q->key, "tpot_s") != 0 ? true : fits && !waits;
    return has_place && !isnan(value) ? value : q->at_least ? 0 : INFINITY;
}

/* The goal's value with changed figures; NAN: no such machine. */
static double value_with(const struct question *q, const char *sets)
{
    char words[LINE];
    snprintf(words, sizeof words, "%s %s%s", q->command, q->line, sets);
    struct sp_report *const r = ask(words);
    const double value = !r                                 ? NAN
                         : strcmp(q->key, "memory") == 0    ? share_of_memory(r)
                         : strcmp(q->command, "serve") == 0 ? served(r, q)
                                                            : number(r, q->key, 0);
    sp_report_free(r);
    return value;
}

/* Up to rounding: sums may be in another order. */
static bool is_met(const struct question *q, double value)
{
    return q->at_least ? value >= q->target * (1 - 1e-14) : value <= q->target * (1 + 1e-14);
}

/* A fully specified plan, on a stack with its own constants or with borrowed ones. */
static bool draw_training(struct question *q)
{
    static const char *const models[] = {"llama2-7b", "llama3-8b", "llama3-70b", "mixtral-8x7b"};
    static const struct {
        const char *machine, *constants;
        int zero;
    } stacks[] = {{"h100-64", "--profile h100-nemo", 1},
                  {"a100-80gb-64", "--profile a100-megatron-2022", 1},
                  {"v5p-64", "--profile v5p-maxtext", 1},
                  {"h100-64", "--framework torchtitan", 3},
                  {"h200-64", "--framework megatron", 1}};
    /* Drawn one by one, because compilers evaluate the arguments of a call in different orders. */
    const size_t s = draw(5), m = draw(4);
    const int tp = 1 << draw(4), micro = 1 << draw(2);
    const int pp = s == 2 ? 1 : 1 << draw(3);
    const char *const remat = draw(2) ? "full" : "none";
    *q = (struct question){.command = "step", .key = "step_s"};
    snprintf(q->line, sizeof q->line,
             "--model %s --hw %s %s --tp %d --pp %d --micro-batch %d --batch 256x4096 "
             "--remat %s --zero %d",
             models[m], stacks[s].machine, stacks[s].constants, tp, pp, micro, remat,
             stacks[s].zero);
    q->target = value_with(q, "") * spread(0.3, 3);
    snprintf(q->goal, sizeof q->goal, "step=%.17g", q->target);
    if (draw(4) == 0) {
        q->key = "memory";
        q->target = 1;
        snprintf(q->goal, sizeof q->goal, "fits");
    } else if (draw(3) == 0) {
        q->key = "mfu_6p";
        q->at_least = true;
        q->target = round(1e6 * spread(0.1, 0.9)) / 1e6;
        snprintf(q->goal, sizeof q->goal, "mfu=%.6f", q->target);
    }
    return isfinite(value_with(q, ""));
}

/* A service with explicit degrees. */
static bool draw_service(struct question *q)
{
    static const char *const models[] = {"llama3-8b", "llama3-70b", "mixtral-8x7b", "llama2-13b"};
    static const char *const machines[] = {"h100-8", "a100-80gb-8", "b200-8", "v5p-8"};
    static const struct {
        const char *goal, *key;
        bool at_least;
    } goals[] = {{"tpot", "tpot_s", false},
                 {"ttft", "ttft_s", false},
                 {"served-tokens-per-s", "tokens_per_s", true},
                 {"usd-per-mtoken", "cost_usd_per_mtoken.blended", false}};
    const size_t g = draw(4), hw = draw(4), m = draw(4);
    const int tp = 1 << draw(4), concurrency = 16 << draw(5);
    const double input = spread(64, 8192), output = spread(16, 2048);
    const char *const formats = draw(4) == 0   ? " --constants textbook"
                                : draw(3) == 0 ? " --weights fp8"
                                               : "";
    *q = (struct question){.command = "serve", .key = goals[g].key, .at_least = goals[g].at_least};
    snprintf(q->line, sizeof q->line,
             "--model %s --hw %s --tp %d --input %.0f --output %.0f --concurrency %d%s", models[m],
             machines[hw], tp, input, output, concurrency, formats);
    const double value = value_with(q, "");
    q->target = value * spread(0.3, 3);
    snprintf(q->goal, sizeof q->goal, "%s=%.17g", goals[g].goal, q->target);
    return isfinite(value) && value > 0;
}

/* The goal's value with one figure changed. */
static double value_at(const struct question *q, const char *path, double figure)
{
    char sets[120];
    snprintf(sets, sizeof sets, " --set hw.%s=%.17g", path, figure);
    return value_with(q, sets);
}

/* Tests a needed value and one a thousandth closer to the unchanged machine. */
static void check_needed(const struct question *q, const char *path, double now, double needed,
                         bool met)
{
    const double away = (needed > now) == !met ? 0.999 : 1 / 0.999;
    for (int way = 0; way < 2; way++) {
        const double value = value_at(q, path, needed * (way ? away : 1));
        if (is_met(q, value) != (way == 0))
            fail_msg("%s %s --for %s, %s %.17g: %.17g", q->command, q->line, q->goal, path,
                     needed * (way ? away : 1), value);
    }
}

/* No value suffices, or any does: tests 10^9 times the value and, if time allows, values
 * between. */
static void check_none(const struct question *q, const char *path, double now, bool met,
                       bool between)
{
    static const double times[] = {1e9, 1e-9, 30, 0.03};
    for (size_t i = 0; i < (between ? 4 : 2); i++) {
        const double value = value_at(q, path, now * times[i]);
        if (!isnan(value) && is_met(q, value) != met)
            fail_msg("%s %s --for %s, %s times %g: %.17g", q->command, q->line, q->goal, path,
                     times[i], value);
    }
}

static const char *path_of(const struct sp_report *r, int f)
{
    char key[40];
    snprintf(key, sizeof key, "need.%d.path", f);
    const struct sp_entry *const e = sp_find(r, key);
    return e ? e->text : NULL;
}

static bool is_number_of(const char *path)
{
    return strcmp(path, "chips") == 0 || strcmp(path, "network.domain") == 0;
}

/* At the needed value, the figure whose doubling helps most. */
static void check_binding(const struct question *q, const struct sp_report *r, int f)
{
    char key[40], sets[300];
    snprintf(key, sizeof key, "need.%d.binds_next", f);
    const struct sp_entry *const next = sp_find(r, key);
    const double needed = number(r, "need.%d.needed", f);
    const double value = log(value_at(q, path_of(r, f), needed));
    double best = 0, named = 0;
    for (int i = 0; path_of(r, i); i++) {
        const char *const path = path_of(r, i);
        if (is_number_of(path) || strcmp(path, "chip.price_usd_per_h") == 0)
            continue;
        snprintf(sets, sizeof sets, " --set hw.%s=%.17g --set hw.%s=%.17g", path_of(r, f), needed,
                 path, 2 * (i == f ? needed : number(r, "need.%d.now", i)));
        const double change = log(value_with(q, sets)) - value;
        const double gain = q->at_least ? change : -change;
        best = fmax(best, gain);
        if (next->kind == SP_VALUE_TEXT && strcmp(path, next->text) == 0)
            named = gain;
    }
    if (isfinite(best) && !(named >= best - 2e-6))
        fail_msg("%s %s --for %s, %s: %s brings %g, another %g", q->command, q->line, q->goal,
                 path_of(r, f), next->text, named, best);
}

/* Which command evaluates a goal. `serve` does not report the memory of one sequence if requests
 * queue, so there `need` must agree with itself. */
static struct question judge_of(const struct question *q, const char *path)
{
    struct question judge = *q;
    const bool memory =
        strcmp(path, "chip.hbm_bytes") == 0 || strcmp(path, "chip.hbm_usable_bytes") == 0;
    if (memory && strcmp(q->command, "serve") == 0 && strcmp(q->key, "tpot_s") != 0) {
        judge.command = "need";
        judge.key = "value";
        snprintf(judge.line, sizeof judge.line, "%.900s --for %s", q->line, q->goal);
    }
    return judge;
}

/* All real-valued figures of a goal; with `all` also the binding one. */
static void check_question(const struct question *q, const char *options, bool all, int *tried,
                           int *none)
{
    char words[LINE];
    snprintf(words, sizeof words, "need %s --for %s%s", q->line, q->goal, options);
    struct sp_report *const r = ask(words);
    if (!r)
        fail_msg("%s", words);
    const bool met = sp_find(r, "met")->number != 0;
    assert_true(met == is_met(q, value_with(q, "")));
    for (int f = 0; path_of(r, f); f++) {
        const char *const path = path_of(r, f);
        const double needed = number(r, "need.%d.needed", f), now = number(r, "need.%d.now", f);
        if (is_number_of(path))
            continue;
        const struct question judge = judge_of(q, path);
        *(isnan(needed) ? none : tried) += 1;
        if (isnan(needed))
            check_none(&judge, path, now, met, all);
        else
            check_needed(&judge, path, now, needed, met);
        if (!isnan(needed) && all)
            check_binding(&judge, r, f);
    }
    sp_report_free(r);
}

static void test_training(void **unused)
{
    int tried = 0, none = 0;
    struct question q;
    (void)unused;
    for (int i = 0; i < cases(); i++)
        if (draw_training(&q))
            check_question(&q, "", i % 10 == 0, &tried, &none);
    assert_true(tried > 2 * cases() / 3 && none > cases());
}

static void test_services(void **unused)
{
    int tried = 0, none = 0;
    struct question q;
    (void)unused;
    for (int i = 0; i < cases(); i++)
        if (draw_service(&q))
            check_question(&q, "", i % 10 == 0, &tried, &none);
    assert_true(tried > 2 * cases() / 3 && none > cases());
}

/* Re-planned goals: `search` finds a plan that meets the goal, or none. */
static void test_replanned(void **unused)
{
    static const char rates[] =
        " --replan --vary chip.peak_flops_per_s.bf16,chip.hbm_bytes_per_s,chip.hbm_bytes,"
        "network.domain_bytes_per_s,chip.pcie_bytes_per_s";
    int tried = 0, none = 0;
    (void)unused;
    for (int i = 0; i < (one_in() > 1 ? 2 : 8); i++) {
        const bool mfu = draw(2);
        struct question q = {
            .command = "search", .key = mfu ? "plans.0.mfu_6p" : "plans.0.step_s", .at_least = mfu};
        snprintf(q.line, sizeof q.line, "--model llama3-8b --hw h100-8 --batch %dx8192",
                 16 << draw(3));
        q.target = value_with(&q, "") * spread(0.8, 1.25);
        snprintf(q.goal, sizeof q.goal, "%s=%.17g", mfu ? "mfu" : "step", q.target);
        check_question(&q, rates, true, &tried, &none);
    }
    assert_true(tried > 0 && none > 0);
}

int main(void)
{
    drawn = drawn_seed(drawn);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_training),
                                       cmocka_unit_test(test_services),
                                       cmocka_unit_test(test_replanned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
