/* Internals of the schedule simulation. */
#ifndef SP_PIPELINE_INTERNAL_H
#define SP_PIPELINE_INTERNAL_H

#include <scaleplan/pipeline.h>

/* DualPipe needs even p and m, and m >= 2p. */
bool sp_can_play_dual(const struct sp_pipeline *pipeline);

/* Durations of a stage's passes; `scale` as in sp_play_pipeline. s. */
struct sp_passes {
    double forward, backward, weight_grad;
};
struct sp_passes sp_passes_at(const struct sp_pipeline *pipeline,
                              const struct sp_stage_scale *scale, int64_t stage);

/* Simulates DualPipe. On entry the ends of all tasks are negative and `played` is zero. */
bool sp_play_dual(const struct sp_pipeline *pipeline, const struct sp_stage_scale *scale,
                  double hop_s, struct sp_task *tasks, struct sp_played *played);

#endif
