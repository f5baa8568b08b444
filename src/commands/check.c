/* check: exercise cases as data, run in this process and compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/exercises.h"
#include "config/world.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/example.h"
#include "base/read_file.h"
#include "cli/exercise_book.h"
#include "cli/exercise_grade.h"
#include "cli/exercise_sheet.h"
#include "cli/printed_by_sources.h"

enum { MOST_ROWS = 4000 }; /* expected values */

static const struct sp_taken options[] = {
    SP_TAKE(example),
    SP_TAKE(cases, .alias = "only"),
    SP_TAKE(book, .excludes = SP_THESE(SP_O_sheet, SP_O_solutions, SP_O_grade, SP_O_random)),
    SP_TAKE(random),
    SP_TAKE(count, .fallback = "20"),
    SP_TAKE(sheet, .excludes = SP_THESE(SP_O_solutions, SP_O_grade)),
    SP_TAKE(solutions, .excludes = SP_THESE(SP_O_grade)),
    SP_TAKE(grade),
};

/* The state of a run over files. */
struct check {
    struct sp_report *report;
    struct sp_world *world;
    struct sp_book book;
    bool writes_book, any_error, grades, is_alone; /* one file */
    const char *only;
    struct sp_nearest nearest; /* to --only, when nothing matches */
    int passed, failed, n_rows;
};

static bool writes_book(const struct check *check)
{
    return !SP_IN_PAGE && check->writes_book;
}

/* An expected value beside the program's. */
struct check_row {
    const char *file, *key, *error; /* `error` is "" if there is none */
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

static void put_right(struct sp_report *r, const struct sp_graded *g)
{
    if (g->of)
        sp_put_described(r, "right", "right", g->of->info->unit, "", "the program's answer",
                         g->of->number, g->of->kind == SP_VALUE_TEXT ? g->of->text : NULL);
}

#define SP_PART check_grade
#define SP_PART_OF struct sp_graded
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

/* Why an answer cannot be compared: a mistyped key, or another type; else "". */
static void mismatch(const struct sp_report *report, const struct sp_case_value *expected,
                     const struct sp_entry *actual, char text[LONGEST_REASON])
{
    static const char *const wanted[] = {
        [SP_CASE_NULL] = "null",
        [SP_CASE_BOOL] = "true or false",
        [SP_CASE_NUMBER] = "a number",
        [SP_CASE_TEXT] = "text",
    };
    text[0] = '\0';
    if (actual && sp_value_of_entry(actual).kind == expected->kind)
        return;
    if (actual) {
        snprintf(text, LONGEST_REASON, "the case expects %s", wanted[expected->kind]);
        return;
    }
    snprintf(text, LONGEST_REASON, "%s", sp_unknown_key(report, expected->key));
}

/* One expected value; true when it is right. */
static bool compare(struct check *check, const char *file, const struct sp_case *c,
                    const struct sp_case_value *expected, const struct sp_outcome *got)
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

/* A case that expects a refusal; true if it was refused as expected. */
static bool compare_refusal(struct check *check, const char *file, const struct sp_case *c,
                            const struct sp_outcome *got)
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
    struct sp_outcome got = sp_answer_case(c, check->world);
    bool pass = true;
    if (c->exit)
        pass = compare_refusal(check, file, c, &got);
    for (int i = 0; i < c->n_expect; i++)
        pass = compare(check, file, c, &c->expect[i], &got) && pass;
    *(pass ? &check->passed : &check->failed) += 1;
    if (!writes_book(check) && got.answered)
        sp_note_differences(check->report, c, got.report);
    if (writes_book(check))
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
    struct sp_case *const c = sp_must(malloc(sizeof *c));
    for (int i = 0; i < cases.n && ok; i++) {
        sp_case_at(&cases, i, c);
        /* "roof-01" stands for "roof-01:h100" too */
        if (check->only && !sp_is_listed(check->only, c->id, ':')) {
            sp_nearest_offer(&check->nearest, c->id);
            continue;
        }
        if (writes_book(check) && !any)
            sp_book_chapter(&check->book, file, c, check->is_alone);
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
    sp_answer_is(check->report, "cases");
    for (int i = 0; i < args->n_operands; i++)
        ok = check_file(check, args->operands[i], error) && ok;
    if (ok && check->only && check->n_rows == 0)
        return sp_fail(error, SP_INPUT, "--only: unknown case \"%s\"%s", sp_safe(check->only),
                       sp_nearest_hint(&check->nearest));
    return ok;
}

/* A sheet being made. */
struct sheet {
    struct check *check;
    FILE *out;
    struct sp_answers answers; /* of --grade */
};

static void put_sheet_question(void *context, int number, const struct sp_case *c,
                               const struct sp_report *answer)
{
    const struct sheet *const s = context;
    sp_put_question(number, c, answer, s->out);
}

static void put_solution(void *context, int number, const struct sp_case *c,
                         const struct sp_report *answer)
{
    struct sheet *const s = context;
    sp_book_solution(&s->check->book, number, c, answer);
}

static void grade_question(void *context, int number, const struct sp_case *c,
                           const struct sp_report *answer)
{
    struct sheet *const s = context;
    struct check *const check = s->check;
    for (int part = 0; part < c->n_expect; part++) {
        const struct sp_graded graded = sp_grade(&s->answers, number, part, c, answer);
        *(graded.right ? &check->passed : &check->failed) += 1;
        sp_begin_row(check->report, graded.question, "answers.%d", check->n_rows++);
        put_check_grade_rows(check->report, &graded);
    }
}

static const char sheet_intro[] =
    "\n\nWrite your answers in a file, one per line: `1a 850`, `2 16.9 GB`, `3b yes`. "
    "In the command of this sheet,\nreplace `--sheet` by `--grade FILE` to grade them, by "
    "`--solutions` to print the solutions.\n";

static bool run_sheet(const struct sp_args *args, struct check *check, struct sp_error *error)
{
    if (SP_IN_PAGE)
        return sp_refuse_in_page(error);
    size_t size;
    char *text = NULL;
    struct sheet sheet = {.check = check};
    const bool solves = args->given.solutions, grades = args->given.grade;
    const enum sp_format format = (enum sp_format)args->value.format;
    if (!grades && (format == SP_FORMAT_JSON || format == SP_FORMAT_CSV || format == SP_FORMAT_TSV))
        return sp_fail(error, SP_USAGE, "--%s makes a document: --format text, markdown or html",
                       solves ? "solutions" : "sheet");
    char *answers = NULL;
    if (grades && !(answers = sp_read_file(sp_pipes_of(args->world), args->value.grade,
                                           SP_JSON_MAX_BYTES, &size, error)))
        return false;
    if (grades)
        sp_open_answers(answers, &sheet.answers);
    sheet.out = sp_must(open_memstream(&text, &size));
    if (solves)
        sp_book_open(&check->book, true);
    fputs("# Exercises", sheet.out);
    if (args->given.random)
        fprintf(sheet.out, ", `--random %.0f --count %.0f`", args->value.random, args->value.count);
    fputs(sheet_intro, sheet.out);
    const struct sp_sheet made = {
        .files = args->operands,
        .n_files = args->n_operands,
        .world = args->world,
        .only = args->value.cases,
        .is_random = args->given.random,
        .seed = args->given.random ? (uint64_t)args->value.random : 0,
        .count = (int)args->value.count,
        .question = solves   ? put_solution
                    : grades ? grade_question
                             : put_sheet_question,
        .context = &sheet,
    };
    const bool ok = sp_each_question(&made, error);
    sp_scope(check->report, "");
    fclose(sheet.out);
    if (solves)
        sp_book_close(&check->book, check->report);
    else if (!grades)
        sp_markdown_file(check->report, text);
    if (grades) {
        put_check_rows(check->report, check);
        sp_stand_in(check->report, SP_BOTH);
        sp_note_unread_answers(check->report, &sheet.answers);
    }
    free(text);
    sp_close_answers(&sheet.answers);
    free(answers);
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
        .is_alone = args->n_operands == 1,
        .only = args->value.cases,
        .nearest = {.wanted = args->value.cases},
    };
    if (args->n_operands == 0)
        return sp_fail(error, SP_USAGE,
                       "give a file of cases; `check --example > cases.json` writes one");
    check.grades = args->given.grade;
    if (args->given.sheet || args->given.solutions || args->given.random || check.grades)
        return run_sheet(args, &check, error);
    if (SP_IN_PAGE && check.writes_book)
        return sp_refuse_in_page(error);
    if (writes_book(&check))
        sp_book_open(&check.book, false);
    const bool ok = run_files(args, &check, error);
    sp_scope(report, "");
    put_check_rows(report, &check);
    if (writes_book(&check))
        sp_book_close(&check.book, report);
    return ok;
}

static const struct sp_example examples[] = {
    {"check cases.json", "pass or fail with both values"},
    {"check cases.json --cases roof-01 --explain", "how the answers are derived"},
    {"check *.json --get passed,failed", "two numbers for a script"},
    {"check *.json --book > exercises.md", "the cases as a readable page"},
    {"check *.json --random 7 --sheet --format html > sheet.html",
     "20 questions with new numbers, to print"},
    {"check *.json --random 7 --grade answers.txt",
     "errors in a student's answers, and likely causes"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_check = {
    .name = "check",
    .is_list = true,
    .summary = "run exercises with known answers; print and grade sheets",
    .operands = "FILE...",
    /* A page has no files to take sheets from. */
    .about =
        SP_IN_PAGE
            ? "Runs JSON arrays of cases: \"args\" (words after scaleplan), \"expect\" (keys to "
              "values in base units), \"rel_tol\"."
            : "Runs JSON arrays of cases: \"id\", \"question\", \"args\" (words after scaleplan), "
              "\"expect\" (keys to values in base units), \"rel_tol\" (default 1e-12; above 2 % "
              "with "
              "a \"why\"), \"source\", \"note\", \"printed\" (what the source prints; \"differs\" "
              "says why it is another value), \"section\" (of a document: --book of one file is "
              "its "
              "page), \"draw\" (what --random replaces: {\"8\": \"2..64*2\", \"h100\": \"h100 "
              "h200\"}). \"exit\" and \"error\" expect a refusal. Exit code 1 if a case fails.",
    SP_OPTIONS(options),
    .examples = SP_EXAMPLES_IN_SHELL(examples),
    .failed_key = "failed",
    .run = run,
};
