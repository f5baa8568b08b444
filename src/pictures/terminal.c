/* Pictures in the terminal: gnuplot's `dumb`, with boxes as letters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/script.h"

/* Characters around the plot. */
enum { BOTTOM = 3, RIGHT = 4, LEGEND_GAP = 3 };

/* Characters of `dumb` for line types 1, 2, ... */
static const char line_letters[] = "*#$%@&=";

char sp_letter_of(const struct sp_panel *panel, size_t s)
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

/* Writes the grid points inside a box. A character spans half a point to either side, so neighbours
 * do not overlap; rows lie on the grid. */
static void write_box(FILE *out, const double *box, struct sp_scale x, struct sp_scale y,
                      int columns, int rows)
{
    const double dx = (x.max - x.min) / columns, dy = (y.max - y.min) / rows;
    const int first = (int)fmax(ceil((box[0] - x.min) / dx - 0.5), 1);
    const int last = (int)fmin(ceil((box[1] - x.min) / dx - 0.5) - 1, columns - 1);
    const int low = (int)fmax(ceil((box[2] - y.min) / dy), 1);
    const int high = (int)fmin(floor((box[3] - y.min) / dy), rows - 1);
    for (int j = low; j <= high; j++)
        for (int i = first; i <= last; i++)
            fprintf(out, "%.8g %.8g\n", (x.min + i * dx) / x.factor, (y.min + j * dy) / y.factor);
}

static void write_letters(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                          struct sp_scale y, int columns, int rows)
{
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        if (series->kind != SP_BOXES)
            continue;
        fprintf(out, "$L%zu << END\n", s);
        for (size_t i = 0; i + 4 <= series->n; i += 4)
            write_box(out, series->values + i, x, y, columns, rows);
        fputs("END\n", out);
    }
}

/* Writes rules as a character per row or column. */
static void write_rules(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                        struct sp_scale y, int columns, int rows)
{
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const struct sp_plot_axis *const along = rule->vertical ? &panel->y : &panel->x;
        const struct sp_scale s = rule->vertical ? y : x;
        const int n = rule->vertical ? rows : columns;
        fprintf(out, "$R%zu << END\n", i);
        for (int k = 1; k < n; k++) {
            const double share = (double)k / n;
            const double at =
                (along->log ? s.min * pow(s.max / s.min, share) : s.min + (s.max - s.min) * share) /
                s.factor;
            if (rule->vertical)
                fprintf(out, "%.8g %.8g\n", rule->at / x.factor, at);
            else
                fprintf(out, "%.8g %.8g\n", at, rule->at / y.factor);
        }
        fputs("END\n", out);
    }
}

static void write_element(FILE *out, const struct sp_panel *panel, size_t s)
{
    const struct sp_series *const series = &panel->series[s];
    const char letter = sp_letter_of(panel, s);
    const char *const which = strchr(line_letters, letter);
    switch (series->kind) {
    case SP_LINE:
    case SP_STEPS:
        fprintf(out, "$S%zu using 1:2 with %s lt %d notitle", s,
                series->kind == SP_LINE ? "lines" : "steps",
                which ? (int)(which - line_letters) + 1 : 1);
        break;
    case SP_MARKS:
    case SP_DROPS:
        fprintf(out, "$S%zu using 1:2 with points pt '%c' notitle", s, letter);
        break;
    case SP_WHISKERS:
        fprintf(out, "$S%zu using 1:3:($2-$1):(0) with vectors nohead lt 7 notitle", s);
        break;
    default:
        fprintf(out, "$L%zu using 1:2 with points pt '%c' notitle", s, letter);
        break;
    }
}

static void write_plot(FILE *out, const struct sp_panel *panel)
{
    const char *separator = "plot ";
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        const bool link = series->kind == SP_LINE && series->thin;
        if (series->n == 0 || series->kind == SP_HOLLOW || link)
            continue;
        fputs(separator, out);
        write_element(out, panel, s);
        separator = ", \\\n  ";
    }
    for (size_t i = 0; i < panel->n_rules; i++, separator = ", \\\n  ")
        fprintf(out, "%s$R%zu using 1:2 with points pt '%c' notitle", separator, i,
                panel->rules[i].vertical ? '|' : '-');
    fputs(*separator == 'p' ? "plot NaN notitle\n" : "\n", out);
}

/* Writes the key, "F forward   B backward"; returns the number of lines. With `out` NULL, only
 * counts. */
static int write_key(FILE *out, const struct sp_panel *panel, int columns)
{
    char line[1024] = "";
    int lines = 0, used = 0;
    const int total = out ? write_key(NULL, panel, columns) : 0;
    for (size_t s = 0; s <= panel->n_series; s++) {
        const bool listed = s < panel->n_series && panel->series[s].n > 0;
        const char *const name = listed ? panel->series[s].name : "";
        const int n = (int)strlen(name) + 2 + LEGEND_GAP;
        if (used > 0 && (s == panel->n_series || used + n > columns)) {
            if (out) {
                fputs("set label ", out);
                sp_quote(out, line);
                fprintf(out, " at graph 0, graph 1 left offset char 0, %d\n", total - lines);
            }
            lines++;
            used = 0;
        }
        if (*name && panel->key != SP_NO_KEY)
            used += snprintf(line + used, sizeof line - (size_t)used, "%c %.150s   ",
                             sp_letter_of(panel, s), name);
    }
    return lines;
}

static void write_marks(FILE *out, const struct sp_panel *panel, struct sp_scale x,
                        struct sp_scale y, int columns)
{
    const struct sp_sheet sheet = {x, y, columns, panel->rows, true};
    bool *const hidden = sp_hidden_labels(panel, &sheet);
    static const char *const aligns[] = {"left", "center", "right"};
    for (size_t i = 0; i < panel->n_labels; i++) {
        const struct sp_label *const label = &panel->labels[i];
        if (label->align == SP_CENTRE || (panel->x.log && label->x <= 0) ||
            (panel->y.log && label->y <= 0) || (hidden && hidden[i]))
            continue; /* boxes contain letters */
        fputs("set label ", out);
        sp_quote(out, label->text);
        fprintf(out, " at first %.10g, first %.10g %s offset char %d, 0 front\n",
                label->x / x.factor, label->y / y.factor, aligns[label->align],
                label->align == SP_LEFT    ? (label->beside ? 2 : 1)
                : label->align == SP_RIGHT ? (label->beside ? -2 : -1)
                                           : 0);
    }
    free(hidden);
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const double at = rule->at / (rule->vertical ? x.factor : y.factor);
        const bool left = sp_rule_reads_left(panel, rule, x);
        fputs("set label ", out);
        sp_quote(out, rule->text);
        fprintf(out,
                rule->vertical ? " at first %.10g, graph 1 %s offset char %d, %d front\n"
                               : " at graph 0.99, first %.10g %s offset char %d, %d front\n",
                at, !rule->vertical || left ? "right" : "left",
                !rule->vertical ? 0
                : left          ? -1
                                : 1,
                rule->vertical ? -sp_rule_line(panel, i) : 1);
    }
}

void sp_write_text_panel(FILE *out, const struct sp_figure *figure, const struct sp_panel *panel,
                         int columns)
{
    const struct sp_scale x = sp_scale_of(panel, false), y = sp_scale_of(panel, true);
    const int left = 3 + (int)fmax((double)sp_longest_tick(&panel->y), 7);
    const int inner = columns - left - RIGHT, key = write_key(NULL, panel, inner);
    const bool titled = panel == figure->panels || panel->title[0];
    const int top = key + (titled ? 2 : 1);
    fprintf(out, "set terminal dumb %d %d noenhanced mono\n", columns, panel->rows + top + BOTTOM);
    fprintf(out,
            "unset label\nunset arrow\nset lmargin %d\nset rmargin %d\nset tmargin %d\nset bmargin "
            "%d\nunset key\nset border 3\n",
            left, RIGHT, top, BOTTOM);
    if (titled) {
        fputs("set label ", out);
        sp_quote(out, panel == figure->panels ? figure->title : panel->title);
        fprintf(out, " at graph 0, graph 1 left offset char 0, %d\n", key + 1);
    }
    write_key(out, panel, inner);
    sp_write_axes(out, panel, x, y);
    fputs("unset ylabel\n", out); /* `dumb` would write it vertically */
    sp_write_numbers(out, panel, x, y);
    write_letters(out, panel, x, y, inner - 1, panel->rows - 1);
    write_rules(out, panel, x, y, inner - 1, panel->rows - 1);
    write_marks(out, panel, x, y, inner);
    write_plot(out, panel);
}

size_t sp_tidy_text(char *text)
{
    char *to = text, *end = text;
    for (const char *from = text; *from;) {
        from += *from == '\f';
        const size_t n = strcspn(from, "\n");
        const bool ended = from[n] == '\n';
        size_t kept = n;
        while (kept > 0 && from[kept - 1] == ' ')
            kept--;
        memmove(to, from, kept);
        from += n + ended;
        if (kept == 0 && to == text)
            continue;
        to += kept;
        if (ended)
            *to++ = '\n';
        if (kept > 0)
            end = to;
    }
    *end = '\0';
    return (size_t)(end - text);
}

/* Copies a line without default attributes. */
static char *copy_tag(char *to, const char *from, size_t n)
{
    static const char defaults[] = " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"";
    const char *const end = from + n, *const found = memmem(from, n, defaults, sizeof defaults - 1);
    const char *const stop = found ? found : end;
    memmove(to, from, (size_t)(stop - from));
    to += stop - from;
    if (found) {
        const char *const rest = found + sizeof defaults - 1;
        memmove(to, rest, (size_t)(end - rest));
        to += end - rest;
    }
    return to;
}

size_t sp_tidy_svg(char *text)
{
    static const char group[] = "<g fill=\"none\"";
    char *to = text;
    for (const char *from = text; *from;) {
        from += strspn(from, "\t");
        const char *const end = strchr(from, '\n'), *const after = end ? end + 1 : NULL;
        const size_t n = after ? (size_t)(after - from) : strlen(from);
        const bool opens = strncmp(from, group, sizeof group - 1) == 0;
        if (opens && after && strncmp(after, "</g>\n", 5) == 0) {
            from = after + 5;
            continue;
        }
        if (opens) {
            to = copy_tag(to, from, n);
        } else {
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    *to = '\0';
    return (size_t)(to - text);
}
