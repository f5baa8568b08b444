/* A step of reinforcement learning, from the estimates of its sides. */
#include "study/rl.h"

#include <math.h>

#include <scaleplan/forms.h>

/* A constant of the framework, or its neutral value. */
static double constant(const struct sp_rl_asked *a, enum sp_rl_constant id)
{
    return a->ideal ? sp_rl_constants[id].without : sp_rl_constants[id].value;
}

/* The inputs of a step of another model on the same plan. */
static struct sp_step_inputs inputs_with(const struct sp_planned *p, const struct sp_model *model,
                                         const struct sp_plan *plan)
{
    struct sp_step_inputs in = sp_inputs_of(p);
    in.model = model;
    in.plan = plan;
    in.layers = NULL;
    return in;
}

/* A forward pass over the whole batch: replicas with fewer rows wait for those with one more. */
static double forward_s(const struct sp_rl_asked *a, const struct sp_model *model)
{
    struct sp_model still = sp_forward_model(model);
    still.documents = a->documents;
    struct sp_plan plan = sp_companion_plan(&still, &a->trained->plan);
    const double at_once = (double)(plan.dp * plan.micro_batch);
    plan.batch = (int64_t)(at_once * ceil(a->rows / at_once));
    plan.seq = (int64_t)a->row_tokens;
    const struct sp_step_inputs in = inputs_with(a->trained, &still, &plan);
    return constant(a, SP_RL_PASSES_CONSTANT) * sp_estimate_step(&in).step;
}

static double weights_on_device(const struct sp_rl_asked *a, const struct sp_model *model)
{
    const struct sp_plan plan = sp_companion_plan(model, &a->trained->plan);
    const struct sp_planned *const p = a->trained;
    return (double)sp_memory_of_stage(model, &p->precision, &plan, &p->framework.framework, 0)
        .params;
}

static double states_of(const struct sp_stage_memory *m)
{
    return (double)m->params + (double)m->grads + (double)m->optimizer;
}

/* The critic: its values of the batch, and as many optimizer steps as the policy. */
static void time_critic(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    struct sp_stage_memory memory;
    if (!a->critic)
        return;
    const struct sp_step_inputs in = inputs_with(a->trained, a->critic, &a->trained->plan);
    r->critic_step_s = constant(a, SP_RL_PASSES_CONSTANT) * sp_evaluate(&in, &memory);
    r->critic_values_s = forward_s(a, a->critic);
    r->part_s[SP_RL_CRITIC] = r->critic_values_s + r->passes * r->critic_step_s;
    r->states += states_of(&memory);
    r->memory_training += states_of(&memory);
}

/* All models that train, and those that do not. */
static void time_training(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    const struct sp_model *const beside[] = {a->reference, a->reward};
    static const enum sp_rl_part parts[] = {SP_RL_REFERENCE, SP_RL_REWARD};
    double away = 0; /* frozen models wait on the hosts, and work in the activations' room */
    r->host_bandwidth =
        constant(a, SP_RL_SLEEP_CONSTANT) * sp_host_bytes_per_s(&a->trained->hw.chip);
    sp_estimate_planned(a->trained, SP_FLOPS_6P, SP_WITH_RANGE, &r->training);
    r->passes = a->epochs * a->minibatches;
    r->states = states_of(&r->training.memory);
    r->memory_training = (double)r->training.memory.device;
    r->passes_longer = constant(a, SP_RL_PASSES_CONSTANT);
    r->part_s[SP_RL_UPDATE] =
        sp_rl_update_s(r->passes_longer, a->epochs, a->minibatches, r->training.time.step);
    r->part_s[SP_RL_LOGPROB] = forward_s(a, &a->trained->model);
    for (int i = 0; i < 2; i++) {
        if (!beside[i])
            continue;
        const double weights = weights_on_device(a, beside[i]);
        r->part_s[parts[i]] = forward_s(a, beside[i]) + weights / r->host_bandwidth;
        away = fmax(away, weights);
        r->frozen += a->without[parts[i]] ? 0 : weights;
    }
    r->memory_training += fmax(0, away - (double)r->training.memory.activations);
    time_critic(a, r);
}

/* Room of an engine for answers, beside states that do not sleep. */
static double places_of(const struct sp_rl_asked *a, const struct sp_rl_answer *r)
{
    struct sp_served served = a->instance->served;
    const struct sp_service *const s = &served.service;
    const double hbm = sp_capacity_bytes(&s->hw->chip);
    if (a->colocated && a->sleep != SP_RL_SLEEP_BOTH)
        served.capacity = fmin(served.capacity, s->chips * (hbm - r->states));
    return sp_most_sequences(&served);
}

/* Slots for answers that start together: as many as have room when they are longest. If there
 * are fewer slots than answers, waiting answers take the slots of finished ones. */
static void place_answers(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    const struct sp_service *const s = &a->instance->served.service;
    for (int refilled = 0; refilled < 2; refilled++) {
        r->crowding = sp_crowding(s, &a->output, refilled);
        r->at_start = fmax(1, floor(r->places / r->crowding));
        if (r->answers_each <= r->at_start)
            return;
    }
}

static struct sp_rollout rollout_of(const struct sp_rl_asked *a, const struct sp_rl_answer *r)
{
    return (struct sp_rollout){.instance = a->instance,
                               .load = a->load,
                               .output = &a->output,
                               .answers = r->answers_each,
                               .engines = fmin(a->engines, r->answers),
                               .at_once = r->at_start,
                               .most = fmax(1, r->places),
                               .longer = constant(a, SP_RL_GENERATION_CONSTANT),
                               .most_queued = r->answers_each * (1 + a->stale),
                               .read_again =
                                   a->partial ? a->instance->served.service.step_tokens : 0};
}

/* Generation of this batch by itself, and by engines that are kept full. */
static void time_generation(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    r->answers = sp_rl_answers(a->prompts, a->group, a->kept);
    r->answers_each = r->answers / a->engines;
    r->places = places_of(a, r);
    place_answers(a, r);
    const struct sp_rollout rollout = rollout_of(a, r);
    sp_time_rollout(&rollout, &r->rollout);
    r->work_s = r->rollout.work_s;
    r->generation_longer = rollout.longer;
    r->part_s[SP_RL_GENERATION] = r->rollout.batch_s;
    if (a->partial)
        r->part_s[SP_RL_GENERATION] = fmin(r->part_s[SP_RL_GENERATION], r->work_s);
}

/* Links by which new weights enter or leave: those of a host, whose chips pass them on to each
 * other, or of a chip that takes its own part. */
static double links_of(const struct sp_hardware *hw, const struct sp_rl_asked *a, double chips)
{
    const double host = a->refit_parts ? 1 : (double)sp_chips_per_host(&hw->network);
    return sp_instance_egress_bytes_per_s(hw, fmin(host, chips), a->devices);
}

/* Number of weight matrices that a chip loads. Checkpoints name each expert's own: all of them, or
 * with `parts` those of the chip's stage and of its experts. */
static double weight_matrices(const struct sp_service *s, bool parts)
{
    const struct sp_serve_plan plan = sp_serve_plan_of(s);
    const double ep = parts ? plan.ep : 1, pp = parts ? plan.pp : 1;
    struct sp_layers layers;
    double sum = 0;
    if (!sp_model_has_shape(s->model))
        return 0;
    sp_list_model(s->model, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        for (int i = 0; layers.count[kind] > 0 && i < layers.list[kind].matmuls; i++) {
            const struct sp_matmul *const m = &layers.list[kind].matmul[i];
            sum += (double)layers.count[kind] * m->count / (m->part == SP_PART_EXPERTS ? ep : 1);
        }
    return sum / pp;
}

/* Weights to the engines, and states to the host and back. */
static void time_moves(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    const struct sp_served *const v = &a->instance->served;
    const struct sp_hardware *const hw = v->service.hw, *const from = &a->trained->hw;
    const bool sleeps = a->colocated && a->sleep == SP_RL_SLEEP_BOTH;
    r->refit_bytes = sp_rl_refit_bytes(v->weights, a->refit_parts ? v->service.chips : 1);
    r->refit_bandwidth = a->refit_bandwidth;
    if (isnan(r->refit_bandwidth))
        r->refit_bandwidth = fmin(links_of(hw, a, a->engines * v->service.chips),
                                  links_of(from, a, (double)sp_chips(from)));
    r->tensors = weight_matrices(&v->service, a->refit_parts);
    r->tensor_s = constant(a, a->colocated ? SP_RL_TENSOR_CONSTANT : SP_RL_TENSOR_APART_CONSTANT);
    r->part_s[SP_RL_REFIT] =
        sp_rl_refit_s(r->refit_bytes, r->refit_bandwidth, r->tensors, r->tensor_s);
    r->sleeping = sleeps ? r->states : 0;
    r->part_s[SP_RL_WAKE] = sleeps ? sp_rl_wake_s(r->states, r->host_bandwidth) : 0;
    r->devices_per_host = fmin((double)sp_chips_per_host(&from->network), (double)sp_chips(from));
    r->host_bytes = sp_rl_host_bytes(r->devices_per_host, r->sleeping, r->frozen);
    r->host_room = from->network.host_memory_bytes > 0 ? from->network.host_memory_bytes : 0;
    r->host_holds = r->host_room == 0 || r->host_bytes <= r->host_room;
}

/* Cache of an engine at its peak: of answers that started together, or, of those that wait for no
 * training, of as many as keep it full. */
static double cache_of(const struct sp_rl_asked *a, const struct sp_rl_answer *r)
{
    const double each = fmax(0, a->instance->served.kv_held);
    const double together = sp_cache_held(r->rollout.at_once, r->crowding * each);
    return a->stale > 0 || a->partial ? fmax(together, sp_cache_held(r->rollout.full, each))
                                      : together;
}

static void hold(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    const struct sp_served *const v = &a->instance->served;
    const struct sp_service *const s = &v->service;
    r->capacity = r->training.capacity_bytes;
    r->memory_generation = (v->weights + cache_of(a, r)) / s->chips + s->buffer_bytes;
    const double engine = r->memory_generation;
    const double awake =
        a->colocated && a->sleep == SP_RL_SLEEP_ENGINE ? r->states + engine : engine;
    r->memory_both = a->colocated && a->sleep == SP_RL_SLEEP_NONE
                         ? sp_rl_memory_together(r->memory_training, engine)
                         : sp_rl_memory_apart(r->memory_training, awake);
    r->fits = r->host_holds && r->places >= 1 && engine <= sp_capacity_bytes(&s->hw->chip) &&
              r->memory_training <= r->training.limit_bytes &&
              (!a->colocated || r->memory_both <= r->capacity);
}

/* The step if generation and training take these factors longer. */
static double together_s(const struct sp_rl_asked *a, const struct sp_rl_answer *r, double longer,
                         double trains_longer)
{
    const double generation = longer * (a->colocated ? r->part_s[SP_RL_GENERATION] : r->latency_s);
    const double training = trains_longer * r->training_s, refit = r->part_s[SP_RL_REFIT];
    return a->colocated ? sp_rl_colocated_s(generation, training, refit, r->part_s[SP_RL_WAKE],
                                            a->overhead_s)
                        : sp_rl_split_s(longer * r->work_s, generation, training, refit, a->stale,
                                        a->overhead_s);
}

/* Answers of the steps by which generation is ahead run alongside those of a batch, as many as
 * finish in the time of one (Little 1961), and slow it down: the step and the answers in it are
 * solved together. */
static void settle_latency(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    enum { ROUNDS = 40 };
    const struct sp_rollout rollout = rollout_of(a, r);
    const double alone = r->part_s[SP_RL_GENERATION];
    r->beside = r->rollout.full;
    r->latency_s = alone;
    for (int i = 0; i < ROUNDS && a->stale > 0 && !a->partial && alone > 0; i++) {
        const struct sp_rollout_pace p = sp_pace_rollout(&rollout, r->rollout.longest, r->beside);
        r->latency_s = fmax(alone, p.latency_s);
        const double through = r->answers_each / together_s(a, r, 1, 1) * p.answer_s;
        r->beside = (r->beside + fmin(r->rollout.full, through)) / 2;
    }
}

void sp_estimate_rl(const struct sp_rl_asked *a, struct sp_rl_answer *r)
{
    *r = (struct sp_rl_answer){.low_s = NAN};
    time_training(a, r);
    time_generation(a, r);
    time_moves(a, r);
    hold(a, r);
    for (int part = 0; part < SP_RL_PARTS; part++)
        if (a->without[part])
            r->part_s[part] = 0;
    if (a->without[SP_RL_GENERATION])
        r->work_s = 0;
    r->training_s =
        sp_rl_training_s(r->part_s[SP_RL_LOGPROB], r->part_s[SP_RL_REFERENCE],
                         r->part_s[SP_RL_CRITIC], r->part_s[SP_RL_REWARD], r->part_s[SP_RL_UPDATE]);
    const double width =
        a->serving
            ? sp_serving_range_log(a->serving, a->instance->served.service.model, SP_LATENCY_TPOT)
            : NAN;
    settle_latency(a, r);
    r->step_s = together_s(a, r, 1, 1);
    r->low_s = together_s(a, r, exp(-width), exp(-r->training.range));
    r->high_s = together_s(a, r, exp(width), exp(r->training.range));
    if (!a->ideal) { /* the measured steps tell more than both sides do */
        r->low_s = fmin(r->low_s, r->step_s * exp(-SP_RL_RANGE_LOG));
        r->high_s = fmax(r->high_s, r->step_s * exp(SP_RL_RANGE_LOG));
    }
    r->exposed_s = a->colocated ? r->part_s[SP_RL_GENERATION]
                                : sp_rl_exposed_s(r->work_s, r->latency_s, r->training_s,
                                                  r->part_s[SP_RL_REFIT], a->stale, a->overhead_s);
}
