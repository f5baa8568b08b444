/* Explains quantities: formula, inputs, value and source. */
#include "answer/report_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "answer/derivation.h"
#include "base/json.h"
#include "base/list.h"
#include "base/text.h"

static cJSON *json_number(double value)
{
    char text[40];
    sp_format_double(value, text, sizeof text);
    return cJSON_CreateRaw(text);
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
    snprintf(mark, sizeof mark, " %s ", name);
    if (strstr(e->seen, mark) || strlen(e->seen) + strlen(mark) >= sizeof e->seen)
        return;
    sp_append(e->seen, sizeof e->seen, "%s", mark);
    const char *unit, *meaning;
    const double number = sp_argument_value(e->report, e->entry, name, &unit, &meaning);
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

/* Calls `visit` for every name in a formula. */
static void each_name(const char *formula, void (*visit)(const char *name, void *context),
                      void *context)
{
    while (*formula) {
        if (!isalpha((unsigned char)*formula)) {
            /* The exponent of a number is not a name. */
            if (isdigit((unsigned char)*formula))
                strtod(formula, (char **)&formula);
            else
                formula++;
            continue;
        }
        char name[64];
        size_t n = 0;
        while (isalnum((unsigned char)*formula) || *formula == '_') {
            if (n + 1 < sizeof name)
                name[n++] = *formula;
            formula++;
        }
        name[n] = '\0';
        if (*formula != '(')
            visit(name, context);
    }
}

/* Prints the formula with its numbers. */
static void print_with_numbers(const struct sp_report *report, const struct sp_entry *entry,
                               FILE *out)
{
    char formula[SP_FORMULA_TEXT];
    const char *at = sp_formula_text(entry->info->formula, formula);
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
        sp_format_double(is_name ? sp_argument_value(report, entry, name, NULL, NULL) : NAN, value,
                         sizeof value);
        fputs(is_name ? value : name, out);
    }
}

static bool is_derived(const struct sp_entry *entry)
{
    return *sp_derivation(entry->form) && !entry->is_old;
}

/* Reports that there is no derivation, and names the figures of the answer that have one: parts of
 * this one may be among them. */
static void put_derived(const struct sp_report *report, FILE *out)
{
    const char *before = "; of this answer: ";
    fputs("  this has no derivation", out);
    for (size_t i = 0; i < report->n_entries; i++) {
        if (!is_derived(&report->entries[i]))
            continue;
        fprintf(out, "%s%s", before, sp_path(&report->entries[i]));
        before = ", ";
    }
    fputc('\n', out);
}

/* Prints the numbered lines of the entry's form, each before its reason. */
static void derive_text(const struct sp_report *report, const struct sp_entry *entry, FILE *out)
{
    struct sp_derived_line line;
    const char *lines = sp_derivation(entry->form);
    if (!*lines)
        put_derived(report, out);
    for (int i = 1; (lines = sp_next_derived(lines, &line)); i++)
        fprintf(out, "  %2d. %.*s%s\n        %.*s\n", i, line.line_length, line.line,
                line.kind == SP_ASK ? " ?" : "", line.reason_length, line.reason);
}

static void derive_json(const struct sp_entry *entry, cJSON *object)
{
    static const char *const kinds[] = {[SP_LET] = "let", [SP_ASK] = "ask", [SP_THEN] = "then"};
    struct sp_derived_line line;
    const char *lines = sp_derivation(entry->form);
    cJSON *const list = cJSON_AddArrayToObject(object, "derivation");
    while ((lines = sp_next_derived(lines, &line))) {
        struct sp_text text;
        cJSON *const step = cJSON_CreateObject();
        cJSON_AddStringToObject(step, "kind", kinds[line.kind]);
        snprintf(text.s, sizeof text.s, "%.*s", line.line_length, line.line);
        cJSON_AddStringToObject(step, "line", text.s);
        snprintf(text.s, sizeof text.s, "%.*s", line.reason_length, line.reason);
        cJSON_AddStringToObject(step, "reason", text.s);
        cJSON_AddItemToArray(list, step);
    }
}

static void explain_text(const struct sp_report *report, const struct sp_entry *entry, bool derive,
                         FILE *out)
{
    const struct sp_quantity_info *info = entry->info;
    const char *const unit = sp_unit_name(info->unit);
    fprintf(out, "%s = %s%s%s\n", sp_path(entry), sp_exact_value(entry, SP_ROOM), *unit ? " " : "",
            unit);
    if (*info->meaning)
        fprintf(out, "  %s\n", info->meaning);
    if (derive)
        derive_text(report, entry, out);
    if (*info->formula && entry->kind != SP_VALUE_NONE) {
        char formula[SP_FORMULA_TEXT];
        fprintf(out, "  = %s\n  = ", sp_formula_text(info->formula, formula));
        print_with_numbers(report, entry, out);
        fputc('\n', out);
        struct explanation e = {.report = report, .entry = entry, .out = out};
        each_name(formula, explain_symbol, &e);
    }
    if (*info->source)
        fprintf(out, "  source: %s\n", info->source);
}

static cJSON *explain_json(const struct sp_report *report, const struct sp_entry *entry,
                           bool derive)
{
    const struct sp_quantity_info *info = entry->info;
    cJSON *object = cJSON_CreateObject();
    char formula[SP_FORMULA_TEXT];
    cJSON_AddStringToObject(object, "key", sp_path(entry));
    cJSON_AddItemToObject(object, "value", sp_entry_json(entry));
    cJSON_AddStringToObject(object, "unit", sp_unit_name(info->unit));
    cJSON_AddStringToObject(object, "label", info->label);
    cJSON_AddStringToObject(object, "meaning", info->meaning);
    cJSON_AddStringToObject(object, "formula", sp_formula_text(info->formula, formula));
    cJSON_AddStringToObject(object, "source", info->source);
    struct explanation e = {.report = report, .entry = entry};
    e.inputs = cJSON_AddObjectToObject(object, "inputs");
    each_name(formula, explain_symbol, &e);
    if (derive)
        derive_json(entry, object);
    return object;
}

void sp_render_explain(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    cJSON *list = how->format == SP_FORMAT_JSON ? cJSON_CreateArray() : NULL;
    const char *separator = "";
    const char *const keys = how->explain_key ? how->explain_key : how->get;
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct sp_entry *entry = &report->entries[i];
        /* without a key --derive shows what has a derivation */
        if (!sp_wanted(entry, keys) ||
            (!keys && (entry->is_old || (how->derive && !list && !is_derived(entry)))))
            continue;
        if (list) {
            cJSON_AddItemToArray(list, explain_json(report, entry, how->derive));
            continue;
        }
        fputs(separator, out);
        separator = "\n";
        explain_text(report, entry, how->derive, out);
    }
    if (list)
        sp_print_json(list, false, out);
    else if (!*separator)
        put_derived(report, out);
}
