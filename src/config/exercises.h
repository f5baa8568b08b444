/*
 * Exercise cases as data: a command line and the values it must give.
 *
 *   [{"id": "roof-02", "question": "...", "args": ["roofline", "--hw", "v5e", ...],
 *     "expect": {"intensity": 240.2}, "rel_tol": 0.001, "source": "...", "note": "..."}]
 *
 * id          names the case; no two of a file are alike. Variants of one: "roof-01:h100".
 * args        the words after `scaleplan`
 * expect      key to number (SI base units), true, false, text or null
 * rel_tol     largest relative difference of a number; 0 (or left out) allows rounding alone
 * why         optional up to 2 %: what makes the numbers differ by so much
 * section     optional: begins a section of the document that the file goes through, in its order
 * printed     optional: values as the source prints them, rounded, or in words
 * differs     why some of them differ from `expect`, or why the source has what is refused
 * draw        optional: numbers and names of `question` and `args` to what `check --random` may put
 *             there: words between blanks, whole numbers "2..64", "1..16M", powers "256..8192*2"
 * exit, error optional: the command must be refused with that exit code, and say that
 */
#ifndef SP_EXERCISES_H
#define SP_EXERCISES_H

#include <stddef.h>

#include "base/json.h"

enum { SP_CASE_MAX_ARGS = 64, SP_CASE_MAX_VALUES = 64, SP_CASE_MAX_DRAWS = 8 };

enum sp_case_kind { SP_CASE_NULL, SP_CASE_BOOL, SP_CASE_NUMBER, SP_CASE_TEXT };

/* A value of "expect" or "printed". */
struct sp_case_value {
    const char *key;
    enum sp_case_kind kind;
    double number;
    const char *text;
};

/* One case; its strings belong to the file. Text that is not given is "". */
struct sp_case {
    const char *id, *section, *question, *source, *note, *why, *differs;
    const char *args[SP_CASE_MAX_ARGS];
    struct sp_case_value expect[SP_CASE_MAX_VALUES], printed[SP_CASE_MAX_VALUES];
    struct sp_case_value draw[SP_CASE_MAX_DRAWS];
    int n_args, n_expect, n_printed, n_draw;
    double rel_tol;
    int exit;          /* 0: the command must answer */
    const char *error; /* part of the refusal; "" for any */
};

struct sp_cases {
    struct sp_json json;
    char *text;
    int n;
};

enum sp_case_type {
    SP_CASE_IS_TEXT,
    SP_CASE_IS_WORDS,
    SP_CASE_IS_VALUES,
    SP_CASE_IS_REAL,
    SP_CASE_IS_WHOLE
};

/* The members of a case. */
struct sp_case_member {
    const char *key;
    enum sp_case_type type;
    bool required;
    double min, max;
    const char *help;
};
extern const struct sp_case_member sp_case_members[];
extern const size_t sp_n_case_members;

/* Where `word` appears by itself in `text`, from `from` on: "8" in "8x4096" and "h100-8", not in
 * "18", "8.5" or "8B"; NULL: nowhere. */
const char *sp_find_drawn(const char *text, const char *from, const char *word);

/* Reads a file of cases ("-": standard input) and checks all of it; each fault is a line with its
 * place. */
struct sp_pipes;
bool sp_open_cases(struct sp_pipes *pipes, const char *path, struct sp_cases *cases,
                   struct sp_error *error);

/* Cases that a test has found right, in a text that outlives them. */
bool sp_known_cases(const char *text, size_t length, struct sp_cases *cases,
                    struct sp_error *error);
void sp_close_cases(struct sp_cases *cases);

/* Case i of a file that sp_open_cases has checked. */
void sp_case_at(const struct sp_cases *cases, int i, struct sp_case *c);

/* Whether two numbers are equal within a relative tolerance of the expected one; a tolerance of 0
 * leaves 1e-12 for rounding. */
bool sp_case_is_close(double actual, double expected, double rel_tol);

/* The relative difference from the expected number; 0 where both are 0 or infinite. */
double sp_case_off(double actual, double expected);

/* Whether a value is as expected, of the same kind and numbers within the tolerance. */
bool sp_case_matches(const struct sp_case_value *expected, const struct sp_case_value *actual,
                     double rel_tol);

#endif
