/* The step: layers, stages, schedule, optimizer, stragglers. */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/forms.h>

#include "core/step/step_internal.h"
#include "core/require.h"

static double ideal_s(const struct sp_step_inputs *in, const struct sp_params *params)
{
    const struct sp_plan *p = in->plan;
    const double tokens = (double)p->batch * (double)p->seq;
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, p->dtype);
    return sp_step_ideal(sp_tuning_flops(params, tokens), (double)sp_plan_devices(p),
                         in->hw->chip.peak_flops_per_s[dtype]);
}

double sp_ideal_step_s(const struct sp_step_inputs *in)
{
    const struct sp_params params = sp_count_params(in->model);
    const struct sp_params worked = sp_worked_params(in->model, &params, (double)in->plan->seq);
    return ideal_s(in, &worked);
}

/* Forward times of the two ends. Parts without a backward pass count a third, because the sum is
 * tripled later. */
static struct sp_ends_time time_of_ends(const struct sp_step_inputs *in,
                                        const struct sp_rank_layers *mine)
{
    const struct sp_layers *const layers = mine->layers;
    const struct sp_layer *const first = &layers->list[SP_LAYER_INPUT];
    const struct sp_rank rank = sp_rank_of_layer(&mine->rank, first, (double)in->plan->seq);
    const bool no_table = layers->still[SP_LAYER_INPUT] > 0,
               no_head = layers->still[SP_LAYER_OUTPUT] > 0;
    struct sp_layer_time input, output;
    sp_time_of_layer(in, &rank, first, &input);
    sp_time_of_layer(in, &mine->rank, &layers->list[SP_LAYER_OUTPUT], &output);
    const double head = output.of[SP_OP_OUT], loss = output.of[SP_OP_NORMS],
                 embedding = input.of[SP_OP_NORMS] + input.of[SP_OP_OUT];
    return (struct sp_ends_time){.embedding = no_table ? embedding / 3 : embedding,
                                 .head = head,
                                 .frozen_head = no_head ? 2 * head : output.frozen,
                                 .loss = no_head ? loss / 3 : loss};
}

void sp_prepare_step(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                     struct sp_prepared *p)
{
    const double nodes = (double)sp_chips(in->hw) / 8;
    const struct sp_layers *const layers = mine->layers;
    const struct sp_params worked =
        sp_worked_params(in->model, &layers->params, (double)in->plan->seq);
    const struct sp_shares again = sp_repeated_shares(&in->plan->recompute, in->framework);
    p->ends = time_of_ends(in, mine);
    p->weights = &mine->weights;
    p->ideal_s = ideal_s(in, &worked);
    p->straggler = constant(in, SP_C_STRAGGLER) * log2(1 + nodes);
    p->present = sp_kinds_of(layers);
    for (unsigned left = p->present; left;) {
        const int kind = sp_take_kind(&left);
        p->layers[kind] = layers->count[kind];
        p->still[kind] = layers->still[kind];
        p->layer[kind] = sp_pass_layer(in, &mine->rank, &layers->list[kind], &again);
        p->orthogonal[kind] = sp_orthogonal_flops(in, &layers->list[kind]);
        if (layers->list[kind].frozen) {
            p->layer[kind] = sp_forward_alone(&p->layer[kind]);
            p->still[kind] = 0;
        }
    }
}

static void add_layers(struct sp_stage_time *s, const struct sp_layer_pass *p, double layers)
{
    s->matmul += layers * p->matmul;
    s->attention += layers * p->attention;
    s->elementwise += layers * p->elementwise;
    s->recompute += layers * p->recompute;
    s->launch += layers * p->launch;
    s->offload += layers * p->offload;
    s->tp_comm += layers * p->tp_comm;
    s->cp_comm += layers * p->cp_comm;
    s->ep_comm += layers * p->ep_comm;
    s->weight_grad += layers * p->weight_grad;
    s->frozen += layers * p->frozen;
    s->uneven += layers * p->uneven;
}

/* Adds layers of a kind, `still` of them without a backward pass. */
static void add_kind(struct sp_stage_time *s, const struct sp_layer_pass *p, double layers,
                     double still)
{
    add_layers(s, p, layers - still);
    if (still > 0) {
        const struct sp_layer_pass alone = sp_forward_alone(p);
        add_layers(s, &alone, still);
    }
}

static double busy_of(const struct sp_stage_time *s)
{
    return s->matmul + s->attention + s->elementwise + s->recompute + s->launch + s->offload +
           s->tp_comm + s->cp_comm + s->ep_comm;
}

/* Heads with their losses: the model's, and those of modules for further tokens, which are in a
 * module's time but on the last stage wherever the modules are. */
static void add_heads(const struct sp_prepared *prepared, const struct sp_stage_kind *kind,
                      struct sp_stage_time *time)
{
    const struct sp_ends_time *const ends = &prepared->ends;
    const bool has_modules = prepared->present >> SP_LAYER_MTP & 1;
    const double here = (double)kind->layers.of[SP_LAYER_MTP],
                 all = has_modules ? prepared->layers[SP_LAYER_MTP] : 0;
    const double heads = (kind->last ? 1 + all : 0) - here;
    if (heads == 0)
        return;
    time->matmul += heads * (3 * ends->head - ends->frozen_head);
    time->weight_grad += heads * sp_larger(ends->head - ends->frozen_head, 0);
    time->frozen += heads * ends->frozen_head;
    time->elementwise += heads * 3 * ends->loss;
}

void sp_time_of_kind(const struct sp_prepared *prepared, const struct sp_stage_kind *kind,
                     struct sp_kind_time *k)
{
    const struct sp_ends_time *const ends = &prepared->ends;
    struct sp_stage_time *const time = &k->time;
    k->weights = sp_weights_of_kind(prepared->weights, kind);
    *time = (struct sp_stage_time){0};
    k->orthogonal = (struct sp_orthogonal){0};
    for (unsigned left = kind->present; left;) {
        const int i = sp_take_kind(&left);
        sp_add_orthogonal(&k->orthogonal, &prepared->orthogonal[i],
                          (double)(kind->layers.of[i] - kind->still.of[i]));
        add_kind(time, &prepared->layer[i], (double)kind->layers.of[i], (double)kind->still.of[i]);
    }
    if (kind->first)
        time->elementwise += 3 * ends->embedding;
    add_heads(prepared, kind, time);
    k->busy_s = busy_of(time);
}

void sp_stage_times(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                    const struct sp_stage_map *map, struct sp_staged *staged)
{
    for (int i = 0; i < map->kinds; i++)
        sp_time_of_kind(prepared, &map->kind[i], &staged->kind[i]);
    staged->hop_s = sp_stage_hop_s(in);
}

/* Splits a stage's time; `without_grads` is its time without weight gradients, which zero-bubble
 * schedules move into gaps. */
static struct sp_passes split(const struct sp_kind_time *kind, double all, double without_grads)
{
    const double forward = (all - kind->time.recompute + kind->time.frozen) / 3;
    return (struct sp_passes){forward, all - forward, all - without_grads, 0, 0};
}

/* Additional attention of the busiest replica. */
static double wait_s(const struct sp_step_inputs *in, const struct sp_kind_time *kind)
{
    return in->model->documents ? (sp_busiest_replica(in) - 1) * kind->time.uneven : 0;
}

/* ZeRO 3 over one rank equals ZeRO 0, buffers included. */
static struct sp_passes without_shards(const struct sp_kind_time *kind, double wait)
{
    const double all = kind->busy_s + wait;
    struct sp_passes passes = split(kind, all, all - kind->time.weight_grad);
    passes.wait = wait;
    return passes;
}

/* Bytes per reduced gradient: the framework's, else 2 with ZeRO 3 and otherwise as the recipe
 * stores them; gradients that a recipe does not store are still sent in 2. */
static double reduced_bytes(const struct sp_step_inputs *in)
{
    const double stored = in->plan->zero < 3 ? in->precision->grad_bytes : 0;
    const double stated = in->framework->reduced_gradient_bytes;
    return stated > 0 ? stated : stored > 0 ? stored : SP_ELEMENT;
}

/* Bytes per gathered weight: 1 if matmuls take it in 8 bits and the framework casts before
 * sending. */
static double gathered_bytes(const struct sp_step_inputs *in)
{
    const bool narrow = sp_dtypes[in->plan->dtype].bytes < 2 && in->framework->fp8_gathers;
    return narrow ? 1 : sp_smaller(SP_ELEMENT, in->precision->weight_bytes);
}

/* Bytes per stage moved by ZeRO 3: all weights for each of two passes (once in layers without a
 * backward pass), a quantised base as stored if smaller, and gradients of trained weights. Dettmers
 * and Gugger 2024 ("FSDP-QLoRA") gather packed weights. */
static struct sp_stage_weights moved_bytes(const struct sp_step_inputs *in,
                                           const struct sp_kind_time *kind)
{
    const struct sp_stage_weights *const all = &kind->weights.held, *const some =
                                                                        &kind->weights.trained;
    const double once = gathered_bytes(in), gathers = 2 * once;
    const double passes = in->model->tuning.trainable == SP_TRAIN_LAST ? 1 : 2;
    const double grads = reduced_bytes(in);
    const double less = passes * sp_larger(once - sp_base_bytes(in->model), 0);
    const double dense = all->dense > 0 ? some->dense / all->dense : 1,
                 experts = all->experts > 0 ? some->experts / all->experts : 1;
    return (struct sp_stage_weights){
        all->dense * (gathers + grads * dense) - once * kind->weights.still.dense -
            less * kind->weights.base.dense,
        all->experts * (gathers + grads * experts) - once * kind->weights.still.experts -
            less * kind->weights.base.experts};
}

/* Whether every pass of a micro-batch gathers weights: with ZeRO 3, unless the framework keeps
 * stages whole. */
static bool gathers_each(const struct sp_step_inputs *in)
{
    const struct sp_plan *const p = in->plan;
    return p->zero >= 3 && !(in->framework->keeps_stages_whole && p->pp > 1);
}

/* With ZeRO 3 every pass gathers weights, and the backward pass also reduces gradients. */
struct sp_passes sp_passes_of(const struct sp_step_inputs *in, const struct sp_kind_time *kind)
{
    const double wait = wait_s(in, kind), busy = kind->busy_s + wait;
    if (!gathers_each(in))
        return without_shards(kind, wait);
    const struct sp_stage_weights moved = moved_bytes(in, kind);
    const double comm = sp_shards_s(in, &moved, 1);
    const double exposed = sp_exposed_s(in, comm, busy);
    /* gathers for the next pass use the gaps that weight gradients would fill */
    struct sp_passes passes = split(kind, busy + exposed, busy + exposed);
    passes.fsdp_comm = exposed;
    passes.wait = wait;
    return passes;
}

struct sp_stage_time sp_sharded_kind(const struct sp_step_inputs *in,
                                     const struct sp_kind_time *kind)
{
    const struct sp_passes passes = sp_passes_of(in, kind);
    struct sp_stage_time s = kind->time;
    s.fsdp_comm = passes.fsdp_comm;
    s.forward = passes.forward;
    s.backward = passes.backward;
    s.weight_grad = passes.weight_grad;
    return s;
}

/* Idle time per other stage by the closed form if all stages equal this one. Zero-bubble schedules
 * fill gaps with the time that weight gradients add to the step, not with a third of the matmuls:
 * work hidden behind launches or copies shortens nothing. With ZeRO 3 the next gathers use the
 * gaps. Otherwise a faster chip could lengthen a step. */
double sp_idle_per_stage(const struct sp_plan *p, int64_t m, const struct sp_passes *stage)
{
    const struct sp_pipeline equal = {.schedule = p->schedule,
                                      .stages = p->pp,
                                      .microbatches = m,
                                      .chunks = p->vpp,
                                      .forward_s = stage->forward,
                                      .backward_s = stage->backward,
                                      .weight_grad_s = stage->weight_grad};
    const double times = sp_schedules[p->schedule].divided ? 1 : (double)m;
    return times * sp_larger(0, sp_bubble_s(&equal)) / (double)(p->pp - 1);
}

static double all_of(const struct sp_passes *s)
{
    return s->forward + s->backward;
}

/* Makespan without sends, and the kind of stage that sets it. By closed form a stage works m times,
 * and filling and draining pass the other, possibly lighter, stages; the stage with the largest sum
 * counts. */
static double pipeline_s(const struct sp_step_inputs *in, const struct sp_stage_map *map,
                         const struct sp_passes *kind, int *slowest)
{
    const struct sp_plan *p = in->plan;
    const int64_t m = sp_plan_microbatches(p), stages = map->stages;
    double forward[SP_MAX_STAGES], backward[SP_MAX_STAGES], idle[SP_STAGE_KINDS], sum = 0;
    const bool exact = sp_schedules[p->schedule].exact;
    *slowest = 0;
    idle[0] = 0;
    for (int i = 0; i < map->kinds; i++) {
        idle[i] = stages > 1 && !exact ? sp_idle_per_stage(p, m, &kind[i]) : 0;
        if ((double)m * all_of(&kind[i]) - idle[i] >
            (double)m * all_of(&kind[*slowest]) - idle[*slowest])
            *slowest = i;
    }
    if (exact && stages > 1) {
        for (int64_t stage = 0; stage < stages; stage++) {
            forward[stage] = kind[map->of[stage]].forward;
            backward[stage] = kind[map->of[stage]].backward;
        }
        return sp_uneven_pipeline_s(p->schedule, forward, backward, stages, m);
    }
    for (int64_t stage = 0; stage < stages; stage++)
        sum += idle[map->of[stage]];
    return (double)m * all_of(&kind[*slowest]) + (sum - idle[*slowest]);
}

/* Whether gradients are reduced after every micro-batch: with ZeRO 2, where no rank keeps all
 * gradients, if dense weights or experts are shared. ZeRO 0 and 1 reduce once per step. */
static bool reduces_each(const struct sp_step_inputs *in)
{
    const struct sp_plan *const p = in->plan;
    const int64_t ranks = p->dp * p->cp;
    const bool experts = in->model->moe.experts > 0 && ranks * p->tp > p->ep * p->etp;
    return p->zero == 2 && (ranks > 1 || experts);
}

/* Micro-batches whose work overlaps the reduction of gradients and the gathering of weights. A
 * chunk's gradients are complete after its last backward pass: with v chunks on p stages the first
 * chunk is ready p (v - 1) / v micro-batches before the end, and the last chunk's weights are
 * needed that much after the start; the last chunk overlaps its own share of a micro-batch.
 * Narayanan et al. 2021, section 2.2, for the order of chunks. */
static double dp_window(const struct sp_step_inputs *in, double m)
{
    const struct sp_plan *const p = in->plan;
    const double v = (double)p->vpp;
    return sp_smaller(m, p->vpp > 1 && !reduces_each(in) ? (double)p->pp * (v - 1) / v + 1 / v : 1);
}

/* Gradients and weights with ZeRO 0 to 2, over slices and HSDP groups. Once per step, but per
 * micro-batch with ZeRO 2, where no rank keeps all gradients. `hides`: time of a micro-batch;
 * `held`: trained parameters; `whole`: all. */
static double dp_comm_of(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                         const struct sp_stage_weights *whole, double hides, double m)
{
    const struct sp_plan *p = in->plan;
    const double window = dp_window(in, m) * hides;
    if (gathers_each(in))
        return sp_exposed_s(in, sp_replicas_s(in, held, reduced_bytes(in)), window);
    if (p->zero >= 3) /* a stage kept whole accumulates and reduces gradients in 4 bytes */
        return sp_exposed_s(in,
                            sp_shards_s(in, whole, gathered_bytes(in)) + sp_shards_s(in, held, 4) +
                                sp_replicas_s(in, held, reduced_bytes(in)),
                            window);
    /* without ZeRO gradients return */
    const double grad_bytes = reduced_bytes(in);
    const double grads = sp_shards_s(in, held, grad_bytes),
                 weights = sp_shards_s(in, held, p->zero == 0 ? grad_bytes : gathered_bytes(in)),
                 replicas = sp_replicas_s(in, held, grad_bytes);
    const double sent = p->zero > 0 ? sp_broadcasts_s(in) : 0;
    const double before = p->zero == 2 ? (m - 1) * sp_exposed_s(in, grads, hides) : 0;
    const double all = replicas + grads + weights + sent;
    const enum sp_dp_overlap hidden = sp_dp_overlap(p);
    const bool waits = hidden == SP_DP_OVERLAP_GRADIENTS && p->zero == 1;
    const double after = hidden == SP_DP_OVERLAP_NONE ? all : waits ? weights + sent : 0;
    return before + sp_exposed_s(in, all - after, window) + after;
}

static double sum_of(const struct sp_step_time *t)
{
    return t->matmul + t->attention + t->elementwise + t->recompute + t->launch + t->offload +
           t->tp_comm + t->cp_comm + t->ep_comm + t->dp_comm + t->pp_comm + t->bubble +
           t->optimizer;
}

/* Multiplies all parts by the factor that the machine's own runs give such plans. */
static void scale_parts(struct sp_step_time *t, double factor)
{
    double *const part[] = {&t->matmul,  &t->attention, &t->elementwise, &t->recompute, &t->launch,
                            &t->offload, &t->tp_comm,   &t->cp_comm,     &t->ep_comm,   &t->dp_comm,
                            &t->pp_comm, &t->bubble,    &t->optimizer,   &t->straggler};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i] *= factor;
}

/* The end of a step: gradients and weights over the network, and the optimizer. */
struct update {
    double dp_comm, optimizer;
};

static bool has_as_many(const struct sp_stage_weights *one, const struct sp_stage_weights *other)
{
    return one->dense >= other->dense && one->experts >= other->experts;
}

/* Whether another stage has at least as many weights of both kinds, trained and held, and so is as
 * slow. */
static bool is_covered(const struct sp_stage_map *map, const struct sp_staged *staged, int kind)
{
    const struct sp_kind_weights *const mine = &staged->kind[kind].weights;
    for (int i = 0; i < map->kinds; i++) {
        const struct sp_kind_weights *const other = &staged->kind[i].weights;
        const bool covers =
            has_as_many(&other->trained, &mine->trained) && has_as_many(&other->held, &mine->held);
        const bool equal = covers && has_as_many(&mine->trained, &other->trained) &&
                           has_as_many(&mine->held, &other->held);
        if (covers && (!equal || i < kind))
            return true;
    }
    return false;
}

/* The work that ends the step on one stage. A DualPipe device has two stages, whose other copies
 * are ranks of the same DP group. */
static struct update update_of_kind(const struct sp_step_inputs *in,
                                    const struct sp_kind_time *kind, double a_microbatch, double m)
{
    const double copies = sp_schedules[in->plan->schedule].copies;
    const struct sp_stage_weights trained = {copies * kind->weights.trained.dense,
                                             copies * kind->weights.trained.experts};
    const struct sp_stage_weights whole = {copies * kind->weights.held.dense,
                                           copies * kind->weights.held.experts};
    return (struct update){
        dp_comm_of(in, &trained, &whole, a_microbatch, m),
        (in->plan->zero > 0 ? 1 : copies) *
            (sp_optimizer_s(in, &kind->weights.trained) + sp_orthogonal_s(in, kind))};
}

double sp_update_s(const struct sp_step_inputs *in, const struct sp_kind_time *kind,
                   double pipeline)
{
    const double m = (double)sp_plan_microbatches(in->plan);
    const struct update update = update_of_kind(in, kind, pipeline / m, m);
    return update.dp_comm + update.optimizer;
}

/* The longest update of a stage, which ends the step. */
static struct update update_of(const struct sp_step_inputs *in, const struct sp_stage_map *map,
                               const struct sp_staged *staged, double a_microbatch, double m)
{
    struct update slowest = {0, 0};
    for (int i = 0; i < map->kinds; i++) {
        if (is_covered(map, staged, i))
            continue;
        const struct update update = update_of_kind(in, &staged->kind[i], a_microbatch, m);
        if (update.dp_comm + update.optimizer > slowest.dp_comm + slowest.optimizer)
            slowest = update;
    }
    return slowest;
}

/* Work that can overlap sends: all micro-batches except those that overlap the gradient reduction.
 * Work overlaps one transfer at a time; otherwise a faster chip could lengthen a step. */
static double hides_sends_s(const struct sp_step_inputs *in, double pipeline, double m)
{
    const double taken = reduces_each(in) ? m : dp_window(in, m);
    return pipeline * (1 - taken / m);
}

/* Sends between stages: each micro-batch leaves each chunk once per pass, and the first and last
 * ones traverse the pipeline. If the framework overlaps sends and stages have several chunks, the
 * former hide behind the pipeline's work, except for the micro-batches that overlap the gradient
 * reduction. */
static double sends_s(const struct sp_step_inputs *in, double hop_s, double hides)
{
    const struct sp_plan *const p = in->plan;
    const double m = (double)sp_plan_microbatches(p);
    const bool forward_alone =
        in->model->tuning.trainable == SP_TRAIN_LAST && in->model->tuning.last == 0;
    const double passes = forward_alone ? 1 : 2;
    const double steady = passes * m * (double)p->vpp * hop_s;
    const bool hidden = in->framework->overlaps_sends && p->vpp > 1;
    if (p->pp <= 1)
        return 0;
    /* separate modules send their own states with the model's */
    const double beside = p->own.modules_apart ? (double)in->model->mtp_layers : 0;
    return (hidden ? sp_exposed_s(in, steady, hides) : steady) +
           passes * ((double)(p->pp - 1) + beside) * hop_s;
}

double sp_step_around_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                        double pipeline, double update)
{
    const double m = (double)sp_plan_microbatches(in->plan);
    const double sends = sends_s(in, sp_stage_hop_s(in), hides_sends_s(in, pipeline, m));
    return sp_larger(prepared->ideal_s, (pipeline + sends + update) * (1 + prepared->straggler));
}

struct sp_step_time sp_estimate_staged(const struct sp_step_inputs *in,
                                       const struct sp_prepared *prepared,
                                       const struct sp_stage_map *map,
                                       const struct sp_staged *staged)
{
    const struct sp_plan *p = in->plan;
    struct sp_passes kind[SP_STAGE_KINDS];
    kind[0] = (struct sp_passes){0, 0, 0, 0, 0};
    for (int i = 0; i < map->kinds; i++)
        kind[i] = sp_passes_of(in, &staged->kind[i]);
    int slowest;
    const double pipeline = pipeline_s(in, map, kind, &slowest);
    const struct sp_stage_time *const s = &staged->kind[slowest].time;
    const double m = (double)sp_plan_microbatches(p);
    const double bubble = sp_larger(0, pipeline - m * all_of(&kind[slowest])),
                 a_microbatch = pipeline / m;
    const struct update update = update_of(in, map, staged, a_microbatch, m);
    struct sp_step_time t = {
        .dp_comm = m * kind[slowest].fsdp_comm + update.dp_comm,
        .matmul = m * s->matmul,
        .attention = m * s->attention,
        .elementwise = m * s->elementwise,
        .recompute = m * s->recompute,
        .launch = m * s->launch,
        .offload = m * s->offload,
        .tp_comm = m * s->tp_comm,
        .cp_comm = m * s->cp_comm,
        .ep_comm = m * s->ep_comm,
        .pp_comm = sends_s(in, staged->hop_s, hides_sends_s(in, pipeline, m)),
        .bubble = bubble,
        .optimizer = update.optimizer,
    };
    const double wait = m * kind[slowest].wait;
    t.straggler = (sum_of(&t) + wait) * prepared->straggler + wait;
    if (sp_has_seen_runs(in->profile))
        scale_parts(&t, sp_seen_factor(in->profile, in->model, in->hw, p));
    const double step = sum_of(&t) + t.straggler;
    if (step < prepared->ideal_s) /* 6 P B counts tables as matmuls, which a step need not
                                     compute */
        t.launch += prepared->ideal_s - step;
    t.step = sp_step_of_parts(t.matmul, t.attention, t.elementwise, t.recompute, t.launch,
                              t.offload, t.tp_comm, t.cp_comm, t.ep_comm, t.dp_comm, t.pp_comm,
                              t.bubble, t.optimizer, t.straggler);
    return t;
}

struct sp_step_time sp_estimate_prepared(const struct sp_step_inputs *in,
                                         const struct sp_prepared *prepared)
{
    struct sp_stage_map map;
    struct sp_staged staged;
    const struct sp_stage_split split =
        sp_split_of(in->plan, (enum sp_balance)in->framework->balance);
    sp_map_stages(in->model, &split, &map);
    sp_stage_times(in, prepared, &map, &staged);
    return sp_estimate_staged(in, prepared, &map, &staged);
}

struct sp_step_time sp_estimate_listed(const struct sp_step_inputs *in,
                                       const struct sp_layers *layers)
{
    struct sp_rank_layers mine;
    struct sp_prepared prepared;
    sp_layers_on_rank(layers, in->plan, in->framework, &mine);
    sp_prepare_step(in, &mine, &prepared);
    return sp_estimate_prepared(in, &prepared);
}

struct sp_step_time sp_estimate_step(const struct sp_step_inputs *in)
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct sp_layers room;
    return sp_estimate_listed(in, sp_layers_of(in, &room));
}

/* A margin for sums in another order. */
static double bound(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                    double busy_s)
{
    const double least = sp_has_seen_runs(in->profile) ? sp_least_seen_factor(in->profile) : 1;
    return sp_larger(prepared->ideal_s, busy_s * (1 + prepared->straggler) * least) * (1 - 1e-9);
}

double sp_least_step_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared)
{
    const struct sp_plan *p = in->plan;
    struct sp_stage_time all = {0};
    for (unsigned left = prepared->present; left;) {
        const int kind = sp_take_kind(&left);
        add_kind(&all, &prepared->layer[kind], prepared->layers[kind], prepared->still[kind]);
    }
    const struct sp_ends_time *e = &prepared->ends;
    const double whole = busy_of(&all) + 3 * (e->embedding + e->head + e->loss) - e->frozen_head;
    /* m >= B / (dp b), and the slowest of pp stages does at least 1/pp of the work */
    const double replicas = (double)sp_plan_devices(p) / (double)(p->tp * p->cp);
    return bound(in, prepared, whole * (double)p->batch / ((double)p->micro_batch * replicas));
}

double sp_least_staged_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                         const struct sp_stage_map *map, const struct sp_staged *staged)
{
    double most = 0;
    for (int i = 0; i < map->kinds; i++)
        most = sp_larger(most, staged->kind[i].busy_s);
    return bound(in, prepared, most * (double)sp_plan_microbatches(in->plan));
}

double sp_least_flow_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                       const struct sp_stage_map *map, const struct sp_staged *staged)
{
    struct sp_passes kind[SP_STAGE_KINDS];
    kind[0] = (struct sp_passes){0, 0, 0, 0, 0};
    for (int i = 0; i < map->kinds; i++)
        kind[i] = without_shards(&staged->kind[i], 0);
    int slowest;
    const double pipeline = pipeline_s(in, map, kind, &slowest);
    return bound(in, prepared,
                 pipeline + sends_s(in, staged->hop_s, 1e30)); /* as if all work overlapped them */
}
