/* The fields of a config file with their sources, as a table of a report. */
#include "cli/config_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LONGEST_IN_TABLE = 24 };

const cJSON *sp_json_node(const cJSON *root, const char *path)
{
    const cJSON *node = root;
    while (node && *path) {
        char name[80];
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        node = cJSON_GetObjectItemCaseSensitive(node, name);
        path += n + (path[n] == '.');
    }
    return node;
}

const char *sp_json_text(const cJSON *root, const char *path)
{
    const cJSON *node = sp_json_node(root, path);
    return cJSON_IsString(node) ? node->valuestring : "";
}

static enum sp_unit unit_of(const struct sp_field *field)
{
    static const struct {
        const char *name;
        enum sp_unit unit;
    } units[] = {{"FLOP/s", SP_FLOPS_PER_S}, {"bytes", SP_BYTES},   {"bytes/s", SP_BYTES_PER_S},
                 {"s", SP_SECONDS},          {"Hz", SP_HERTZ},      {"W", SP_WATTS},
                 {"USD/h", SP_USD},          {"tokens", SP_TOKENS}, {"parameters", SP_PARAMETERS}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, field->unit) == 0)
            return units[i].unit;
    return SP_COUNT;
}

static bool is_set(const struct sp_config_shown *shown, const char *key)
{
    return sp_is_set(shown->sources, sp_config_kinds[shown->kind].table, key);
}

static bool is_number(const struct sp_field *field)
{
    return field->type == SP_FIELD_INT || field->type == SP_FIELD_REAL ||
           field->type == SP_FIELD_FIGURE;
}

/* The field's value as text, whatever its length: as the file writes it where the struct would add
 * to it. Numbers and choices are written to `room`. */
static const char *value_text(const struct sp_config_shown *shown, const struct sp_field *field,
                              const cJSON *node, char *room, size_t size)
{
    if (field->type == SP_FIELD_PROSE ||
        (field->type == SP_FIELD_SHAPE && !is_set(shown, field->key)))
        return sp_json_text(node, "");
    if (field->type == SP_FIELD_TEXT || field->type == SP_FIELD_WORDS)
        return (const char *)shown->base + field->offset;
    sp_format_field(field, shown->base, room, size);
    return room;
}

/* The source of the value ("gcp-v5p"), that source in full for --explain, and the remark beside
 * it. */
struct origin {
    const char *key, *note, *whole;
};

static struct origin origin_of(const struct sp_config_shown *shown, const struct sp_field *field,
                               const cJSON *node)
{
    const char *const key = sp_json_text(node, "source"), *const note = sp_json_text(node, "note");
    if (is_set(shown, field->key))
        return (struct origin){"--set", "", "the command line"};
    if (shown->sources->textbook && sp_json_node(node, "textbook"))
        return (struct origin){"textbook", note, "scaling book, as rounded in its tables"};
    const char *const whole =
        sp_json_text(cJSON_GetObjectItemCaseSensitive(shown->root, "sources"), key);
    return (struct origin){key, note, *whole ? whole : key};
}

/* The title says the name; the table of a trend has its points. */
static bool is_said_elsewhere(const struct sp_field *field)
{
    return strcmp(field->key, "name") == 0 || strcmp(field->key, "points") == 0;
}

/* Puts one field; false when it has no value. */
static bool put_field(struct sp_report *report, const struct sp_config_shown *shown,
                      const struct sp_field *field, bool *in_table)
{
    const cJSON *node = sp_json_node(shown->root, field->key);
    const bool set = is_set(shown, field->key);
    char room[160] = "", path[160];
    if ((!node && !set) || field->type == SP_FIELD_SHAPES ||
        (field->type == SP_FIELD_PROSE && !cJSON_IsString(node)) || is_said_elsewhere(field))
        return false;
    const struct origin origin = origin_of(shown, field, node);
    const bool number = is_number(field);
    const char *const value = number ? "" : value_text(shown, field, node, room, sizeof room);
    snprintf(path, sizeof path, "fields.%s", field->key);
    sp_scope(report, path);
    sp_put_described(report, "value", field->key, number ? unit_of(field) : SP_WORDS, origin.whole,
                     field->help, number ? sp_field_number(field, shown->base) : NAN,
                     number ? NULL : value);
    sp_put_described(report, "unit", "unit", SP_WORDS, "", "", NAN, field->unit);
    sp_put_described(report, "source", "source", SP_WORDS, origin.whole, "", NAN, origin.key);
    sp_put_described(report, "note", "note", SP_WORDS, "", "", NAN, origin.note);
    sp_scope(report, "");
    *in_table = number || strlen(value) <= LONGEST_IN_TABLE;
    return true;
}

void sp_put_config_fields(struct sp_report *report, const struct sp_config_shown *shown)
{
    static const struct sp_column columns[] = {{NULL, "field", true, false},
                                               {"value", "value", false, false},
                                               {"source", "source", true, false},
                                               {"note", "note", true, false}};
    struct sp_row *const rows = sp_must(calloc(SP_MOST_FIELDS, sizeof *rows));
    struct sp_text *const paths = sp_must(calloc(SP_MOST_FIELDS, sizeof *paths));
    const struct sp_field_table *table = sp_config_kinds[shown->kind].table;
    const struct sp_field *lines[SP_MOST_FIELDS];
    size_t n = 0, n_lines = 0;
    bool in_table, sourced = false;
    for (size_t i = 0; i < table->n; i++) {
        const struct sp_field *field = &table->fields[i];
        if (!put_field(report, shown, field, &in_table))
            continue;
        if (!in_table) {
            lines[n_lines++] = field;
            continue;
        }
        snprintf(paths[n].s, sizeof paths[n].s, "fields.%.90s", field->key);
        rows[n] = (struct sp_row){field->key, paths[n].s};
        sourced = sourced || *origin_of(shown, field, sp_json_node(shown->root, field->key)).key;
        n++;
    }
    sp_line(report, " ");
    sp_table(report, columns, sourced ? 4 : 2, rows, n);
    free(rows);
    free(paths);
    if (n_lines > 0)
        sp_line(report, " ");
    for (size_t i = 0; i < n_lines; i++)
        sp_line(report, "%s: {fields.%s.value}", lines[i]->key, lines[i]->key);
}

static void put_conflicts(struct sp_report *report, const cJSON *root)
{
    const cJSON *conflict;
    cJSON_ArrayForEach(conflict, cJSON_GetObjectItemCaseSensitive(root, "conflicts"))
    {
        char chosen[64];
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(conflict, "chosen");
        if (cJSON_IsNumber(value))
            sp_format_double(value->valuedouble, chosen, sizeof chosen);
        else
            snprintf(chosen, sizeof chosen, "%s", cJSON_IsString(value) ? value->valuestring : "");
        sp_note(report, "sources disagree on %s: used %s (%s); others say %s",
                sp_json_text(conflict, "item"), chosen, sp_json_text(conflict, "why"),
                sp_json_text(conflict, "others"));
    }
}

void sp_put_config_sources(struct sp_report *report, const struct sp_config_shown *shown)
{
    static const struct sp_column columns[] = {{NULL, "source", true, false},
                                               {"", "", true, false}};
    const cJSON *source, *const all = cJSON_GetObjectItemCaseSensitive(shown->root, "sources");
    const size_t most = (size_t)cJSON_GetArraySize(all) + 1;
    struct sp_row *const rows = sp_must(calloc(most, sizeof *rows));
    struct sp_text *const paths = sp_must(calloc(most, sizeof *paths));
    size_t n = 0;
    sp_scope(report, "sources");
    cJSON_ArrayForEach(source, all)
    {
        if (!cJSON_IsString(source))
            continue;
        sp_put_described(report, source->string, source->string, SP_WORDS, "", "", NAN,
                         source->valuestring);
        snprintf(paths[n].s, sizeof paths[n].s, "sources.%.90s", source->string);
        rows[n] = (struct sp_row){source->string, paths[n].s};
        n++;
    }
    sp_scope(report, "");
    if (n > 0) {
        sp_line(report, " ");
        sp_table(report, columns, 2, rows, n);
    }
    free(rows);
    free(paths);
    put_conflicts(report, shown->root);
}
