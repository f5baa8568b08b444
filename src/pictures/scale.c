/* Ranges, prefixes and ticks of axes. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pictures/drawing.h"

/* Extends a scale by a value. */
static void look_at(struct sp_scale *scale, const struct sp_plot_axis *axis, double value)
{
    if (axis->log && value <= 0)
        return;
    scale->min = fmin(scale->min, value);
    scale->max = fmax(scale->max, value);
}

static void look_at_series(struct sp_scale *scale, const struct sp_plot_axis *axis,
                           const struct sp_series *series, bool vertical)
{
    const size_t each = sp_values_each(series->kind);
    const size_t xs = each == 2 ? 1 : 2; /* x0 x1 ... */
    const size_t first = vertical ? xs : 0, last = vertical ? each : xs;
    for (size_t i = 0; i < series->n; i += each)
        for (size_t k = first; k < last; k++)
            look_at(scale, axis, series->values[i + k]);
}

/* Seconds and similar use prefixes down to nano; counts without unit have none below a million. */
static void choose_prefix(struct sp_scale *scale, const struct sp_plot_axis *axis)
{
    static const struct {
        double factor;
        const char *prefix;
    } prefixes[] = {{1e-9, "n"}, {1e-6, "u"}, {1e-3, "m"}, {1, ""},     {1e3, "k"},
                    {1e6, "M"},  {1e9, "G"},  {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
    const double most = fmax(fabs(scale->min), fabs(scale->max));
    const bool has_unit = axis->unit && *axis->unit;
    const bool seconds = has_unit && strcmp(axis->unit, "s") == 0;
    scale->factor = 1;
    scale->prefix = "";
    if (axis->log || axis->n_ticks > 0 || most <= 0 || (!has_unit && most < 1e6))
        return;
    const size_t first = seconds ? 0 : 3, end = seconds ? 4 : sizeof prefixes / sizeof *prefixes;
    for (size_t i = first; i < end; i++) {
        if (i > first && most < prefixes[i].factor * (1 - 1e-9))
            break;
        scale->factor = prefixes[i].factor;
        scale->prefix = prefixes[i].prefix;
    }
}

struct sp_scale sp_scale_of(const struct sp_panel *panel, bool vertical)
{
    const struct sp_plot_axis *const axis = vertical ? &panel->y : &panel->x;
    struct sp_scale scale = {.min = INFINITY, .max = -INFINITY, .log = axis->log};
    for (size_t s = 0; s < panel->n_series; s++)
        look_at_series(&scale, axis, &panel->series[s], vertical);
    for (size_t i = 0; i < panel->n_rules; i++)
        if (panel->rules[i].vertical != vertical)
            look_at(&scale, axis, panel->rules[i].at);
    if (!(scale.min <= scale.max))
        scale.min = scale.max = 1;
    if (axis->log) {
        const double room = fmax(pow(scale.max / scale.min, 0.08), 1.15);
        scale.min /= room;
        scale.max *= room;
    } else if (axis->floating) {
        const double room = 0.08 * (scale.max - scale.min);
        scale.min -= room;
        scale.max += room;
    } else {
        scale.min = fmin(scale.min * 1.06, 0);
        scale.max = fmax(scale.max * 1.06, 0);
    }
    if (isfinite(axis->min))
        scale.min = axis->min;
    if (isfinite(axis->max))
        scale.max = axis->max;
    if (!(scale.min < scale.max))
        scale.max = scale.min + 1;
    choose_prefix(&scale, axis);
    return scale;
}

double sp_share(double value, const struct sp_scale *scale)
{
    return scale->log ? log(value / scale->min) / log(scale->max / scale->min)
                      : (value - scale->min) / (scale->max - scale->min);
}

void sp_tick_text(double value, const char *unit, char *out, size_t size)
{
    static const char *const prefixes[] = {"n", "u", "m", "",  "k", "M",
                                           "G", "T", "P", "E", "Z", "Y"};
    const bool attached = unit && strlen(unit) == 1; /* 10 ms, 5 GB, but 5 G of FLOP/s */
    int step = value != 0 ? (int)floor((log10(fabs(value)) + 1e-9) / 3) : 0;
    if (attached && *unit == 's' && step > 0)
        step = 0;                            /* no kiloseconds */
    step = step < -3 || step > 8 ? 0 : step; /* beyond the prefixes: 1e+27 */
    const char *const prefix = prefixes[step + 3], *const name = attached ? unit : "";
    snprintf(out, size, "%.4g%s%s%s", value / pow(1000, step), *prefix || *name ? " " : "", prefix,
             name);
}

void sp_axis_title(const struct sp_plot_axis *axis, const struct sp_scale *scale, char *out,
                   size_t size)
{
    const char *const unit = axis->unit ? axis->unit : "";
    const bool spaced = *scale->prefix && strlen(unit) > 7; /* "k tokens" */
    if (*unit || *scale->prefix)
        snprintf(out, size, "%s (%s%s%s)", axis->label, scale->prefix, spaced ? " " : "", unit);
    else
        snprintf(out, size, "%s", axis->label);
}

const char *sp_mark_text(const struct sp_mark_at *mark)
{
    return mark->text ? mark->text : mark->own;
}

/* Whether no text lies on the one before it in its line. */
static bool stand_apart(const struct sp_ticks *ticks, const struct sp_tick_room *room)
{
    for (size_t i = 1; i < ticks->n; i++)
        for (size_t k = i; k-- > 0;) {
            const struct sp_mark_at *const a = &ticks->tick[k], *const b = &ticks->tick[i];
            if (a->line != b->line)
                continue;
            if (fabs(b->share - a->share) * room->length <
                (room->takes(sp_mark_text(a)) + room->takes(sp_mark_text(b))) / 2 + room->apart)
                return false;
            break;
        }
    return true;
}

static void add_tick(struct sp_ticks *ticks, double value, const struct sp_scale *scale,
                     const char *unit)
{
    const double share = sp_share(value, scale);
    if (!(share > -1e-9 && share < 1 + 1e-9) || ticks->n == SP_MOST_TICKS)
        return;
    struct sp_mark_at *const tick = &ticks->tick[ticks->n++];
    *tick = (struct sp_mark_at){.share = share};
    if (scale->log)
        sp_tick_text(value, unit, tick->own, sizeof tick->own);
    else
        snprintf(tick->own, sizeof tick->own, "%.6g", value / scale->factor + 0.0); /* no -0 */
}

static void add_steps(const struct sp_plot_axis *axis, const struct sp_scale *scale, double step,
                      struct sp_ticks *ticks)
{
    ticks->n = 0;
    for (double i = ceil(scale->min / step - 1e-9); i * step <= scale->max + 1e-9 * step; i++)
        add_tick(ticks, i * step, scale, axis->unit);
}

/* At multiples of 1, 2 or 5 times a power of ten; of a whole axis no fractions. */
static void make_linear(const struct sp_plot_axis *axis, const struct sp_scale *scale,
                        const struct sp_tick_room *room, struct sp_ticks *ticks)
{
    static const double times[] = {1, 2, 5};
    const double range = scale->max - scale->min;
    const int least = (int)floor(log10(range / scale->factor)) - 1;
    for (int i = 3 * least; i < 3 * least + 12; i++) {
        const double step = times[(i % 3 + 3) % 3] * pow(10, floor(i / 3.0)) * scale->factor;
        if (range / step > 10 || (axis->whole && step < 1))
            continue;
        add_steps(axis, scale, step, ticks);
        if (stand_apart(ticks, room))
            return;
    }
}

/* The ticks of a density: all digits, 1 2 5, or every n-th decade. */
static void add_decades(const struct sp_plot_axis *axis, const struct sp_scale *scale, int density,
                        struct sp_ticks *ticks)
{
    ticks->n = 0;
    for (int e = (int)floor(log10(scale->min)); e <= (int)ceil(log10(scale->max)); e++)
        for (int digit = 1; digit < 10; digit++) {
            const bool named = density == 0   ? true
                               : density == 1 ? digit == 1 || digit == 2 || digit == 5
                                              : digit == 1 && e % (density - 1) == 0;
            if (named)
                add_tick(ticks, digit * pow(10, e), scale, axis->unit);
        }
}

static void make_log(const struct sp_plot_axis *axis, const struct sp_scale *scale,
                     const struct sp_tick_room *room, struct sp_ticks *ticks)
{
    enum { SPARSEST = 12, CROWD = 14 };
    for (int density = 0; density < SPARSEST; density++) {
        add_decades(axis, scale, density, ticks);
        if (ticks->n < CROWD && stand_apart(ticks, room))
            break;
    }
    if (ticks->n < 3) /* little more than a number */
        make_linear(axis, scale, room, ticks);
}

/* Names take up to three lines, staggered; numbers, and names that are too many, are thinned out.
 */
static void make_categories(const struct sp_plot_axis *axis, const struct sp_scale *scale,
                            const struct sp_tick_room *room, struct sp_ticks *ticks)
{
    enum { LINES = 3 };
    bool numbers = true;
    for (size_t i = 0; i < axis->n_ticks; i++)
        numbers &= isdigit((unsigned char)axis->ticks[i].text[0]) != 0;
    for (size_t every = 1; every <= axis->n_ticks; every++)
        for (int lines = 1; lines <= (numbers || room->apart < 4 ? 1 : LINES); lines++) {
            ticks->n = 0;
            for (size_t i = 0; i < axis->n_ticks; i += every) {
                const double share = sp_share(axis->ticks[i].at, scale);
                if (share >= 0 && share <= 1 && ticks->n < SP_MOST_TICKS)
                    ticks->tick[ticks->n++] = (struct sp_mark_at){.share = share,
                                                                  .text = axis->ticks[i].text,
                                                                  .line = (int)(i / every) % lines};
            }
            if (stand_apart(ticks, room))
                return;
        }
}

void sp_make_ticks(const struct sp_plot_axis *axis, const struct sp_scale *scale,
                   const struct sp_tick_room *room, struct sp_ticks *ticks)
{
    ticks->n = 0;
    if (axis->n_ticks > 0)
        make_categories(axis, scale, room, ticks);
    else if (scale->log)
        make_log(axis, scale, room, ticks);
    else
        make_linear(axis, scale, room, ticks);
}

bool sp_in_key(const struct sp_panel *panel, const struct sp_series *series)
{
    return series->name[0] && series->n > 0 && panel->key != SP_NO_KEY;
}
