/* The product of option lists: --tp 1..8:x2 --hw h100-64,v5p-64. */
#ifndef SP_AXES_H
#define SP_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SP_MAX_AXES_SWEPT = 64, SP_MAX_AXIS_VALUES = 100000 };

/* An option of the swept command and its values, concatenated in `text`; a flag has one value
 * without a text. */
struct sp_axis {
    const char *name;
    char path[80]; /* of --set PATH=A,B; "" otherwise */
    char *text;
    size_t length, room; /* bytes used, bytes allocated */
    size_t *start;       /* offset of each value in `text` */
    size_t n;
};

struct sp_axes {
    struct sp_axis axis[SP_MAX_AXES_SWEPT];
    int n;
    uint64_t rows; /* product of the numbers of values */
};

/* Kinds of option text: a list; a list of values that have commas, separated by semicolons; one
 * value, commas included; the same, repeatable; PATH=LIST. */
enum sp_axis_text {
    SP_AXIS_OF_LIST,
    SP_AXIS_OF_TEXTS,
    SP_AXIS_OF_ONE,
    SP_AXIS_OF_MANY,
    SP_AXIS_OF_SETS
};

/* Adds an option with its text (NULL: a flag). Lists are comma-separated, except for commas in
 * brackets, which belong to a value; items may be ranges: 1..8 (step 1), 1..9:+2, 1..64:x2, or with
 * a name h100-8..1024:x2. --set PATH=A,B has the values A and B. */
bool sp_add_axis(struct sp_axes *axes, const char *name, enum sp_axis_text kind, const char *text,
                 struct sp_error *error);
void sp_free_axes(struct sp_axes *axes);

/* Which of its values an axis has in a row, and that value; the last axis changes fastest. */
size_t sp_axis_place(const struct sp_axes *axes, int axis, uint64_t row);
const char *sp_axis_value(const struct sp_axes *axes, int axis, uint64_t row);

/* The name of an axis, and of its i-th value: the path of --set, and the text after it. */
const char *sp_axis_name(const struct sp_axis *axis);
const char *sp_value_name(const struct sp_axis *axis, size_t i);

/* The name of the list that is swept under a key, whose "_" is an option's "-"; NULL: none. */
const char *sp_swept_as(const struct sp_axes *axes, const char *key);

/* Of prices of machines, "h100=2,b200=4", those that are not of another machine of the axis
 * `machines` than the row's; false if none is left. */
bool sp_prices_in_row(const struct sp_axes *axes, const char *machines, uint64_t row,
                      const char *list, char *kept, size_t size);

#endif
