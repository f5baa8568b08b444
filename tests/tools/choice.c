/* How well the estimate chooses among plans that were measured in one series. */
#include "choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The estimate, and what a planner does without one: divide the model as little as possible; or
 * tensor parallelism first, in a domain, with as few stages as possible. */
enum chooser { ESTIMATE, LEAST_DIVIDED, TENSOR_FIRST, CHOOSERS };

/* Sums over series, and the estimate's largest regret. */
struct choice {
    double regret[CHOOSERS], worst;
    double pairs, right[CHOOSERS];
    int series;
};

/* The goal for a series, a fraction of the best measured step. */
static const double most_regret = 0.12;

static bool same_problem(const struct sp_measured *a, const struct sp_measured *b)
{
    const struct sp_plan *const p = a->sample.in.plan, *const q = b->sample.in.plan;
    return a->publication == b->publication && a->stack == b->stack && a->tier == b->tier &&
           p->batch == q->batch && p->seq == q->seq && p->dtype == q->dtype &&
           sp_plan_devices(p) == sp_plan_devices(q) &&
           strcmp(a->run->model_name, b->run->model_name) == 0;
}

/* The value that a chooser minimises. Ties go to the larger micro-batch. */
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

/* Whether a chooser puts the two in their measured order; between equals it has no
 * order. */
static double is_right(enum chooser chooser, const struct sp_measured *a, double error_a,
                       const struct sp_measured *b, double error_b)
{
    const double measured = log(a->sample.step_s / b->sample.step_s);
    const double apart = cost_to(chooser, a, error_a) - cost_to(chooser, b, error_b);
    return apart == 0 ? 0.5 : apart * measured > 0;
}

static void say_plan(const struct sp_measured *m, const char *what)
{
    const struct sp_plan *const p = m->sample.in.plan;
    printf(", %s %s tp%lld pp%lld cp%lld ep%lld mb%lld", what, m->run->id, (long long)p->tp,
           (long long)p->pp, (long long)p->cp, (long long)p->ep, (long long)p->micro_batch);
}

/* One series: its members are `at`. Series with too much regret are reported. */
static void add_series(const struct sp_study *study, const double *log_errors, const size_t *at,
                       size_t n, struct choice *choice)
{
    size_t first[CHOOSERS] = {0}, best = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sp_measured *const m = &study->measured[at[i]];
        if (m->sample.step_s < study->measured[at[best]].sample.step_s)
            best = i;
        for (int c = 0; c < CHOOSERS; c++) {
            const enum chooser chooser = (enum chooser)c;
            const size_t chosen = at[first[c]];
            if (cost_to(chooser, m, log_errors[at[i]]) <
                cost_to(chooser, &study->measured[chosen], log_errors[chosen]))
                first[c] = i;
            for (size_t k = 0; k < i; k++)
                choice->right[c] += is_right(chooser, m, log_errors[at[i]], &study->measured[at[k]],
                                             log_errors[at[k]]);
        }
    }
    const struct sp_measured *const fastest = &study->measured[at[best]],
                                    *const chosen = &study->measured[at[first[ESTIMATE]]];
    for (int c = 0; c < CHOOSERS; c++)
        choice->regret[c] +=
            study->measured[at[first[c]]].sample.step_s / fastest->sample.step_s - 1;
    const double regret = chosen->sample.step_s / fastest->sample.step_s - 1;
    choice->worst = fmax(choice->worst, regret);
    choice->pairs += (double)(n * (n - 1)) / 2;
    choice->series++;
    if (regret > most_regret) {
        printf("%.1f %% behind: %s on %lld", 100 * regret, chosen->run->model_name,
               (long long)sp_plan_devices(chosen->sample.in.plan));
        say_plan(chosen, "chosen");
        say_plan(fastest, "best");
        printf("\n");
    }
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

static void add_choice(struct choice *sum, const struct choice *part)
{
    for (int c = 0; c < CHOOSERS; c++) {
        sum->regret[c] += part->regret[c];
        sum->right[c] += part->right[c];
    }
    sum->worst = fmax(sum->worst, part->worst);
    sum->pairs += part->pairs;
    sum->series += part->series;
}

/* Prints a line, "!" for a missed goal. */
static void print_choice(const char *name, const struct choice *c, double asked)
{
    printf("%-52.52s %7d %7.1f%s %8.1f", name, c->series, 100 * c->regret[ESTIMATE] / c->series,
           c->regret[ESTIMATE] > asked * c->series ? "!" : " ", 100 * c->worst);
    for (int i = LEAST_DIVIDED; i < CHOOSERS; i++)
        printf(" %9.1f", 100 * c->regret[i] / c->series);
    for (int i = 0; i < CHOOSERS; i++)
        printf(" %8.0f%%", 100 * c->right[i] / c->pairs);
    printf("\n");
}

struct sp_regret sp_print_choice(const struct sp_study *study, const double *log_errors)
{
    struct choice all = {.series = 0};
    printf("\nthe plan put first, behind the best, %%, and pairs in the right order\n%-52s %7s %8s "
           "%8s %9s %9s %9s %9s %9s\n",
           "", "series", "estimate", "worst", "undivided", "TP first", "estimate", "undivided",
           "TP first");
    for (int p = 0; p < study->publications; p++) {
        const struct choice c = choice_of(study, log_errors, p);
        if (c.series > 0)
            print_choice(study->publication[p], &c, most_regret);
        add_choice(&all, &c);
    }
    if (all.series > 0)
        print_choice("all", &all, 0.02);
    return (struct sp_regret){100 * all.regret[ESTIMATE] / all.series, 100 * all.worst,
                              100 * all.right[ESTIMATE] / all.pairs};
}
