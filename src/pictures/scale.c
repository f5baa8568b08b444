/* Ranges, prefixes and ticks of axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pictures/script.h"

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
    struct sp_scale scale = {.min = INFINITY, .max = -INFINITY};
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

void sp_tick_text(double value, const char *unit, char *out, size_t size)
{
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    int step = value > 0 ? (int)floor((log10(value) + 1e-9) / 3) : 0;
    step = step < -3 || step > 6 ? 0 : step;         /* beyond the prefixes: 1e+21 */
    const bool attached = unit && strlen(unit) == 1; /* 10 ms, 5 GB, but 5 G of FLOP/s */
    const char *const prefix = prefixes[step + 3], *const name = attached ? unit : "";
    snprintf(out, size, "%.4g%s%s%s", value / pow(1000, step), *prefix || *name ? " " : "", prefix,
             name);
}

size_t sp_longest_tick(const struct sp_plot_axis *axis)
{
    size_t longest = 0;
    for (size_t i = 0; i < axis->n_ticks; i++) {
        size_t n = 0;
        for (const char *c = axis->ticks[i].text; *c; c++)
            n += ((unsigned char)*c & 0xc0) != 0x80;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static void write_log_ticks(FILE *out, const char *which, const struct sp_plot_axis *axis,
                            struct sp_scale scale)
{
    const double decades = log10(scale.max / scale.min);
    const int every = decades > 12 ? 3 : 1;
    const char *separator = "";
    fprintf(out, "set %stics scale 1 (", which);
    for (int e = (int)floor(log10(scale.min)); e <= (int)ceil(log10(scale.max)); e++)
        for (int digit = 1; digit < 10; digit++) {
            const double at = digit * pow(10, e);
            const bool named = digit == 1      ? e % every == 0
                               : decades < 1.2 ? true
                               : decades < 3.2 ? digit == 2 || digit == 5
                                               : false;
            char text[48];
            if (at < scale.min * (1 - 1e-9) || at > scale.max * (1 + 1e-9) || decades > 40)
                continue;
            sp_tick_text(at, axis->unit, text, sizeof text);
            fputs(separator, out);
            sp_quote(out, named ? text : "");
            fprintf(out, " %.10g %d", at, named ? 0 : 1);
            separator = ", ";
        }
    fputs(") nomirror\n", out);
}

static void write_ticks(FILE *out, const char *which, const struct sp_plot_axis *axis,
                        struct sp_scale scale)
{
    if (axis->n_ticks > 0) {
        fprintf(out, "set %stics scale 0 (", which);
        for (size_t i = 0; i < axis->n_ticks; i++) {
            fputs(i ? ", " : "", out);
            sp_quote(out, axis->ticks[i].text);
            fprintf(out, " %.10g", axis->ticks[i].at / scale.factor);
        }
        fputs(") nomirror\n", out);
    } else if (axis->log) {
        write_log_ticks(out, which, axis, scale);
    } else if (axis->whole && scale.max <= 12) {
        fprintf(out, "set %stics scale 1 1 nomirror\n", which);
    } else {
        fprintf(out, "set %stics scale 1 autofreq nomirror\n", which);
    }
}

static void write_axis(FILE *out, const char *which, const struct sp_plot_axis *axis,
                       struct sp_scale scale)
{
    char text[SP_PLOT_TEXT];
    const char *const unit = axis->unit ? axis->unit : "";
    const bool spaced = *scale.prefix && strlen(unit) > 7; /* "k tokens" */
    fprintf(out, "set %srange [%.10g:%.10g] noextend\n", which, scale.min / scale.factor,
            scale.max / scale.factor);
    fprintf(out, axis->log ? "set logscale %s 10\n" : "unset logscale %s\n", which);
    write_ticks(out, which, axis, scale);
    if (*unit || *scale.prefix)
        snprintf(text, sizeof text, "%s (%s%s%s)", axis->label, scale.prefix, spaced ? " " : "",
                 unit);
    else
        snprintf(text, sizeof text, "%s", axis->label);
    fprintf(out, "set %slabel ", which);
    sp_quote(out, text);
    fputc('\n', out);
}

void sp_write_axes(FILE *out, const struct sp_panel *panel, struct sp_scale x, struct sp_scale y)
{
    write_axis(out, "x", &panel->x, x);
    write_axis(out, "y", &panel->y, y);
}
