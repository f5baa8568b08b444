/* Closed forms: each row as a function and as text. */
#include <math.h>

#include <scaleplan/forms.h>

#define ARG(symbol, unit, meaning) const double symbol
#define FORM(name, what, unit, arguments, expression, source)                                      \
    double sp_##name arguments                                                                     \
    {                                                                                              \
        return expression;                                                                         \
    }
#include <scaleplan/forms.def>
#undef FORM
#undef ARG

/* Switches instead of arrays: arrays of strings need a relocation per string at every start. */
#define ARG(symbol, unit, meaning)                                                                 \
    {                                                                                              \
#symbol, unit, meaning                                                                     \
    }
#define FORM(name, what, unit, arguments, expression, source)                                      \
    case SP_CLOSED_##name:                                                                         \
        return (struct sp_form){#name, what, unit, #expression, source, {SP_STRIP arguments}};
struct sp_form sp_form(enum sp_form_id id)
{
    switch ((int)id) {
#include <scaleplan/forms.def>
    }
    return (struct sp_form){.name = "", .what = "", .unit = "", .text = "", .source = ""};
}
#undef FORM
#undef ARG

#define FORM(name, what, unit, arguments, expression, source)                                      \
    case SP_CLOSED_##name:                                                                         \
        return #expression;
const char *sp_form_text(enum sp_form_id id)
{
    switch ((int)id) {
#include <scaleplan/forms.def>
    }
    return "";
}
#undef FORM

#define FORM(name, what, unit, arguments, expression, source)                                      \
    case SP_CLOSED_##name:                                                                         \
        return source;
const char *sp_form_source(enum sp_form_id id)
{
    switch ((int)id) {
#include <scaleplan/forms.def>
    }
    return "";
}
