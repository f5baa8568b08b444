/* Inside of the player. */
#ifndef SP_PIPELINE_INTERNAL_H
#define SP_PIPELINE_INTERNAL_H

#include <scaleplan/pipeline.h>

/* DualPipe needs even numbers, and two micro-batches a stage. */
bool sp_can_play_dual(const struct sp_pipeline *pipeline);

/* Plays it; tasks' ends are negative before, `played` is zero. */
bool sp_play_dual(const struct sp_pipeline *pipeline, const double *scale, double hop_s,
                  struct sp_task *tasks, struct sp_played *played);

#endif
