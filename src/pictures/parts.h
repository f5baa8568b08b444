/* Bars of a report: the parts of a model, and a machine's needs. */
#ifndef SP_PARTS_H
#define SP_PARTS_H

#include "answer/report.h"
#include "pictures/plot.h"

/* The parameters of `flops` by part, and the FLOPs of a token's forward pass. */
struct sp_figure *sp_draw_flops(const struct sp_report *report);

/* How many times its current value each figure of `need` must become, if that suffices. */
struct sp_figure *sp_draw_need(const struct sp_report *report, struct sp_error *error);

#endif
