/* Measured runs as samples, fitted by stack and left out in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/group_error.h"
#include "base/parallel.h"
#include "study.h"

/* Numbers the distinct values of a text. */
struct names {
    char (*name)[128];
    int n, room;
};

static int number_of(struct names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return i;
    if (names->n == names->room) {
        names->room = names->room ? 2 * names->room : 64;
        names->name = realloc(names->name, (size_t)names->room * sizeof *names->name);
        if (!names->name)
            abort();
    }
    snprintf(names->name[names->n], sizeof *names->name, "%s", name);
    return names->n++;
}

/* "llama3.1-405b-proxy-L8" and "llama3-405b" are one model, run with fewer layers. */
static void family_name(const char *model, char *out, size_t size)
{
    snprintf(out, size, "%s", model);
    char *cut = strstr(out, "-proxy");
    if (cut)
        *cut = '\0';
    cut = strstr(out, "-L");
    if (cut && cut[2] >= '0' && cut[2] <= '9')
        *cut = '\0';
    if (strncmp(out, "llama3.1", 8) == 0)
        memmove(out + 6, out + 8, strlen(out + 8) + 1);
}

static char tier_of(const struct sp_run *run)
{
    if (run->model.moe.experts > 0)
        return 'M';
    if (run->tier[0] == 'X')
        return 'X';
    return sp_dtypes[run->plan.dtype].bytes == 2 ? 'D' : '8';
}

static int stack_of(struct sp_study *study, const struct sp_run *run)
{
    struct sp_profile profile;
    bool own;
    sp_profile_for(&run->hw, &run->framework.framework, NULL, 0, &profile, &own);
    for (int i = 0; i < study->stacks; i++)
        if (strcmp(study->stack[i].name, profile.name) == 0)
            return i;
    if (study->stacks == SP_MAX_STACKS)
        return SP_MAX_STACKS - 1;
    study->stack[study->stacks] = profile;
    return study->stacks++;
}

static bool usable(const struct sp_run *run, bool all)
{
    return run->problem[0] == '\0' && run->step_s > 0 && (all || run->scored);
}

void sp_open_study(const struct sp_runs *runs, bool all, struct sp_study *study)
{
    struct names groups = {0}, families = {0}, sources = {0};
    *study = (struct sp_study){0};
    study->measured = calloc(runs->n + 1, sizeof *study->measured);
    if (!study->measured)
        abort();
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_run *const run = &runs->run[i];
        if (!usable(run, all))
            continue;
        char family[128];
        family_name(run->model_name, family, sizeof family);
        study->measured[study->n++] = (struct sp_measured){
            .sample = {{&run->model, &run->hw, &run->precision, &run->framework.framework, NULL,
                        &run->plan},
                       run->step_s,
                       1},
            .run = run,
            .stack = stack_of(study, run),
            .group = number_of(&groups, run->group),
            .family = number_of(&families, family),
            .source = number_of(&sources, run->source),
            .tier = tier_of(run),
        };
    }
    study->groups = groups.n;
    study->families = families.n;
    study->sources = sources.n;
    for (size_t i = 0; i < study->n; i++) {
        int repeats = 0;
        for (size_t k = 0; k < study->n; k++)
            repeats += study->measured[k].group == study->measured[i].group;
        study->measured[i].sample.weight = 1.0 / repeats;
    }
    free(groups.name);
    free(families.name);
    free(sources.name);
}

void sp_close_study(struct sp_study *study)
{
    free(study->measured);
    *study = (struct sp_study){0};
}

int sp_part_of_group(const struct sp_measured *measured)
{
    unsigned hash = 2166136261u; /* FNV-1a: the parts stay the same whatever else is in the file */
    for (const char *c = measured->run->group; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return (int)(hash % 5);
}

int sp_part_of_family(const struct sp_measured *measured)
{
    return measured->family;
}

int sp_part_of_source(const struct sp_measured *measured)
{
    return measured->source;
}

/* One stack from its prior; without a run of its own it keeps the prior. */
static void fit_stack(const struct sp_study *study, const struct sp_fold *split, int stack,
                      const struct sp_profile *prior, struct sp_profile *fitted)
{
    struct sp_sample *const samples = calloc(study->n + 1, sizeof *samples);
    if (!samples)
        abort();
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const m = &study->measured[i];
        if (m->stack == stack && (split->left_out < 0 || split->of(m) != split->left_out))
            samples[n++] = m->sample;
    }
    *fitted = *prior;
    if (n > 0)
        sp_fit_profile(study->nlopt, samples, n, prior, fitted);
    else
        memset(fitted->determined, 0, sizeof fitted->determined);
    free(samples);
}

/* One of each stack, not on the stack of a thread: they are some hundred kB. */
static struct sp_profile *new_profiles(void)
{
    struct sp_profile *const profiles = calloc(SP_MAX_STACKS, sizeof *profiles);
    if (!profiles)
        abort();
    return profiles;
}

/* A round of fits: each stack from a prior of its own. */
struct round {
    const struct sp_study *study;
    const struct sp_fold *split;
    const struct sp_profile *prior;
    struct sp_profile *fitted;
};

static void fit_stacks(struct sp_share *share, void *context)
{
    const struct round *const r = context;
    int64_t from, to;
    while (sp_take(share, &from, &to))
        for (int64_t i = from; i < to; i++)
            fit_stack(r->study, r->split, (int)i, &r->prior[i], &r->fitted[i]);
}

void sp_fit_study(const struct sp_study *study, const struct sp_fold *split,
                  struct sp_profile *fitted)
{
    const int stacks = study->stacks, threads = sp_threads(0);
    struct sp_profile *const prior = new_profiles(), *const first = new_profiles();
    sp_parallel(threads, stacks, 1, fit_stacks, &(struct round){study, split, study->stack, first});
    for (int i = 0; i < stacks; i++) {
        prior[i] = study->stack[i];
        sp_borrow_constants(first, (size_t)stacks, &prior[i]);
    }
    sp_parallel(threads, stacks, 1, fit_stacks, &(struct round){study, split, prior, fitted});
    free(prior);
    free(first);
}

void sp_cross_validate(const struct sp_study *study, int (*part_of)(const struct sp_measured *),
                       int parts, double *log_errors)
{
    struct sp_profile *const fitted = new_profiles();
    for (int part = 0; part < parts; part++) {
        const struct sp_fold split = {part_of, part};
        sp_fit_study(study, &split, fitted);
        for (size_t i = 0; i < study->n; i++) {
            const struct sp_measured *const m = &study->measured[i];
            if (part_of(m) == part)
                log_errors[i] = sp_log_error(&m->sample, &fitted[m->stack]);
        }
    }
    free(fitted);
}

double sp_mean_group_error(const struct sp_study *study, const double *log_errors,
                           bool (*counts)(const struct sp_measured *, const void *),
                           const void *context, int *groups)
{
    double *const errors = calloc(2 * study->n + 1, sizeof *errors), *const means =
                                                                         errors + study->n;
    int *const group = calloc(study->n + 1, sizeof *group);
    if (!errors || !group)
        abort();
    for (size_t i = 0; i < study->n; i++) {
        errors[i] = counts(&study->measured[i], context) ? log_errors[i] : NAN;
        group[i] = study->measured[i].group;
    }
    const size_t n = sp_group_errors(errors, group, study->n, means);
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += fabs(expm1(means[i]));
    free(errors);
    free(group);
    *groups = (int)n;
    return n > 0 ? total / (double)n : NAN;
}
