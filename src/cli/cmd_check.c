/* check: exercise cases, each run by the ordinary command a reader would type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../config/cases.h"
#include "command.h"

static const struct sp_option options[] = {
    {"only", "ID", SP_TEXT, 0, 0, NULL, NULL, "run the cases whose id starts with ID"},
    {"check", "WHAT", SP_MAYBE, 0, 0, NULL, NULL,
     "for scripts that pass it to every command: a failed case exits with 1 in any event"},
};

struct run {
    struct sp_report *report;
    const char *only;
    int passed, failed;
    struct sp_row *rows;
    size_t n_rows, room;
};

static bool new_row(struct run *run, const char *id, struct sp_error *error)
{
    if (run->n_rows == run->room) {
        run->room = run->room ? run->room * 2 : 64;
        struct sp_row *const larger = realloc(run->rows, run->room * sizeof *larger);
        if (!larger)
            return sp_fail(error, SP_INTERNAL, "out of memory");
        run->rows = larger;
    }
    struct sp_row *row = &run->rows[run->n_rows];
    *row = (struct sp_row){0};
    snprintf(row->label, sizeof row->label, "%s", sp_safe(id));
    snprintf(row->prefix, sizeof row->prefix, "cases.%zu", run->n_rows);
    run->n_rows++;
    sp_scope(run->report, row->prefix);
    sp_put_text(run->report, SP_Q_CHECK_ID, "%s", id);
    return true;
}

static void format_expected(const cJSON *value, char *out, size_t size)
{
    if (cJSON_IsNumber(value))
        sp_format_double(value->valuedouble, out, size);
    else if (cJSON_IsBool(value))
        snprintf(out, size, "%s", cJSON_IsTrue(value) ? "true" : "false");
    else
        snprintf(out, size, "%s", cJSON_IsString(value) ? value->valuestring : "null");
}

static void format_actual(const struct sp_entry *entry, char *out, size_t size)
{
    if (!entry)
        snprintf(out, size, "no such key");
    else if (entry->kind == SP_VALUE_TEXT)
        snprintf(out, size, "%s", entry->text);
    else if (entry->kind == SP_VALUE_BOOL)
        snprintf(out, size, "%s", entry->number != 0 ? "true" : "false");
    else
        sp_format_double(entry->number, out, size);
}

/* Whether a value meets its expectation; numbers within the tolerance, everything else to the
 * letter. */
static bool meets(const struct sp_entry *entry, const cJSON *expected, double rel_tol)
{
    char want[256], got[256];
    if (!entry)
        return false;
    if (cJSON_IsNumber(expected)) {
        const double tolerance = rel_tol > 0 ? rel_tol : 1e-9;
        return entry->kind == SP_VALUE_NUMBER &&
               fabs(entry->number - expected->valuedouble) <=
                   tolerance * fabs(expected->valuedouble) + 1e-300;
    }
    format_expected(expected, want, sizeof want);
    format_actual(entry, got, sizeof got);
    return strcmp(want, got) == 0;
}

static bool put_comparison(struct run *run, const struct sp_case *c, const cJSON *expected,
                           const struct sp_entry *entry, const char *refusal, bool *pass,
                           struct sp_error *error)
{
    char want[256], got[512];
    const bool met = !refusal && meets(entry, expected, c->rel_tol);
    format_expected(expected, want, sizeof want);
    format_actual(entry, got, sizeof got);
    if (!new_row(run, c->id, error))
        return false;
    sp_put_text(run->report, SP_Q_CHECK_KEY, "%s", expected->string);
    sp_put_bool(run->report, SP_Q_CHECK_PASS, met);
    sp_put_text(run->report, SP_Q_CHECK_EXPECTED, "%s", want);
    sp_put_text(run->report, SP_Q_CHECK_ACTUAL, "%s", refusal ? refusal : got);
    *pass = *pass && met;
    return true;
}

/* Runs one command in this process. */
static bool answer_case(const struct sp_case *c, struct sp_report *answer, struct sp_error *refusal)
{
    static struct sp_args args; /* large, and a case runs no other case */
    char *argv[SP_CASE_MAX_ARGS + 1] = {NULL};
    for (int i = 0; i < c->n_args; i++)
        argv[i] = (char *)c->args[i];
    if (strcmp(argv[0], "check") == 0)
        return sp_fail(refusal, SP_INPUT, "a case cannot run check");
    const struct sp_command *command = sp_find_command(argv[0], refusal);
    return command && sp_run_command(command, c->n_args, argv, &args, answer, refusal);
}

static bool run_case(struct run *run, const struct sp_case *c, struct sp_error *error)
{
    struct sp_error refusal = {0};
    struct sp_report *answer = sp_report_new(c->args[0]);
    const bool answered = answer_case(c, answer, &refusal);
    const cJSON *expected;
    bool pass = true, ok = true;
    cJSON_ArrayForEach(expected, c->expect)
    {
        ok = ok && put_comparison(run, c, expected, sp_find(answer, expected->string),
                                  answered ? NULL : refusal.text, &pass, error);
    }
    sp_report_free(answer);
    run->passed += pass;
    run->failed += !pass;
    return ok;
}

static bool run_file(struct run *run, const char *path, struct sp_error *error)
{
    size_t length;
    struct sp_json json;
    char *text = sp_read_file(path, SP_JSON_MAX_BYTES, &length, error);
    if (!text)
        return false;
    bool ok = sp_json_parse(text, length, path, &json, error);
    if (ok && !cJSON_IsArray(json.root))
        ok = sp_fail(error, SP_INPUT, "%s:1:1: expected a list of cases", sp_safe(path));
    const int n = ok ? cJSON_GetArraySize(json.root) : 0;
    for (int i = 0; ok && i < n; i++) {
        struct sp_case c;
        ok = sp_read_case(&json, i, &c, error);
        if (ok && run->only && strncmp(c.id, run->only, strlen(run->only)) != 0)
            continue;
        ok = ok && run_case(run, &c, error);
    }
    if (json.root)
        sp_json_free(&json);
    free(text);
    return ok;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    static const struct sp_column columns[] = {{NULL, "case", true},
                                               {"key", "key", true},
                                               {"pass", "pass", false},
                                               {"expected", "expected", false},
                                               {"actual", "actual", true}};
    struct run run = {.report = report, .only = sp_text_of(args, "only")};
    bool ok = args->n_operands > 0 ||
              sp_fail(error, SP_USAGE, "a file of cases is needed: scaleplan check FILE...");
    for (int i = 0; ok && i < args->n_operands; i++)
        ok = run_file(&run, args->operands[i], error);
    if (ok && run.passed + run.failed == 0)
        ok = sp_fail(error, SP_INPUT, "no case to run");
    if (ok) {
        sp_scope(report, "");
        sp_put(report, SP_Q_CHECK_PASSED, run.passed);
        sp_put(report, SP_Q_CHECK_FAILED, run.failed);
        sp_table(report, columns, sizeof columns / sizeof columns[0], run.rows, run.n_rows);
        sp_line(report, "%d passed, %d failed", run.passed, run.failed);
    }
    free(run.rows);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan check tests/textbook/*.json", "every exercise, expected and actual value"},
    {"scaleplan check my-cases.json --format json | jq .failed", "for a script"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_check = {
    .name = "check",
    .summary = "run exercise cases and compare with the expected values",
    .operands = "FILE...",
    .about = "A case file is a JSON list of {id, question, args, expect, rel_tol, source, note}: "
             "args are the "
             "words after `scaleplan`, expect maps keys to values in base units. A rel_tol of 0 "
             "means equal up "
             "to the last digits of a double (1e-9). Exits with 1 when a case fails.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .fails_key = "failed",
    .run = run,
};
