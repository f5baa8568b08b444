/* A figure as a gnuplot script: pure text, no process. */
#ifndef SP_SCRIPT_H
#define SP_SCRIPT_H

#include <stdio.h>

#include "pictures/plot.h"

/* The script of *length bytes (free it); NULL if out of memory. Numbers are in datablocks, strings
 * in single quotes. */
char *sp_script(const struct sp_figure *figure, const struct sp_canvas *canvas, size_t *length);

/* The figure as JSON (free it): panels with axes, series, labels and rules. NULL if out of
 * memory. */
char *sp_figure_json(const struct sp_figure *figure, size_t *length);

/* Writes text as a literal gnuplot string: in single quotes, where gnuplot expands neither
 * backslashes, macros nor backquotes, and a quote becomes an apostrophe; control characters and
 * bytes that are not UTF-8 become '?'. */
void sp_quote(FILE *out, const char *text);

/* A panel's range on an axis, with the prefix and factor of its unit. */
struct sp_scale {
    double min, max, factor;
    const char *prefix;
};
struct sp_scale sp_scale_of(const struct sp_panel *panel, bool vertical);

/* A tick of a logarithmic axis: "12.5 k" for 12500, "3" for 3. */
void sp_tick_text(double value, const char *unit, char *out, size_t size);

/* Tidies the text of a terminal picture: drops form feeds, spaces at line ends and empty lines at
 * the start and end. In place; returns the new length. */
size_t sp_tidy_text(char *text);

/* Removes indentation, empty groups and default attributes from an SVG. In place; returns the new
 * length. */
size_t sp_tidy_svg(char *text);

/* The letter of a series in a terminal. */
char sp_letter_of(const struct sp_panel *panel, size_t series);

/* Writes a panel for a terminal; boxes are letters on the character grid. */
void sp_write_text_panel(FILE *out, const struct sp_figure *figure, const struct sp_panel *panel,
                         int columns);

/* Writes parts common to both kinds of output: ranges, ticks and axis labels; rules and labels. */
void sp_write_axes(FILE *out, const struct sp_panel *panel, struct sp_scale x, struct sp_scale y);
void sp_write_numbers(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                      struct sp_scale y);

/* Writes parts of a picture file: a panel's contents, and the sample of a box in the key, in shares
 * of the picture. */
void sp_write_contents(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                       struct sp_scale y);
void sp_write_swatch(FILE *out, const struct sp_series *series, double left, double bottom,
                     double right, double top);
bool sp_is_box(const struct sp_series *series);

/* The place of a value on an axis, from 0 to 1. */
double sp_share(double value, struct sp_scale scale, bool log_axis);

/* A panel's size in characters. */
struct sp_sheet {
    struct sp_scale x, y;
    double columns, rows;
    bool text; /* a terminal, with nothing between rows */
};
/* Whether each label is hidden because it would cover an earlier label, a rule or the edge. free()
 * it; NULL (none hidden) if out of memory. */
bool *sp_hidden_labels(const struct sp_panel *panel, const struct sp_sheet *sheet);

/* Whether an upright rule's text is to its left; the number of texts above it. */
bool sp_rule_reads_left(const struct sp_panel *panel, const struct sp_rule *rule,
                        struct sp_scale x);
int sp_rule_line(const struct sp_panel *panel, size_t rule);

size_t sp_longest_tick(const struct sp_plot_axis *axis);

#endif
