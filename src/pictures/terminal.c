/* Pictures in the terminal: a grid of characters, where boxes are letters. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "pictures/drawing.h"

/* A sheet of characters, a code of up to four bytes each, and the plot on it: (left, top) is where
 * the axes' frame begins. */
struct sheet {
    char (*cell)[5];
    int columns, rows;
    const struct sp_panel *panel;
    struct sp_scale x, y;
    int left, top, wide, high; /* of what the axes enclose, in characters */
};

static void put(struct sheet *s, int column, int row, const char *bytes, size_t n)
{
    if (column < 0 || column >= s->columns || row < 0 || row >= s->rows || n > 4)
        return;
    char *const cell = s->cell[row * s->columns + column];
    memcpy(cell, bytes, n);
    cell[n] = '\0';
}

static void put_letter(struct sheet *s, int column, int row, char letter)
{
    put(s, column, row, &letter, 1);
}

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Writes a text whose characters that steer a terminal are question marks. */
static void put_text(struct sheet *s, int column, int row, enum sp_align align, const char *text)
{
    char clean[SP_PLOT_TEXT * 2];
    snprintf(clean, sizeof clean, "%s", text);
    sp_make_printable(clean, "");
    const int wide = characters(clean);
    column -= align == SP_LEFT ? 0 : align == SP_RIGHT ? wide - 1 : wide / 2;
    column = column + wide > s->columns ? s->columns - wide : column;
    column = column < 0 ? 0 : column;
    for (const char *c = clean; *c; column++) {
        const size_t n = sp_utf8_length((const unsigned char *)c, strnlen(c, 4));
        put(s, column, row, c, n > 0 ? n : 1);
        c += n > 0 ? n : 1;
    }
}

/* Characters of lines, in their order. */
static const char line_letters[] = "*#$%@&=";

static char letter_of(const struct sp_panel *panel, size_t s)
{
    const struct sp_series *const series = &panel->series[s];
    size_t lines = 0;
    if (series->kind == SP_BOXES || series->kind == SP_HOLLOW || series->letter != '#')
        return series->letter;
    if (series->kind == SP_MARKS || series->kind == SP_DROPS)
        return (char)('A' + s % 26);
    for (size_t i = 0; i < s; i++)
        lines += panel->series[i].kind == SP_LINE || panel->series[i].kind == SP_STEPS;
    return line_letters[lines % (sizeof line_letters - 1)];
}

/* The place of a value in characters from the plot's lower left corner. */
static double column_of(const struct sheet *s, double x)
{
    return sp_share(x, &s->x) * s->wide;
}

static double row_of(const struct sheet *s, double y)
{
    return sp_share(y, &s->y) * s->high;
}

static void put_inside(struct sheet *s, double column, double row, char letter)
{
    if (!(column > -0.5 && column < s->wide + 0.5 && row > -0.5 && row < s->high + 0.5))
        return;
    const int x = (int)floor(fmax(column, 0)), y = (int)floor(fmax(row, 0));
    put_letter(s, s->left + 1 + (x < s->wide ? x : s->wide - 1),
               s->top + s->high - 1 - (y < s->high ? y : s->high - 1), letter);
}

/* A character spans half a point to either side, so neighbours do not overlap. */
static void put_boxes(struct sheet *s, const struct sp_series *series)
{
    for (size_t i = 0; i + 4 <= series->n; i += 4) {
        const double *const v = series->values + i;
        const int first = (int)fmax(ceil(column_of(s, v[0]) - 0.5), 0),
                  last = (int)fmin(ceil(column_of(s, v[1]) - 0.5) - 1, s->wide - 1),
                  low = (int)fmax(ceil(row_of(s, v[2]) - 0.5), 0),
                  high = (int)fmin(ceil(row_of(s, v[3]) - 0.5) - 1, s->high - 1);
        for (int row = low; row <= high; row++)
            for (int column = first; column <= last; column++)
                put_letter(s, s->left + 1 + column, s->top + s->high - 1 - row, series->letter);
    }
}

/* Points of a straight line, at most one a column or row apart. */
static void put_line(struct sheet *s, double x0, double y0, double x1, double y1, char letter)
{
    if (!isfinite(x0 + y0 + x1 + y1))
        return;
    const int n = (int)fmin(fmax(fabs(x1 - x0), fabs(y1 - y0)) + 1, 4096);
    for (int i = 0; i <= n; i++)
        put_inside(s, x0 + (x1 - x0) * i / n, y0 + (y1 - y0) * i / n, letter);
}

static void put_curve(struct sheet *s, const struct sp_series *series, char letter)
{
    const bool steps = series->kind == SP_STEPS;
    for (size_t i = 2; i < series->n; i += 2) {
        const double *const v = series->values + i;
        const double x0 = column_of(s, v[-2]), y0 = row_of(s, v[-1]), x1 = column_of(s, v[0]),
                     y1 = row_of(s, v[1]);
        put_line(s, x0, y0, x1, steps ? y0 : y1, letter);
        if (steps)
            put_line(s, x1, y0, x1, y1, letter);
    }
}

static void put_series(struct sheet *s)
{
    const struct sp_panel *const panel = s->panel;
    for (size_t k = 0; k < panel->n_series; k++) {
        const struct sp_series *const series = &panel->series[k];
        const char letter = letter_of(panel, k);
        const bool link = series->kind == SP_LINE && series->thin;
        if (series->kind == SP_BOXES)
            put_boxes(s, series);
        else if ((series->kind == SP_LINE || series->kind == SP_STEPS) && !link)
            put_curve(s, series, letter);
        else if (series->kind == SP_MARKS || series->kind == SP_DROPS)
            for (size_t i = 0; i < series->n; i += 2)
                put_inside(s, column_of(s, series->values[i]), row_of(s, series->values[i + 1]),
                           letter);
        else if (series->kind == SP_WHISKERS)
            for (size_t i = 0; i < series->n; i += 3) {
                const double y = row_of(s, series->values[i + 2]);
                put_line(s, column_of(s, series->values[i]), y, column_of(s, series->values[i + 1]),
                         y, '-');
            }
    }
}

/* The number of texts over an upright rule's. */
static int line_of_rule(const struct sp_panel *panel, size_t rule)
{
    int line = 0;
    for (size_t i = 0; i < rule; i++)
        line += panel->rules[i].vertical;
    return line;
}

static void put_rules(struct sheet *s)
{
    for (size_t i = 0; i < s->panel->n_rules; i++) {
        const struct sp_rule *const rule = &s->panel->rules[i];
        const double at = rule->vertical ? column_of(s, rule->at) : row_of(s, rule->at);
        for (int k = 0; k < (rule->vertical ? s->high : s->wide); k++)
            put_inside(s, rule->vertical ? at : k, rule->vertical ? k : at,
                       rule->vertical ? '|' : '-');
    }
}

static void put_rule_texts(struct sheet *s)
{
    for (size_t i = 0; i < s->panel->n_rules; i++) {
        const struct sp_rule *const rule = &s->panel->rules[i];
        const double share = sp_share(rule->at, rule->vertical ? &s->x : &s->y);
        if (!(share >= 0 && share <= 1))
            continue;
        if (rule->vertical)
            put_text(s, s->left + 1 + (int)floor(share * s->wide) + (share > 0.6 ? -2 : 2),
                     s->top + line_of_rule(s->panel, i), share > 0.6 ? SP_RIGHT : SP_LEFT,
                     rule->text);
        else
            put_text(s, s->left + s->wide, s->top + s->high - 2 - (int)floor(share * s->high),
                     SP_RIGHT, rule->text);
    }
}

/* Whether other labels or rules are where a text of a row would go. */
static bool is_taken(const struct sheet *s, const bool *taken, int column, int row, int wide)
{
    if (column < s->left || column + wide > s->columns || row < s->top || row >= s->top + s->high)
        return true;
    for (int k = column; k < column + wide; k++)
        if (taken[row * s->columns + k] || strchr("|", s->cell[row * s->columns + k][0]))
            return true;
    return false;
}

/* Labels in boxes are left out, which hold letters, and so are those that yield to others. */
static void put_labels(struct sheet *s)
{
    bool *const taken = sp_must(calloc((size_t)s->columns * (size_t)s->rows, sizeof *taken));
    for (size_t i = 0; i < s->panel->n_labels; i++) {
        const struct sp_label *const l = &s->panel->labels[i];
        const double x = column_of(s, l->x), y = row_of(s, l->y);
        if (l->align == SP_CENTRE || !isfinite(x + y))
            continue;
        const int apart = l->beside ? 2 : 1, wide = characters(l->text);
        const int column = s->left + 1 + (int)floor(x) + (l->align == SP_LEFT ? apart : -apart),
                  row = s->top + s->high - 1 - (int)floor(fmin(y, s->high - 1)),
                  first = l->align == SP_LEFT ? column : column - wide + 1;
        if (l->yields && is_taken(s, taken, first, row, wide))
            continue;
        for (int k = first > 0 ? first : 0;
             k < first + wide && k < s->columns && row >= 0 && row < s->rows; k++)
            taken[row * s->columns + k] = true;
        put_text(s, column, row, l->align, l->text);
    }
    free(taken);
}

static double text_wide(const char *text)
{
    return characters(text);
}

static double one_row(const char *text)
{
    (void)text;
    return 1;
}

static void put_axes(struct sheet *s)
{
    const struct sp_tick_room across = {s->wide, 2, text_wide},
                              down = {s->high, s->panel->y.n_ticks ? 0 : 1, one_row};
    struct sp_ticks ticks;
    char title[SP_PLOT_TEXT];
    const int bottom = s->top + s->high;
    for (int row = s->top; row < bottom; row++)
        put_letter(s, s->left, row, '|');
    for (int column = s->left; column <= s->left + s->wide; column++)
        put_letter(s, column, bottom, column == s->left ? '+' : '-');
    sp_make_ticks(&s->panel->y, &s->y, &down, &ticks);
    for (size_t i = 0; i < ticks.n; i++)
        put_text(s, s->left - 2,
                 bottom - 1 - (int)floor(fmin(ticks.tick[i].share * s->high, s->high - 1)),
                 SP_RIGHT, sp_mark_text(&ticks.tick[i]));
    sp_make_ticks(&s->panel->x, &s->x, &across, &ticks);
    int lines = 0;
    for (size_t i = 0; i < ticks.n; i++) {
        const int column = s->left + 1 + (int)floor(ticks.tick[i].share * s->wide);
        lines = ticks.tick[i].line > lines ? ticks.tick[i].line : lines;
        if (s->panel->x.n_ticks == 0 && column <= s->left + s->wide)
            put_letter(s, column, bottom, '+');
        put_text(s, column, bottom + 1 + ticks.tick[i].line, SP_CENTRE,
                 sp_mark_text(&ticks.tick[i]));
    }
    sp_axis_title(&s->panel->x, &s->x, title, sizeof title);
    put_text(s, s->left + s->wide / 2, bottom + 2 + lines, SP_CENTRE, title);
}

/* Writes the key, "F forward   B backward"; returns the number of lines. With `sheet` NULL, only
 * counts. */
static int put_key(struct sheet *sheet, const struct sp_panel *panel, int left, int top,
                   int columns)
{
    int lines = 0, used = 0;
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        if (!sp_in_key(panel, series))
            continue;
        char text[SP_PLOT_TEXT + 4];
        snprintf(text, sizeof text, "%c %s", letter_of(panel, s), series->name);
        const int n = characters(text);
        lines += lines == 0 || used + n > columns;
        used = used + n > columns ? 0 : used;
        if (sheet)
            put_text(sheet, left + used, top + lines - 1, SP_LEFT, text);
        used += n + 3;
    }
    return lines;
}

static int longest_tick(const struct sp_panel *panel)
{
    int longest = 7;
    for (size_t i = 0; i < panel->y.n_ticks; i++) {
        const int n = characters(panel->y.ticks[i].text);
        longest = n > longest ? n : longest;
    }
    return longest;
}

static void write_sheet(FILE *out, const struct sheet *s)
{
    for (int row = 0; row < s->rows; row++) {
        int end = s->columns;
        while (end > 0 && s->cell[row * s->columns + end - 1][0] == ' ')
            end--;
        for (int column = 0; column < end; column++)
            fputs(s->cell[row * s->columns + column], out);
        fputc('\n', out);
    }
}

/* Questions with their answers, one under the other. */
static void write_cards(FILE *out, const struct sp_panel *panel)
{
    for (size_t i = 0; i < panel->n_cards; i++) {
        const struct sp_card *const card = &panel->cards[i];
        char text[SP_PLOT_TEXT * 4];
        snprintf(text, sizeof text, "  %s\n    %s: %s\n    -> %s\n", card->asks,
                 card->yes ? "yes" : "no", card->why, card->then);
        sp_make_printable(text, "\n");
        fputs(text, out);
    }
}

static void write_panel(FILE *out, const struct sp_panel *panel, const char *title, int columns)
{
    enum { RIGHT = 4, BELOW = 5 };
    struct sheet s = {.panel = panel,
                      .columns = columns,
                      .x = sp_scale_of(panel, false),
                      .y = sp_scale_of(panel, true),
                      .left = longest_tick(panel) + 2,
                      .high = panel->rows - 1};
    s.wide = columns - s.left - RIGHT;
    const int keys = put_key(NULL, panel, 0, 0, s.wide), named = *title ? 1 : 0;
    s.top = named + keys;
    s.rows = s.top + s.high + BELOW;
    s.cell = sp_must(calloc((size_t)s.rows * (size_t)s.columns, sizeof *s.cell));
    for (int i = 0; i < s.rows * s.columns; i++)
        s.cell[i][0] = ' ';
    if (named)
        put_text(&s, s.left, 0, SP_LEFT, title);
    put_key(&s, panel, s.left, named, s.wide);
    put_axes(&s);
    put_series(&s);
    put_rules(&s);
    put_labels(&s);
    put_rule_texts(&s);
    write_sheet(out, &s);
    free(s.cell);
}

/* Drops empty lines at the end, and all but one between panels; returns the new length. */
static size_t tidy(char *text)
{
    char *to = text, *end = text;
    int empty = 0;
    for (const char *from = text; *from;) {
        const size_t n = strcspn(from, "\n") + 1;
        empty = n == 1 ? empty + 1 : 0;
        if (n > 1 || (to > text && empty == 1)) {
            memmove(to, from, n);
            to += n;
        }
        end = n > 1 ? to : end;
        from += n;
    }
    *end = '\0';
    return (size_t)(end - text);
}

char *sp_figure_text(const struct sp_figure *figure, int columns, size_t *length)
{
    char *text = NULL;
    FILE *const out = open_memstream(&text, length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < figure->n_panels; i++) {
        const struct sp_panel *const panel = &figure->panels[i];
        if (panel->n_cards > 0)
            fprintf(out, "%s\n", figure->title);
        if (panel->n_cards > 0)
            write_cards(out, panel);
        else
            write_panel(out, panel, i == 0 ? figure->title : panel->title, columns);
    }
    if (fclose(out) == 0) {
        *length = tidy(text);
        return text;
    }
    free(text);
    return NULL;
}
