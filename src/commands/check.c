/* check: exercise cases as data, run in this process and compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/cases.h"
#include "config/world.h"
#include "base/list.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "commands/check_book.h"

enum { MOST_ROWS = 4000 };

static const struct sp_taken options[] = {
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
    struct sp_row *rows;
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

static bool is_right(const struct sp_case_value *expected, const struct sp_entry *actual,
                     double rel_tol)
{
    switch (expected->kind) {
    case SP_CASE_NUMBER:
        return actual->kind == SP_VALUE_NUMBER &&
               sp_case_is_close(actual->number, expected->number, rel_tol);
    case SP_CASE_BOOL:
        return actual->kind == SP_VALUE_BOOL && (actual->number != 0) == (expected->number != 0);
    case SP_CASE_TEXT:
        return actual->kind == SP_VALUE_TEXT && strcmp(actual->text, expected->text) == 0;
    default:
        return actual->kind == SP_VALUE_NONE;
    }
}

static void put_expected(struct sp_report *report, const struct sp_case_value *value)
{
    const enum sp_quantity_id id = SP_Q_CHECK_EXPECTED;
    if (value->kind == SP_CASE_NUMBER)
        sp_put(report, id, value->number);
    else if (value->kind == SP_CASE_BOOL)
        sp_put_bool(report, id, value->number != 0);
    else if (value->kind == SP_CASE_TEXT)
        sp_put_text(report, id, "%s", value->text);
    else
        sp_put_null(report, id);
}

/* Starts a row of the table: its scope, and what every row tells. */
static void begin_row(struct check *check, const char *file, const struct sp_case *c,
                      const char *key, bool pass)
{
    struct sp_row *row = &check->rows[check->n_rows];
    *row = (struct sp_row){0};
    snprintf(row->prefix, sizeof row->prefix, "cases.%d", check->n_rows++);
    sp_scope(check->report, row->prefix);
    sp_put_text(check->report, SP_Q_CHECK_FILE, "%s", file);
    sp_put_text(check->report, SP_Q_CHECK_ID, "%s", c->id);
    sp_put_bool(check->report, SP_Q_CHECK_PASS, pass);
    sp_put_text(check->report, SP_Q_CHECK_KEY, "%s", key);
}

static void put_error(struct check *check, const char *text)
{
    check->any_error = check->any_error || *text;
    if (*text)
        sp_put_text(check->report, SP_Q_CHECK_ERROR, "%.*s", (int)strcspn(text, "\n"), text);
    else
        sp_put_null(check->report, SP_Q_CHECK_ERROR);
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
    static const enum sp_value_kind kinds[] = {
        [SP_CASE_NULL] = SP_VALUE_NONE,
        [SP_CASE_BOOL] = SP_VALUE_BOOL,
        [SP_CASE_NUMBER] = SP_VALUE_NUMBER,
        [SP_CASE_TEXT] = SP_VALUE_TEXT,
    };
    struct sp_nearest nearest = {.wanted = expected->key};
    text[0] = '\0';
    if (actual && actual->kind == kinds[expected->kind])
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
    struct sp_report *const r = check->report;
    const struct sp_entry *actual = got->answered ? sp_find(got->report, expected->key) : NULL;
    const bool pass = actual && is_right(expected, actual, c->rel_tol);
    const bool numbers =
        actual && actual->kind == SP_VALUE_NUMBER && expected->kind == SP_CASE_NUMBER;
    begin_row(check, file, c, expected->key, pass);
    put_expected(r, expected);
    if (actual)
        sp_put_copy(r, "actual", got->report, actual);
    else
        sp_put_null(r, SP_Q_CHECK_ACTUAL);
    sp_put(r, SP_Q_CHECK_REL_TOL, c->rel_tol);
    sp_put(r, SP_Q_CHECK_OFF,
           !numbers                             ? NAN
           : actual->number == expected->number ? 0
                                                : actual->number / expected->number - 1);
    char reason[LONGEST_REASON];
    if (got->answered)
        mismatch(got->report, expected, actual, reason);
    put_error(check, got->answered ? reason : got->error.text);
    return pass;
}

/* A case that expects a refusal; true when it was refused so. */
static bool compare_refusal(struct check *check, const char *file, const struct sp_case *c,
                            const struct outcome *got)
{
    const int code = got->answered ? SP_OK : (int)got->error.code;
    const bool right_code = code == c->exit, right_text = strstr(got->error.text, c->error) != NULL;
    begin_row(check, file, c, "exit", right_code);
    sp_put(check->report, SP_Q_CHECK_EXPECTED, c->exit);
    sp_put(check->report, SP_Q_CHECK_ACTUAL, code);
    if (!*c->error)
        return right_code;
    begin_row(check, file, c, "error", right_text);
    sp_put_text(check->report, SP_Q_CHECK_EXPECTED, "%s", c->error);
    sp_put_text(check->report, SP_Q_CHECK_ACTUAL, "%.*s", (int)strcspn(got->error.text, "\n"),
                got->error.text);
    return right_code && right_text;
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

static void lay_out(struct check *check)
{
    static const struct sp_column columns[] = {
        {"id", "case", true},         {"pass", "pass", true},
        {"key", "key", true},         {"expected!", "expected", false},
        {"actual!", "actual", false}, {"off", "off", false},
        {"error", "error", true},
    };
    const size_t n = sizeof columns / sizeof *columns;
    sp_line(check->report, "{passed} passed, {failed} failed");
    sp_line(check->report, " ");
    sp_table(check->report, columns, check->any_error ? n : n - 1, check->rows,
             (size_t)check->n_rows);
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
    struct check check = {
        .report = report,
        .world = args->world,
        .writes_book = args->given.book,
        .only = args->value.cases,
        .nearest = {.wanted = args->value.cases},
    };
    if (args->n_operands == 0)
        return sp_fail(error, SP_USAGE, "a file of cases is needed: scaleplan check FILE...");
    check.rows = calloc(MOST_ROWS, sizeof *check.rows);
    if (!check.rows || (check.writes_book && !sp_book_open(&check.book)))
        return sp_fail(error, SP_INTERNAL, "out of memory");
    const bool ok = run_files(args, &check, error);
    sp_scope(report, "");
    sp_put(report, SP_Q_CHECK_PASSED, check.passed);
    sp_put(report, SP_Q_CHECK_FAILED, check.failed);
    if (check.writes_book)
        sp_book_close(&check.book, report);
    else
        lay_out(&check);
    free(check.rows);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan check cases.json", "a table of pass and fail with both values"},
    {"scaleplan check cases.json --cases roof-01 --explain", "how the answers follow"},
    {"scaleplan check *.json --get passed,failed", "two bare numbers for a script"},
    {"scaleplan check *.json --book > exercises.md", "the cases as a page to read"},
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
