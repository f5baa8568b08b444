/* All that the models say of one plan, with models beside it and the range of the step. */
#ifndef SCALEPLAN_ESTIMATE_H
#define SCALEPLAN_ESTIMATE_H

#include <scaleplan/flops.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Models that work beside ==
 *
 * Models that work forward beside the one that is trained: the reference of preference tuning, the
 * teacher of distillation.
 */

enum sp_companion_role { SP_REFERENCE, SP_TEACHER, SP_COMPANION_ROLES };

/* Where the weights of such a model are. */
enum sp_companion_place {
    SP_COMPANION_NONE,
    SP_COMPANION_HELD,      /* on the devices, spread as those of the model that is trained */
    SP_COMPANION_OFFLOADED, /* with the hosts; on the devices while it works, before the step */
    SP_COMPANION_SHARED     /* they are the frozen base of the model that is trained */
};

struct sp_companions {
    struct {
        enum sp_companion_place place;
        struct sp_model model; /* all of it frozen */
    } of[SP_COMPANION_ROLES];
    double logit_bytes; /* of the teacher that a token keeps until the loss */
};

/* The model with nothing trained, as one that works forward alone. */
struct sp_model sp_forward_model(const struct sp_model *model);

/* The plan of such a model: that of the model that is trained, without recomputation, and without
 * EP where it has no experts. */
struct sp_plan sp_companion_plan(const struct sp_model *model, const struct sp_plan *plan);

/* Whether the plan can be laid on each of the models beside (sp_check_plan); true without any. */
bool sp_companions_take(const struct sp_companions *companions, const struct sp_plan *plan,
                        int64_t devices, int64_t slices);

/* What they cost a step. */
struct sp_companion_cost {
    double forward_s[SP_COMPANION_ROLES]; /* all micro-batches, with the way from the host. s */
    double bytes[SP_COMPANION_ROLES]; /* on a device of the first stage while they work. bytes */
};

/* The cost of the models beside in->model; all 0 where there are none. Rafailov et al. 2023,
 * "Direct Preference Optimization", section 4: a forward pass of a frozen copy for what the policy
 * learns from; Hinton et al. 2015, "Distilling the Knowledge in a Neural Network". */
void sp_cost_companions(const struct sp_step_inputs *in, struct sp_companion_cost *cost);

/* A step's time with the forward passes of the models beside in->model; `alone` where there are
 * none. s. */
double sp_step_beside_s(const struct sp_step_inputs *in, double alone);

/* No plan on as many devices with the same batch takes less for those passes: their ideal. s. */
double sp_least_companions_s(const struct sp_step_inputs *in);

/* FLOPs of the forward passes of those models on this many tokens in sequences of `seq`, by a
 * convention, by 6P 2 a parameter; 0 where there are none (NULL). Sources as above. */
double sp_companion_flops(const struct sp_companions *companions, double tokens, double seq,
                          enum sp_flop_convention convention);

/* Adds to a stage's memory, in its buffers, the weights of the models beside it and the logits that
 * the last stage keeps. What comes from the hosts works before the step, in the place of its
 * activations. The plan must pass sp_check_plan with each of the models. */
void sp_hold_companions(const struct sp_step_inputs *in, int64_t stage,
                        struct sp_stage_memory *memory);

/* sp_fullest_prepared with the models beside in->model on every stage, where there are some: the
 * fullest stage and its memory; puts all of these into `stages`, unless that is NULL. */
int64_t sp_fullest_beside(const struct sp_step_inputs *in, const struct sp_stage_map *map,
                          const struct sp_kind_memory *kinds, struct sp_stage_memory *stages,
                          struct sp_stage_memory *memory);

/*
 * == Ranges ==
 *
 * How far a measured step may lie from the estimate: by the kind of run and by how much is known of
 * its stack.
 */

/* Kinds of runs, whose errors differ. */
enum sp_tier {
    SP_TIER_DENSE_16, /* dense models, matmuls in 16 bits */
    SP_TIER_DENSE_8,  /* in 8 bits, a scale for each tensor or row */
    SP_TIER_EXPERTS,  /* mixtures of experts */
    SP_TIER_BLOCKS,   /* dense models in formats that scale blocks: mxfp8, nvfp4 */
    SP_TIERS
};
extern const char *const sp_tier_names[SP_TIERS];

/* The tier of a model and a plan on a chip: a format that the chip lacks is the one it falls back
 * to. */
enum sp_tier sp_tier_of(const struct sp_model *model, const struct sp_chip *chip,
                        const struct sp_plan *plan);

/* Half of the range, of the logarithm of the step time, that holds 80 % of measured runs: of the
 * runs that the profile was fitted to where it says so (`residual`), else of published runs that no
 * fit had seen and of whose stack as much was known (range_widths.def). */
double sp_range_log(const struct sp_profile *profile, enum sp_tier tier);

/* A value that is this many standard deviations above 0 is above it in 80 % of a normal
 * distribution.
 */
#define SP_LEAD_DEVIATIONS 0.8416

/* The lead of one plan over another of the same model and machine, of the logarithm of their step
 * times, from which on the order is right 80 % of the time; a smaller one is a tie. Their errors
 * have most in common, so it is much less than sp_range_log: what pairs of published runs of one
 * series that no fit had seen differ by (lead_widths.def). */
double sp_lead_log(enum sp_tier tier);

/* Whether two positive values (steps, costs) lead one another by less than such a width. */
bool sp_is_tie(double one, double other, double lead_log);

/* The same of a machine's best plan over another machine's, whose 80 % ranges reach range_a and
 * range_b, as if their errors had nothing in common. */
double sp_machines_lead_log(double range_a, double range_b);

/*
 * == The estimate ==
 *
 * Everything that the models say of one plan, computed once.
 */

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
 * needs at most `capacity` bytes; full where none does. The plan must pass sp_check_plan. The
 * plan's own policy does not matter; `selective` may be NULL for a framework that has none. */
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

/* The step time of a plan, and the memory of its fullest stage: the same numbers as sp_estimate's,
 * without the rest. The plan must pass sp_check_plan. s. */
double sp_evaluate(const struct sp_step_inputs *in, struct sp_stage_memory *memory);

/* Room for the tasks of playing the plan; 0 where its schedule cannot be played or it has more than
 * SP_MOST_PLAYED_TASKS. */
enum { SP_MOST_PLAYED_TASKS = 200000 };
int64_t sp_tasks_of_plan(const struct sp_plan *plan);

/* Plays the plan's schedule with the times of its stages that the estimate has, without sends, into
 * `tasks` (room for sp_tasks_of_plan). The plan must have tasks by sp_tasks_of_plan. */
bool sp_play_plan(const struct sp_plan *plan, const struct sp_estimate *estimate,
                  struct sp_task *tasks, struct sp_played *played);

/* Estimates a plan. The plan must pass sp_check_plan. `tasks` has room for sp_tasks_of_plan; NULL
 * leaves the schedule unplayed. */
void sp_estimate(const struct sp_step_inputs *in, enum sp_flop_convention convention,
                 struct sp_task *tasks, struct sp_estimate *estimate);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
