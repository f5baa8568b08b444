/* A figure as a gnuplot script: pure text, no process. */
#ifndef SP_SCRIPT_H
#define SP_SCRIPT_H

#include <stdio.h>

#include "pictures/plot.h"

/* The script, of *length bytes (free it); NULL when memory ran out. Numbers stand in datablocks,
 * strings in single quotes. */
char *sp_script(const struct sp_figure *figure, const struct sp_canvas *canvas, size_t *length);

/* The figure as JSON (free it): panels with axes, series, labels and rules, for a program that
 * draws it itself. NULL when memory ran out. */
char *sp_figure_json(const struct sp_figure *figure, size_t *length);

/* Writes text as a literal gnuplot string: in single quotes, where gnuplot expands neither
 * backslashes, macros nor backquotes, and a quote becomes an apostrophe; control characters and
 * bytes that are not UTF-8 become '?'. */
void sp_quote(FILE *out, const char *text);

/* A panel's range on an axis, prefix of its unit and factor: axis values are divided by it. */
struct sp_scale {
    double min, max, factor;
    const char *prefix;
};
struct sp_scale sp_scale_of(const struct sp_panel *panel, bool vertical);

/* "12.5 k" and "3" of 12500 and 3: a number on a logarithmic axis. */
void sp_tick_text(double value, const char *unit, char *out, size_t size);

/* Tidies the text of a terminal picture: drops form feeds, spaces at line ends and empty lines at
 * the start and end. In place; returns the new length. */
size_t sp_tidy_text(char *text);

/* Drops indentation, groups in which nothing is drawn, and default attributes from an SVG. In
 * place; returns the new length. */
size_t sp_tidy_svg(char *text);

/* The character of a series in a text terminal. */
char sp_letter_of(const struct sp_panel *panel, size_t series);

/* A panel of a text terminal: its whole plot, boxes as letters on the grid of characters. */
void sp_write_text_panel(FILE *out, const struct sp_figure *figure, const struct sp_panel *panel,
                         int columns);

/* Parts that both kinds of terminal share: ranges, ticks and axis labels; rules and labels. */
void sp_write_axes(FILE *out, const struct sp_panel *panel, struct sp_scale x, struct sp_scale y);
void sp_write_numbers(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                      struct sp_scale y);

/* Parts of a picture file: the contents of a panel, and the sample of a box in its key, in shares
 * of the whole picture. */
void sp_write_contents(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                       struct sp_scale y);
void sp_write_swatch(FILE *out, const struct sp_series *series, double left, double bottom,
                     double right, double top);
bool sp_is_box(const struct sp_series *series);

/* The place of a value on an axis, from 0 to 1. */
double sp_share(double value, struct sp_scale scale, bool log_axis);

/* A panel as room for text: columns and rows of characters. */
struct sp_sheet {
    struct sp_scale x, y;
    double columns, rows;
    bool text; /* a terminal, which shows nothing between two rows */
};
/* Whether each label is hidden because it would cover an earlier one, a rule, or the panel's edge.
 * To be freed; NULL (none is) when memory ran out. */
bool *sp_hidden_labels(const struct sp_panel *panel, const struct sp_sheet *sheet);

/* Whether the text of an upright rule is left of it; the number of texts above it. */
bool sp_rule_reads_left(const struct sp_panel *panel, const struct sp_rule *rule,
                        struct sp_scale x);
int sp_rule_line(const struct sp_panel *panel, size_t rule);

size_t sp_longest_tick(const struct sp_plot_axis *axis);

#endif
