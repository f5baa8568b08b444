/* The part of libsmartcols that reports use, for a host without a terminal: columns as wide as
 * their widest cell, no colours, no wrapping. Names are the library's, so that answer/text.c uses
 * one interface. */
#ifndef SP_LIBSMARTCOLS_H
#define SP_LIBSMARTCOLS_H

#include <stddef.h>
#include <stdio.h>

struct libscols_table;
struct libscols_column;
struct libscols_line;
struct libscols_cell;

enum { SCOLS_FL_RIGHT = 1, SCOLS_FL_WRAP = 2 };
enum { SCOLS_TERMFORCE_NEVER, SCOLS_TERMFORCE_ALWAYS };

struct libscols_table *scols_new_table(void);
void scols_unref_table(struct libscols_table *table);
int scols_table_set_stream(struct libscols_table *table, FILE *out);
int scols_table_set_column_separator(struct libscols_table *table, const char *separator);

/* Add columns before lines. */
struct libscols_column *scols_table_new_column(struct libscols_table *table, const char *name,
                                               double width, int flags);
struct libscols_line *scols_table_new_line(struct libscols_table *table,
                                           struct libscols_line *parent);
int scols_line_set_data(struct libscols_line *line, size_t column, const char *data);
int scols_print_table(const struct libscols_table *table);

/* Terminal settings: accepted, without effect. */
int scols_table_enable_colors(struct libscols_table *table, int enable);
int scols_table_set_termforce(struct libscols_table *table, int force);
int scols_table_set_termwidth(struct libscols_table *table, size_t width);
int scols_column_set_safechars(struct libscols_column *column, const char *safe);
int scols_column_set_wrapfunc(struct libscols_column *column,
                              size_t (*chunk)(const struct libscols_column *, const char *, void *),
                              char *(*next)(const struct libscols_column *, char *, void *),
                              void *context);
size_t scols_wrapnl_chunksize(const struct libscols_column *column, const char *data,
                              void *context);
char *scols_wrapnl_nextchunk(const struct libscols_column *column, char *data, void *context);
struct libscols_cell *scols_line_get_cell(struct libscols_line *line, size_t column);
int scols_cell_set_color(struct libscols_cell *cell, const char *colour);

#endif
