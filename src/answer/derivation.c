/* The lines of derivations.def. */
#include "answer/derivation.h"

#include <string.h>

/* A line is its kind's letter, the line, a tab, the reason, a line break. A switch over single
 * texts, as in core/forms.c: arrays of strings need relocations at every start. */
#define LET(line, reason) "L" line "\t" reason "\n"
#define ASK(line, reason) "A" line "\t" reason "\n"
#define THEN(line, reason) "T" line "\t" reason "\n"
#define DERIVE(form, lines)                                                                        \
    case SP_CLOSED_##form:                                                                         \
        return lines;
const char *sp_derivation(enum sp_form_id form)
{
    switch ((int)form) {
#include "answer/derivations.def"
    }
    return "";
}

const char *sp_next_derived(const char *lines, struct sp_derived_line *line)
{
    if (!*lines)
        return NULL;
    const char *const reason = strchr(lines, '\t') + 1, *const end = strchr(reason, '\n');
    *line = (struct sp_derived_line){
        .kind = *lines == 'L'   ? SP_LET
                : *lines == 'A' ? SP_ASK
                                : SP_THEN,
        .line = lines + 1,
        .reason = reason,
        .line_length = (int)(reason - lines) - 2,
        .reason_length = (int)(end - reason),
    };
    return end + 1;
}
