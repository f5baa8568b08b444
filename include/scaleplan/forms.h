/*
 * Closed forms: each row of forms/NAME.def is a function here and the text that explains it, so
 * that the formula that is shown is the formula that is computed.
 *
 *   FORM(name, what, unit, (ARG(symbol, unit, meaning), ...), expression, source)
 *
 * makes double sp_NAME(double, ...) with the arguments in the row's order, and struct sp_form for
 * explanations. Arguments and results are doubles in SI base units; an argument that is not known
 * is NAN. `expression` is plain C over the arguments: doubles (2.0, not 2), functions of math.h,
 * other forms.
 */
#ifndef SCALEPLAN_FORMS_H
#define SCALEPLAN_FORMS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define SP_STRIP(...) __VA_ARGS__

#define ARG(symbol, unit, meaning) double
#define FORM(name, what, unit, arguments, expression, source) double sp_##name arguments;
#include <scaleplan/forms.def>
#undef FORM

#define FORM(name, what, unit, arguments, expression, source) SP_CLOSED_##name,
enum sp_form_id {
    SP_CLOSED_NONE,
#include <scaleplan/forms.def>
    SP_CLOSED_FORMS
};
#undef FORM
#undef ARG

struct sp_form_argument {
    const char *name, *unit, *meaning;
};

enum { SP_MOST_ARGUMENTS = 16 };

/* A form as text. */
struct sp_form {
    const char *name, *what, *unit;
    const char *text; /* the expression, as C has it */
    const char *source;
    struct sp_form_argument arguments[SP_MOST_ARGUMENTS + 1]; /* the last has no name */
};

struct sp_form sp_form(enum sp_form_id id);

/* Only its expression, only its source. */
const char *sp_form_text(enum sp_form_id id);
const char *sp_form_source(enum sp_form_id id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
