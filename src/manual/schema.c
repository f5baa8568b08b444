/* JSON Schemas of config, plan and case files, from the tables that read them. */
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/plan_fields.h"
#include "cli/plan_json.h"
#include "config/exercises.h"
#include "manual/manual.h"

#define DRAFT "https://json-schema.org/draft/2020-12/schema"
#define SHAPE_PATTERN "^[0-9]+(x[0-9]+){0,2}$"

extern const struct sp_command sp_cmd_step;

static cJSON *typed(const char *type)
{
    cJSON *const schema = cJSON_CreateObject();
    cJSON_AddStringToObject(schema, "type", type);
    return schema;
}

static cJSON *object(void)
{
    cJSON *const schema = typed("object");
    cJSON_AddObjectToObject(schema, "properties");
    cJSON_AddObjectToObject(cJSON_AddObjectToObject(schema, "patternProperties"), "^\\$");
    cJSON_AddBoolToObject(schema, "additionalProperties", false);
    return schema;
}

static cJSON *number_schema(const char *type, double min, double max)
{
    cJSON *const schema = typed(type);
    cJSON_AddNumberToObject(schema, "minimum", min);
    cJSON_AddNumberToObject(schema, "maximum", max);
    return schema;
}

static cJSON *shape_schema(void)
{
    cJSON *const schema = typed("string");
    cJSON_AddStringToObject(schema, "pattern", SHAPE_PATTERN);
    return schema;
}

/* A number, or {"value": 1, "textbook": 2, "source": "...", "note": "..."}. */
static cJSON *figure_schema(const struct sp_field *field)
{
    cJSON *const schema = cJSON_CreateObject();
    cJSON *const any = cJSON_AddArrayToObject(schema, "anyOf");
    cJSON *const figure = typed("object");
    cJSON *const members = cJSON_AddObjectToObject(figure, "properties");
    cJSON_AddItemToObject(members, "value", number_schema("number", field->min, field->max));
    cJSON_AddItemToObject(members, "textbook", number_schema("number", field->min, field->max));
    cJSON_AddItemToObject(members, "source", typed("string"));
    cJSON_AddItemToObject(members, "note", typed("string"));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(figure, "required"), cJSON_CreateString("value"));
    cJSON_AddBoolToObject(figure, "additionalProperties", false);
    cJSON_AddItemToArray(any, number_schema("number", field->min, field->max));
    cJSON_AddItemToArray(any, figure);
    return schema;
}

static cJSON *choice_schema(const char *const *names)
{
    cJSON *const schema = cJSON_CreateObject();
    cJSON *const list = cJSON_AddArrayToObject(schema, "enum");
    for (int i = 0; names[i]; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(names[i]));
    return schema;
}

static cJSON *table_schema(const struct sp_field_table *table);

/* `rows` are the fields of SP_FIELD_ROWS. */
static cJSON *field_schema(const struct sp_field *field, const struct sp_field_table *rows)
{
    cJSON *schema;
    switch (field->type) {
    case SP_FIELD_TEXT:
        schema = typed("string");
        cJSON_AddNumberToObject(schema, "maxLength", (double)field->size - 1);
        break;
    case SP_FIELD_INT:
        schema = number_schema("integer", field->min, field->max);
        break;
    case SP_FIELD_REAL:
        schema = number_schema("number", field->min, field->max);
        break;
    case SP_FIELD_FIGURE:
        schema = figure_schema(field);
        break;
    case SP_FIELD_BOOL:
        schema = typed("boolean");
        break;
    case SP_FIELD_ENUM:
        schema = choice_schema(field->names);
        break;
    case SP_FIELD_SHAPE:
        schema = shape_schema();
        break;
    case SP_FIELD_SHAPES:
        schema = typed("array");
        cJSON_AddItemToObject(schema, "items", shape_schema());
        break;
    case SP_FIELD_WORDS:
        schema = typed("array");
        cJSON_AddItemToObject(schema, "items", typed("string"));
        break;
    case SP_FIELD_ROWS:
        schema = typed("object");
        cJSON_AddItemToObject(schema, "additionalProperties", table_schema(rows));
        break;
    default:
        schema = cJSON_CreateObject();
    }
    char about[512];
    snprintf(about, sizeof about, "%s%s%s%s", field->help, field->unit[0] ? " (" : "", field->unit,
             field->unit[0] ? ")" : "");
    cJSON_AddStringToObject(schema, "description", about);
    return schema;
}

/* Returns the parent object of a dotted path, creating it; *last is the path's last part. */
static cJSON *parent_of(cJSON *schema, const char *path, const char **last)
{
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        char part[64];
        snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
        cJSON *const members = cJSON_GetObjectItem(schema, "properties");
        cJSON *next = cJSON_GetObjectItemCaseSensitive(members, part);
        if (!next) {
            next = object();
            cJSON_AddItemToObject(members, part, next);
        }
        schema = next;
    }
    *last = path;
    return schema;
}

static cJSON *titled(cJSON *schema, const char *kind)
{
    char title[96];
    snprintf(title, sizeof title, "scaleplan %s file", kind);
    cJSON *const out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "$schema", DRAFT);
    cJSON_AddStringToObject(out, "title", title);
    while (schema->child) {
        cJSON *const item = cJSON_DetachItemViaPointer(schema, schema->child);
        char *const name = item->string;
        cJSON_AddItemToObject(out, name, item);
    }
    cJSON_Delete(schema);
    return out;
}

static cJSON *table_schema(const struct sp_field_table *table)
{
    cJSON *const schema = object();
    for (size_t i = 0; i < table->n; i++) {
        const char *last;
        cJSON *const parent = parent_of(schema, table->fields[i].key, &last);
        cJSON_AddItemToObject(cJSON_GetObjectItem(parent, "properties"), last,
                              field_schema(&table->fields[i], table->rows));
        if (!table->fields[i].required)
            continue;
        cJSON *required = cJSON_GetObjectItem(parent, "required");
        if (!required)
            required = cJSON_AddArrayToObject(parent, "required");
        cJSON_AddItemToArray(required, cJSON_CreateString(last));
    }
    return schema;
}

static cJSON *option_schema(const struct sp_option *o)
{
    cJSON *const member = cJSON_CreateObject();
    if (o->choices) {
        cJSON *const list = cJSON_AddArrayToObject(member, "enum");
        for (int c = 0; o->choices[c]; c++)
            cJSON_AddItemToArray(list, cJSON_CreateString(o->choices[c]));
        if (o->choices[0] && strcmp(o->choices[0], "off") == 0) {
            cJSON_AddItemToArray(list, cJSON_CreateBool(true));
            cJSON_AddItemToArray(list, cJSON_CreateBool(false));
        }
    } else {
        cJSON *const types = cJSON_AddArrayToObject(member, "type");
        cJSON_AddItemToArray(types, cJSON_CreateString("string"));
        cJSON_AddItemToArray(types, cJSON_CreateString(o->kind == SP_WHOLE ? "integer" : "number"));
        if (o->max > o->min) {
            cJSON_AddNumberToObject(member, "minimum", o->min);
            cJSON_AddNumberToObject(member, "maximum", o->max);
        }
    }
    cJSON_AddStringToObject(member, "description", o->help);
    return member;
}

/* Adds an option under its key in a report, if that differs. */
static void add_report_key(cJSON *members, enum sp_quantity_id row, const char *option)
{
    const char *const key = sp_quantity(row).key;
    if (cJSON_GetObjectItemCaseSensitive(members, key))
        return;
    cJSON *const member = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(members, option), true);
    cJSON *const types = cJSON_GetObjectItemCaseSensitive(member, "type");
    if (types) /* null: the report has no value */
        cJSON_AddItemToArray(types, cJSON_CreateString("null"));
    cJSON_AddItemToObject(members, key, member);
}

/* The schema of a line of `step -`: options of step, or a report. */
static cJSON *plan_schema(void)
{
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(&sp_cmd_step, options);
    cJSON *const schema = object();
    cJSON *const members = cJSON_GetObjectItem(schema, "properties");
    for (size_t i = 0; i < n - sp_n_common_options; i++)
        cJSON_AddItemToObject(members, options[i].name, option_schema(&options[i]));
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        add_report_key(members, sp_plan_rows[i], sp_plan_fields[i].name);
    for (size_t i = 0; i < sp_n_plan_inputs; i++)
        add_report_key(members, sp_plan_inputs[i].row, sp_plan_inputs[i].option);
    return schema;
}

static cJSON *values_schema(void)
{
    static const char *const types[] = {"number", "boolean", "string", "null"};
    cJSON *const schema = typed("object");
    cJSON *const value = cJSON_AddObjectToObject(schema, "additionalProperties");
    cJSON *const list = cJSON_AddArrayToObject(value, "type");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(types[i]));
    cJSON_AddNumberToObject(schema, "maxProperties", SP_CASE_MAX_VALUES);
    return schema;
}

static cJSON *case_schema(void)
{
    cJSON *const list = typed("array"), *const item = typed("object");
    cJSON *const members = cJSON_AddObjectToObject(item, "properties");
    cJSON *const required = cJSON_AddArrayToObject(item, "required");
    for (size_t i = 0; i < sp_n_case_members; i++) {
        const struct sp_case_member *const m = &sp_case_members[i];
        cJSON *schema;
        if (m->type == SP_CASE_IS_TEXT) {
            schema = typed("string");
        } else if (m->type == SP_CASE_IS_WORDS) {
            schema = typed("array");
            cJSON_AddItemToObject(schema, "items", typed("string"));
            cJSON_AddNumberToObject(schema, "minItems", 1);
            cJSON_AddNumberToObject(schema, "maxItems", SP_CASE_MAX_ARGS);
        } else if (m->type == SP_CASE_IS_VALUES) {
            schema = values_schema();
        } else {
            schema =
                number_schema(m->type == SP_CASE_IS_WHOLE ? "integer" : "number", m->min, m->max);
        }
        cJSON_AddStringToObject(schema, "description", m->help);
        cJSON_AddItemToObject(members, m->key, schema);
        if (m->required)
            cJSON_AddItemToArray(required, cJSON_CreateString(m->key));
    }
    cJSON_AddBoolToObject(item, "additionalProperties", false);
    cJSON_AddItemToObject(list, "items", item);
    return list;
}

bool sp_write_schema(const char *kind, FILE *out)
{
    cJSON *schema = NULL;
    for (int k = 0; k < SP_CONFIG_KINDS; k++)
        if (strcmp(sp_config_kinds[k].folder, kind) == 0)
            schema = table_schema(sp_config_kinds[k].table);
    if (strcmp(kind, "plan") == 0)
        schema = plan_schema();
    if (strcmp(kind, "cases") == 0)
        schema = case_schema();
    if (!schema)
        return false;
    schema = titled(schema, kind);
    char *const text = cJSON_Print(schema);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(schema);
    return true;
}
