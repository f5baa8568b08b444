/* How a closed form follows from definitions, line by line. */
#ifndef SP_DERIVATION_H
#define SP_DERIVATION_H

#include <scaleplan/forms.h>

enum sp_derived { SP_LET, SP_ASK, SP_THEN };

/* A line: an equation or a condition over named symbols, and a reason. They lie in one text: */
struct sp_derived_line {
    enum sp_derived kind;
    const char *line, *reason;
    int line_length, reason_length;
};

/* The lines of a form; "" if none are written. */
const char *sp_derivation(enum sp_form_id form);

/* Cuts the first line off a text of sp_derivation; returns the rest, NULL past the last line. */
const char *sp_next_derived(const char *lines, struct sp_derived_line *line);

#endif
