/* Command lines that a test runs, and random draws for them. */
#ifndef SCALEPLAN_TEST_ASKED_H
#define SCALEPLAN_TEST_ASKED_H

#include "check.h"
#include "words.h"

#include "cli/command.h"
#include "cli/plan_options.h"
#include "config/world.h"

static uint64_t drawn = 20;

/* All lines of a test read the built-in configs once. */
static struct sp_world asked_world;

static inline uint64_t draw(uint64_t n)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn % n;
}

/* Between a and b, uniform in the logarithm. */
static inline double spread(double a, double b)
{
    return a * pow(b / a, (double)draw(1000001) / 1e6);
}

/* The options of a line, which point into `copy`. */
static inline void read_line(const char *line, char copy[LINE], struct sp_args *args)
{
    char *words[WORDS];
    struct sp_error error = {0};
    const int n = cut(line, copy, words);
    const struct sp_command *const command = sp_find_command(words[0], &error);
    assert_non_null(command);
    args->world = &asked_world;
    assert_true(sp_parse_command(command, n, words, args, &error));
}

/* The plan of a line, with its inputs. */
static inline void read_plan(const char *line, struct sp_planned *p)
{
    static char copy[LINE];
    static struct sp_args args;
    struct sp_error error = {0};
    read_line(line, copy, &args);
    const struct sp_sources sources = sp_sources_of(&args);
    if (!sp_plan_of(&args, &sources, p, &error))
        fail_msg("%s: %s", line, error.text);
}

/* The answer to a line; NULL with `error` if refused. Texts of an answer depend on its options,
 * which stay in `args`. */
static inline struct sp_report *answer_or(const char *line, struct sp_args *args,
                                          struct sp_error *error)
{
    char copy[LINE], *words[WORDS];
    const int n = cut(line, copy, words);
    const struct sp_command *const command = sp_find_command(words[0], error);
    assert_non_null(command);
    struct sp_report *const report = sp_report_new(command->name);
    args->world = &asked_world;
    if (sp_compute(command, n, words, args, report, error))
        return report;
    sp_report_free(report);
    return NULL;
}

/* The answer to a line; NULL if refused. */
static inline struct sp_report *ask(const char *line)
{
    struct sp_args args;
    struct sp_error error = {0};
    return answer_or(line, &args, &error);
}

/* A value of an answer; accepts NULL. */
static inline double number(const struct sp_report *r, const char *format, int i)
{
    char key[80];
    snprintf(key, sizeof key, format, i);
    const struct sp_entry *const e = r ? sp_find(r, key) : NULL;
    return e && e->kind == SP_VALUE_NUMBER ? e->number : NAN;
}

static inline double ask_for(const char *line, const char *key)
{
    struct sp_report *const r = ask(line);
    const double value = number(r, key, 0);
    sp_report_free(r);
    return value;
}

#endif
