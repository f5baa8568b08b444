/* What a device holds over a step: the first one, and those after it. */
#ifndef SCALEPLAN_MEMORY_COURSE_H
#define SCALEPLAN_MEMORY_COURSE_H

#include <scaleplan/pipeline.h>
#include <scaleplan/plan_memory.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A moment of a step. s after its start; bytes. `first` and `later` are all that is live in the
 * first step and in one after it. */
struct sp_memory_moment {
    double s;
    double activations, gradients;
    double first, later;
};

/* Moments with a name, in the order of the step. */
enum sp_memory_mark {
    SP_AT_START,       /* before the first forward pass */
    SP_AT_ACTIVATIONS, /* activations at their most */
    SP_AT_BACKWARD,    /* the last backward pass is over */
    SP_AT_UPDATE,      /* the optimizer's update, which makes its moments in the first step */
    SP_AT_END,         /* gradients are given back */
    SP_MEMORY_MARKS
};

/* A step as one stage sees it. */
struct sp_memory_course {
    const struct sp_stage_memory *memory; /* its peak, by component */
    const struct sp_precision *precision;
    const struct sp_framework *framework;
    const struct sp_task *task; /* of all stages, in sp_play_pipeline's order */
    int64_t tasks, stage, chunks;
    double update_s; /* the optimizer's */
};

/* The most moments of a course of this many tasks. */
int64_t sp_most_memory_moments(int64_t tasks);

/* Writes the moments of the stage in order of time, at each of which a line of bytes over time
 * bends, and those with a name; returns how many. Activations of a micro-batch come evenly over its
 * forward pass and go evenly over its backward one, which adds what only a backward pass needs;
 * gradients come evenly over the first backward pass of each chunk, unless the framework keeps
 * their room; weights, master copy and buffers stay. The moments of the optimizer are there from
 * the first update on, unless the framework makes them before. Bytes.
 * The largest `later` is at most memory->live: that counts gradients and activations as if both
 * were whole at once, as they are from the second micro-batch on. */
int64_t sp_memory_over_step(const struct sp_memory_course *course, struct sp_memory_moment *moments,
                            struct sp_memory_moment marks[SP_MEMORY_MARKS]);

/* The fullest of n moments: of the first step, or of one after it. */
struct sp_memory_moment sp_fullest_moment(const struct sp_memory_moment *moments, int64_t n,
                                          bool first_step);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
