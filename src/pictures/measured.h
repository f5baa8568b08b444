/* Measured runs against their predictions. */
#ifndef SP_MEASURED_H
#define SP_MEASURED_H

#include "answer/report.h"
#include "pictures/plot.h"

/* Each run of `validate` by what was predicted, with the 80 % range, and what was measured. */
struct sp_figure *sp_draw_measured(const struct sp_report *report, struct sp_error *error);

#endif
