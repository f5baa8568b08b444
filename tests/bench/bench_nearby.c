/* The cost of looking close by: the time of a whole `search` over that of the search alone, on one
 * core, and over that of the machine before it lost a node. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer/report.h"
#include "cli/command.h"

enum { ROUNDS = 3 };

/* As the search measures itself. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A whole search; *alone_s gets the time of its own space. */
static double search_s(const char *model, const char *hw, const char *batch, double *alone_s)
{
    const char *const line[] = {"search", "--model", model, "--hw",      hw,  "--batch",
                                batch,    "--top",   "1",   "--threads", "1", "--timings"};
    enum { WORDS = sizeof line / sizeof *line };
    char *words[WORDS + 1] = {NULL};
    struct sp_error error = {0};
    struct sp_args *const args = sp_new_args(NULL);
    struct sp_report *const report = sp_report_new("search");
    for (int i = 0; i < WORDS; i++)
        words[i] = strdup(line[i]);
    const double start = now_s();
    if (!sp_compute(sp_find_command("search", &error), WORDS, words, args, report, &error))
        abort();
    const double whole = now_s() - start;
    *alone_s = sp_find(report, "elapsed_s")->number;
    sp_report_free(report);
    free(args);
    for (int i = 0; i < WORDS; i++)
        free(words[i]);
    return whole;
}

static double best_of(const char *model, const char *hw, const char *batch, double *alone_s)
{
    double best = INFINITY;
    *alone_s = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        double alone;
        best = fmin(best, search_s(model, hw, batch, &alone));
        *alone_s = fmin(*alone_s, alone);
    }
    return best;
}

int main(void)
{
    static const struct {
        const char *model, *hw, *batch, *round_hw, *round_batch;
    } problems[] = {
        {"llama3-70b", "h100-512", "1024x8192", "h100-512", "1024x8192"},
        {"llama3-70b", "h100-504", "512x8192", "h100-512", "512x8192"},
        {"llama3-8b", "h100-64", "250x8192", "h100-64", "256x8192"},
        {"llama3-405b", "h100-16376", "2048x8192", "h100-16384", "2048x8192"},
        {"glm-4.5-air", "h100-512", "1000x8192", "h100-512", "1024x8192"},
        {"qwen3-30b-a3b", "h100-120", "512x4096", "h100-128", "512x4096"},
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        double alone, round_alone;
        const double whole = best_of(problems[i].model, problems[i].hw, problems[i].batch, &alone);
        best_of(problems[i].model, problems[i].round_hw, problems[i].round_batch, &round_alone);
        printf("%-14s %-11s %-10s %8.1f ms  x%.2f of its own search  x%.2f of that on %s, %s\n",
               problems[i].model, problems[i].hw, problems[i].batch, 1e3 * whole, whole / alone,
               whole / round_alone, problems[i].round_hw, problems[i].round_batch);
    }
    return 0;
}
