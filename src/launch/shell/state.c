/* The state of a script being read: names and values, its text in one place, unknown parts. */
#include "launch/shell/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Most text that a script may produce: variables that double one another would otherwise grow
 * without end. */
enum { MOST_TEXT = 16 << 20, BLOCK = 64 << 10, MOST_GAPS = 1 << 16 };

struct sp_shell_block {
    struct sp_shell_block *next;
    size_t used, size;
    char text[];
};

const char *sp_shell_copy(struct sp_shell_text *text, const char *at, size_t n)
{
    struct sp_shell_block *block = text->blocks;
    if (n >= MOST_TEXT - text->used)
        text->full = "16 MiB of values";
    if (text->full)
        return "";
    if (!block || block->size - block->used <= n) {
        const size_t size = n < BLOCK ? BLOCK : n + 1;
        block = sp_must(malloc(sizeof *block + size));
        *block = (struct sp_shell_block){.next = text->blocks, .size = size};
        text->blocks = block;
    }
    char *const copy = block->text + block->used;
    memcpy(copy, at, n);
    copy[n] = '\0';
    block->used += n + 1;
    text->used += n + 1;
    return copy;
}

void sp_shell_free(struct sp_shell_text *text)
{
    while (text->blocks) {
        struct sp_shell_block *const next = text->blocks->next;
        free(text->blocks);
        text->blocks = next;
    }
    free(text->gaps);
}

static int find_itself(const struct sp_shell_scope *scope, const char *name)
{
    int i = scope->n - 1;
    while (i >= 0 && !sp_is(scope->at[i].name, name))
        i--;
    return i;
}

/* The name for which a name stands. */
static const char *meant(const struct sp_shell_scope *scope, const char *name)
{
    for (int hops = 0; hops < 8; hops++) {
        const int i = find_itself(scope, name);
        if (i < 0 || !scope->at[i].refers)
            break;
        name = scope->at[i].refers;
    }
    return name;
}

static int find(const struct sp_shell_scope *scope, const char *name)
{
    return find_itself(scope, meant(scope, name));
}

const char *sp_shell_value(const struct sp_shell_scope *scope, const char *name)
{
    const int i = find(scope, name);
    return i >= 0 ? scope->at[i].value : NULL;
}

void sp_shell_set(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                  const char *value)
{
    const int i = find(scope, name);
    if (i >= 0) {
        if (!scope->at[i].pinned && !scope->at[i].constant)
            scope->at[i].value = value;
    } else if (scope->n == SP_SHELL_NAMES) {
        text->full = "1024 names";
    } else {
        const char *const new = meant(scope, name);
        scope->at[scope->n++] =
            (struct sp_shell_name){.name = sp_shell_copy(text, new, strlen(new)), .value = value};
    }
}

void sp_shell_refer(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                    const char *other)
{
    int i = find_itself(scope, name);
    if (i < 0 && other) {
        sp_shell_set(scope, text, name, NULL);
        i = find_itself(scope, name);
    }
    if (i >= 0 && (!other || !sp_is(name, other)))
        scope->at[i].refers = other;
}

void sp_shell_freeze(struct sp_shell_scope *scope, const char *name)
{
    const int i = find(scope, name);
    if (i >= 0)
        scope->at[i].constant = true;
}

enum sp_exported sp_shell_reach(const struct sp_shell_scope *scope, const char *name)
{
    const int i = find(scope, name);
    return i >= 0 ? scope->at[i].reach : SP_OWN;
}

void sp_shell_let_reach(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                        enum sp_exported reach)
{
    if (find(scope, name) < 0)
        sp_shell_set(scope, text, name, NULL);
    const int i = find(scope, name);
    if (i >= 0)
        scope->at[i].reach = reach;
}

void sp_shell_export(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                     const char *value)
{
    sp_shell_set(scope, text, name, value);
    sp_shell_let_reach(scope, text, name, SP_EXPORTED);
}

const char *sp_shell_exchange(struct sp_shell_scope *scope, struct sp_shell_text *text,
                              const char *name, const char *value)
{
    const int i = find(scope, name);
    const char *const before = i >= 0 ? scope->at[i].value : NULL;
    if (i >= 0)
        scope->at[i].value = value;
    else
        sp_shell_set(scope, text, name, value);
    return before;
}

int sp_shell_parameters(const struct sp_shell_scope *scope)
{
    char name[16];
    int n = 0;
    do
        snprintf(name, sizeof name, "%d", n + 1);
    while (sp_shell_value(scope, name) && ++n);
    return n;
}

void *sp_room_for_one(void *array, int n, size_t size)
{
    const bool full = (n & (n - 1)) == 0; /* n is 0 or a power of two */
    return full ? sp_must(realloc(array, (size_t)(n ? 2 * n : 1) * size)) : array;
}

void sp_shell_put(struct sp_shell_piece *piece, char c)
{
    if (piece->n + 1 >= piece->size) {
        piece->size = piece->size ? 2 * piece->size : 64;
        piece->at = sp_must(realloc(piece->at, piece->size));
    }
    piece->at[piece->n++] = c;
}

void sp_shell_puts(struct sp_shell_piece *piece, const char *text)
{
    for (; *text; text++)
        sp_shell_put(piece, *text);
}

void sp_shell_mark(struct sp_shell_text *text, struct sp_shell_piece *piece, char kind,
                   const char *name, int line)
{
    char mark[32];
    text->gaps = sp_room_for_one(text->gaps, text->n_gaps, sizeof *text->gaps);
    if (text->n_gaps == MOST_GAPS)
        text->full = "65536 unknown values";
    if (text->full)
        return;
    text->gaps[text->n_gaps] = (struct sp_shell_gap){
        .name = sp_shell_copy(text, name, strlen(name)), .by = "", .line = line};
    snprintf(mark, sizeof mark, "%c%d%c", kind, text->n_gaps++, SP_MARK_END);
    sp_shell_puts(piece, mark);
}

const char *sp_shell_take(struct sp_shell_piece *piece, struct sp_shell_text *text)
{
    const char *const taken = sp_shell_copy(text, piece->n > 0 ? piece->at : "", piece->n);
    free(piece->at);
    *piece = (struct sp_shell_piece){0};
    return taken;
}

void sp_shell_add(struct sp_shell_fields *fields, const char *field)
{
    fields->at = sp_room_for_one(fields->at, fields->n, sizeof *fields->at);
    fields->at[fields->n++] = field;
}

const struct sp_shell_gap *sp_shell_gap_in(const struct sp_shell_text *text, const char *value)
{
    const char *const mark = strpbrk(value, (char[]){SP_UNSET, SP_OPEN, '\0'});
    const long i = mark ? strtol(mark + 1, NULL, 10) : -1;
    return i >= 0 && i < text->n_gaps ? &text->gaps[i] : NULL;
}

bool sp_shell_show(const struct sp_shell_text *text, const char *value, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (; *value && n + 1 < size; value++) {
        const struct sp_shell_gap *const gap =
            *value == SP_UNSET || *value == SP_OPEN ? sp_shell_gap_in(text, value) : NULL;
        const char *const end = gap ? strchr(value, SP_MARK_END) : NULL;
        if (gap)
            snprintf(out + n, size - n, gap->name[0] == '$' || gap->name[0] == '`' ? "%s" : "${%s}",
                     gap->name);
        else
            snprintf(out + n, size - n, "%c", *value == SP_ITEM ? ' ' : *value);
        n += strlen(out + n);
        value = end ? end : value;
    }
    return *value == '\0';
}

bool sp_shell_is_unset(const char *value)
{
    const char *const end = *value == SP_UNSET ? strchr(value, SP_MARK_END) : NULL;
    return end && end[1] == '\0';
}

const char *sp_shell_clean(struct sp_shell_text *text_of, const char *text)
{
    char *const copy = sp_must(strdup(text));
    for (char *c = copy; *c; c++)
        if (*c > 0 && *c <= SP_LAST_MARK)
            *c = '?';
    const char *const kept = sp_shell_copy(text_of, copy, strlen(copy));
    free(copy);
    return kept;
}

const char *sp_shell_without_tabs(struct sp_shell_text *text_of, const char *text)
{
    struct sp_shell_piece piece = {0};
    for (bool start = true; *text; text++) {
        if (!start || *text != '\t')
            sp_shell_put(&piece, *text);
        start = *text == '\n' || (start && *text == '\t');
    }
    return sp_shell_take(&piece, text_of);
}

long sp_shell_items(const char *value)
{
    long n = value && *value ? 1 : -1;
    if (!value || value[0] == '[' || strpbrk(value, (char[]){SP_UNSET, SP_OPEN, '\0'}) ||
        strstr(value, (char[]){SP_ITEM, '[', '\0'}))
        return -1;
    for (const char *c = value; *c; c++)
        n += *c == SP_ITEM;
    return n;
}

const char *sp_shell_unset_in(struct sp_shell_text *text, const char *value)
{
    const char *const mark = strchr(value, SP_UNSET), *const end =
                                                          mark ? strchr(mark, SP_MARK_END) : NULL;
    return end ? sp_shell_copy(text, mark, (size_t)(end + 1 - mark)) : NULL;
}

bool sp_shell_has_files(const struct sp_shell_scope *scope, const struct sp_shell_text *text)
{
    char name[16];
    bool has = false;
    for (int i = sp_shell_parameters(scope); i > 0 && !has; i--) {
        snprintf(name, sizeof name, "%d", i);
        const struct sp_shell_gap *const gap = sp_shell_gap_in(text, sp_shell_value(scope, name));
        has = gap && sp_starts_with(gap->name, sp_shell_files);
    }
    return has;
}
