/* The data behind a picture as CSV: one row per point, box, range or card. */
#include <stdio.h>
#include <stdlib.h>

#include "answer/rows.h"
#include "base/json.h"
#include "pictures/drawing.h"

static void put_text(FILE *out, const char *text, const char *end)
{
    sp_write_cell(text, true, ',', out);
    fputs(end, out);
}

static void put_number(FILE *out, double value, const char *end)
{
    char text[40];
    sp_format_double(value, text, sizeof text);
    fprintf(out, "%s%s", text, end);
}

/* Where each number of a kind of series is in a row: x, x_to, y, y_to. */
static const int columns[SP_SERIES_KINDS][4] = {
    [SP_LINE] = {0, -1, 1, -1},   [SP_STEPS] = {0, -1, 1, -1}, [SP_MARKS] = {0, -1, 1, -1},
    [SP_DROPS] = {0, -1, 1, -1},  [SP_BOXES] = {0, 1, 2, 3},   [SP_HOLLOW] = {0, 1, 2, 3},
    [SP_WHISKERS] = {0, 1, 2, -1}};

static void put_series(FILE *out, const struct sp_panel *panel, size_t number,
                       const struct sp_series *series)
{
    char x[SP_PLOT_TEXT], y[SP_PLOT_TEXT], words[SP_PLOT_TEXT * 3];
    const struct sp_scale base = {.factor = 1, .prefix = ""};
    sp_axis_title(&panel->x, &base, x, sizeof x);
    sp_axis_title(&panel->y, &base, y, sizeof y);
    for (size_t i = 0; i < series->n; i += sp_values_each(series->kind)) {
        fprintf(out, "%zu,", number);
        put_text(out, series->name, ",");
        put_text(out, x, ",");
        for (int k = 0; k < 4; k++) {
            const int at = columns[series->kind][k];
            if (k == 2)
                put_text(out, y, ",");
            if (at >= 0)
                put_number(out, series->values[i + (size_t)at], ",");
            else
                fputc(',', out);
        }
        sp_say_value(panel, series, i, words, sizeof words);
        put_text(out, words, "\n");
    }
}

char *sp_figure_csv(const struct sp_figure *figure, size_t *length)
{
    char *text = NULL;
    FILE *const out = open_memstream(&text, length);
    if (!out)
        return NULL;
    fputs("panel,series,x_axis,x,x_to,y_axis,y,y_to,words\n", out);
    for (size_t i = 0; i < figure->n_panels; i++) {
        const struct sp_panel *const panel = &figure->panels[i];
        for (size_t s = 0; s < panel->n_series; s++)
            put_series(out, panel, i, &panel->series[s]);
        for (size_t k = 0; k < panel->n_cards; k++) {
            const struct sp_card *const card = &panel->cards[k];
            char words[SP_PLOT_TEXT * 4];
            snprintf(words, sizeof words, "%s %s: %s. %s", card->asks, card->yes ? "Yes" : "No",
                     card->why, card->then);
            fprintf(out, "%zu,,,,,,,,", i);
            put_text(out, words, "\n");
        }
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
