/* Measured runs against their predictions. */
#ifndef SP_MEASURED_H
#define SP_MEASURED_H

#include "answer/report.h"
#include "pictures/plot.h"

/* Each run of `validate`: predicted time with its 80 % range, and measured time. */
struct sp_figure *sp_draw_measured(const struct sp_report *report, struct sp_error *error);

#endif
