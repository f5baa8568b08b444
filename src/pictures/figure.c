/* A figure's parts: growing lists of numbers, ticks and labels. */
#include "pictures/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void format_text(char out[SP_PLOT_TEXT], const char *format, va_list args)
{
    vsnprintf(out, SP_PLOT_TEXT, format, args);
}

enum sp_look sp_look_of(size_t i)
{
    return (enum sp_look)(i % SP_YELLOW);
}

size_t sp_values_each(enum sp_series_kind kind)
{
    static const size_t each[SP_SERIES_KINDS] = {
        [SP_LINE] = 2,  [SP_STEPS] = 2,  [SP_MARKS] = 2,    [SP_DROPS] = 2,
        [SP_BOXES] = 4, [SP_HOLLOW] = 4, [SP_WHISKERS] = 3,
    };
    return each[kind];
}

struct sp_figure *sp_figure_new(const char *title, ...)
{
    struct sp_figure *const figure = sp_must(calloc(1, sizeof *figure));
    va_list args;
    va_start(args, title);
    format_text(figure->title, title, args);
    va_end(args);
    return figure;
}

void sp_figure_free(struct sp_figure *figure)
{
    if (!figure)
        return;
    for (size_t i = 0; i < figure->n_panels; i++) {
        struct sp_panel *const panel = &figure->panels[i];
        for (size_t s = 0; s < panel->n_series; s++)
            free(panel->series[s].values);
        free(panel->labels);
        free(panel->cards);
        free(panel->x.ticks);
        free(panel->y.ticks);
    }
    free(figure);
}

struct sp_plot_axis sp_make_axis(const char *label, const char *unit, bool log)
{
    struct sp_plot_axis axis = {.unit = unit, .log = log, .min = NAN, .max = NAN};
    snprintf(axis.label, sizeof axis.label, "%s", label);
    return axis;
}

struct sp_panel *sp_add_panel(struct sp_figure *figure, struct sp_plot_axis x,
                              struct sp_plot_axis y, const char *title)
{
    if (figure->n_panels < SP_MAX_PANELS)
        figure->n_panels++;
    struct sp_panel *const panel = &figure->panels[figure->n_panels - 1];
    panel->x = x;
    panel->y = y;
    panel->height_px = 340;
    panel->rows = 22;
    snprintf(panel->title, sizeof panel->title, "%s", title);
    return panel;
}

struct sp_series *sp_add_series(struct sp_panel *panel, enum sp_series_kind kind, enum sp_look look,
                                const char *name, ...)
{
    if (panel->n_series == SP_MAX_SERIES) {
        panel->crowded = true; /* sp_draw refuses it */
        return &panel->series[SP_MAX_SERIES - 1];
    }
    struct sp_series *const series = &panel->series[panel->n_series++];
    va_list args;
    *series = (struct sp_series){.kind = kind, .look = look, .letter = '#'};
    va_start(args, name);
    format_text(series->name, name, args);
    va_end(args);
    return series;
}

static void add_values(struct sp_series *series, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return;
    if (n != sp_values_each(series->kind))
        return;
    series->values = sp_grow(series->values, series->n + n, &series->room, sizeof *series->values);
    memcpy(series->values + series->n, values, n * sizeof *values);
    series->n += n;
}

void sp_add_point(struct sp_series *series, double x, double y)
{
    add_values(series, (const double[]){x, y}, 2);
}

void sp_add_box(struct sp_series *series, double x0, double x1, double y0, double y1)
{
    add_values(series, (const double[]){x0, x1, y0, y1}, 4);
}

void sp_add_whisker(struct sp_series *series, double x0, double x1, double y)
{
    add_values(series, (const double[]){x0, x1, y}, 3);
}

struct sp_label *sp_add_label(struct sp_panel *panel, double x, double y, enum sp_align align,
                              const char *text, ...)
{
    panel->labels =
        sp_grow(panel->labels, panel->n_labels + 1, &panel->room_labels, sizeof *panel->labels);
    struct sp_label *const label = &panel->labels[panel->n_labels++];
    va_list args;
    *label = (struct sp_label){.x = x, .y = y, .align = align, .look = SP_BLACK};
    va_start(args, text);
    format_text(label->text, text, args);
    va_end(args);
    return label;
}

void sp_add_tick(struct sp_plot_axis *axis, double at, const char *text, ...)
{
    axis->ticks = sp_grow(axis->ticks, axis->n_ticks + 1, &axis->room, sizeof *axis->ticks);
    struct sp_tick *const tick = &axis->ticks[axis->n_ticks++];
    va_list args;
    tick->at = at;
    va_start(args, text);
    format_text(tick->text, text, args);
    va_end(args);
}

void sp_add_rule(struct sp_panel *panel, bool vertical, double at, enum sp_look look,
                 const char *text, ...)
{
    if (panel->n_rules == sizeof panel->rules / sizeof *panel->rules)
        return;
    struct sp_rule *const rule = &panel->rules[panel->n_rules++];
    va_list args;
    *rule = (struct sp_rule){.vertical = vertical, .at = at, .look = look};
    va_start(args, text);
    format_text(rule->text, text, args);
    va_end(args);
}

void sp_add_card(struct sp_panel *panel, bool yes, const char *asks, const char *why,
                 const char *then)
{
    panel->cards =
        sp_grow(panel->cards, panel->n_cards + 1, &panel->room_cards, sizeof *panel->cards);
    struct sp_card *const card = &panel->cards[panel->n_cards++];
    card->yes = yes;
    snprintf(card->asks, sizeof card->asks, "%s", asks);
    snprintf(card->why, sizeof card->why, "%s", why);
    snprintf(card->then, sizeof card->then, "%s", then);
}
