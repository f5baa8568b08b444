/* The time of `need` over all figures of a machine, as a ratio to the line beside it that answers
 * the goal once: `step`, `serve`, or with --replan `search`. Medians of rounds that take turns, so
 * that other work on the machine counts little. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit/words.h"
#include "cli/command.h"

enum { MOST_ROUNDS = 41 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of a line's answer; negative where it is refused. */
static double time_of(const char *line)
{
    char copy[LINE], *words[WORDS];
    struct sp_args args;
    struct sp_error error = {0};
    args.world = NULL;
    const int n = cut(line, copy, words);
    const double start = now_s();
    const struct sp_command *const command = sp_find_command(words[0], &error);
    struct sp_report *const report = command ? sp_report_new(command->name) : NULL;
    const bool answered = report && sp_compute(command, n, words, &args, report, &error);
    sp_report_free(report);
    if (!answered)
        fprintf(stderr, "%s: %s\n", line, error.text);
    return answered ? now_s() - start : -1;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, rising);
    return values[n / 2];
}

#define SERVED "--model llama3-70b --hw h100-8 --tp 8 --input 1024 --output 256 --concurrency 16"
#define TRAINED "--model llama3-70b --hw h100-256 --batch 512x8192"
#define PLAN TRAINED " --tp 4 --pp 4"

int main(void)
{
    static const struct {
        const char *once, *need;
        int rounds;
    } rows[] = {
        {"serve " SERVED, "need " SERVED " --for tpot=13ms", 41},
        {"serve " SERVED, "need " SERVED " --for ttft=50ms", 41},
        {"serve " SERVED, "need " SERVED " --for served-tokens-per-s=5000", 41},
        {"step " PLAN, "need " PLAN " --for step=8s", 41},
        {"step " PLAN, "need " PLAN " --for fits", 41},
        {"fit " TRAINED, "need " TRAINED " --for compute-bound", 41},
        {"search " TRAINED " --top 1", "need " TRAINED " --for step=8s --replan", 5},
        {"search " TRAINED " --top 1", "need " TRAINED " --for mfu=50% --replan", 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double once[MOST_ROUNDS], need[MOST_ROUNDS];
        for (int r = 0; r < rows[i].rounds; r++) {
            once[r] = time_of(rows[i].once);
            need[r] = time_of(rows[i].need);
            if (once[r] < 0 || need[r] < 0)
                return 2;
        }
        const double a = median(once, rows[i].rounds), b = median(need, rows[i].rounds);
        printf("%7.1f times %8.2f ms = %8.2f ms  %s\n", b / a, 1e3 * a, 1e3 * b, rows[i].need);
    }
    return 0;
}
