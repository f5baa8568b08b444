/* Where layers and ranks of a plan lie, in words. */
#ifndef SP_STUDY_PLACEMENT_H
#define SP_STUDY_PLACEMENT_H

#include <stddef.h>

#include <scaleplan/plan.h>

/* The layers of a stage, from 1: "1-4", with chunks "1-2, 9-10". "" where the chunks of a stage are
 * not all of one size, and of schedules that keep two copies of the weights. */
void sp_name_stage_layers(const struct sp_stage_map *map, const struct sp_plan *plan, int64_t stage,
                          char *text, size_t size);

/* The ranks of a stage, from 0: "8-15". Stages are the outermost dimension, as in Megatron-LM's
 * order tp-cp-ep-dp-pp. */
void sp_name_stage_ranks(const struct sp_stage_map *map, double devices, int64_t stage, char *text,
                         size_t size);

#endif
