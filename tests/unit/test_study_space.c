/* Limits of a search against the plans that it lists without them, and chips left idle against
 * machines of each size. */
#include "asked.h"

#include <string.h>

#include "study/space.h"

static void limits_of_a_field(void **state)
{
    (void)state;
    struct sp_space_limits l = {.most_bytes = NAN, .headroom = NAN};
    assert_false(sp_is_limited(&l));
    l.most[SP_FIELD_PP] = 4;
    assert_true(sp_is_limited(&l));
    l.most[SP_FIELD_PP] = 0;
    for (int i = 1; i <= SP_SEARCH_VALUES; i++) {
        assert_true(sp_allow_value(&l, SP_FIELD_TP, i));
        assert_true(sp_allow_value(&l, SP_FIELD_TP, i)); /* again: nothing new */
        assert_int_equal(l.values[SP_FIELD_TP], i);
    }
    assert_true(sp_is_limited(&l));
    assert_false(sp_allow_value(&l, SP_FIELD_TP, SP_SEARCH_VALUES + 1));
    assert_true(sp_allow_value(&l, SP_FIELD_TP, 1));
}

/* Most bytes of a plan: as typed, else what leaves the share of memory free, else by the verdict.
 */
static void bytes_of_a_limit(void **state)
{
    (void)state;
    struct sp_space_limits l = {.most_bytes = 7e9, .headroom = 0.1};
    struct sp_planned p;
    memset(&p, 0, sizeof p);
    p.hw.chip.hbm_bytes = p.hw.chip.hbm_usable_bytes = 80e9;
    assert_close(sp_limit_of_search(&l, &p, SP_VERDICT_YES), 7e9, 0);
    l.most_bytes = NAN;
    assert_close(sp_limit_of_search(&l, &p, SP_VERDICT_YES), 72e9, 1e-14);
    assert_close(sp_limit_of_search(&l, &p, SP_VERDICT_TIGHT), 72e9, 1e-14);
    l.headroom = NAN; /* without an error of the estimate all of the memory */
    assert_close(sp_limit_of_search(&l, &p, SP_VERDICT_TIGHT), 80e9, 1e-14);
    p.framework.framework.memory_residual = 0.1;
    const double yes = sp_limit_of_search(&l, &p, SP_VERDICT_YES),
                 tight = sp_limit_of_search(&l, &p, SP_VERDICT_TIGHT);
    assert_true(yes < tight && tight <= 80e9 && yes > 50e9);
}

/* Degrees and names that a plan has. */
struct row {
    double dp, tp, pp, vpp, cp, zero, micro, step, bytes;
    char remat[24];
    bool modules;
};
enum { LISTED = 64 };

static int list(const char *problem, const char *limits, struct row *rows)
{
    char line[LINE];
    int n = 0;
    snprintf(line, sizeof line, "search %s --fastest --meshes all --top 64 --threads 1%s", problem,
             limits);
    struct sp_report *const r = ask(line);
    if (!r)
        fail_msg("refused: %s", line);
    for (; n < LISTED && !isnan(number(r, "plans.%d.time.step_s", n)); n++) {
        char key[40];
        snprintf(key, sizeof key, "plans.%d.remat", n);
        rows[n] = (struct row){number(r, "plans.%d.dp", n),
                               number(r, "plans.%d.tp", n),
                               number(r, "plans.%d.pp", n),
                               number(r, "plans.%d.vpp", n),
                               number(r, "plans.%d.cp", n),
                               number(r, "plans.%d.zero", n),
                               number(r, "plans.%d.micro_batch", n),
                               number(r, "plans.%d.time.step_s", n),
                               number(r, "plans.%d.memory.device_bytes", n),
                               "",
                               false};
        char parts[60];
        snprintf(parts, sizeof parts, "plans.%d.recompute_modules", n);
        const struct sp_entry *const modules = sp_find(r, parts);
        rows[n].modules = modules && sp_entry_text(modules) && sp_entry_text(modules)[0];
        snprintf(rows[n].remat, sizeof rows[n].remat, "%s", sp_entry_text(sp_find(r, key)));
    }
    sp_report_free(r);
    return n;
}

/* A limit, and whether a plan keeps to it; a named policy is tried without modules. */
static double limit_value;
static bool keeps_tp(const struct row *r)
{
    return r->tp == limit_value;
}
static bool keeps_most_tp(const struct row *r)
{
    return r->tp <= limit_value;
}
static bool keeps_most_pp(const struct row *r)
{
    return r->pp <= limit_value;
}
static bool keeps_cp(const struct row *r)
{
    return r->cp == limit_value;
}
static bool keeps_micro(const struct row *r)
{
    return r->micro <= limit_value;
}
static bool keeps_zero(const struct row *r)
{
    return r->zero == limit_value;
}
static bool keeps_full(const struct row *r)
{
    return strcmp(r->remat, "full") == 0 && !r->modules;
}
static bool keeps_either(const struct row *r)
{
    return (strcmp(r->remat, "full") == 0 || strcmp(r->remat, "none") == 0) && !r->modules;
}

/* Under a limit the list has the plans of the whole list that keep to it, in the same order, and
 * after them others that do. */
static void listed_under_limits(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        bool (*keeps)(const struct row *);
        double value;
    } limits[] = {{" --fix tp=%.0f", keeps_tp, 2},
                  {" --fix tp=%.0f", keeps_tp, 1},
                  {" --max-tp %.0f", keeps_most_tp, 2},
                  {" --max-pp %.0f", keeps_most_pp, 1},
                  {" --max-pp %.0f", keeps_most_pp, 2},
                  {" --only cp=%.0f", keeps_cp, 2},
                  {" --max-micro-batch %.0f", keeps_micro, 2},
                  {" --only zero=%.0f", keeps_zero, 1},
                  {" --only remat=full", keeps_full, 0},
                  {" --only remat=full,none", keeps_either, 0}};
    static const char *const problems[] = {"--model llama3-8b --hw h100-16 --batch 32x4096",
                                           "--model llama2-13b --hw h100-8 --batch 24x2048"};
    static struct row all[LISTED], some[LISTED];
    for (size_t p = 0; p < 2; p++) {
        const int n = list(problems[p], "", all);
        int seen = 0;
        assert_int_equal(n, LISTED);
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            char text[60];
            int at = 0;
            limit_value = limits[l].value;
            snprintf(text, sizeof text, limits[l].format, limits[l].value);
            const int kept = list(problems[p], text, some);
            for (int i = 0; i < kept; i++) {
                assert_true(limits[l].keeps(&some[i]));
                assert_true(i == 0 || some[i - 1].step <= some[i].step);
            }
            for (int i = 0; i < n; i++) {
                if (!limits[l].keeps(&all[i]))
                    continue;
                assert_true(at < kept);
                assert_close(some[at].step, all[i].step, 0);
                assert_close(some[at].bytes, all[i].bytes, 0);
                at++;
                seen++;
            }
        }
        assert_true(seen > 100);
    }
}

/* Of chips that may stay idle, as many do as make the step of the best plan shortest. */
static void idle_by_trying_all(void **state)
{
    (void)state;
    int idle = 0;
    for (int i = 0; i < 40; i++) {
        const int devices = 8 * (4 + (int)draw(20)), may = 8 * (1 + (int)draw(3));
        const int batch = 1 + (int)draw(300);
        char line[LINE];
        double least = INFINITY, want = NAN;
        const char *const model = draw(2) ? "llama3-8b" : "llama2-13b";
        for (int n = devices; n >= devices - may && n > 0; n -= 8) {
            snprintf(line, sizeof line, "fit --model %s --hw h100-%d --batch %dx4096", model, n,
                     batch);
            struct sp_report *const r = ask(line);
            assert_non_null(r);
            const double step = number(r, "best.step_with_bubble_s", 0);
            const struct sp_entry *const fits = sp_find(r, "best.fits");
            if (fits && fits->number != 0 && step < least) {
                least = step;
                want = n;
            }
            sp_report_free(r);
        }
        snprintf(line, sizeof line, "fit --model %s --hw h100-%d --batch %dx4096 --idle %d", model,
                 devices, batch, may);
        if (isnan(want))
            continue;
        struct sp_report *const r = ask(line);
        assert_non_null(r);
        assert_close(number(r, "best.step_with_bubble_s", 0), least, 1e-12);
        assert_close(number(r, "devices", 0), want, 0);
        idle += want < devices;
        sp_report_free(r);
    }
    assert_true(idle > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_a_field),
        cmocka_unit_test(bytes_of_a_limit),
        cmocka_unit_test(listed_under_limits),
        cmocka_unit_test(idle_by_trying_all),
    };
    return cmocka_run_group_tests_name("study_space", tests, NULL, NULL);
}
