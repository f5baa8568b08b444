/* Bars of a report: what a model consists of, and what a machine lacks. */
#ifndef SP_PARTS_H
#define SP_PARTS_H

#include "answer/report.h"
#include "pictures/plot.h"

/* The parameters of `flops` by part, and the FLOPs of a token's forward pass. */
struct sp_figure *sp_draw_flops(const struct sp_report *report);

/* How many times each figure of `need` would have to be what it is, where that is enough. */
struct sp_figure *sp_draw_need(const struct sp_report *report, struct sp_error *error);

#endif
