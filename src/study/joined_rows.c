/* Reads the parts of a sweep, checks row numbers, and sorts the rows. */
#include "study/joined_rows.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/load.h"
#include "base/memory.h"
#include "base/text.h"

/* Upper limit of row numbers; see sp_add_axis. */
static const uint64_t most_rows = 1000000000000;

/* "part-1.csv, line 3" */
struct place {
    char text[160];
};
static struct place place_of(const struct sp_part *p, const char *at)
{
    struct place place;
    size_t line = 1;
    for (const char *s = p->text; s < at; s++)
        line += *s == '\n';
    snprintf(place.text, sizeof place.text, "%s, line %zu", sp_safe(p->name), line);
    return place;
}

bool sp_holds_rows(const char *text)
{
    return strncmp(text, "row,", 4) == 0 || strncmp(text, "{\"row\":", 7) == 0;
}

/* End of the CSV field at s: a comma or the end; NULL for invalid quotes. */
static const char *end_of_field(const char *s)
{
    if (*s != '"') {
        s += strcspn(s, ",\"\n");
        return *s == '"' ? NULL : s;
    }
    for (s++; *s; s++)
        if (*s == '"' && *++s != '"')
            return *s == ',' || *s == '\n' || *s == '\0' ? s : NULL;
    return NULL;
}

/* Number of fields of the record at s, and its end after the line break; 0 for invalid quotes. */
static size_t count_fields(const char *s, const char **end)
{
    for (size_t n = 1;; n++, s++) {
        s = end_of_field(s);
        if (!s)
            return 0;
        if (*s != ',') {
            *end = s + (*s == '\n');
            return n;
        }
    }
}

/* Reads a row number followed by `close`. */
static bool read_number(const char *digits, const char *close, uint64_t *number)
{
    const size_t n = strspn(digits, "0123456789");
    if (n < 1 || n > 12 || (digits[0] == '0' && n > 1) || !digits[n] || !strchr(close, digits[n]))
        return false;
    *number = strtoull(digits, NULL, 10);
    return *number < most_rows;
}

static void add_row(struct sp_joined_rows *j, const struct sp_part_row *row)
{
    j->rows = sp_grow(j->rows, j->n_rows + 1, &j->room, sizeof *j->rows);
    j->rows[j->n_rows++] = *row;
}

/* Requires all parts to have the first one's format. */
static bool check_kind(struct sp_joined_rows *j, const struct sp_part *p, struct sp_error *error)
{
    const bool json = p->text[0] == '{';
    if (!sp_holds_rows(p->text))
        return sp_fail(error, SP_INPUT,
                       "%s: not a part of a sweep: expected \"row,...\" or {\"row\":...} first",
                       sp_safe(p->name));
    if (j->started && json != j->json)
        return sp_fail(error, SP_INPUT, "%s has %s, but the parts before it have %s",
                       sp_safe(p->name), json ? "JSON lines" : "CSV", json ? "CSV" : "JSON lines");
    j->json = json;
    j->started = true;
    return true;
}

static bool is_last_column(const struct sp_joined_rows *j, const char *end)
{
    const size_t n = strlen(end);
    return j->header_length > n && strncmp(j->header + j->header_length - n, end, n) == 0;
}

/* Reads the CSV header and moves `s` past it. */
static bool take_header(struct sp_joined_rows *j, const struct sp_part *p, const char **s,
                        struct sp_error *error)
{
    const char *end = NULL;
    const size_t columns = count_fields(p->text, &end);
    if (columns == 0)
        return sp_fail(error, SP_INPUT, "%s: invalid quotes in CSV", place_of(p, p->text).text);
    const size_t length = (size_t)(end - p->text);
    if (!j->header) {
        j->header = p->text;
        j->header_length = length;
        j->columns = columns;
        j->reasons = is_last_column(j, ",reason\n");
    }
    *s = end;
    return (length == j->header_length && strncmp(j->header, p->text, length) == 0) ||
           sp_fail(error, SP_INPUT, "%s: its columns differ from those of the other parts",
                   sp_safe(p->name));
}

static bool take_csv(struct sp_joined_rows *j, const struct sp_part *p, const char **end,
                     struct sp_part_row *row, struct sp_error *error)
{
    const char *const s = row->text;
    const size_t columns = count_fields(s, end);
    if (columns == 0)
        return sp_fail(error, SP_INPUT, "%s: invalid quotes in CSV", place_of(p, s).text);
    if (columns != j->columns)
        return sp_fail(error, SP_INPUT, "%s: %zu fields, the header has %zu", place_of(p, s).text,
                       columns, j->columns);
    row->failed = j->reasons && *end - s > 1 && strncmp(*end - 2, ",\n", 2) != 0;
    return read_number(s, ",", &row->number) ||
           sp_fail(error, SP_INPUT, "%s: expected the number of a row first", place_of(p, s).text);
}

/* The keys of an object, one per line. */
static char *keys_of(const cJSON *object)
{
    char *keys = NULL;
    size_t length;
    FILE *const out = sp_must(open_memstream(&keys, &length));
    const cJSON *member;
    cJSON_ArrayForEach(member, object)
    {
        fprintf(out, "%s\n", member->string);
    }
    fclose(out);
    return keys;
}

/* Whether an object has the same keys as the first row. */
static bool has_same_keys(struct sp_joined_rows *j, const cJSON *object)
{
    char *const keys = keys_of(object);
    if (!j->keys) {
        j->keys = keys;
        return true;
    }
    const bool same = strcmp(j->keys, keys) == 0;
    free(keys);
    return same;
}

static bool take_json(struct sp_joined_rows *j, const struct sp_part *p, const char **end,
                      struct sp_part_row *row, struct sp_error *error)
{
    const char *const s = row->text;
    static const char start[] = "{\"row\":";
    struct sp_json json;
    struct sp_error wrong = {0};
    const size_t length = strcspn(s, "\n");
    *end = s + length + (s[length] == '\n');
    char *const line = sp_must(strndup(s, length));
    const bool numbered = strncmp(line, start, sizeof start - 1) == 0 &&
                          read_number(line + sizeof start - 1, ",}", &row->number);
    const bool parsed = numbered && sp_json_parse(line, length, "line", &json, &wrong);
    const bool same = parsed && has_same_keys(j, json.root);
    if (parsed) {
        row->failed = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(json.root, "reason"));
        sp_json_free(&json);
    }
    free(line);
    if (!numbered)
        return sp_fail(error, SP_INPUT, "%s: expected {\"row\": and its number",
                       place_of(p, s).text);
    if (!parsed)
        return sp_fail(error, SP_INPUT, "%s: no row in JSON: %s", place_of(p, s).text, wrong.text);
    return same || sp_fail(error, SP_INPUT, "%s: its keys differ from those of the other rows",
                           place_of(p, s).text);
}

/* Refuses terminal control characters and NUL. */
static bool check_text(const struct sp_part *p, struct sp_error *error)
{
    const size_t readable = strlen(p->text);
    if (readable != p->length)
        return sp_fail(error, SP_INPUT, "%s: a NUL byte", place_of(p, p->text + readable).text);
    if (!sp_is_printable(p->text, "\n"))
        return sp_fail(error, SP_INPUT, "%s: expected UTF-8 text without control characters",
                       sp_safe(p->name));
    return p->length == 0 || p->text[p->length - 1] == '\n' ||
           sp_fail(error, SP_INPUT, "%s: cut off: its last row has no line break",
                   sp_safe(p->name));
}

static bool take_part(struct sp_joined_rows *j, int part, struct sp_error *error)
{
    const struct sp_part *const p = &j->parts[part];
    const char *s = p->text, *end = p->text;
    if (!check_text(p, error))
        return false;
    if (p->length == 0)
        return true; /* a part may have no rows */
    if (!check_kind(j, p, error) || (!j->json && !take_header(j, p, &s, error)))
        return false;
    for (bool first = true; *s; s = end, first = false) {
        struct sp_part_row row = {.text = s, .part = part};
        if (!(j->json ? take_json : take_csv)(j, p, &end, &row, error))
            return false;
        if (!first && row.number <= j->rows[j->n_rows - 1].number)
            return sp_fail(error, SP_INPUT, "%s: row %" PRIu64 " follows row %" PRIu64,
                           place_of(p, s).text, row.number, j->rows[j->n_rows - 1].number);
        row.length = (size_t)(end - s);
        j->n_failed += row.failed;
        add_row(j, &row);
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct sp_part_row *const x = a, *const y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->part > y->part) - (x->part < y->part);
}

/* Refuses duplicate row numbers, and missing ones unless gaps are allowed. */
static bool check_order(const struct sp_joined_rows *j, bool gaps, struct sp_error *error)
{
    for (size_t i = 0; i < j->n_rows; i++) {
        const struct sp_part_row *const row = &j->rows[i];
        const uint64_t expected = i > 0 ? row[-1].number + 1 : 0;
        if (i > 0 && row->number == row[-1].number)
            return sp_fail(error, SP_INPUT, "%s and %s both have row %" PRIu64,
                           sp_safe(j->parts[row[-1].part].name), sp_safe(j->parts[row->part].name),
                           row->number);
        if (!gaps && row->number != expected)
            return sp_fail(error, SP_INPUT,
                           "row %" PRIu64 " is in no part: a part is missing (for parts of a sweep "
                           "--valid, which leaves rows out, merge --valid)",
                           expected);
    }
    return true;
}

static bool read_parts(struct sp_joined_rows *j, struct sp_pipes *pipes, const char *const *names,
                       int n, struct sp_error *error)
{
    for (int i = 0; i < n; i++) {
        struct sp_part *const p = &j->parts[j->n_parts];
        p->name = names[i];
        p->text = sp_read_file(pipes, names[i], SP_MOST_PART_BYTES, &p->length, error);
        if (!p->text)
            return false;
        j->n_parts++;
        if (!take_part(j, i, error))
            return false;
    }
    return true;
}

/* Leaves out the rows without an answer. */
static void drop_failed(struct sp_joined_rows *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->n_rows; i++)
        if (!j->rows[i].failed)
            j->rows[kept++] = j->rows[i];
    j->n_rows = kept;
    j->n_failed = 0;
}

bool sp_join_rows(struct sp_pipes *pipes, const char *const *names, int n, bool valid,
                  struct sp_joined_rows *j, struct sp_error *error)
{
    *j = (struct sp_joined_rows){.parts = sp_must(calloc((size_t)n + 1, sizeof *j->parts))};
    if (!read_parts(j, pipes, names, n, error))
        return false;
    if (j->n_rows == 0)
        return valid || sp_fail(error, SP_INPUT, "no part has a row");
    qsort(j->rows, j->n_rows, sizeof *j->rows, compare);
    const bool ok = check_order(j, valid, error);
    if (valid)
        drop_failed(j);
    return ok;
}

void sp_free_joined_rows(struct sp_joined_rows *j)
{
    for (int i = 0; i < j->n_parts; i++)
        free(j->parts[i].text);
    free(j->parts);
    free(j->rows);
    free(j->keys);
}
