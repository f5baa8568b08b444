/* Figures that sources print and the program does not. */
#include "cli/printed.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/exercise_book.h"

void sp_note_differences(struct sp_report *report, const struct sp_case *c,
                         const struct sp_report *answer)
{
    for (int i = 0; i < c->n_printed; i++) {
        const struct sp_case_value *const printed = &c->printed[i];
        const struct sp_entry *const entry = sp_find(answer, printed->key);
        if (!entry)
            continue;
        const struct sp_case_value value = sp_value_of_entry(entry);
        if (sp_case_matches(&value, printed, c->rel_tol))
            continue;
        sp_note(report, "%s prints %s for %s (%s): %s", c->source,
                printed->kind == SP_CASE_NUMBER ? sp_human_text(printed->number, entry->info->unit)
                : printed->kind == SP_CASE_BOOL ? printed->number != 0 ? "yes" : "no"
                                                : printed->text,
                entry->info->label, printed->key, c->differs);
    }
}

/* Whether an option says how to print and not what to compute. */
static bool is_form(enum sp_option_id id)
{
    static const enum sp_option_id forms[] = {
        SP_O_format, SP_O_get,        SP_O_explain,  SP_O_derive, SP_O_check,
        SP_O_plot,   SP_O_plot_width, SP_O_report,   SP_O_write,  SP_O_details,
        SP_O_quiet,  SP_O_help,       SP_O_constants}; /* rounded or not, a value is compared */
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i] == id)
            return true;
    return false;
}

static bool is_same(const char *given, const char *value)
{
    double a, b;
    return strcmp(given, value) == 0 ||
           (sp_parse_number(given, &a) && sp_parse_number(value, &b) && a == b);
}

static bool has_value(const struct sp_args *args, const struct sp_option *option, const char *value)
{
    if (!args->given_at[option->id])
        return false;
    for (int i = 0; i < args->n_many && option->kind == SP_MANY; i++)
        if (is_same(args->many[i], value))
            return true;
    double number;
    if (option->kind == SP_COUNTED && sp_parse_number(value, &number) &&
        sp_number_at(args, option->id) == number)
        return true; /* "7B" and 7e9 */
    return option->kind == SP_FLAG ||
           (option->kind != SP_MANY && option->kind != SP_REPEATED && args->text[option->id] &&
            is_same(args->text[option->id], value));
}

/* Inputs that were given: options but for their form, each --set, and operands. */
static int count_inputs(const struct sp_args *args)
{
    int n = args->n_operands + args->n_repeated;
    for (size_t i = 0; i < args->n_options; i++) {
        const struct sp_option *const option = &args->options[i];
        if (args->given_at[option->id] && !is_form(option->id))
            n += option->kind == SP_MANY ? args->n_many : 1;
    }
    return n;
}

/* Whether the words of a case ask the same question. */
static bool is_asked(const struct sp_case *c, const struct sp_args *args)
{
    int operands = 0, inputs = 0;
    for (int i = 1; i < c->n_args; i++) {
        const char *word = c->args[i];
        char name[64];
        if (strncmp(word, "--", 2) != 0) {
            if (operands >= args->n_operands || !is_same(args->operands[operands++], word))
                return false;
            inputs++;
            continue;
        }
        const char *const equals = strchr(word, '=');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        const struct sp_option *const option = sp_option_named(args, name);
        if (!option)
            return false;
        const bool takes = option->kind != SP_FLAG && option->kind != SP_MAYBE;
        const char *const value = equals ? equals + 1 : takes ? c->args[++i] : "";
        if (is_form(option->id))
            continue;
        if (i >= c->n_args || !has_value(args, option, value))
            return false;
        inputs++;
    }
    return inputs == count_inputs(args);
}

void sp_note_printed(const struct sp_command *command, const struct sp_args *args,
                     struct sp_report *report)
{
    struct sp_cases cases;
    struct sp_error error = {0};
    struct sp_case *const c = sp_must(malloc(sizeof *c));
    sp_stand_in(report, SP_BOTH);
    for (size_t i = 0; i < sp_n_printed && sp_takes_words(report); i++) {
        if (strcmp(sp_printed[i].command, command->name) != 0 ||
            !sp_known_cases(sp_printed[i].text, sp_printed[i].length, &cases, &error))
            continue;
        for (int k = 0; k < cases.n; k++) {
            sp_case_at(&cases, k, c);
            if (is_asked(c, args))
                sp_note_differences(report, c, report);
        }
        sp_close_cases(&cases);
    }
    free(c);
}
