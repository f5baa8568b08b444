/*
 * Output quantities: every number that is printed is a row of src/commands/COMMAND.def. One row
 * serves text, JSON, CSV, --get, --explain and formulas.md. row_kinds.h has the kinds of rows; to
 * code that treats all of them alike each is
 *
 *   Q(ID, key, label, unit, source, meaning)       a number that no closed form gives
 *   Q_FORM(ID, key, label, unit, form, meaning)    one that a form gives or explains
 *
 * The second takes its formula and source from the form; a test evaluates the formula and
 * compares. A row of the first says in words where it comes from in `meaning`.
 */
#ifndef SP_QUANTITY_H
#define SP_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/forms.h>

#include "base/text.h"

enum sp_unit {
    SP_NUMBER,
    SP_COUNT,
    SP_BYTES,
    SP_CAPACITY, /* memory of whole GiB, printed as 85.9 GB (80 GiB) */
    SP_BYTES_PER_S,
    SP_FLOPS,
    SP_FLOPS_PER_S,
    SP_FLOPS_PER_BYTE,
    SP_SECONDS,
    SP_TOKENS,
    SP_TOKENS_PER_S,
    SP_FRACTION,
    SP_WATTS,
    SP_WATT_HOURS,
    SP_KILOGRAMS,
    SP_USD,
    SP_HERTZ,
    SP_PARAMETERS,
    SP_DAYS,
    SP_HOURS,
    SP_VERDICT, /* yes or no */
    SP_WORDS,   /* text */
    SP_UNITS
};

struct sp_quantity_info {
    const char *key, *label;
    enum sp_unit unit;
    const char *formula, *source, *meaning;
    const char *old_key; /* the key that the row had in the previous version; NULL: the same */
};

/* all_quantities.def ends each command's rows with SP_QUANTITIES_END(command). */
#define Q(id, ...) SP_Q_##id,
#define Q_FORM Q
#define SP_QUANTITIES_END(command) SP_END_##command, SP_LAST_##command = SP_END_##command - 1,
enum sp_quantity_id {
#include "answer/all_quantities.def"
    SP_QUANTITIES
};
#undef SP_QUANTITIES_END
#undef Q_FORM
#undef Q

/* A readable formula from a C expression: fmax(1.0, pow(a, b)) becomes max(1, a^b). Other text
 * stays unchanged. */
enum { SP_FORMULA_TEXT = 1024 };
const char *sp_formula_text(const char *expression, char out[SP_FORMULA_TEXT]);

struct sp_quantity_info sp_quantity(enum sp_quantity_id id);

/* The rows of a command: *first up to, excluding, the result. */
enum sp_quantity_id sp_quantities_of(const char *command, enum sp_quantity_id *first);

/* The first command with a quantity of that key; NULL: none. */
const char *sp_command_with_key(const char *key);

/* Whether a key is that of a quantity, or its last parts: "fits" of memory.fits. */
bool sp_ends_some_key(const char *key);

/* Whether some quantity's key ends this path, as mfu does plans.0.mfu, or the path is the end of
 * one; `nearest` is offered all keys. */
struct sp_nearest;
bool sp_is_known_key(const char *key, struct sp_nearest *nearest);

/* "bytes/s", as in JSON and --explain. */
const char *sp_unit_name(enum sp_unit unit);

/* A value rounded for people: three significant digits, prefix, unit. */
void sp_human(double value, enum sp_unit unit, char *out, size_t size);

/* One end of a range: a time in the unit of the longer end. */
void sp_human_beside(double value, double other, enum sp_unit unit, char *out, size_t size);

/* How far one is ahead of another: "12.3 %", and from 100 % on "4.04 times". */
#define sp_human_lead(percent) sp_human_lead_in(SP_ROOM, percent)
const char *sp_human_lead_in(struct sp_text *room, double percent);

/* Both ends, "7.65 min to 13.9 min". */
#define sp_human_range(low, high, unit) sp_human_range_in(SP_ROOM, low, high, unit)
const char *sp_human_range_in(struct sp_text *room, double low, double high, enum sp_unit unit);

/* The same as a text, good to the end of the block. */
#define sp_human_text(value, unit) sp_human_text_in(SP_ROOM, value, unit)
const char *sp_human_text_in(struct sp_text *room, double value, enum sp_unit unit);

#endif
