/* The picture of `sensitivity`. */
#ifndef SP_PICTURE_TORNADO_H
#define SP_PICTURE_TORNADO_H

#include "answer/report.h"
#include "pictures/plot.h"

/* A bar for each figure, from the goal's value with less of it to the value with more, around the
 * current value; `delta`: how much less and more. */
struct sp_figure *sp_draw_tornado(const struct sp_report *report, double delta);

#endif
