/* Measures the accuracy of serving estimates: fits all stacks to a CSV of runs, leaves out
 * configurations and models in turn, and prints the tables of docs/accuracy.md. With a folder,
 * writes the profiles there. --folds leaves out configurations only, in a seventh of the time.
 * Fails if an error is worse than its gate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundled_profile.h"
#include "serving_study.h"

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The measurements of a line. */
struct choice {
    enum sp_serving_measure measure;
    int experts, pair, model; /* -1: any */
};

static bool is_chosen(const struct sp_serving_measurement *m, const struct choice *c)
{
    return m->sample.measure == c->measure && (c->experts < 0 || m->experts == (c->experts > 0)) &&
           (c->pair < 0 || m->sample.stack == c->pair) && (c->model < 0 || m->model == c->model);
}

/* Mean and median absolute error in per cent, of known errors. */
struct summary {
    double mean, median;
    size_t n;
};

static struct summary summarise(const struct sp_serving_study *s, enum sp_left_out how,
                                struct choice choice)
{
    double *const e = calloc(s->n + 1, sizeof *e);
    struct summary all = {0, 0, 0};
    if (!e)
        abort();
    for (size_t i = 0; i < s->n; i++)
        if (is_chosen(&s->at[i], &choice) && !isnan(s->at[i].error[how])) {
            e[all.n] = 100 * fabs(expm1(s->at[i].error[how]));
            all.mean += e[all.n++];
        }
    qsort(e, all.n, sizeof *e, ascending);
    all.mean = all.n ? all.mean / (double)all.n : NAN;
    all.median = all.n ? e[all.n / 2] : NAN;
    free(e);
    return all;
}

/* Prints a line of goals, "!" for a missed one; returns whether its gate is violated. */
struct gate {
    const char *what;
    enum sp_left_out how;
    struct choice of;
    bool median;
    double asked, held;
};

static int print_gate(const struct sp_serving_study *s, const struct gate *g)
{
    if (!s->all && (g->how == SP_OUT_MODEL || g->how == SP_OUT_PAIR || g->how == SP_OUT_THREE))
        return 0;
    const struct summary e = summarise(s, g->how, g->of);
    const double counts = g->median ? e.median : e.mean;
    printf("%-58s mean %5.1f  median %5.1f  of %4zu", g->what, e.mean, e.median, e.n);
    if (g->asked > 0)
        printf("  asked: %s %4.1f%s", g->median ? "median" : "mean", g->asked,
               counts <= g->asked ? "" : " !");
    printf("\n");
    return g->held > 0 && !(counts <= g->held);
}

/* clang-format off */
static const struct gate gates[] = {
    {"between tokens, naive: bytes over bandwidth, all", SP_OUT_NAIVE, {SP_MEASURED_TPOT, -1, -1, -1}, false, 0, 0},
    {"  dense", SP_OUT_NAIVE, {SP_MEASURED_TPOT, 0, -1, -1}, false, 0, 0},
    {"  experts", SP_OUT_NAIVE, {SP_MEASURED_TPOT, 1, -1, -1}, false, 0, 0},
    {"between tokens, nothing left out, all", SP_OUT_NOTHING, {SP_MEASURED_TPOT, -1, -1, -1}, false, 0, 0},
    {"between tokens, five-fold by configuration, all", SP_OUT_FOLD, {SP_MEASURED_TPOT, -1, -1, -1}, false, 10, 10.5},
    {"  dense", SP_OUT_FOLD, {SP_MEASURED_TPOT, 0, -1, -1}, false, 8.5, 8.5},
    {"  experts", SP_OUT_FOLD, {SP_MEASURED_TPOT, 1, -1, -1}, false, 12, 12.5},
    {"between tokens, its model left out, all", SP_OUT_MODEL, {SP_MEASURED_TPOT, -1, -1, -1}, true, 20, 20},
    {"  dense", SP_OUT_MODEL, {SP_MEASURED_TPOT, 0, -1, -1}, true, 0, 0},
    {"  experts", SP_OUT_MODEL, {SP_MEASURED_TPOT, 1, -1, -1}, true, 0, 0},
    {"  the same after three of its runs on the pair", SP_OUT_THREE, {SP_MEASURED_TPOT, -1, -1, -1}, true, 12, 13},
    {"between tokens, its pair of chip and engine left out", SP_OUT_PAIR, {SP_MEASURED_TPOT, -1, -1, -1}, true, 0, 0},
    {"first token, five-fold by configuration", SP_OUT_FOLD, {SP_MEASURED_TTFT, -1, -1, -1}, true, 18, 19},
    {"first token, its model left out", SP_OUT_MODEL, {SP_MEASURED_TTFT, -1, -1, -1}, true, 0, 0},
    {"maximum throughput, its table left out, dense", SP_OUT_FOLD, {SP_MEASURED_RATE, 0, -1, -1}, true, 12, 14},
    {"maximum throughput, its table left out, experts", SP_OUT_FOLD, {SP_MEASURED_RATE, 1, -1, -1}, true, 25, 27},
};
/* clang-format on */

static void print_parts(const struct sp_serving_study *s)
{
    printf("\n%-20s %25s %25s %25s %17s   mean (median), n\n", "", "tokens: naive", "five-fold",
           "model out", "first, five-fold");
    for (int part = 0; part < s->pairs + s->models; part++) {
        const int pair = part < s->pairs ? part : -1,
                  model = part < s->pairs ? -1 : part - s->pairs;
        const struct choice tpot = {SP_MEASURED_TPOT, -1, pair, model},
                            ttft = {SP_MEASURED_TTFT, -1, pair, model},
                            rate = {SP_MEASURED_RATE, -1, pair, model};
        const struct summary naive = summarise(s, SP_OUT_NAIVE, tpot),
                             fold = summarise(s, SP_OUT_FOLD, tpot),
                             out = summarise(s, SP_OUT_MODEL, tpot),
                             first = summarise(s, SP_OUT_FOLD, ttft),
                             most = summarise(s, SP_OUT_FOLD, rate);
        printf("%-20s", pair >= 0 ? s->pair[pair].name : s->model[model]);
        printf(" %7.1f (%5.1f)", naive.mean, naive.median);
        printf(" %7.1f (%5.1f) %5zu", fold.mean, fold.median, fold.n);
        printf(" %7.1f (%5.1f)", out.mean, out.median);
        printf("  first (%5.1f) %5zu  throughput %5.1f (%5.1f) %4zu\n", first.median, first.n,
               most.mean, most.median, most.n);
    }
}

static bool is_in_range(const struct sp_serving_study *s, const struct sp_serving_measurement *m,
                        enum sp_left_out how)
{
    struct sp_profile known = s->pair[m->sample.stack];
    known.known = how == SP_OUT_PAIR ? SP_KNOWN_SOFTWARE : SP_KNOWN_STACK;
    const enum sp_serve_latency latency =
        m->sample.measure == SP_MEASURED_TTFT ? SP_LATENCY_TTFT : SP_LATENCY_TPOT;
    return fabs(m->error[how]) <=
           sp_serving_range_log(&known, m->sample.run->service.model, latency);
}

/* Compares serving_widths.def with left-out runs; true if a range holds too few or too many. */
static int print_range(const struct sp_serving_study *s, const struct choice *c,
                       enum sp_left_out from, enum sp_left_out to)
{
    double *const e = calloc(2 * s->n + 1, sizeof *e);
    size_t n = 0, held = 0;
    if (!e)
        abort();
    for (size_t i = 0; i < s->n; i++)
        for (int how = (int)from; how <= (int)to && is_chosen(&s->at[i], c); how++) {
            held += is_in_range(s, &s->at[i], (enum sp_left_out)how);
            e[n++] = fabs(s->at[i].error[how]);
        }
    qsort(e, n, sizeof *e, ascending);
    const double share = (double)held / (double)n;
    printf("%-6s %-8s %-24s hold %4.1f %%, width %.3f\n", sp_serving_measure_names[c->measure],
           c->experts ? "experts" : "dense",
           from == SP_OUT_PAIR ? "the engine on other chips" : "the pair", 100 * share,
           e[(size_t)(0.8 * (double)n)]);
    free(e);
    return from != SP_OUT_PAIR && (share < 0.75 || share > 0.85);
}

/* For known stacks, errors with the configuration and with the model left out count equally. */
static int print_ranges(const struct sp_serving_study *s)
{
    int worse = 0;
    printf(
        "\n80 %% ranges: share of left-out runs that they hold, and the width that holds 80 %%\n");
    for (int k = SP_MEASURED_TPOT; k <= SP_MEASURED_TTFT; k++)
        for (int experts = 0; experts < 2; experts++) {
            const struct choice c = {(enum sp_serving_measure)k, experts, -1, -1};
            worse += print_range(s, &c, SP_OUT_FOLD, SP_OUT_MODEL);
            print_range(s, &c, SP_OUT_PAIR, SP_OUT_PAIR);
        }
    return worse;
}

/* Mean number of decoding sequences as measured, by Little's law. */
static double measured_batch(const struct sp_serving_run *run)
{
    const double tpot = run->measured[SP_MEASURED_TPOT], ttft = run->measured[SP_MEASURED_TTFT];
    const double decode = (run->service.output - 1) * tpot;
    return run->requests.in_flight * decode / (decode + (ttft > 0 ? ttft : 0));
}

/* The closed form must be below the measured TPOT. */
static int print_bound(const struct sp_serving_study *s)
{
    size_t n = 0, below = 0;
    double least = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        const struct sp_serving_run *const run = s->at[i].sample.run;
        struct sp_served v;
        if (s->at[i].sample.measure != SP_MEASURED_TPOT)
            continue;
        sp_prepare_service(&run->service, &v);
        const double ratio =
            run->measured[SP_MEASURED_TPOT] / sp_decode_time(&v, measured_batch(run), 1).step_s;
        least = fmin(least, ratio);
        below += ratio >= 1;
        n++;
    }
    printf("\nbound below measured: %zu of %zu, %.2f %% (asked: 99.8), least ratio %.2f\n", below,
           n, 100 * (double)below / (double)n, least);
    return (double)below < 0.998 * (double)n;
}

/* Whether predicted room agrees with runs whose requests did or did not queue. */
static int print_capacity(const struct sp_serving_runs *runs)
{
    size_t n = 0, right = 0, waits = 0, waits_right = 0;
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_serving_run *const run = &runs->run[i];
        if (run->problem[0] || strcmp(run->model_name, "llama3.1-70b") != 0 ||
            !(run->measured[SP_MEASURED_TPOT] > 0))
            continue;
        const double most = sp_room_for_sequences(&run->pass.served);
        const bool is_right = (run->requests.in_flight > most) == run->waits;
        n++;
        right += is_right;
        waits += run->waits;
        waits_right += run->waits && is_right;
    }
    printf("capacity, 70B: right side %zu of %zu rows, %zu of %zu that wait (asked: 90 %%)\n",
           right, n, waits_right, waits);
    return (double)right < 0.9 * (double)n;
}

static void write_profiles(const struct sp_serving_study *s, const char *folder)
{
    for (int k = 0; k < s->pairs; k++) {
        char sources[1024] = "", fitted_to[256];
        const struct choice tpot = {SP_MEASURED_TPOT, -1, k, -1},
                            rate = {SP_MEASURED_RATE, -1, k, -1};
        const struct summary e = summarise(s, SP_OUT_FOLD, tpot),
                             t = summarise(s, SP_OUT_FOLD, rate);
        for (size_t i = 0; i < s->n; i++)
            if (s->at[i].sample.stack == k)
                sp_add_source(sources, sizeof sources, s->at[i].sample.run->source);
        if (e.n > 0)
            snprintf(fitted_to, sizeof fitted_to,
                     "%zu times between tokens and %zu throughputs, with those of the other pairs; "
                     "mean absolute error of the time between tokens %.1f %% for configurations "
                     "left out",
                     e.n, t.n, e.mean);
        else
            snprintf(fitted_to, sizeof fitted_to,
                     "%zu throughputs, with those of the other pairs; mean absolute error %.1f %% "
                     "for tables left out",
                     t.n, t.mean);
        sp_write_bundled_profile(folder, &s->fitted[k], fitted_to, sources);
    }
}

/* A fold leaves out a configuration with all its loads, and for maximum throughputs all of a model
 * on a chip, because neighbouring loads would reveal the answer. */
int main(int argc, char **argv)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_serving_runs runs;
    struct sp_serving_study study;
    const bool folds = argc > 1 && strcmp(argv[1], "--folds") == 0;
    const char *const *const files = (const char *const *)argv + 1 + folds;
    int worse = 0;
    if (!files[0]) {
        fprintf(stderr, "usage: serving_accuracy [--folds] RUNS.csv [FOLDER]\n");
        return 2;
    }
    if (!sp_read_serving_runs(files[0], &sources, &runs, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    sp_open_serving_study(&runs, !folds, &study);
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        worse += print_gate(&study, &gates[i]);
    print_parts(&study);
    worse += (folds ? 0 : print_ranges(&study)) + print_bound(&study) + print_capacity(&runs);
    worse += sp_print_implausible(study.fitted, study.pairs);
    if (files[1])
        write_profiles(&study, files[1]);
    sp_close_serving_study(&study);
    sp_serving_runs_free(&runs);
    return worse > 0;
}
