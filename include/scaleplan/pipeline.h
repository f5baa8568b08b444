/* Pipeline schedules: bubbles in closed form, micro-batches in flight, and schedules played event
 * by event. */
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
    SP_GPIPE, /* all forward, then all backward (AFAB) */
    SP_1F1B,
    SP_INTERLEAVED, /* 1F1B over v chunks a stage */
    SP_ZB_H1,       /* zero bubble, memory of 1F1B */
    SP_ZB_H2,       /* zero bubble, more micro-batches in flight */
    SP_DUALPIPE,
    SP_CIRCULAR, /* MaxText: every micro-batch goes round v times */
    SP_SCHEDULES
};

/* A pipeline with equal stages. Times are of one micro-batch on one whole stage. */
struct sp_pipeline {
    enum sp_schedule schedule;
    int64_t stages;       /* p */
    int64_t microbatches; /* m */
    int64_t chunks;       /* v, chunks of a stage */
    double forward_s;     /* F */
    double backward_s;    /* B: whole backward pass, weight gradients included */
    double weight_grad_s; /* W: its weight-gradient part */
};

/* Which closed form gives a schedule's idle time; see forms/pipeline.def. */
enum sp_bubble_kind {
    SP_BUBBLE_ENDS,   /* sp_bubble_1f1b_s */
    SP_BUBBLE_ROUNDS, /* sp_bubble_rounds_s */
    SP_BUBBLE_ZERO,   /* sp_bubble_zero_s */
    SP_BUBBLE_DUAL    /* sp_bubble_dual_s */
};

/* What the rest of the program asks of a schedule; a row each. */
struct sp_schedule_traits {
    bool divided;       /* the batch goes through in micro-batches, which overlap */
    bool chunked;       /* a stage may hold several chunks of layers */
    bool splits_weight; /* weight gradients are tasks of their own */
    bool exact;         /* sp_uneven_pipeline_s knows it */
    int copies;         /* of a stage's weights: as many stages of the model on each device */
    enum sp_bubble_kind bubble;
    double (*in_flight)(const struct sp_pipeline *, int64_t rank);
};
extern const struct sp_schedule_traits sp_schedules[SP_SCHEDULES];

/* The schedule of a plan that names none: 1F1B, interleaved where a stage has several chunks. */
enum sp_schedule sp_usual_schedule(int64_t chunks);

/* Time in which a stage stands idle. s. Sources: GPipe (Huang et al. 2019); Narayanan et al. 2021,
 * section 2.2, for 1F1B and its interleaving; Qi et al. 2023, table 1, for the zero-bubble
 * schedules; DeepSeek-V3, table 2, for DualPipe; MaxText, base.yml, for the circular one. These
 * hold for m in multiples of p when interleaved, m >= p (ZB-H1), 2p - 1 (ZB-H2), 2p (DualPipe);
 * with fewer, the time that micro-batches need from end to end counts. */
double sp_bubble_s(const struct sp_pipeline *pipeline);

/* Micro-batches whose weight gradients fill gaps in a zero-bubble schedule: those there are, up to
 * p (ZB-H1) or 2p - 1 (ZB-H2). Qi et al. 2023, table 1. */
double sp_filling_microbatches(const struct sp_pipeline *pipeline);

/* Micro-batches that go through one after the other: 1 of a naive pipeline. */
double sp_useful_microbatches(const struct sp_pipeline *pipeline);

/* Time in which a stage works: m (F + B); a naive pipeline has one micro-batch. s. */
double sp_useful_s(const struct sp_pipeline *pipeline);

/* Micro-batches whose activations stage `rank` (0-based) holds at once, in units of a whole stage's
 * micro-batch: chunks count 1/v. The rank must be below the stages. Same sources. */
double sp_in_flight(const struct sp_pipeline *pipeline, int64_t rank);

/* Fewest micro-batches whose useful time is at least the fraction `efficiency` of the total, for
 * the pipeline's other parameters; INFINITY where no number is enough, as for a naive pipeline.
 * Scaling book, "Training": m >= e (p-1) / (1-e); where idle time depends on m, the first m from
 * there that is enough. */
double sp_microbatches_for(const struct sp_pipeline *pipeline, double efficiency);

/* Time of all micro-batches through stages that take forward_s and backward_s each, without sends.
 * s. There must be 1 to SP_MAX_STAGES stages. Linear in their number. The longest path through
 * GPipe or 1F1B, which is what sp_play_pipeline makes of any stages (docs/decisions.md). Other
 * schedules: NAN. */
double sp_uneven_pipeline_s(enum sp_schedule schedule, const double *forward_s,
                            const double *backward_s, int64_t stages, int64_t microbatches);

enum { SP_MAX_STAGES = 1024, SP_MAX_PLAYED = 1 << 22 };

/* A task of a played schedule. */
struct sp_task {
    double start_s, end_s;
    int32_t stage, chunk, microbatch;
    char kind;   /* 'F', 'B' (whole, or its input half where 'W' exists), 'W' */
    bool joined; /* DualPipe: others see it done when what runs as one with it is done too */
};

/* What a play found. */
struct sp_played {
    double makespan_s;
    double busy_s[SP_MAX_STAGES]; /* per stage */
    double peak_in_flight[SP_MAX_STAGES];
    int64_t tasks;
};

/* Time in which the stages work, added up. s. */
double sp_busy_s(const struct sp_played *played, int64_t stages);

/* How much longer the tasks of one stage take than the pipeline's. */
struct sp_stage_scale {
    double forward, backward, weight_grad;
};

/* Number of tasks that sp_play_pipeline writes, 0 when the schedule cannot be played: a naive one,
 * interleaving unless m is a multiple of p, DualPipe unless p and m are even and m >= 2p. */
int64_t sp_tasks_of(const struct sp_pipeline *pipeline);

/* Steps that playing it takes, at most: tasks times stages; 0 when it cannot be played. */
double sp_play_cost(const struct sp_pipeline *pipeline);

/* Plays GPipe, 1F1B, interleaved 1F1B, ZB-H1, ZB-H2, DualPipe (in DeepSeek's order, pairs of passes
 * overlapped as one; its closed form holds for B = 2F = 2W) and the circular schedule event by
 * event. `scale[s]` multiplies the times of stage s (NULL: all equal), `hop_s` is the time of a
 * send between neighbours. The tasks go to `tasks` (room for sp_tasks_of), in order of stage,
 * chunk, micro-batch and kind. ZB-H2's makespan is (p-1) F longer than its closed form says: each
 * stage works without a gap, but the stages start one after the other, which the authors hide by
 * letting each stage's optimizer step start when that stage is done. Deterministic, no allocation;
 * time O(tasks), for ZB O(tasks x stages). Interleaving needs m to be a multiple of p. */
bool sp_play_pipeline(const struct sp_pipeline *pipeline, const struct sp_stage_scale *scale,
                      double hop_s, struct sp_task *tasks, struct sp_played *played);

/* Micro-batches in flight on a stage from `s` on. */
struct sp_in_flight_level {
    double s, microbatches;
};

/* How the micro-batches in flight on `stage` rise and fall over a played schedule: a forward task
 * adds 1/v when it starts, a backward task takes it away when it ends. Writes a level for each time
 * at which that happens (room for `tasks`), in order; returns how many. The largest is
 * played.peak_in_flight. */
int64_t sp_in_flight_levels(const struct sp_task *task, int64_t tasks, int64_t chunks,
                            int64_t stage, struct sp_in_flight_level *levels);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
