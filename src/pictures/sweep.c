/* The picture of a sweep. */
#include "pictures/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "host/write_file.h"
#include "pictures/pictures.h"

enum { MOST_LINES = 16, MOST_COLUMNS = 64, MOST_BARS = 32 };

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
    const size_t most = p->stack ? SP_MAX_PARTS : SP_MAX_PANELS;
    while (p->n < most && sp_next_item(&keys, key, sizeof key)) {
        struct sp_sweep_panel *const panel = &p->panel[p->n++];
        panel->value = sp_must(malloc(p->rows * sizeof *panel->value));
        for (size_t i = 0; i < p->rows; i++)
            panel->value[i] = NAN;
        snprintf(panel->label, sizeof panel->label, "%s", key);
    }
}

bool sp_begin_sweep_picture(struct sp_sweep_picture *p, const char *keys, struct sp_error *error)
{
    enum sp_terminal terminal;
    if (!sp_terminal_of(p->target, &terminal, error))
        return false;
    if (terminal == SP_TERMINAL_TEXT || sp_is_stdout(p->target))
        return sp_fail(error, SP_USAGE,
                       "--plot: a sweep's rows are printed: give the picture a separate file");
    if (p->stack && (p->by.n > 0 || p->along.n > MOST_BARS))
        return sp_fail(error, SP_USAGE, "--stack draws one list of up to %d values", MOST_BARS);
    if (p->heat && p->by.n == 0)
        return sp_fail(error, SP_USAGE, "--heat needs two lists: rows and columns");
    if (!p->heat && p->by.n > MOST_LINES)
        return sp_fail(error, SP_USAGE, "--plot draws up to %d lines; --heat draws more",
                       MOST_LINES);
    if (p->rows > SP_MOST_SWEPT_ROWS || (p->heat && p->along.n > MOST_COLUMNS))
        return sp_fail(error, SP_USAGE, "--plot draws up to %d rows, a heat map %d columns",
                       SP_MOST_SWEPT_ROWS, MOST_COLUMNS);
    make_panels(p, keys);
    return true;
}

void sp_take_swept(struct sp_sweep_picture *p, size_t row, size_t key, const struct sp_entry *entry)
{
    if (!p->target || key >= p->n || !entry || entry->kind != SP_VALUE_NUMBER)
        return;
    struct sp_sweep_panel *const panel = &p->panel[key];
    panel->value[row] = sp_entry_number(entry);
    panel->has_numbers = true;
    panel->unit = entry->info->unit;
    snprintf(panel->label, sizeof panel->label, "%.150s", entry->info->label);
}

/* Whether all values of an axis are rising numbers, and then those. */
static bool read_numbers(const struct sp_sweep_axis *axis, double *number)
{
    for (size_t i = 0; i < axis->n; i++)
        if (!sp_parse_count(axis->value[i], &number[i]) || (i > 0 && number[i] <= number[i - 1]))
            return false;
    return true;
}

static void draw_lines(const struct sp_sweep_picture *p, struct sp_figure *figure,
                       const struct sp_sweep_panel *from)
{
    const struct sp_sweep_axis *const along = &p->along, *const by = &p->by;
    const size_t lines = by->n == 0 ? 1 : by->n;
    double *const x = sp_must(malloc(along->n * sizeof *x));
    const bool numbers = read_numbers(along, x);
    const bool wide = numbers && x[0] > 0 && x[along->n - 1] >= 8 * x[0];
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(along->name, "", wide),
                     sp_make_axis(from->label, symbol_of(from->unit), false), "");
    for (size_t i = 0; i < along->n; i++) {
        x[i] = numbers ? x[i] : (double)i;
        if (!numbers || along->n <= 12)
            sp_add_tick(&panel->x, x[i], "%s", along->value[i]);
    }
    panel->key = lines > 1 ? SP_KEY_ABOVE : SP_NO_KEY;
    panel->height_px = 220;
    panel->y.min = 0;
    for (size_t k = 0; k < lines; k++) {
        struct sp_series *const line =
            sp_add_series(panel, SP_LINE, sp_look_of(k), "%s%s%s", by->name, by->n > 0 ? " " : "",
                          by->n > 0 ? by->value[k] : "");
        struct sp_series *const marks = sp_add_series(panel, SP_MARKS, sp_look_of(k), "%s", "");
        line->dashed = k > 0;
        for (size_t i = 0; i < along->n; i++) {
            sp_add_point(line, x[i], from->value[k * along->n + i]);
            sp_add_point(marks, x[i], from->value[k * along->n + i]);
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
    const size_t columns = p->along.n, rows = p->by.n;
    const char **const names = sp_must(calloc(columns * rows, sizeof *names));
    struct note *const notes = sp_must(calloc(columns * rows, sizeof *notes));
    char title[SP_PLOT_TEXT];
    for (size_t i = 0; i < columns * rows; i++) {
        snprintf(notes[i].text, sizeof notes[i].text, "%s",
                 sp_human_text(from->value[i], from->unit));
        names[i] = notes[i].text;
    }
    snprintf(title, sizeof title, "%.90s by %.30s", from->label, p->by.name);
    sp_draw_heat(figure, &(struct sp_heat){.title = title,
                                           .x_label = p->along.name,
                                           .columns = p->along.value,
                                           .rows = p->by.value,
                                           .n_columns = columns,
                                           .n_rows = rows,
                                           .values = from->value,
                                           .notes = names});
    free(notes);
    free(names);
}

/* A bar for each row, with the values of all keys one after the other. */
static void draw_stack(const struct sp_sweep_picture *p, struct sp_figure *figure)
{
    struct sp_bar bars[MOST_BARS] = {0};
    const char *names[SP_MAX_PARTS];
    const struct sp_sweep_axis *const along = &p->along;
    for (size_t k = 0; k < p->n; k++)
        names[k] = p->panel[k].label;
    for (size_t i = 0; i < along->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < p->n; k++) {
            bars[i].parts[k] = p->panel[k].value[i];
            sum += fmax(bars[i].parts[k], 0);
        }
        snprintf(bars[i].label, sizeof bars[i].label, "%.30s %.30s", along->name, along->value[i]);
        snprintf(bars[i].note, sizeof bars[i].note, "%s", sp_human_text(sum, p->panel[0].unit));
    }
    sp_draw_bars(figure, &(struct sp_bars){.label = "together",
                                           .unit = symbol_of(p->panel[0].unit),
                                           .title = "",
                                           .names = names,
                                           .n_parts = p->n,
                                           .bars = bars,
                                           .n_bars = along->n,
                                           .limit = NAN});
}

void sp_free_sweep_picture(struct sp_sweep_picture *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->panel[i].value);
    free(p->along.value);
    free(p->by.value);
    *p = (struct sp_sweep_picture){0};
}

bool sp_end_sweep_picture(struct sp_sweep_picture *p, const char *title, struct sp_error *error)
{
    struct sp_canvas canvas = {.width = p->width};
    char *bytes = NULL;
    size_t size;
    struct sp_figure *const figure = sp_figure_new("%s", title);
    if (p->stack && p->panel[0].has_numbers)
        draw_stack(p, figure);
    for (size_t i = 0; i < p->n && !p->stack; i++)
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
