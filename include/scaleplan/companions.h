/* Models that work forward beside the one that is trained: the reference of preference tuning, the
 * teacher of distillation. */
#ifndef SCALEPLAN_COMPANIONS_H
#define SCALEPLAN_COMPANIONS_H

#include <scaleplan/flops.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
