/* Measured runs as samples of a joint fit, with parts left out in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/group_error.h"
#include "host/parallel.h"
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

/* "llama3.1-405b-proxy-L8" and "llama3-405b" are one model with different numbers of layers. */
static void family_name(const char *model, char *out, size_t size)
{
    snprintf(out, size, "%s", model);
    char *cut = strstr(out, "-proxy");
    if (cut)
        *cut = '\0';
    cut = strstr(out, "-L");
    if (cut && cut[2] != '\0' && cut[2 + strspn(cut + 2, "0123456789")] == '\0')
        *cut = '\0';
    if (strncmp(out, "llama3.1", 8) == 0)
        memmove(out + 6, out + 8, strlen(out + 8) + 1);
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
        abort();
    study->stack[study->stacks] = profile;
    return study->stacks++;
}

/* Repeats share a weight, and long series count by the square root of their length, because their
 * errors have common causes. */
static void weigh(struct sp_study *study)
{
    enum { LONG_SERIES = 60 };
    double *const of_publication = calloc((size_t)study->publications + 1, sizeof *of_publication);
    int *const repeats = calloc((size_t)study->groups + 1, sizeof *repeats);
    int *const series = calloc((size_t)study->publications + 1, sizeof *series);
    if (!of_publication || !repeats || !series)
        abort();
    for (size_t i = 0; i < study->n; i++)
        repeats[study->measured[i].group]++, series[study->measured[i].publication]++;
    for (size_t i = 0; i < study->n; i++) {
        struct sp_measured *const m = &study->measured[i];
        m->sample.weight = 1.0 / repeats[m->group];
        of_publication[m->publication] += m->sample.weight;
    }
    for (size_t i = 0; i < study->n; i++) {
        struct sp_measured *const m = &study->measured[i];
        m->series = series[m->publication];
        m->sample.weight *= fmin(1, sqrt(LONG_SERIES / of_publication[m->publication]));
    }
    free(of_publication);
    free(repeats);
    free(series);
}

void sp_open_study(const struct sp_runs *runs, struct sp_study *study)
{
    struct names groups = {0}, models = {0}, publications = {0}, units = {0};
    const int software = sp_csv_column(&runs->csv, "software"),
              column = sp_csv_column(&runs->csv, "publication"),
              fit = sp_csv_column(&runs->csv, "fit"),
              of_chip = sp_csv_column(&runs->csv, "machine");
    *study = (struct sp_study){0};
    study->measured = calloc(runs->n + 1, sizeof *study->measured);
    study->layers = calloc(runs->n + 1, sizeof *study->layers);
    if (!study->measured || !study->layers)
        abort();
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_run *const run = &runs->run[i];
        if (run->problem[0] != '\0' || !(run->step_s > 0) || !run->scored)
            continue;
        const char *const publication = sp_csv_cell(&runs->csv, i, column);
        char model[128];
        family_name(run->model_name, model, sizeof model);
        study->measured[study->n++] = (struct sp_measured){
            .sample = {{&run->model, &run->hw, &run->precision, &run->framework.framework, NULL,
                        &run->plan, NULL},
                       run->step_s,
                       1},
            .run = run,
            .stack = stack_of(study, run),
            .group = number_of(&groups, run->group),
            .model = number_of(&models, model),
            .publication = number_of(&publications, *publication ? publication : run->source),
            .odd = strncmp(sp_csv_cell(&runs->csv, i, fit), "no", 2) == 0,
            .tier = sp_tier_of(&run->model, &run->hw.chip, &run->plan),
        };
        struct sp_measured *const m = &study->measured[study->n - 1];
        sp_list_model(&run->model,
                      &study->layers[i]); /* a fit estimates a run thousands of times */
        m->sample.in.layers = &study->layers[i];
        const char *const name = publications.name[m->publication];
        char machine[128], release[128];
        snprintf(machine, sizeof machine, "%.60s on %.40s %.20s", name, run->hardware,
                 of_chip < 0 ? "" : sp_csv_cell(&runs->csv, i, of_chip));
        snprintf(release, sizeof release, "%.60s %.30s %.30s", name,
                 sp_csv_cell(&runs->csv, i, software), run->model_name);
        for (int u = 0; u < SP_UNKNOWNS; u++)
            m->unit[u] = number_of(&units, u == SP_OPEN_PUBLICATION ? name
                                           : u == SP_OPEN_RELEASE   ? release
                                                                    : machine);
    }
    study->groups = groups.n;
    study->models = models.n;
    study->publications = publications.n;
    study->publication = publications.name;
    weigh(study);
    free(groups.name);
    free(units.name);
    free(models.name);
}

void sp_close_study(struct sp_study *study)
{
    free(study->measured);
    free(study->layers);
    free(study->publication);
    *study = (struct sp_study){0};
}

int sp_publication_of(const struct sp_measured *measured)
{
    return measured->publication;
}

int sp_stack_of(const struct sp_measured *measured)
{
    return measured->stack;
}

int sp_measured_model_of(const struct sp_measured *measured)
{
    return measured->model;
}

/* Stacks without samples borrow, as a user's does. */
static void borrow_the_rest(const struct sp_study *study, const struct sp_joint_sample *samples,
                            size_t n, struct sp_profile *fitted)
{
    struct sp_profile *const known = calloc(SP_MAX_STACKS, sizeof *known);
    bool *const has = calloc(SP_MAX_STACKS, sizeof *has);
    size_t n_known = 0;
    if (!known || !has)
        abort();
    for (size_t i = 0; i < n; i++)
        has[samples[i].stack] = true;
    for (int s = 0; s < study->stacks; s++)
        if (has[s])
            known[n_known++] = fitted[s];
    for (int s = 0; s < study->stacks; s++)
        if (!has[s])
            sp_borrow_constants(known, n_known, &fitted[s]);
    free(known);
    free(has);
}

/* The values found for the units of all runs, from those of the samples. */
static void share_deviations(const struct sp_study *study, const struct sp_joint_sample *samples,
                             double (*found)[SP_UNKNOWNS], size_t n,
                             double (*deviations)[SP_UNKNOWNS])
{
    for (size_t i = 0; i < study->n; i++)
        for (int u = 0; u < SP_UNKNOWNS; u++) {
            size_t k = 0;
            while (k < n && (samples[k].unit[u] != study->measured[i].unit[u] || found[k][u] == 0))
                k++;
            deviations[i][u] = k < n ? found[k][u] : 0;
        }
}

void sp_fit_study(const struct sp_study *study, sp_part_of *part_of, int left_out,
                  struct sp_profile *fitted, double (*deviations)[SP_UNKNOWNS])
{
    struct sp_joint_sample *const samples = calloc(study->n + 1, sizeof *samples);
    double(*const found)[SP_UNKNOWNS] = calloc(study->n + 1, sizeof *found);
    if (!samples || !found)
        abort();
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const m = &study->measured[i];
        if (!m->odd && (left_out < 0 || part_of(m) != left_out))
            samples[n++] = (struct sp_joint_sample){m->sample, m->stack, {0}},
            memcpy(samples[n - 1].unit, m->unit, sizeof m->unit);
    }
    sp_fit_jointly(samples, n, study->stack, study->stacks, fitted, found);
    borrow_the_rest(study, samples, n, fitted);
    if (deviations)
        share_deviations(study, samples, found, n, deviations);
    free(found);
    free(samples);
}

enum sp_known sp_more_known(enum sp_known known, const struct sp_profile *its,
                            const struct sp_profile *mine)
{
    const enum sp_known of = strcmp(its->name, mine->name) == 0 ? SP_KNOWN_STACK
                             : strcmp(its->software_family, mine->software_family) == 0
                                 ? SP_KNOWN_SOFTWARE
                             : strcmp(its->chip_family, mine->chip_family) == 0 ? SP_KNOWN_CHIP
                                                                                : SP_KNOWN_NEITHER;
    return of < known ? of : known; /* the enum is in the order of what is known */
}

enum sp_known sp_known_without(const struct sp_study *study, sp_part_of *part_of,
                               const struct sp_measured *measured)
{
    const struct sp_profile *const mine = &study->stack[measured->stack];
    enum sp_known known = SP_KNOWN_NEITHER;
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const o = &study->measured[i];
        const struct sp_profile *const its = &study->stack[o->stack];
        if (o->odd || part_of(o) == part_of(measured) || its->kind != mine->kind)
            continue;
        known = sp_more_known(known, its, mine);
    }
    return known;
}

/* Folds with their fits and results. */
struct folds {
    const struct sp_study *study;
    sp_part_of *part_of;
    bool own_machine;
    double *log_errors;
    sp_on_fold *on_fold;
    void *context;
};

static void leave_out(const struct folds *f, int part, struct sp_profile *fitted)
{
    bool any = false;
    for (size_t i = 0; i < f->study->n; i++)
        any = any || f->part_of(&f->study->measured[i]) == part;
    if (!any)
        return;
    double(*const found)[SP_UNKNOWNS] = calloc(f->study->n + 1, sizeof *found);
    if (!found)
        abort();
    sp_fit_study(f->study, f->part_of, part, fitted, f->own_machine ? found : NULL);
    for (size_t i = 0; i < f->study->n; i++) {
        const struct sp_measured *const m = &f->study->measured[i];
        if (f->part_of(m) == part)
            f->log_errors[i] = sp_log_error_with(&m->sample, &fitted[m->stack], found[i]);
    }
    free(found);
    if (f->on_fold)
        f->on_fold(f->study, part, fitted, f->context);
}

static void leave_parts_out(struct sp_share *share, void *context)
{
    const struct folds *const f = context;
    struct sp_profile *const fitted = calloc(SP_MAX_STACKS, sizeof *fitted);
    int64_t from, to;
    if (!fitted)
        abort();
    while (sp_take(share, &from, &to))
        for (int64_t part = from; part < to; part++)
            leave_out(f, (int)part, fitted);
    free(fitted);
}

void sp_cross_validate(const struct sp_study *study, sp_part_of *part_of, int parts,
                       bool own_machine, double *log_errors, sp_on_fold *on_fold, void *context)
{
    struct folds folds = {study, part_of, own_machine, log_errors, on_fold, context};
    sp_parallel(sp_threads(0), parts, 1, leave_parts_out, &folds);
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
