/* How well the estimate chooses among plans that were measured beside each other. */
#include "choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The estimate, and what a planner does without one: divide the model as little as possible; or
 * tensor parallelism first, in a domain, with as few stages as possible. */
enum chooser { ESTIMATE, LEAST_DIVIDED, TENSOR_FIRST, CHOOSERS };

struct choice {
    double regret[CHOOSERS], worst; /* sums over series, the estimate's largest */
    double pairs, right;
    int series;
};

static bool same_problem(const struct sp_measured *a, const struct sp_measured *b)
{
    const struct sp_plan *const p = a->sample.in.plan, *const q = b->sample.in.plan;
    return a->publication == b->publication && a->stack == b->stack && a->tier == b->tier &&
           p->batch == q->batch && p->seq == q->seq && p->dtype == q->dtype &&
           sp_plan_devices(p) == sp_plan_devices(q) &&
           strcmp(a->run->model_name, b->run->model_name) == 0;
}

/* What a chooser makes least. Ties go to the larger micro-batch. */
static double cost_to(enum chooser chooser, const struct sp_measured *m, double log_error)
{
    const struct sp_plan *const p = m->sample.in.plan;
    const double tie = 1e-3 / (double)p->micro_batch;
    const int64_t domain = m->run->hw.network.domain;
    const bool inside = domain == 0 || p->tp <= domain;
    const double cost[CHOOSERS] = {
        [ESTIMATE] = log(m->sample.step_s) + log_error,
        [LEAST_DIVIDED] = log((double)(p->tp * p->pp * p->cp)) + tie,
        [TENSOR_FIRST] = log((double)p->pp) - (inside ? 1e-2 * log((double)p->tp) : 0) + tie,
    };
    return cost[chooser];
}

/* One series: its members are `at`. */
static void add_series(const struct sp_study *study, const double *log_errors, const size_t *at,
                       size_t n, struct choice *choice)
{
    size_t first[CHOOSERS] = {0};
    double best = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct sp_measured *const m = &study->measured[at[i]];
        best = fmin(best, m->sample.step_s);
        for (int c = 0; c < CHOOSERS; c++)
            if (cost_to((enum chooser)c, m, log_errors[at[i]]) <
                cost_to((enum chooser)c, &study->measured[at[first[c]]], log_errors[at[first[c]]]))
                first[c] = i;
        for (size_t k = 0; k < i; k++) {
            const struct sp_measured *const o = &study->measured[at[k]];
            const double measured = log(m->sample.step_s / o->sample.step_s);
            choice->pairs++;
            choice->right += measured * (measured + log_errors[at[i]] - log_errors[at[k]]) > 0;
        }
    }
    for (int c = 0; c < CHOOSERS; c++)
        choice->regret[c] += study->measured[at[first[c]]].sample.step_s / best - 1;
    choice->worst =
        fmax(choice->worst, study->measured[at[first[ESTIMATE]]].sample.step_s / best - 1);
    choice->series++;
}

static struct choice choice_of(const struct sp_study *study, const double *log_errors,
                               int publication)
{
    enum { ENOUGH = 3 };
    struct choice choice = {.series = 0};
    bool *const told = calloc(study->n + 1, sizeof *told);
    size_t *const at = calloc(study->n + 1, sizeof *at);
    if (!told || !at)
        abort();
    for (size_t i = 0; i < study->n; i++) {
        size_t n = 0;
        if (study->measured[i].publication != publication || told[i])
            continue;
        for (size_t k = i; k < study->n; k++)
            if (same_problem(&study->measured[i], &study->measured[k])) {
                told[k] = true;
                at[n++] = k;
            }
        if (n >= ENOUGH)
            add_series(study, log_errors, at, n, &choice);
    }
    free(told);
    free(at);
    return choice;
}

void sp_print_choice(const struct sp_study *study, const double *log_errors)
{
    printf("\n%-52s %7s %8s %8s %10s %10s %8s\n", "the plan put first, behind the best, %",
           "series", "estimate", "worst", "undivided", "TP first", "pairs");
    for (int p = 0; p < study->publications; p++) {
        const struct choice c = choice_of(study, log_errors, p);
        if (c.series > 0)
            printf("%-52.52s %7d %8.1f %8.1f %10.1f %10.1f %7.0f%%\n", study->publication[p],
                   c.series, 100 * c.regret[ESTIMATE] / c.series, 100 * c.worst,
                   100 * c.regret[LEAST_DIVIDED] / c.series,
                   100 * c.regret[TENSOR_FIRST] / c.series, 100 * c.right / c.pairs);
    }
}
