/* Goals as functions of the machine, from `step` on each machine: the value of every goal, its
 * elasticities, and the numbers of chips that meet it. */
#include "asked.h"

#include <string.h>

struct run {
    char plan[200]; /* without the machine */
    int chips, sequences, seq;
};

static struct run draw_run(void)
{
    static const int chips[] = {16, 32, 64};
    struct run r = {.chips = chips[draw(3)]};
    r.sequences = 64 << draw(2);
    r.seq = 2048 << draw(2);
    const int tp = 1 << draw(3), pp = 1 << draw(2);
    snprintf(r.plan, sizeof r.plan,
             "--model %s --tp %d --pp %d --batch %dx%d --remat %s --micro-batch 1 --zero 1 "
             "--schedule 1f1b",
             draw(3) ? "llama3-8b" : "llama2-13b", tp, pp, r.sequences, r.seq,
             draw(2) ? "none" : "full");
    return r;
}

static struct sp_report *step(const struct run *r, int chips, const char *more)
{
    char line[LINE];
    snprintf(line, sizeof line, "step %s --hw h100-%d%s", r->plan, chips, more);
    return ask(line);
}

static const char *const goals[] = {"step", "days", "cost", "mfu", "tokens-per-s", "fits"};
enum { STEP, DAYS, COST, MFU, TOKENS, FITS, GOALS };

/* A run of 10^12 tokens at 3 USD per chip and hour. */
static double value_of(int goal, const struct sp_report *s, const struct run *r, int chips)
{
    const double step_s = number(s, "time.step_s", 0);
    const double tokens_per_s = r->sequences * (double)r->seq / step_s;
    switch (goal) {
    case STEP:
        return step_s;
    case DAYS:
        return 1e12 / tokens_per_s / 86400;
    case COST:
        return 1e12 / tokens_per_s / 3600 * chips * 3;
    case MFU:
        return number(s, "mfu", 0);
    case TOKENS:
        return tokens_per_s;
    default:
        return number(s, "memory.device_bytes", 0) / number(s, "memory.limit_bytes", 0);
    }
}

static double value_on(int goal, const struct run *r, int chips, const char *more)
{
    struct sp_report *const s = step(r, chips, more);
    const double value = s ? value_of(goal, s, r, chips) : NAN;
    sp_report_free(s);
    return value;
}

static bool is_met(int goal, double value, double target)
{
    return goal == MFU || goal == TOKENS ? value >= target : value <= target;
}

static struct sp_report *need(const struct run *r, int goal, double target, const char *vary)
{
    char line[LINE], figure[40] = "";
    if (goal != FITS)
        snprintf(figure, sizeof figure, "=%.17g", target);
    snprintf(line, sizeof line, "need %s --hw h100-%d --tokens 1e12 --price 3 --for %s%s --vary %s",
             r->plan, r->chips, goals[goal], figure, vary);
    struct sp_report *const n = ask(line);
    if (!n)
        fail_msg("refused: %s", line);
    return n;
}

/* The goal's value now, whether it is met, and the least of the offered numbers of chips that meets
 * it, with the replicas that the other degrees leave. */
static void chips_by_trying_all(void **state)
{
    (void)state;
    int met = 0, unmet = 0, none = 0;
    for (int i = 0; i < 60; i++) {
        const struct run r = draw_run();
        const int goal = (int)draw(GOALS);
        const double now = value_on(goal, &r, r.chips, "");
        const double target = goal == FITS  ? 1
                              : goal == MFU ? fmin(0.9, now * spread(0.5, 1.2))
                                            : now * spread(0.3, 3);
        if (isnan(now))
            continue;
        struct sp_report *const n = need(&r, goal, target, "chips");
        assert_close(number(n, "value", 0), now, 1e-12);
        assert_int_equal(sp_find(n, "met")->number != 0, is_met(goal, now, target));
        if (goal != COST && goal != MFU && goal != FITS) { /* which fewer chips may meet */
            double want = NAN;
            for (int chips = 1; chips <= 2048 && isnan(want); chips += chips < 8 ? chips : 8)
                if (is_met(goal, value_on(goal, &r, chips, ""), target))
                    want = chips;
            const double needed = number(n, "need.0.needed", 0);
            if (!(needed == want || (isnan(needed) && isnan(want))))
                fail_msg("need %s --hw h100-%d --for %s=%.17g: %g chips, expected %g", r.plan,
                         r.chips, goals[goal], target, needed, want);
            none += isnan(want);
        }
        met += is_met(goal, now, target);
        unmet += !is_met(goal, now, target);
        sp_report_free(n);
    }
    assert_true(met > 5 && unmet > 5 && none > 0);
}

/* The elasticity by the steps of two machines with 1 + d times and 1 / (1 + d) times a figure, the
 * strongest first; the rest of the time is what no rate explains. */
static void elasticities_of_steps(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const struct run r = draw_run();
        char line[LINE], delta[20];
        const double d = draw(2) ? 0.01 : 0.1;
        double sum = 0, before = INFINITY;
        snprintf(delta, sizeof delta, "%g%%", 100 * d);
        snprintf(line, sizeof line, "sensitivity %s --hw h100-%d --delta %s", r.plan, r.chips,
                 delta);
        struct sp_report *const s = ask(line);
        int rows = 0;
        for (;; rows++) {
            char key[80], set[200];
            snprintf(key, sizeof key, "sensitivity.%d.path", rows);
            const struct sp_entry *const path = sp_find(s, key);
            if (!path)
                break;
            const char *const name = sp_entry_text(path);
            const double elasticity = number(s, "sensitivity.%d.elasticity", rows);
            assert_true(fabs(elasticity) <= before);
            before = fabs(elasticity);
            if (strcmp(name, "chip.hbm_bytes") != 0 && !strstr(name, "price"))
                sum += elasticity;
            if (rows > 3)
                continue;
            struct sp_report *const n = need(&r, STEP, 1, name);
            const double now = number(n, "need.0.now", 0);
            sp_report_free(n);
            snprintf(set, sizeof set, " --set hw.%s=%.17g", name, now / (1 + d));
            const double low = value_on(STEP, &r, r.chips, set);
            snprintf(set, sizeof set, " --set hw.%s=%.17g", name, now * (1 + d));
            const double high = value_on(STEP, &r, r.chips, set);
            assert_close(number(s, "sensitivity.%d.low", rows), low, 1e-12);
            assert_close(number(s, "sensitivity.%d.high", rows), high, 1e-12);
            assert_close(elasticity, log(high / low) / (2 * log(1 + d)), 1e-9);
        }
        assert_true(rows > 3);
        assert_close(number(s, "fixed", 0), 1 + sum, 1e-9);
        assert_close(number(s, "value", 0), value_on(STEP, &r, r.chips, ""), 1e-12);
        sp_report_free(s);
    }
}

/* Mixtral 8x22B's 140.6 B parameters have 16 bytes each: 29 devices of 80 GB at least, so four
 * nodes, though one device was asked about: up to 512 are tried. */
static void chips_that_fit(void **state)
{
    (void)state;
    const double needed = ask_for("need --model mixtral-8x22b --hw h100-1 --batch 64x4096 --for "
                                  "fits --vary chips",
                                  "need.0.needed");
    assert_true(needed >= 29);
    for (int chips = 8; chips <= 32; chips += 8) {
        char line[LINE];
        snprintf(line, sizeof line,
                 "search --model mixtral-8x22b --hw h100-%d --batch 64x4096 --top 1 --threads 1",
                 chips);
        assert_int_equal(!isnan(ask_for(line, "plans.0.time.step_s")), chips >= needed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_by_trying_all),
        cmocka_unit_test(elasticities_of_steps),
        cmocka_unit_test(chips_that_fit),
    };
    return cmocka_run_group_tests_name("study_goal", tests, NULL, NULL);
}
