/* Figures that sources print and the program does not. */
#include "cli/printed_by_sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/exercise_book.h"
#include "cli/exercise_sheet.h"

/* Notes a printed figure of a case that an answer does not have, with the reason. */
static void note_difference(struct sp_report *report, const struct sp_case *c,
                            const struct sp_case_value *printed, const struct sp_entry *entry)
{
    const struct sp_case_value value = sp_value_of_entry(entry);
    if (!*c->differs || sp_case_matches(&value, printed, c->rel_tol))
        return;
    struct sp_text here;
    sp_note(report, "%s prints %s for %s (%s), here %s: %s", c->source,
            printed->kind == SP_CASE_NUMBER ? sp_human_text(printed->number, entry->info->unit)
            : printed->kind == SP_CASE_BOOL ? printed->number != 0 ? "yes" : "no"
                                            : printed->text,
            entry->info->label, printed->key, sp_human_value(entry, &here), c->differs);
}

void sp_note_differences(struct sp_report *report, const struct sp_case *c,
                         const struct sp_report *answer)
{
    for (int i = 0; i < c->n_printed; i++) {
        const struct sp_entry *const entry = sp_find(answer, c->printed[i].key);
        if (entry)
            note_difference(report, c, &c->printed[i], entry);
    }
}

static bool is_same_number(double a, double b)
{
    return sp_case_is_close(a, b, 1e-9) || (isnan(a) && isnan(b));
}

/* Whether two reports have a quantity alike: its value, and what its formula takes. */
static bool is_same(const struct sp_report *a, const struct sp_entry *x, const struct sp_report *b,
                    const struct sp_entry *y)
{
    if (x->kind != y->kind || x->form != y->form)
        return false;
    if (x->kind == SP_VALUE_TEXT)
        return strcmp(x->text, y->text) == 0;
    if (!is_same_number(x->number, y->number))
        return false;
    const struct sp_form form = sp_form(x->form);
    for (size_t i = 0; x->form != SP_CLOSED_NONE && form.arguments[i].name; i++)
        if (!is_same_number(sp_argument_value(a, x, form.arguments[i].name, NULL, NULL),
                            sp_argument_value(b, y, form.arguments[i].name, NULL, NULL)))
            return false;
    return true;
}

/* Whether a report has all numbers and verdicts of another: texts may repeat how it was asked. */
static bool has_all(const struct sp_report *report, const struct sp_report *of)
{
    for (size_t i = 0; i < sp_report_size(of); i++) {
        const struct sp_entry *const wanted = sp_report_entry(of, i);
        const struct sp_entry *const entry = sp_find(report, sp_path(wanted));
        if ((wanted->kind == SP_VALUE_NUMBER || wanted->kind == SP_VALUE_BOOL) &&
            !(entry && is_same(report, entry, of, wanted)))
            return false;
    }
    return true;
}

/* Gives a case the constants of a command: rounded or not, its figures are compared. */
static void take_constants(struct sp_case *c, const struct sp_args *args)
{
    int n = 0;
    for (int i = 0; i < c->n_args; i++)
        if (strcmp(c->args[i], "--constants") == 0)
            i++;
        else
            c->args[n++] = c->args[i];
    c->n_args = n;
    if (!args->given.constants || n + 2 > SP_CASE_MAX_ARGS)
        return;
    c->args[c->n_args++] = "--constants";
    c->args[c->n_args++] = args->text[SP_O_constants];
}

/* Calls `visit` with each case that has a printed figure or a difference. */
static void each_case(const char *command, void *context,
                      void (*visit)(struct sp_case *c, void *context))
{
    struct sp_cases cases;
    struct sp_error error = {0};
    struct sp_case *const c = sp_must(malloc(sizeof *c));
    for (size_t i = 0; i < sp_n_printed; i++) {
        if ((command && strcmp(sp_printed[i].command, command) != 0) ||
            !sp_known_cases(sp_printed[i].text, sp_printed[i].length, &cases, &error))
            continue;
        for (int k = 0; k < cases.n; k++) {
            sp_case_at(&cases, k, c);
            visit(c, context);
        }
        sp_close_cases(&cases);
    }
    free(c);
}

struct answered {
    const struct sp_args *args;
    struct sp_report *report;
};

/* Whether a report has an expected value, or one near it: other constants move a number by less
 * than half. Texts may repeat how it was asked. */
static bool has_near(const struct sp_report *report, const struct sp_case_value *expected)
{
    const struct sp_entry *const entry = sp_find(report, expected->key);
    if (!entry || expected->kind == SP_CASE_TEXT)
        return entry;
    const struct sp_case_value value = sp_value_of_entry(entry);
    return sp_case_matches(&value, expected, 0.5);
}

/* Whether note_case() may find anything: asking the case takes as long as an answer. */
static bool may_answer(const struct sp_report *report, const struct sp_case *c)
{
    bool all = c->n_printed > 0;
    for (int i = 0; i < c->n_expect; i++) {
        const bool near = has_near(report, &c->expect[i]);
        const struct sp_entry *const entry = sp_find(report, c->expect[i].key);
        for (int k = 0; k < c->n_printed && near; k++)
            if (entry->form != SP_CLOSED_NONE && strcmp(c->printed[k].key, c->expect[i].key) == 0)
                return true;
        all = all && near;
    }
    return all;
}

/* Notes where the source of a case differs from a report that answers the case's question, however
 * it was typed: the report has the case's answer by value; with a formula, the answer and the
 * formula's inputs are enough. The short text has no such note: who did not ask the exercise is not
 * helped by it. */
static void note_case(struct sp_case *c, void *context)
{
    const struct answered *const a = context;
    if (!may_answer(a->report, c))
        return;
    take_constants(c, a->args);
    struct sp_outcome got = sp_answer_case(c, a->args->world);
    const bool has = got.answered && has_all(a->report, got.report);
    sp_stand_in(a->report, SP_DETAILS);
    for (int i = 0; i < c->n_printed && got.answered; i++) {
        const struct sp_entry *const entry = sp_find(a->report, c->printed[i].key);
        const struct sp_entry *const wanted = sp_find(got.report, c->printed[i].key);
        if (entry && wanted && is_same(a->report, entry, got.report, wanted) &&
            (has || entry->form != SP_CLOSED_NONE))
            note_difference(a->report, c, &c->printed[i], entry);
    }
    sp_report_free(got.report);
}

void sp_note_printed(const struct sp_command *command, const struct sp_args *args,
                     struct sp_report *report)
{
    struct answered answered = {args, report};
    if (sp_takes_words(report))
        each_case(command->name, &answered, note_case);
}

static void add_difference(struct sp_case *c, void *context)
{
    struct sp_error *const error = context;
    if (c->exit && strstr(error->text, c->error))
        sp_append(error->text, sizeof error->text, "; %s: %s", c->source, c->differs);
}

void sp_add_printed(struct sp_error *error)
{
    each_case(NULL, error, add_difference);
}
