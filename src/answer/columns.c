/* Tables of the text whose columns are named by the keys of their quantities. */
#include <stdlib.h>
#include <string.h>

#include "answer/report_internal.h"
#include "base/list.h"

/* The first of a list's quantities of that key, with or without "!" at its end; NULL: none. */
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
    const bool right = *text == '>';
    char *const key = text + right, *const colon = strchr(key, ':');
    if (colon)
        *colon = '\0';
    const struct sp_entry *const entry = find_in_rows(r, list, key);
    const bool is_number = entry && entry->info.unit != SP_WORDS && entry->info.unit != SP_VERDICT;
    return (struct sp_column){.key = *key ? key : NULL,
                              .heading = colon   ? colon + 1 + strspn(colon + 1, " ")
                                         : entry ? entry->info.label
                                                 : key,
                              .left = !right && !is_number};
}

void sp_list_table(struct sp_report *r, const char *list, const struct sp_column *columns,
                   size_t n_columns)
{
    const size_t n = strlen(list);
    struct sp_row *const rows = calloc(r->n_rows + 1, sizeof *rows);
    size_t taken = 0, left = 0;
    if (!rows)
        abort();
    for (size_t i = 0; i < r->n_rows; i++) {
        const bool ours = strncmp(r->rows[i].prefix, list, n) == 0 && r->rows[i].prefix[n] == '.';
        *(ours ? &rows[taken++] : &r->rows[left++]) = r->rows[i];
    }
    r->n_rows = left;
    sp_table(r, columns, n_columns, rows, taken);
    free(rows);
}

void sp_end_table(struct sp_report *r, const char *list, const char *columns)
{
    enum { MOST = 32 };
    struct sp_column column[MOST];
    char text[MOST][96];
    size_t n = 0;
    while (n < MOST && sp_next_item(&columns, text[n], sizeof text[n])) {
        column[n] = read_column(r, list, text[n]);
        n++;
    }
    sp_line(r, " ");
    sp_list_table(r, list, column, n);
    sp_scope(r, "");
}
