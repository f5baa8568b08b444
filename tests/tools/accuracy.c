/* Measures the estimate's accuracy on runs: fits all stacks to a CSV of runs, leaves out
 * publications and stacks in turn, and prints the tables of docs/accuracy.md. With a folder, writes
 * the fitted profiles there. Exits 1 if a figure is worse than its gate. --fitted leaves nothing
 * out, in a sixth of the time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "bundled_profile.h"
#include "choice.h"
#include "elsewhere.h"
#include "leads.h"
#include "own_rows.h"
#include "ranges.h"
#include "study.h"
#include "study_profiles.h"

/* Errors of every run, ln(predicted / measured), by what was left out of the fit. */
struct errors {
    double *naive;       /* median utilisation, its publication left out */
    double *siblings;    /* the same from other configurations of its publication */
    double *all;         /* nothing left out */
    double *publication; /* its publication left out */
    double *usual;       /* the same, for runs that enter fits */
    double *stack;       /* its stack left out */
    double *model;       /* its model left out, long series only */
    double *three;       /* its publication left out except three runs; mean absolute error */
    double *before;      /* its publication left out, same runs, absolute */
};

static bool in_tier(const struct sp_measured *m, const void *context)
{
    return m->tier == *(const enum sp_tier *)context;
}

struct part_of_tier {
    sp_part_of *of;
    int part;
    enum sp_tier tier;
};

static bool in_part(const struct sp_measured *m, const void *context)
{
    const struct part_of_tier *const p = context;
    return p->of(m) == p->part && m->tier == p->tier;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double utilisation(const struct sp_measured *m)
{
    return sp_step_rates(&m->sample.in, m->sample.step_s, SP_FLOPS_6P).mfu;
}

/* A planner's guess without a model: the median utilisation of the chip's other runs of the tier
 * (other publications, or other configurations), else of that kind of machine. */
static void predict_naively(const struct sp_study *study, bool siblings, double *log_errors)
{
    double *const values = calloc(study->n + 1, sizeof *values);
    double *const mine = calloc(study->n + 1, sizeof *mine);
    if (!values || !mine)
        abort();
    for (size_t i = 0; i < study->n; i++)
        mine[i] = utilisation(&study->measured[i]);
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const m = &study->measured[i];
        size_t n = 0;
        for (int anywhere = 0; anywhere < 2 && n == 0; anywhere++)
            for (size_t k = 0; k < study->n; k++) {
                const struct sp_measured *const o = &study->measured[k];
                const bool alike = anywhere ? o->run->hw.network.kind == m->run->hw.network.kind
                                            : strcmp(o->run->chip, m->run->chip) == 0;
                const bool other =
                    siblings ? o->group != m->group : o->publication != m->publication;
                if (alike && o->tier == m->tier && other)
                    values[n++] = mine[k];
            }
        qsort(values, n, sizeof *values, ascending);
        log_errors[i] = n > 0 ? log(mine[i] / values[n / 2]) : NAN;
    }
    free(values);
    free(mine);
}

/* Goals by tier in per cent, and gates; 0: none. docs/accuracy.md explains the difference. */
struct gates {
    double asked[SP_TIERS], held[SP_TIERS];
};

/* Prints a line of errors, "!" for a missed goal; counts violated gates. */
static int print_line(const struct sp_study *study, const char *what, const double *log_errors,
                      const struct gates *gates)
{
    int worse = 0;
    printf("%-44s", what);
    for (int t = 0; t < SP_TIERS; t++) {
        const enum sp_tier tier = (enum sp_tier)t;
        int groups;
        const double e = 100 * sp_mean_group_error(study, log_errors, in_tier, &tier, &groups);
        const bool short_of = gates->asked[t] > 0 && !(e <= gates->asked[t]);
        if (groups > 0)
            printf("  %7.1f%s (%4d)", e, short_of ? "!" : " ", groups);
        else
            printf("  %8s (   0)", "-");
        worse += gates->held[t] > 0 && !(e <= gates->held[t]);
    }
    printf("\n");
    return worse;
}

static void print_head(void)
{
    printf("mean absolute error of the step time over configuration groups, %% (and groups)\n%-44s",
           "");
    for (int t = 0; t < SP_TIERS; t++)
        printf(" %16s", sp_tier_names[t]);
    printf("\n");
}

static int print_tiers(const struct sp_study *study, const struct errors *e)
{
    int worse = 0;
    print_head();
    static const struct gates none = {{0}, {0}},
                              publication = {{7, 5, 14, 6}, {9.6, 5.1, 14.0, 7.1}},
                              stack = {{8, 6, 14, 8}, {9.2, 6.3, 11.7, 8.1}},
                              three = {{5, 4, 8, 6}, {7.9, 4.0, 12.7, 6.1}},
                              model = {{6, 0, 0, 0}, {6.9, 0, 0, 0}};
    worse += print_line(study, "median utilisation of chip and tier (naive)", e->naive, &none);
    worse += print_line(study, "  the same with runs of its own publication", e->siblings, &none);
    worse += print_line(study, "nothing left out", e->all, &none);
    worse += print_line(study, "its publication left out", e->publication, &publication);
    worse += print_line(study, "  the same without runs that no fit takes", e->usual, &none);
    worse += print_line(study, "its stack left out", e->stack, &stack);
    worse += print_line(study, "its publication but for three of its runs", e->three, &three);
    worse += print_line(study, "  the same runs without the three", e->before, &none);
    worse += print_line(study, "its model left out, of long series", e->model, &model);
    return worse;
}

/* Parts of a study with at least five groups of a tier, with the naive error. */
static void print_parts(const struct sp_study *study, const struct errors *e, sp_part_of *of,
                        int parts, const double *left_out, const char *what)
{
    printf("\n%-52s %13s %7s %7s %7s %7s  by %s\n", "", "tier", "groups", "naive", "all", "out",
           what);
    for (int p = 0; p < parts; p++)
        for (int t = 0; t < SP_TIERS; t++) {
            const struct part_of_tier part = {of, p, (enum sp_tier)t};
            int n, naive_groups;
            const double naive =
                             sp_mean_group_error(study, e->siblings, in_part, &part, &naive_groups),
                         all = sp_mean_group_error(study, e->all, in_part, &part, &n),
                         out = sp_mean_group_error(study, left_out, in_part, &part, &n);
            if (n > 0)
                printf("%-52.52s %13s %7d %7.1f %7.1f %7.1f%s\n",
                       of == sp_stack_of ? study->stack[p].name : study->publication[p],
                       sp_tier_names[t], n, 100 * naive, 100 * all, 100 * out,
                       n >= 5 && out > naive ? "  worse than naive" : "");
        }
}

/* A publication with hundreds of runs on one stack tells more when its models are left out in turn.
 */
static int long_series_model(const struct sp_measured *m)
{
    enum { LONG_SERIES = 300 };
    return m->series >= LONG_SERIES ? m->model : -1;
}

static double *new_errors(const struct sp_study *study)
{
    double *const errors = calloc(study->n + 1, sizeof *errors);
    if (!errors)
        abort();
    for (size_t i = 0; i < study->n; i++)
        errors[i] = NAN;
    return errors;
}

static void leave_out(const struct sp_study *study, struct errors *e)
{
    e->naive = new_errors(study);
    e->publication = new_errors(study);
    e->stack = new_errors(study);
    e->model = new_errors(study);
    e->three = new_errors(study);
    e->before = new_errors(study);
    e->siblings = new_errors(study);
    predict_naively(study, false, e->naive);
    predict_naively(study, true, e->siblings);
    sp_cross_validate(study, sp_publication_of, study->publications, false, e->publication,
                      sp_see_three, e->three);
    e->usual = new_errors(study);
    for (size_t i = 0; i < study->n; i++)
        e->usual[i] = study->measured[i].odd ? NAN : e->publication[i];
    sp_cross_validate(study, sp_stack_of, study->stacks, false, e->stack, NULL, NULL);
    sp_cross_validate(study, long_series_model, study->models, true, e->model, NULL, NULL);
}

static void free_errors(struct errors *e)
{
    free(e->naive);
    free(e->siblings);
    free(e->all);
    free(e->publication);
    free(e->usual);
    free(e->stack);
    free(e->model);
    free(e->three);
    free(e->before);
}

/* Errors after three runs are absolute means; those before are converted, and averaged as
 * logarithms alike. */
static void to_logarithms(const struct sp_study *study, struct errors *e)
{
    for (size_t i = 0; i < study->n; i++)
        if (!isnan(e->three[i])) {
            e->three[i] = log1p(e->three[i]);
            e->before[i] = log1p(fabs(expm1(e->publication[i])));
        }
}

/* Whether the estimate chooses as well as it did: the goals were 2 % on average and at most 12. */
static bool keeps_choosing(struct sp_regret r)
{
    return r.mean <= 3.0 && r.worst <= 40 && r.right >= 87;
}

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

/* Errors of the runs that the fit used; `found`: the values that the fit gives their unknowns. */
static double *errors_of_fit(const struct sp_study *study, struct sp_profile *fitted)
{
    double(*const found)[SP_UNKNOWNS] = calloc(study->n + 1, sizeof *found);
    double *const errors = new_errors(study);
    if (!found)
        abort();
    sp_fit_study(study, NULL, -1, fitted, found);
    for (size_t i = 0; i < study->n; i++)
        errors[i] = sp_log_error_with(&study->measured[i].sample, &fitted[study->measured[i].stack],
                                      found[i]);
    free(found);
    return errors;
}

static int print_fitted(const struct sp_study *study, const double *errors,
                        const struct sp_profile *fitted)
{
    static const struct gates all = {{0}, {6.0, 3.3, 8.2, 5.3}};
    print_head();
    return print_line(study, "nothing left out", errors, &all) +
           sp_print_implausible(fitted, study->stacks);
}

/* All tables with left-out runs; true if none is worse than its gate. */
static bool print_left_out(const struct sp_study *study, const struct errors *e,
                           const struct sp_left_out *seen, const struct sp_profile *fitted)
{
    const int worse = print_tiers(study, e) + sp_print_own_rows(study, fitted) +
                      sp_print_implausible(fitted, study->stacks) +
                      sp_print_ranges(study, fitted, seen) + sp_print_leads(study, e->publication);
    const bool chooses_worse = !keeps_choosing(sp_print_choice(study, e->publication));
    print_parts(study, e, sp_publication_of, study->publications, e->publication, "publication");
    print_parts(study, e, sp_stack_of, study->stacks, e->stack, "stack");
    printf("\nfurthest off with its publication left out, predicted over measured\n");
    sp_print_worst(study, e->publication);
    return worse == 0 && !chooses_worse;
}

int main(int argc, char **argv)
{
    const bool fit_alone = argc > 1 && strcmp(argv[1], "--fitted") == 0;
    argc -= fit_alone;
    argv += fit_alone;
    if (argc < 2) {
        fprintf(stderr,
                "usage: accuracy [--fitted] RUNS.csv [ELSEWHERE.csv ...] [FOLDER] [RANGES.def]\n");
        return 2;
    }
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_runs runs;
    if (!sp_read_runs(argv[1], &sources, &runs, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    static struct sp_study study;
    static struct sp_profile fitted[SP_MAX_STACKS];
    struct errors e = {0};
    sp_open_study(&runs, &study);
    e.all = errors_of_fit(&study, fitted);
    if (!fit_alone) {
        leave_out(&study, &e);
        to_logarithms(&study, &e);
    }
    const struct sp_left_out seen = {e.publication, e.stack};
    bool good = fit_alone ? print_fitted(&study, e.all, fitted) == 0
                          : print_left_out(&study, &e, &seen, fitted);
    for (int i = 2; i < argc; i++)
        if (ends_in(argv[i], ".csv"))
            good = sp_print_elsewhere(&study, fitted, argv[i]) && good;
        else if (fit_alone)
            fprintf(stderr, "%s: not written: --fitted leaves nothing out\n", argv[i]);
        else if (ends_in(argv[i], ".def"))
            sp_write_range_widths(&study, fitted, &seen, argv[i]);
        else
            sp_write_profiles(&study, fitted, e.publication, argv[i]);
    free_errors(&e);
    sp_close_study(&study);
    sp_runs_free(&runs);
    return !good;
}
