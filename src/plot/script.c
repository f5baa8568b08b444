/* The script of a picture file: SVG or PNG. */
#include "script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Okabe and Ito's colours; each differs from the others by more than its hue. */
static const struct {
    const char *rgb, *tint;
    int pattern; /* of a hatched box */
    int point;   /* gnuplot's point types: odd from 5 filled, even hollow */
    const char *dash;
} looks[SP_LOOKS] = {
    [SP_BLUE] = {"#0072B2", "#B5D5E8", 5, 7, "solid"},
    [SP_ORANGE] = {"#E69F00", "#FBE8BF", 4, 5, "'-'"},
    [SP_GREEN] = {"#009E73", "#BFE6DC", 6, 9, "'-.'"},
    [SP_VERMILION] = {"#D55E00", "#F8DCC8", 7, 13, "'_'"},
    [SP_SKY] = {"#56B4E9", "#D9EEFA", 1, 11, "'-..'"},
    [SP_PURPLE] = {"#CC79A7", "#F4E2EC", 2, 6, "'.'"},
    [SP_YELLOW] = {"#F0E442", "#FCFAD4", 5, 4, "'_.'"},
    [SP_BLACK] = {"#222222", "#C8C8C8", 5, 12, "solid"},
    [SP_GREY] = {"#D8D8D8", "#F0F0F0", 4, 6, "solid"},
};

enum { WIDTH = 900, TITLE = 34, PANEL_TITLE = 22, KEY_ROW = 20, AXIS = 52, CHARACTER = 7 };

/* Length of the UTF-8 sequence at `c`, 0 when it is none. */
static int sequence(const unsigned char *c)
{
    static const struct {
        unsigned char mask, lead;
        int n;
        unsigned least;
    } kinds[] = {{0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if ((c[0] & kinds[k].mask) != kinds[k].lead)
            continue;
        unsigned point = c[0] & (unsigned char)~kinds[k].mask;
        for (int i = 1; i < kinds[k].n; i++) {
            if ((c[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (c[i] & 0x3f);
        }
        const bool control = point < 0xa0, surrogate = point >= 0xd800 && point < 0xe000;
        const bool outside = point < kinds[k].least || point > 0x10ffff;
        const bool no_character = point == 0xfffe || point == 0xffff;
        return control || surrogate || outside || no_character ? 0 : kinds[k].n;
    }
    return 0;
}

void sp_quote(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const int n = *c < 0x80 ? (*c >= 0x20 && *c != 0x7f) : sequence(c);
        if (*c == '\'')
            fputc('\'', out);
        if (n > 0)
            fwrite(c, 1, (size_t)n, out);
        else
            fputc('?', out);
        c += n > 0 ? n : 1;
    }
    fputc('\'', out);
}

static bool is_box(const struct sp_series *series)
{
    return series->kind == SP_BOXES || series->kind == SP_HOLLOW;
}

/* Numbers of each series in a datablock of its own: $S0, $S1, ... */
void sp_write_numbers(FILE *out, const struct sp_panel *panel, struct sp_scale x, struct sp_scale y)
{
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        const size_t each = sp_values_each(series->kind), xs = each == 2 ? 1 : 2;
        fprintf(out, "$S%zu << END\n", s);
        for (size_t i = 0; i < series->n; i++) {
            const bool vertical = i % each >= xs;
            fprintf(out, "%.7g%c", series->values[i] / (vertical ? y.factor : x.factor),
                    i % each == each - 1 ? '\n' : ' ');
        }
        fputs("END\n", out);
    }
}

static void write_rules(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                        struct sp_scale y)
{
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const double at = rule->at / (rule->vertical ? x.factor : y.factor);
        const char *const format =
            rule->vertical
                ? "set arrow from first %.10g, graph 0 to first %.10g, graph 1 nohead lw 2 dt "
                  "'_' lc rgb '%s' front\n"
                : "set arrow from graph 0, first %.10g to graph 1, first %.10g nohead lw 2 dt "
                  "'_' lc rgb '%s' front\n";
        fprintf(out, format, at, at, looks[rule->look].rgb);
        fputs("set label ", out);
        sp_quote(out, rule->text);
        /* A text that would leave the panel on the right stands left of its rule. */
        const double share = panel->x.log ? log(rule->at / x.min) / log(x.max / x.min)
                                          : (rule->at - x.min) / (x.max - x.min);
        if (rule->vertical)
            fprintf(out, " at first %.10g, graph 1 %s offset char %d, -0.7 front\n", at,
                    share > 0.6 ? "right" : "left", share > 0.6 ? -1 : 1);
        else
            fprintf(out, " at graph 0.99, first %.10g right offset char 0, 0.6 front\n", at);
    }
}

static void write_labels(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                         struct sp_scale y)
{
    static const char *const aligns[] = {"left", "center", "right"};
    for (size_t i = 0; i < panel->n_labels; i++) {
        const struct sp_label *const label = &panel->labels[i];
        const double side = label->align == SP_LEFT ? 0.9 : label->align == SP_RIGHT ? -0.9 : 0;
        if ((panel->x.log && label->x <= 0) || (panel->y.log && label->y <= 0))
            continue;
        fputs("set label ", out);
        sp_quote(out, label->text);
        fprintf(out, " at first %.10g, first %.10g %s offset char %g, %g tc rgb '%s' front\n",
                label->x / x.factor, label->y / y.factor, aligns[label->align],
                label->beside ? side : 0.0, label->beside ? 0.6 : 0.0,
                label->light ? "#FFFFFF" : looks[label->look].rgb);
    }
}

#define BOXES "$S%zu using (($1+$2)/2):(($3+$4)/2):1:2:3:4 with boxxyerror"

static void write_element(FILE *out, const struct sp_series *series, size_t s)
{
    const char *const rgb = looks[series->look].rgb;
    char fill[64] = "empty border";
    if (series->kind == SP_BOXES && series->hatched)
        snprintf(fill, sizeof fill, "transparent pattern %d border", looks[series->look].pattern);
    else if (series->kind == SP_BOXES)
        snprintf(fill, sizeof fill, "solid 1 border lc rgb '#FFFFFF'");
    switch (series->kind) {
    case SP_LINE:
    case SP_STEPS:
        fprintf(out, "$S%zu using 1:2 with %s lw %s dt %s lc rgb '%s'", s,
                series->kind == SP_LINE ? "lines" : "steps", series->thin ? "1" : "2.5",
                series->dashed ? looks[series->look].dash : "solid", rgb);
        break;
    case SP_DROPS:
        fprintf(out, "$S%zu using 1:2 with impulses lw 1 dt '.' lc rgb '%s' notitle, ", s, rgb);
        /* fall through */
    case SP_MARKS:
        fprintf(out, "$S%zu using 1:2 with points pt %d ps %s lw 1.5 lc rgb '%s'", s,
                looks[series->look].point, series->thin ? "0.6" : "1.4", rgb);
        break;
    case SP_WHISKERS:
        fprintf(out, "$S%zu using (($1+$2)/2):3:1:2 with xerrorbars pt 7 ps 0 lw 2 lc rgb '%s'", s,
                rgb);
        break;
    default:
        if (series->kind == SP_BOXES && series->hatched)
            fprintf(out, BOXES " fs solid 1 noborder lc rgb '%s' notitle, ", s,
                    looks[series->look].tint);
        fprintf(out, BOXES " fs %s lw %s lc rgb '%s'", s, fill, series->thin ? "0.5" : "1", rgb);
        break;
    }
    const bool in_key = series->name[0] && !is_box(series);
    fputs(in_key ? " title " : " notitle", out);
    if (in_key)
        sp_quote(out, series->name);
}

static void write_plot(FILE *out, const struct sp_panel *panel)
{
    const char *separator = "plot ";
    for (size_t s = 0; s < panel->n_series; s++) {
        if (panel->series[s].n == 0)
            continue;
        fputs(separator, out);
        write_element(out, &panel->series[s], s);
        separator = ", \\\n  ";
    }
    fputs(*separator == 'p' ? "plot NaN notitle\n" : "\n", out);
}

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

/* The key of boxes, whose hatched swatches gnuplot's own does not draw. From (left, top) on,
 * wrapped at `right`; returns its height. `out` NULL: only that. px. */
static double write_box_key(FILE *out, const struct sp_panel *panel, double left, double right,
                            double top, double height)
{
    enum { SWATCH = 26, GAP = 7, APART = 22 };
    double x = left, y = 0;
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        const double wide = SWATCH + GAP + APART + CHARACTER * characters(series->name);
        if (!series->name[0] || !is_box(series) || panel->key != SP_KEY_ABOVE)
            continue;
        if (x > left && x + wide > right) {
            x = left;
            y += KEY_ROW;
        }
        for (int pass = series->hatched ? 0 : 1; out && pass < 2; pass++) {
            fprintf(out,
                    "set object rectangle from screen %.6g, screen %.6g to screen %.6g, "
                    "screen %.6g fc rgb '%s' ",
                    x / WIDTH, 1 - (top + y + 14) / height, (x + SWATCH) / WIDTH,
                    1 - (top + y + 2) / height,
                    pass == 0 ? looks[series->look].tint : looks[series->look].rgb);
            if (pass == 1 && series->hatched)
                fprintf(out, "fs transparent pattern %d border lc rgb '%s'\n",
                        looks[series->look].pattern, looks[series->look].rgb);
            else
                fputs("fs solid 1 noborder\n", out);
        }
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

/* Where a panel lies, in pixels from the figure's upper left corner. */
struct place {
    double left, right, top, bottom, key;
    int keys_in_row;
    bool first;
};

static struct place place_panel(const struct sp_panel *panel, double from)
{
    struct place p = {.left = 84, .right = WIDTH - 30};
    const size_t ticks = sp_longest_tick(&panel->y), names = longest_name(panel);
    size_t keys = 0;
    for (size_t s = 0; s < panel->n_series; s++)
        keys += panel->series[s].name[0] && !is_box(&panel->series[s]);
    if (ticks > 0)
        p.left = 46 + CHARACTER * fmin((double)ticks, 40);
    if (panel->key == SP_KEY_RIGHT)
        p.right -= 46 + CHARACTER * fmin((double)names, 40);
    p.keys_in_row = (int)((p.right - p.left) / (double)(CHARACTER * names + 54));
    p.keys_in_row = p.keys_in_row < 1 ? 1 : p.keys_in_row;
    p.key = from + (panel->title[0] ? PANEL_TITLE : 0);
    p.top = p.key + 8;
    if (panel->key == SP_KEY_ABOVE && keys > 0)
        p.top += KEY_ROW * ceil((double)keys / p.keys_in_row);
    p.top += write_box_key(NULL, panel, p.left, p.right, 0, 1);
    p.bottom = p.top + panel->height_px;
    return p;
}

static void write_panel(FILE *out, const struct sp_panel *panel, struct place p, double height,
                        const char *title, int title_size)
{
    const struct sp_scale x = sp_scale_of(panel, false), y = sp_scale_of(panel, true);
    fputs("unset label\nunset arrow\nunset object\n", out);
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
    sp_write_numbers(out, panel, x, y);
    write_rules(out, panel, x, y);
    write_labels(out, panel, x, y);
    write_plot(out, panel);
}

static void write_file_figure(FILE *out, const struct sp_figure *figure, bool svg)
{
    struct place places[SP_MAX_PANELS];
    double down = TITLE;
    for (size_t i = 0; i < figure->n_panels; i++) {
        places[i] = place_panel(&figure->panels[i], down);
        places[i].first = i == 0;
        down = places[i].bottom + AXIS;
    }
    if (svg)
        fprintf(out,
                "set terminal svg size %d,%.0f dynamic noenhanced font 'sans-serif,12' "
                "background rgb 'white' name 'scaleplan'\n",
                WIDTH, down);
    else /* the plain one where gnuplot was built without cairo; twice the pixels: sharp screens */
        fprintf(out,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) {\n"
                "set terminal pngcairo size %d,%.0f noenhanced font 'sans-serif,10' fontscale 1.6 "
                "linewidth 1.6 pointscale 1.6\n"
                "} else {\nset terminal png size %d,%.0f noenhanced\n}\n",
                WIDTH * 2, down * 2, WIDTH * 2, down * 2);
    fputs("set border 3 lc rgb '#555555'\nset tics textcolor rgb '#222222'\n"
          "set style line 9 lc rgb '#E4E4E4' lw 0.7 dt solid\nset grid back ls 9\n"
          "set multiplot\n",
          out);
    for (size_t i = 0; i < figure->n_panels; i++)
        write_panel(out, &figure->panels[i], places[i], down, figure->title, svg ? 15 : 12);
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
        write_file_figure(out, figure, canvas->terminal == SP_TERMINAL_SVG);
    if (fclose(out) == 0)
        return script;
    free(script);
    return NULL;
}
