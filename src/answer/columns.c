/* Tables of the text whose columns are named by the keys of their quantities. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "answer/report_internal.h"
#include "base/list.h"

void sp_begin_row(struct sp_report *r, const char *label, const char *scope, ...)
{
    struct sp_row *const rows = realloc(r->rows, (r->n_rows + 1) * sizeof *rows);
    if (!rows)
        abort();
    r->rows = rows;
    struct sp_row *const row = &rows[r->n_rows++];
    va_list args;
    va_start(args, scope);
    vsnprintf(row->prefix, sizeof row->prefix, scope, args);
    va_end(args);
    const char *const dot = strrchr(row->prefix, '.');
    snprintf(row->label, sizeof row->label, "%.63s", label ? label : dot ? dot + 1 : row->prefix);
    sp_scope(r, row->prefix);
}

void sp_drop_row(struct sp_report *r)
{
    r->n_rows--;
}

/* The first of the rows' quantities of that key, with or without "!" at its end; NULL: none. */
static const struct sp_entry *find_in_rows(const struct sp_report *r, const char *key)
{
    const struct sp_entry *entry = NULL;
    char bare[64], path[180];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(key, "!"), key);
    for (size_t i = 0; i < r->n_rows && !entry; i++) {
        sp_join_path(r->rows[i].prefix, bare, path, sizeof path);
        entry = sp_find(r, path);
    }
    return entry;
}

/* "key", "key: heading" or ">key", cut into its parts inside of `text`. */
static struct sp_column read_column(const struct sp_report *r, char *text)
{
    text += strspn(text, " ");
    const bool right = *text == '>';
    char *const key = text + right, *const colon = strchr(key, ':');
    if (colon)
        *colon = '\0';
    const struct sp_entry *const entry = find_in_rows(r, key);
    const bool is_number = entry && entry->info.unit != SP_WORDS && entry->info.unit != SP_VERDICT;
    return (struct sp_column){.key = *key ? key : NULL,
                              .heading = colon   ? colon + 1 + strspn(colon + 1, " ")
                                         : entry ? entry->info.label
                                                 : key,
                              .left = !right && !is_number};
}

void sp_end_table(struct sp_report *r, const char *columns)
{
    enum { MOST = 32 };
    struct sp_column column[MOST];
    char text[MOST][96];
    size_t n = 0;
    while (n < MOST && sp_next_item(&columns, text[n], sizeof text[n])) {
        column[n] = read_column(r, text[n]);
        n++;
    }
    sp_line(r, " ");
    sp_table(r, column, n, r->rows, r->n_rows);
    sp_scope(r, "");
}
