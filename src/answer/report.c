/* Collects the quantities of a report and finds them by their keys. */
#include "answer/report_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"

/* Removes line breaks, which could imitate lines of the report. Names and notes are cleaned when
 * they enter a report, so that text, JSON and CSV agree. */
static char *one_line(char *text)
{
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ' ';
    sp_make_printable(text, "");
    return text;
}

static char *format_string(const struct sp_report *r, const char *format, va_list args)
{
    char *const text = sp_make_text_from(format, args);
    sp_say_images(r, text);
    return one_line(text);
}

static char *copy_string(const char *text)
{
    char *const copy = sp_must(strdup(text));
    sp_make_printable(copy, "\n\t");
    return copy;
}

/* Memory that lasts as long as the report, cut from blocks: most texts are shorter than malloc's
 * own overhead. `unit`: 1 for texts, a word for structs. */
static void *cut(struct sp_report *r, size_t size, size_t unit)
{
    enum { FIRST = 1000, NEXT = 4096 }; /* malloc is fast up to 1032 bytes */
    const size_t least = r->n_owned == 0 ? FIRST : NEXT, whole = size > least ? size : least;
    r->left -= r->left % unit;
    if (size > r->left) {
        r->owned = sp_grow(r->owned, r->n_owned + 1, &r->room_owned, sizeof *r->owned);
        r->owned[r->n_owned] = sp_must(malloc(whole));
        r->block_end = r->owned[r->n_owned++] + whole;
        r->left = whole;
    }
    r->left -= size;
    return r->block_end - r->left - size;
}

struct sp_report *sp_report_new(const char *command)
{
    struct sp_report *report = sp_must(calloc(1, sizeof *report));
    report->command = command;
    report->index = sp_must(calloc(1, sizeof *report->index));
    return report;
}

void sp_report_free(struct sp_report *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_items; i++) {
        free(r->items[i].line);
        free(r->items[i].columns);
        free(r->items[i].rows);
    }
    for (size_t i = 0; i < r->n_notes; i++)
        free(r->notes[i].text);
    for (size_t i = 0; i < r->n_owned; i++)
        free(r->owned[i]);
    free(r->file);
    free(r->file_text);
    free(r->entries);
    free(r->index->slot);
    free(r->index);
    free(r->arguments);
    free(r->rows);
    free(r->items);
    free(r->notes);
    free(r->owned);
    free(r);
}

void sp_scope(struct sp_report *r, const char *prefix)
{
    snprintf(r->prefix, sizeof r->prefix, "%s", prefix);
    one_line(r->prefix);
    r->scope = NULL;
    if (r->asked)
        r->part = sp_asked_part_of(r->asked, r->prefix);
}

static char *copy_of(struct sp_report *r, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(cut(r, size, 1), text, size);
}

/* The same for a text that was allocated for it. */
static const char *take_text(struct sp_report *r, char *text)
{
    const char *const kept = copy_of(r, text);
    free(text);
    return kept;
}

static const char *keep(struct sp_report *r, const char *text)
{
    return one_line(copy_of(r, text));
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
    char *const out = sp_must(malloc((strlen(text) + 1) * (m + 1))), *to = out;
    for (const char *found; (found = strstr(text, r->word)); text = found + n) {
        to = mempcpy(to, text, (size_t)(found - text));
        to = mempcpy(to, r->word_as, m);
    }
    memcpy(to, text, strlen(text) + 1);
    return out;
}

static const char *key_of(struct sp_report *r, const char *key)
{
    return has_word(r, key) ? take_text(r, fill_word(r, key)) : key;
}

static const char *path_at(const void *report, size_t i, struct sp_text *room)
{
    return sp_path_in(room, &((const struct sp_report *)report)->entries[i]);
}

static struct sp_strings paths_of(const struct sp_report *r)
{
    return (struct sp_strings){r, path_at};
}

void sp_ask_only(struct sp_report *r, const struct sp_asked *asked)
{
    r->asked = asked;
    r->part = sp_asked_part_of(asked, r->prefix);
}

bool sp_takes(const struct sp_report *r, enum sp_quantity_id id)
{
    return !r->asked || r->part == SP_ASKED_ALL ||
           (r->part == SP_ASKED_SOME && (r->asked->may_be[id] || r->word[0]));
}

bool sp_takes_scope(const struct sp_report *r, const char *prefix)
{
    return !r->asked || sp_asked_part_of(r->asked, prefix) != SP_ASKED_NONE;
}

bool sp_takes_words(const struct sp_report *r)
{
    return !r->asked;
}

/* Whether a key of the row is asked for, in today's spelling or that of the previous version. */
static bool is_asked(const struct sp_report *r, const struct sp_quantity_info *info)
{
    struct sp_entry entry = {.info = info, .scope = r->prefix};
    return sp_wanted(&entry, r->asked->keys) ||
           ((entry.is_old = info->old_key) && sp_wanted(&entry, r->asked->keys));
}

static const struct sp_quantity_info *keep_info(struct sp_report *r, struct sp_quantity_info info)
{
    return memcpy(cut(r, sizeof info, sizeof info.key), &info, sizeof info);
}

static struct sp_put *put_of(struct sp_report *r, enum sp_quantity_id id)
{
    struct sp_put **const block = &r->put[id / SP_PUT_BLOCK];
    const size_t size = SP_PUT_BLOCK * sizeof **block;
    if (!*block)
        *block = memset(cut(r, size, sizeof(char *)), 0, size);
    return &(*block)[id % SP_PUT_BLOCK];
}

/* A row of the tables, once for all entries; with a word of sp_key_word, of its own. */
static const struct sp_quantity_info *info_of(struct sp_report *r, enum sp_quantity_id id)
{
    struct sp_put *const put = put_of(r, id);
    if (!put->info)
        put->info = keep_info(r, sp_quantity(id));
    struct sp_quantity_info info = *put->info;
    if (!has_word(r, info.key) && !(info.old_key && has_word(r, info.old_key)))
        return put->info;
    info.key = key_of(r, info.key);
    if (info.old_key)
        info.old_key = key_of(r, info.old_key);
    return keep_info(r, info);
}

/* Entries share the text of their scope: a file of runs has a dozen for each of many scopes. */
static struct sp_entry *append(struct sp_report *r, struct sp_entry *entry)
{
    if (!r->scope)
        r->scope = r->prefix[0] ? copy_of(r, r->prefix) : "";
    entry->scope = r->scope;
    r->entries = sp_grow(r->entries, r->n_entries + 1, &r->room_entries, sizeof *r->entries);
    r->entries[r->n_entries++] = *entry;
    return &r->entries[r->n_entries - 1];
}

/* NULL: the report does not take it. */
static struct sp_entry *add_entry(struct sp_report *r, const struct sp_quantity_info *info)
{
    struct sp_entry entry = {.info = info, .number = NAN};
    return r->asked && !is_asked(r, info) ? NULL : append(r, &entry);
}

static struct sp_entry *add_row(struct sp_report *r, enum sp_quantity_id id)
{
    return sp_takes(r, id) ? add_entry(r, info_of(r, id)) : NULL;
}

static void set_number(struct sp_entry *entry, double value)
{
    if (!entry)
        return;
    entry->number = value;
    entry->kind = isfinite(value) ? SP_VALUE_NUMBER : SP_VALUE_NONE;
}

/* Whether a path is below a quantity: as JSON a number has no members. */
static bool is_below_value(const struct sp_report *r, const char *path)
{
    char group[160];
    const char *const dot = strrchr(path, '.');
    sp_cut_text(path, dot ? (size_t)(dot - path) : 0, group, sizeof group);
    return sp_find(r, group) != NULL;
}

/* Adds the quantity (NULL: none) again under the key of the previous version if that differs. */
static void put_old_key(struct sp_report *r, const struct sp_entry *entry)
{
    if (!entry || !entry->info->old_key)
        return;
    struct sp_entry old = *entry;
    old.is_old = true;
    if (!is_below_value(r, sp_path(&old)))
        append(r, &old);
}

void sp_put(struct sp_report *r, enum sp_quantity_id id, double value)
{
    struct sp_entry *const entry = add_row(r, id);
    set_number(entry, value);
    put_old_key(r, entry);
}

/* Binds an entry to the form that gives its number, with the values of the form's arguments. */
static void set_form(struct sp_report *r, struct sp_entry *entry, enum sp_form_id form,
                     const double *arguments, size_t n)
{
    entry->form = (uint16_t)form;
    entry->arguments = (uint32_t)r->n_arguments;
    for (size_t i = 0; i < n; i++) {
        r->arguments =
            sp_grow(r->arguments, r->n_arguments + 1, &r->room_arguments, sizeof *r->arguments);
        r->arguments[r->n_arguments++] = arguments[i];
        if (isnan(arguments[i])) /* fmin and fmax ignore NAN */
            set_number(entry, NAN);
    }
    put_old_key(r, entry);
}

void sp_put_form(struct sp_report *r, enum sp_quantity_id id, enum sp_form_id form,
                 const double *arguments, size_t n, double value)
{
    struct sp_entry *const entry = add_row(r, id);
    if (!entry)
        return;
    set_number(entry, value);
    set_form(r, entry, form, arguments, n);
}

void sp_put_bool(struct sp_report *r, enum sp_quantity_id id, bool value)
{
    struct sp_entry *const entry = add_row(r, id);
    set_number(entry, value);
    if (entry)
        entry->kind = SP_VALUE_BOOL;
    put_old_key(r, entry);
}

void sp_put_null(struct sp_report *r, enum sp_quantity_id id)
{
    put_old_key(r, add_row(r, id));
}

void sp_put_text(struct sp_report *r, enum sp_quantity_id id, const char *format, ...)
{
    struct sp_entry *const entry = add_row(r, id);
    if (!entry)
        return;
    va_list args;
    va_start(args, format);
    char *const text = format_string(r, format, args);
    const char **const last = &put_of(r, id)->last_text;
    if (*last && strcmp(*last, text) == 0)
        free(text);
    else
        *last = take_text(r, text);
    entry->text = *last;
    va_end(args);
    entry->kind = SP_VALUE_TEXT;
    put_old_key(r, entry);
}

void sp_put_words(struct sp_report *r, enum sp_quantity_id id, const char *text)
{
    if (text && *text)
        sp_put_text(r, id, "%s", text);
    else
        sp_put_null(r, id);
}

void sp_put_lines(struct sp_report *r, enum sp_quantity_id id, const char *text)
{
    struct sp_entry *const entry = add_row(r, id);
    if (!entry)
        return;
    entry->text = take_text(r, copy_string(text));
    entry->kind = SP_VALUE_TEXT;
}

void sp_put_described(struct sp_report *r, const char *key, const char *label, enum sp_unit unit,
                      const char *source, const char *meaning, double number, const char *text)
{
    const struct sp_quantity_info info = {keep(r, key),    keep(r, label),   unit, "",
                                          keep(r, source), keep(r, meaning), NULL};
    struct sp_entry *const entry = add_entry(r, keep_info(r, info));
    if (entry && text) {
        entry->text = keep(r, text);
        entry->kind = SP_VALUE_TEXT;
    } else {
        set_number(entry, number);
    }
}

void sp_put_copy(struct sp_report *r, const char *key, const struct sp_report *from,
                 const struct sp_entry *entry)
{
    const struct sp_quantity_info *const was = entry->info;
    const struct sp_quantity_info info = {keep(r, key), keep(r, was->label),  was->unit,
                                          was->formula, keep(r, was->source), keep(r, was->meaning),
                                          NULL};
    struct sp_entry *const copy = add_entry(r, keep_info(r, info));
    if (!copy)
        return;
    copy->kind = entry->kind;
    if (entry->kind != SP_VALUE_TEXT)
        copy->number = entry->number;
    else
        copy->text = take_text(r, copy_string(entry->text));
    if (entry->form == SP_CLOSED_NONE)
        return;
    size_t n = 0;
    for (const struct sp_form row = sp_form(entry->form); row.arguments[n].name;)
        n++;
    set_form(r, copy, entry->form, from->arguments + entry->arguments, n);
}

const char *sp_report_note(const struct sp_report *r, size_t i)
{
    return i < r->n_notes ? r->notes[i].text : NULL;
}

static void add_note(struct sp_report *r, bool is_warning, const char *format, va_list args)
{
    if (!sp_takes_words(r))
        return;
    r->notes = sp_grow(r->notes, r->n_notes + 1, &r->room_notes, sizeof *r->notes);
    r->notes[r->n_notes++] =
        (struct sp_remark){format_string(r, format, args), r->place, is_warning};
}

void sp_note(struct sp_report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(r, false, format, args);
    va_end(args);
}

void sp_warn(struct sp_report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(r, true, format, args);
    va_end(args);
}

void sp_stand_in(struct sp_report *r, enum sp_where place)
{
    r->place = place;
}

enum sp_where sp_where_now(const struct sp_report *r)
{
    return r->place;
}

static struct sp_item *add_item(struct sp_report *r, enum sp_item_kind kind)
{
    r->items = sp_grow(r->items, r->n_items + 1, &r->room_items, sizeof *r->items);
    struct sp_item *item = &r->items[r->n_items++];
    *item = (struct sp_item){.kind = kind, .place = r->place};
    return item;
}

void sp_line(struct sp_report *r, const char *format, ...)
{
    if (!sp_takes_words(r))
        return;
    struct sp_item *item = add_item(r, SP_ITEM_LINE);
    va_list args;
    va_start(args, format);
    item->line = format_string(r, format, args);
    va_end(args);
    if (has_word(r, item->line)) {
        char *const filled = fill_word(r, item->line);
        free(item->line);
        item->line = filled;
    }
}

void sp_file_text(struct sp_report *r, const char *text)
{
    if (sp_takes_words(r))
        add_item(r, SP_ITEM_FILE)->line = copy_string(text);
}

void sp_markdown_file(struct sp_report *r, const char *text)
{
    if (sp_takes_words(r))
        add_item(r, SP_ITEM_MARKDOWN)->line = copy_string(text);
}

/* The label of a row, cut where it is longer than a table shows. */
static const char *keep_label(struct sp_report *r, const char *label)
{
    char text[64];
    snprintf(text, sizeof text, "%.63s", label);
    return text[0] ? keep(r, text) : "";
}

void sp_table(struct sp_report *r, const struct sp_column *columns, size_t n_columns,
              const struct sp_row *rows, size_t n_rows)
{
    struct sp_row *const copy = sp_must(malloc((n_rows + 1) * sizeof *rows));
    for (size_t i = 0; i < n_rows; i++)
        copy[i] = (struct sp_row){keep_label(r, rows[i].label), keep(r, rows[i].prefix)};
    sp_table_of(r, columns, n_columns, copy, n_rows);
}

void sp_table_of(struct sp_report *r, const struct sp_column *columns, size_t n_columns,
                 struct sp_row *rows, size_t n_rows)
{
    if (!sp_takes_words(r)) {
        free(rows);
        return;
    }
    struct sp_item *item = add_item(r, SP_ITEM_TABLE);
    item->columns = sp_must(malloc(n_columns * sizeof *columns));
    item->rows = rows;
    memcpy(item->columns, columns, n_columns * sizeof *columns);
    for (size_t i = 0; i < n_columns; i++) {
        item->columns[i].heading = keep(r, columns[i].heading);
        item->columns[i].key = columns[i].key ? keep(r, columns[i].key) : NULL;
    }
    item->n_columns = n_columns;
    item->n_rows = n_rows;
}

void sp_begin_row(struct sp_report *r, const char *label, const char *prefix, ...)
{
    char scope[sizeof r->prefix];
    va_list args;
    va_start(args, prefix);
    vsnprintf(scope, sizeof scope, prefix, args);
    va_end(args);
    sp_scope(r, scope);
    r->scope = copy_of(r, r->prefix);
    const char *const dot = strrchr(r->scope, '.');
    r->rows = sp_grow(r->rows, r->n_rows + 1, &r->room_rows, sizeof *r->rows);
    r->rows[r->n_rows++] = (struct sp_row){keep_label(r, label ? label
                                                         : dot ? dot + 1
                                                               : r->scope),
                                           r->scope};
}

void sp_drop_row(struct sp_report *r)
{
    r->n_rows--;
}

void sp_lead_row(struct sp_report *r, size_t i)
{
    const struct sp_row row = r->rows[i];
    memmove(r->rows + 1, r->rows, i * sizeof row);
    r->rows[0] = row;
}

void sp_answer_is(struct sp_report *report, const char *list)
{
    report->list = list;
}

void sp_answer_is_first_of(struct sp_report *report, const char *list)
{
    report->list = list;
    report->first_counts = true;
}

void sp_say_lack(struct sp_report *report, const char *why)
{
    report->lack = keep(report, why);
}

const char *sp_lack_of(const struct sp_report *report)
{
    return report->lack;
}

/* Writes the file last, after all checks, so that a refused --get leaves none. */
bool sp_put_file(struct sp_report *report, const char *path, const char *text,
                 struct sp_error *error)
{
    if (path[0] == '\0')
        return sp_fail(error, SP_INPUT, "-o needs a file name");
    report->file = sp_must(strdup(path));
    report->file_text = sp_must(strdup(text));
    return true;
}

const char *sp_report_file(const struct sp_report *report, const char **text)
{
    *text = report->file_text;
    return report->file;
}

const struct sp_entry *sp_find(const struct sp_report *r, const char *path)
{
    for (; r->index->known < r->n_entries; r->index->known++)
        sp_index_add(r->index, paths_of(r), r->index->known);
    const size_t at = sp_index_find(r->index, paths_of(r), path);
    return at < r->n_entries ? &r->entries[at] : NULL;
}

bool sp_says_yes(const struct sp_report *r, const char *path)
{
    const struct sp_entry *const entry = sp_find(r, path);
    return entry && entry->kind == SP_VALUE_BOOL && entry->number != 0;
}

double sp_argument_value(const struct sp_report *r, const struct sp_entry *entry, const char *name,
                         const char **unit, const char **meaning)
{
    const struct sp_form form = sp_form(entry->form);
    const struct sp_form_argument *const first = form.arguments, *own = first;
    while (own->name && strcmp(own->name, name) != 0)
        own++;
    if (unit)
        *unit = !own->name || strcmp(own->unit, "1") == 0 ? "" : own->unit;
    if (meaning)
        *meaning = own->name ? own->meaning : "";
    return own->name ? r->arguments[entry->arguments + (size_t)(own - first)] : NAN;
}

size_t sp_report_size(const struct sp_report *r)
{
    return r->n_entries;
}

const struct sp_entry *sp_report_entry(const struct sp_report *r, size_t i)
{
    return &r->entries[i];
}
