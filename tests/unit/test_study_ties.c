/* What a search says of its order, recomputed from the plans that it lists and from other commands:
 * ties, machines behind, robust choices, and what `step` says of each plan. */
#include "asked.h"

#include <string.h>

static double at(const struct sp_report *r, const char *format, int i)
{
    return number(r, format, i);
}

static bool is_true(const struct sp_report *r, const char *format, int i)
{
    char key[80];
    snprintf(key, sizeof key, format, i);
    const struct sp_entry *const e = sp_find(r, key);
    assert_non_null(e);
    return e->number != 0;
}

static const char *text(const struct sp_report *r, const char *format, int i)
{
    char key[80];
    snprintf(key, sizeof key, format, i);
    const struct sp_entry *const e = sp_find(r, key);
    return e ? sp_entry_text(e) : NULL;
}

/* Half of the 80 % range of a plan's ln(step). */
static double width(const struct sp_report *r, int plan)
{
    return log(at(r, "plans.%d.time.high_s", plan) / at(r, "plans.%d.time.step_s", plan));
}

/* The least lead between plans of two machines whose errors are independent: their 80 % ranges are
 * 1.2816 standard deviations, and 80 % of a difference lies above -0.8416 of its own. */
static double apart(double one, double other)
{
    return 0.8416 / 1.2816 * sqrt(one * one + other * other);
}

/* Leads on one machine, by kind (include/scaleplan/lead_widths.def): 8-bit matmuls of a dense model
 * 4 %, all else 7 %. */
static const struct {
    const char *model, *precision;
    double lead;
} kinds[] = {{"llama3-8b", "mixed16", 0.07},
             {"llama3-8b", "fp8-mixed16", 0.04},
             {"mixtral-8x7b", "mixed16", 0.07}};

/* On one machine plans tie below the lead of their kind; `ties` counts them. */
static void ties_on_a_machine(void **state)
{
    (void)state;
    int ties = 0, leads = 0;
    for (int i = 0; i < 14; i++) {
        char line[LINE];
        const size_t k = draw(3);
        snprintf(line, sizeof line,
                 "search --model %s --precision %s --hw h100-%d --batch %dx4096 --fastest --top 12 "
                 "--threads 1",
                 kinds[k].model, kinds[k].precision, 8 << (k == 2 ? 2 : draw(3)), 16 << draw(3));
        struct sp_report *const r = ask(line);
        const double first = at(r, "plans.%d.time.step_s", 0);
        int n = 0;
        for (int p = 1; !isnan(at(r, "plans.%d.time.step_s", p)); p++) {
            const double step = at(r, "plans.%d.time.step_s", p);
            const bool tie = log(step / first) < kinds[k].lead;
            assert_int_equal(is_true(r, "plans.%d.tie", p), tie);
            assert_close(at(r, "plans.%d.behind_pct", p), 100 * (step / first - 1), 1e-9);
            assert_true(step >= at(r, "plans.%d.time.step_s", p - 1));
            n += tie;
            leads += !tie;
        }
        if (first > 0 && !isnan(at(r, "plans.1.time.step_s", 0))) {
            assert_close(at(r, "ties", 0), n, 0);
            assert_close(at(r, "tie_pct", 0), 100 * (exp(kinds[k].lead) - 1), 1e-9);
        }
        ties += n;
        sp_report_free(r);
    }
    assert_true(ties > 10 && leads > 10);
}

/* The first plan of a machine; -1: none is listed. */
static int first_on(const struct sp_report *r, const char *machine)
{
    for (int p = 0; !isnan(at(r, "plans.%d.time.step_s", p)); p++)
        if (strcmp(text(r, "plans.%d.hw", p), machine) == 0)
            return p;
    return -1;
}

/* Machines by time or by cost: how far each is behind the best, what it costs over the cheapest,
 * the price at which it would cost as much, and whether the gap is a tie. */
static void machines_compared(void **state)
{
    (void)state;
    static const char *const machines[] = {"h100-8,h200-8,a100-80gb-16", "h100-16,a100-80gb-32",
                                           "h200-8,h100-16,b200-8", "a100-80gb-16,h100-8"};
    int ties = 0, others = 0;
    for (int i = 0; i < 12; i++) {
        char line[LINE];
        const bool cost = draw(2);
        snprintf(line, sizeof line,
                 "search --model llama3-8b --hw %s --batch %dx8192 --fastest --top 20 "
                 "--threads 1 --price %d%s",
                 machines[draw(4)], 16 << draw(2), 2 + (int)draw(3),
                 cost ? " --objective cost" : "");
        struct sp_report *const r = ask(line);
        double value[3], usd[3], least = INFINITY, cheapest = INFINITY;
        int n = 0, best = -1, at_least = -1;
        for (; n < 3 && !isnan(at(r, "machines.%d.step_s", n)); n++) {
            const double step = at(r, "machines.%d.step_s", n);
            usd[n] = at(r, "machines.%d.devices", n) * at(r, "machines.%d.price_usd_per_h", n) *
                     step / 3600;
            value[n] = cost ? usd[n] : step;
            if (value[n] < least) {
                least = value[n];
                best = n;
            }
            if (usd[n] < cheapest) {
                cheapest = usd[n];
                at_least = n;
            }
        }
        assert_true(n > 1);
        const int first = first_on(r, text(r, "machines.%d.hw", best));
        assert_int_equal(first, 0);
        for (int m = 0; m < n; m++) {
            assert_close(at(r, "machines.%d.cost_ratio", m), usd[m] / cheapest, 1e-12);
            assert_close(at(r, "machines.%d.break_even_usd_per_h", m),
                         at(r, "machines.%d.price_usd_per_h", at_least) *
                             at(r, "machines.%d.devices", at_least) *
                             at(r, "machines.%d.step_s", at_least) /
                             (at(r, "machines.%d.devices", m) * at(r, "machines.%d.step_s", m)),
                         1e-12);
            assert_close(at(r, "machines.%d.behind_pct", m), 100 * (value[m] / least - 1), 1e-9);
            const int plan = first_on(r, text(r, "machines.%d.hw", m));
            if (m == best || plan < 0)
                continue;
            const double lead = apart(width(r, first), width(r, plan));
            assert_close(at(r, "machines.%d.tie_pct", m), 100 * (exp(lead) - 1), 1e-9);
            assert_int_equal(is_true(r, "machines.%d.tie", m), log(value[m] / least) < lead);
            assert_int_equal(is_true(r, "plans.%d.tie", plan), log(value[m] / least) < lead);
            ties += log(value[m] / least) < lead;
            others += log(value[m] / least) >= lead;
        }
        sp_report_free(r);
    }
    assert_true(ties > 2 && others > 0);
}

/* The robust choice: its list is in order of the steps at the bad ends; the fastest plan as
 * estimated is that of a search without --robust, and its step at the bad ends is the one that the
 * longer list has of it. */
static void robust_choices(void **state)
{
    (void)state;
    int others = 0;
    static const char *const problems[] = {
        "--model llama3-70b --hw a100-80gb-64 --batch 32x4096", /* these choose another plan */
        "--model llama3-70b --hw b200-32 --batch 64x8192",
        "--model llama3-8b --hw h100-16 --batch 64x4096",
        "--model llama2-13b --hw b200-8 --batch 40x2048"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char line[LINE];
        const char *const problem = problems[i];
        snprintf(line, sizeof line, "search %s --robust --top 50 --threads 1", problem);
        struct sp_report *const r = ask(line);
        snprintf(line, sizeof line, "search %s --fastest --top 1", problem);
        struct sp_report *const plain = ask(line);
        const double fastest = at(plain, "plans.%d.time.step_s", 0);
        double at_bad_ends = NAN;
        for (int p = 0; !isnan(at(r, "plans.%d.time.step_s", p)); p++) {
            assert_true(at(r, "plans.%d.time.step_s", p) >= fastest);
            assert_true(at(r, "plans.%d.robust_step_s", p) >= at(r, "plans.%d.time.step_s", p));
            if (p > 0)
                assert_true(at(r, "plans.%d.robust_step_s", p) >=
                            at(r, "plans.%d.robust_step_s", p - 1));
            if (isnan(at_bad_ends) && at(r, "plans.%d.time.step_s", p) == fastest)
                at_bad_ends = at(r, "plans.%d.robust_step_s", p);
        }
        const double robust = at(r, "plans.%d.robust_step_s", 0);
        assert_close(at(r, "robust.costs_pct", 0),
                     100 * (at(r, "plans.%d.time.step_s", 0) / fastest - 1), 1e-9);
        if (!isnan(at_bad_ends)) {
            assert_close(at(r, "robust.saves_pct", 0), 100 * (1 - robust / at_bad_ends), 1e-9);
            others += at_bad_ends > robust;
        }
        sp_report_free(r);
        sp_report_free(plain);
    }
    assert_true(others > 0);
}

/* The plan that the estimate alone puts first is the first of --fastest, and its gain what the
 * first takes longer. */
static void faster_by_the_estimate(void **state)
{
    (void)state;
    int named = 0;
    for (int i = 0; i < 16; i++) {
        char line[LINE], problem[200];
        snprintf(problem, sizeof problem, "--model %s --hw h100-%d --batch %dx%d --threads 1",
                 draw(2) ? "llama3-8b" : "llama2-13b", 8 << draw(3), 16 + (int)draw(60),
                 2048 << draw(3));
        snprintf(line, sizeof line, "search %s --top 1", problem);
        struct sp_report *const r = ask(line);
        snprintf(line, sizeof line, "search %s --fastest --top 1", problem);
        struct sp_report *const plain = ask(line);
        const double first = at(r, "plans.%d.time.step_s", 0);
        const double fastest = at(plain, "plans.%d.time.step_s", 0);
        const double faster = at(r, "faster.step_s", 0);
        assert_true(isnan(first) == isnan(fastest));
        if (fastest < first) {
            assert_close(faster, fastest, 0);
            assert_close(at(r, "faster.gain_pct", 0), 100 * (first / fastest - 1), 1e-9);
            named++;
        } else {
            assert_true(isnan(faster));
        }
        sp_report_free(r);
        sp_report_free(plain);
    }
    assert_true(named > 2);
}

/* Sequences per second of the best plan on so many devices; 0: there is none. */
static double rate(int devices, int batch)
{
    char line[LINE];
    snprintf(line, sizeof line,
             "search --model llama3-8b --hw h100-%d --batch %dx4096 --fastest --top 1 --threads 1",
             devices, batch);
    const double step = ask_for(line, "plans.0.time.step_s");
    return isnan(step) ? 0 : batch / step;
}

/* The named problem is in reach, is worth naming, and is what its own search finds. Returns its
 * rate; 0: none is named. */
static double named(const struct sp_report *r, const char *what, int devices, int batch,
                    double asked)
{
    char key[60];
    snprintf(key, sizeof key, "nearby.%s.devices", what);
    const double there = number(r, key, 0);
    snprintf(key, sizeof key, "nearby.%s.sequences", what);
    const double taken = number(r, key, 0);
    snprintf(key, sizeof key, "nearby.%s.step_s", what);
    const double step = number(r, key, 0);
    snprintf(key, sizeof key, "nearby.%s.gain_pct", what);
    const double gain = number(r, key, 0);
    if (isnan(there))
        return 0;
    assert_int_equal(there == devices, strcmp(what, "batch") == 0);
    assert_int_equal(taken == batch, strcmp(what, "devices") == 0);
    assert_true(there <= devices && 4 * there >= 3 * devices);
    assert_true(20 * fabs(taken - batch) <= batch);
    assert_close(taken / step, rate((int)there, (int)taken), 1e-12);
    assert_close(gain, asked > 0 ? 100 * (taken / step / asked - 1) : NAN, 1e-9);
    assert_true(taken / step > 1.03 * asked);
    return taken / step;
}

/* Of all batches within 5 %, by a search of each, none is more than 5 % better than the one that is
 * named, or what was asked for; of whole nodes from three quarters on, none than the best that is
 * named; of both changes at once, which are looked at where they divide better, 20 %. Both are
 * named only where they beat either. */
static void check_close_by(int devices, int batch, int all_named[3])
{
    char line[LINE];
    double best[3] = {0}; /* another batch, fewer devices, both */
    snprintf(line, sizeof line,
             "search --model llama3-8b --hw h100-%d --batch %dx4096 --fastest --top 1 --threads 1",
             devices, batch);
    struct sp_report *const r = ask(line);
    const double step = at(r, "plans.%d.time.step_s", 0);
    const double asked = isnan(step) ? 0 : batch / step;
    const double by_batch = named(r, "batch", devices, batch, asked),
                 by_devices = named(r, "devices", devices, batch, asked),
                 by_both = named(r, "both", devices, batch, asked);
    for (int n = devices; 4 * n >= 3 * devices; n -= 8)
        for (int b = batch - batch / 20; b <= batch + batch / 20; b++)
            if (n != devices || b != batch) {
                const int change = n == devices ? 0 : b == batch ? 1 : 2;
                best[change] = fmax(best[change], rate(n, b));
            }
    const double alone = fmax(asked, fmax(by_batch, by_devices));
    if (best[0] > 1.05 * fmax(asked, by_batch) || best[1] > 1.05 * alone ||
        best[2] > 1.2 * fmax(alone, by_both))
        fail_msg("%d x 4096 on %d: %g, named %g, %g, %g of %g, %g, %g", batch, devices, asked,
                 by_batch, by_devices, by_both, best[0], best[1], best[2]);
    if (by_both > 0)
        assert_true(by_both > alone);
    all_named[0] += by_batch > 0;
    all_named[1] += by_devices > 0;
    all_named[2] += by_both > 0;
    sp_report_free(r);
}

/* Drawn problems, and two in which both changes bring more than a fifth over either: 88 = 8 x 11
 * devices share 44 sequences, and 104 = 8 x 13 devices share 39. */
static void close_by_is_complete(void **state)
{
    (void)state;
    int all_named[3] = {0};
    for (int i = 0; i < 14; i++) {
        const int devices = 8 * (4 + (int)draw(10));
        check_close_by(devices, 20 + (int)draw(45), all_named);
    }
    const int drawn_both = all_named[2];
    assert_true(drawn_both > 0);
    check_close_by(96, 45, all_named);
    check_close_by(136, 38, all_named);
    assert_true(all_named[0] > 2 && all_named[1] > 2 && all_named[2] == drawn_both + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_on_a_machine),    cmocka_unit_test(machines_compared),
        cmocka_unit_test(robust_choices),       cmocka_unit_test(faster_by_the_estimate),
        cmocka_unit_test(close_by_is_complete),
    };
    return cmocka_run_group_tests_name("study_ties", tests, NULL, NULL);
}
