/* Everything that the models say of one plan, computed once. */
#ifndef SCALEPLAN_ESTIMATE_H
#define SCALEPLAN_ESTIMATE_H

#include <scaleplan/companions.h>
#include <scaleplan/buckets.h>
#include <scaleplan/flops.h>
#include <scaleplan/health.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What a step time is worth. */
struct sp_rates {
    enum sp_flop_convention convention; /* of model_flops, mfu, hfu and flops_per_s_per_device */
    double model_flops;      /* of a step, by the convention: three forward passes. FLOPs */
    double executed_flops;   /* what devices compute: matmuls, all scores with SP_FLOPS_FULL, else
                                the causal half, and sp_step_recomputed_flops. FLOPs */
    double active;           /* parameters that one token works with: sp_worked_params */
    double peak_flops_per_s; /* of a chip in the plan's number format */
    double tokens_per_s, tokens_per_s_per_device;
    double flops_per_s_per_device; /* model FLOPs */
    double mfu;       /* model FLOPs over the peak of all devices for the step. PaLM, appendix B */
    double tuned_mfu; /* the same of what is computed: without the gradients of what is frozen, with
                         the forward passes of models beside */
    double hfu;       /* executed FLOPs over the same. Korthikanti et al. 2022, section 6 */
    double flops_by[SP_FLOP_CONVENTIONS]; /* model FLOPs of a step by each convention */
    double mfu_by[SP_FLOP_CONVENTIONS];   /* and the MFU */
};

/* Rates of a step of step_s seconds on all chips of the machine. Of the plan batch, seq, dtype and
 * the recomputation count. */
struct sp_rates sp_step_rates(const struct sp_step_inputs *in, double step_s,
                              enum sp_flop_convention convention);

/* Probability that a device of `capacity` bytes runs out when the estimate is `device` bytes: the
 * logarithm of measured over estimated is normal with the framework's memory_residual. Below 1e-6,
 * which no number of runs has shown, it is 0; without a residual it is 0 or 1. */
double sp_oom_odds(const struct sp_framework *framework, double device, double capacity);

/* The policy that recomputes least of none, `selective` and full with which the fullest device
 * needs at most `capacity` bytes; full where none does. The plan's own policy does not matter;
 * `selective` may be NULL for a framework that has none. */
const struct sp_policy *sp_lightest_policy(const struct sp_step_inputs *in,
                                           const struct sp_policy *selective, double capacity);

/* One plan: time, rates, memory, stages. s and bytes. */
struct sp_estimate {
    struct sp_step_time time;
    struct sp_companion_cost companions; /* of models that work forward beside it: in the step, in
                                     none of its parts; weights in the buffers */
    double compute_s;     /* matmuls, attention, memory-bound work and recomputation */
    double range;         /* half-width of the 80 % range, of the logarithm: sp_range_log */
    double low_s, high_s; /* 80 % range of the step */
    double ideal_s;       /* sp_ideal_step_s */
    double played_s;      /* the stages' own times through the schedule, event by event, without
                             sends; NAN: not played */
    struct sp_health health;
    struct sp_buckets buckets; /* of the first stage, which reduces last */
    struct sp_rates rates;
    struct sp_stage_memory memory; /* of the fullest stage */
    int64_t fullest;               /* that stage */
    double capacity_bytes, over_bytes, oom_odds;
    bool fits;
    struct sp_stage_map map; /* stages: those of a kind take the same time */
    struct sp_stage_time kind[SP_STAGE_KINDS];
    struct sp_stage_memory stage[SP_MAX_STAGES];
};

/* The step time of a plan that passes sp_check_plan, and the memory of its fullest stage: the same
 * numbers as sp_estimate's, without the rest. s. */
double sp_evaluate(const struct sp_step_inputs *in, struct sp_stage_memory *memory);

/* Room for the tasks of playing the plan; 0 where its schedule cannot be played or it has more than
 * SP_MOST_PLAYED_TASKS. */
enum { SP_MOST_PLAYED_TASKS = 200000 };
int64_t sp_tasks_of_plan(const struct sp_plan *plan);

/* Plays the plan's schedule with the times of its stages that the estimate has, without sends, into
 * `tasks` (room for sp_tasks_of_plan, which is above 0). */
bool sp_play_plan(const struct sp_plan *plan, const struct sp_estimate *estimate,
                  struct sp_task *tasks, struct sp_played *played);

/* Estimates a plan that passes sp_check_plan. `tasks` has room for sp_tasks_of_plan; NULL leaves
 * the schedule unplayed. */
void sp_estimate(const struct sp_step_inputs *in, enum sp_flop_convention convention,
                 struct sp_task *tasks, struct sp_estimate *estimate);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
