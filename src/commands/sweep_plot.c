/* The picture of a sweep. */
#include "commands/sweep_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "host/write_file.h"
#include "pictures/pictures.h"

enum { MOST_ROWS = 4096, MOST_LINES = 16, MOST_COLUMNS = 64 };

/* The symbol that an axis takes prefixes before. */
static const char *symbol_of(enum sp_unit unit)
{
    static const char *const symbols[SP_UNITS] = {
        [SP_BYTES] = "B",       [SP_CAPACITY] = "B",           [SP_BYTES_PER_S] = "B/s",
        [SP_FLOPS] = "FLOPs",   [SP_FLOPS_PER_S] = "FLOP/s",   [SP_SECONDS] = "s",
        [SP_TOKENS] = "tokens", [SP_TOKENS_PER_S] = "tokens/s"};
    return symbols[unit] ? symbols[unit] : "";
}

static void make_panels(struct sp_sweep_picture *p, const char *keys)
{
    char key[160];
    while (p->n < SP_MAX_PANELS && sp_next_item(&keys, key, sizeof key)) {
        struct sp_sweep_panel *const panel = &p->panel[p->n++];
        panel->value = malloc((size_t)p->axes->rows * sizeof *panel->value);
        if (!panel->value)
            abort();
        for (uint64_t i = 0; i < p->axes->rows; i++)
            panel->value[i] = NAN;
        snprintf(panel->label, sizeof panel->label, "%s", key);
    }
}

bool sp_begin_sweep_picture(struct sp_sweep_picture *p, const struct sp_axes *axes,
                            const char *keys, struct sp_error *error)
{
    enum sp_terminal terminal;
    int swept[3], n = 0;
    if (!sp_terminal_of(p->target, &terminal, error))
        return false;
    if (terminal == SP_TERMINAL_TEXT || sp_is_stdout(p->target))
        return sp_fail(error, SP_USAGE,
                       "--plot: a sweep's rows are printed: give the picture a file of its own");
    for (int a = 0; a < axes->n && n < 3; a++)
        if (axes->axis[a].n > 1)
            swept[n++] = a;
    if (n < 1 || n > 2)
        return sp_fail(error, SP_USAGE, "--plot draws a sweep of one or two lists, not of %s",
                       n == 0 ? "none" : "more");
    p->axes = axes;
    p->along = swept[n - 1];
    p->by = n == 2 ? swept[0] : -1;
    if (p->heat && p->by < 0)
        return sp_fail(error, SP_USAGE, "--heat needs two lists: rows and columns");
    if (!p->heat && p->by >= 0 && axes->axis[p->by].n > MOST_LINES)
        return sp_fail(error, SP_USAGE, "--plot draws up to %d lines; --heat draws more",
                       MOST_LINES);
    if (axes->rows > MOST_ROWS || (p->heat && axes->axis[p->along].n > MOST_COLUMNS))
        return sp_fail(error, SP_USAGE, "--plot draws up to %d rows, a heat map %d columns",
                       MOST_ROWS, MOST_COLUMNS);
    make_panels(p, keys);
    return true;
}

void sp_take_swept(struct sp_sweep_picture *p, uint64_t row, size_t key,
                   const struct sp_entry *entry)
{
    if (!p->target || key >= p->n || !entry || entry->kind != SP_VALUE_NUMBER)
        return;
    struct sp_sweep_panel *const panel = &p->panel[key];
    panel->value[row] = entry->number;
    panel->has_numbers = true;
    panel->unit = entry->info.unit;
    snprintf(panel->label, sizeof panel->label, "%.150s", entry->info.label);
}

/* The name of the i-th value of an axis, without a path before it. */
static const char *value_name(const struct sp_axes *axes, int axis, size_t i)
{
    const struct sp_axis *const a = &axes->axis[axis];
    const char *const text = a->text + a->start[i];
    return a->path[0] ? text + strlen(a->path) + 1 : text;
}

static const char *axis_name(const struct sp_axis *axis)
{
    return axis->path[0] ? axis->path : axis->name;
}

/* Whether all values of an axis are rising numbers, and then those. */
static bool read_numbers(const struct sp_axes *axes, int axis, double *number)
{
    for (size_t i = 0; i < axes->axis[axis].n; i++)
        if (!sp_parse_count(value_name(axes, axis, i), &number[i]) ||
            (i > 0 && number[i] <= number[i - 1]))
            return false;
    return true;
}

static uint64_t row_of(const struct sp_sweep_picture *p, size_t line, size_t i)
{
    return line * p->axes->axis[p->along].n + i;
}

static void draw_lines(const struct sp_sweep_picture *p, struct sp_figure *figure,
                       const struct sp_sweep_panel *from)
{
    const struct sp_axis *const along = &p->axes->axis[p->along];
    const size_t lines = p->by < 0 ? 1 : p->axes->axis[p->by].n;
    double *const x = malloc(along->n * sizeof *x);
    if (!x)
        abort();
    const bool numbers = read_numbers(p->axes, p->along, x);
    const bool wide = numbers && x[0] > 0 && x[along->n - 1] >= 8 * x[0];
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(axis_name(along), "", wide),
                     sp_make_axis(from->label, symbol_of(from->unit), false), "");
    for (size_t i = 0; i < along->n; i++) {
        x[i] = numbers ? x[i] : (double)i;
        if (!numbers || along->n <= 12)
            sp_add_tick(&panel->x, x[i], "%s", value_name(p->axes, p->along, i));
    }
    panel->key = lines > 1 ? SP_KEY_ABOVE : SP_NO_KEY;
    panel->height_px = 220;
    panel->y.min = 0;
    for (size_t k = 0; k < lines; k++) {
        struct sp_series *const line =
            sp_add_series(panel, SP_LINE, sp_look_of(k), p->by < 0 ? "%s" : "%s %s",
                          p->by < 0 ? "" : axis_name(&p->axes->axis[p->by]),
                          p->by < 0 ? "" : value_name(p->axes, p->by, k));
        struct sp_series *const marks = sp_add_series(panel, SP_MARKS, sp_look_of(k), "%s", "");
        line->dashed = k > 0;
        for (size_t i = 0; i < along->n; i++) {
            sp_add_point(line, x[i], from->value[row_of(p, k, i)]);
            sp_add_point(marks, x[i], from->value[row_of(p, k, i)]);
        }
    }
    free(x);
}

/* A value as text. */
struct note {
    char text[32];
};

static void draw_heat(const struct sp_sweep_picture *p, struct sp_figure *figure,
                      const struct sp_sweep_panel *from)
{
    const size_t columns = p->axes->axis[p->along].n, rows = p->axes->axis[p->by].n;
    const char **const names = calloc(columns + rows + columns * rows, sizeof *names);
    struct note *const notes = calloc(columns * rows, sizeof *notes);
    char title[SP_PLOT_TEXT];
    if (!names || !notes)
        abort();
    for (size_t i = 0; i < columns; i++)
        names[i] = value_name(p->axes, p->along, i);
    for (size_t i = 0; i < rows; i++)
        names[columns + i] = value_name(p->axes, p->by, i);
    for (size_t i = 0; i < columns * rows; i++) {
        snprintf(notes[i].text, sizeof notes[i].text, "%s",
                 sp_human_text(from->value[i], from->unit));
        names[columns + rows + i] = notes[i].text;
    }
    snprintf(title, sizeof title, "%.90s by %.30s", from->label, axis_name(&p->axes->axis[p->by]));
    sp_draw_heat(figure, &(struct sp_heat){.title = title,
                                           .x_label = axis_name(&p->axes->axis[p->along]),
                                           .columns = names,
                                           .rows = names + columns,
                                           .n_columns = columns,
                                           .n_rows = rows,
                                           .values = from->value,
                                           .notes = names + columns + rows});
    free(notes);
    free(names);
}

/* "step: model llama3-8b, hw h100-64": the command and what all rows share. */
static void name_sweep(const struct sp_sweep_picture *p, const char *command, char *out,
                       size_t size)
{
    snprintf(out, size, "%s", command);
    for (int a = 0; a < p->axes->n; a++) {
        const struct sp_axis *const axis = &p->axes->axis[a];
        const size_t used = strlen(out);
        if (axis->n == 1)
            snprintf(out + used, size - used, "%s %s%s%s", used == strlen(command) ? ":" : ",",
                     axis_name(axis), axis->text ? " " : "",
                     axis->text ? value_name(p->axes, a, 0) : "");
    }
}

void sp_free_sweep_picture(struct sp_sweep_picture *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->panel[i].value);
    p->n = 0;
}

bool sp_end_sweep_picture(struct sp_sweep_picture *p, const char *command, struct sp_error *error)
{
    struct sp_canvas canvas = {.columns = 0};
    char *bytes = NULL;
    size_t size;
    char title[SP_PLOT_TEXT];
    name_sweep(p, command, title, sizeof title);
    struct sp_figure *const figure = sp_figure_new("%s", title);
    for (size_t i = 0; i < p->n; i++)
        if (p->panel[i].has_numbers)
            (p->heat ? draw_heat : draw_lines)(p, figure, &p->panel[i]);
    if (figure->n_panels == 0)
        sp_fail(error, SP_INPUT, "--plot: no key of --get has numbers");
    const bool ok = figure->n_panels > 0 && sp_terminal_of(p->target, &canvas.terminal, error) &&
                    sp_draw(figure, &canvas, &bytes, &size, error) &&
                    sp_write_file(p->target, bytes, size, error);
    sp_figure_free(figure);
    free(bytes);
    return ok;
}
