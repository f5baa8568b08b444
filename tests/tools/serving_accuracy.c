/* How right the estimate of serving is on measured runs: fits all pairs of chip and engine to a CSV
 * of runs, leaves configurations and models out, and prints the tables of docs/accuracy.md. With a
 * folder it writes the profiles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parallel.h"
#include "bundled_profile.h"
#include "runs/serving_fit.h"

enum { MAX_STACKS = 64, FOLDS = 5 };

struct measurement {
    struct sp_serving_sample sample;
    int group, model;
    bool experts;
    double error[4]; /* nothing left out, five-fold, model left out, after three rows */
    double naive;
};
enum { ALL, FIVE, MODEL, THREE };

struct study {
    struct measurement *m;
    size_t n;
    struct sp_profile stack[MAX_STACKS];
    int stacks, groups, models;
    char (*group)[160];
    char model[64][64];
};

static int number_of(char *names, size_t size, int *n, const char *name)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(names + (size_t)i * size, name) == 0)
            return i;
    snprintf(names + (size_t)*n * size, size, "%s", name);
    return (*n)++;
}

static int stack_of(struct study *s, const struct sp_serving_run *run)
{
    struct sp_profile p;
    sp_expect_serving_of(run->service.hw, run->engine->name, &p);
    for (int i = 0; i < s->stacks; i++)
        if (strcmp(s->stack[i].name, p.name) == 0)
            return i;
    s->stack[s->stacks] = p;
    return s->stacks++;
}

static void open_study(const struct sp_serving_runs *runs, struct study *s)
{
    *s = (struct study){0};
    s->m = calloc(3 * runs->n + 1, sizeof *s->m);
    s->group = calloc(runs->n + 1, sizeof *s->group);
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_serving_run *const run = &runs->run[i];
        if (run->problem[0] || !run->scored)
            continue;
        for (int k = 0; k < SP_SERVING_MEASURES; k++)
            if (run->measured[k] > 0)
                s->m[s->n++] = (struct measurement){
                    .sample = {run, (enum sp_serving_measure)k, stack_of(s, run), 1},
                    .group = number_of(*s->group, sizeof *s->group, &s->groups, run->group),
                    .model = number_of(*s->model, sizeof *s->model, &s->models, run->model_name),
                    .experts = run->service.model->moe.experts > 0};
    }
}

static bool left_out(const struct measurement *m, int how, int part)
{
    return part >= 0 &&
           (how == FIVE ? (unsigned)m->group * 2654435761u % 1000003 % FOLDS == (unsigned)part
                        : m->model == part);
}

/* Weights: the root of a long series. */
static size_t samples_without(const struct study *s, int how, int part,
                              struct sp_serving_sample *samples)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!left_out(&s->m[i], how, part))
            samples[n++] = s->m[i].sample;
    return n;
}

static void write_profiles(const struct study *s, const struct sp_profile *fitted,
                           const char *folder)
{
    for (int k = 0; k < s->stacks; k++) {
        char sources[1024] = "", fitted_to[192];
        int n = 0, tpot = 0;
        double sum = 0;
        for (size_t i = 0; i < s->n; i++) {
            const struct measurement *const m = &s->m[i];
            if (m->sample.stack != k)
                continue;
            n++;
            if (m->sample.measure == SP_MEASURED_TPOT) {
                tpot++;
                sum += fabs(expm1(m->error[FIVE]));
            }
            sp_add_source(sources, sizeof sources, m->sample.run->source);
        }
        snprintf(fitted_to, sizeof fitted_to,
                 "%d measurements, with those of the other pairs; mean absolute error of the time "
                 "between tokens %.1f %% over %d configurations left out",
                 n, 100 * sum / fmax(tpot, 1), tpot);
        if (tpot == 0)
            snprintf(fitted_to, sizeof fitted_to,
                     "%d measurements of throughput, with those of the other pairs", n);
        sp_write_bundled_profile(folder, &fitted[k], fitted_to, sources);
    }
}

static struct sp_profile everything[MAX_STACKS];

static void leave_out(const struct study *s, int how, int part)
{
    struct sp_serving_sample *const samples = calloc(s->n + 1, sizeof *samples);
    struct sp_profile *const fitted = calloc(MAX_STACKS, sizeof *fitted);
    const size_t n = samples_without(s, how, part, samples);
    sp_fit_serving(samples, n, s->stack, s->stacks, fitted);
    for (size_t i = 0; i < s->n; i++)
        if (part < 0 || left_out(&s->m[i], how, part))
            s->m[i].error[how] =
                sp_serving_log_error(&s->m[i].sample, fitted[s->m[i].sample.stack].value);
    if (part < 0)
        memcpy(everything, fitted, sizeof everything);
    if (part < 0)
        for (int k = 0; k < s->stacks; k++) {
            printf("%-14s", s->stack[k].name);
            for (int c = 0; c < SP_SERVING_CONSTANTS; c++)
                printf(" %9.3g/%.1f", fitted[k].value[c], fitted[k].determined[c]);
            printf("\n");
        }
    free(samples);
    free(fitted);
}

struct job {
    const struct study *s;
    int how;
};
static void work(struct sp_share *share, void *context)
{
    const struct job *j = context;
    int64_t from, to;
    while (sp_take(share, &from, &to))
        for (int64_t part = from; part < to; part++)
            leave_out(j->s, j->how, (int)part);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_errors(const struct study *s, int how, int measure, int stack, int experts,
                         int model)
{
    double *const e = calloc(s->n + 1, sizeof *e);
    size_t n = 0;
    double sum = 0, bias = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct measurement *const m = &s->m[i];
        if ((int)m->sample.measure != measure || (stack >= 0 && m->sample.stack != stack) ||
            (experts >= 0 && m->experts != experts) || (model >= 0 && m->model != model))
            continue;
        e[n] = 100 * fabs(expm1(m->error[how]));
        bias += m->error[how];
        sum += e[n++];
    }
    qsort(e, n, sizeof *e, ascending);
    if (n > 0)
        printf("  %5.1f (%5.1f) b%+5.1f n%-4zu", sum / (double)n, e[n / 2], 100 * bias / (double)n,
               n);
    else
        printf("  %-24s", "-");
    free(e);
}

int main(int argc, char **argv)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_serving_runs runs;
    if (argc < 2 || !sp_read_serving_runs(argv[1], &sources, &runs, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    static struct study s;
    open_study(&runs, &s);
    printf("%zu measurements, %d pairs, %d groups, %d models\n", s.n, s.stacks, s.groups, s.models);
    for (int c = 0; c < SP_SERVING_CONSTANTS; c++)
        printf(" %s", sp_serving_constants[c].key);
    printf("\n");
    leave_out(&s, ALL, -1);
    const char *const what = argc > 2 ? argv[2] : "";
    if (strstr(what, "five"))
        sp_parallel(sp_threads(0), FOLDS, 1, work, &(struct job){&s, FIVE});
    if (strstr(what, "model"))
        sp_parallel(sp_threads(0), s.models, 1, work, &(struct job){&s, MODEL});
    static const char *const hows[] = {"all", "five", "model"};
    for (int how = ALL; how <= MODEL; how++) {
        if (how != ALL && !strstr(what, hows[how]))
            continue;
        printf("== %s\n", hows[how]);
        for (int k = 0; k < SP_SERVING_MEASURES; k++) {
            printf("%-12s all", sp_serving_measure_names[k]);
            print_errors(&s, how, k, -1, -1, -1);
            printf(" dense");
            print_errors(&s, how, k, -1, 0, -1);
            printf(" moe");
            print_errors(&s, how, k, -1, 1, -1);
            printf("\n");
        }
        for (int st = 0; st < s.stacks; st++) {
            printf("%-16s", s.stack[st].name);
            for (int k = 0; k < SP_SERVING_MEASURES; k++)
                print_errors(&s, how, k, st, -1, -1);
            printf("\n");
        }
        for (int mo = 0; mo < s.models; mo++) {
            printf("%-16s", s.model[mo]);
            for (int k = 0; k < SP_SERVING_MEASURES; k++)
                print_errors(&s, how, k, -1, -1, mo);
            printf("\n");
        }
    }
    if (argc > 3)
        write_profiles(&s, everything, argv[3]);
    if (strstr(what, "rows"))
        for (size_t i = 0; i < s.n; i++) {
            const struct measurement *m = &s.m[i];
            const struct sp_serving_run *r = m->sample.run;
            if (m->sample.measure != 0 && !strstr(what, "rowsall"))
                continue;
            printf("ROW %-10s %+6.2f five %+6.2f %-16s c=%-5g most=%-7.0f %s\n",
                   sp_serving_measure_names[m->sample.measure], m->error[ALL], m->error[FIVE],
                   s.stack[m->sample.stack].name, r->requests.in_flight,
                   sp_most_running(&r->pass, r->requests.input, r->requests.output), r->group);
        }
    return 0;
}
