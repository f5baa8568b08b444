/* Hides labels that would overlap, measured in characters. */
#include <math.h>
#include <stdlib.h>

#include "pictures/script.h"

/* The area of a text in characters, from the panel's lower left corner. */
struct extent {
    double left, right, low, high;
};

double sp_share(double value, struct sp_scale scale, bool log_axis)
{
    return log_axis ? log(value / scale.min) / log(scale.max / scale.min)
                    : (value - scale.min) / (scale.max - scale.min);
}

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static struct extent extent_at(double column, double row, enum sp_align align, const char *text)
{
    const double wide = characters(text);
    const double left = align == SP_LEFT    ? column
                        : align == SP_RIGHT ? column - wide
                                            : column - wide / 2;
    return (struct extent){left, left + wide, row - 0.5, row + 0.5};
}

static struct extent extent_of(const struct sp_label *label, const struct sp_panel *panel,
                               const struct sp_sheet *sheet)
{
    const double apart = sheet->text ? 2 : 0.9;
    const double side = label->align == SP_LEFT ? apart : label->align == SP_RIGHT ? -apart : 0;
    const double up = !label->beside || sheet->text ? 0 : label->below ? -0.7 : 0.6;
    return extent_at(
        sp_share(label->x, sheet->x, panel->x.log) * sheet->columns + (label->beside ? side : 0),
        sp_share(label->y, sheet->y, panel->y.log) * sheet->rows + up, label->align, label->text);
}

static bool overlap(struct extent a, struct extent b)
{
    return a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high;
}

bool sp_rule_reads_left(const struct sp_panel *panel, const struct sp_rule *rule, struct sp_scale x)
{
    return sp_share(rule->at, x, panel->x.log) > 0.6;
}

int sp_rule_line(const struct sp_panel *panel, size_t rule)
{
    int line = 0;
    for (size_t i = 0; i < rule; i++)
        line += panel->rules[i].vertical && panel->rules[rule].vertical;
    return line;
}

/* Whether a label would lie on an upright rule or on its text. */
static bool on_rule(struct extent label, const struct sp_panel *panel, const struct sp_sheet *sheet)
{
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const double at = sp_share(rule->at, sheet->x, panel->x.log) * sheet->columns;
        const bool left = sp_rule_reads_left(panel, rule, sheet->x);
        if (!rule->vertical)
            continue;
        if ((label.left < at && at < label.right) ||
            overlap(label,
                    extent_at(at + (left ? -1 : 1), sheet->rows - 0.7 - sp_rule_line(panel, i),
                              left ? SP_RIGHT : SP_LEFT, rule->text)))
            return true;
    }
    return false;
}

static bool leaves_panel(struct extent e, const struct sp_sheet *sheet)
{
    return e.left < 0 || e.right > sheet->columns || e.low < 0 || e.high > sheet->rows;
}

/* Measured in characters, because only gnuplot knows a font's widths. */
bool *sp_hidden_labels(const struct sp_panel *panel, const struct sp_sheet *sheet)
{
    bool *const hidden = calloc(panel->n_labels + 1, sizeof *hidden);
    for (size_t i = 0; hidden && i < panel->n_labels; i++) {
        if (!panel->labels[i].yields)
            continue;
        const struct extent own = extent_of(&panel->labels[i], panel, sheet);
        hidden[i] = leaves_panel(own, sheet) || on_rule(own, panel, sheet);
        for (size_t k = 0; k < i && !hidden[i]; k++)
            hidden[i] = !hidden[k] && overlap(own, extent_of(&panel->labels[k], panel, sheet));
    }
    return hidden;
}
