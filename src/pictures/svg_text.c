/* Text, colours and hatches of an SVG. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "pictures/glyphs.h"
#include "pictures/svg.h"

/* Okabe and Ito's colours; those of ink and shade follow the page (svg.c: style). */
static const struct sp_look_row looks[SP_LOOKS] = {
    [SP_BLUE] = {"#0072B2", "#B5D5E8", "", "", "", true},
    [SP_ORANGE] = {"#E69F00", "#FBE8BF", "6 4", "", "", false},
    [SP_GREEN] = {"#009E73", "#BFE6DC", "10 4 2 4", "", "", false},
    [SP_VERMILION] = {"#D55E00", "#F8DCC8", "2 3", "", "", false},
    [SP_SKY] = {"#56B4E9", "#D9EEFA", "10 3 2 3 2 3", "", "", false},
    [SP_PURPLE] = {"#CC79A7", "#F4E2EC", "4 2 1 2", "", "", false},
    [SP_YELLOW] = {"#F0E442", "#FCFAD4", "14 5", "", "", false},
    [SP_BLACK] = {"#222", "#C8C8C8", "5 5", "f", "k", true},
    [SP_GREY] = {"#E6E6E6", "#F6F6F6", "", "m", "g", false},
    [SP_SHADE] = {"#EFF3FF", "#EFF3FF", "", "", "", false},
    [SP_SHADE + 1] = {"#BDD7E7", "#BDD7E7", "", "", "", false},
    [SP_SHADE + 2] = {"#6BAED6", "#6BAED6", "", "", "", false},
    [SP_SHADE + 3] = {"#3182BD", "#3182BD", "", "", "", false},
    [SP_SHADE + 4] = {"#08519C", "#08519C", "", "", "", true},
};

const struct sp_look_row *sp_look_row(enum sp_look look)
{
    return &looks[look];
}

void sp_svg_px(FILE *out, const char *name, double value)
{
    fprintf(out, "%s%.7g", name, isfinite(value) ? round(value * 100) / 100 + 0.0 : 0); /* no -0 */
}

/* Titles are bold: so much wider than their letters are otherwise. */
#define BOLD 1.14

/* Length of the character at `c`; 0 if XML forbids it or it steers a terminal. */
static size_t character(const unsigned char *c)
{
    const size_t n = sp_utf8_length(c, strnlen((const char *)c, 4));
    const bool control = n == 1 ? *c < 0x20 || *c == 0x7f : n == 2 && c[0] == 0xc2 && c[1] < 0xa0;
    const bool no_character = n == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
    return control || no_character ? 0 : n;
}

void sp_svg_escaped(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const size_t n = character(c);
        if (n == 0)
            fputc('?', out);
        else if (*c == '<' || *c == '>' || *c == '&' || *c == '"')
            fprintf(out, "&#%d;", *c);
        else
            fwrite(c, 1, n, out);
        c += n > 0 ? n : 1;
    }
}

bool sp_boxes_meet(const struct sp_box *a, const struct sp_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

struct sp_box sp_text_box(double x, double y, enum sp_align align, double size, const char *text)
{
    const double wide = sp_text_px(text, size), left = x - (align == SP_LEFT    ? 0
                                                            : align == SP_RIGHT ? wide
                                                                                : wide / 2);
    return (struct sp_box){left, left + wide, y - size / 2, y + size / 2};
}

void sp_svg_text(FILE *out, double x, double y, enum sp_align align, enum sp_ink ink, double size,
                 const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    static const char *const inks[] = {" class=\"t\"", " class=\"s\" fill=\"#555\"",
                                       " fill=\"#000\"", " fill=\"#fff\""};
    sp_svg_px(out, "<text x=\"", x);
    sp_svg_px(out, "\" y=\"", y + 0.36 * size); /* the baseline, under half a capital */
    fprintf(out, "\"%s%s", anchors[align], inks[ink]);
    if (size != SP_TEXT_PX)
        sp_svg_px(out, " font-size=\"", size);
    fputs(size > SP_TEXT_PX ? "\" font-weight=\"600\">" : size < SP_TEXT_PX ? "\">" : ">", out);
    sp_svg_escaped(out, text);
    fputs("</text>\n", out);
}

int sp_svg_lines(FILE *out, double x, double y, double px, enum sp_align align, enum sp_ink ink,
                 double size, const char *text)
{
    int lines = 0;
    for (; *text; lines++) {
        char line[SP_PLOT_TEXT * 2];
        const size_t n = sp_line_bytes(text, size > SP_TEXT_PX ? px / BOLD : px, size);
        size_t shown = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, text, shown);
        while (shown > 0 && line[shown - 1] == ' ')
            shown--;
        line[shown] = '\0';
        if (out)
            sp_svg_text(out, x, y + lines * (size + 4), align, ink, size, line);
        text += n;
        text += strspn(text, " ");
    }
    return lines;
}

/* Hatches of a look: strokes across a tile of 6 px. Neighbours differ in their direction. */
static const char *strokes(enum sp_look look)
{
    static const char *const paths[] = {"M0 6L6 0M-1 1L1-1M5 7L7 5",
                                        "M0 0L6 6M-1 5L1 7M5-1L7 1",
                                        "M0 3H6",
                                        "M3 0V6",
                                        "M0 0L6 6M0 6L6 0",
                                        "M0 3H6M3 0V6"};
    return paths[look % (sizeof paths / sizeof *paths)];
}

void sp_svg_hatches(FILE *out, const struct sp_figure *figure)
{
    bool done[SP_LOOKS] = {false};
    for (size_t i = 0; i < figure->n_panels; i++)
        for (size_t s = 0; s < figure->panels[i].n_series; s++) {
            const struct sp_series *const series = &figure->panels[i].series[s];
            if (!series->hatched || series->kind != SP_BOXES || done[series->look])
                continue;
            done[series->look] = true;
            fprintf(out,
                    "<pattern id=\"h%d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                    "<path fill=\"%s\" d=\"M0 0h6v6H0z\"/><path d=\"%s\" stroke=\"%s\" "
                    "stroke-width=\"1.3\"/></pattern>\n",
                    (int)series->look, looks[series->look].tint, strokes(series->look),
                    looks[series->look].rgb);
        }
}

void sp_svg_fill(FILE *out, const struct sp_series *series, bool narrow)
{
    const struct sp_look_row *const look = &looks[series->look];
    const bool edged = !series->bare && !series->hatched && !narrow;
    if (edged || *look->fill)
        fprintf(out, " class=\"%s%s\"", series->hatched ? "" : look->fill, edged ? " e" : "");
    if (edged)
        fputs(" stroke=\"#fff\"", out);
    if (series->hatched && narrow)
        fprintf(out, " fill=\"%s\"", look->tint);
    else if (series->hatched)
        fprintf(out, " fill=\"url(#h%d)\" stroke=\"%s\"", (int)series->look, look->rgb);
    else
        fprintf(out, " fill=\"%s\"", look->rgb);
}
