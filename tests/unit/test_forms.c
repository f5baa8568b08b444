/* Closed forms as a table: no formula twice, plain C over the arguments. */
#include "check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

/* Formulas that are equal by coincidence: different quantities, different sources. */
static const char *const coincidences[][2] = {
    {"cache_read_time", "slices_s"},            /* bytes over a memory; over a network */
    {"state_per_chip", "activations_per_chip"}, /* times replicas; times the share in flight */
    {"bytes_of_state", "live_per_chip"},        /* sums of four parts */
    {"vpu_alus", "step_devices"},               /* products of four counts */
    {"rl_training_s", "rl_colocated_s"},        /* sums of five parts that follow each other */
};

enum { LENGTH = 1024 };

/* The end of the word or number at `p`. */
static const char *word_end(const char *p)
{
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '.' || ((*p == '-') && p[-1] == 'e'))
        p++;
    return p;
}

static int argument_of(const struct sp_form *form, const char *word, size_t length)
{
    for (int i = 0; form->arguments[i].name; i++)
        if (strlen(form->arguments[i].name) == length &&
            strncmp(form->arguments[i].name, word, length) == 0)
            return i;
    return -1;
}

/* All counts have the same dimension. */
static const char *dimension(const char *unit)
{
    static const char *const counts[] = {"chips",  "devices",   "nodes", "stages",
                                         "layers", "sequences", "tokens"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(unit, counts[i]) == 0)
            return "1";
    return unit;
}

/* The expression with arguments renamed to a, b, ... as they appear, then all units. Returns the
 * number of its operators. */
static int canonical(const struct sp_form *form, char text[LENGTH])
{
    int order[SP_MOST_ARGUMENTS], n = 0, operators = 0;
    size_t used = 0;
    for (const char *p = form->text; *p;) {
        const char *const end = isalnum((unsigned char)*p) ? word_end(p) : p + 1;
        const int argument =
            isalpha((unsigned char)*p) ? argument_of(form, p, (size_t)(end - p)) : -1;
        int at = 0;
        while (argument >= 0 && at < n && order[at] != argument)
            at++;
        if (argument >= 0 && at == n)
            order[n++] = argument;
        operators += strchr("+-*/", *p) != NULL;
        used +=
            (size_t)snprintf(text + used, LENGTH - used, "%.*s", argument >= 0 ? 1 : (int)(end - p),
                             argument >= 0 ? &"abcdefghijklmnop"[at]
                             : *p == ' '   ? ""
                                           : p);
        p = end;
    }
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, LENGTH - used, ", %s",
                                 dimension(form->arguments[order[i]].unit));
    snprintf(text + used, LENGTH - used, " -> %s", dimension(form->unit));
    return operators;
}

static bool is_coincidence(const char *one, const char *other)
{
    for (size_t i = 0; i < sizeof coincidences / sizeof *coincidences; i++) {
        const char *const *const pair = coincidences[i];
        if ((strcmp(pair[0], one) == 0 && strcmp(pair[1], other) == 0) ||
            (strcmp(pair[0], other) == 0 && strcmp(pair[1], one) == 0))
            return true;
    }
    return false;
}

/* Checks formulas of at least three operators: many quantities are quotients of two others. */
static void every_formula_stands_once(void **state)
{
    (void)state;
    static char text[SP_CLOSED_FORMS][LENGTH];
    static int operators[SP_CLOSED_FORMS];
    for (int i = SP_CLOSED_NONE + 1; i < SP_CLOSED_FORMS; i++) {
        const struct sp_form form = sp_form((enum sp_form_id)i);
        operators[i] = canonical(&form, text[i]);
        for (int j = SP_CLOSED_NONE + 1; j < i; j++) {
            const char *const other = sp_form((enum sp_form_id)j).name;
            if (operators[i] >= 3 && strcmp(text[i], text[j]) == 0 &&
                !is_coincidence(form.name, other))
                fail_msg("%s and %s are the same formula: %s", other, form.name, text[i]);
        }
    }
}

static bool is_form(const char *word, size_t length)
{
    for (int i = SP_CLOSED_NONE + 1; i < SP_CLOSED_FORMS; i++) {
        const char *const name = sp_form((enum sp_form_id)i).name;
        if (length == strlen(name) + 3 && strncmp(word, "sp_", 3) == 0 &&
            strncmp(word + 3, name, length - 3) == 0)
            return true;
    }
    return false;
}

static bool is_function(const char *word, size_t length)
{
    static const char *const functions[] = {"fmin", "fmax",  "floor", "ceil",  "round",
                                            "sqrt", "pow",   "exp",   "expm1", "log",
                                            "log2", "log10", "fabs"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i]) == length && strncmp(functions[i], word, length) == 0)
            return true;
    return is_form(word, length);
}

/* Words are arguments or functions; numbers are doubles, so that no division truncates. */
static void expressions_are_plain(void **state)
{
    (void)state;
    for (int i = SP_CLOSED_NONE + 1; i < SP_CLOSED_FORMS; i++) {
        const struct sp_form form = sp_form((enum sp_form_id)i);
        for (const char *p = form.text; *p;) {
            const char *const end = isalnum((unsigned char)*p) ? word_end(p) : p + 1;
            const size_t length = (size_t)(end - p);
            if (isalpha((unsigned char)*p) && argument_of(&form, p, length) < 0 &&
                !(*end == '(' && is_function(p, length)))
                fail_msg("%s: %.*s is no argument and no function", form.name, (int)length, p);
            if (isdigit((unsigned char)*p) && !memchr(p, '.', length) && !memchr(p, 'e', length))
                fail_msg("%s: %.*s is an integer", form.name, (int)length, p);
            p = end;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formula_stands_once),
        cmocka_unit_test(expressions_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
