/* Inside of the player. */
#ifndef SP_PIPELINE_INTERNAL_H
#define SP_PIPELINE_INTERNAL_H

#include <scaleplan/pipeline.h>

/* DualPipe needs even numbers, and two micro-batches a stage. */
bool sp_can_play_dual(const struct sp_pipeline *pipeline);

/* The lengths of a stage's passes; `scale` as sp_play_pipeline has it. s. */
struct sp_passes {
    double forward, backward, weight_grad;
};
struct sp_passes sp_passes_at(const struct sp_pipeline *pipeline,
                              const struct sp_stage_scale *scale, int64_t stage);

/* Plays it; tasks' ends are negative before, `played` is zero. */
bool sp_play_dual(const struct sp_pipeline *pipeline, const struct sp_stage_scale *scale,
                  double hop_s, struct sp_task *tasks, struct sp_played *played);

#endif
