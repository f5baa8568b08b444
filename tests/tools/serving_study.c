/* Serving measurements with parts left out in turn. */
#include "serving_study.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parallel.h"

static int pair_of(struct sp_serving_study *s, const struct sp_serving_run *run)
{
    struct sp_profile p;
    sp_expect_serving_of(run->service.hw, run->engine->name, &p);
    for (int i = 0; i < s->pairs; i++)
        if (strcmp(s->pair[i].name, p.name) == 0)
            return i;
    if (s->pairs == SP_SERVING_PAIRS)
        abort();
    s->pair[s->pairs] = p;
    return s->pairs++;
}

static int model_of(struct sp_serving_study *s, const char *name)
{
    for (int i = 0; i < s->models; i++)
        if (strcmp(s->model[i], name) == 0)
            return i;
    snprintf(s->model[s->models], sizeof *s->model, "%s", name);
    return s->models++;
}

/* One of five parts, by a hash (FNV-1a) of a configuration's name: all its loads are in one part,
 * and for throughputs, which come in tables, all of a model on a chip. */
static int fold_of(const struct sp_serving_run *run, enum sp_serving_measure measure)
{
    char name[256];
    uint32_t hash = 2166136261u;
    if (measure == SP_MEASURED_RATE)
        snprintf(name, sizeof name, "%s %s", run->model_name, run->hardware);
    else
        snprintf(name, sizeof name, "%s", run->group);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return (int)(hash % SP_SERVING_FOLDS);
}

static void collect(const struct sp_serving_runs *runs, struct sp_serving_study *s)
{
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_serving_run *const run = &runs->run[i];
        for (int k = 0; k < SP_SERVING_MEASURES && !run->problem[0] && run->scored; k++) {
            if (!(run->measured[k] > 0))
                continue;
            const enum sp_serving_measure measure = (enum sp_serving_measure)k;
            s->at[s->n] =
                (struct sp_serving_measurement){.sample = {run, measure, pair_of(s, run), 1},
                                                .fold = fold_of(run, measure),
                                                .model = model_of(s, run->model_name),
                                                .experts = run->service.model->moe.experts > 0};
            for (int how = 0; how < SP_OUTS; how++)
                s->at[s->n].error[how] = NAN;
            s->n++;
        }
    }
}

static bool is_in(const struct sp_serving_measurement *m, enum sp_left_out how, int part)
{
    const int parts[SP_OUTS] = {
        [SP_OUT_FOLD] = m->fold, [SP_OUT_MODEL] = m->model, [SP_OUT_PAIR] = m->sample.stack};
    return part >= 0 && parts[how] == part;
}

/* Fits to three runs of a model on a stack, in five draws. */
static void see_three(struct sp_serving_study *s, int model, int pair,
                      const struct sp_profile *prior)
{
    enum { DRAWS = 5, SEEN = 3 };
    size_t *const own = calloc(s->n + 1, sizeof *own), count = 0;
    double *const sum = calloc(s->n + 1, sizeof *sum), *const draws = calloc(s->n + 1, sizeof *sum);
    unsigned state = 12345;
    if (!own || !sum || !draws)
        abort();
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].model == model && s->at[i].sample.stack == pair &&
            s->at[i].sample.measure == SP_MEASURED_TPOT)
            own[count++] = i;
    for (int draw = 0; draw < DRAWS && count >= 2 * SEEN; draw++) {
        struct sp_serving_sample seen[SEEN];
        struct sp_profile after;
        size_t pick[SEEN];
        for (int k = 0; k < SEEN; k++) {
            state = state * 1103515245u + 12345u;
            pick[k] = ((state >> 8) % (count / SEEN)) * SEEN + (size_t)k;
            seen[k] = s->at[own[pick[k]]].sample;
            seen[k].stack = 0;
        }
        sp_fit_serving_pair(seen, SEEN, prior, &after);
        for (size_t i = 0; i < count; i++)
            if (i != pick[0] && i != pick[1] && i != pick[2]) {
                sum[i] += fabs(sp_serving_log_error(&s->at[own[i]].sample, after.value));
                draws[i]++;
            }
    }
    for (size_t i = 0; i < count; i++)
        if (draws[i] > 0)
            s->at[own[i]].error[SP_OUT_THREE] = sum[i] / draws[i];
    free(own);
    free(sum);
    free(draws);
}

/* Fits without a part, and writes the errors of the part. */
static void leave_out(struct sp_serving_study *s, enum sp_left_out how, int part)
{
    struct sp_serving_sample *const samples = calloc(s->n + 1, sizeof *samples);
    struct sp_profile *const fitted = calloc(SP_SERVING_PAIRS, sizeof *fitted);
    size_t n = 0;
    if (!samples || !fitted)
        abort();
    for (size_t i = 0; i < s->n; i++)
        if (!is_in(&s->at[i], how, part))
            samples[n++] = s->at[i].sample;
    sp_fit_serving(samples, n, s->pair, s->pairs, fitted);
    for (size_t i = 0; i < s->n; i++)
        if (part < 0 || is_in(&s->at[i], how, part))
            s->at[i].error[how] =
                sp_serving_log_error(&s->at[i].sample, fitted[s->at[i].sample.stack].value);
    for (int pair = 0; how == SP_OUT_MODEL && pair < s->pairs; pair++)
        see_three(s, part, pair, &fitted[pair]);
    if (part < 0)
        memcpy(s->fitted, fitted, sizeof s->fitted);
    free(samples);
    free(fitted);
}

struct parts {
    struct sp_serving_study *study;
    enum sp_left_out how;
};

static void leave_parts_out(struct sp_share *share, void *context)
{
    const struct parts *const p = context;
    int64_t from, to;
    while (sp_take(share, &from, &to))
        for (int64_t part = from; part < to; part++)
            leave_out(p->study, p->how, (int)part);
}

/* Bytes of the cache and of the weights that a step reads, over the bandwidth. s. */
static double naive_s(const struct sp_serving_run *run)
{
    struct sp_served v;
    sp_prepare_service(&run->service, &v);
    const double B = fmin(run->requests.in_flight, 1e6);
    return (B * v.kv_read + sp_weights_read_bytes(&v, B)) / v.W;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void predict_naively(struct sp_serving_study *s)
{
    double *const ratio = calloc(s->n + 1, sizeof *ratio), *const others =
                                                               calloc(s->n + 1, sizeof *others);
    if (!ratio || !others)
        abort();
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].sample.measure == SP_MEASURED_TPOT)
            ratio[i] =
                s->at[i].sample.run->measured[SP_MEASURED_TPOT] / naive_s(s->at[i].sample.run);
    for (int pair = 0; pair < s->pairs; pair++)
        for (int fold = 0; fold < SP_SERVING_FOLDS; fold++) {
            size_t n = 0;
            for (size_t i = 0; i < s->n; i++)
                if (ratio[i] > 0 && s->at[i].sample.stack == pair && s->at[i].fold != fold)
                    others[n++] = ratio[i];
            qsort(others, n, sizeof *others, ascending);
            for (size_t i = 0; i < s->n && n > 0; i++)
                if (ratio[i] > 0 && s->at[i].sample.stack == pair && s->at[i].fold == fold)
                    s->at[i].error[SP_OUT_NAIVE] = log(others[n / 2] / ratio[i]);
        }
    free(ratio);
    free(others);
}

void sp_open_serving_study(const struct sp_serving_runs *runs, bool all, struct sp_serving_study *s)
{
    *s = (struct sp_serving_study){.all = all};
    s->at = calloc(SP_SERVING_MEASURES * runs->n + 1, sizeof *s->at);
    s->model = calloc(runs->n + 1, sizeof *s->model);
    if (!s->at || !s->model)
        abort();
    collect(runs, s);
    predict_naively(s);
    leave_out(s, SP_OUT_NOTHING, -1);
    sp_parallel(sp_threads(0), SP_SERVING_FOLDS, 1, leave_parts_out,
                &(struct parts){s, SP_OUT_FOLD});
    if (!all)
        return;
    sp_parallel(sp_threads(0), s->models, 1, leave_parts_out, &(struct parts){s, SP_OUT_MODEL});
    sp_parallel(sp_threads(0), s->pairs, 1, leave_parts_out, &(struct parts){s, SP_OUT_PAIR});
}

void sp_close_serving_study(struct sp_serving_study *s)
{
    free(s->at);
    free(s->model);
    *s = (struct sp_serving_study){0};
}
