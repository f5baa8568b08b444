/* Peak memory of a device under a plan. */
#include <math.h>

#include <scaleplan/forms.h>

#include "core/layers/layer_rank.h"
#include "core/memory/allocator_slack.h"
#include "core/memory/loss_memory.h"
#include "core/smooth.h"
#include "core/require.h"

/* Bytes of other ranks' keys and values in the backward pass of a layer's attention, with their
 * gradients. A gather holds those of all ranks, or of one KV head and the next; a ring sends some
 * while others arrive. Ulysses keeps the exchanged tensors, and for a while their gradients in
 * another layout. */
static double context_bytes(const struct sp_layer *l, const struct sp_rank *rank,
                            const struct sp_plan *plan, const struct sp_framework *framework)
{
    const struct sp_mixer *const x = &l->mixer;
    const double others = (double)plan->cp - 1, T = rank->tokens[SP_BY_NOTHING];
    const double heads = sp_groups_of_rank(x->kv_heads, rank->tp);
    const double kv = T * heads * (x->qk + x->v), grads = framework->ring_grad_bytes * kv;
    if (plan->cp <= 1 || x->qk <= 0)
        return 0;
    if (plan->execution.cp_kind == SP_CP_RING || plan->execution.cp_kind == SP_CP_DYNAMIC)
        return 2 * (SP_ELEMENT * kv + grads);
    if (plan->execution.cp_kind == SP_CP_ULYSSES)
        return SP_ELEMENT * (rank->tokens[SP_BY_WIDTH] * x->heads * (x->qk + x->v) + kv);
    switch ((enum sp_cp_gather)framework->cp_gather) {
    case SP_CP_GATHER_BLOCKS:
        return others * SP_ELEMENT * kv + 2 * grads;
    case SP_CP_GATHER_HEADS:
        return others * SP_ELEMENT * 2 * 2 * kv / heads;
    default:
        return others * SP_ELEMENT * 2 * kv;
    }
}

/* Bytes that a layer's backward pass needs besides kept activations, and besides tensors that
 * are recomputed or fetched from the host: gradients of the MLP, or attention's tensors of other
 * ranks. */
static double backward_bytes(const struct sp_layer *l, const struct sp_rank *rank,
                             const struct sp_plan *plan, const struct sp_framework *framework)
{
    const bool gathers = plan->sequence_parallel && plan->tp > 1;
    const double gathered = gathers ? rank->tokens[SP_BY_NOTHING] * l->width : 0;
    double elements = 0;
    for (int i = 0; i < l->n_kept; i++)
        if (l->kept[i].gradient)
            elements += l->kept[i].width * rank->tokens[SP_BY_WIDTH];
    return SP_ELEMENT * gathered +
           sp_larger(SP_ELEMENT * elements, context_bytes(l, rank, plan, framework));
}

/* 16-bit copies of a list's largest quantised matmul, made at each use and dropped after it.
 * Dettmers et al. 2023, "QLoRA", section 3. */
static double widened_bytes(const struct sp_model *model, const struct sp_layer *l,
                            const struct sp_plan *plan, const struct sp_framework *framework)
{
    double largest = 0;
    if (sp_base_bytes(model) >= SP_ELEMENT)
        return 0;
    for (int i = 0; i < l->matmuls; i++) {
        const struct sp_matmul *const m = &l->matmul[i];
        const double columns = m->target == SP_LORA_GATE ? m->piece[0] : m->out;
        const double ranks = (double)(m->part == SP_PART_EXPERTS ? plan->etp : plan->tp);
        largest = sp_larger(largest, m->base && m->frozen ? m->in * columns / ranks : 0);
    }
    return SP_ELEMENT * sp_larger(framework->widened_copies, 1) * largest;
}

/* Unsharded bytes per layer parameter under ZeRO 3. For an unknown framework, the least that
 * overlaps communication: the current layer, the next one, and a layer's 2-byte gradients until
 * they are reduced. */
static double bytes_gathered_of_layer(const struct sp_framework *framework)
{
    return framework->gathered_layers > 0 ? SP_ELEMENT * sp_larger(framework->gathered_layers, 1) +
                                                4 * framework->gathered_grads
                                          : 2 * SP_ELEMENT + SP_ELEMENT;
}

/* Gathered layers live at once; two by default, because gathers and reductions overlap another
 * layer. With one, DeepSeek-V3 on 2,048 H800 looked best without expert parallelism. */
static double layers_gathered(const struct sp_framework *framework)
{
    return framework->gathered_layers > 0 ? sp_larger(framework->gathered_layers, 1) : 2;
}

/* Gradient part of those bytes; frozen weights have none. */
static double gradients_gathered_of_layer(const struct sp_framework *framework)
{
    return framework->gathered_layers > 0 ? 4 * framework->gathered_grads : SP_ELEMENT;
}

/* Unsharded bytes under ZeRO 3: layers with their quantised base as stored, their gradients, and
 * the tables at the ends. Experts are gathered with their layer; an EP rank gathers only its
 * own. */
static double gathered_bytes(const struct sp_framework *framework, const struct sp_layer_weights *w,
                             double base_bytes, const struct sp_stage_kind *kind)
{
    bool moves = false;
    double layer = 0, still = 0, ends = kind->first ? w->of[SP_LAYER_INPUT].dense.gathered : 0;
    for (unsigned left = kind->present; left;) { /* the largest represents the others */
        const int i = sp_take_kind(&left);
        layer = sp_larger(layer, w->of[i].dense.gathered + w->of[i].experts.gathered +
                                     w->of[i].shared.gathered);
        moves |= kind->layers.of[i] > kind->still.of[i];
        still =
            sp_larger(still, w->of[i].dense.base + w->of[i].experts.base + w->of[i].shared.base);
    }
    if (w->still_base && moves) /* a trained layer represents all */
        still = 0;
    if (kind->last)
        ends += w->of[SP_LAYER_OUTPUT].dense.gathered;
    if (kind->copy)
        ends += w->tied.gathered;
    const double less = SP_ELEMENT - sp_smaller(base_bytes, SP_ELEMENT);
    return layer * bytes_gathered_of_layer(framework) -
           still * (gradients_gathered_of_layer(framework) + layers_gathered(framework) * less) +
           SP_ELEMENT * ends;
}

/* Unsharded bytes of a stage that the framework keeps whole under ZeRO 3: weights used and
 * gradients accumulated by every micro-batch, and a layer's gradients in 16 bits before they are
 * added; 0: it gathers layers. FSDP2 under
 * torch.distributed.pipelining neither reshards after the forward pass nor reduces before the last
 * backward pass (torchtitan, parallelize_llama.py), so ZeRO 3 with stages saves only optimizer
 * memory. */
static double whole_bytes(const struct sp_framework *framework, const struct sp_stage_weights *held,
                          const struct sp_stage_weights *trained, double layer)
{
    return framework->keeps_stages_whole
               ? SP_ELEMENT * (held->dense + held->experts) +
                     4 * (trained->dense + trained->experts) + SP_ELEMENT * layer
               : 0;
}

/* Whole gradients of a stage's layers and ends that have trained weights: flat parameters use one
 * gradient tensor for all weights wrapped together. */
static double flat_bytes(const struct sp_framework *framework, const struct sp_layer_weights *w,
                         const struct sp_stage_kind *kind)
{
    double held = 0;
    if (!framework->flat_gradients)
        return 0;
    for (unsigned left = kind->present; left;) {
        const int i = sp_take_kind(&left);
        const struct sp_list_weights *const l = &w->of[i];
        const double layers = (double)(kind->layers.of[i] - kind->still.of[i]);
        if (layers > 0 && l->dense.trained + l->experts.trained + l->shared.trained > 0)
            held += layers * (l->dense.held + l->experts.held) +
                    (l->sets > 0 ? sp_smaller(layers, l->sets) * l->shared.held : 0);
    }
    const struct sp_rank_weights *const in = &w->of[SP_LAYER_INPUT].dense,
                                        *const out = &w->of[SP_LAYER_OUTPUT].dense;
    if (in->trained + out->trained > 0)
        held += (kind->first ? in->held : 0) + (kind->last ? out->held : 0);
    return SP_ELEMENT * held;
}

/* Whether the whole head is trained. */
static bool has_trained_head(const struct sp_layer *output)
{
    bool frozen = false;
    for (int i = 0; i < output->matmuls; i++)
        frozen |= output->matmul[i].frozen;
    return !frozen;
}

/* TransformerEngine's dummy gradients for stages with each subset of `all`, and for a head with
 * `outputs` outputs. */
static void prepare_dummies(const struct sp_rank_layers *mine, unsigned all, double outputs,
                            struct sp_prepared_memory *p)
{
    const struct sp_layers *const layers = mine->layers;
    p->dummy[0] = 0;
    for (unsigned present = all; present > 0; present = (present - 1) & all)
        p->dummy[present] = SP_ELEMENT * sp_dummy_elements(layers, &mine->rank, present);
    p->dummy_head = has_trained_head(&layers->list[SP_LAYER_OUTPUT])
                        ? SP_ELEMENT * (double)layers->model->d_model * outputs / mine->rank.tp
                        : 0;
}

/* Lists the tensors that a layer keeps, and those that its backward pass needs besides. */
static void prepare_layer(const struct sp_rank_layers *mine, int kind, const struct sp_plan *plan,
                          const struct sp_framework *framework, struct sp_prepared_memory *p)
{
    const struct sp_layer *const l = &mine->layers->list[kind];
    const struct sp_rank rank = sp_rank_of_layer(&mine->rank, l, (double)plan->seq);
    sp_list_kept(l, &rank, plan, framework, &p->rows[kind]);
    p->backward[kind] = l->frozen ? 0
                                  : backward_bytes(l, &rank, plan, framework) +
                                        widened_bytes(mine->layers->model, l, plan, framework);
}

static double outputs_of(const struct sp_model *model, const struct sp_plan *plan)
{
    return model->head == SP_HEAD_VOCABULARY ? sp_padded_vocab(model, plan)
                                             : (double)sp_head_outputs(model);
}

/* Adds the modules for further tokens to the loss: they run after a micro-batch's last layer and
 * are freed when its backward pass leaves them, so that those of one micro-batch exist at once,
 * each with the part of the logits that its loss keeps. A module lists these in 16 bits. On a
 * separate stage they are kept like layers. */
static void move_to_loss(const struct sp_plan *plan, const struct sp_framework *framework,
                         struct sp_prepared_memory *p)
{
    const struct sp_model *const model = p->mine->layers->model;
    const double outputs = outputs_of(model, plan);
    const double n = (double)model->mtp_layers, T = sp_shard_tokens(plan), t = (double)plan->tp;
    const double listed = SP_ELEMENT * T * (double)model->vocab / t;
    const double away = plan->recompute.away ? 0 : sp_offloaded_share(model, plan);
    const double kept = p->kept[SP_LAYER_MTP] - (1 - away) * listed;
    const double losses = p->loss + n * sp_kept_logit_bytes(plan, framework, T, outputs / t);
    if (plan->own.modules_apart) {
        p->loss = losses;
        p->kept[SP_LAYER_MTP] = kept;
        return;
    }
    p->loss = n * kept + sp_larger(losses, p->peak[SP_LAYER_MTP]);
    p->kept[SP_LAYER_MTP] = p->peak[SP_LAYER_MTP] = 0;
}

/* The tensors of each layer that are kept with the plan's recomputation, and the peaks. */
static void recompute_layers(const struct sp_plan *plan, const struct sp_framework *framework,
                             struct sp_prepared_memory *p)
{
    const struct sp_layers *const layers = p->mine->layers;
    const struct sp_shares shares = sp_kept_shares(&plan->recompute);
    const double away = sp_offloaded_share(layers->model, plan), redone = plan->recompute_layers;
    const unsigned some = plan->recompute.away;
    p->kept[SP_LAYER_MTP] = p->peak[SP_LAYER_MTP] = 0;
    for (unsigned left = sp_kinds_of(layers); left;) {
        const int kind = sp_take_kind(&left);
        const double with = sp_sum_kept(&p->rows[kind], &shares),
                     without = sp_sum_kept(&p->rows[kind], NULL);
        /* while a layer's backward pass runs, the kept tensors of the next one arrive */
        p->kept[kind] = redone * with + (1 - redone) * without;
        p->peak[kind] = p->backward[kind] + (away > 0 || redone > 0 ? without - with : 0);
        if (away > 0) {
            const double moved = sp_sum_away(&p->rows[kind], &shares, some);
            p->kept[kind] -=
                away * (redone * moved + (1 - redone) * sp_sum_away(&p->rows[kind], NULL, some));
            p->peak[kind] += 2 * moved;
        }
    }
    p->loss = p->head;
    if (layers->present >> SP_LAYER_MTP & 1)
        move_to_loss(plan, framework, p);
}

/* Asynchronous TP adds no buffers: its symmetric memory lies outside the allocator whose peak
 * torchtitan prints. */
void sp_prepare_memory(const struct sp_rank_layers *mine, const struct sp_plan *plan,
                       const struct sp_framework *framework, struct sp_prepared_memory *p)
{
    const struct sp_model *const model = mine->layers->model;
    const double outputs = outputs_of(model, plan);
    const unsigned all = sp_kinds_of(mine->layers);
    for (unsigned left = all; left;)
        prepare_layer(mine, sp_take_kind(&left), plan, framework, p);
    p->mine = mine;
    p->base_bytes = sp_base_bytes(model);
    p->layers = (double)model->layers;
    p->sent = SP_ELEMENT * mine->rank.tokens[SP_BY_SEQUENCE] * sp_carried_width(model);
    p->head = sp_loss_bytes(model, plan, framework, outputs) +
              widened_bytes(model, &mine->layers->list[SP_LAYER_OUTPUT], plan, framework);
    if (framework->dummy_wgrads)
        prepare_dummies(mine, all, outputs, p);
    recompute_layers(plan, framework, p);
}

double sp_kept_share(const struct sp_model *model, const struct sp_plan *plan,
                     const struct sp_framework *framework)
{
    struct sp_layers layers;
    struct sp_rank_layers mine;
    struct sp_prepared_memory p;
    double with = 0, without = 0;
    sp_list_model(model, &layers);
    sp_layers_on_rank(&layers, plan, framework, &mine);
    sp_prepare_memory(&mine, plan, framework, &p);
    for (unsigned left = sp_kinds_of(&layers); left;) {
        const int kind = sp_take_kind(&left);
        const double trained = layers.count[kind] - layers.still[kind];
        with += trained * p.kept[kind];
        without += trained * sp_sum_kept(&p.rows[kind], NULL);
    }
    return without > 0 ? with / without : 1;
}

/* Trained weights of the largest layer. */
static double largest_layer(const struct sp_layer_weights *w, unsigned present)
{
    double most = 0;
    while (present) {
        const struct sp_list_weights *const l = &w->of[sp_take_kind(&present)];
        most = sp_larger(most, l->dense.trained + l->experts.trained);
    }
    return most;
}

/* Bytes that torch.distributed.pipelining holds for sends between stages: for each micro-batch of a
 * step a buffer for its input, of which those in flight are their first layer's input, another for
 * its gradient, and the output of each in flight. stage.py, args_recv_info, grad_recv_info,
 * fwd_cache. */
static double sending_bytes(const struct sp_kind_memory *k, int64_t microbatches, double in_flight)
{
    const double m = (double)microbatches;
    return k->sent * ((k->first ? 0 : sp_larger(m - in_flight, 0)) + (k->last ? 0 : m + in_flight));
}

/* Activations of a stage's layers; returns the kinds that are trained, as bits. */
static unsigned keep_layers(const struct sp_prepared_memory *p, const struct sp_stage_kind *kind,
                            struct sp_kind_memory *m)
{
    unsigned present = 0;
    m->kept = 0;
    m->peak = kind->last ? p->loss : 0;
    for (unsigned left = kind->present; left;) {
        const int i = sp_take_kind(&left);
        const double trained = (double)(kind->layers.of[i] - kind->still.of[i]);
        if (trained <= 0)
            continue;
        present |= 1U << i;
        m->kept += trained * p->kept[i];
        m->peak = sp_larger(m->peak, p->peak[i]);
    }
    return present;
}

static void memory_of_kind(const struct sp_framework *framework, const struct sp_prepared_memory *p,
                           const struct sp_stage_kind *kind, struct sp_kind_memory *m)
{
    const struct sp_layer_weights *const w = &p->mine->weights;
    const unsigned present = keep_layers(p, kind, m);
    m->weights = sp_weights_of_kind(w, kind);
    m->base_bytes = p->base_bytes;
    m->first = kind->first;
    m->last = kind->last;
    m->layers = 0;
    m->of_model = p->layers;
    m->gathered = gathered_bytes(framework, w, p->base_bytes, kind);
    m->flat = flat_bytes(framework, w, kind);
    m->whole = whole_bytes(framework, &m->weights.held, &m->weights.trained,
                           largest_layer(w, kind->present));
    m->sent = framework->keeps_stages_whole ? p->sent : 0;
    m->table = kind->first ? SP_ELEMENT * w->of[SP_LAYER_INPUT].dense.trained : 0;
    for (unsigned left = kind->present; left;) {
        const int i = sp_take_kind(&left);
        m->layers += i < SP_LAYER_ENCODER ? (double)kind->layers.of[i] : 0;
    }
    m->dummy = framework->dummy_wgrads ? p->dummy[present] + (kind->last ? p->dummy_head : 0) : 0;
}

void sp_memory_of_kinds(const struct sp_framework *framework,
                        const struct sp_prepared_memory *prepared, const struct sp_stage_map *map,
                        struct sp_kind_memory *kinds)
{
    for (int i = 0; i < map->kinds; i++)
        memory_of_kind(framework, prepared, &map->kind[i], &kinds[i]);
}

void sp_recompute_memory(const struct sp_plan *plan, const struct sp_framework *framework,
                         const struct sp_stage_map *map, struct sp_prepared_memory *prepared,
                         struct sp_kind_memory *kinds)
{
    recompute_layers(plan, framework, prepared);
    for (int i = 0; i < map->kinds; i++)
        keep_layers(prepared, &map->kind[i], &kinds[i]);
}

static double in_flight_of(const struct sp_plan *plan, int64_t microbatches, int64_t stage)
{
    const struct sp_pipeline pipeline = {.schedule = plan->schedule,
                                         .stages = plan->pp,
                                         .microbatches = microbatches,
                                         .chunks = plan->vpp};
    return plan->pp > 1 ? sp_in_flight(&pipeline, stage) : 1;
}

/* Bytes of frozen weights over `shards` devices (experts over `expert_shards`): layer matmuls as
 * the base is stored, others in 2 bytes. */
static double frozen_bytes(const struct sp_kind_memory *k, double shards, double expert_shards)
{
    const struct sp_kind_weights *const w = &k->weights;
    const double less = k->base_bytes - SP_FROZEN_BYTES;
    return (SP_FROZEN_BYTES * (w->held.dense - w->trained.dense) + less * w->base.dense) / shards +
           (SP_FROZEN_BYTES * (w->held.experts - w->trained.experts) + less * w->base.experts) /
               expert_shards;
}

/* Bytes per element that FSDP at ZeRO 2 keeps unsharded between forward and backward pass, besides
 * shards of wider weights (SHARD_GRAD_OP); 0: weights are stored whole. */
static double kept_gathered(const struct sp_precision *precision, const struct sp_plan *plan,
                            const struct sp_framework *framework)
{
    const double bytes = sp_larger(SP_ELEMENT, sp_dtypes[plan->dtype].bytes);
    const bool fsdp = plan->zero == 2 && framework->gathered_grads > 0;
    return fsdp && precision->weight_bytes > bytes ? bytes : 0;
}

/* The same for weights shared by `shards` devices; a single device gathers none. */
static double unsharded_bytes(double bytes, double weights, double shards)
{
    return shards > 1 ? bytes * weights : 0;
}

/* Micro-batches in flight on a stage: the most, and the number while the last chunk of the model
 * runs. */
struct in_flight {
    double most, at_loss;
};

/* Chunks of equal size hold equally many micro-batches, at most two groups of pp each. Extra layers
 * of the first stage are in its first chunk, and a later stage's missing layers are missing from
 * its last: at some time all passes in flight that other chunks can hold belong to full chunks, and
 * all but one of them during the loss. */
static struct in_flight chunks_in_flight(const struct sp_kind_memory *k, const struct sp_plan *plan,
                                         int64_t microbatches, double in_flight)
{
    if (plan->schedule != SP_INTERLEAVED)
        return (struct in_flight){in_flight, in_flight};
    const double p = (double)plan->pp, v = (double)plan->vpp, m = (double)microbatches;
    const double chunk = floor(k->of_model / (p * v) + 0.5), passes = in_flight * v;
    const double more = k->layers - v * chunk;
    if (k->first && more > 0) {
        const double most = (passes * chunk + sp_smaller(2 * p, m) * more) / k->layers;
        return (struct in_flight){most, most};
    }
    if (k->first || more >= 0 || k->layers <= 0)
        return (struct in_flight){in_flight, in_flight};
    const double in_last = sp_larger(0, passes - 2 * p * (v - 1));
    return (struct in_flight){.most = (passes * chunk + in_last * more) / k->layers,
                              .at_loss =
                                  ((passes - 1) * chunk + sp_larger(chunk + more, 0)) / k->layers};
}

/* Activations, and other memory that exists at the same time, at the fullest of three moments: in
 * the backward pass of a layer or in the loss, with most micro-batches in flight; and when the
 * gradient of the input table is made, a tensor of the whole table whatever tokens a micro-batch
 * has, whose own activations have then been freed. Gathered weights include the table too. */
static double most_activations(const struct sp_kind_memory *k, const struct in_flight *n,
                               bool gathers)
{
    const double table = gathers ? 0 : k->table, beside = k->last ? n->at_loss : n->most;
    const double ends =
        sp_larger(beside * k->kept + k->peak, sp_larger(n->most - 1, 0) * k->kept + table);
    return sp_larger(n->most * k->kept, ends);
}

static int64_t live_bytes(const struct sp_stage_memory *m)
{
    return m->params + m->grads + m->optimizer + m->activations + m->buffers;
}

/* Everything but the memory that the allocator and the runtime add. */
static inline struct sp_stage_memory parts_at_stage(const struct sp_precision *precision,
                                                    const struct sp_plan *plan,
                                                    const struct sp_framework *framework,
                                                    const struct sp_kind_memory *k, int64_t stage)
{
    const struct sp_kind_weights *const w = &k->weights;
    const int64_t microbatches = sp_plan_microbatches(plan);
    const double D = (double)plan->shards;
    const double D_experts = sp_larger(1, D * (double)plan->tp / (double)(plan->ep * plan->etp));
    const double shards = sp_larger(D, w->held.experts > 0 ? D_experts : 1);
    const bool gathers = plan->zero >= 3 && shards > 1;
    const double K = precision->master_bytes + precision->optimizer_bytes;
    /* the copies of a stage are ranks of one DP group, which ZeRO shards over (deepseek-ai/DualPipe
     * issue 22) */
    const double copies = sp_schedules[plan->schedule].copies;
    const double sharded = w->trained.dense / D + w->trained.experts / D_experts;
    const double held = copies * (w->trained.dense + w->trained.experts);
    const double grad_bytes = sp_kept_grad_bytes(precision, (double)microbatches);
    const double flat = microbatches > 1 ? k->flat : 0;
    const double gathered = plan->pp > 1 && k->whole > 0 ? copies * k->whole : k->gathered + flat;
    const double kept = kept_gathered(precision, plan, framework);
    const double unsharded = copies * (unsharded_bytes(kept, w->trained.dense, D) +
                                       unsharded_bytes(kept, w->trained.experts, D_experts));
    const double frozen =
        plan->zero >= 3 ? frozen_bytes(k, D, D_experts) : copies * frozen_bytes(k, 1, 1);
    const struct in_flight in_flight =
        chunks_in_flight(k, plan, microbatches, in_flight_of(plan, microbatches, stage));
    const double workspace =
        framework->workspace_bytes + (w->held.experts > 0 ? framework->expert_workspace_bytes : 0);
    struct sp_stage_memory m = {
        .params = sp_whole_bytes(
            precision->weight_bytes * (plan->zero >= 3 || kept > 0 ? sharded : held) + frozen),
        .frozen = sp_whole_bytes(frozen),
        .grads = sp_whole_bytes(grad_bytes * (plan->zero >= 2 ? sharded : held)),
        .optimizer =
            sp_whole_bytes((1 - plan->optimizer_away) * K * (plan->zero >= 1 ? sharded : held)),
        .activations = sp_whole_bytes(most_activations(k, &in_flight, gathers)),
        .transient = sp_whole_bytes(k->peak),
        .buffers = sp_whole_bytes(k->dummy + workspace + unsharded + (gathers ? gathered : 0) +
                                  sending_bytes(k, microbatches, in_flight.most)),
    };
    m.live = live_bytes(&m);
    return m;
}

void sp_sum_stage_memory(const struct sp_framework *framework, struct sp_stage_memory *m)
{
    m->live = live_bytes(m);
    sp_add_allocator_slack(framework, m);
}

struct sp_stage_memory sp_memory_at_stage(const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework,
                                          const struct sp_kind_memory *k, int64_t stage)
{
    struct sp_stage_memory m = parts_at_stage(precision, plan, framework, k, stage);
    sp_sum_stage_memory(framework, &m);
    return m;
}

struct sp_kind_memory sp_kind_memory_of_stage(const struct sp_rank_layers *mine,
                                              const struct sp_prepared_memory *prepared,
                                              const struct sp_plan *plan,
                                              const struct sp_framework *framework, int64_t stage)
{
    struct sp_kind_memory memory;
    const struct sp_stage_split split = sp_split_of(plan, (enum sp_balance)framework->balance);
    const struct sp_stage_kind kind = sp_kind_of_stage(mine->layers->model, &split, stage);
    memory_of_kind(framework, prepared, &kind, &memory);
    return memory;
}

struct sp_stage_memory sp_memory_of_stage(const struct sp_model *model,
                                          const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework, int64_t stage)
{
    sp_require(sp_check_plan(model, plan, sp_plan_devices(plan), 1) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    sp_require(stage >= 0 && stage < plan->pp, "the stage must be below pp");
    struct sp_layers layers;
    struct sp_rank_layers mine;
    struct sp_prepared_memory prepared;
    sp_list_model(model, &layers);
    sp_layers_on_rank(&layers, plan, framework, &mine);
    sp_prepare_memory(&mine, plan, framework, &prepared);
    const struct sp_kind_memory m =
        sp_kind_memory_of_stage(&mine, &prepared, plan, framework, stage);
    return sp_memory_at_stage(precision, plan, framework, &m, stage);
}

int64_t sp_fullest_prepared(const struct sp_precision *precision, const struct sp_plan *plan,
                            const struct sp_framework *framework, const struct sp_stage_map *map,
                            const struct sp_kind_memory *kinds, struct sp_stage_memory *memory)
{
    /* later stages never have more micro-batches in flight, so the first stage of a kind is the
     * fullest */
    int64_t fullest = 0;
    for (int i = 0; i < map->kinds; i++) {
        const struct sp_stage_memory m =
            parts_at_stage(precision, plan, framework, &kinds[i], map->stage[i]);
        if (i == 0 || m.live > memory->live) {
            *memory = m;
            fullest = map->stage[i];
        }
    }
    sp_sum_stage_memory(framework, memory);
    return fullest;
}

int64_t sp_fullest_listed(const struct sp_layers *layers, const struct sp_precision *precision,
                          const struct sp_plan *plan, const struct sp_framework *framework,
                          struct sp_stage_memory *memory)
{
    sp_require(sp_check_plan(layers->model, plan, sp_plan_devices(plan), 1) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct sp_stage_map map;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    struct sp_rank_layers mine;
    struct sp_prepared_memory prepared;
    sp_layers_on_rank(layers, plan, framework, &mine);
    sp_prepare_memory(&mine, plan, framework, &prepared);
    const struct sp_stage_split split = sp_split_of(plan, (enum sp_balance)framework->balance);
    sp_map_stages(layers->model, &split, &map);
    sp_memory_of_kinds(framework, &prepared, &map, kinds);
    return sp_fullest_prepared(precision, plan, framework, &map, kinds, memory);
}

int64_t sp_fullest_stage(const struct sp_model *model, const struct sp_precision *precision,
                         const struct sp_plan *plan, const struct sp_framework *framework,
                         struct sp_stage_memory *memory)
{
    struct sp_layers layers;
    sp_list_model(model, &layers);
    return sp_fullest_listed(&layers, precision, plan, framework, memory);
}
