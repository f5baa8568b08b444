/* Errors of the estimate on runs of a further file, none of which any fit has seen. */
#include "elsewhere.h"

#include "choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sp_print_worst(const struct sp_study *study, const double *log_errors)
{
    bool *const told = calloc((size_t)study->groups + 1, sizeof *told);
    if (!told)
        abort();
    for (int line = 0; line < 20; line++) {
        const struct sp_measured *worst = NULL;
        double error = 0;
        for (size_t i = 0; i < study->n; i++)
            if (!told[study->measured[i].group] && fabs(log_errors[i]) > fabs(error)) {
                worst = &study->measured[i];
                error = log_errors[i];
            }
        if (!worst)
            break;
        told[worst->group] = true;
        const struct sp_plan *const p = worst->sample.in.plan;
        printf("  %5.2f  %-14s %-22s %-24.24s %-13s N=%-5lld tp%lld pp%lld vpp%lld cp%lld ep%lld "
               "mb%lld\n",
               exp(error), worst->run->id, study->stack[worst->stack].name, worst->run->model_name,
               sp_tier_names[worst->tier], (long long)sp_plan_devices(p), (long long)p->tp,
               (long long)p->pp, (long long)p->vpp, (long long)p->cp, (long long)p->ep,
               (long long)p->micro_batch);
    }
    free(told);
}

/* The number that a study has for a publication; -1: none. */
static int publication_in(const struct sp_study *study, const char *name)
{
    for (int p = 0; p < study->publications; p++)
        if (strcmp(study->publication[p], name) == 0)
            return p;
    return -1;
}

/* A stack's constants by a fit to a study: its own, or borrowed. */
static struct sp_profile profile_in(const struct sp_study *study, const struct sp_profile *fitted,
                                    const struct sp_profile *stack)
{
    struct sp_profile profile = *stack;
    for (int s = 0; s < study->stacks; s++)
        if (strcmp(fitted[s].name, stack->name) == 0)
            return fitted[s];
    sp_borrow_constants(fitted, (size_t)study->stacks, &profile);
    return profile;
}

/* The knowledge of a stack in the fit without that publication. */
static enum sp_known known_in(const struct sp_study *study, int left_out,
                              const struct sp_profile *mine)
{
    enum sp_known known = SP_KNOWN_NEITHER;
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const m = &study->measured[i];
        const struct sp_profile *const its = &study->stack[m->stack];
        if (m->odd || m->publication == left_out || its->kind != mine->kind)
            continue;
        known = sp_more_known(known, its, mine);
    }
    return known;
}

/* The errors of one publication's runs, and whether the 80 % range holds each. */
static void judge(const struct sp_study *study, const struct sp_profile *fitted,
                  const struct sp_study *other, int publication, double *log_errors, bool *held)
{
    static struct sp_profile without[SP_MAX_STACKS];
    const int left_out = publication_in(study, other->publication[publication]);
    if (left_out >= 0)
        sp_fit_study(study, sp_publication_of, left_out, without, NULL);
    for (size_t i = 0; i < other->n; i++) {
        const struct sp_measured *const m = &other->measured[i];
        if (m->publication != publication)
            continue;
        struct sp_profile profile =
            profile_in(study, left_out >= 0 ? without : fitted, &other->stack[m->stack]);
        profile.known = known_in(study, left_out, &other->stack[m->stack]);
        log_errors[i] = sp_log_error(&m->sample, &profile);
        struct sp_step_inputs in = m->sample.in;
        in.profile = &profile;
        held[i] = fabs(log_errors[i]) <= sp_range_of(&in);
    }
}

/* Runs of one tier, and of one publication unless that is below 0. */
struct chosen {
    enum sp_tier tier;
    int publication;
};

static bool is_chosen(const struct sp_measured *m, const void *context)
{
    const struct chosen *const c = context;
    return m->tier == c->tier && (c->publication < 0 || m->publication == c->publication);
}

static void print_chosen(const struct sp_study *other, const double *log_errors, const bool *held,
                         struct chosen chosen)
{
    int groups;
    const double e = sp_mean_group_error(other, log_errors, is_chosen, &chosen, &groups);
    double bias = 0, inside = 0, n = 0;
    for (size_t i = 0; i < other->n; i++)
        if (is_chosen(&other->measured[i], &chosen)) {
            bias += log_errors[i];
            inside += held[i];
            n++;
        }
    if (groups > 0)
        printf("%-52.52s %13s %7d %7.1f %+7.1f %7.0f\n",
               chosen.publication < 0 ? "all" : other->publication[chosen.publication],
               sp_tier_names[chosen.tier], groups, 100 * e, 100 * expm1(bias / n),
               100 * inside / n);
}

bool sp_print_elsewhere(const struct sp_study *study, const struct sp_profile *fitted,
                        const char *path)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_runs runs;
    struct sp_study other;
    if (!sp_read_runs(path, &sources, &runs, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    sp_open_study(&runs, &other);
    double *const log_errors = calloc(other.n + 1, sizeof *log_errors);
    bool *const held = calloc(other.n + 1, sizeof *held);
    if (!log_errors || !held)
        abort();
    for (int p = 0; p < other.publications; p++)
        judge(study, fitted, &other, p, log_errors, held);
    printf("\n%-52.52s %13s %7s %7s %7s %7s\n", path, "tier", "groups", "error", "bias", "hold");
    for (int p = -1; p < other.publications; p++)
        for (int t = 0; t < SP_TIERS; t++)
            print_chosen(&other, log_errors, held, (struct chosen){(enum sp_tier)t, p});
    printf("\nfurthest off of these, predicted over measured\n");
    sp_print_worst(&other, log_errors);
    sp_print_choice(&other, log_errors);
    free(log_errors);
    free(held);
    sp_close_study(&other);
    sp_runs_free(&runs);
    return true;
}
