/* check: exercise cases as data, run in this process and compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/exercises.h"
#include "config/world.h"
#include "base/list.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/exercise_book.h"

enum { MOST_ROWS = 4000 }; /* expected values */

static const struct sp_taken options[] = {
    SP_TAKE(example),
    SP_TAKE(cases, .alias = "only"),
    SP_TAKE(book),
};

/* What a run over files keeps. */
struct check {
    struct sp_report *report;
    struct sp_world *world;
    struct sp_book book;
    bool writes_book, any_error;
    const char *only;
    struct sp_nearest nearest; /* to --only, when nothing matches */
    int passed, failed, n_rows;
};

/* What the command of a case answered. */
struct outcome {
    struct sp_report *report;
    struct sp_error error;
    bool answered;
};

extern const struct sp_command sp_cmd_check;

/* A case runs in this process, so that a file of cases starts the program only once. */
static struct outcome run_case(const struct sp_case *c, struct sp_world *world)
{
    struct sp_args *const args = sp_new_args(world);
    char *argv[SP_CASE_MAX_ARGS + 1] = {0};
    struct outcome got = {.report = sp_report_new(c->args[0])};
    for (int i = 0; i < c->n_args; i++)
        argv[i] = (char *)c->args[i];
    const struct sp_command *command = sp_find_command(c->args[0], &got.error);
    if (command == &sp_cmd_check)
        sp_fail(&got.error, SP_USAGE, "check does not run inside a case");
    else if (command)
        got.answered = sp_compute(command, c->n_args, argv, args, got.report, &got.error);
    free(args);
    if (got.answered && sp_report_size(got.report) == 0)
        got.answered = sp_fail(&got.error, SP_USAGE, "the command answers nothing");
    return got;
}

/* An expected value beside the program's. */
struct check_row {
    const char *file, *key, *error; /* the latter "" where there is none */
    const struct sp_case *of;
    struct sp_case_value expected;
    bool pass;
    enum { OF_NONE, OF_CODE, OF_TEXT } refusal; /* whose exit code or text is expected */
    int code;
    const struct sp_report *from;
    const struct sp_entry *actual; /* of that report, or NULL */
    double off;
};

static void put_actual(struct sp_report *r, const struct check_row *s)
{
    sp_put_copy(r, "actual", s->from, s->actual);
}

#define SP_PART check_row
#define SP_PART_OF struct check_row
#include "answer/put_rows.h"

#define SP_PART check
#define SP_PART_OF struct check
#include "answer/put_rows.h"

static bool add_row(struct check *check, const struct check_row *row)
{
    sp_begin_row(check->report, "", "cases.%d", check->n_rows++);
    put_check_row_rows(check->report, row);
    return row->pass;
}

enum { LONGEST_REASON = 320 };

/* Why an answer is no value to compare with: a mistyped key, or another type; else "". */
static void mismatch(const struct sp_report *report, const struct sp_case_value *expected,
                     const struct sp_entry *actual, char text[LONGEST_REASON])
{
    static const char *const wanted[] = {
        [SP_CASE_NULL] = "null",
        [SP_CASE_BOOL] = "true or false",
        [SP_CASE_NUMBER] = "a number",
        [SP_CASE_TEXT] = "text",
    };
    struct sp_nearest nearest = {.wanted = expected->key};
    text[0] = '\0';
    if (actual && sp_value_of_entry(actual).kind == expected->kind)
        return;
    if (actual) {
        snprintf(text, LONGEST_REASON, "the case expects %s", wanted[expected->kind]);
        return;
    }
    for (size_t i = 0; i < sp_report_size(report); i++)
        sp_nearest_offer(&nearest, sp_report_entry(report, i)->path);
    snprintf(text, LONGEST_REASON, "unknown key%s", sp_nearest_hint(&nearest));
}

/* One expected value; true when it is right. */
static bool compare(struct check *check, const char *file, const struct sp_case *c,
                    const struct sp_case_value *expected, const struct outcome *got)
{
    const struct sp_entry *actual = got->answered ? sp_find(got->report, expected->key) : NULL;
    const bool numbers =
        actual && actual->kind == SP_VALUE_NUMBER && expected->kind == SP_CASE_NUMBER;
    const struct sp_case_value value =
        actual ? sp_value_of_entry(actual) : (struct sp_case_value){0};
    char reason[LONGEST_REASON];
    if (got->answered)
        mismatch(got->report, expected, actual, reason);
    const struct check_row row = {
        .file = file,
        .key = expected->key,
        .error = got->answered ? reason : got->error.text,
        .of = c,
        .expected = *expected,
        .pass = actual && sp_case_matches(expected, &value, c->rel_tol),
        .from = got->report,
        .actual = actual,
        .off = numbers ? sp_case_off(actual->number, expected->number) : NAN,
    };
    check->any_error = check->any_error || *row.error;
    return add_row(check, &row);
}

/* A case that expects a refusal; true when it was refused so. */
static bool compare_refusal(struct check *check, const char *file, const struct sp_case *c,
                            const struct outcome *got)
{
    const int code = got->answered ? SP_OK : (int)got->error.code;
    struct check_row row = {.file = file,
                            .key = "exit",
                            .of = c,
                            .expected = {.kind = SP_CASE_NUMBER, .number = c->exit},
                            .pass = code == c->exit,
                            .refusal = OF_CODE,
                            .code = code};
    const bool right_code = add_row(check, &row);
    if (!*c->error)
        return right_code;
    row.key = "error";
    row.error = got->error.text;
    row.expected = (struct sp_case_value){.kind = SP_CASE_TEXT, .text = c->error};
    row.pass = strstr(got->error.text, c->error) != NULL;
    row.refusal = OF_TEXT;
    return add_row(check, &row) && right_code;
}

static bool check_case(struct check *check, const char *file, const struct sp_case *c,
                       struct sp_error *error)
{
    if (check->n_rows + c->n_expect + 2 > MOST_ROWS)
        return sp_fail(error, SP_INPUT, "more than %d expected values; split the files", MOST_ROWS);
    struct outcome got = run_case(c, check->world);
    bool pass = true;
    if (c->exit)
        pass = compare_refusal(check, file, c, &got);
    for (int i = 0; i < c->n_expect; i++)
        pass = compare(check, file, c, &c->expect[i], &got) && pass;
    *(pass ? &check->passed : &check->failed) += 1;
    if (check->writes_book)
        sp_book_case(&check->book, c, got.report, got.answered ? "" : got.error.text);
    sp_report_free(got.report);
    return true;
}

static bool check_file(struct check *check, const char *file, struct sp_error *error)
{
    struct sp_cases cases;
    bool ok = true, any = false;
    if (!sp_open_cases(sp_pipes_of(check->world), file, &cases, error))
        return false;
    struct sp_case *const c = malloc(sizeof *c);
    if (!c)
        abort();
    for (int i = 0; i < cases.n && ok; i++) {
        sp_case_at(&cases, i, c);
        /* "roof-01" stands for "roof-01:h100" too */
        if (check->only && !sp_is_listed(check->only, c->id, ':')) {
            sp_nearest_offer(&check->nearest, c->id);
            continue;
        }
        if (check->writes_book && !any)
            sp_book_chapter(&check->book, file);
        any = true;
        ok = check_case(check, file, c, error);
    }
    free(c);
    sp_close_cases(&cases);
    return ok;
}

static bool run_files(const struct sp_args *args, struct check *check, struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; i < args->n_operands; i++)
        ok = check_file(check, args->operands[i], error) && ok;
    if (ok && check->only && check->n_rows == 0)
        return sp_fail(error, SP_INPUT, "--only: no case \"%s\"%s", sp_safe(check->only),
                       sp_nearest_hint(&check->nearest));
    return ok;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    if (args->given.example)
        return sp_file_text(report, sp_example_cases), true;
    struct check check = {
        .report = report,
        .world = args->world,
        .writes_book = args->given.book,
        .only = args->value.cases,
        .nearest = {.wanted = args->value.cases},
    };
    if (args->n_operands == 0)
        return sp_fail(error, SP_USAGE, "a file of cases is needed: scaleplan check FILE...");
    if (check.writes_book && !sp_book_open(&check.book))
        return sp_fail(error, SP_INTERNAL, "out of memory");
    const bool ok = run_files(args, &check, error);
    sp_scope(report, "");
    put_check_rows(report, &check);
    if (check.writes_book)
        sp_book_close(&check.book, report);
    return ok;
}

static const struct sp_example examples[] = {
    {"check cases.json", "a table of pass and fail with both values"},
    {"check cases.json --cases roof-01 --explain", "how the answers follow"},
    {"check *.json --get passed,failed", "two bare numbers for a script"},
    {"check *.json --book > exercises.md", "the cases as a page to read"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_check = {
    .name = "check",
    .summary = "exercise cases: expected values against the program's own",
    .operands = "FILE...",
    .about =
        "Runs cases and compares. A file is a JSON array of objects: \"id\", \"question\", "
        "\"args\" (the words after scaleplan), \"expect\" (keys to values in base units; numbers, "
        "text, true, false, null), \"rel_tol\" (largest relative difference; 0 or none: equal up "
        "to rounding, 1e-12; above 2 % with a \"why\"), \"source\", \"note\", and \"printed\" "
        "(what the source prints, where it errs). In place of \"expect\", \"exit\" and \"error\" "
        "expect a refusal with that exit code and text. Exit code 1 when a case fails.",
    SP_OPTIONS(options),
    .examples = examples,
    .failed_key = "failed",
    .run = run,
};
