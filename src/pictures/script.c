/* Writes the script of a picture file: positions of panels, titles and keys. */
#include "pictures/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, TITLE = 34, PANEL_TITLE = 22, KEY_ROW = 20, AXIS = 58, CHARACTER = 7 };

static size_t longest_name(const struct sp_panel *panel)
{
    size_t longest = 0;
    for (size_t s = 0; s < panel->n_series; s++)
        longest = strlen(panel->series[s].name) > longest ? strlen(panel->series[s].name) : longest;
    return longest;
}

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Draws the key of boxes, whose hatches gnuplot's own key lacks, from (left, top), wrapped at
 * `right`; returns its height in px. With `out` NULL, only measures. */
static double write_box_key(FILE *out, const struct sp_panel *panel, double left, double right,
                            double top, double height)
{
    enum { SWATCH = 26, GAP = 7, APART = 24 };
    double x = left, y = 0;
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        const double wide = SWATCH + GAP + APART + 6.3 * characters(series->name);
        if (!series->name[0] || series->n == 0 || !sp_is_box(series) || panel->key != SP_KEY_ABOVE)
            continue;
        if (x > left && x + wide > right) {
            x = left;
            y += KEY_ROW;
        }
        if (out)
            sp_write_swatch(out, series, x / WIDTH, 1 - (top + y + 14) / height,
                            (x + SWATCH) / WIDTH, 1 - (top + y + 2) / height);
        if (out) {
            fputs("set label ", out);
            sp_quote(out, series->name);
            fprintf(out, " at screen %.6g, screen %.6g left\n", (x + SWATCH + GAP) / WIDTH,
                    1 - (top + y + 8) / height);
        }
        x += wide;
    }
    return x > left ? y + KEY_ROW : 0;
}

/* Position of a panel in pixels from the upper left corner. */
struct place {
    double left, right, top, bottom, key;
    int keys_in_row;
    bool first;
};

static size_t count_keys(const struct sp_panel *panel)
{
    size_t keys = 0;
    for (size_t s = 0; s < panel->n_series; s++)
        keys += panel->series[s].name[0] && !sp_is_box(&panel->series[s]);
    return keys;
}

/* Sets left and right margins for tick names and keys. */
static void place_across(const struct sp_panel *panel, struct place *p)
{
    const size_t ticks = sp_longest_tick(&panel->y);
    double right = WIDTH - 30;
    if (panel->key == SP_KEY_RIGHT)
        right -= 46 + CHARACTER * fmin((double)longest_name(panel), 40);
    p->left = fmax(p->left, ticks > 0 ? 46 + CHARACTER * fmin((double)ticks, 40) : 84);
    p->right = fmin(p->right, right);
}

static struct place place_down(const struct sp_panel *panel, struct place p, double from)
{
    const size_t keys = count_keys(panel);
    p.keys_in_row = (int)((p.right - p.left) / (double)(CHARACTER * longest_name(panel) + 54));
    p.keys_in_row = p.keys_in_row < 1 ? 1 : p.keys_in_row;
    p.key = from + (panel->title[0] ? PANEL_TITLE : 0);
    p.top = p.key + 8 + write_box_key(NULL, panel, p.left, p.right, 0, 1);
    if (panel->key == SP_KEY_ABOVE && keys > 0)
        p.top += KEY_ROW * ceil((double)keys / p.keys_in_row);
    p.bottom = p.top + panel->height_px;
    return p;
}

static void write_panel(FILE *out, const struct sp_panel *panel, struct place p, double height,
                        const char *title, int title_size)
{
    const struct sp_scale x = sp_scale_of(panel, false), y = sp_scale_of(panel, true);
    fputs("unset label\nunset object\n", out);
    if (p.first) {
        fputs("set label ", out);
        sp_quote(out, title);
        fprintf(out, " at screen 0.012, screen %.6g left font ',%d'\n", 1 - TITLE / 2.0 / height,
                title_size);
    }
    write_box_key(out, panel, p.left, p.right, p.key, height);
    fprintf(out, "set lmargin at screen %.6g\nset rmargin at screen %.6g\n", p.left / WIDTH,
            p.right / WIDTH);
    fprintf(out, "set tmargin at screen %.6g\nset bmargin at screen %.6g\n", 1 - p.top / height,
            1 - p.bottom / height);
    sp_write_axes(out, panel, x, y);
    fprintf(out, "set grid %s\n", panel->y.n_ticks ? "xtics noytics" : "xtics ytics");
    if (panel->title[0]) {
        fputs("set label ", out);
        sp_quote(out, panel->title);
        fprintf(out, " at screen %.6g, screen %.6g left\n", p.left / WIDTH,
                1 - (p.key - 12) / height);
    }
    if (panel->key == SP_KEY_ABOVE)
        fprintf(out,
                "set key at screen %.6g, screen %.6g left top horizontal maxcols %d Left reverse "
                "samplen 2\n",
                p.left / WIDTH, 1 - p.key / height, p.keys_in_row);
    else if (panel->key == SP_KEY_INSIDE)
        fputs("set key bottom right inside vertical Left reverse samplen 2 opaque\n", out);
    else if (panel->key == SP_KEY_RIGHT)
        fprintf(out,
                "set key at screen %.6g, screen %.6g left top vertical Left reverse samplen 2\n",
                (p.right + 6) / WIDTH, 1 - p.top / height);
    else
        fputs("unset key\n", out);
    sp_write_contents(out, panel, x, y);
}

/* Writes gnuplot's terminal for a picture of this height (px). PNG has twice the pixels for sharp
 * screens and falls back to the plain terminal without cairo; PDF has 96 px per inch. */
static void write_terminal(FILE *out, enum sp_terminal terminal, double height)
{
    if (terminal == SP_TERMINAL_SVG)
        fprintf(out,
                "set terminal svg size %d,%.0f dynamic noenhanced font 'sans-serif,12' "
                "background rgb 'white' name 'scaleplan'\n",
                WIDTH, height);
    else if (terminal == SP_TERMINAL_PDF)
        fprintf(out,
                "if (!strstrt(GPVAL_TERMINALS, ' pdfcairo ')) exit error 'this gnuplot draws no "
                "PDF (it was built without cairo): --plot FILE.svg'\n"
                "set terminal pdfcairo size %.6gin,%.6gin noenhanced font 'sans-serif,9' "
                "background rgb 'white'\n",
                WIDTH / 96.0, height / 96);
    else
        fprintf(out,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) {\n"
                "set terminal pngcairo size %d,%.0f noenhanced font 'sans-serif,10' fontscale 1.6 "
                "linewidth 1.6 pointscale 1.6\n"
                "} else {\nset terminal png size %d,%.0f noenhanced\n}\n",
                WIDTH * 2, height * 2, WIDTH * 2, height * 2);
}

static void write_file_figure(FILE *out, const struct sp_figure *figure, enum sp_terminal terminal)
{
    struct place places[SP_MAX_PANELS], across = {.left = 0, .right = WIDTH};
    double down = TITLE;
    for (size_t i = 0; i < figure->n_panels; i++) /* common margins, so that times align */
        place_across(&figure->panels[i], &across);
    for (size_t i = 0; i < figure->n_panels; i++) {
        places[i] = place_down(&figure->panels[i], across, down);
        places[i].first = i == 0;
        down = places[i].bottom + AXIS;
    }
    write_terminal(out, terminal, down);
    fputs("set border 3 lc rgb '#555555'\nset tics textcolor rgb '#222222'\n"
          "set style line 9 lc rgb '#E4E4E4' lw 0.7 dt solid\nset grid back ls 9\n"
          "set multiplot\n",
          out);
    for (size_t i = 0; i < figure->n_panels; i++)
        write_panel(out, &figure->panels[i], places[i], down, figure->title,
                    terminal == SP_TERMINAL_SVG ? 15 : 12);
    fputs("unset multiplot\n", out);
}

char *sp_script(const struct sp_figure *figure, const struct sp_canvas *canvas, size_t *length)
{
    char *script = NULL;
    FILE *const out = open_memstream(&script, length);
    if (!out)
        return NULL;
    fputs("set encoding utf8\n", out);
    if (canvas->terminal == SP_TERMINAL_TEXT)
        for (size_t i = 0; i < figure->n_panels; i++)
            sp_write_text_panel(out, figure, &figure->panels[i], canvas->columns);
    else
        write_file_figure(out, figure, canvas->terminal);
    if (fclose(out) == 0)
        return script;
    free(script);
    return NULL;
}
