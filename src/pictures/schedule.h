/* A pipeline's schedule, drawn. */
#ifndef SP_SCHEDULE_H
#define SP_SCHEDULE_H

#include <scaleplan/pipeline.h>

#include "answer/report.h"
#include "pictures/plot.h"

/* The schedule by stage and what each stage keeps in memory, played with stages that take `scale`
 * times the usual and sends of `send_s`; NULL with an error where it cannot be played, or has more
 * tasks than a picture shows. */
struct sp_figure *sp_plot_schedule(const struct sp_pipeline *pipeline,
                                   const struct sp_stage_scale *scale, double send_s,
                                   struct sp_error *error);

/* A line for each stage: F, B and W where it works, a dot where it waits. */
void sp_draw_schedule_lines(struct sp_report *report, const struct sp_pipeline *pipeline,
                            const struct sp_task *tasks, const struct sp_played *played);

#endif
