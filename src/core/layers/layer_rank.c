/* One device's part of a layer under a plan. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/layers/layer_rank.h"

double sp_shard_tokens(const struct sp_plan *plan)
{
    return (double)plan->micro_batch * (double)plan->seq / (double)plan->cp;
}

static struct sp_rank rank_of(const struct sp_plan *plan, const struct sp_framework *framework)
{
    const double T = sp_shard_tokens(plan), t = (double)plan->tp;
    const double part = plan->sequence_parallel ? T / t : T;
    return (struct sp_rank){.tokens = {[SP_BY_NOTHING] = T,
                                       [SP_BY_SEQUENCE] = part,
                                       [SP_BY_INPUT] = framework->keeps_gathered ? T : part,
                                       [SP_BY_WIDTH] = T / t},
                            .from = 1,
                            .tp = t,
                            .ep = (double)plan->ep,
                            .etp = (double)plan->etp,
                            .imbalance = plan->imbalance,
                            .computed = sp_expert_load(plan)};
}

struct sp_rank sp_rank_of_layer(const struct sp_rank *rank, const struct sp_layer *layer,
                                double seq)
{
    const double own = sp_stream_share(layer->own, seq);
    struct sp_rank mine = *rank;
    for (int i = 0; i < SP_SHARDED_BY; i++)
        mine.tokens[i] *= own;
    mine.from = sp_stream_share(layer->from, seq) / own;
    return mine;
}

/* A policy's share; 1 if one of the modules is recomputed. */
static double share_of(const struct sp_recompute *r, double share, unsigned modules)
{
    return r->modules & modules ? 1 : share;
}

double sp_repeated_experts(const struct sp_recompute *r)
{
    return fmax(share_of(r, r->up, 1 << SP_MODULE_MOE), r->grouped);
}

struct sp_shares sp_shares_of(const struct sp_recompute *r)
{
    enum {
        MLA_UP_PROJ = 1 << SP_MODULE_MLA_UP_PROJ,
        MLP = 1 << SP_MODULE_MLP,
        MOE_ACT = 1 << SP_MODULE_MOE_ACT,
        LAYERNORM = 1 << SP_MODULE_LAYERNORM,
        CORE_ATTN = 1 << SP_MODULE_CORE_ATTN,
        MOE = 1 << SP_MODULE_MOE,
        SHARED = MOE | 1 << SP_MODULE_SHARED_EXPERTS
    };
    return (struct sp_shares){{[SP_OP_QKV] = r->qkv,
                               [SP_OP_LATENT] = share_of(r, r->qkv, MLA_UP_PROJ),
                               [SP_OP_CORE] = share_of(r, r->core, CORE_ATTN),
                               [SP_OP_OUT] = r->out,
                               [SP_OP_UP] = share_of(r, r->up, MLP),
                               [SP_OP_DOWN] = share_of(r, r->down, MLP),
                               [SP_OP_SHARED_UP] = share_of(r, r->up, SHARED),
                               [SP_OP_SHARED_DOWN] = share_of(r, r->down, SHARED),
                               [SP_OP_EXPERT_UP] = sp_repeated_experts(r),
                               [SP_OP_EXPERT_DOWN] = fmax(share_of(r, r->down, MOE), r->grouped),
                               [SP_OP_NORMS] = share_of(r, r->norms, LAYERNORM),
                               [SP_OP_ACT] = share_of(r, r->norms, MLP),
                               [SP_OP_SHARED_ACT] = share_of(r, r->norms, SHARED),
                               [SP_OP_EXPERT_ACT] = share_of(r, r->norms, MOE | MOE_ACT),
                               [SP_OP_ROUTE] = share_of(r, r->norms, MOE)}};
}

struct sp_shares sp_repeated_shares(const struct sp_recompute *recompute,
                                    const struct sp_framework *framework)
{
    struct sp_shares shares = sp_shares_of(recompute);
    if (framework->stops_early)
        shares.of[SP_OP_DOWN] = shares.of[SP_OP_SHARED_DOWN] = shares.of[SP_OP_EXPERT_DOWN] = 0;
    return shares;
}

/* The vocabulary is padded. Learned positions are not, and every TP rank holds all of them
 * (Megatron-LM). */
double sp_padded_vocab(const struct sp_model *model, const struct sp_plan *plan)
{
    const double side = 128 * (double)plan->tp;
    return ceil((double)model->vocab / side) * side;
}

double sp_columns_on_rank(const struct sp_matmul *m, double ranks)
{
    if (m->groups == 0)
        return m->out / ranks;
    return (m->out - m->groups * m->group_out) / ranks +
           m->group_out * sp_groups_of_rank(m->groups, ranks);
}

/* Weights of a matmul per device, with or without its bias. */
static double matmul_weights(const struct sp_matmul *m, bool bias, const struct sp_rank *r)
{
    const double rows = m->count * (m->in + (bias ? 1 : 0));
    if (m->part == SP_PART_EXPERTS)
        return rows * m->out / (r->ep * r->etp);
    if (m->groups > 0)
        return rows * sp_columns_on_rank(m, r->tp) + m->norm / r->tp;
    const double all = rows * m->out + m->norm;
    return m->split == SP_TP_WHOLE || m->split == SP_TP_TOKENS ? all : all / r->tp;
}

double sp_adapters_on_rank(const struct sp_matmul *m, const struct sp_rank *r)
{
    if (m->part == SP_PART_EXPERTS)
        return m->count * sp_adapter_weights(m) / (r->ep * r->etp);
    const double rank = m->count * m->rank;
    if (m->split == SP_TP_ROWS)
        return rank * (m->adapted * m->in / r->tp + m->adapted_out);
    if (m->split == SP_TP_COLUMNS)
        return rank * (m->adapted * m->in + m->adapted_out / r->tp);
    return m->count * sp_adapter_weights(m);
}

/* Adds a row's weights, `padding` times as wide in storage. FSDP does not gather norms and
 * routers. */
static void add_row(struct sp_rank_weights *w, enum sp_layer_part part, double weights,
                    double padding, bool frozen)
{
    w->held += weights * padding;
    w->trained += frozen ? 0 : weights * padding;
    if (part != SP_PART_NORM && part != SP_PART_ROUTER)
        w->gathered += weights;
}

/* Adds a matmul's adapters, and its part of the frozen base. */
static void add_tuned(struct sp_rank_weights *w, const struct sp_matmul *m, const struct sp_rank *r,
                      double weights)
{
    const double adapters = sp_adapters_on_rank(m, r);
    w->held += adapters;
    w->gathered += adapters;
    w->trained += adapters;
    w->base += m->base ? weights : 0;
}

/* Weights of one list; adds to `tied` the weights that the input table shares with the head. */
static void weigh(const struct sp_layer *l, const struct sp_rank *r, double padding,
                  struct sp_list_weights *of, struct sp_rank_weights *tied)
{
    *of = (struct sp_list_weights){.sets = l->sets};
    for (int i = 0; i < l->matmuls; i++) {
        const struct sp_matmul *const m = &l->matmul[i];
        struct sp_rank_weights *const to = m->tied                      ? tied
                                           : m->part == SP_PART_EXPERTS ? &of->experts
                                           : m->shared                  ? &of->shared
                                                                        : &of->dense;
        if (m->tied && m->bias) /* the table serves twice, the bias once */
            add_row(&of->dense, m->part, m->out / r->tp, padding, m->frozen);
        const double weights = matmul_weights(m, m->bias && !m->tied, r);
        add_row(to, m->part, weights, m->vocab ? padding : 1, m->frozen);
        if (m->frozen || m->base)
            add_tuned(to, m, r, weights);
    }
    for (int i = 0; i < l->tensors; i++) {
        const struct sp_tensor *w = &l->tensor[i];
        const double all = w->split == SP_TP_WHOLE ? w->weights : w->weights / r->tp;
        add_row(w->shared ? &of->shared : &of->dense, w->part, all, w->vocab ? padding : 1,
                w->frozen);
    }
}

void sp_layers_on_rank(const struct sp_layers *layers, const struct sp_plan *plan,
                       const struct sp_framework *framework, struct sp_rank_layers *mine)
{
    const double vocab = (double)layers->model->vocab;
    const double padding = vocab > 0 ? sp_padded_vocab(layers->model, plan) / vocab : 1;
    mine->layers = layers;
    mine->rank = rank_of(plan, framework);
    mine->weights.tied = (struct sp_rank_weights){0, 0, 0, 0};
    mine->weights.still_base = layers->model->tuning.trainable == SP_TRAIN_LAST;
    mine->weights.all_trained =
        layers->params.trained == layers->params.total && layers->params.adapters == 0;
    for (unsigned left = layers->present; left;) {
        const int i = sp_take_kind(&left);
        weigh(&layers->list[i], &mine->rank, padding, &mine->weights.of[i], &mine->weights.tied);
    }
}

enum layers { ALL_LAYERS, MOVING_LAYERS, STILL_LAYERS };

static int64_t count_of(const struct sp_stage_kind *kind, int i, enum layers which)
{
    const int64_t still = kind->still.of[i], all = kind->layers.of[i];
    return which == STILL_LAYERS ? still : which == MOVING_LAYERS ? all - still : all;
}

/* Sums one member of sp_rank_weights over a stage's layers and ends. */
static inline struct sp_stage_weights sum_of_kind(const struct sp_layer_weights *w,
                                                  const struct sp_stage_kind *kind, size_t member,
                                                  enum layers which)
{
#define MEMBER(weights) (*(const double *)(const void *)((const char *)&(weights) + member))
    struct sp_stage_weights of = {0, 0};
    for (unsigned left = kind->present; left;) {
        const int i = sp_take_kind(&left);
        const int64_t n = count_of(kind, i, which);
        if (n <= 0)
            continue;
        const double layers = (double)n;
        of.dense += layers * MEMBER(w->of[i].dense);
        of.experts += layers * MEMBER(w->of[i].experts);
        if (w->of[i].sets > 0)
            of.dense += fmin(layers, w->of[i].sets) * MEMBER(w->of[i].shared);
    }
    if (kind->first)
        of.dense += MEMBER(w->of[SP_LAYER_INPUT].dense);
    if (kind->last)
        of.dense += MEMBER(w->of[SP_LAYER_OUTPUT].dense);
    if (kind->copy)
        of.dense += MEMBER(w->tied);
    return of;
#undef MEMBER
}

/* The weights of the layers of a stage that no gradient passes. */
static struct sp_stage_weights still_of_kind(const struct sp_layer_weights *w,
                                             const struct sp_stage_kind *kind)
{
    struct sp_stage_weights of = {0, 0};
    for (unsigned left = kind->present; left;) {
        const int i = sp_take_kind(&left);
        if (kind->still.of[i] == 0)
            continue;
        of.dense += (double)kind->still.of[i] * w->of[i].dense.held;
        of.experts += (double)kind->still.of[i] * w->of[i].experts.held;
    }
    return of;
}

struct sp_kind_weights sp_weights_of_kind(const struct sp_layer_weights *w,
                                          const struct sp_stage_kind *kind)
{
    const struct sp_stage_weights held =
        sum_of_kind(w, kind, offsetof(struct sp_rank_weights, held), ALL_LAYERS);
    if (w->all_trained)
        return (struct sp_kind_weights){.held = held, .trained = held};
    return (struct sp_kind_weights){
        .held = held,
        .trained = sum_of_kind(w, kind, offsetof(struct sp_rank_weights, trained), MOVING_LAYERS),
        .base = sum_of_kind(w, kind, offsetof(struct sp_rank_weights, base),
                            w->still_base ? STILL_LAYERS : ALL_LAYERS),
        .still = still_of_kind(w, kind),
    };
}

/* Elements of the dummy gradient that TransformerEngine keeps per weight shape. */
static double dummy_of(const struct sp_matmul *m, const struct sp_rank *r)
{
    if (m->frozen)
        return 0;
    if (m->part != SP_PART_EXPERTS)
        return matmul_weights(m, false, r);
    return m->in * m->out / r->etp;
}

static bool is_same(const struct sp_matmul *a, const struct sp_matmul *b)
{
    return a->in == b->in && a->out == b->out && strcmp(a->name, b->name) == 0;
}

static bool lists_it(const struct sp_layer *l, const struct sp_matmul *m)
{
    for (int i = 0; i < l->matmuls; i++)
        if (is_same(&l->matmul[i], m))
            return true;
    return false;
}

/* Dummies of a kind's matmuls with shapes that no earlier kind of `present` has. */
static double new_dummies(const struct sp_layers *layers, const struct sp_rank *rank,
                          unsigned present, int kind)
{
    double elements = 0;
    for (int i = 0; i < layers->list[kind].matmuls; i++) {
        const struct sp_matmul *m = &layers->list[kind].matmul[i];
        bool known = m->part == SP_PART_ROUTER || m->frozen || m->vocab; /* a head has its own */
        for (int other = 0; other < kind && !known; other++)
            known = (present >> other & 1) && lists_it(&layers->list[other], m);
        elements += known ? 0 : dummy_of(m, rank);
    }
    return elements;
}

double sp_dummy_elements(const struct sp_layers *layers, const struct sp_rank *rank,
                         unsigned present)
{
    double elements = 0;
    for (unsigned left = present; left;)
        elements += new_dummies(layers, rank, present, sp_take_kind(&left));
    return elements;
}
