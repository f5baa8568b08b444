/* Tables of the text whose columns are named by the keys of their quantities. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "answer/report_internal.h"

enum { MOST_COLUMNS = 32 };

/* A list's first quantity with that key, with or without a trailing "!"; NULL: none. */
static const struct sp_entry *find_in_rows(const struct sp_report *r, const char *list,
                                           const char *key)
{
    const struct sp_entry *entry = NULL;
    const size_t n = strlen(list);
    char bare[64], path[180];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(key, "!"), key);
    for (size_t i = 0; i < r->n_rows && !entry; i++) {
        sp_join_path(r->rows[i].prefix, bare, path, sizeof path);
        entry = strncmp(path, list, n) == 0 ? sp_find(r, path) : NULL;
    }
    return entry;
}

/* "key", "key: heading" or ">key", cut into its parts inside of `text`. */
static struct sp_column read_column(const struct sp_report *r, const char *list, char *text)
{
    text += strspn(text, " ");
    const bool details = *text == '+', right = text[details] == '>';
    char *const key = text + details + right, *const colon = strchr(key, ':');
    if (colon)
        *colon = '\0';
    const struct sp_entry *const entry = find_in_rows(r, list, key);
    const bool is_words =
        entry ? entry->info->unit == SP_WORDS || entry->info->unit == SP_VERDICT : *key == '\0';
    return (struct sp_column){.key = *key ? key : NULL,
                              .heading = colon   ? colon + 1 + strspn(colon + 1, " ")
                                         : entry ? entry->info->label
                                                 : key,
                              .left = is_words && !right,
                              .details = details};
}

/* Takes a list's rows out of the rows that were begun (empty after the last list); returns their
 * number. */
static size_t take_rows(struct sp_report *r, const char *list, struct sp_row **rows)
{
    const size_t n = strlen(list);
    size_t taken = 0, left = 0;
    struct sp_row *const others = sp_must(calloc(r->n_rows + 1, sizeof *others));
    for (size_t i = 0; i < r->n_rows; i++) {
        const bool ours = strncmp(r->rows[i].prefix, list, n) == 0 && r->rows[i].prefix[n] == '.';
        *(ours ? &r->rows[taken++] : &others[left++]) = r->rows[i];
    }
    *rows = r->rows;
    r->rows = others;
    r->room_rows = r->n_rows + 1;
    r->n_rows = left;
    return taken;
}

/* A column for every quantity of a row, headed by its label, with a key to free(). The column of
 * the row's own label is headed by the list's name and replaces a quantity "name". */
static size_t columns_of_all(const struct sp_report *r, const char *list,
                             struct sp_column column[MOST_COLUMNS])
{
    size_t n = 1, row, known;
    column[0] = (struct sp_column){NULL, list, true, false};
    for (size_t i = 0; i < sp_report_size(r) && n < MOST_COLUMNS; i++) {
        const struct sp_entry *const entry = sp_report_entry(r, i);
        const char *const key = sp_inside_row(sp_path(entry), list, &row);
        if (!key || entry->is_old || strcmp(key, "name") == 0)
            continue;
        for (known = 1; known < n && strcmp(column[known].key, key) != 0;)
            known++;
        if (known == n)
            column[n++] = (struct sp_column){sp_must(strdup(key)), entry->info->label,
                                             entry->info->unit == SP_WORDS, false};
    }
    return n;
}

void sp_list_table(struct sp_report *r, const char *list, const char *columns, ...)
{
    struct sp_column column[MOST_COLUMNS];
    struct sp_row *rows;
    size_t n = 0;
    va_list args;
    va_start(args, columns);
    char *const text = columns ? sp_make_text_from(columns, args) : NULL;
    va_end(args);
    for (char *rest = text, *item; n < MOST_COLUMNS && (item = strsep(&rest, ",")) != NULL;)
        column[n++] = read_column(r, list, item);
    if (!columns)
        n = columns_of_all(r, list, column);
    const size_t n_rows = take_rows(r, list, &rows);
    if (n_rows > 0 && r->n_items > 0)
        sp_line(r, " ");
    if (n_rows > 0)
        sp_table_of(r, column, n, rows, n_rows);
    else
        free(rows);
    sp_scope(r, "");
    for (size_t c = 0; !columns && c < n; c++)
        free((char *)column[c].key);
    free(text);
}
