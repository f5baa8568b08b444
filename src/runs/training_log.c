/* Reads training logs by the words of configs/logs. */
#include "runs/training_log.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/read_file.h"
#include "base/text.h"
#include "config/world.h"

enum { MOST_BYTES = 64 << 20, FEWEST_STEPS = 3 };

/* Steps before the first that is within this share of the later ones' median are warm-up:
 * compilation, caches and autotuning make them 1.5 to 100 times longer, and steps of a quiet
 * machine scatter by 1 to 2 %. */
#define SETTLED 0.05

/* The times of steps, in the order of the log. */
struct steps {
    double *s;
    size_t n, room;
};

static void add_step(struct steps *steps, double s)
{
    steps->s = sp_grow(steps->s, steps->n + 1, &steps->room, sizeof *steps->s);
    steps->s[steps->n++] = s;
}

/* The number at `at`, "7,123" and "10/100" included (the first); NAN: none. */
static double number_at(const char *at)
{
    char digits[64];
    size_t n = 0;
    for (; *at && n + 1 < sizeof digits; at++)
        if (isdigit((unsigned char)*at) || *at == '.' ||
            (n > 0 && strchr("eE", *at) &&
             (isdigit((unsigned char)at[1]) || strchr("+-", at[1]))) ||
            (n > 0 && strchr("eE", at[-1]) && strchr("+-", *at)))
            digits[n++] = *at;
        else if (*at != ',' || n == 0 || !isdigit((unsigned char)at[1]))
            break;
    digits[n] = '\0';
    char *end;
    const double value = strtod(digits, &end);
    return n > 0 && *end == '\0' && isfinite(value) ? value : NAN;
}

/* The number after one of `keys` in a line, or NAN. A key is a separate word: "step" is not in
 * "global_step". */
static double number_after(const char *line, const char *keys)
{
    char key[64];
    while (keys && keys[0] && sp_next_item(&keys, key, sizeof key)) {
        const char *const word = key + strspn(key, " ");
        for (const char *at = line; *word && (at = strstr(at, word)) != NULL; at++) {
            const char *const behind = at + strlen(word);
            if ((at == line || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) &&
                strchr(" :=", *behind)) {
                const double value = number_at(behind + strspn(behind, " :="));
                if (!isnan(value))
                    return value;
            }
        }
    }
    return NAN;
}

/* Removes the escape sequences that colour a terminal. */
static void remove_colours(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        if (from[0] == '\033' && from[1] == '[') {
            from += 2 + strspn(from + 2, "0123456789;");
            if (!*from)
                break;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* The time of the step that a line prints; NAN: it prints none. */
static double step_of(const char *line, const struct sp_log_words *words,
                      const struct sp_logged_run *run)
{
    if (isnan(number_after(line, words->iteration)))
        return NAN;
    const double time = number_after(line, words->step_time) * words->time_unit_s;
    const double rate = number_after(line, words->device_rate);
    const double step = isnan(time) ? run->tokens / (rate * run->devices) : time;
    return step > 0 && isfinite(step) ? step : NAN;
}

/* Keeps the larger memory; the allocator's memory takes precedence over that of tensors. */
static void take_memory(const char *line, const struct sp_log_words *words,
                        struct sp_training_log *log)
{
    const double reserved = number_after(line, words->reserved) * words->memory_unit_bytes;
    const double live = number_after(line, words->allocated) * words->memory_unit_bytes;
    const enum sp_memory_level level = isnan(reserved) ? SP_LIVE : SP_RESERVED;
    const double bytes = isnan(reserved) ? live : reserved;
    if (!isfinite(bytes) || (level == SP_LIVE && log->level == SP_RESERVED))
        return;
    log->memory_bytes = log->level == level ? fmax(log->memory_bytes, bytes) : bytes;
    log->level = level;
}

static void take_line(const char *line, const struct sp_log_words *words,
                      const struct sp_logged_run *run, struct steps *steps,
                      struct sp_training_log *log)
{
    take_memory(line, words, log);
    const double step = step_of(line, words, run);
    if (isnan(step))
        return;
    log->lines++;
    const double batch = number_after(line, words->batch);
    if (!isnan(batch) && batch != run->batch)
        log->others++;
    else
        add_step(steps, step);
}

/* The names of all dialects, for the loop over them. */
struct dialects {
    char name[64][64];
    int n;
};

static void add_dialect(const char *name, void *context)
{
    struct dialects *const list = context;
    if (list->n < (int)(sizeof list->name / sizeof *list->name))
        snprintf(list->name[list->n++], sizeof *list->name, "%s", name);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile `at` of sorted values, by linear interpolation. */
static double quantile(const double *sorted, size_t n, double at)
{
    const double place = at * (double)(n - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* Leaves the warm-up out, and summarises the rest. */
static void sum_up(struct steps *steps, struct sp_training_log *log)
{
    const size_t n = steps->n, half = n / 2;
    double *const sorted = sp_must(malloc((n + 1) * sizeof *sorted));
    memcpy(sorted, steps->s + half, (n - half) * sizeof *sorted);
    qsort(sorted, n - half, sizeof *sorted, ascending);
    const double settled = (1 + SETTLED) * quantile(sorted, n - half, 0.5);
    while (log->warm_up < half && steps->s[log->warm_up] > settled)
        log->warm_up++;
    const size_t left = n - log->warm_up;
    memcpy(sorted, steps->s + log->warm_up, left * sizeof *sorted);
    qsort(sorted, left, sizeof *sorted, ascending);
    log->step_s = quantile(sorted, left, 0.5);
    log->low_s = quantile(sorted, left, 0.1);
    log->high_s = quantile(sorted, left, 0.9);
    free(sorted);
}

/* Reads the text in one dialect. */
static void read_text(const char *text, const struct sp_log_words *words,
                      const struct sp_logged_run *run, struct steps *steps,
                      struct sp_training_log *log)
{
    char *const line = sp_must(malloc(strlen(text) + 1)); /* no line is longer */
    *log = (struct sp_training_log){.memory_bytes = NAN, .level = SP_NO_LEVEL};
    snprintf(log->dialect, sizeof log->dialect, "%s", words->name);
    steps->n = 0;
    while (*text) { /* a progress bar ends its lines with a carriage return */
        const size_t n = strcspn(text, "\r\n");
        memcpy(line, text, n);
        line[n] = '\0';
        remove_colours(line);
        take_line(line, words, run, steps, log);
        text += n + (text[n] != '\0');
    }
    free(line);
}

/* The dialect with the most steps in the text. */
static bool find_dialect(const char *text, const char *origin, const struct sp_sources *sources,
                         const struct sp_logged_run *run, struct steps *steps,
                         struct sp_log_words *found, struct sp_error *error)
{
    struct dialects list = {.n = 0};
    char names[512] = "";
    size_t most = 0;
    sp_each_config(SP_LOGS, sources, add_dialect, &list);
    for (int i = 0; i < list.n; i++) {
        struct sp_training_log log;
        struct sp_log_words words;
        if (!sp_load_log_words(list.name[i], sources, &words, error))
            return false;
        read_text(text, &words, run, steps, &log);
        if (log.lines > most)
            *found = words;
        most = log.lines > most ? log.lines : most;
        sp_append(names, sizeof names, "%s%s", i ? ", " : "", list.name[i]);
    }
    return most > 0 || sp_fail(error, SP_INPUT, "%s: no training steps (supported: logs of %s)",
                               sp_safe(origin), names);
}

static bool check(const char *origin, const struct sp_logged_run *run,
                  const struct sp_training_log *log, size_t steps, struct sp_error *error)
{
    if (log->others == log->lines)
        return sp_fail(error, SP_INPUT,
                       "%s: the batch of all %zu steps differs from the plan's %.0f sequences",
                       sp_safe(origin), log->lines, run->batch);
    return steps >= FEWEST_STEPS ||
           sp_fail(error, SP_INPUT, "%s: %zu steps with the plan's batch; at least %d are needed",
                   sp_safe(origin), steps, FEWEST_STEPS);
}

bool sp_read_training_log(const char *path, const struct sp_sources *sources,
                          const struct sp_logged_run *run, struct sp_training_log *log,
                          struct sp_error *error)
{
    size_t length;
    struct steps steps = {.n = 0};
    struct sp_log_words words;
    const char *const origin = strcmp(path, "-") == 0 ? "standard input" : path;
    char *const text = sp_read_file(sp_pipes_of(sources->world), path, MOST_BYTES, &length, error);
    if (!text)
        return false;
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] ? text[i] : ' ';
    bool ok = find_dialect(text, origin, sources, run, &steps, &words, error);
    if (ok) {
        read_text(text, &words, run, &steps, log);
        ok = check(origin, run, log, steps.n, error);
    }
    if (ok && steps.s) /* without steps it is not ok */
        sum_up(&steps, log);
    free(steps.s);
    free(text);
    return ok;
}

struct sp_run sp_run_of_log(const struct sp_planned *planned, const struct sp_training_log *log,
                            const char *path)
{
    struct sp_run run = {
        .model = planned->model,
        .hw = planned->hw,
        .devices_per_node = sp_chips_per_host(&planned->hw.network),
        .plan = planned->plan,
        .precision = planned->precision,
        .framework = planned->framework,
        .recompute_stated = true, /* the plan is the launch's */
        .step_s = log->step_s,
        .memory_bytes = log->memory_bytes,
        .level = log->level,
        .stage = -1, /* the largest of all ranks that print theirs */
        .scored = true,
    };
    const char *const slash = strrchr(path, '/');
    snprintf(run.id, sizeof run.id, "%s", slash ? slash + 1 : path);
    snprintf(run.group, sizeof run.group, "log %.59s", run.id);
    snprintf(run.hardware, sizeof run.hardware, "%s", planned->hw.name);
    snprintf(run.model_name, sizeof run.model_name, "%s", planned->model.name);
    snprintf(run.chip, sizeof run.chip, "%s", planned->hw.name);
    snprintf(run.family, sizeof run.family, "%s",
             planned->hw.family[0] ? planned->hw.family : planned->hw.name);
    return run;
}
