/* Closed forms: each row as a function and as text. */
#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* A form in one text, each part of it up to a zero, the last one empty, and where each starts: an
 * array of pointers would need a relocation per string at every start. */
#define JOINED(...)                                                                                \
    JOIN(__VA_ARGS__, "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", )
#define JOIN(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...) a b c d e f g h i j k l m n o p
#define ARG(symbol, unit, meaning) #symbol "\0" unit "\0" meaning "\0"
#define TEXT(name, what, unit, arguments, expression, source)                                      \
    name "\0" what "\0" unit "\0" expression "\0" source "\0" JOINED(SP_STRIP arguments)

static const struct texts {
    char none[sizeof "\0\0\0\0\0"]; /* five empty parts, no argument */
#define FORM(name, what, unit, arguments, expression, source)                                      \
    char of_##name[sizeof(TEXT(#name, what, unit, arguments, #expression, source))];
#include <scaleplan/forms.def>
#undef FORM
} texts = {
    "\0\0\0\0\0",
#define FORM(name, what, unit, arguments, expression, source)                                      \
    TEXT(#name, what, unit, arguments, #expression, source),
#include <scaleplan/forms.def>
#undef FORM
};

static const unsigned starts[] = {
    [SP_CLOSED_NONE] = 0,
#define FORM(name, ...) [SP_CLOSED_##name] = offsetof(struct texts, of_##name),
#include <scaleplan/forms.def>
#undef FORM
};
#undef ARG

/* Takes a part and goes on to the next. */
static const char *take(const char **parts)
{
    const char *const part = *parts;
    *parts += strlen(part) + 1;
    return part;
}

/* Name, description, unit, text and source, then the arguments. */
struct sp_form sp_form(enum sp_form_id id)
{
    const char *parts = (const char *)&texts + starts[id];
    struct sp_form form = {.name = take(&parts)};
    form.what = take(&parts);
    form.unit = take(&parts);
    form.text = take(&parts);
    form.source = take(&parts);
    for (struct sp_form_argument *a = form.arguments; *parts; a++) {
        a->name = take(&parts);
        a->unit = take(&parts);
        a->meaning = take(&parts);
    }
    return form;
}

static const char *part_of(enum sp_form_id id, int part)
{
    const char *parts = (const char *)&texts + starts[id];
    while (part-- > 0)
        take(&parts);
    return parts;
}

const char *sp_form_text(enum sp_form_id id)
{
    return part_of(id, 3);
}

const char *sp_form_source(enum sp_form_id id)
{
    return part_of(id, 4);
}
