/* Lines of `step -` with one requested key, per second on one core, as a ratio to the unavoidable
 * work: reading the same lines by cJSON and printing a number, and that with the estimates of the
 * plans. Llama 3 70B on 256 H100. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "cli/lines.h"
#include "cli/plan_options.h"
#include "config/world.h"

enum { LINES = 20000, ROUNDS = 5, LONGEST = 80 };

static char lines[LINES][LONGEST];

/* Processor time, so that other work on the machine counts little. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_lines(FILE *to)
{
    for (int i = 0; i < LINES; i++) {
        snprintf(lines[i], LONGEST, "{\"tp\": %d, \"pp\": %d, \"micro-batch\": %d}", 1 << (i & 3),
                 1 << (i >> 2 & 3), 1 << (i >> 4 & 1));
        fprintf(to, "%s\n", lines[i]);
    }
    rewind(to);
}

static void read_alone(FILE *out)
{
    for (int i = 0; i < LINES; i++) {
        cJSON *const line = cJSON_Parse(lines[i]);
        char number[40];
        sp_format_double(1 / (double)(i + 3), number, sizeof number);
        fprintf(out, "{\"time\":{\"step_s\":%s}}\n", number);
        cJSON_Delete(line);
    }
}

#define PROBLEM "--model", "llama3-70b", "--hw", "h100-256", "--batch", "512x8192"

/* The plans of the lines, from options that are loaded once. */
static void estimate_alone(FILE *out)
{
    char *words[] = {"step", PROBLEM, NULL};
    struct sp_error error = {0};
    struct sp_world world = {0};
    struct sp_args *const args = sp_new_args(&world);
    static struct sp_planned planned;
    static struct sp_estimate estimate;
    const struct sp_command *const step = sp_find_command("step", &error);
    sp_parse_command(step, 7, words, args, &error);
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_plan_of(args, &sources, &planned, &error))
        abort();
    for (int i = 0; i < LINES; i++) {
        struct sp_plan *const p = &planned.plan;
        p->tp = 1 << (i & 3);
        p->pp = 1 << (i >> 2 & 3);
        p->micro_batch = 1 << (i >> 4 & 1);
        p->dp = p->shards = 256 / p->tp / p->pp;
        sp_estimate_planned(&planned, SP_FLOPS_6P, 0, &estimate);
        fprintf(out, "%d\n", estimate.time.step > 0);
    }
    free(args);
    sp_free_world(&world);
}

static void answer(FILE *out)
{
    char *words[] = {"step", "-", PROBLEM, "--get", "time.step_s", NULL};
    struct sp_error error = {0};
    struct sp_world world = {0};
    rewind(stdin);
    const struct sp_output to = {.out = out, .notes = stderr};
    sp_answer_lines(10, words, &world, &to, &error);
    sp_free_world(&world);
    if (error.lines > 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

static double best_of(void (*run)(FILE *out), FILE *out)
{
    double best = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        const double start = now_s();
        run(out);
        best = fmin(best, now_s() - start);
    }
    return best;
}

int main(void)
{
    FILE *const out = fopen("/dev/null", "w"), *const in = tmpfile();
    if (!out || !in)
        return 1;
    write_lines(in);
    stdin = in;
    const double parsed = best_of(read_alone, out), estimated = best_of(estimate_alone, out);
    const double answered = best_of(answer, out), least = parsed + estimated;
    printf("%d lines of `step - --get time.step_s`: %.0f lines/s on one core\n", LINES,
           LINES / answered);
    printf("  JSON in, a number out    %6.2f us a line  x%.2f of an answer\n", 1e6 * parsed / LINES,
           parsed / answered);
    printf("  the estimate             %6.2f us a line  x%.2f\n", 1e6 * estimated / LINES,
           estimated / answered);
    printf("  the whole answer         %6.2f us a line  x%.2f of both\n", 1e6 * answered / LINES,
           answered / least);
    return 0;
}
