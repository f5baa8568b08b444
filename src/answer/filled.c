/* Fills quantities into the lines and cells of a report. */
#include <string.h>

#include "base/text.h"
#include "answer/report_internal.h"

/* Appends a quantity's value at `used`, and records its place. */
static size_t fill_key(const struct sp_entry *entry, bool exact, char *out, size_t size,
                       size_t used, struct sp_spans *spans)
{
    const size_t from = used;
    if (entry && exact)
        sp_format_entry(entry, out + used, size - used);
    else
        sp_human_entry(entry, out + used, size - used);
    used += strlen(out + used);
    if (spans && entry && spans->n < SP_MAX_SPANS)
        spans->span[spans->n++] = (struct sp_span){entry, from, used};
    return used;
}

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
    char before[4096];
    const struct sp_spans were = *spans;
    snprintf(before, sizeof before, "%s", text);
    sp_make_singular(text);
    size_t dropped = 0, at = 0;
    for (; before[at]; at++) {
        move_spans(spans, &were, at, dropped);
        dropped += before[at] != text[at - dropped];
    }
    move_spans(spans, &were, at, dropped);
}

bool sp_fill_line(const struct sp_report *report, const char *line, char *out, size_t size,
                  struct sp_spans *spans)
{
    size_t used = 0;
    bool any_key = false, any_value = false;
    if (spans)
        spans->n = 0;
    while (*line && used + 1 < size) {
        const char *const end = *line == '{' ? strchr(line, '}') : NULL;
        if (!end) {
            out[used++] = *line++;
            continue;
        }
        char key[112];
        const bool exact = end[-1] == '!';
        snprintf(key, sizeof key, "%.*s", (int)(end - line - 1 - exact), line + 1);
        const struct sp_entry *entry = sp_find(report, key);
        any_key = true;
        any_value = any_value || (entry && entry->kind != SP_VALUE_NONE);
        out[used] = '\0';
        used = fill_key(entry, exact, out, size, used, spans);
        line = end + 1;
    }
    out[used] = '\0';
    if (spans)
        make_singular(out, spans);
    else
        sp_make_singular(out);
    return any_value || !any_key;
}

/* Whether a verdict is good (1) or bad (-1). "offload: no" is neither and has no colour. */
int sp_judged(const struct sp_entry *entry)
{
    static const char *const judged[] = {"fits", "compute_bound", "proven", "in_range", "hides"};
    const char *const dot = strrchr(entry->path, '.'), *const last = dot ? dot + 1 : entry->path;
    for (size_t i = 0; entry->kind == SP_VALUE_BOOL && i < sizeof judged / sizeof *judged; i++)
        if (strncmp(last, judged[i], strlen(judged[i])) == 0 ||
            strstr(entry->path, "compute_bound"))
            return entry->number != 0 ? 1 : -1;
    return 0;
}

const struct sp_entry *sp_cell_text(const struct sp_report *report, const struct sp_row *row,
                                    const char *key, char *out, size_t size)
{
    char path[200];
    if (!key) {
        snprintf(out, size, "%s", row->label);
        return NULL;
    }
    const bool meaning = strcmp(key, "?") == 0, itself = meaning || !*key;
    const size_t n = strcspn(key, "!");
    snprintf(path, sizeof path, "%s%s%.*s", row->prefix, *row->prefix && !itself ? "." : "",
             itself ? 0 : (int)n, key);
    const struct sp_entry *entry = sp_find(report, path);
    if (meaning)
        snprintf(out, size, "%s", entry ? entry->info.meaning : "");
    else if (entry && key[n] == '!')
        sp_format_entry(entry, out, size);
    else
        sp_human_entry(entry, out, size);
    return entry;
}
