/* Lead between two plans' estimates from which their order is reliable. */
#include "leads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two configurations of one series. */
struct pair {
    double apart;  /* |difference of the logarithms of their errors| */
    double lead;   /* |logarithm of the ratio of their predicted steps| */
    double weight; /* a series of n configurations counts n - 1, long ones less, as in the fit */
    bool problem;  /* same batch and number of devices */
    bool right;    /* the faster prediction was the faster run */
};

/* The first run of each configuration stands for its repeats. */
static bool is_first(const struct sp_study *study, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (study->measured[i].group == study->measured[at].group)
            return false;
    return true;
}

static bool same_series(const struct sp_measured *a, const struct sp_measured *b)
{
    return a->publication == b->publication && a->stack == b->stack && a->tier == b->tier &&
           strcmp(a->run->model_name, b->run->model_name) == 0;
}

static bool same_problem(const struct sp_measured *a, const struct sp_measured *b)
{
    const struct sp_plan *const p = a->sample.in.plan, *const q = b->sample.in.plan;
    return p->batch == q->batch && p->seq == q->seq && sp_plan_devices(p) == sp_plan_devices(q);
}

static size_t list_firsts(const struct sp_study *study, const double *log_errors, size_t *first)
{
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++)
        if (!isnan(log_errors[i]) && !study->measured[i].odd && is_first(study, i))
            first[n++] = i;
    return n;
}

static struct pair pair_of(const struct sp_measured *a, const struct sp_measured *b, double error_a,
                           double error_b)
{
    const double measured = log(a->sample.step_s / b->sample.step_s);
    const double predicted = measured + error_a - error_b;
    return (struct pair){.apart = fabs(error_a - error_b),
                         .lead = fabs(predicted),
                         .problem = same_problem(a, b),
                         .right = predicted * measured > 0};
}

/* All pairs of one tier; the caller frees them. */
static struct pair *list_pairs(const struct sp_study *study, const double *log_errors,
                               enum sp_tier tier, size_t *n)
{
    size_t *const first = calloc(study->n + 1, sizeof *first);
    if (!first)
        abort();
    const size_t firsts = list_firsts(study, log_errors, first);
    struct pair *const pairs = calloc(firsts * firsts / 2 + 1, sizeof *pairs);
    if (!pairs)
        abort();
    *n = 0;
    for (size_t i = 0; i < firsts; i++) {
        const struct sp_measured *const a = &study->measured[first[i]];
        size_t series = 0;
        for (size_t k = 0; k < firsts; k++)
            series += same_series(a, &study->measured[first[k]]);
        for (size_t k = 0; k < i && a->tier == tier; k++) {
            const struct sp_measured *const b = &study->measured[first[k]];
            if (!same_series(a, b))
                continue;
            pairs[*n] = pair_of(a, b, log_errors[first[i]], log_errors[first[k]]);
            pairs[(*n)++].weight = 2 / (double)series * sqrt(a->sample.weight * b->sample.weight);
        }
    }
    free(first);
    return pairs;
}

static int by_distance(const void *a, const void *b)
{
    const double x = ((const struct pair *)a)->apart, y = ((const struct pair *)b)->apart;
    return (x > y) - (x < y);
}

/* Errors have either sign equally often: a lead L is right if errors differ by less, and half the
 * time if they differ by more, so 80 % are right if 60 % differ by less. */
static double width_of(const struct pair *pairs, size_t n)
{
    double all = 0, below = 0;
    for (size_t i = 0; i < n; i++)
        all += pairs[i].weight;
    for (size_t i = 0; i < n; i++) {
        below += pairs[i].weight;
        if (below >= 0.6 * all)
            return pairs[i].apart;
    }
    return NAN;
}

/* Share of right orders among pairs of one problem whose lead is from `low` to `high`. */
static double right_within(const struct pair *pairs, size_t n, double low, double high, double *all)
{
    double right = 0;
    *all = 0;
    for (size_t i = 0; i < n; i++)
        if (pairs[i].problem && pairs[i].lead >= low && pairs[i].lead < high) {
            *all += pairs[i].weight;
            right += pairs[i].right ? pairs[i].weight : 0;
        }
    return *all > 0 ? 100 * right / *all : NAN;
}

static double share_below(const struct pair *pairs, size_t n, double width)
{
    double all = 0, below = 0;
    for (size_t i = 0; i < n; i++) {
        all += pairs[i].weight;
        below += pairs[i].apart <= width ? pairs[i].weight : 0;
    }
    return below / all;
}

static int print_tier(const struct pair *pairs, size_t n, enum sp_tier tier)
{
    const double says = sp_lead_log(tier);
    double ties, leads;
    const double tied = right_within(pairs, n, 0, says, &ties),
                 led = right_within(pairs, n, says, INFINITY, &leads);
    const double share = share_below(pairs, n, says);
    const bool bad = share < 0.5 || share > 0.7;
    printf(
        "%-14s %5zu pairs: a lead of %.3f (says %.3f) is right in 80 %%%s; of one problem, below "
        "it %.0f %% right (weight %.0f), above %.0f %% (%.0f)\n",
        sp_tier_names[tier], n, width_of(pairs, n), says, bad ? "!" : "", tied, ties, led, leads);
    return bad;
}

int sp_print_leads(const struct sp_study *study, const double *log_errors)
{
    int worse = 0;
    printf("\nleads of one plan over another of the same series, of the logarithm\n");
    for (int t = 0; t < SP_TIERS; t++) {
        size_t n;
        struct pair *const pairs = list_pairs(study, log_errors, (enum sp_tier)t, &n);
        qsort(pairs, n, sizeof *pairs, by_distance);
        if (n > 0)
            worse += print_tier(pairs, n, (enum sp_tier)t);
        free(pairs);
    }
    return worse;
}
