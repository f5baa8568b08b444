/* Where a value of a panel is in the picture. */
#include "pictures/svg.h"

double sp_x_at(const struct sp_plot_place *p, double value)
{
    return p->plot.left + sp_share(value, &p->x) * (p->plot.right - p->plot.left);
}

double sp_y_at(const struct sp_plot_place *p, double value)
{
    return p->plot.bottom - sp_share(value, &p->y) * (p->plot.bottom - p->plot.top);
}

double sp_rule_text_y(const struct sp_plot_place *p, size_t i)
{
    return p->plot.top - 6 - (p->rule_lines - p->rule_line[i] - 0.5) * (SP_LINE_PX - 1);
}
