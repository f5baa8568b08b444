/* Macros for the rows of tables of fields. Before a table, OF names its struct. */
#ifndef SP_FIELD_ROWS_H
#define SP_FIELD_ROWS_H

#include <math.h>
#include <stddef.h>

#include <scaleplan/machine.h>

#include "config/fields.h"

extern const char *const sp_network_kinds[];

#define N_FIELDS(array) (sizeof(array) / sizeof *(array))
#define MOST SP_MOST_FIGURE

/* What stands before each help text. The page takes no files of some kinds, whose tables define
 * NOT_IN_PAGE first, and has no room for their help. */
#if defined __wasi__ && defined NOT_IN_PAGE
#define FIELD_HELP 1 ? "":
#else
#define FIELD_HELP
#endif

/* One row. A member's path is its key; rows that end in _AT have their own key. Further columns
 * may follow `help`, such as `.fallback = 1`. */
/* clang-format off */
#define FIELD_AT(key_, type_, member, ...) \
    {.key = key_, .type = SP_FIELD_##type_, .offset = offsetof(OF, member), __VA_ARGS__}
#define SIZED_AT(key, type, member, unit_, ...) \
    FIELD_AT(key, type, member, .size = sizeof(((OF *)0)->member), .unit = unit_, .help = FIELD_HELP __VA_ARGS__)
#define NUMBER_AT(key, type, member, unit_, min_, max_, ...) \
    FIELD_AT(key, type, member, .unit = unit_, .min = min_, .max = max_, .help = FIELD_HELP __VA_ARGS__)
/* clang-format on */

#define TEXT_AT(key, member, ...) SIZED_AT(key, TEXT, member, "", __VA_ARGS__)
#define TEXT(member, ...) TEXT_AT(#member, member, __VA_ARGS__)
#define WORDS(member, ...) SIZED_AT(#member, WORDS, member, "", __VA_ARGS__)
#define LINES_AT(key, member, ...) SIZED_AT(key, WORDS, member, "\n", __VA_ARGS__)
#define LINES(member, ...) LINES_AT(#member, member, __VA_ARGS__)
#define INT_AT(key, member, ...) NUMBER_AT(key, INT, member, __VA_ARGS__)
#define INT(member, ...) INT_AT(#member, member, __VA_ARGS__)
#define REAL_AT(key, member, ...) NUMBER_AT(key, REAL, member, __VA_ARGS__)
#define REAL(member, ...) REAL_AT(#member, member, __VA_ARGS__)
#define BOOL_AT(key, member, ...) NUMBER_AT(key, BOOL, member, "", 0, 1, __VA_ARGS__)
#define BOOL(member, ...) BOOL_AT(#member, member, __VA_ARGS__)
#define FIGURE_AT(key, member, unit, min, ...)                                                     \
    NUMBER_AT(key, FIGURE, member, unit, min, MOST, __VA_ARGS__, .fallback = NAN)
#define FIGURE(member, ...) FIGURE_AT(#member, member, __VA_ARGS__)
/* A figure that is never published, with an assumed value. */
#define ASSUMED(member, unit, min, assumed, help)                                                  \
    NUMBER_AT(#member, FIGURE, member, unit, min, MOST, help " (assumed: " #assumed ")",           \
              .fallback = assumed)
#define ENUM_AT(key, member, names_, fallback_, ...)                                               \
    FIELD_AT(key, ENUM, member, .unit = "", .names = names_, .fallback = fallback_,                \
             .help = __VA_ARGS__)
#define ENUM(member, ...) ENUM_AT(#member, member, __VA_ARGS__)
#define SHAPE(member, ...) FIELD_AT(#member, SHAPE, member, .unit = "", .help = __VA_ARGS__)
#define SHAPES(member, ...) FIELD_AT(#member, SHAPES, member, .unit = "", .help = __VA_ARGS__)
#define ROWS(member, most, row, ...)                                                               \
    FIELD_AT(#member, ROWS, member, .size = sizeof(row), .unit = "", .max = most,                  \
             .help = FIELD_HELP __VA_ARGS__)
#define PROSE(key_, ...)                                                                           \
    {                                                                                              \
        .key = key_, .type = SP_FIELD_PROSE, .unit = "", .help = __VA_ARGS__                       \
    }

/* The first and last rows of nearly every file. */
#define NAMED_AT(member)                                                                           \
    TEXT_AT("name", member, "canonical name"),                                                     \
        PROSE("aliases", "other names; in a machine, \"dgx-h100=8\" names eight devices")
#define NAMED NAMED_AT(name)
#define REMARKS(source) PROSE("source", source), PROSE("note", "remarks")

/* The table of those fields, by the name that --set paths have. */
#define FIELD_TABLE(table, name, fields, ...)                                                      \
    const struct sp_field_table table = {name, fields, N_FIELDS(fields), __VA_ARGS__}

#endif
