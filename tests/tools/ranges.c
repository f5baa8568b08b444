/* The 80 % ranges beside the errors of runs left out. */
#include "ranges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run's error with a part left out. */
struct unseen {
    double size, weight;
    double open;  /* half-width of its range only by what it leaves open */
    double needs; /* the further width that it needs for its range to hold it */
    enum sp_tier tier;
    enum sp_known known; /* of its stack by the rest */
};

static int by_need(const void *a, const void *b)
{
    const double x = ((const struct unseen *)a)->needs, y = ((const struct unseen *)b)->needs;
    return (x > y) - (x < y);
}

/* Errors of all runs with publication and stack left out, in the order of their needs; repeats
 * share a weight. The caller frees them. */
static struct unseen *list_unseen(const struct sp_study *study, const struct sp_profile *fitted,
                                  const struct sp_left_out *e, size_t *n)
{
    sp_part_of *const parts[] = {sp_publication_of, sp_stack_of};
    const double *const errors[] = {e->publication, e->stack};
    struct unseen *const unseen = calloc(2 * study->n + 1, sizeof *unseen);
    if (!unseen)
        abort();
    *n = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < study->n; i++) {
            const struct sp_measured *const m = &study->measured[i];
            struct sp_step_inputs in = m->sample.in;
            in.profile = &fitted[m->stack];
            const double size = fabs(errors[k][i]), open = SP_RANGE_DEVIATIONS * sp_open_log(&in);
            unseen[(*n)++] =
                (struct unseen){size,    m->sample.weight,
                                open,    size > open ? sqrt(size * size - open * open) : 0,
                                m->tier, sp_known_without(study, parts[k], m)};
        }
    qsort(unseen, *n, sizeof *unseen, by_need);
    return unseen;
}

static bool is_of(const struct unseen *u, int tier, int known)
{
    return (int)u->tier == tier && (known < 0 || (int)u->known == known);
}

static double weight_of(const struct unseen *unseen, size_t n, int tier, int known)
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += is_of(&unseen[i], tier, known) ? unseen[i].weight : 0;
    return all;
}

/* The width that holds 80 % of the weight; NAN: no runs. */
static double width_of(const struct unseen *unseen, size_t n, int tier, int known)
{
    const double all = weight_of(unseen, n, tier, known);
    double below = 0;
    for (size_t i = 0; i < n; i++)
        if (is_of(&unseen[i], tier, known)) {
            below += unseen[i].weight;
            if (below >= 0.8 * all)
                return unseen[i].needs;
        }
    return NAN;
}

/* The score of ranges of half-width h for a run of this size: their width and, if they miss it,
 * ten times the distance. Gneiting and Raftery 2007, "Strictly Proper Scoring Rules", section 6.2.
 */
static double interval_score(double half, double size)
{
    const double missing = 0.2;
    return 2 * half + 2 / missing * fmax(0, size - half);
}

struct told {
    double held, score, score_of_one, half;
};

static double said(const struct unseen *u)
{
    const struct sp_profile profile = {.known = u->known};
    return hypot(sp_range_log(&profile, u->tier), u->open);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct told judge(const struct unseen *unseen, size_t n, int tier)
{
    const double all = weight_of(unseen, n, tier, -1);
    struct told told = {0, 0, 0, 0};
    double *const halves = calloc(n + 1, sizeof *halves), *const sizes =
                                                              calloc(n + 1, sizeof *sizes);
    size_t of = 0;
    if (!halves || !sizes)
        abort();
    for (size_t i = 0; i < n; i++)
        if (is_of(&unseen[i], tier, -1)) {
            halves[of] = said(&unseen[i]);
            sizes[of++] = unseen[i].size;
        }
    qsort(halves, of, sizeof *halves, ascending);
    qsort(sizes, of, sizeof *sizes, ascending);
    const double one = of > 0 ? sizes[(size_t)(0.8 * (double)(of - 1))] : NAN;
    told.half = of > 0 ? halves[of / 2] : NAN;
    for (size_t i = 0; i < n; i++)
        if (is_of(&unseen[i], tier, -1)) {
            const double half = said(&unseen[i]), share = unseen[i].weight / all;
            told.held += unseen[i].size <= half ? share : 0;
            told.score += share * interval_score(half, unseen[i].size);
            told.score_of_one += share * interval_score(one, unseen[i].size);
        }
    free(halves);
    free(sizes);
    return told;
}

static const char *const known_names[SP_KNOWN] = {"stack", "software", "chip", "neither"};

int sp_print_ranges(const struct sp_study *study, const struct sp_profile *fitted,
                    const struct sp_left_out *errors)
{
    size_t n;
    int worse = 0;
    struct unseen *const unseen = list_unseen(study, fitted, errors, &n);
    printf("\n80 %% ranges, half of them, of the logarithm: by tier and by what is known of the "
           "stack\n");
    for (int t = 0; t < SP_TIERS; t++) {
        const struct told told = judge(unseen, n, t);
        const bool bad = told.held < 0.75 || told.held > 0.85;
        printf("%-14s hold %4.1f %% of runs left out%s, median %.3f, score %.3f (one factor %.3f):",
               sp_tier_names[t], 100 * told.held, bad ? "!" : "", told.half, told.score,
               told.score_of_one);
        worse += bad;
        for (int k = 0; k < SP_KNOWN; k++) {
            const struct sp_profile profile = {.known = (enum sp_known)k};
            const double all = weight_of(unseen, n, t, k);
            const double says = sp_range_log(&profile, (enum sp_tier)t);
            if (all > 0)
                printf("  %s %.3f (says %.3f, %.0f runs)", known_names[k],
                       width_of(unseen, n, t, k), says, all);
            else
                printf("  %s (says %.3f, no runs)", known_names[k], says);
        }
        printf("\n");
    }
    free(unseen);
    return worse;
}

static const char head[] = "/* Half-width of the 80 % range of ln(step time) by tier, if runs are "
                           "known of the chip with the "
                           "framework, of the framework on other chips,\n"
                           " * of the chip under other frameworks, of neither; what a plan leaves "
                           "open comes on top, as a sum "
                           "of squares. Measured on published runs\n"
                           " * with their publication or stack left out of the fit, or judged "
                           "where there are none; a known stack's "
                           "is at least what lead_widths.def implies.\n"
                           " * The build target `profiles` writes this file. */\n";

enum { STEPS = 200 }; /* widths are multiples of 1 / STEPS */

/* The width that holds 80 % of a tier's runs with an sp_known from `first` to below `until`; with
 * few runs that of the whole tier, with none the file's. */
static double new_width(const struct unseen *unseen, size_t n, int tier, int first, int until)
{
    enum { FEW = 10 };
    const struct sp_profile profile = {.known = (enum sp_known)first};
    double runs = 0;
    for (int k = first; k < until; k++)
        runs += weight_of(unseen, n, tier, k);
    if (runs == 0)
        return sp_range_log(&profile, (enum sp_tier)tier);
    const double below = 0.8 * (runs < FEW ? weight_of(unseen, n, tier, -1) : runs);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = runs < FEW ? 0 : first; k < (runs < FEW ? SP_KNOWN : until); k++)
            if (is_of(&unseen[i], tier, k) && (sum += unseen[i].weight) >= below)
                return round(unseen[i].needs * STEPS) / STEPS;
    return NAN;
}

/* No stack is known better than two of its plans can be told apart: if each errs by the width w on
 * its own, a lead of sp_machines_lead_log(w, w) = w * sp_machines_lead_log(1, 1) is right 80 % of
 * the time, and less is if they share some of their error. A few runs whose stack another
 * publication measured as well can seem to say otherwise: they are nearly the other's runs. */
static double least_width(enum sp_tier tier)
{
    return ceil(sp_lead_log(tier) / sp_machines_lead_log(1, 1) * STEPS) / STEPS;
}

/* Widths of a tier. A better-known group never needs a wider range, so neighbours in the wrong
 * order are merged. */
static void new_widths(const struct unseen *unseen, size_t n, int tier, double width[SP_KNOWN])
{
    for (int k = 0, until; k < SP_KNOWN; k = until) {
        for (until = k + 1; until < SP_KNOWN && weight_of(unseen, n, tier, until) > 0; until++)
            if (new_width(unseen, n, tier, k, until) <=
                new_width(unseen, n, tier, until, until + 1))
                break;
        const double all = new_width(unseen, n, tier, k, until);
        for (int i = k; i < until; i++)
            width[i] = fmax(all, k > 0 ? width[k - 1] : least_width((enum sp_tier)tier));
    }
}

void sp_write_range_widths(const struct sp_study *study, const struct sp_profile *fitted,
                           const struct sp_left_out *errors, const char *path)
{
    static const char *const ids[SP_TIERS] = {"DENSE_16", "DENSE_8", "EXPERTS", "BLOCKS"};
    size_t n;
    struct unseen *const unseen = list_unseen(study, fitted, errors, &n);
    FILE *const out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(2);
    }
    fputs(head, out);
    for (int t = 0; t < SP_TIERS; t++) {
        double width[SP_KNOWN];
        new_widths(unseen, n, t, width);
        fprintf(out, "SP_RANGE(%s", ids[t]);
        for (int k = 0; k < SP_KNOWN; k++)
            fprintf(out, ", %.3f", width[k]);
        fprintf(out, ")\n");
    }
    fclose(out);
    free(unseen);
}
