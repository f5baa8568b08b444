/* The contents of a panel in a picture file: series, rules, labels, and their looks. */
#include "pictures/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Okabe and Ito's colours; each differs from the others by more than its hue. */
static const struct {
    const char *rgb, *tint;
    int pattern; /* of a hatched box */
    int point;   /* gnuplot's point types: odd from 5 filled, even hollow */
    const char *dash;
} looks[SP_LOOKS] = {
    [SP_BLUE] = {"#0072B2", "#B5D5E8", 5, 7, "solid"},
    [SP_ORANGE] = {"#E69F00", "#FBE8BF", 4, 5, "(6,4)"},
    [SP_GREEN] = {"#009E73", "#BFE6DC", 6, 9, "(10,4,2,4)"},
    [SP_VERMILION] = {"#D55E00", "#F8DCC8", 7, 13, "(2,3)"},
    [SP_SKY] = {"#56B4E9", "#D9EEFA", 1, 11, "(10,3,2,3,2,3)"},
    [SP_PURPLE] = {"#CC79A7", "#F4E2EC", 2, 3, "(4,2,1,2)"},
    [SP_YELLOW] = {"#F0E442", "#FCFAD4", 5, 4, "(14,5)"},
    [SP_BLACK] = {"#222222", "#C8C8C8", 5, 12, "solid"},
    [SP_GREY] = {"#EAEAEA", "#F6F6F6", 4, 6, "solid"},
    [SP_SHADE] = {"#EFF3FF", "#EFF3FF", 4, 6, "solid"},
    [SP_SHADE + 1] = {"#BDD7E7", "#BDD7E7", 4, 6, "solid"},
    [SP_SHADE + 2] = {"#6BAED6", "#6BAED6", 4, 6, "solid"},
    [SP_SHADE + 3] = {"#3182BD", "#3182BD", 4, 6, "solid"},
    [SP_SHADE + 4] = {"#08519C", "#08519C", 4, 6, "solid"},
};

#define NEXT ", \\\n  " /* between the elements of a plot */
#define BOXES "$S%zu using (($1+$2)/2):(($3+$4)/2):1:2:3:4 with boxxyerror"

/* Length of the character at `c`; 0 if XML forbids it. */
static size_t character(const unsigned char *c)
{
    const size_t n = sp_utf8_length(c, strnlen((const char *)c, 4));
    const bool control = n == 1 ? *c < 0x20 || *c == 0x7f : n == 2 && c[0] == 0xc2 && c[1] < 0xa0;
    const bool no_character = n == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
    return control || no_character ? 0 : n;
}

/* Strings are in single quotes and datablocks hold only numbers, so names from configs cannot
 * become commands. */
void sp_quote(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const size_t n = character(c);
        const bool ends_cdata =
            *c == '>' && c >= (const unsigned char *)text + 2 && c[-1] == ']' && c[-2] == ']';
        if (ends_cdata) /* forbidden in XML elsewhere */
            fputc(' ', out);
        if (*c == '\'') /* gnuplot reads two as one, but not at the start */
            fputs("\u2019", out);
        else if (n > 0)
            fwrite(c, 1, n, out);
        else
            fputc('?', out);
        c += n > 0 ? n : 1;
    }
    fputc('\'', out);
}

bool sp_is_box(const struct sp_series *series)
{
    return series->kind == SP_BOXES || series->kind == SP_HOLLOW;
}

/* Writes the numbers of each series into datablocks $S0, $S1, ... */
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

static bool has_boxes(const struct sp_panel *panel)
{
    for (size_t s = 0; s < panel->n_series; s++)
        if (sp_is_box(&panel->series[s]))
            return true;
    return false;
}

/* Writes a vertical rule with gaps for labels; an empty line lifts the pen. */
static void write_upright(FILE *out, const struct sp_panel *panel, double at, struct sp_scale y)
{
    const double gap = 0.3; /* rows */
    fprintf(out, "%.10g %.10g\n", at, y.max / y.factor);
    for (size_t i = 0; i < panel->n_labels; i++)
        if (panel->labels[i].clears)
            fprintf(out, "%.10g %.10g\n\n%.10g %.10g\n", at, panel->labels[i].y + gap, at,
                    panel->labels[i].y - gap);
    fprintf(out, "%.10g %.10g\n", at, y.min / y.factor);
}

/* Writes rules into datablocks $R0, $R1, ..., and their texts. */
static void write_rules(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                        struct sp_scale y)
{
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const double at = rule->at / (rule->vertical ? x.factor : y.factor);
        const bool left = sp_rule_reads_left(panel, rule, x);
        fprintf(out, "$R%zu << END\n", i);
        if (rule->vertical)
            write_upright(out, panel, at, y);
        else
            fprintf(out, "%.10g %.10g\n%.10g %.10g\n", x.min / x.factor, at, x.max / x.factor, at);
        fputs("END\nset label ", out);
        sp_quote(out, rule->text);
        if (rule->vertical)
            fprintf(out, " at first %.10g, graph 1 %s offset char %d, %g front\n", at,
                    left ? "right" : "left", left ? -1 : 1, -0.7 - sp_rule_line(panel, i));
        else
            fprintf(out, " at graph 0.99, first %.10g right offset char 0, 0.6 front\n", at);
    }
}

/* Above boxes, below lines and points. */
static const char *plot_rules(FILE *out, const struct sp_panel *panel, const char *separator)
{
    for (size_t i = 0; i < panel->n_rules; i++) {
        fprintf(out, "%s$R%zu using 1:2 with lines lw 2 dt (9,6) lc rgb '%s' notitle", separator, i,
                looks[panel->rules[i].look].rgb);
        separator = NEXT;
    }
    return separator;
}

static void write_labels(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                         struct sp_scale y)
{
    static const char *const aligns[] = {"left", "center", "right"};
    /* A character takes 6 px of the narrowest plot and a line 15. */
    const struct sp_sheet sheet = {x, y, 125, panel->height_px / 15, false};
    bool *const hidden = sp_hidden_labels(panel, &sheet);
    for (size_t i = 0; i < panel->n_labels; i++) {
        const struct sp_label *const label = &panel->labels[i];
        const double side = label->align == SP_LEFT ? 0.9 : label->align == SP_RIGHT ? -0.9 : 0;
        if ((panel->x.log && label->x <= 0) || (panel->y.log && label->y <= 0) ||
            (hidden && hidden[i]))
            continue;
        fputs("set label ", out);
        sp_quote(out, label->text);
        fprintf(out, " at first %.10g, first %.10g %s offset char %g, %g tc rgb '%s' front\n",
                label->x / x.factor, label->y / y.factor, aligns[label->align],
                label->beside ? side : 0.0,
                !label->beside ? 0.0
                : label->below ? -0.7
                               : 0.6,
                label->light ? "#FFFFFF" : looks[label->look].rgb);
    }
    free(hidden);
}

static void write_element(FILE *out, const struct sp_series *series, size_t s)
{
    const char *const rgb = looks[series->look].rgb;
    char fill[64] = "empty border";
    if (series->kind == SP_BOXES && series->hatched)
        snprintf(fill, sizeof fill, "transparent pattern %d border", looks[series->look].pattern);
    else if (series->kind == SP_BOXES)
        snprintf(fill, sizeof fill, "solid 1 border%s", series->bare ? "" : " lc rgb '#FFFFFF'");
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
                looks[series->look].point - series->hollow, series->thin ? "0.6" : "1.2", rgb);
        break;
    case SP_WHISKERS:
        fprintf(out,
                "$S%zu using 1:3:($2-$1):(0) with vectors heads size screen 0.006,90 lw 2.5 lc rgb "
                "'%s'",
                s, rgb);
        break;
    default:
        if (series->kind == SP_BOXES && series->hatched)
            fprintf(out, BOXES " fs solid 1 noborder lc rgb '%s' notitle, ", s,
                    looks[series->look].tint);
        fprintf(out, BOXES " fs %s lw %s lc rgb '%s'", s, fill, series->thin ? "0.5" : "1", rgb);
        break;
    }
    const bool in_key = series->name[0] && !sp_is_box(series);
    fputs(in_key ? " title " : " notitle", out);
    if (in_key)
        sp_quote(out, series->name);
}

static void write_plot(FILE *out, const struct sp_panel *panel)
{
    const char *separator = "plot ";
    if (!has_boxes(panel))
        separator = plot_rules(out, panel, separator);
    for (size_t s = 0; s < panel->n_series; s++) {
        if (panel->series[s].n == 0)
            continue;
        fputs(separator, out);
        write_element(out, &panel->series[s], s);
        separator = NEXT;
    }
    if (has_boxes(panel))
        separator = plot_rules(out, panel, separator);
    fputs(*separator == 'p' ? "plot NaN notitle\n" : "\n", out);
}

void sp_write_swatch(FILE *out, const struct sp_series *series, double left, double bottom,
                     double right, double top)
{
    const char *const rgb = looks[series->look].rgb;
    for (int pass = series->hatched ? 0 : 1; pass < 2; pass++) {
        fprintf(out,
                "set object rectangle from screen %.6g, screen %.6g to screen %.6g, screen %.6g fc "
                "rgb '%s' ",
                left, bottom, right, top, pass == 0 ? looks[series->look].tint : rgb);
        if (pass == 1 && series->hatched)
            fprintf(out, "fs transparent pattern %d border lc rgb '%s'\n",
                    looks[series->look].pattern, rgb);
        else
            fputs("fs solid 1 noborder\n", out);
    }
}

void sp_write_contents(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                       struct sp_scale y)
{
    sp_write_numbers(out, panel, x, y);
    write_rules(out, panel, x, y);
    write_labels(out, panel, x, y);
    write_plot(out, panel);
}
