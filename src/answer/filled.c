/* Fills quantities into the lines and cells of a report. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "answer/report_internal.h"

/* Moves spans at or after a place by the letters dropped before it. */
static void move_spans(struct sp_spans *spans, const struct sp_spans *before, size_t at,
                       size_t dropped)
{
    for (size_t i = 0; i < spans->n; i++) {
        if (before->span[i].from == at)
            spans->span[i].from = at - dropped;
        if (before->span[i].to == at)
            spans->span[i].to = at - dropped;
    }
}

/* Makes nouns after a 1 singular. Letters are dropped only at the end of a word, so the first
 * different letter is one of them. */
static void make_singular(char *text, struct sp_spans *spans)
{
    char *const before = sp_must(strdup(text));
    const struct sp_spans were = *spans;
    size_t dropped = 0, at = 0;
    sp_make_singular(text);
    for (; before[at]; at++) {
        move_spans(spans, &were, at, dropped);
        dropped += before[at] != text[at - dropped];
    }
    move_spans(spans, &were, at, dropped);
    free(before);
}

/* A text that grows. */
struct line {
    char *text;
    size_t used, room;
};

static void put(struct line *to, const char *text, size_t n)
{
    to->text = sp_grow(to->text, to->used + n + 1, &to->room, 1);
    memcpy(to->text + to->used, text, n);
    to->used += n;
    to->text[to->used] = '\0';
}

/* The quantity of "{key" at `text`; NULL if it has none. */
static const struct sp_entry *entry_at(const struct sp_report *report, const char *text)
{
    char key[112];
    const size_t n = strcspn(text + 1, "!}");
    sp_cut_text(text + 1, n, key, sizeof key);
    return sp_find(report, key);
}

/* Whether {key} before " %" says how far something is ahead: the value then includes the unit. */
static bool is_lead(const struct sp_entry *entry, const char *after)
{
    return strncmp(after, " %", 2) == 0 &&
           (entry->form == SP_CLOSED_percent_more || entry->form == SP_CLOSED_percent_apart ||
            entry->form == SP_CLOSED_percent_of_log);
}

/* The value of {key} in a line: an end of "{low} to {high}" takes the unit of the longer one. */
static const char *value_at(const struct sp_report *report, const char *line, const char *at,
                            const struct sp_entry *entry, struct sp_text *room)
{
    static const char to[] = "} to {";
    const char *const end = strchr(at, '}'), *before = at;
    const struct sp_entry *other = NULL;
    if (!entry || entry->kind != SP_VALUE_NUMBER)
        return sp_human_value(entry, room);
    if (is_lead(entry, end + 1))
        return sp_human_lead_in(room, entry->number);
    if (strncmp(end, to, sizeof to - 1) == 0)
        other = entry_at(report, end + sizeof to - 2);
    else if (at - line >= (ptrdiff_t)sizeof to &&
             strncmp(at - (sizeof to - 2), to, sizeof to - 1) == 0) {
        while (before > line && *--before != '{')
            ;
        other = entry_at(report, before);
    }
    if (!other || other->kind != SP_VALUE_NUMBER)
        return sp_human_value(entry, room);
    sp_human_beside(entry->number, other->number, entry->info->unit, room->s, sizeof room->s);
    return room->s;
}

char *sp_fill_line(const struct sp_report *report, const char *line, struct sp_spans *spans)
{
    const char *const start = line;
    struct line to = {NULL, 0, 0};
    bool any_key = false, any_value = false;
    spans->n = 0;
    put(&to, "", 0);
    while (*line) {
        const char *const end = *line == '{' ? strchr(line, '}') : NULL;
        if (!end) {
            const size_t n = 1 + strcspn(line + 1, "{");
            put(&to, line, n);
            line += n;
            continue;
        }
        char key[112];
        const bool exact = end[-1] == '!';
        sp_cut_text(line + 1, (size_t)(end - line - 1 - exact), key, sizeof key);
        const struct sp_entry *const entry = sp_find(report, key);
        struct sp_text room;
        const bool is_known = !entry || entry->kind != SP_VALUE_NONE;
        const char *const value = !is_known        ? "not known"
                                  : entry && exact ? sp_exact_value(entry, &room)
                                                   : value_at(report, start, line, entry, &room);
        any_key = true;
        any_value = any_value || (entry && entry->kind != SP_VALUE_NONE);
        const size_t from = to.used;
        put(&to, value, strlen(value));
        if (entry && spans->n < SP_MAX_SPANS)
            spans->span[spans->n++] = (struct sp_span){entry, from, to.used};
        line = end + 1;
        if (entry && !exact && entry->kind == SP_VALUE_NUMBER && is_lead(entry, line))
            line += 2; /* its unit is part of the value */
    }
    if (any_value || !any_key) {
        make_singular(to.text, spans);
        sp_say_images(report, to.text);
        return to.text;
    }
    free(to.text);
    return NULL;
}

/* Whether a verdict is good (1) or bad (-1). "offload: no" is neither and has no colour. */
int sp_judged(const struct sp_entry *entry)
{
    static const char *const judged[] = {"fits", "compute_bound", "proven", "in_range", "hides"};
    const char *const path = sp_path(entry), *const dot = strrchr(path, '.');
    const char *const last = dot ? dot + 1 : path;
    for (size_t i = 0; entry->kind == SP_VALUE_BOOL && i < sizeof judged / sizeof *judged; i++)
        if (strncmp(last, judged[i], strlen(judged[i])) == 0 || strstr(path, "compute_bound"))
            return entry->number != 0 ? 1 : -1;
    return 0;
}

const char *sp_cell_text(const struct sp_report *report, const struct sp_row *row, const char *key,
                         struct sp_text *room, const struct sp_entry **entry)
{
    char path[200];
    *entry = NULL;
    if (!key)
        return row->label;
    const bool meaning = strcmp(key, "?") == 0, itself = meaning || !*key;
    const size_t n = strcspn(key, "!");
    snprintf(path, sizeof path, "%s%s%.*s", row->prefix, *row->prefix && !itself ? "." : "",
             itself ? 0 : (int)n, key);
    *entry = sp_find(report, path);
    if (meaning)
        return *entry ? (*entry)->info->meaning : "";
    return *entry && key[n] == '!' ? sp_exact_value(*entry, room) : sp_human_value(*entry, room);
}
