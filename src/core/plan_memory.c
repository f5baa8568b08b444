/* Peak memory of a device under a plan. */
#include <math.h>

#include <scaleplan/footprint.h>
#include <scaleplan/plan_memory.h>

enum { ELEMENT = 2 }; /* bytes of an activation */

struct sp_layer_weights sp_count_layer_weights(const struct sp_model *model)
{
    const struct sp_params all = sp_count_params(model);
    struct sp_model plain = *model;
    plain.moe = (struct sp_moe){0};
    if (model->moe.experts > 0 && model->moe.d_ff_dense > 0)
        plain.d_ff = model->moe.d_ff_dense;
    const double L = (double)model->layers, L_moe = (double)sp_moe_layers(model);
    const double dense = sp_count_params(&plain).mlp / L;
    const double table = (double)model->d_model * (double)model->vocab;
    const double norm =
        all.norm / (L * (double)model->norms_per_layer + 1 + (model->embedding_norm ? 1 : 0));
    return (struct sp_layer_weights){
        .attention = all.attention / L,
        .kv_head = model->mla.kv_lora_rank > 0
                       ? 0
                       : 2 * (double)model->head_dim *
                             ((double)model->d_model + (model->qkv_bias ? 1 : 0)),
        .dense_mlp = dense,
        .shared_mlp = L_moe > 0 ? (all.mlp - (L - L_moe) * dense) / L_moe : 0,
        .experts = L_moe > 0 ? all.experts / L_moe : 0,
        .router = L_moe > 0 ? all.router / L_moe : 0,
        .norms = norm * (double)model->norms_per_layer,
        .table = table,
        .positions = (double)model->d_model * (double)model->learned_positions,
        .last_norm = norm,
        .first_norm = model->embedding_norm ? norm : 0,
    };
}

double sp_padded_vocab(const struct sp_model *model, const struct sp_plan *plan)
{
    const double side = 128 * (double)plan->tp;
    return ceil((double)model->vocab / side) * side;
}

/* A TP rank's part of a layer's attention. */
static double attention_of_rank(const struct sp_model *model, const struct sp_plan *plan,
                                const struct sp_layer_weights *w)
{
    const double t = (double)plan->tp, kv = (double)model->kv_heads;
    return w->attention / t + w->kv_head * (sp_kv_heads_of_rank(model, plan->tp) - kv / t);
}

struct sp_stage_weights sp_weights_of_kind(const struct sp_model *model, const struct sp_plan *plan,
                                           const struct sp_layer_weights *w,
                                           const struct sp_stage_kind *kind)
{
    const double t = (double)plan->tp;
    const double dense = (double)kind->layers.dense, moe = (double)kind->layers.moe;
    const double padding = sp_padded_vocab(model, plan) / (double)model->vocab;
    struct sp_stage_weights of = {
        .dense = (dense + moe) * (attention_of_rank(model, plan, w) + w->norms) +
                 dense * w->dense_mlp / t + moe * (w->shared_mlp / t + w->router),
        .experts = moe * w->experts / (double)(plan->ep * plan->etp),
    };
    if (kind->first)
        of.dense += w->table * padding / t + w->positions + w->first_norm;
    if (kind->last)
        of.dense += w->last_norm;
    if (kind->last && !(kind->first && model->tied_embeddings))
        of.dense += w->table * padding / t;
    return of;
}

static struct sp_stage_kind kind_of_stage(const struct sp_model *model, const struct sp_plan *plan,
                                          const struct sp_framework *framework, int64_t stage)
{
    return (struct sp_stage_kind){
        sp_layers_of_stage(model, plan->pp, stage, (enum sp_balance)framework->balance), stage == 0,
        stage == plan->pp - 1};
}

/* Elements of q, k and v of one token on a TP rank, and of attention's output on all. */
static double qkv_elements(const struct sp_model *model, int64_t tp)
{
    const double a = (double)model->heads / (double)tp;
    const struct sp_mla *mla = &model->mla;
    if (mla->kv_lora_rank > 0)
        return a * (double)(2 * (mla->qk_nope_head_dim + mla->qk_rope_head_dim) + mla->v_head_dim);
    return (double)model->head_dim * (a + 2 * sp_kv_heads_of_rank(model, tp));
}

static double attended_elements(const struct sp_model *model)
{
    const int64_t d_v = model->mla.kv_lora_rank > 0 ? model->mla.v_head_dim : model->head_dim;
    return (double)(model->heads * d_v);
}

/* Tokens of one micro-batch on one sequence shard, and the share of them that tensors of full width
 * keep on a device. */
static double shard_tokens(const struct sp_plan *plan)
{
    return (double)plan->micro_batch * (double)plan->seq / (double)plan->cp;
}

static double kept_attention(const struct sp_model *model, const struct sp_plan *plan,
                             const struct sp_framework *framework, const struct sp_recompute *r)
{
    const double T = shard_tokens(plan), t = (double)plan->tp, h = (double)model->d_model;
    const double wide = T / (plan->sequence_parallel ? t : 1);
    const double input = framework->keeps_gathered ? T : wide;
    const double latents = 2 * (double)(model->mla.q_lora_rank + model->mla.kv_lora_rank);
    const double attended = attended_elements(model) * T / t;
    const double exchanged = plan->cp > 1 && !framework->ring_attention ? attended : 0;
    const double elements =
        (1 + r->spare) * h * wide + (1 - r->norms) * h * input +
        (1 - r->qkv) * (qkv_elements(model, plan->tp) * (1 + framework->qkv_copies) + latents) * T +
        (1 - r->core * r->norms) * (attended + exchanged) + (1 - r->out) * h * wide;
    return ELEMENT * elements + (1 - r->core) * 4 * (double)model->heads * T / t;
}

static double kept_mlp(const struct sp_model *model, const struct sp_plan *plan,
                       const struct sp_framework *framework, const struct sp_recompute *r, bool moe)
{
    const double T = shard_tokens(plan), t = (double)plan->tp, h = (double)model->d_model;
    const double gates = model->gated_mlp ? 2 : 1;
    const double wide = T / (plan->sequence_parallel ? t : 1);
    const double input = framework->keeps_gathered ? T : wide;
    const double per_width = (1 - r->up) * gates + (1 - r->norms) * (1 + framework->mlp_copies);
    const int64_t d_ff_dense = model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->d_ff;
    if (!moe)
        return ELEMENT * ((1 - r->norms) * h * input + per_width * (double)d_ff_dense * T / t);
    const double k = (double)model->moe.top_k * plan->imbalance;
    const double f_e = (double)model->moe.d_ff_expert;
    const double shared = (double)model->moe.shared_experts * f_e;
    return ELEMENT * ((1 - r->norms) * 2 * h * wide + per_width * shared * T / t +
                      (1 - r->up) * k * h * T / t + per_width * k * f_e * T / t);
}

double sp_kept_bytes(const struct sp_model *model, const struct sp_plan *plan,
                     const struct sp_framework *framework, const struct sp_recompute *recompute,
                     bool moe)
{
    if (recompute->offload)
        return 0;
    return kept_attention(model, plan, framework, recompute) +
           kept_mlp(model, plan, framework, recompute, moe);
}

static const struct sp_recompute nothing = {0};

/* What a layer's backward needs beside what was kept: its recomputed tensors and gradients. */
static double backward_bytes(const struct sp_model *model, const struct sp_plan *plan,
                             const struct sp_framework *framework, bool moe)
{
    const double T = shard_tokens(plan), t = (double)plan->tp;
    const int64_t d_ff_dense = model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->d_ff;
    const double width =
        moe ? (double)(model->moe.top_k * model->moe.d_ff_expert) : (double)d_ff_dense;
    const double gates = model->gated_mlp ? 2 : 1;
    const double gathered =
        plan->sequence_parallel && plan->tp > 1 ? T * (double)model->d_model : 0;
    const double again = sp_kept_bytes(model, plan, framework, &nothing, moe) -
                         sp_kept_bytes(model, plan, framework, &plan->recompute, moe);
    return ELEMENT * (gates * T * width / t + gathered) + (plan->recompute_layers > 0 ? again : 0);
}

static double loss_bytes(const struct sp_model *model, const struct sp_plan *plan,
                         const struct sp_framework *framework)
{
    const double T = shard_tokens(plan), t = (double)plan->tp, h = (double)model->d_model;
    return 4 * T * h / t + framework->logit_bytes * T * sp_padded_vocab(model, plan) / t +
           ELEMENT * T * h;
}

/* One weight gradient per weight shape: TransformerEngine's dummies. */
static double dummy_elements(const struct sp_model *model, const struct sp_plan *plan,
                             const struct sp_layer_weights *w, const struct sp_stage_kind *kind)
{
    const struct sp_stage_layers layers = kind->layers;
    const double h = (double)model->d_model, t = (double)plan->tp;
    const double gates = model->gated_mlp ? 2 : 1;
    double elements = 0;
    if (model->mla.kv_lora_rank > 0) {
        elements += w->attention / t;
    } else {
        elements += h * qkv_elements(model, plan->tp) + h * attended_elements(model) / t;
    }
    const int64_t d_ff_dense = model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->d_ff;
    if (layers.dense > 0)
        elements += (gates + 1) * h * (double)d_ff_dense / t;
    if (layers.moe > 0)
        elements += (gates + 1) * h * (double)model->moe.d_ff_expert *
                    (1 / (double)plan->etp + (double)model->moe.shared_experts / t);
    if (kind->last)
        elements += h * sp_padded_vocab(model, plan) / t;
    return elements;
}

/* What FSDP holds unsharded: some layers, their gradients, and the tables at the ends. */
static double gathered_bytes(const struct sp_model *model, const struct sp_plan *plan,
                             const struct sp_framework *framework, const struct sp_layer_weights *w,
                             const struct sp_stage_kind *kind)
{
    const double t = (double)plan->tp;
    const double mlp = kind->layers.moe > 0
                           ? w->shared_mlp / t + w->experts / (double)(plan->ep * plan->etp)
                           : w->dense_mlp / t;
    const double layer = attention_of_rank(model, plan, w) + mlp;
    const double tables = (kind->first) + (kind->last && !(kind->first && model->tied_embeddings));
    return layer * (ELEMENT * framework->gathered_layers + 4 * framework->gathered_grads) +
           ELEMENT * (tables * w->table / t + (kind->first ? w->positions : 0));
}

/* Whole bytes; the sum of all parts stays an integer whatever was asked. */
static int64_t whole(double bytes)
{
    return llround(fmin(bytes, SP_MOST_BYTES));
}

struct sp_prepared_memory sp_prepare_memory(const struct sp_model *model,
                                            const struct sp_plan *plan,
                                            const struct sp_framework *framework)
{
    const double redone = plan->recompute_layers;
    struct sp_prepared_memory p = {.weights = sp_count_layer_weights(model),
                                   .loss = loss_bytes(model, plan, framework)};
    double *const kept[] = {&p.kept_dense, &p.kept_moe}, *const peak[] = {&p.peak_dense,
                                                                          &p.peak_moe};
    for (int moe = 0; moe < (model->moe.experts > 0 ? 2 : 1); moe++) {
        const double with = sp_kept_bytes(model, plan, framework, &plan->recompute, moe);
        const double without = sp_kept_bytes(model, plan, framework, &nothing, moe);
        *kept[moe] = redone * with + (1 - redone) * without;
        *peak[moe] = backward_bytes(model, plan, framework, moe);
    }
    return p;
}

static struct sp_kind_memory memory_of_kind(const struct sp_model *model,
                                            const struct sp_plan *plan,
                                            const struct sp_framework *framework,
                                            const struct sp_prepared_memory *p,
                                            const struct sp_stage_kind *kind)
{
    const double dense = (double)kind->layers.dense, moe = (double)kind->layers.moe;
    struct sp_kind_memory m = {
        .held = sp_weights_of_kind(model, plan, &p->weights, kind),
        .kept = dense * p->kept_dense + moe * p->kept_moe,
        .peak = fmax(dense > 0 ? p->peak_dense : 0, moe > 0 ? p->peak_moe : 0),
        .dummy =
            framework->dummy_wgrads ? ELEMENT * dummy_elements(model, plan, &p->weights, kind) : 0,
        .gathered = gathered_bytes(model, plan, framework, &p->weights, kind),
    };
    if (kind->last)
        m.peak = fmax(m.peak, p->loss);
    return m;
}

void sp_memory_of_kinds(const struct sp_model *model, const struct sp_plan *plan,
                        const struct sp_framework *framework,
                        const struct sp_prepared_memory *prepared, const struct sp_stage_map *map,
                        struct sp_kind_memory *kinds)
{
    for (int i = 0; i < map->kinds; i++)
        kinds[i] = memory_of_kind(model, plan, framework, prepared, &map->kind[i]);
}

static double in_flight_of(const struct sp_plan *plan, int64_t stage)
{
    const struct sp_pipeline pipeline = {.schedule = plan->schedule,
                                         .stages = plan->pp,
                                         .microbatches = sp_plan_microbatches(plan),
                                         .chunks = plan->vpp};
    return plan->pp > 1 ? sp_in_flight(&pipeline, stage) : 1;
}

struct sp_stage_memory sp_memory_at_stage(const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework,
                                          const struct sp_kind_memory *k, int64_t stage)
{
    const double D = (double)plan->shards;
    const double D_experts = fmax(1, D * (double)plan->tp / (double)(plan->ep * plan->etp));
    const double K = precision->master_bytes + precision->optimizer_bytes;
    const double copies = sp_schedules[plan->schedule].copies;
    const double sharded = copies * (k->held.dense / D + k->held.experts / D_experts);
    const double held = copies * (k->held.dense + k->held.experts);
    struct sp_stage_memory m = {
        .params = whole(precision->weight_bytes * (plan->zero >= 3 ? sharded : held)),
        .grads = whole(precision->grad_bytes * (plan->zero >= 2 ? sharded : held)),
        .optimizer = whole(K * (plan->zero >= 1 ? sharded : held)),
        .activations = whole(in_flight_of(plan, stage) * k->kept + k->peak),
        .buffers = whole(k->dummy + (plan->zero >= 3 ? k->gathered : 0)),
    };
    m.live = m.params + m.grads + m.optimizer + m.activations + m.buffers;
    m.reserved = whole((double)m.live * framework->reserved_factor);
    m.device = m.reserved + whole(framework->context_bytes);
    return m;
}

struct sp_stage_memory sp_memory_of_stage(const struct sp_model *model,
                                          const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework, int64_t stage)
{
    const struct sp_prepared_memory prepared = sp_prepare_memory(model, plan, framework);
    const struct sp_stage_kind kind = kind_of_stage(model, plan, framework, stage);
    const struct sp_kind_memory m = memory_of_kind(model, plan, framework, &prepared, &kind);
    return sp_memory_at_stage(precision, plan, framework, &m, stage);
}

int64_t sp_fullest_prepared(const struct sp_precision *precision, const struct sp_plan *plan,
                            const struct sp_framework *framework, const struct sp_stage_map *map,
                            const struct sp_kind_memory *kinds, struct sp_stage_memory *memory)
{
    /* no schedule keeps more micro-batches in flight on a later stage: of stages that are alike the
     * first is the fullest */
    int64_t fullest = 0;
    for (int i = 0; i < map->kinds; i++) {
        const struct sp_stage_memory m =
            sp_memory_at_stage(precision, plan, framework, &kinds[i], map->stage[i]);
        if (i == 0 || m.live > memory->live) {
            *memory = m;
            fullest = map->stage[i];
        }
    }
    return fullest;
}

int64_t sp_fullest_stage(const struct sp_model *model, const struct sp_precision *precision,
                         const struct sp_plan *plan, const struct sp_framework *framework,
                         struct sp_stage_memory *memory)
{
    struct sp_stage_map map;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    const struct sp_prepared_memory prepared = sp_prepare_memory(model, plan, framework);
    sp_map_stages(model, plan->pp, (enum sp_balance)framework->balance, &map);
    sp_memory_of_kinds(model, plan, framework, &prepared, &map, kinds);
    return sp_fullest_prepared(precision, plan, framework, &map, kinds, memory);
}
