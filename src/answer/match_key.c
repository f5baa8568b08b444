/* Matches typed keys with those of an answer: whole paths, or the last parts of one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "answer/report_internal.h"

enum { LONGEST_PATH = 160, MOST_OFFERED = 4 };

/* Candidates for an incomplete key. */
struct candidates {
    char first[LONGEST_PATH]; /* candidates outside of lists */
    char offered[(LONGEST_PATH + 8) * MOST_OFFERED];
    int n, outside; /* candidates in lists: their row would have to be guessed */
};

/* End of `key` in `path`, if it is there as whole parts after the first; else 0. */
static size_t end_inside(const char *path, const char *key)
{
    const size_t n = strlen(key);
    for (const char *at = strchr(path, '.'); n > 0 && at; at = strchr(at, '.'))
        if (strncmp(++at, key, n) == 0 && (at[n] == '\0' || at[n] == '.'))
            return (size_t)(at - path) + n;
    return 0;
}

/* The number of the first list row on a path; -1: no list. */
static int row_of(const char *path, size_t end)
{
    for (size_t i = 0; i + 1 < end; i++)
        if (path[i] == '.' && isdigit((unsigned char)path[i + 1]))
            return atoi(path + i + 1);
    return -1;
}

static void add_candidate(struct candidates *c, const char *path, size_t end)
{
    char whole[LONGEST_PATH], quoted[LONGEST_PATH + 8];
    const int row = row_of(path, end);
    snprintf(whole, sizeof whole, "%.*s", (int)end, path);
    snprintf(quoted, sizeof quoted, "\"%s\"", sp_safe(whole));
    if (row > 0 || strstr(c->offered, quoted))
        return;
    if (row < 0 && c->outside++ == 0)
        snprintf(c->first, sizeof c->first, "%s", whole);
    c->n++;
    if (c->n <= MOST_OFFERED)
        sp_append(c->offered, sizeof c->offered, "%s%s", c->n > 1 ? " or " : "", quoted);
}

/* Finds all paths that contain the key as whole parts: those of this version, or those of the one
 * before. */
static void find_candidates(const struct sp_report *r, const char *key, bool old,
                            struct candidates *c)
{
    for (size_t i = 0; i < r->n_entries; i++) {
        const char *const path = sp_path(&r->entries[i]);
        const size_t end = end_inside(path, key);
        if (end > 0 && r->entries[i].is_old == old)
            add_candidate(c, path, end);
    }
}

/* Finds paths whose last part begins with the key: "total" of memory.total_bytes. */
static void find_beginnings(const struct sp_report *r, const char *key, struct candidates *c)
{
    const size_t n = strlen(key);
    for (size_t i = 0; i < r->n_entries && n > 1; i++) {
        if (r->entries[i].is_old)
            continue;
        const char *const path = sp_path(&r->entries[i]), *const dot = strrchr(path, '.');
        const char *const last = dot ? dot + 1 : path;
        if (strncmp(last, key, n) == 0 && last[n] == '_')
            add_candidate(c, path, strlen(path));
    }
}

/* Whether a key is a share of what was typed: "bubble_fraction" of "bubble". */
static bool is_share(const char *key, const char *typed)
{
    const size_t n = strlen(typed);
    return strncmp(key, typed, n) == 0 && strcmp(key + n, "_fraction") == 0;
}

/* The one path, outside of lists, that is the key with its unit: "activations" of
 * memory.activations_bytes. */
static bool is_without_unit(const struct sp_report *r, const char *key, char *out, size_t size)
{
    const struct sp_entry *found = NULL;
    int n = 0;
    for (size_t i = 0; i < r->n_entries; i++) {
        const char *const path = sp_path(&r->entries[i]), *const dot = strrchr(path, '.');
        if (r->entries[i].is_old || row_of(path, strlen(path)) >= 0 ||
            !(sp_is_named(dot ? dot + 1 : path, key) || is_share(dot ? dot + 1 : path, key)))
            continue;
        found = &r->entries[i];
        n++;
    }
    if (n != 1)
        return false;
    const char *const path = sp_path(found);
    sp_cut_text(path, strlen(path), out, size);
    return true;
}

/* Finds the path with the part nearest to a misspelt key. */
static void find_nearest(const struct sp_report *r, const char *key, struct candidates *c)
{
    struct sp_nearest nearest = {.wanted = key};
    const struct sp_entry *best = NULL;
    for (size_t i = 0; i < r->n_entries; i++) {
        const struct sp_entry *const entry = &r->entries[i];
        for (const char *at = entry->is_old ? NULL : sp_path(entry); at; at = strchr(at, '.')) {
            char before[sizeof nearest.best];
            at += *at == '.';
            snprintf(before, sizeof before, "%s", nearest.best);
            sp_nearest_offer(&nearest, at);
            if (strcmp(before, nearest.best) != 0)
                best = entry;
        }
    }
    if (!best || !*sp_nearest_hint(&nearest))
        return;
    const char *const path = sp_path(best);
    add_candidate(c, path, strlen(path));
}

/* The first path that is a key, or inside it as a group; NULL: none. */
static const char *first_path_in(const struct sp_report *r, const char *group)
{
    for (size_t i = 0; i < r->n_entries; i++)
        if (sp_is_listed(group, sp_path(&r->entries[i]), '.'))
            return sp_path(&r->entries[i]);
    return NULL;
}

static bool is_path(const struct sp_report *r, const char *key)
{
    return first_path_in(r, key) != NULL;
}

/* Tries the key with another word for its first part: "node.hosts" for "pod.hosts". */
static void find_other_words(const struct sp_report *r, const char *key, struct candidates *c)
{
    char first[LONGEST_PATH], path[LONGEST_PATH];
    const size_t n = strcspn(key, ".");
    const char *word;
    snprintf(first, sizeof first, "%.*s", (int)n, key);
    for (int i = 0; (word = sp_other_word(first, i)) != NULL; i++) {
        snprintf(path, sizeof path, "%s%s", word, key + n);
        if (is_path(r, path))
            add_candidate(c, path, strlen(path));
    }
}

/* Whether the first row of the answer's list, its best, has the key; if so, the key is
 * completed. */
static bool is_of_first(const struct sp_report *r, const char *key, char *out, size_t size)
{
    static const char best[] = "best.";
    char path[LONGEST_PATH];
    key += strncmp(key, best, sizeof best - 1) == 0 ? sizeof best - 1 : 0;
    if (!r->first_counts || snprintf(path, sizeof path, "%s.0.%s", r->list, key) >= LONGEST_PATH ||
        !is_path(r, path))
        return false;
    sp_cut_text(path, strlen(path), out, size);
    return true;
}

/* Whether the answer's best has the key; if so, the key is completed. */
static bool is_of_best(const struct sp_report *r, const char *key, char *out, size_t size)
{
    char path[LONGEST_PATH];
    if (snprintf(path, sizeof path, "best.%s", key) >= LONGEST_PATH || !is_path(r, path))
        return false;
    sp_cut_text(path, strlen(path), out, size);
    return true;
}

/* Meaning of a key that the command has, but not this answer; NULL: the command has no such key. */
static const char *meaning_of(const struct sp_report *r, const char *key)
{
    enum sp_quantity_id id = 0;
    const enum sp_quantity_id end = r->command ? sp_quantities_of(r->command, &id) : 0;
    for (; id < end; id++)
        if (strcmp(sp_quantity(id).key, key) == 0)
            return sp_quantity(id).meaning;
    return NULL;
}

/* Whether a key of the command belongs to a row of the answer's list, which is empty:
 * "plans.0.time.step_s", or "time.step_s" if the first row is the answer. */
static bool is_of_missing_row(const struct sp_report *r, const char *key)
{
    size_t row;
    const char *const inside = r->list ? sp_inside_row(key, r->list, &row) : NULL;
    if (!r->list || is_path(r, r->list) || !(inside || r->first_counts))
        return false;
    struct sp_nearest unused = {.wanted = key};
    return sp_is_known_key(inside ? inside : key, &unused);
}

/* An incomplete key belongs to the first plan of a search, or to the best; else it must have
 * exactly one completion, never inside a list row; otherwise a key added later could change a
 * script's result. */
bool sp_full_key(const struct sp_report *r, const char *key, char *out, size_t size,
                 struct sp_error *error)
{
    struct candidates c = {0};
    key += strspn(key, " ");
    sp_cut_text(key, strlen(key), out, size);
    if (is_path(r, key) || is_of_first(r, key, out, size) || is_of_best(r, key, out, size))
        return true;
    find_candidates(r, key, false, &c);
    if (c.n == 0)
        find_candidates(r, key, true, &c);
    if (c.outside == 1) {
        snprintf(out, size, "%s", c.first);
        return true;
    }
    if (c.n == 0 && is_without_unit(r, key, out, size))
        return true;
    if (c.n == 0 && is_of_missing_row(r, key))
        return sp_fail(error, SP_INPUT, "no \"%s\": the answer has no %s%s%s", sp_safe(key),
                       r->list, r->lack ? ": " : "", r->lack ? r->lack : "");
    if (c.n == 0)
        find_beginnings(r, key, &c);
    if (c.n == 0)
        find_other_words(r, key, &c);
    const char *const meaning = meaning_of(r, key);
    const char *const other = c.n == 0 && !meaning ? sp_command_with_key(key) : NULL;
    if (other)
        return sp_fail(error, SP_INPUT,
                       "this answer has no \"%s\", which is one of `%s` (--format json shows all "
                       "keys)",
                       sp_safe(key), other);
    if (c.n == 0 && !meaning)
        find_nearest(r, key, &c);
    return sp_fail(error, SP_INPUT, "%s \"%s\"%s%s%s%s%s%s%s (--format json shows all keys)",
                   meaning ? "this answer has no" : "unknown key", sp_safe(key),
                   meaning ? " (" : "", meaning ? meaning : "", meaning ? ")" : "",
                   c.n ? "; did you mean " : "", c.offered, c.n > MOST_OFFERED ? " or others" : "",
                   c.n ? "?" : "");
}

void sp_say_missing(const struct sp_report *r, const char *key, char *out, size_t size)
{
    char path[LONGEST_PATH];
    struct sp_error unknown = {0};
    const char *const lack = sp_lack_of(r);
    if (lack)
        snprintf(out, size, "%s", lack);
    else if (sp_full_key(r, key, path, sizeof path, &unknown))
        snprintf(out, size, "%s is several values: name one, such as %s", key,
                 first_path_in(r, path));
    else
        snprintf(out, size, "the answer has no %s", key);
}

bool sp_are_paths(const struct sp_report *r, const char *keys)
{
    char key[LONGEST_PATH];
    while (sp_next_item(&keys, key, sizeof key))
        if (!is_path(r, key + strspn(key, " ")))
            return false;
    return true;
}

char *sp_full_keys(const struct sp_report *r, const char *keys, struct sp_error *error)
{
    char key[LONGEST_PATH];
    size_t items = 1;
    for (const char *at = keys; (at = strchr(at, ',')); at++)
        items++;
    char *const text = sp_must(calloc(items, LONGEST_PATH + 1)), *end = text;
    bool ok = true;
    while (ok && sp_next_item(&keys, key, sizeof key)) {
        if (end > text)
            *end++ = ',';
        ok = sp_full_key(r, key, end, LONGEST_PATH, error);
        end += strlen(end);
    }
    if (ok)
        return text;
    free(text);
    return NULL;
}

const char *sp_inside_row(const char *path, const char *list, size_t *row)
{
    const size_t n = strlen(list);
    if (strncmp(path, list, n) != 0 || path[n] != '.' || !isdigit((unsigned char)path[n + 1]))
        return NULL;
    char *end;
    *row = strtoul(path + n + 1, &end, 10);
    return *end == '.' ? end + 1 : NULL;
}

bool sp_row_key(const struct sp_report *r, const char *list, const char *key, char *out,
                size_t size)
{
    struct candidates c = {0};
    size_t row;
    for (size_t i = 0; i < r->n_entries; i++) {
        const char *const inside = sp_inside_row(sp_path(&r->entries[i]), list, &row);
        const size_t end = inside ? end_inside(inside, key) : 0;
        if (inside && strcmp(inside, key) == 0) {
            snprintf(out, size, "%s", inside);
            return true;
        }
        if (end > 0 && inside[end] == '\0' && !r->entries[i].is_old)
            add_candidate(&c, inside, end);
    }
    snprintf(out, size, "%s", c.first);
    return c.n == 1;
}

bool sp_ends_some_key(const char *key)
{
    const size_t n = strlen(key);
    for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
        const char *const known = sp_quantity(id).key;
        const size_t length = strlen(known);
        if (length >= n && strcmp(known + length - n, key) == 0 &&
            (length == n || known[length - n - 1] == '.'))
            return true;
    }
    return false;
}

/* Whether a key belongs to a row, or was made from it at run time. */
static bool is_of_row(const char *key, const char *row)
{
    const size_t n = strlen(row);
    return strncmp(row, key, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

bool sp_is_known_key(const char *key, struct sp_nearest *nearest)
{
    if (sp_ends_some_key(key))
        return true;
    for (const char *tail = key; tail; tail = strchr(tail, '.') ? strchr(tail, '.') + 1 : NULL)
        for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
            const struct sp_quantity_info row = sp_quantity(id);
            if (is_of_row(tail, row.key) || (row.old_key && is_of_row(tail, row.old_key)))
                return true;
            sp_nearest_offer(nearest, row.key);
        }
    return false;
}
