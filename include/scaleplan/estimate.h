/* One plan's time, memory and rates, with its companion models and the 80 % range of its step. */
#ifndef SCALEPLAN_ESTIMATE_H
#define SCALEPLAN_ESTIMATE_H

#include <scaleplan/flops.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Companions ==
 *
 * Models that run forward alongside the trained one: the reference of preference tuning, the
 * teacher of distillation.
 */

enum sp_companion_role { SP_REFERENCE, SP_TEACHER, SP_COMPANION_ROLES };

/* Where the weights of a companion are. */
enum sp_companion_place {
    SP_COMPANION_NONE,
    SP_COMPANION_HELD,      /* on the devices, sharded like the trained model */
    SP_COMPANION_OFFLOADED, /* in host memory; on the devices only while it runs, before the step */
    SP_COMPANION_SHARED     /* shared with the frozen base of the trained model */
};

struct sp_companions {
    struct {
        enum sp_companion_place place;
        struct sp_model model; /* all frozen */
    } of[SP_COMPANION_ROLES];
    double logit_bytes; /* bytes per token that the teacher's logits occupy until the loss */
};

/* The model with nothing trained, as a companion runs it. */
struct sp_model sp_forward_model(const struct sp_model *model);

/* The companion's plan: the trained model's without recomputation, and without EP if the companion
 * has no experts. */
struct sp_plan sp_companion_plan(const struct sp_model *model, const struct sp_plan *plan);

/* Whether sp_check_plan accepts the plan for every companion; true if there are none. */
bool sp_companions_take(const struct sp_companions *companions, const struct sp_plan *plan,
                        int64_t devices, int64_t slices);

/* The cost of companions per step. */
struct sp_companion_cost {
    double forward_s[SP_COMPANION_ROLES]; /* all micro-batches, transfers from the host included.
                                             s */
    double bytes[SP_COMPANION_ROLES];     /* per device of the first stage while they run */
};

/* The cost of the companions of in->model; all 0 if there are none. Rafailov et al. 2023, "Direct
 * Preference Optimization", section 4 (forward pass of a frozen reference); Hinton et al. 2015,
 * "Distilling the Knowledge in a Neural Network". */
void sp_cost_companions(const struct sp_step_inputs *in, struct sp_companion_cost *cost);

/* Step time with the companions' forward passes; `alone` (s) if there are none. s. */
double sp_step_beside_s(const struct sp_step_inputs *in, double alone);

/* The same for layers on a rank (sp_layers_on_rank) and stages (sp_map_stages) that are already
 * computed. The plan must pass sp_check_plan. s. */
double sp_step_on_stages_s(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                           const struct sp_stage_map *map);

/* Lower bound of the companions' time over all plans with as many devices and the same batch. s. */
double sp_least_companions_s(const struct sp_step_inputs *in);

/* FLOPs of the companions' forward passes on `tokens` tokens in sequences of `seq`, by a convention
 * (SP_FLOPS_6P: 2 per parameter); 0 for NULL. Sources as above. */
double sp_companion_flops(const struct sp_companions *companions, double tokens, double seq,
                          enum sp_flop_convention convention);

/* Adds companion weights and the teacher's logits (last stage) to the buffers of a stage's memory.
 * An offloaded companion runs before the step, when its weights use the room of the activations.
 * The plan must pass sp_check_plan with each of the models. */
void sp_hold_companions(const struct sp_step_inputs *in, int64_t stage,
                        struct sp_stage_memory *memory);

/* The fullest stage with companions counted, as sp_fullest_prepared; writes every stage's memory to
 * `stages` unless that is NULL. */
int64_t sp_fullest_beside(const struct sp_step_inputs *in, const struct sp_stage_map *map,
                          const struct sp_kind_memory *kinds, struct sp_stage_memory *stages,
                          struct sp_stage_memory *memory);

/*
 * == What is left open ==
 *
 * Facts that a plan or a measured run does not state. They are unknowns of the machine or the
 * publication, which a fit integrates out and a range covers, and never parts of a constant.
 */

/* The list of unknowns.def. */
#define SP_UNKNOWN(id, key, spread, meaning) SP_OPEN_##id,
enum sp_unknown {
#include <scaleplan/unknowns.def>
    SP_UNKNOWNS
};
#undef SP_UNKNOWN

struct sp_unknown_info {
    const char *key;
    double spread; /* standard deviation */
    const char *meaning;
};
extern const struct sp_unknown_info sp_unknowns[SP_UNKNOWNS];

/* Whether the inputs leave it open. */
bool sp_is_open(const struct sp_step_inputs *in, enum sp_unknown unknown);

/* Step time with each unknown shifted by `deviations` standard deviations from its expected value,
 * whether or not the inputs leave it open. With all 0, equal to sp_estimate_step(in). s. */
double sp_step_with_unknowns(const struct sp_step_inputs *in, const double deviations[SP_UNKNOWNS]);

/* Standard deviation of ln(step time) due to the unknowns that the inputs leave open: the root of
 * the sum of the squared effects of one deviation each. Factors of the whole step are left out,
 * because range_widths.def includes them. */
double sp_open_log(const struct sp_step_inputs *in);

/*
 * == Ranges ==
 *
 * How far a measured step may lie from the estimate, by kind of run and by what is known of its
 * stack.
 */

/* Kinds of runs, whose errors differ. */
enum sp_tier {
    SP_TIER_DENSE_16, /* dense models, matmuls in 16 bits */
    SP_TIER_DENSE_8,  /* dense models, 8-bit matmuls, one scale per tensor or row */
    SP_TIER_EXPERTS,  /* mixtures of experts */
    SP_TIER_BLOCKS,   /* dense models, block-scaled formats: mxfp8, nvfp4 */
    SP_TIERS
};
extern const char *const sp_tier_names[SP_TIERS];

/* The tier of a model and plan on a chip. A format that the chip lacks counts as its fallback. */
enum sp_tier sp_tier_of(const struct sp_model *model, const struct sp_chip *chip,
                        const struct sp_plan *plan);

/* Half-width of the 80 % range of ln(step time): the profile's `residual` if the profile was fitted
 * to runs; else the width measured on published runs of equally well known stacks that were left
 * out of the fit (range_widths.def). */
double sp_range_log(const struct sp_profile *profile, enum sp_tier tier);

/* The same for a plan, widened by what its inputs leave open (sp_open_log) unless the profile was
 * fitted to the machine's own runs. */
double sp_range_of(const struct sp_step_inputs *in);

/* In a normal distribution, 80 % of the values lie above mean - 0.8 standard deviations. */
#define SP_LEAD_DEVIATIONS 0.8416

/* Smallest difference of ln(step time) at which the order of two plans of one model and machine is
 * right 80 % of the time; a smaller difference is a tie. Two such plans share most of their error,
 * so this is much smaller than sp_range_log. Measured on pairs of published runs of one series that
 * were left out of the fit (lead_widths.def). */
double sp_lead_log(enum sp_tier tier);

/* Whether two positive values (steps, costs) differ by less than lead_log. */
bool sp_is_tie(double one, double other, double lead_log);

/* The same between the best plans of two machines with 80 % half-widths range_a and range_b, their
 * errors taken as independent. */
double sp_machines_lead_log(double range_a, double range_b);

/*
 * == The estimate ==
 */

/* The rates of a step time. */
struct sp_rates {
    enum sp_flop_convention convention; /* used by model_flops, mfu, hfu and
                                           flops_per_s_per_device */
    double model_flops;                 /* per step by the convention: three forward passes, without
                                           gradients of frozen weights, with companions' forward
                                           passes */
    double executed_flops;              /* FLOPs that devices execute, recomputation included; with
                                           SP_FLOPS_FULL all scores, else the causal half; never
                                           below model_flops and the recomputation */
    double active;                      /* sp_worked_params */
    double peak_flops_per_s;            /* per chip in the plan's number format */
    double tokens_per_s, tokens_per_s_per_device;
    double flops_per_s_per_device; /* model FLOPs */
    double mfu; /* model FLOPs over peak FLOPs of all devices. PaLM, appendix B */
    double hfu; /* executed FLOPs over peak FLOPs. Korthikanti et al. 2022, section 6 */
    double flops_by[SP_FLOP_CONVENTIONS]; /* model FLOPs per step under each convention */
    double mfu_by[SP_FLOP_CONVENTIONS];   /* MFU under each convention */
};

/* Rates of a step of step_s seconds on all chips of the machine. Only the plan's batch, seq, dtype
 * and recomputation matter. */
struct sp_rates sp_step_rates(const struct sp_step_inputs *in, double step_s,
                              enum sp_flop_convention convention);

/* The policy among none, `selective` and full that recomputes least while the fullest device needs
 * at most `most` bytes; full if none does. The plan must pass sp_check_plan. Its own policy is
 * ignored. `selective` may be NULL for a framework without one. */
const struct sp_policy *sp_lightest_policy(const struct sp_step_inputs *in,
                                           const struct sp_policy *selective, double most);

/* One plan's estimate. s and bytes. */
struct sp_estimate {
    struct sp_step_time time;
    struct sp_companion_cost companions; /* included in the step, not in its parts; weights counted
                                            in the buffers */
    double compute_s;     /* matmuls, attention, memory-bound work and recomputation */
    double range;         /* half-width of the 80 % range of ln(step): sp_range_of */
    double low_s, high_s; /* 80 % range of the step */
    double ideal_s;       /* sp_ideal_step_s */
    double played_s;      /* step from the simulated schedule without sends; NAN: not simulated */
    struct sp_health health;
    struct sp_buckets buckets; /* of the first stage, which reduces its gradients last */
    struct sp_rates rates;
    struct sp_stage_memory memory; /* of the fullest stage */
    int64_t fullest;               /* the fullest stage */
    double capacity_bytes, oom_odds;
    double limit_bytes, over_bytes; /* most that still fits, and what the plan needs beyond it */
    enum sp_verdict verdict;
    bool fits;               /* the verdict is not no */
    struct sp_stage_map map; /* stages of one kind take the same time */
    struct sp_stage_time kind[SP_STAGE_KINDS];
    struct sp_stage_memory stage[SP_MAX_STAGES];
};

/* The verdict on a plan whose fullest device needs `device` bytes, on the machine and under the
 * framework of the inputs. */
enum sp_verdict sp_plan_verdict(const struct sp_step_inputs *in, double device);

/* Step time (s) of a plan and the memory of its fullest stage, equal to the results of sp_estimate.
 * The plan must pass sp_check_plan. */
double sp_evaluate(const struct sp_step_inputs *in, struct sp_stage_memory *memory);

/* Number of tasks of the plan's simulated schedule; 0 if it cannot be simulated or exceeds
 * SP_MOST_PLAYED_TASKS. */
enum { SP_MOST_PLAYED_TASKS = 200000 };
int64_t sp_tasks_of_plan(const struct sp_plan *plan);

/* Simulates the plan's schedule with the estimate's stage times, without sends, into `tasks` (room
 * for sp_tasks_of_plan). The plan must have tasks by sp_tasks_of_plan. */
bool sp_play_plan(const struct sp_plan *plan, const struct sp_estimate *estimate,
                  struct sp_task *tasks, struct sp_played *played);

/* Estimates a plan. The plan must pass sp_check_plan. `tasks` has room for sp_tasks_of_plan; with
 * NULL the schedule is not simulated. */
void sp_estimate(const struct sp_step_inputs *in, enum sp_flop_convention convention,
                 struct sp_task *tasks, struct sp_estimate *estimate);

/* What an estimate has besides its times and its fullest stage, and many callers do not need: the
 * 80 % range, which takes up to ten more steps; the rates, the gradient buckets, the memory of each
 * stage. */
enum { SP_WITH_RANGE = 1, SP_WITH_RATES = 2, SP_WITH_BUCKETS = 4, SP_WITH_STAGES = 8 };

/* The same with these parts only: without them `range`, `low_s`, `high_s` and the rates are NAN,
 * the buckets do not exist, and `stage` is not set. The plan must pass sp_check_plan. */
void sp_estimate_parts(const struct sp_step_inputs *in, enum sp_flop_convention convention,
                       unsigned parts, struct sp_task *tasks, struct sp_estimate *estimate);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
