/* Bars, waterfalls and timelines: boxes on rows. */
#include "pictures/pictures.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Space for the note of a bar, as a share of the axis. */
#define ROOM_FOR_NOTES 1.18

/* Categories on the y axis, the first at the top. */
static struct sp_plot_axis row_axis(void)
{
    return sp_make_axis("", "", false);
}

static double row_at(size_t rows, size_t i)
{
    return (double)(rows - 1 - i);
}

/* Sizes a panel for `rows` rows and `above` empty ones of equal height, with two terminal lines per
 * row if there are few; both are 1/4 row off the middle. */
static void size_rows(struct sp_panel *panel, size_t rows, double above, double px)
{
    const int lines = rows <= 20 ? 2 : 1;
    const double shrunk = rows > 24 ? fmax(px * 24 / (double)rows, 4) : px;
    panel->y.min = lines == 2 ? -0.75 : -1;
    panel->y.max = (double)rows + (lines == 2 ? -0.25 : 0) + above;
    panel->height_px = shrunk * (panel->y.max - panel->y.min);
    panel->rows = (int)lround((panel->y.max - panel->y.min) * lines) + 1;
    panel->above = above / (panel->y.max - panel->y.min);
}

/* Whether the i-th of many rows gets its name. */
static bool has_room(size_t rows, size_t i)
{
    return i % (rows / 48 + 1) == 0;
}

/* Gives parts with the same initial the next free letter of their names. */
static char free_letter(const char *name, char used[], size_t n_used)
{
    for (const char *c = name; *c; c++) {
        const char letter = (char)toupper((unsigned char)*c);
        if (isalpha((unsigned char)letter) && !memchr(used, letter, n_used))
            return letter;
    }
    return '+';
}

/* Any two parts can be adjacent, because one may be empty: plain ones differ in lightness (87 and
 * 158 of 255), hatched ones in their hatches. */
static const struct {
    enum sp_look look;
    bool hatched;
} part_fills[SP_MAX_PARTS] = {{SP_BLUE, false},     {SP_ORANGE, true}, {SP_SKY, false},
                              {SP_VERMILION, true}, {SP_BLACK, true},  {SP_PURPLE, true},
                              {SP_GREEN, true},     {SP_SKY, true}};

struct sp_panel *sp_draw_bars(struct sp_figure *figure, const struct sp_bars *b)
{
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(b->label, b->unit, false), row_axis(), b->title);
    char letters[SP_MAX_PARTS];
    double longest = isnan(b->limit) ? 0 : b->limit;
    panel->key = SP_KEY_ABOVE;
    size_rows(panel, b->n_bars, b->n_bars <= 20 ? 0.5 : 1, 34);
    for (size_t k = 0; k < b->n_parts && k < SP_MAX_PARTS; k++) {
        struct sp_series *const series =
            sp_add_series(panel, SP_BOXES, part_fills[k].look, "%s", b->names[k]);
        series->hatched = part_fills[k].hatched;
        series->letter = letters[k] = free_letter(b->names[k], letters, k);
        for (size_t i = 0; i < b->n_bars; i++) {
            double before = 0;
            for (size_t j = 0; j < k; j++)
                before += fmax(b->bars[i].parts[j], 0);
            const double y = row_at(b->n_bars, i), part = b->bars[i].parts[k];
            if (part > 0)
                sp_add_box(series, before, before + part, y - 0.36, y + 0.36);
            longest = fmax(longest, before + fmax(part, 0));
        }
    }
    for (size_t i = 0; i < b->n_bars; i++) {
        double end = 0;
        for (size_t j = 0; j < b->n_parts; j++)
            end += fmax(b->bars[i].parts[j], 0);
        if (!has_room(b->n_bars, i))
            continue;
        sp_add_tick(&panel->y, row_at(b->n_bars, i), "%s", b->bars[i].label);
        const double room = longest * 0.012 * (double)strlen(b->bars[i].note);
        sp_add_label(panel, end + longest * 0.008, row_at(b->n_bars, i), SP_LEFT, "%s",
                     b->bars[i].note)
            ->clears = end <= b->limit && end + room > b->limit;
    }
    panel->x.min = 0;
    panel->x.max = longest * ROOM_FOR_NOTES;
    if (!isnan(b->limit))
        sp_add_rule(panel, true, b->limit, SP_BLACK, "%s", b->limit_text);
    return panel;
}

struct sp_panel *sp_draw_waterfall(struct sp_figure *figure, const struct sp_waterfall *w)
{
    const size_t rows = w->n_parts + 1;
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(w->label, w->unit, false), row_axis(), w->title);
    struct sp_series *const links = sp_add_series(panel, SP_LINE, SP_BLACK, "%s", "");
    struct sp_series *const parts = sp_add_series(panel, SP_BOXES, SP_SKY, "%s", "");
    struct sp_series *const sum = sp_add_series(panel, SP_BOXES, SP_BLUE, "%s", "");
    struct sp_series *const range = sp_add_series(panel, SP_WHISKERS, SP_BLACK, "%s", "");
    double end = 0;
    const double most = fmax(w->sum.value, isnan(w->high) ? 0 : w->high);
    size_rows(panel, rows, 1, 26);
    links->thin = true; /* omitted in a terminal */
    parts->bare = sum->bare = true;
    for (size_t i = 0; i < w->n_parts; i++) {
        const double y = row_at(rows, i), from = end;
        end += w->parts[i].value;
        sp_add_box(parts, from, end, y - 0.34, y + 0.34);
        sp_add_point(links, end, y);
        sp_add_point(links, end, y - 1);
        sp_add_tick(&panel->y, y, "%s", w->parts[i].label);
        sp_add_label(panel, end + most * 0.008, y, SP_LEFT, "%s", w->parts[i].note);
    }
    sp_add_box(sum, 0, w->sum.value, -0.36, 0.36);
    sp_add_tick(&panel->y, 0, "%s", w->sum.label);
    sp_add_label(panel, most * 1.008, 0, SP_LEFT, "%s", w->sum.note);
    if (!isnan(w->low) && !isnan(w->high))
        sp_add_whisker(range, w->low, w->high, 0);
    panel->x.min = 0;
    panel->x.max = most * ROOM_FOR_NOTES;
    if (!isnan(w->mark))
        sp_add_rule(panel, true, w->mark, SP_VERMILION, "%s", w->mark_text);
    return panel;
}

struct sp_panel *sp_draw_timeline(struct sp_figure *figure, const struct sp_timeline *t)
{
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("time", "s", false), row_axis(), t->title);
    struct sp_series *const idle = sp_add_series(panel, SP_BOXES, SP_GREY, "%s", t->idle);
    struct sp_series *kinds[SP_MAX_PARTS] = {NULL};
    static const bool light[SP_LOOKS] = {[SP_BLUE] = true, [SP_GREEN] = true};
    double narrowest = SP_TIMELINE_PX;
    for (size_t i = 0; i < t->n_spans; i++)
        narrowest =
            fmin(narrowest, (t->spans[i].end - t->spans[i].start) / t->end * SP_TIMELINE_PX);
    idle->letter = '.';
    panel->key = SP_KEY_ABOVE;
    size_rows(panel, t->rows, 0, t->rows > 8 ? 26 : 34);
    for (size_t i = 0; i < t->rows; i++) {
        const double y = row_at(t->rows, i);
        sp_add_box(idle, 0, t->end, y - 0.42, y + 0.42);
        if (has_room(t->rows, i))
            sp_add_tick(&panel->y, y, "%s %zu", t->row_name, i);
    }
    for (size_t k = 0; k < t->n_kinds && k < SP_MAX_PARTS; k++) {
        kinds[k] = sp_add_series(panel, SP_BOXES, t->kinds[k].look, "%s", t->kinds[k].name);
        kinds[k]->letter = t->kinds[k].letter;
        kinds[k]->hatched = t->kinds[k].hatched;
        /* edges would hide boxes of a pixel */
        kinds[k]->thin = kinds[k]->bare = narrowest < 3;
    }
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct sp_span *const span = &t->spans[i];
        const double y = row_at(t->rows, span->row);
        sp_add_box(kinds[span->kind], span->start, span->end, y - 0.42, y + 0.42);
        const double px = (span->end - span->start) / t->end * SP_TIMELINE_PX;
        if (t->rows <= 40 && span->text[0] &&
            (span->spills || px > SP_DIGIT_PX * (double)strlen(span->text) - 1))
            sp_add_label(panel, (span->start + span->end) / 2, y, SP_CENTRE, "%s", span->text)
                ->light = light[kinds[span->kind]->look] && !kinds[span->kind]->hatched;
    }
    panel->x.min = 0;
    panel->x.max = t->end;
    return panel;
}

/* Names the columns and rows for which there is room. */
static void name_columns_and_rows(struct sp_panel *panel, const struct sp_heat *h)
{
    for (size_t i = 0; i < h->n_columns; i++)
        if (has_room(h->n_columns, i))
            sp_add_tick(&panel->x, (double)i, "%s", h->columns[i]);
    for (size_t i = 0; i < h->n_rows; i++)
        if (has_room(h->n_rows, i))
            sp_add_tick(&panel->y, row_at(h->n_rows, i), "%s", h->rows[i]);
}

struct sp_panel *sp_draw_heat(struct sp_figure *figure, const struct sp_heat *h)
{
    static const char letters[SP_SHADES + 1] = ".:oO@";
    enum { MOST_NOTED = 12 }; /* most columns with numbers in their boxes */
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(h->x_label, "", false), row_axis(), h->title);
    struct sp_series *shade[SP_SHADES];
    double low = INFINITY, high = -INFINITY;
    size_rows(panel, h->n_rows, 0, 34);
    panel->x.min = -0.5;
    panel->x.max = (double)h->n_columns - 0.5;
    name_columns_and_rows(panel, h);
    for (int k = 0; k < SP_SHADES; k++) {
        shade[k] = sp_add_series(panel, SP_BOXES, (enum sp_look)(SP_SHADE + k), "%s", "");
        shade[k]->letter = letters[k];
    }
    for (size_t i = 0; i < h->n_columns * h->n_rows; i++) {
        low = fmin(low, h->values[i]);
        high = fmax(high, h->values[i]);
    }
    for (size_t i = 0; i < h->n_columns * h->n_rows; i++) {
        const double x = (double)(i % h->n_columns), y = row_at(h->n_rows, i / h->n_columns);
        const double part = high > low ? (h->values[i] - low) / (high - low) : 0.5;
        if (isnan(h->values[i]))
            continue;
        const int k = (int)fmin(part * SP_SHADES, SP_SHADES - 1);
        sp_add_box(shade[k], x - 0.48, x + 0.48, y - 0.46, y + 0.46);
        if (h->n_columns <= MOST_NOTED)
            sp_add_label(panel, x, y, SP_CENTRE, "%s", h->notes[i])->light = k >= 3;
    }
    return panel;
}
