/* Pipeline schedules: bubbles in closed form, micro-batches in flight, event-by-event
 * simulation. */
#ifndef SCALEPLAN_PIPELINE_H
#define SCALEPLAN_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum sp_schedule {
    SP_NAIVE, /* one batch, no micro-batches */
    SP_GPIPE, /* all forward passes, then all backward passes (AFAB) */
    SP_1F1B,
    SP_INTERLEAVED, /* 1F1B with v chunks per stage */
    SP_ZB_H1,       /* zero bubble with the memory of 1F1B */
    SP_ZB_H2,       /* zero bubble with more micro-batches in flight */
    SP_DUALPIPE,
    SP_CIRCULAR, /* MaxText: every micro-batch passes the stages v times */
    SP_SCHEDULES
};

/* A pipeline of equal stages. Times are per micro-batch and whole stage. */
struct sp_pipeline {
    enum sp_schedule schedule;
    int64_t stages;       /* p */
    int64_t microbatches; /* m */
    int64_t chunks;       /* v, chunks per stage */
    double forward_s;     /* F */
    double backward_s;    /* B: backward pass, weight gradients included */
    double weight_grad_s; /* W: weight gradients within B */
};

/* Closed form of a schedule's idle time; see forms/pipeline.def. */
enum sp_bubble_kind {
    SP_BUBBLE_ENDS,   /* sp_bubble_1f1b_s */
    SP_BUBBLE_ROUNDS, /* sp_bubble_rounds_s */
    SP_BUBBLE_ZERO,   /* sp_bubble_zero_s */
    SP_BUBBLE_DUAL    /* sp_bubble_dual_s */
};

/* Properties of a schedule. */
struct sp_schedule_traits {
    bool divided;       /* the batch is divided into micro-batches that overlap */
    bool chunked;       /* a stage may have several chunks of layers */
    bool splits_weight; /* weight gradients are separate tasks */
    bool exact;         /* sp_uneven_pipeline_s supports it */
    int copies;         /* copies of each stage's weights = model stages per device */
    enum sp_bubble_kind bubble;
    double (*in_flight)(const struct sp_pipeline *, int64_t rank);
};
extern const struct sp_schedule_traits sp_schedules[SP_SCHEDULES];

/* Default schedule: 1F1B, interleaved if stages have several chunks. */
enum sp_schedule sp_usual_schedule(int64_t chunks);

/* Idle time of a stage (s). Huang et al. 2019 (GPipe); Narayanan et al. 2021, section 2.2 (1F1B,
 * interleaved); Qi et al. 2023, table 1 (zero bubble); DeepSeek-V3, table 2 (DualPipe); MaxText,
 * base.yml (circular). Valid for m a multiple of p if interleaved, m >= p (ZB-H1), 2p - 1 (ZB-H2),
 * 2p (DualPipe); with fewer micro-batches their end-to-end time is counted. */
double sp_bubble_s(const struct sp_pipeline *pipeline);

/* Micro-batches whose weight gradients fill the gaps of a zero-bubble schedule: at most p (ZB-H1)
 * or 2p - 1 (ZB-H2). Qi et al. 2023, table 1. */
double sp_filling_microbatches(const struct sp_pipeline *pipeline);

/* Micro-batches that follow each other: m, 1 for a naive pipeline. */
double sp_useful_microbatches(const struct sp_pipeline *pipeline);

/* Busy time of a stage: m (F + B), with m = 1 for a naive pipeline. s. */
double sp_useful_s(const struct sp_pipeline *pipeline);

/* Micro-batches whose activations stage `rank` (0-based) holds at once, per whole stage: a chunk
 * counts 1/v. The rank must be below the stages. Same sources. */
double sp_in_flight(const struct sp_pipeline *pipeline, int64_t rank);

/* Fewest micro-batches with which useful time is at least the fraction `efficiency` of the total;
 * INFINITY if none (naive). Scaling book, "Training": m >= e (p-1) / (1-e); if idle time depends on
 * m, the first sufficient m from there. */
double sp_microbatches_for(const struct sp_pipeline *pipeline, double efficiency);

/* Time (s) of all micro-batches through stages with times forward_s and backward_s, without sends.
 * There must be 1 to SP_MAX_STAGES stages. This is the longest path through GPipe or 1F1B, equal to
 * the simulation's (sp_play_pipeline). O(stages). NAN for other schedules. */
double sp_uneven_pipeline_s(enum sp_schedule schedule, const double *forward_s,
                            const double *backward_s, int64_t stages, int64_t microbatches);

enum { SP_MAX_STAGES = 1024, SP_MAX_PLAYED = 1 << 22 };

/* A task of a simulated schedule. */
struct sp_task {
    double start_s, end_s;
    int32_t stage, chunk, microbatch;
    char kind;   /* 'F', 'B' (whole, or its input-gradient part if 'W' exists), 'W' */
    bool joined; /* DualPipe: part of an overlapped pair, whose results appear when both are done */
};

/* The result of a simulation. */
struct sp_played {
    double makespan_s;
    double busy_s[SP_MAX_STAGES]; /* per stage */
    double peak_in_flight[SP_MAX_STAGES];
    int64_t tasks;
};

/* Busy time summed over stages. s. */
double sp_busy_s(const struct sp_played *played, int64_t stages);

/* Time factors of one stage's tasks relative to the pipeline's. */
struct sp_stage_scale {
    double forward, backward, weight_grad;
};

/* Number of tasks that sp_play_pipeline writes; 0 if it cannot simulate the schedule: naive,
 * interleaved unless m is a multiple of p, DualPipe unless p and m are even and m >= 2p. */
int64_t sp_tasks_of(const struct sp_pipeline *pipeline);

/* Upper limit of a simulation's steps: tasks x stages; 0 if it cannot be simulated. */
double sp_play_cost(const struct sp_pipeline *pipeline);

/* Simulates GPipe, 1F1B, interleaved, ZB-H1, ZB-H2, DualPipe and the circular schedule event by
 * event. `scale[s]` multiplies the times of stage s (NULL: equal stages); `hop_s` is the time of a
 * send between neighbours. Tasks are written to `tasks` (room for sp_tasks_of) by stage, chunk,
 * micro-batch and kind. DualPipe follows DeepSeek's order and overlaps pairs of passes; its closed
 * form assumes B = 2F = 2W. ZB-H2's makespan exceeds its closed form by (p-1) F because the stages
 * start one after the other; its authors hide that by letting each stage's optimizer step start
 * when that stage is done. Deterministic; no allocation; O(tasks), for ZB O(tasks x stages). False
 * if sp_tasks_of is 0. */
bool sp_play_pipeline(const struct sp_pipeline *pipeline, const struct sp_stage_scale *scale,
                      double hop_s, struct sp_task *tasks, struct sp_played *played);

/* Micro-batches in flight on a stage from time `s` on. */
struct sp_in_flight_level {
    double s, microbatches;
};

/* Micro-batches in flight on `stage` over a simulated schedule: a forward task adds 1/v at its
 * start, a backward task removes it at its end. Writes one level per change in order of time (room
 * for `tasks`); returns their number. The maximum equals played.peak_in_flight. */
int64_t sp_in_flight_levels(const struct sp_task *task, int64_t tasks, int64_t chunks,
                            int64_t stage, struct sp_in_flight_level *levels);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
