/* The product of option lists: --tp 1..8:x2 --hw h100-64,v5p-64. */
#ifndef SP_AXES_H
#define SP_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SP_MAX_AXES_SWEPT = 64, SP_MAX_AXIS_VALUES = 100000 };

/* One option of the swept command with the values it takes, one behind the other in `text`; a flag
 * has one, without a text. */
struct sp_axis {
    const char *name;
    char path[80]; /* of --set PATH=A,B; "" otherwise */
    char *text;
    size_t length, room; /* of the text: bytes in use, bytes there are */
    size_t *start;       /* where each value stands in it */
    size_t n;
};

struct sp_axes {
    struct sp_axis axis[SP_MAX_AXES_SWEPT];
    int n;
    uint64_t rows; /* the product */
};

/* What the text of an option is: a list; one value, commas and all, which may be there again with
 * OF_MANY; PATH=LIST. */
enum sp_axis_text { SP_AXIS_OF_LIST, SP_AXIS_OF_ONE, SP_AXIS_OF_MANY, SP_AXIS_OF_SETS };

/* Adds an option with its text (NULL: a flag). Lists are comma-separated, and a piece may be a
 * range: 1..8 (step 1), 1..9:+2, 1..64:x2; a name may stand before its numbers, h100-8..1024:x2.
 * --set PATH=A,B has the values A and B. */
bool sp_add_axis(struct sp_axes *axes, const char *name, enum sp_axis_text kind, const char *text,
                 struct sp_error *error);
void sp_free_axes(struct sp_axes *axes);

/* Which of its values an axis has in a row, and that value; the last axis changes fastest. */
size_t sp_axis_place(const struct sp_axes *axes, int axis, uint64_t row);
const char *sp_axis_value(const struct sp_axes *axes, int axis, uint64_t row);

/* The name of an axis, and of its i-th value: the path of --set, and what stands behind it. */
const char *sp_axis_name(const struct sp_axis *axis);
const char *sp_value_name(const struct sp_axis *axis, size_t i);

#endif
