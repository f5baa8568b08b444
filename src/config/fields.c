/* Decodes, checks, sets and prints structs by their tables of fields. */
#include "config/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/machine.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/truth.h"

struct decoder {
    const struct sp_field_table *table;
    const struct sp_json *json;
    bool textbook;
    char *base;
    struct sp_error *error;
    const char *within; /* path of the object in the document; "" at the root */
    bool seen[SP_MOST_FIELDS];
    size_t next; /* after the field found last: most files have the table's order */
};

static bool decode_object(struct decoder *d, const cJSON *object, const char *prefix);

/* "file:line:column" of a key of the object. */
static const char *place_in(struct sp_text *room, const struct decoder *d, const char *key)
{
    char path[256];
    sp_join_path(d->within, key, path, sizeof path);
    return sp_json_place_in(room, d->json, path);
}
#define place_of(decoder, key) place_in(SP_ROOM, decoder, key)

const struct sp_field *sp_find_field(const struct sp_field_table *table, const char *key)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->fields[i].key[0] == key[0] && strcmp(table->fields[i].key, key) == 0)
            return &table->fields[i];
    return NULL;
}

/* The same, looked for where it usually is. */
static const struct sp_field *find_after(struct decoder *d, const char *key)
{
    const struct sp_field *const fields = d->table->fields;
    const struct sp_field *const field =
        d->next < d->table->n && strcmp(fields[d->next].key, key) == 0
            ? &fields[d->next]
            : sp_find_field(d->table, key);
    if (field)
        d->next = (size_t)(field - fields) + 1;
    return field;
}

static bool has_children(const struct sp_field_table *table, const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < table->n; i++)
        if (strncmp(table->fields[i].key, path, n) == 0 && table->fields[i].key[n] == '.')
            return true;
    return false;
}

static const char *nearest_key(struct sp_text *room, const struct sp_field_table *table,
                               const char *path)
{
    struct sp_nearest nearest = {.wanted = path};
    for (size_t i = 0; i < table->n; i++)
        sp_nearest_offer(&nearest, table->fields[i].key);
    return sp_nearest_hint_in(room, &nearest);
}

/* Whether a key is the word and more: "moe.experts" for "experts", "chip.hbm_bytes" for
 * "chip.hbm". */
static bool is_longer(const char *key, const char *word)
{
    const char *const dot = strrchr(key, '.');
    const size_t n = strlen(word);
    return (dot && strcmp(dot + 1, word) == 0) || (strncmp(key, word, n) == 0 && key[n] == '_');
}

/* The first --set path that is the word and more, or the nearest; with the table's name. */
static const char *nearest_set_path(struct sp_text *room, const struct sp_field_table *table,
                                    const char *path)
{
    char wanted[160], candidate[160];
    snprintf(wanted, sizeof wanted, "%s.%s", table->name, path);
    struct sp_nearest nearest = {.wanted = wanted};
    for (size_t i = 0, longer = 0; i < table->n; i++) {
        snprintf(candidate, sizeof candidate, "%s.%s", table->name, table->fields[i].key);
        if (is_longer(table->fields[i].key, path) && longer++ == 0)
            nearest.wanted = memcpy(wanted, candidate, sizeof wanted);
        sp_nearest_offer(&nearest, candidate);
    }
    return sp_nearest_hint_in(room, &nearest);
}

/* A key of a section that ends in this word, such as "moe.experts"; NULL: none. */
static const char *key_that_ends_in(const struct sp_field_table *table, const char *word)
{
    for (size_t i = 0; i < table->n; i++) {
        const char *const dot = strchr(table->fields[i].key, '.');
        if (dot && strcmp(dot + 1, word) == 0)
            return table->fields[i].key;
    }
    return NULL;
}

static void store_number(const struct sp_field *field, char *base, double value)
{
    char *at = base + field->offset;
    if (field->type == SP_FIELD_INT)
        *(int64_t *)(void *)at = (int64_t)value;
    else if (field->type == SP_FIELD_ENUM)
        *(int *)(void *)at = (int)value;
    else if (field->type == SP_FIELD_BOOL)
        *(bool *)(void *)at = value != 0;
    else if (field->type == SP_FIELD_REAL || field->type == SP_FIELD_FIGURE)
        *(double *)(void *)at = value;
}

double sp_field_number(const struct sp_field *field, const void *base)
{
    const char *at = (const char *)base + field->offset;
    switch (field->type) {
    case SP_FIELD_INT:
        return (double)*(const int64_t *)(const void *)at;
    case SP_FIELD_ENUM:
        return *(const int *)(const void *)at;
    case SP_FIELD_BOOL:
        return *(const bool *)(const void *)at;
    case SP_FIELD_REAL:
    case SP_FIELD_FIGURE:
        return *(const double *)(const void *)at;
    default:
        return NAN;
    }
}

/* Checks range and integrality; `place` begins the message. */
static bool check_number(const struct sp_field *field, double value, const char *place,
                         struct sp_error *error)
{
    if (!(value >= field->min && value <= field->max)) {
        char min[32], max[32], given[32];
        sp_format_double(value, given, sizeof given);
        sp_format_double(field->min, min, sizeof min);
        sp_format_double(field->max, max, sizeof max);
        return sp_fail(error, SP_INPUT, "%s: %s must be from %s to %s%s%s, not %s", place,
                       field->key, min, max, field->unit[0] ? " " : "", field->unit, given);
    }
    if (field->type == SP_FIELD_INT && value != floor(value))
        return sp_fail(error, SP_INPUT, "%s: %s must be a whole number", place, field->key);
    return true;
}

static int find_name(const struct sp_field *field, const char *text)
{
    for (int i = 0; field->names[i]; i++)
        if (strcmp(field->names[i], text) == 0)
            return i;
    return -1;
}

static bool store_name(const struct sp_field *field, const char *text, const char *place,
                       char *base, struct sp_error *error)
{
    const int index = find_name(field, text);
    struct sp_nearest nearest = {.wanted = text};
    char all[256] = "";
    if (index >= 0) {
        store_number(field, base, index);
        return true;
    }
    for (int i = 0; field->names[i]; i++) {
        sp_nearest_offer(&nearest, field->names[i]);
        sp_append(all, sizeof all, "%s%s", i ? ", " : "", field->names[i]);
    }
    return sp_fail(error, SP_INPUT, "%s: %s is \"%s\", expected one of %s%s", place, field->key,
                   sp_safe(text), all, sp_nearest_hint(&nearest));
}

static bool parse_shape(const char *text, struct sp_shape *shape)
{
    double dims[SP_MAX_AXES];
    const int n = sp_parse_dims(text, dims, SP_MAX_AXES);
    for (int i = 0; i < SP_MAX_AXES; i++) {
        const double length = i < n ? dims[i] : 1;
        if (!(length >= 1 && length <= 4096))
            return false;
        shape->axis[i] = (int32_t)length;
    }
    return n > 0;
}

static bool store_text(const struct sp_field *field, const char *text, const char *place,
                       char *base, struct sp_error *error)
{
    char *at = base + field->offset;
    if (field->type == SP_FIELD_ENUM)
        return store_name(field, text, place, base, error);
    if (field->type == SP_FIELD_SHAPE) {
        if (parse_shape(text, (struct sp_shape *)(void *)at))
            return true;
        return sp_fail(error, SP_INPUT, "%s: %s is \"%s\", expected a shape such as 16x16x16",
                       place, field->key, sp_safe(text));
    }
    if (field->type != SP_FIELD_TEXT)
        return sp_fail(error, SP_INPUT, "%s: %s is text, expected %s", place, field->key,
                       field->type == SP_FIELD_BOOL ? "true or false" : "a number");
    if (strlen(text) >= field->size)
        return sp_fail(error, SP_INPUT, "%s: %s is longer than %zu bytes", place, field->key,
                       field->size - 1);
    snprintf(at, field->size, "%s", text);
    return true;
}

static bool store_shapes(struct decoder *d, const struct sp_field *field, const cJSON *node,
                         const char *place)
{
    struct sp_shape *shapes = (struct sp_shape *)(void *)(d->base + field->offset);
    int *const n = (int *)(void *)(shapes + SP_MAX_SHAPES);
    const cJSON *item;
    *n = 0;
    if (!cJSON_IsArray(node))
        return sp_fail(d->error, SP_INPUT, "%s: %s must be a list of shapes", place, field->key);
    cJSON_ArrayForEach(item, node)
    {
        if (*n == SP_MAX_SHAPES)
            return sp_fail(d->error, SP_INPUT, "%s: %s has more than %d shapes", place, field->key,
                           SP_MAX_SHAPES);
        if (!cJSON_IsString(item) || !parse_shape(item->valuestring, &shapes[*n]))
            return sp_fail(d->error, SP_INPUT, "%s: %s must hold shapes such as \"4x4x8\"", place,
                           field->key);
        ++*n;
    }
    return true;
}

/* {"value": 1, "textbook": 2, "source": "...", "note": "..."} */
static bool store_figure(struct decoder *d, const struct sp_field *field, const cJSON *node,
                         const char *place)
{
    static const char *const keys[] = {"value", "textbook", "source", "note"};
    const cJSON *member, *value = NULL, *textbook = NULL;
    cJSON_ArrayForEach(member, node)
    {
        size_t which = 0;
        while (which < 4 && strcmp(keys[which], member->string) != 0)
            which++;
        if (which == 4)
            return sp_fail(d->error, SP_INPUT,
                           "%s: %s.%s: unknown key, expected value, textbook, source or note",
                           place, field->key, sp_safe(member->string));
        if (which < 2 ? !cJSON_IsNumber(member) : !cJSON_IsString(member))
            return sp_fail(d->error, SP_INPUT, "%s: %s.%s must be %s", place, field->key,
                           keys[which], which < 2 ? "a number" : "text");
        if (which == 0)
            value = member;
        else if (which == 1)
            textbook = member;
    }
    if (!value)
        return sp_fail(d->error, SP_INPUT, "%s: %s has no \"value\"", place, field->key);
    if (textbook && !check_number(field, textbook->valuedouble, place, d->error))
        return false;
    if (!check_number(field, value->valuedouble, place, d->error))
        return false;
    store_number(field, d->base,
                 d->textbook && textbook ? textbook->valuedouble : value->valuedouble);
    return true;
}

static bool store_words(struct decoder *d, const struct sp_field *field, const cJSON *node,
                        const char *place)
{
    char *const at = d->base + field->offset;
    size_t used = strlen(at); /* existing words stay: a file may extend another */
    const cJSON *item;
    if (!cJSON_IsArray(node))
        return sp_fail(d->error, SP_INPUT, "%s: %s must be a list of texts", place, field->key);
    cJSON_ArrayForEach(item, node)
    {
        if (!cJSON_IsString(item))
            return sp_fail(d->error, SP_INPUT, "%s: %s must be a list of texts", place, field->key);
        if (used + (used > 0) + strlen(item->valuestring) >= field->size)
            return sp_fail(d->error, SP_INPUT, "%s: %s is longer than %zu bytes", place, field->key,
                           field->size - 1);
        used += (size_t)sprintf(at + used, "%s%s",
                                used == 0      ? ""
                                : *field->unit ? field->unit
                                               : " ",
                                item->valuestring);
    }
    return true;
}

/* The row of that name, cleared, or a new one; NULL if full. */
static char *row_named(const struct sp_field *field, const char *name, struct sp_rows *rows)
{
    char *const at = (char *)(rows + 1);
    int64_t i = 0;
    while (i < rows->n && strcmp(at + (size_t)i * field->size, name) != 0)
        i++;
    if ((double)i >= field->max)
        return NULL;
    rows->n += i == rows->n;
    char *const row = at + (size_t)i * field->size;
    memset(row, 0, field->size);
    snprintf(row, SP_ROW_NAME, "%s", name);
    return row;
}

static bool store_rows(struct decoder *d, const struct sp_field *field, const cJSON *node,
                       const char *place)
{
    struct sp_rows *const rows = (struct sp_rows *)(void *)(d->base + field->offset);
    bool ok = true;
    const cJSON *item;
    if (!cJSON_IsObject(node))
        return sp_fail(d->error, SP_INPUT, "%s: %s must be an object", place, field->key);
    cJSON_ArrayForEach(item, node)
    {
        char within[256];
        sp_join_path(field->key, item->string, within, sizeof within);
        if (!cJSON_IsObject(item) || strlen(item->string) >= SP_ROW_NAME)
            return sp_fail(d->error, SP_INPUT,
                           "%s: %s must be an object with a name below %d bytes",
                           sp_json_place(d->json, within), sp_safe(within), SP_ROW_NAME);
        char *const row = row_named(field, item->string, rows);
        if (!row)
            return sp_fail(d->error, SP_INPUT, "%s: %s has more than %.0f members", place,
                           field->key, field->max);
        struct decoder inner = {d->table->rows, d->json, d->textbook, row,
                                d->error,       within,  {false},     0};
        ok = decode_object(&inner, item, "") && ok;
    }
    return ok;
}

static bool store_node_at(struct decoder *d, const struct sp_field *field, const cJSON *node,
                          const char *place)
{
    if (field->type == SP_FIELD_PROSE)
        return true;
    if (field->type == SP_FIELD_SHAPES)
        return store_shapes(d, field, node, place);
    if (field->type == SP_FIELD_WORDS)
        return store_words(d, field, node, place);
    if (field->type == SP_FIELD_FIGURE && cJSON_IsObject(node))
        return store_figure(d, field, node, place);
    if (cJSON_IsString(node))
        return store_text(field, node->valuestring, place, d->base, d->error);
    if (field->type == SP_FIELD_BOOL && cJSON_IsBool(node)) {
        store_number(field, d->base, cJSON_IsTrue(node));
        return true;
    }
    const bool wants_number = field->type == SP_FIELD_INT || field->type == SP_FIELD_REAL ||
                              field->type == SP_FIELD_FIGURE;
    if (!wants_number || !cJSON_IsNumber(node))
        return sp_fail(d->error, SP_INPUT, "%s: %s must be %s", place, field->key,
                       wants_number                   ? "a number"
                       : field->type == SP_FIELD_BOOL ? "true or false"
                                                      : "text");
    if (!check_number(field, node->valuedouble, place, d->error))
        return false;
    store_number(field, d->base, node->valuedouble);
    return true;
}

/* For wrong values only, because locating a key's line parses the text again. Rows are stored value
 * by value. */
static bool store_node(struct decoder *d, const struct sp_field *field, const cJSON *node)
{
    if (field->type == SP_FIELD_ROWS)
        return store_rows(d, field, node, d->json->origin);
    struct sp_error *const error = d->error;
    struct sp_error dry_run;
    dry_run.code = SP_OK;
    dry_run.lines = 0;
    dry_run.text[0] = '\0';
    d->error = &dry_run;
    const bool ok = store_node_at(d, field, node, "");
    d->error = error;
    if (ok)
        return true;
    char place[256];
    snprintf(place, sizeof place, "%s", place_of(d, field->key));
    return store_node_at(d, field, node, place);
}

static bool decode_object(struct decoder *d, const cJSON *object, const char *prefix)
{
    bool ok = true;
    const cJSON *node;
    cJSON_ArrayForEach(node, object)
    {
        char path[160];
        if (sp_is_full(d->error))
            return false;
        sp_join_path(prefix, node->string, path, sizeof path);
        const struct sp_field *const field = find_after(d, path);
        if (field) {
            d->seen[field - d->table->fields] = true;
            ok = store_node(d, field, node) && ok;
        } else if (node->string[0] == '$') {
            continue; /* "$schema" and the like */
        } else if (cJSON_IsObject(node) && has_children(d->table, path)) {
            ok = decode_object(d, node, path) && ok;
        } else {
            const char *hint = nearest_key(SP_ROOM, d->table, path);
            ok = sp_fail(d->error, SP_INPUT, "%s: %s.%s: unknown key%s", place_of(d, path),
                         d->table->name, sp_safe(path), hint);
        }
    }
    return ok;
}

bool sp_decode(const struct sp_field_table *table, const struct sp_json *json, bool textbook,
               void *base, struct sp_error *error)
{
    struct decoder d = {table, json, textbook, base, error, "", {false}, 0};
    if (!cJSON_IsObject(json->root))
        return sp_fail(error, SP_INPUT, "%s: expected a JSON object that describes a %s",
                       sp_json_place(json, ""), table->name);
    for (size_t i = 0; i < table->n; i++)
        store_number(&table->fields[i], base, table->fields[i].fallback);
    if (!decode_object(&d, json->root, ""))
        return false;
    bool ok = true;
    for (size_t i = 0; i < table->n; i++)
        if (table->fields[i].required && !d.seen[i])
            ok = sp_fail(error, SP_INPUT, "%s: %s.%s is missing (%s)",
                         sp_json_place(json, table->fields[i].key), table->name,
                         table->fields[i].key, table->fields[i].help);
    return ok;
}

/* The unit of a typed number, spelled as in the tables. */
static const char *unit_in_words(const char *value)
{
    const char *const unit = sp_unit_of_number(value);
    return strcmp(unit, "B") == 0     ? "bytes"
           : strcmp(unit, "B/s") == 0 ? "bytes/s"
           : strcmp(unit, "%") == 0   ? "per cent"
                                      : unit;
}

/* Whether a typed unit fits the field: none, the field's own, "GB" for a rate, % for a plain number
 * that may be a fraction. */
static bool has_unit_of(const struct sp_field *field, const char *value)
{
    const char *const unit = unit_in_words(value);
    if (*unit == '\0' || strcmp(unit, field->unit) == 0)
        return true;
    if (strcmp(unit, "per cent") == 0)
        return *field->unit == '\0' && field->type != SP_FIELD_INT;
    return strcmp(unit, "bytes") == 0 && strncmp(field->unit, "bytes", 5) == 0;
}

const char *sp_key_in(struct sp_text *room, const struct sp_field_table *table, const char *section,
                      const char *word, const char *value)
{
    const struct sp_field *const field = sp_find_field(table, word);
    const bool names = field && (field->type != SP_FIELD_ENUM || find_name(field, value) >= 0);
    snprintf(room->s, sizeof room->s, "%s.%s", section, word);
    return !names && sp_find_field(table, room->s) ? room->s : word;
}

bool sp_set_field(const struct sp_field_table *table, const char *option, const char *path,
                  const char *value, void *base, struct sp_error *error)
{
    const struct sp_field *field = sp_find_field(table, path);
    char place[128];
    snprintf(place, sizeof place, "%s %s", option, sp_safe(path));
    if (!field || field->type == SP_FIELD_PROSE || field->type == SP_FIELD_SHAPES ||
        field->type == SP_FIELD_WORDS || field->type == SP_FIELD_ROWS)
        return sp_fail(error, SP_INPUT, "%s: %s.%s: unknown value%s", option, table->name,
                       sp_safe(path), nearest_set_path(SP_ROOM, table, path));
    if (field->type == SP_FIELD_BOOL) {
        const int truth = sp_yaml_truth(value);
        if (truth < 0)
            return sp_fail(error, SP_INPUT, "%s: \"%s\" is neither true nor false", place,
                           sp_safe(value));
        store_number(field, base, truth);
        return true;
    }
    const char *const counts = field->type == SP_FIELD_ENUM && strspn(value, "0123456789") > 0
                                   ? key_that_ends_in(table, path)
                                   : NULL;
    if (counts && find_name(field, value) < 0)
        return sp_fail(error, SP_INPUT, "%s: \"%s\" is not a format; did you mean \"%s.%s\"?",
                       place, sp_safe(value), table->name, counts);
    if (field->type == SP_FIELD_TEXT || field->type == SP_FIELD_ENUM ||
        field->type == SP_FIELD_SHAPE)
        return store_text(field, value, place, base, error);
    double number;
    if (!sp_parse_number(value, &number))
        return sp_fail(error, SP_INPUT, "%s: \"%s\" is not %s%s", place, sp_safe(value),
                       SP_NUMBERS_ACCEPTED, sp_prefix_hint(value));
    if (!has_unit_of(field, value))
        return sp_fail(error, SP_INPUT, "%s: \"%s\" is in %s, but the value is %s%s", place,
                       sp_safe(value), unit_in_words(value),
                       *field->unit ? "in " : "a plain number", field->unit);
    if (!check_number(field, number, place, error))
        return false;
    store_number(field, base, number);
    return true;
}

void sp_format_field(const struct sp_field *field, const void *base, char *out, size_t size)
{
    const char *at = (const char *)base + field->offset;
    out[0] = '\0';
    if (field->type == SP_FIELD_TEXT || field->type == SP_FIELD_WORDS) {
        snprintf(out, size, "%s", at);
    } else if (field->type == SP_FIELD_ENUM) {
        snprintf(out, size, "%s", field->names[*(const int *)(const void *)at]);
    } else if (field->type == SP_FIELD_BOOL) {
        snprintf(out, size, "%s", *(const bool *)(const void *)at ? "true" : "false");
    } else if (field->type == SP_FIELD_SHAPE) {
        const struct sp_shape *shape = (const struct sp_shape *)(const void *)at;
        if (shape->axis[0] > 0)
            snprintf(out, size, "%dx%dx%d", (int)shape->axis[0], (int)shape->axis[1],
                     (int)shape->axis[2]);
    } else if (field->type != SP_FIELD_PROSE && field->type != SP_FIELD_SHAPES) {
        const double value = sp_field_number(field, base);
        if (!isnan(value))
            sp_format_double(value, out, size);
    }
}
