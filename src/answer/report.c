/* Collects the quantities of a report and finds them by their keys. */
#include "answer/report_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

static void *must(void *memory)
{
    if (!memory) {
        fputs("scaleplan: out of memory\n", stderr);
        exit(4);
    }
    return memory;
}

/* Makes room for one more element of `size` bytes. */
static void *grow(void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    *room = *room ? *room * 2 : 256;
    return must(realloc(array, *room * size));
}

/* Removes line breaks, which could imitate lines of the report. Names and notes are cleaned when
 * they enter a report, so that text, JSON and CSV agree. */
static char *one_line(char *text)
{
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ' ';
    sp_make_printable(text, "");
    return text;
}

static char *format_string(const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        must(NULL);
    return one_line(text);
}

static char *copy_string(const char *text)
{
    char *const copy = must(strdup(text));
    sp_make_printable(copy, "\n");
    return copy;
}

struct sp_report *sp_report_new(const char *command)
{
    struct sp_report *report = must(calloc(1, sizeof *report));
    report->command = command;
    sp_scope(report, "");
    return report;
}

void sp_report_free(struct sp_report *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_entries; i++)
        free(r->entries[i].text);
    for (size_t i = 0; i < r->n_items; i++) {
        free(r->items[i].line);
        free(r->items[i].columns);
        free(r->items[i].rows);
    }
    for (size_t i = 0; i < r->n_notes; i++)
        free(r->notes[i]);
    for (size_t i = 0; i < r->n_owned; i++)
        free(r->owned[i]);
    free(r->file);
    free(r->file_text);
    free(r->entries);
    free(r->index.slot);
    free(r->symbols);
    free(r->arguments);
    free(r->scopes);
    free(r->items);
    free(r->notes);
    free(r->owned);
    free(r);
}

void sp_scope(struct sp_report *r, const char *prefix)
{
    r->scopes = grow(r->scopes, r->n_scopes, &r->room_scopes, sizeof *r->scopes);
    struct sp_scope *scope = &r->scopes[r->n_scopes++];
    *scope = (struct sp_scope){.first_symbol = r->n_symbols};
    snprintf(scope->prefix, sizeof scope->prefix, "%s", prefix);
    one_line(scope->prefix);
}

void sp_symbol(struct sp_report *r, const char *name, double value, const char *unit,
               const char *meaning, ...)
{
    r->symbols = grow(r->symbols, r->n_symbols, &r->room_symbols, sizeof *r->symbols);
    struct sp_symbol *symbol = &r->symbols[r->n_symbols++];
    *symbol = (struct sp_symbol){.value = value, .unit = unit};
    strncat(symbol->name, name, sizeof symbol->name - 1);
    va_list args;
    va_start(args, meaning);
    vsnprintf(symbol->meaning, sizeof symbol->meaning, meaning, args);
    va_end(args);
    r->scopes[r->n_scopes - 1].n_symbols++;
}

static const char *keep(struct sp_report *r, const char *text)
{
    r->owned = grow(r->owned, r->n_owned, &r->room_owned, sizeof *r->owned);
    return r->owned[r->n_owned++] = one_line(must(strdup(text)));
}

void sp_key_word(struct sp_report *r, const char *word, const char *as)
{
    snprintf(r->word, sizeof r->word, "%s", word ? word : "");
    snprintf(r->word_as, sizeof r->word_as, "%s", word ? as : "");
}

static bool has_word(const struct sp_report *r, const char *text)
{
    return r->word[0] && strstr(text, r->word);
}

/* A copy of the text with the word of sp_key_word replaced. */
static char *fill_word(const struct sp_report *r, const char *text)
{
    const size_t n = strlen(r->word), m = strlen(r->word_as);
    char *const out = must(malloc((strlen(text) + 1) * (m + 1))), *to = out;
    for (const char *found; (found = strstr(text, r->word)); text = found + n) {
        to = mempcpy(to, text, (size_t)(found - text));
        to = mempcpy(to, r->word_as, m);
    }
    memcpy(to, text, strlen(text) + 1);
    return out;
}

static const char *key_of(struct sp_report *r, const char *key)
{
    if (!has_word(r, key))
        return key;
    r->owned = grow(r->owned, r->n_owned, &r->room_owned, sizeof *r->owned);
    return r->owned[r->n_owned++] = fill_word(r, key);
}

static struct sp_strings paths_of(const struct sp_report *r)
{
    return (struct sp_strings){r->entries ? r->entries->path : NULL, sizeof *r->entries};
}

static struct sp_entry *add_entry(struct sp_report *r, struct sp_quantity_info info)
{
    r->entries = grow(r->entries, r->n_entries, &r->room_entries, sizeof *r->entries);
    struct sp_entry *entry = &r->entries[r->n_entries++];
    const char *prefix = r->scopes[r->n_scopes - 1].prefix;
    info.key = key_of(r, info.key);
    if (info.old_key)
        info.old_key = key_of(r, info.old_key);
    *entry = (struct sp_entry){.info = info, .scope = (int)r->n_scopes - 1, .number = NAN};
    sp_join_path(prefix, info.key, entry->path, sizeof entry->path);
    sp_index_add(&r->index, paths_of(r), r->n_entries - 1);
    return entry;
}

static void set_number(struct sp_entry *entry, double value)
{
    entry->number = value;
    entry->kind = isfinite(value) ? SP_VALUE_NUMBER : SP_VALUE_NONE;
}

/* The last quantity once more, under the key of the version before if it had another. */
static void put_old_key(struct sp_report *r)
{
    struct sp_entry entry = r->entries[r->n_entries - 1];
    if (!entry.info.old_key)
        return;
    sp_join_path(r->scopes[entry.scope].prefix, entry.info.old_key, entry.path, sizeof entry.path);
    entry.is_old = true;
    if (entry.text)
        entry.text = must(strdup(entry.text));
    r->entries = grow(r->entries, r->n_entries, &r->room_entries, sizeof *r->entries);
    r->entries[r->n_entries++] = entry;
    sp_index_add(&r->index, paths_of(r), r->n_entries - 1);
}

void sp_put(struct sp_report *r, enum sp_quantity_id id, double value)
{
    set_number(add_entry(r, sp_quantity(id)), value);
    put_old_key(r);
}

void sp_put_form(struct sp_report *r, enum sp_quantity_id id, enum sp_form_id form,
                 const double *arguments, double value)
{
    struct sp_entry *const entry = add_entry(r, sp_quantity(id));
    const struct sp_form row = sp_form(form);
    set_number(entry, value);
    entry->form = form;
    entry->arguments = r->n_arguments;
    for (size_t i = 0; row.arguments[i].name; i++) {
        r->arguments = grow(r->arguments, r->n_arguments, &r->room_arguments, sizeof *r->arguments);
        r->arguments[r->n_arguments++] = arguments[i];
        if (isnan(arguments[i])) /* fmin and fmax ignore NAN */
            set_number(entry, NAN);
    }
    put_old_key(r);
}

void sp_put_bool(struct sp_report *r, enum sp_quantity_id id, bool value)
{
    struct sp_entry *entry = add_entry(r, sp_quantity(id));
    entry->number = value;
    entry->kind = SP_VALUE_BOOL;
    put_old_key(r);
}

void sp_put_null(struct sp_report *r, enum sp_quantity_id id)
{
    add_entry(r, sp_quantity(id));
    put_old_key(r);
}

void sp_put_text(struct sp_report *r, enum sp_quantity_id id, const char *format, ...)
{
    struct sp_entry *entry = add_entry(r, sp_quantity(id));
    va_list args;
    va_start(args, format);
    entry->text = format_string(format, args);
    va_end(args);
    entry->kind = SP_VALUE_TEXT;
    put_old_key(r);
}

void sp_put_lines(struct sp_report *r, enum sp_quantity_id id, const char *text)
{
    struct sp_entry *entry = add_entry(r, sp_quantity(id));
    entry->text = copy_string(text);
    entry->kind = SP_VALUE_TEXT;
}

void sp_put_keyed(struct sp_report *r, enum sp_quantity_id id, const char *key, double value)
{
    struct sp_quantity_info info = sp_quantity(id);
    info.key = keep(r, key);
    info.old_key = NULL;
    struct sp_entry *entry = add_entry(r, info);
    set_number(entry, value);
    if (info.unit == SP_VERDICT && entry->kind == SP_VALUE_NUMBER)
        entry->kind = SP_VALUE_BOOL;
}

void sp_put_described(struct sp_report *r, const char *key, const char *label, enum sp_unit unit,
                      const char *source, const char *meaning, double number, const char *text)
{
    const struct sp_quantity_info info = {keep(r, key),    keep(r, label),   unit, "",
                                          keep(r, source), keep(r, meaning), NULL};
    struct sp_entry *entry = add_entry(r, info);
    if (text) {
        entry->text = one_line(must(strdup(text)));
        entry->kind = SP_VALUE_TEXT;
    } else {
        set_number(entry, number);
    }
}

static const struct sp_symbol *find_symbol(const struct sp_report *r, int scope, const char *name)
{
    const struct sp_scope *s = &r->scopes[scope];
    for (size_t i = 0; i < s->n_symbols; i++)
        if (strcmp(r->symbols[s->first_symbol + i].name, name) == 0)
            return &r->symbols[s->first_symbol + i];
    return NULL;
}

struct copying {
    struct sp_report *to;
    const struct sp_report *from;
    const struct sp_entry *entry;
};

static void copy_symbol(const char *name, void *context)
{
    const struct copying *c = context;
    const char *unit, *meaning;
    const double value = sp_symbol_value(c->from, c->entry, name, &unit, &meaning);
    if (!find_symbol(c->to, (int)c->to->n_scopes - 1, name))
        sp_symbol(c->to, name, value, unit, "%s", meaning);
}

void sp_put_copy(struct sp_report *r, const char *key, const struct sp_report *from,
                 const struct sp_entry *entry)
{
    struct copying c = {.to = r, .from = from, .entry = entry};
    const struct sp_quantity_info *const was = &entry->info;
    char formula[SP_FORMULA_TEXT];
    const struct sp_quantity_info info = {keep(r, key),
                                          keep(r, was->label),
                                          was->unit,
                                          keep(r, sp_formula_text(was->formula, formula)),
                                          keep(r, was->source),
                                          keep(r, was->meaning),
                                          NULL};
    struct sp_entry *copy = add_entry(r, info);
    copy->kind = entry->kind;
    copy->number = entry->number;
    if (entry->text)
        copy->text = copy_string(entry->text);
    sp_each_name(info.formula, copy_symbol, &c);
}

const char *sp_report_note(const struct sp_report *r, size_t i)
{
    return i < r->n_notes ? r->notes[i] : NULL;
}

void sp_note(struct sp_report *r, const char *format, ...)
{
    r->notes = grow(r->notes, r->n_notes, &r->room_notes, sizeof *r->notes);
    va_list args;
    va_start(args, format);
    r->notes[r->n_notes++] = format_string(format, args);
    va_end(args);
}

static struct sp_item *add_item(struct sp_report *r, enum sp_item_kind kind)
{
    r->items = grow(r->items, r->n_items, &r->room_items, sizeof *r->items);
    struct sp_item *item = &r->items[r->n_items++];
    *item = (struct sp_item){.kind = kind};
    return item;
}

void sp_line(struct sp_report *r, const char *format, ...)
{
    struct sp_item *item = add_item(r, SP_ITEM_LINE);
    va_list args;
    va_start(args, format);
    item->line = format_string(format, args);
    va_end(args);
    if (has_word(r, item->line)) {
        char *const filled = fill_word(r, item->line);
        free(item->line);
        item->line = filled;
    }
}

void sp_file_text(struct sp_report *r, const char *text)
{
    add_item(r, SP_ITEM_FILE)->line = copy_string(text);
}

void sp_table(struct sp_report *r, const struct sp_column *columns, size_t n_columns,
              const struct sp_row *rows, size_t n_rows)
{
    struct sp_item *item = add_item(r, SP_ITEM_TABLE);
    item->columns = must(malloc(n_columns * sizeof *columns));
    item->rows = must(malloc((n_rows + 1) * sizeof *rows));
    memcpy(item->columns, columns, n_columns * sizeof *columns);
    memcpy(item->rows, rows, n_rows * sizeof *rows);
    for (size_t i = 0; i < n_columns; i++)
        item->columns[i].heading = keep(r, columns[i].heading);
    for (size_t i = 0; i < n_rows; i++) {
        one_line(item->rows[i].label);
        one_line(item->rows[i].prefix);
    }
    item->n_columns = n_columns;
    item->n_rows = n_rows;
}

void sp_answer_is(struct sp_report *report, const char *list)
{
    report->list = list;
}

/* Writes the file last, after all checks, so that a refused --get leaves none. */
bool sp_put_file(struct sp_report *report, const char *path, const char *text,
                 struct sp_error *error)
{
    if (path[0] == '\0')
        return sp_fail(error, SP_INPUT, "--output: an empty name, expected a file or -");
    report->file = must(strdup(path));
    report->file_text = must(strdup(text));
    return true;
}

const char *sp_report_file(const struct sp_report *report, const char **text)
{
    *text = report->file_text;
    return report->file;
}

const struct sp_entry *sp_find(const struct sp_report *r, const char *path)
{
    const size_t at = sp_index_find(&r->index, paths_of(r), path);
    return at < r->n_entries ? &r->entries[at] : NULL;
}

/* Index of the named argument of an entry's form; -1: none. */
static int argument_of(const struct sp_form *form, const char *name)
{
    for (int i = 0; form->arguments[i].name; i++)
        if (strcmp(form->arguments[i].name, name) == 0)
            return i;
    return -1;
}

double sp_symbol_value(const struct sp_report *r, const struct sp_entry *from, const char *name,
                       const char **unit, const char **meaning)
{
    const struct sp_form form = sp_form(from->form);
    const int own = argument_of(&form, name);
    if (own >= 0) {
        if (unit)
            *unit = strcmp(form.arguments[own].unit, "1") == 0 ? "" : form.arguments[own].unit;
        if (meaning)
            *meaning = form.arguments[own].meaning;
        return r->arguments[from->arguments + (size_t)own];
    }
    const struct sp_symbol *symbol = find_symbol(r, from->scope, name);
    const struct sp_entry *entry = NULL;
    char path[160];
    if (!symbol) {
        snprintf(path, sizeof path, "%s.%s", r->scopes[from->scope].prefix, name);
        entry = sp_find(r, path);
    }
    /* scopes reopened with an empty prefix are top scopes too */
    for (size_t i = 0; i < r->n_scopes && !symbol && !entry; i++)
        if (!r->scopes[i].prefix[0])
            symbol = find_symbol(r, (int)i, name);
    if (!symbol && !entry)
        entry = sp_find(r, name);
    if (unit)
        *unit = symbol ? symbol->unit : entry ? sp_unit_name(entry->info.unit) : "";
    if (meaning)
        *meaning = symbol ? symbol->meaning : entry ? entry->info.label : "";
    return symbol ? symbol->value : entry ? entry->number : NAN;
}

size_t sp_report_size(const struct sp_report *r)
{
    return r->n_entries;
}

const struct sp_entry *sp_report_entry(const struct sp_report *r, size_t i)
{
    return &r->entries[i];
}

void sp_each_name(const char *formula, void (*visit)(const char *name, void *context),
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
        /* "time.step_s" is one name: the path of a quantity. */
        while (isalnum((unsigned char)*formula) || *formula == '_' ||
               (*formula == '.' && isalpha((unsigned char)formula[1]))) {
            if (n + 1 < sizeof name)
                name[n++] = *formula;
            formula++;
        }
        name[n] = '\0';
        if (*formula != '(')
            visit(name, context);
    }
}
