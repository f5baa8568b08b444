/*
 * Fields of configs as table rows. A row decodes and checks a JSON key, suggests it for
 * misspellings, serves --set, and is printed by `show` and in the config reference.
 */
#ifndef SP_FIELDS_H
#define SP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

#include <scaleplan/names.h>

enum sp_field_type {
    SP_FIELD_TEXT,   /* char[size] */
    SP_FIELD_INT,    /* int64_t */
    SP_FIELD_REAL,   /* double */
    SP_FIELD_FIGURE, /* double; in JSON a number, or {"value", "textbook", "source", "note"} */
    SP_FIELD_BOOL,   /* bool */
    SP_FIELD_ENUM,   /* int, index into names */
    SP_FIELD_SHAPE,  /* struct sp_shape, "16x20x28" */
    SP_FIELD_SHAPES, /* struct sp_shape[SP_MAX_SHAPES] followed by int count */
    SP_FIELD_WORDS,  /* char[size]: a list of texts, separated by blanks, or by the unit */
    SP_FIELD_ROWS,   /* struct sp_rows before an array of `max` structs of `size` bytes that begin
                        with a name; in JSON an object of objects with the fields of the table's
                        `rows` */
    SP_FIELD_PROSE   /* sources, notes, aliases: checked to be text, not stored */
};

struct sp_field {
    const char *key; /* dotted path in the JSON */
    enum sp_field_type type;
    size_t offset, size;
    const char *unit;
    double min, max;
    const char *const *names; /* SP_FIELD_ENUM: NULL-terminated */
    double fallback;          /* numbers: value when the key is missing */
    bool required;
    const char *help;
};

/* The header of a SP_FIELD_ROWS, and the size of each row's name. */
struct sp_rows {
    int64_t n;
};
enum { SP_ROW_NAME = 72 };

/* The most rows of a table. */
enum { SP_MOST_FIELDS = 512 };

/* A table with a name ("model") for errors and paths of --set. */
struct sp_field_table {
    const char *name;
    const struct sp_field *fields;
    size_t n;
    const struct sp_field_table *rows; /* fields of its SP_FIELD_ROWS; or NULL */
};

extern const struct sp_field_table sp_model_table, sp_hardware_table, sp_precision_table,
    sp_network_table, sp_law_table, sp_framework_table, sp_profile_table, sp_kernels_table,
    sp_engine_table, sp_serving_table, sp_number_format_table, sp_trend_table, sp_drive_table,
    sp_grid_table, sp_site_table, sp_launch_table, sp_launch_row_table, sp_log_table,
    sp_ground_table;

/* Fills the struct at `base`: defaults, then every key. With `textbook`, figures use their
 * "textbook" value if they have one. Reports all wrong keys, one line each. */
bool sp_decode(const struct sp_field_table *table, const struct sp_json *json, bool textbook,
               void *base, struct sp_error *error);

/* The key that a word means: itself, else one of the section: "moe.experts" of "experts=128", which
 * is not a format of experts. */
const char *sp_key_in(struct sp_text *room, const struct sp_field_table *table, const char *section,
                      const char *word, const char *value);

/* Sets one field from the text of `option`. `path` is the key without the table's name. */
bool sp_set_field(const struct sp_field_table *table, const char *option, const char *path,
                  const char *value, void *base, struct sp_error *error);

/* Plausible ranges of figures by key: outside is a warning, not an error. The last row has no
 * key. */
struct sp_likely {
    const char *key;
    double min, max;
};
extern const struct sp_likely sp_likely_hardware[];

/* The field of that key, or NULL. */
const struct sp_field *sp_find_field(const struct sp_field_table *table, const char *key);

/* A field's value as text in base units; "" if unset (NAN, empty). */
void sp_format_field(const struct sp_field *field, const void *base, char *out, size_t size);

/* A numeric field's value; NAN for text. */
double sp_field_number(const struct sp_field *field, const void *base);

#endif
