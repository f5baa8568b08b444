/* The pictures of `step`. */
#ifndef SP_PICTURE_STEP_H
#define SP_PICTURE_STEP_H

#include <scaleplan/memory.h>

#include "answer/report.h"
#include "pictures/plot.h"

/* The time of a plan by component, the memory of its stages, and of the fullest over the step: `n`
 * moments. */
struct sp_figure *sp_draw_step(const struct sp_report *report,
                               const struct sp_memory_moment *moments, int64_t n,
                               double capacity_bytes);

/* The curve of --curve. */
struct sp_figure *sp_draw_curve(const struct sp_report *report);

/* Which layers each stage has, and which ranks it is; NULL with an error: too many to draw. */
struct sp_figure *sp_draw_placement(const struct sp_report *report, struct sp_error *error);

/* The buckets of --buckets; NULL with an error: there are none. */
struct sp_figure *sp_draw_buckets(const struct sp_report *report, struct sp_error *error);

#endif
