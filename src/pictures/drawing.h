/* Shared by the writers of a figure: each turns it into one text and starts no other program. */
#ifndef SP_DRAWING_H
#define SP_DRAWING_H

#include "pictures/plot.h"

/* The figure as text of *length bytes (free it); NULL if out of memory. `width` in px, `columns` in
 * characters; `dark`: in dark colours on a dark screen; a picture inside a page leaves these to the
 * page. */
char *sp_figure_svg(const struct sp_figure *figure, double width, bool dark, size_t *length);
char *sp_figure_text(const struct sp_figure *figure, int columns, size_t *length);
char *sp_figure_json(const struct sp_figure *figure, size_t *length);
char *sp_figure_csv(const struct sp_figure *figure, size_t *length);

/* A panel's range on an axis, with the prefix and factor of its unit. */
struct sp_scale {
    double min, max, factor;
    const char *prefix;
    bool log;
};
struct sp_scale sp_scale_of(const struct sp_panel *panel, bool vertical);

/* The place of a value on an axis, from 0 to 1. */
double sp_share(double value, const struct sp_scale *scale);

/* A value with the prefix that suits it: "12.5 k" for 12500, "3" for 3, "10 ms" for 0.01 s. */
void sp_tick_text(double value, const char *unit, char *out, size_t size);

/* "time of a step (ms)". */
void sp_axis_title(const struct sp_plot_axis *axis, const struct sp_scale *scale, char *out,
                   size_t size);

/* The labels of an axis at its ticks. */
enum { SP_MOST_TICKS = 96 };
struct sp_ticks {
    size_t n;
    struct sp_mark_at {
        double share; /* of the axis */
        char own[24];
        const char *text; /* of a category; NULL: own */
        int line;         /* of the names under the axis, the first is 0 */
    } tick[SP_MOST_TICKS];
};
const char *sp_mark_text(const struct sp_mark_at *mark);

/* Room along an axis: its length, the least gap between two texts, and the room that a text takes.
 */
struct sp_tick_room {
    double length, apart;
    double (*takes)(const char *text);
};
/* The ticks of an axis whose texts do not overlap: as many as there is room for, at round
 * values. */
void sp_make_ticks(const struct sp_plot_axis *axis, const struct sp_scale *scale,
                   const struct sp_tick_room *room, struct sp_ticks *ticks);

/* Whether the series has a line in the key. */
bool sp_in_key(const struct sp_panel *panel, const struct sp_series *series);

/* "stage 0: forward 1 s, from 2 s to 3 s": a point or box, `i` of its first number, in words. */
void sp_say_value(const struct sp_panel *panel, const struct sp_series *series, size_t i, char *out,
                  size_t size);

#endif
