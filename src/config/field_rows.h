/* Macros for the rows of tables of fields. */
#ifndef SP_FIELD_ROWS_H
#define SP_FIELD_ROWS_H

#include <math.h>
#include <stddef.h>

#include "config/fields.h"

#define N_FIELDS(array) (sizeof(array) / sizeof *(array))
#define MOST 1e18

/* One row: struct and member give the offset. */
#define TEXT_(key, type, member, help)                                                             \
    {                                                                                              \
        key, SP_FIELD_TEXT, offsetof(type, member), sizeof(((type *)0)->member), "", 0, 0, NULL,   \
            0, false, help                                                                         \
    }
#define INT_(key, type, member, unit, min, max, help)                                              \
    {                                                                                              \
        key, SP_FIELD_INT, offsetof(type, member), 0, unit, min, max, NULL, 0, false, help         \
    }
#define REAL_(key, type, member, unit, min, max, help)                                             \
    {                                                                                              \
        key, SP_FIELD_REAL, offsetof(type, member), 0, unit, min, max, NULL, 0, false, help        \
    }
#define FIGURE_(key, type, member, unit, min, help)                                                \
    {                                                                                              \
        key, SP_FIELD_FIGURE, offsetof(type, member), 0, unit, min, MOST, NULL, NAN, false, help   \
    }
/* A figure that is never published, with an assumed value. */
#define ASSUMED_(key, type, member, unit, min, assumed, help)                                      \
    {                                                                                              \
        key, SP_FIELD_FIGURE, offsetof(type, member), 0, unit, min, MOST, NULL, assumed, false,    \
            help " (assumed: " #assumed ")"                                                        \
    }
#define BOOL_(key, type, member, help)                                                             \
    {                                                                                              \
        key, SP_FIELD_BOOL, offsetof(type, member), 0, "", 0, 1, NULL, 0, false, help              \
    }
#define ENUM_(key, type, member, names, fallback, help)                                            \
    {                                                                                              \
        key, SP_FIELD_ENUM, offsetof(type, member), 0, "", 0, 0, names, fallback, false, help      \
    }
#define SHAPE_(key, type, member, help)                                                            \
    {                                                                                              \
        key, SP_FIELD_SHAPE, offsetof(type, member), 0, "", 0, 0, NULL, 0, false, help             \
    }
#define WORDS_(key, type, member, help)                                                            \
    {                                                                                              \
        key, SP_FIELD_WORDS, offsetof(type, member), sizeof(((type *)0)->member), "", 0, 0, NULL,  \
            0, false, help                                                                         \
    }
#define ROWS_(key, type, member, most, row, help)                                                  \
    {                                                                                              \
        key, SP_FIELD_ROWS, offsetof(type, member), sizeof(row), "", 0, most, NULL, 0, false, help \
    }
#define PROSE_(key, help)                                                                          \
    {                                                                                              \
        key, SP_FIELD_PROSE, 0, 0, "", 0, 0, NULL, 0, false, help                                  \
    }

#endif
