/* Renders keys as bare values, JSON and explanations. */
#include "answer/report_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"

/* The container that holds the last part of a dotted path; numbers index arrays. */
static cJSON *open_path(cJSON *root, const char *path, const char **last)
{
    cJSON *at = root;
    for (;;) {
        const size_t n = strcspn(path, ".");
        if (path[n] == '\0') {
            *last = path;
            return at;
        }
        char name[80];
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        const char *const next = path + n + 1;
        cJSON *child = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(name))
                                         : cJSON_GetObjectItemCaseSensitive(at, name);
        if (!child) {
            const bool array = next[0] == '0' && (next[1] == '.' || next[1] == '\0');
            child = array ? cJSON_CreateArray() : cJSON_CreateObject();
            if (cJSON_IsArray(at))
                cJSON_AddItemToArray(at, child);
            else
                cJSON_AddItemToObject(at, name, child);
        }
        at = child;
        path = next;
    }
}

static void add_member(cJSON *container, const char *key, cJSON *value)
{
    if (cJSON_IsArray(container))
        cJSON_AddItemToArray(container, value);
    else
        cJSON_AddItemToObject(container, key, value);
}

static cJSON *json_number(double value)
{
    char text[40];
    sp_format_double(value, text, sizeof text);
    return cJSON_CreateRaw(text);
}

static void add_entry_json(cJSON *root, const struct sp_entry *entry)
{
    const char *key;
    cJSON *const container = open_path(root, entry->path, &key);
    char value[64];
    sp_format_entry(entry, value, sizeof value);
    add_member(container, key,
               entry->kind == SP_VALUE_TEXT ? cJSON_CreateString(entry->text)
                                            : cJSON_CreateRaw(value));
}

/* Prints the values of a group in JSON order: "key = value", with keys for --get. */
static void print_group(const cJSON *at, const char *path, FILE *out)
{
    int index = 0;
    for (const cJSON *child = at->child; child; child = child->next, index++) {
        char inner[200];
        if (child->string)
            sp_join_path(path, child->string, inner, sizeof inner);
        else
            snprintf(inner, sizeof inner, "%s.%d", path, index);
        if (cJSON_IsObject(child) || cJSON_IsArray(child))
            print_group(child, inner, out);
        else
            fprintf(out, "%s = %s\n", inner, child->valuestring);
    }
}

/* Prints values in the order of `keys`: bare, or with names if a key names a group. */
static void render_get(const struct sp_report *report, const char *keys, FILE *out)
{
    char key[160];
    while (sp_next_item(&keys, key, sizeof key)) {
        const struct sp_entry *const entry = sp_find(report, key);
        char value[64];
        if (entry) {
            sp_format_entry(entry, value, sizeof value);
            fprintf(out, "%s\n", entry->kind == SP_VALUE_TEXT ? entry->text : value);
            continue;
        }
        cJSON *const group = cJSON_CreateObject();
        for (size_t i = 0; i < report->n_entries; i++)
            if (sp_wanted(&report->entries[i], key))
                add_entry_json(group, &report->entries[i]);
        print_group(group, "", out);
        cJSON_Delete(group);
    }
}

static void print_json(cJSON *root, bool one_line, FILE *out)
{
    char *text = one_line ? cJSON_PrintUnformatted(root) : cJSON_Print(root);
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
}

/* Adds the program's version and the version of the keys, which increases when a key is removed or
 * changes meaning. */
static void add_origin(cJSON *root)
{
    enum { SHAPE_OF_KEYS = 2 };
    cJSON *const origin = cJSON_AddObjectToObject(root, "scaleplan");
    cJSON_AddStringToObject(origin, "version", SCALEPLAN_VERSION);
    cJSON_AddNumberToObject(origin, "keys", SHAPE_OF_KEYS);
}

void sp_render_json(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    cJSON *root = cJSON_CreateObject();
    if (!how->get && !how->one_line) /* lines of a stream all have the same origin */
        add_origin(root);
    for (size_t i = 0; i < report->n_entries; i++)
        if (sp_wanted(&report->entries[i], how->get))
            add_entry_json(root, &report->entries[i]);
    if (!how->get) {
        cJSON *notes = cJSON_AddArrayToObject(root, "notes");
        for (size_t i = 0; i < report->n_notes; i++)
            cJSON_AddItemToArray(notes, cJSON_CreateString(report->notes[i]));
    }
    print_json(root, how->one_line, out);
}

struct explanation {
    const struct sp_report *report;
    const struct sp_entry *entry;
    FILE *out;
    cJSON *inputs;
    char seen[512];
};

/* One line or object per distinct symbol. */
static void explain_symbol(const char *name, void *context)
{
    struct explanation *e = context;
    char mark[80], value[40];
    const size_t used = strlen(e->seen);
    snprintf(mark, sizeof mark, " %s ", name);
    if (strstr(e->seen, mark) || used + strlen(mark) >= sizeof e->seen)
        return;
    snprintf(e->seen + used, sizeof e->seen - used, "%s", mark);
    const char *unit, *meaning;
    const double number = sp_symbol_value(e->report, e->entry, name, &unit, &meaning);
    sp_format_double(number, value, sizeof value);
    if (e->inputs) {
        cJSON *input = cJSON_CreateObject();
        cJSON_AddItemToObject(input, "value", json_number(number));
        cJSON_AddStringToObject(input, "unit", unit);
        cJSON_AddStringToObject(input, "meaning", meaning);
        cJSON_AddItemToObject(e->inputs, name, input);
        return;
    }
    fprintf(e->out, "    %-10s = %s%s%s%s%s\n", name, value, *unit ? " " : "", unit,
            *meaning ? "  " : "", meaning);
}

/* Prints the formula with its numbers. */
static void print_with_numbers(const struct sp_report *report, const struct sp_entry *entry,
                               FILE *out)
{
    char formula[SP_FORMULA_TEXT];
    const char *at = sp_formula_text(entry->info.formula, formula);
    while (*at) {
        char name[64], value[40];
        const size_t n =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
        if (n == 0) {
            fputc(*at++, out);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        at += n;
        const bool is_name = !strchr("0123456789.", name[0]) && *at != '(';
        sp_format_double(is_name ? sp_symbol_value(report, entry, name, NULL, NULL) : NAN, value,
                         sizeof value);
        fputs(is_name ? value : name, out);
    }
}

static void explain_text(const struct sp_report *report, const struct sp_entry *entry, FILE *out)
{
    const struct sp_quantity_info *info = &entry->info;
    const char *const unit = sp_unit_name(info->unit);
    char value[64];
    sp_format_entry(entry, value, sizeof value);
    fprintf(out, "%s = %s%s%s\n", entry->path, entry->kind == SP_VALUE_TEXT ? entry->text : value,
            *unit ? " " : "", unit);
    if (*info->meaning)
        fprintf(out, "  %s\n", info->meaning);
    if (*info->formula && entry->kind != SP_VALUE_NONE) {
        char formula[SP_FORMULA_TEXT];
        fprintf(out, "  = %s\n  = ", sp_formula_text(info->formula, formula));
        print_with_numbers(report, entry, out);
        fputc('\n', out);
        struct explanation e = {.report = report, .entry = entry, .out = out};
        sp_each_name(formula, explain_symbol, &e);
    }
    if (*info->source)
        fprintf(out, "  source: %s\n", info->source);
}

static cJSON *explain_json(const struct sp_report *report, const struct sp_entry *entry)
{
    const struct sp_quantity_info *info = &entry->info;
    cJSON *object = cJSON_CreateObject();
    char value[64], formula[SP_FORMULA_TEXT];
    sp_format_entry(entry, value, sizeof value);
    cJSON_AddStringToObject(object, "key", entry->path);
    cJSON_AddItemToObject(object, "value",
                          entry->kind == SP_VALUE_TEXT ? cJSON_CreateString(entry->text)
                                                       : cJSON_CreateRaw(value));
    cJSON_AddStringToObject(object, "unit", sp_unit_name(info->unit));
    cJSON_AddStringToObject(object, "label", info->label);
    cJSON_AddStringToObject(object, "meaning", info->meaning);
    cJSON_AddStringToObject(object, "formula", sp_formula_text(info->formula, formula));
    cJSON_AddStringToObject(object, "source", info->source);
    struct explanation e = {.report = report, .entry = entry};
    e.inputs = cJSON_AddObjectToObject(object, "inputs");
    sp_each_name(formula, explain_symbol, &e);
    return object;
}

void sp_render_explain(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    cJSON *list = how->format == SP_FORMAT_JSON ? cJSON_CreateArray() : NULL;
    const char *separator = "";
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct sp_entry *entry = &report->entries[i];
        const char *const keys = how->explain_key ? how->explain_key : how->get;
        if (!sp_wanted(entry, keys) || (!keys && entry->is_old))
            continue;
        if (list) {
            cJSON_AddItemToArray(list, explain_json(report, entry));
            continue;
        }
        fputs(separator, out);
        separator = "\n";
        explain_text(report, entry, out);
    }
    if (list)
        print_json(list, false, out);
}

void sp_render(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    if (how->explain)
        sp_render_explain(report, how, out);
    else if (how->format == SP_FORMAT_JSON)
        sp_render_json(report, how, out);
    else if (how->format == SP_FORMAT_CSV || how->format == SP_FORMAT_TSV)
        sp_render_table(report, how, out);
    else if (how->format == SP_FORMAT_LAYOUT)
        sp_render_layout(report, out);
    else if (how->get)
        render_get(report, how->get, out);
    else
        sp_render_text(report, how, out);
}
