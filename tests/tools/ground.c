/* The plans of measured runs, as files of configs/ground, and how the error of the estimate grows
 * with the distance between two plans: with their publication left out of the fit, over pairs of
 * runs of one publication, stack, model and number of devices. Exits 1 where it is not
 * SP_ERROR_PER_OCTAVE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/search.h>

#include "host/write_file.h"
#include "study.h"

/* Pairs of one publication at a distance: the mean square of the difference of their errors. */
enum { MOST_OCTAVES = 8, MOST_PUBLICATIONS = 256, FEWEST_PAIRS = 3, MOST_WEIGHT = 30 };
struct cell {
    double sum, pairs;
};

static bool are_a_series(const struct sp_measured *a, const struct sp_measured *b)
{
    return !a->odd && !b->odd && a->group != b->group && a->publication == b->publication &&
           a->stack == b->stack && a->model == b->model &&
           sp_chips(&a->run->hw) == sp_chips(&b->run->hw);
}

static struct sp_place place_of(const struct sp_measured *m)
{
    return sp_place_of(&m->run->model, &m->run->hw, &m->run->plan);
}

/* -2 ln(likelihood) of the cells, but for a constant, for variances a^2 + (s octaves)^2. */
static double badness(struct cell cells[][MOST_OCTAVES + 1], int publications, double a, double s)
{
    double sum = 0;
    for (int p = 0; p < publications; p++)
        for (int d = 0; d <= MOST_OCTAVES; d++) {
            const struct cell *const c = &cells[p][d];
            const double variance = a * a + s * s * d * d;
            if (c->pairs >= FEWEST_PAIRS)
                sum += fmin(c->pairs, MOST_WEIGHT) * (log(variance) + c->sum / c->pairs / variance);
        }
    return sum;
}

/* The growth per octave that makes the cells most likely. */
static double growth_of(struct cell cells[][MOST_OCTAVES + 1], int publications)
{
    double best = 0, least = INFINITY;
    for (int a = 1; a < 60; a++)
        for (int s = 0; s < 100; s++) {
            const double bad = badness(cells, publications, a / 400.0, s / 1000.0);
            if (bad < least) {
                least = bad;
                best = s / 1000.0;
            }
        }
    return best;
}

static double measure_growth(const struct sp_study *study)
{
    static struct cell cells[MOST_PUBLICATIONS][MOST_OCTAVES + 1];
    double *const errors = calloc(study->n + 1, sizeof *errors);
    if (!errors || study->publications > MOST_PUBLICATIONS)
        abort();
    sp_cross_validate(study, sp_publication_of, study->publications, false, errors, NULL, NULL);
    for (size_t i = 0; i < study->n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct sp_measured *const a = &study->measured[i], *const b = &study->measured[k];
            const struct sp_place one = place_of(a), other = place_of(b);
            const double octaves = round(sp_octaves_between(&one, &other));
            if (!are_a_series(a, b) || octaves > MOST_OCTAVES)
                continue;
            struct cell *const c = &cells[a->publication][(int)octaves];
            c->sum += pow(errors[i] - errors[k], 2);
            c->pairs++;
        }
    free(errors);
    return growth_of(cells, study->publications);
}

static int in_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* A plan counts as run whatever its source omits of the measurement. */
static bool was_run_on(const struct sp_run *run, enum sp_network_kind network)
{
    return run->problem[0] == '\0' && run->hw.network.kind == (int)network;
}

static void put_place(const struct sp_run *run, char *line, size_t size)
{
    const struct sp_plan *const p = &run->plan;
    snprintf(line, size, "%lld %lld %lld %lld %.10g %.10g %lld", (long long)p->tp, (long long)p->pp,
             (long long)p->cp, (long long)p->micro_batch,
             (double)p->micro_batch * (double)p->seq / (double)p->cp,
             (double)run->model.moe.experts / (double)p->ep,
             (long long)(run->hw.network.kind == SP_TORUS ? p->tp : run->hw.network.domain));
}

/* The distinct places of runs on one kind of network, as a file. */
static void write_ground(const struct sp_runs *files, int n_files, enum sp_network_kind network,
                         const char *name, const char *folder)
{
    enum { LINE = 96 };
    size_t all = 1;
    for (int f = 0; f < n_files; f++)
        all += files[f].n;
    char(*const lines)[LINE] = calloc(all, sizeof *lines), path[4096], *text = NULL;
    size_t n = 0, length = 0;
    if (!lines)
        abort();
    for (int f = 0; f < n_files; f++)
        for (size_t i = 0; i < files[f].n; i++)
            if (was_run_on(&files[f].run[i], network))
                put_place(&files[f].run[i], lines[n++], LINE);
    qsort(lines, n, sizeof *lines, in_order);
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        abort();
    fprintf(out,
            "{\n  \"$schema\": \"../schema/ground.json\",\n  \"name\": \"%s\",\n  \"network\": "
            "\"%s\",\n"
            "  \"places\": [",
            name, network == SP_TORUS ? "torus" : "switched");
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
            fprintf(out, "%s\n    \"%s\"", i ? "," : "", lines[i]);
    fprintf(out, "\n  ],\n  \"source\": \"the runs of tests/data/runs.csv and runs-new.csv, each "
                 "with its source there; "
                 "written by tests/tools/ground.c\"\n}\n");
    fclose(out);
    struct sp_error error = {0};
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    if (!sp_write_file(path, text, strlen(text), &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    free(text);
    free(lines);
}

int main(int argc, char **argv)
{
    enum { MOST_FILES = 4 };
    struct sp_runs files[MOST_FILES];
    struct sp_study study;
    struct sp_error error = {0};
    const struct sp_sources sources = {0};
    const char *folder = NULL;
    int n = 0;
    for (int i = 1; i < argc && n < MOST_FILES; i++) {
        const size_t length = strlen(argv[i]);
        if (length < 4 || strcmp(argv[i] + length - 4, ".csv") != 0)
            folder = argv[i];
        else if (!sp_read_runs(argv[i], &sources, &files[n++], &error))
            break;
    }
    if (n == 0 || error.lines > 0) {
        fprintf(stderr, "usage: ground RUNS.csv [MORE.csv ...] [FOLDER]\n%s\n", error.text);
        return 2;
    }
    sp_open_study(&files[0], &study);
    if (folder) {
        write_ground(files, n, SP_SWITCHED, "gpu", folder);
        write_ground(files, n, SP_TORUS, "tpu", folder);
    }
    const double growth = measure_growth(&study);
    printf("the error of a step grows by %.3f of its logarithm per octave; %.3f is used\n", growth,
           SP_ERROR_PER_OCTAVE);
    sp_close_study(&study);
    for (int i = 0; i < n; i++)
        sp_runs_free(&files[i]);
    /* the fit of the profiles may change it by a little without another figure in the program */
    return fabs(growth - SP_ERROR_PER_OCTAVE) < 0.01 ? 0 : 1;
}
