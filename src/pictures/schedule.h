/* A picture of a pipeline's schedule. */
#ifndef SP_SCHEDULE_H
#define SP_SCHEDULE_H

#include <scaleplan/pipeline.h>

#include "answer/report.h"
#include "pictures/plot.h"

/* The simulated schedule by stage with each stage's memory, for stage times scaled by `scale` and
 * sends of `send_s`; NULL with an error if it cannot be simulated or has too many tasks to draw. */
struct sp_figure *sp_plot_schedule(const struct sp_pipeline *pipeline,
                                   const struct sp_stage_scale *scale, double send_s,
                                   struct sp_error *error);

/* Writes a line per stage: F, B and W for work, dots for idle time. */
void sp_draw_schedule_lines(struct sp_report *report, const struct sp_pipeline *pipeline,
                            const struct sp_task *tasks, const struct sp_played *played);

#endif
