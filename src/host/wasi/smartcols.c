/* Tables in plain text, as libsmartcols lays them out if there is no terminal. */
#include "host/wasi/libsmartcols/libsmartcols.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/wasi/character.h"

struct libscols_column {
    char *name;
    int flags, width;
};

struct libscols_line {
    struct libscols_table *table;
    struct libscols_line *next;
    char *cells[];
};

struct libscols_table {
    FILE *out;
    const char *separator;
    struct libscols_column *columns;
    size_t n_columns;
    struct libscols_line *first, *last;
};

static void *take_room(void *before, size_t size)
{
    void *const room = realloc(before, size);
    if (!room)
        abort();
    return room;
}

static char *copy_of(const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(take_room(NULL, size), text, size);
}

/* Width in columns of a text of one line; an invalid byte takes one. */
static int width_of_line(const char *text, size_t n)
{
    int width = 0;
    for (const char *const end = text + n; text < end;)
        width += sp_columns_of(sp_take_character(&text));
    return width;
}

/* Width of the longest line. */
static int width_of(const char *text)
{
    int width = 0;
    for (size_t n = strcspn(text, "\n");; text += n + 1, n = strcspn(text, "\n")) {
        const int of_line = width_of_line(text, n);
        width = of_line > width ? of_line : width;
        if (text[n] == '\0')
            return width;
    }
}

struct libscols_table *scols_new_table(void)
{
    struct libscols_table *const table = take_room(NULL, sizeof *table);
    *table = (struct libscols_table){.out = stdout, .separator = " "};
    return table;
}

void scols_unref_table(struct libscols_table *table)
{
    for (struct libscols_line *line = table->first, *next; line; line = next) {
        next = line->next;
        for (size_t c = 0; c < table->n_columns; c++)
            free(line->cells[c]);
        free(line);
    }
    for (size_t c = 0; c < table->n_columns; c++)
        free(table->columns[c].name);
    free(table->columns);
    free(table);
}

int scols_table_set_stream(struct libscols_table *table, FILE *out)
{
    table->out = out;
    return 0;
}

int scols_table_set_column_separator(struct libscols_table *table, const char *separator)
{
    table->separator = separator;
    return 0;
}

struct libscols_column *scols_table_new_column(struct libscols_table *table, const char *name,
                                               double width, int flags)
{
    (void)width;
    table->columns = take_room(table->columns, (table->n_columns + 1) * sizeof *table->columns);
    struct libscols_column *const column = &table->columns[table->n_columns++];
    column->name = copy_of(name);
    column->flags = flags;
    column->width = width_of(name);
    return column;
}

struct libscols_line *scols_table_new_line(struct libscols_table *table,
                                           struct libscols_line *parent)
{
    const size_t n = table->n_columns;
    struct libscols_line *const line = take_room(NULL, sizeof *line + n * sizeof line->cells[0]);
    (void)parent;
    line->table = table;
    line->next = NULL;
    memset(line->cells, 0, n * sizeof line->cells[0]);
    if (table->last)
        table->last->next = line;
    else
        table->first = line;
    table->last = line;
    return line;
}

int scols_line_set_data(struct libscols_line *line, size_t column, const char *data)
{
    struct libscols_column *const c = &line->table->columns[column];
    const int width = width_of(data);
    free(line->cells[column]);
    line->cells[column] = copy_of(data);
    c->width = width > c->width ? width : c->width;
    return 0;
}

/* Prints a line of a cell, padded with blanks; the last cell of a row has none. */
static void print_cell(const struct libscols_table *table, size_t column, const char *text,
                       size_t length)
{
    const struct libscols_column *const c = &table->columns[column];
    const int blanks = c->width - width_of_line(text, length);
    const bool right = c->flags & SCOLS_FL_RIGHT, last = column + 1 == table->n_columns;
    fprintf(table->out, "%*s%.*s%*s%s", right ? blanks : 0, "", (int)length, text,
            right || last ? 0 : blanks, "", last ? "\n" : table->separator);
}

/* The text of a cell after its first `line` lines; "": it has no more. */
static const char *behind_lines(const char *text, int line)
{
    for (; text && line > 0; line--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? text : "";
}

/* Prints a row: as many lines as the cell with the most has. */
static void print_row(const struct libscols_table *table, const struct libscols_line *row)
{
    bool more = true;
    for (int line = 0; more; line++) {
        more = false;
        for (size_t c = 0; c < table->n_columns; c++) {
            const char *const text =
                behind_lines(row ? row->cells[c] : table->columns[c].name, line);
            const size_t length = strcspn(text, "\n");
            print_cell(table, c, text, length);
            more = more || text[length] == '\n';
        }
    }
}

int scols_print_table(const struct libscols_table *table)
{
    if (table->first)
        print_row(table, NULL);
    for (const struct libscols_line *line = table->first; line; line = line->next)
        print_row(table, line);
    return 0;
}

int scols_table_enable_colors(struct libscols_table *table, int enable)
{
    return (void)table, (void)enable, 0;
}

int scols_table_set_termforce(struct libscols_table *table, int force)
{
    return (void)table, (void)force, 0;
}

int scols_table_set_termwidth(struct libscols_table *table, size_t width)
{
    return (void)table, (void)width, 0;
}

int scols_column_set_safechars(struct libscols_column *column, const char *safe)
{
    return (void)column, (void)safe, 0;
}

int scols_column_set_wrapfunc(struct libscols_column *column,
                              size_t (*chunk)(const struct libscols_column *, const char *, void *),
                              char *(*next)(const struct libscols_column *, char *, void *),
                              void *context)
{
    return (void)column, (void)chunk, (void)next, (void)context, 0;
}

size_t scols_wrapnl_chunksize(const struct libscols_column *column, const char *data, void *context)
{
    (void)column;
    (void)context;
    return strlen(data);
}

char *scols_wrapnl_nextchunk(const struct libscols_column *column, char *data, void *context)
{
    return (void)column, (void)data, (void)context, NULL;
}

struct libscols_cell *scols_line_get_cell(struct libscols_line *line, size_t column)
{
    return (void)line, (void)column, NULL;
}

int scols_cell_set_color(struct libscols_cell *cell, const char *colour)
{
    return (void)cell, (void)colour, 0;
}
