/* A second implementation, slow and obvious: every layer and every tensor is listed, every ring
 * step and every block of an array is gone through, every micro-batch waits for its turn. The
 * library must agree on random inputs. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/scaleplan.h>

static int64_t any(const int64_t *list, size_t n)
{
    return list[(size_t)rand() % n];
}
#define ANY(...)                                                                                   \
    any((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* --- a model as a list of tensors ------------------------------------------------------------- */

/* Who shares a weight. */
enum share { ALL_HOLD_IT, OVER_TP, OVER_KV_HEADS, OVER_EXPERTS };

struct tensor {
    double rows, columns;
    enum share share;
    bool multiplies; /* a matmul: 2 FLOPs a weight for each token that passes */
    bool expert;     /* one of the routed experts */
    bool table;      /* rows are padded to the vocabulary's multiple */
    int layer;       /* -1: before the layers, L: after them */
};

struct listing {
    struct tensor at[20000];
    size_t n;
};

static struct listing listing;

static void put(struct listing *l, int layer, double rows, double columns, enum share share,
                bool multiplies)
{
    assert_true(l->n < sizeof l->at / sizeof *l->at);
    l->at[l->n++] = (struct tensor){rows, columns, share, multiplies, false, false, layer};
}

static bool has_experts(const struct sp_model *m, int layer)
{
    const int64_t every = m->moe.every > 1 ? m->moe.every : 1;
    return m->moe.experts > 0 && layer >= m->moe.dense_layers &&
           (layer - m->moe.dense_layers + 1) % every == 0;
}

static void put_norm(struct listing *l, const struct sp_model *m, int layer, double width)
{
    if (m->norm != SP_NORM_NO_AFFINE)
        put(l, layer, 1, width, ALL_HOLD_IT, false);
    if (m->norm == SP_NORM_LAYER)
        put(l, layer, 1, width, ALL_HOLD_IT, false);
}

static void put_attention(struct listing *l, const struct sp_model *m, int layer)
{
    const double D = (double)m->d_model, H = (double)m->head_dim;
    const double q = (double)m->heads * H, kv = (double)m->kv_heads * H;
    if (m->mla.kv_lora_rank > 0) {
        const double qk = (double)(m->mla.qk_nope_head_dim + m->mla.qk_rope_head_dim),
                     N = (double)m->heads;
        const double latent = (double)m->mla.kv_lora_rank, rope = (double)m->mla.qk_rope_head_dim;
        if (m->mla.q_lora_rank > 0) {
            put(l, layer, D, (double)m->mla.q_lora_rank, OVER_TP, true);
            put(l, layer, 1, (double)m->mla.q_lora_rank, OVER_TP, false);
            put(l, layer, (double)m->mla.q_lora_rank, N * qk, OVER_TP, true);
        } else {
            put(l, layer, D, N * qk, OVER_TP, true);
        }
        put(l, layer, D, latent, OVER_TP, true);
        put(l, layer, D, rope, OVER_TP, true);
        put(l, layer, 1, latent, OVER_TP, false);
        put(l, layer, latent, N * (double)m->mla.qk_nope_head_dim, OVER_TP, true);
        put(l, layer, latent, N * (double)m->mla.v_head_dim, OVER_TP, true);
        put(l, layer, N * (double)m->mla.v_head_dim, D, OVER_TP, true);
        return;
    }
    put(l, layer, D, q, OVER_TP, true);
    put(l, layer, D, kv, OVER_KV_HEADS, true);
    put(l, layer, D, kv, OVER_KV_HEADS, true);
    put(l, layer, q, D, OVER_TP, true);
    if (m->qkv_bias) {
        put(l, layer, 1, q, OVER_TP, false);
        put(l, layer, 1, kv, OVER_KV_HEADS, false);
        put(l, layer, 1, kv, OVER_KV_HEADS, false);
    }
    if (m->o_bias)
        put(l, layer, 1, D, OVER_TP, false);
    if (m->qk_norm == SP_QK_NORM_HEAD) {
        put(l, layer, 1, H, OVER_TP, false);
        put(l, layer, 1, H, OVER_TP, false);
    } else if (m->qk_norm == SP_QK_NORM_FULL) {
        put(l, layer, 1, q, OVER_TP, false);
        put(l, layer, 1, kv, OVER_TP, false);
    }
}

static void put_mlp(struct listing *l, const struct sp_model *m, int layer, double width,
                    enum share share, bool bias)
{
    const double D = (double)m->d_model;
    for (int matrix = 0; matrix < (m->gated_mlp ? 2 : 1); matrix++) {
        put(l, layer, D, width, share, true);
        if (bias)
            put(l, layer, 1, width, share, false);
    }
    put(l, layer, width, D, share, true);
    if (bias)
        put(l, layer, 1, D, share, false);
}

static void list_model(const struct sp_model *m, struct listing *l)
{
    const double D = (double)m->d_model, V = (double)m->vocab;
    l->n = 0;
    put(l, -1, V, D, OVER_TP, false);
    l->at[0].table = true;
    if (m->learned_positions > 0)
        put(l, -1, (double)m->learned_positions, D, ALL_HOLD_IT, false);
    if (m->embedding_norm)
        put_norm(l, m, -1, D);
    for (int layer = 0; layer < m->layers; layer++) {
        put_attention(l, m, layer);
        for (int norm = 0; norm < m->norms_per_layer; norm++)
            put_norm(l, m, layer, D);
        if (!has_experts(m, layer)) {
            put_mlp(l, m, layer, (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff),
                    OVER_TP, m->mlp_bias);
            continue;
        }
        put(l, layer, D, (double)m->moe.experts, ALL_HOLD_IT, true);
        if (m->moe.score_correction_bias)
            put(l, layer, 1, (double)m->moe.experts, ALL_HOLD_IT, false);
        if (m->moe.shared_experts > 0)
            put_mlp(l, m, layer, (double)(m->moe.shared_experts * m->moe.d_ff_expert), OVER_TP,
                    false);
        for (int64_t expert = 0; expert < m->moe.experts; expert++) {
            const size_t before = l->n;
            put_mlp(l, m, layer, (double)m->moe.d_ff_expert, OVER_EXPERTS, m->moe.expert_bias);
            for (size_t i = before; i < l->n; i++)
                l->at[i].expert = true;
        }
    }
    put_norm(l, m, (int)m->layers, D);
    if (!m->tied_embeddings) {
        put(l, (int)m->layers, D, V, OVER_TP, true);
        l->at[l->n - 1].table = true;
    }
}

static struct sp_model random_model(void)
{
    struct sp_model m = {.layers = ANY(1, 2, 3, 4, 6, 8),
                         .d_model = ANY(64, 128, 256),
                         .d_ff = ANY(256, 512),
                         .heads = 8,
                         .kv_heads = ANY(1, 2, 8),
                         .head_dim = ANY(8, 16, 32),
                         .vocab = ANY(1000, 1024, 50257),
                         .gated_mlp = rand() % 2,
                         .tied_embeddings = rand() % 2,
                         .qkv_bias = rand() % 2,
                         .o_bias = rand() % 2,
                         .mlp_bias = rand() % 2,
                         .norm = rand() % 4,
                         .qk_norm = rand() % 3,
                         .norms_per_layer = ANY(1, 2, 4),
                         .learned_positions = ANY(0, 0, 512),
                         .embedding_norm = rand() % 2};
    if (rand() % 2) {
        m.moe = (struct sp_moe){.experts = ANY(4, 8),
                                .top_k = ANY(1, 2, 3),
                                .shared_experts = ANY(0, 1, 2),
                                .d_ff_expert = ANY(64, 128),
                                .dense_layers = rand() % (m.layers + 1),
                                .every = ANY(0, 1, 2, 3),
                                .d_ff_dense = ANY(0, 384),
                                .score_correction_bias = rand() % 2,
                                .expert_bias = rand() % 2};
    }
    if (rand() % 4 == 0) {
        m.mla = (struct sp_mla){.q_lora_rank = ANY(0, 48),
                                .kv_lora_rank = 32,
                                .qk_nope_head_dim = ANY(8, 16),
                                .qk_rope_head_dim = ANY(4, 8),
                                .v_head_dim = ANY(8, 24)};
        m.qkv_bias = m.o_bias = false;
        m.qk_norm = SP_QK_NORM_NONE;
    }
    return m;
}

static void parameters_and_flops(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 3000; i++) {
        const struct sp_model m = random_model();
        const struct sp_params p = sp_count_params(&m);
        const double seq = 512;
        double total = 0, active = 0, flops = 0;
        list_model(&m, &listing);
        for (size_t t = 0; t < listing.n; t++) {
            const struct tensor *const w = &listing.at[t];
            const double weights = w->rows * w->columns;
            const double passed =
                w->expert ? weights * (double)m.moe.top_k / (double)m.moe.experts : weights;
            total += weights;
            active += passed;
            flops += w->multiplies ? 2 * passed : 0;
        }
        if (m.tied_embeddings) /* the table serves as the head too */
            flops += 2 * (double)m.vocab * (double)m.d_model;
        for (int layer = 0; layer < m.layers; layer++)
            for (int head = 0; head < m.heads; head++) {
                const bool latent = m.mla.kv_lora_rank > 0;
                const int64_t qk =
                    latent ? m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim : m.head_dim;
                const int64_t v = latent ? m.mla.v_head_dim : m.head_dim;
                flops += 2 * seq * (double)qk + 2 * seq * (double)v;
            }
        assert_close(p.total, total, 0);
        assert_close(p.active, active, 1e-12);
        assert_close(p.embedding + p.attention + p.mlp + p.experts + p.router + p.norm, total,
                     1e-12);
        assert_close(sp_forward_flops_per_token(&m, seq, false, false).total, flops, 1e-12);
    }
}

/* --- a plan's memory as lists of tensors ------------------------------------------------------ */

/* Layers of each stage: as many each as possible, the first stages one more; where only L + 2
 * divides, the ends have one less. */
static int first_layer(const struct sp_model *m, int64_t stages, int64_t stage)
{
    int at = 0;
    const bool ends = m->layers % stages != 0 && (m->layers + 2) % stages == 0;
    for (int64_t s = 0; s < stage; s++) {
        if (ends)
            at += (int)((m->layers + 2) / stages) - (s == 0);
        else
            at += (int)(m->layers / stages) + (s < m->layers % stages);
    }
    return at > m->layers || stage == stages ? (int)m->layers : at;
}

static double padded(double vocab, double tp)
{
    double size = 0;
    while (size < vocab)
        size += 128 * tp;
    return size;
}

/* What one device holds of the tensors of a stage. */
/* TP ranks that hold different parts of a weight: with fewer KV heads than ranks some hold the same
 * head. */
static double sharers(const struct sp_model *m, const struct sp_plan *p, enum share share)
{
    if (share == OVER_KV_HEADS)
        return (double)(p->tp < m->kv_heads ? p->tp : m->kv_heads);
    return share == OVER_TP ? (double)p->tp : 1;
}

static void held_of(const struct sp_model *m, const struct sp_plan *p, int from, int to,
                    double *dense, double *experts)
{
    const bool first = from == 0, last = to == (int)m->layers;
    *dense = *experts = 0;
    list_model(m, &listing);
    for (size_t i = 0; i < listing.n; i++) {
        const struct tensor *const w = &listing.at[i];
        const bool here = w->layer < 0                 ? first
                          : w->layer >= (int)m->layers ? last
                                                       : w->layer >= from && w->layer < to;
        double weights = w->rows * w->columns;
        if (w->table)
            weights *= padded((double)m->vocab, (double)p->tp) / (double)m->vocab;
        if (!here)
            continue;
        if (w->share == OVER_EXPERTS)
            *experts += weights / (double)(p->ep * p->etp);
        else
            *dense += weights / sharers(m, p, w->share);
    }
    if (last && !first && m->tied_embeddings) /* a copy of the table */
        *dense += padded((double)m->vocab, (double)p->tp) * (double)m->d_model / (double)p->tp;
}

/* Bytes that a layer keeps, tensor by tensor; `r` is the share of each that is recomputed instead.
 */
static double kept_of(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f, const struct sp_recompute *r, bool moe)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp), tp = (double)p->tp,
                 D = (double)m->d_model;
    const double residual = D * tokens / (p->sequence_parallel ? tp : 1);
    const double normed = f->keeps_gathered ? D * tokens : residual;
    const bool latent = m->mla.kv_lora_rank > 0;
    const double qk =
        (double)(latent ? m->mla.qk_nope_head_dim + m->mla.qk_rope_head_dim : m->head_dim);
    const double v = (double)(latent ? m->mla.v_head_dim : m->head_dim);
    const double heads = (double)m->heads; /* and on a rank's part of tokens / tp so many keys: */
    const double keys = latent ? heads : (double)(m->kv_heads > p->tp ? m->kv_heads : p->tp);
    const double gates = m->gated_mlp ? 2 : 1;
    double elements = 0;
    elements += residual;                /* the block's input */
    elements += r->spare * residual;     /* outputs nobody needs */
    elements += (1 - r->norms) * normed; /* attention's normed input */
    elements += (1 - r->qkv) * (1 + f->qkv_copies) * heads * qk * tokens / tp; /* queries */
    elements += (1 - r->qkv) * (1 + f->qkv_copies) * keys * qk * tokens / tp;  /* keys */
    elements += (1 - r->qkv) * (1 + f->qkv_copies) * keys * v * tokens / tp;   /* values */
    if (latent) /* the latents, before and after their norm, on every device */
        elements += (1 - r->qkv) * 2 * (double)(m->mla.q_lora_rank + m->mla.kv_lora_rank) * tokens;
    else
        elements += (1 - r->qkv) * 2 * (double)m->mla.q_lora_rank * tokens;
    elements += (1 - r->core * r->norms) * heads * v * tokens / tp; /* what attention gives out */
    if (p->cp > 1 && !f->ring_attention) /* and what was exchanged for it */
        elements += (1 - r->core * r->norms) * heads * v * tokens / tp;
    elements += (1 - r->out) * residual; /* the MLP's residual input */
    double bytes =
        2 * elements + 4 * (1 - r->core) * heads * tokens / tp; /* logsumexp of each head, fp32 */
    if (!moe) {
        const double width =
            (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff) * tokens / tp;
        bytes += 2 * (1 - r->norms) * normed;
        bytes += 2 * (1 - r->up) * gates * width;
        bytes += 2 * (1 - r->norms) * (1 + f->mlp_copies) * width;
        return bytes;
    }
    const double shared = (double)(m->moe.shared_experts * m->moe.d_ff_expert) * tokens / tp;
    const double routed = (double)m->moe.top_k * p->imbalance * tokens / tp;
    bytes += 2 * (1 - r->norms) * 2 * residual; /* normed input, and the router's */
    bytes += 2 * (1 - r->up) * gates * shared + 2 * (1 - r->norms) * (1 + f->mlp_copies) * shared;
    bytes += 2 * (1 - r->up) * routed * D; /* tokens sent to the experts */
    bytes += 2 * ((1 - r->up) * gates + (1 - r->norms) * (1 + f->mlp_copies)) * routed *
             (double)m->moe.d_ff_expert;
    return bytes;
}

/* What the backward pass of a layer, or the loss, adds for a while. */
static double peak_of(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f, bool moe)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp), tp = (double)p->tp;
    const struct sp_recompute nothing = {0};
    const double width = (double)(moe                     ? m->moe.top_k * m->moe.d_ff_expert
                                  : m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense
                                                          : m->d_ff);
    double bytes =
        2 * (m->gated_mlp ? 2 : 1) * tokens * width / tp; /* gradients of the MLP's inner tensors */
    if (p->sequence_parallel && p->tp > 1)
        bytes += 2 * tokens * (double)m->d_model; /* a gathered gradient */
    if (p->recompute_layers > 0)                  /* what was thrown away stands again */
        bytes += (p->recompute.offload
                      ? kept_of(m, p, f, &nothing, moe)
                      : kept_of(m, p, f, &nothing, moe) - kept_of(m, p, f, &p->recompute, moe));
    return bytes;
}

static double loss_of(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp), tp = (double)p->tp,
                 D = (double)m->d_model;
    return 4 * tokens * D / tp + f->logit_bytes * tokens * padded((double)m->vocab, tp) / tp +
           2 * tokens * D;
}

/* What the framework holds beside: a gradient of each shape of weight, and unsharded layers. */
static double buffers_of(const struct sp_model *m, const struct sp_plan *p,
                         const struct sp_framework *f, int from, int to)
{
    const double tp = (double)p->tp, D = (double)m->d_model, matrices = m->gated_mlp ? 3 : 2;
    const double F = (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff),
                 E = (double)m->moe.d_ff_expert;
    bool dense = false, moe = false;
    double attention = 0, on_a_rank = 0, experts = 0, shared = 0, mlp = 0, bytes = 0;
    for (int layer = from; layer < to; layer++) {
        if (has_experts(m, layer))
            moe = true;
        else
            dense = true;
    }
    /* of one layer, all of its tensors */
    int mixed = -1, plain = -1;
    for (int layer = (int)m->layers; layer-- > 0;) {
        if (has_experts(m, layer))
            mixed = layer;
        else
            plain = layer;
    }
    struct listing *const l = &listing;
    const int any_layer = mixed >= 0 ? mixed : plain;
    l->n = 0;
    put_attention(l, m, any_layer);
    for (size_t i = 0; i < l->n; i++) {
        attention += l->at[i].rows * l->at[i].columns;
        on_a_rank += l->at[i].rows * l->at[i].columns /
                     (l->at[i].share == OVER_KV_HEADS ? sharers(m, p, OVER_KV_HEADS) : tp);
    }
    l->n = 0;
    put_mlp(l, m, 0, F, OVER_TP, m->mlp_bias);
    for (size_t i = 0; i < l->n; i++)
        mlp += l->at[i].rows * l->at[i].columns;
    l->n = 0;
    put_mlp(l, m, 0, E, OVER_EXPERTS, m->moe.expert_bias);
    for (size_t i = 0; i < l->n; i++)
        experts += (double)m->moe.experts * l->at[i].rows * l->at[i].columns;
    l->n = 0;
    if (m->moe.shared_experts > 0)
        put_mlp(l, m, 0, (double)m->moe.shared_experts * E, OVER_TP, false);
    for (size_t i = 0; i < l->n; i++)
        shared += l->at[i].rows * l->at[i].columns;
    if (f->dummy_wgrads) {
        if (m->mla.kv_lora_rank > 0)
            bytes += 2 * attention / tp;
        else
            bytes += 2 * D * (double)m->head_dim *
                     ((double)(2 * m->heads) / tp + 2 * fmax((double)m->kv_heads / tp, 1));
        if (dense)
            bytes += 2 * matrices * D * F / tp;
        if (moe)
            bytes += 2 * matrices * D * E / (double)p->etp +
                     2 * matrices * D * E * (double)m->moe.shared_experts / tp;
        if (to == (int)m->layers)
            bytes += 2 * D * padded((double)m->vocab, tp) / tp;
    }
    if (p->zero == 3) {
        const double layer =
            on_a_rank + (moe ? shared / tp + experts / (double)(p->ep * p->etp) : mlp / tp);
        bytes += (2 * f->gathered_layers + 4 * f->gathered_grads) * layer;
        if (from == 0)
            bytes += 2 * ((double)m->vocab / tp + (double)m->learned_positions) * D;
        if (to == (int)m->layers && !(from == 0 && m->tied_embeddings))
            bytes += 2 * (double)m->vocab * D / tp;
    }
    return bytes;
}

static struct sp_plan random_plan(const struct sp_model *m)
{
    struct sp_plan p = {.dp = ANY(1, 2, 4),
                        .tp = ANY(1, 2, 4),
                        .pp = ANY(1, 2, 4),
                        .vpp = 1,
                        .cp = ANY(1, 1, 2),
                        .ep = m->moe.experts > 0 ? ANY(1, 2, 4) : 1,
                        .etp = 1,
                        .zero = rand() % 4,
                        .micro_batch = ANY(1, 2),
                        .batch = 64,
                        .seq = ANY(256, 512),
                        .recompute = sp_policies[rand() % SP_POLICIES].recompute,
                        .recompute_layers = (double)ANY(0, 1, 1, 2) / 2,
                        .schedule = rand() % 2 ? SP_1F1B : SP_GPIPE,
                        .dtype = SP_BF16,
                        .imbalance = (double)ANY(1, 1, 2)};
    p.recompute.offload = rand() % 6 == 0;
    p.sequence_parallel = p.tp > 1 && rand() % 2;
    p.shards = p.dp * p.cp / (p.dp > 2 ? ANY(1, 2, 4) : p.dp > 1 ? ANY(1, 2) : 1);
    return p;
}

/* Micro-batches whose activations stage `stage` holds at once, by going through the schedule. */
static double in_flight(const struct sp_plan *p, int64_t stage)
{
    const int64_t m = sp_plan_microbatches(p);
    int64_t held = 0, most = 0;
    const int64_t warm = p->schedule == SP_GPIPE ? m
                         : p->pp - 1 - stage < m ? p->pp - 1 - stage
                                                 : m;
    for (int64_t i = 0; i < warm; i++)
        most = ++held > most ? held : most;
    for (int64_t i = warm; i < m; i++) { /* one forward, one backward */
        most = ++held > most ? held : most;
        held--;
    }
    return p->pp == 1 ? 1 : (double)most;
}

static void memory(void **state)
{
    (void)state;
    srand(2);
    int compared = 0;
    for (int i = 0; i < 60000 && compared < 20000; i++) {
        const struct sp_model m = random_model();
        const struct sp_plan p = random_plan(&m);
        if (sp_check_plan(&m, &p, sp_plan_devices(&p), 1) != SP_PLAN_OK)
            continue;
        const struct sp_framework f = {.keeps_gathered = rand() % 2,
                                       .ring_attention = rand() % 2,
                                       .mlp_copies = (double)ANY(0, 1),
                                       .qkv_copies = (double)ANY(0, 1),
                                       .logit_bytes = (double)ANY(2, 6),
                                       .dummy_wgrads = rand() % 2,
                                       .gathered_layers = (double)ANY(0, 2),
                                       .gathered_grads = (double)ANY(0, 1),
                                       .reserved_factor = 1.25,
                                       .context_bytes = 1e6};
        const struct sp_precision precision = {.weight_bytes = 2,
                                               .grad_bytes = (double)ANY(2, 4),
                                               .master_bytes = 4,
                                               .optimizer_bytes = 8};
        const int64_t stage = rand() % p.pp;
        const int from = first_layer(&m, p.pp, stage), to = first_layer(&m, p.pp, stage + 1);
        double dense, experts, kept = 0, peak = 0;
        held_of(&m, &p, from, to, &dense, &experts);
        for (int layer = from; layer < to; layer++) {
            const bool moe = has_experts(&m, layer);
            const struct sp_recompute nothing = {0};
            const double again = p.recompute.offload ? 0 : kept_of(&m, &p, &f, &p.recompute, moe);
            kept += p.recompute_layers * again +
                    (1 - p.recompute_layers) * kept_of(&m, &p, &f, &nothing, moe);
            peak = fmax(peak, peak_of(&m, &p, &f, moe));
        }
        if (to == m.layers)
            peak = fmax(peak, loss_of(&m, &p, &f));
        const double group = (double)p.shards,
                     experts_group = fmax(1, group * (double)p.tp / (double)(p.ep * p.etp));
        const double all = dense + experts, part = dense / group + experts / experts_group;
        const struct sp_stage_memory of = sp_memory_of_stage(&m, &precision, &p, &f, stage);
        /* whole bytes: half a byte of rounding each */
        assert_true(fabs((double)of.params - 2 * (p.zero == 3 ? part : all)) <= 0.51);
        assert_true(fabs((double)of.grads - precision.grad_bytes * (p.zero >= 2 ? part : all)) <=
                    0.51);
        assert_true(fabs((double)of.optimizer - 12 * (p.zero >= 1 ? part : all)) <= 0.51);
        assert_true(fabs((double)of.activations - (in_flight(&p, stage) * kept + peak)) <= 0.51);
        assert_true(fabs((double)of.buffers - buffers_of(&m, &p, &f, from, to)) <= 0.51);
        assert_int_equal(of.live,
                         of.params + of.grads + of.optimizer + of.activations + of.buffers);
        assert_true(fabs((double)of.reserved - 1.25 * (double)of.live) <= 0.51);
        assert_int_equal(of.device, of.reserved + 1000000);
        /* the fullest stage is the fullest of all */
        struct sp_stage_memory fullest;
        sp_fullest_stage(&m, &precision, &p, &f, &fullest);
        assert_true(of.live <= fullest.live);
        compared++;
    }
    print_message("%d plans\n", compared);
    assert_true(compared >= 5000);
}

/* Stages sum to the model, and shards to the whole. */
static void conservation(void **state)
{
    (void)state;
    srand(3);
    for (int i = 0; i < 20000; i++) {
        struct sp_model m = random_model();
        m.layers = 1 + rand() % 200;
        if (m.moe.dense_layers > m.layers)
            m.moe.dense_layers = m.layers;
        const int64_t pp = 1 + rand() % (m.layers < 64 ? m.layers : 64);
        int64_t dense = 0, moe = 0;
        for (int64_t s = 0; s < pp; s++) {
            const struct sp_stage_layers of = sp_layers_of_stage(&m, pp, s, SP_BALANCE_EVEN);
            int64_t mine[2] = {0, 0};
            for (int layer = first_layer(&m, pp, s); layer < first_layer(&m, pp, s + 1); layer++)
                mine[has_experts(&m, layer)]++;
            assert_int_equal(of.dense, mine[0]);
            assert_int_equal(of.moe, mine[1]);
            dense += of.dense;
            moe += of.moe;
        }
        assert_int_equal(dense + moe, m.layers);
        assert_int_equal(moe, sp_moe_layers(&m));
    }
}

/* --- pipelines, collectives, arrays ----------------------------------------------------------- */

/* Every task waits for the one before it on its stage and for its input; times are found by going
 * over all tasks until nothing moves. */
static double played(bool gpipe, int p, int m, const double *forward, const double *backward)
{
    static double f_end[16][64], b_end[16][64];
    bool moved = true;
    memset(f_end, 0, sizeof f_end);
    memset(b_end, 0, sizeof b_end);
    while (moved) {
        moved = false;
        for (int s = 0; s < p; s++) {
            double free_at = 0;
            const int warm = gpipe ? m : p - 1 - s < m ? p - 1 - s : m;
            int f = 0, b = 0;
            while (b < m) {
                const bool forward_next = f < m && (f < warm || f - warm <= b);
                double *const end = forward_next ? &f_end[s][f] : &b_end[s][b];
                const double input = forward_next ? (s > 0 ? f_end[s - 1][f] : 0)
                                     : s < p - 1  ? b_end[s + 1][b]
                                                  : f_end[s][b];
                const double done =
                    fmax(free_at, input) + (forward_next ? forward[s] : backward[s]);
                moved = moved || done != *end;
                *end = free_at = done;
                if (forward_next)
                    f++;
                else
                    b++;
            }
        }
    }
    double last = 0;
    for (int s = 0; s < p; s++)
        last = fmax(last, b_end[s][m - 1]);
    return last;
}

static void pipelines(void **state)
{
    (void)state;
    static struct sp_task tasks[4096];
    static struct sp_played of;
    srand(4);
    for (int i = 0; i < 4000; i++) {
        const int p = 1 + rand() % 8, m = 1 + rand() % 24;
        const bool gpipe = rand() % 2;
        double forward[16], backward[16], scale[16];
        for (int s = 0; s < p; s++) {
            scale[s] = 1 + (rand() % 4) / 8.0;
            forward[s] = scale[s];
            backward[s] = 2 * scale[s];
        }
        const struct sp_pipeline pipeline = {.schedule = gpipe ? SP_GPIPE : SP_1F1B,
                                             .stages = p,
                                             .microbatches = m,
                                             .chunks = 1,
                                             .forward_s = 1,
                                             .backward_s = 2,
                                             .weight_grad_s = 1};
        assert_true(sp_tasks_of(&pipeline) <= 4096);
        assert_true(sp_play_pipeline(&pipeline, scale, 0, tasks, &of));
        assert_close(of.makespan_s, played(gpipe, p, m, forward, backward), 1e-12);
    }
}

/* FLOPs that run again: each product of a block, where the policy repeats it. */
static void repeated_flops(void **state)
{
    (void)state;
    srand(8);
    for (int i = 0; i < 4000; i++) {
        struct sp_model m = random_model();
        struct sp_plan p = random_plan(&m);
        m.mla = (struct sp_mla){0};
        const struct sp_recompute *const r = &p.recompute;
        const double D = (double)m.d_model, H = (double)m.head_dim, N = (double)m.heads,
                     K = (double)m.kv_heads;
        const double F = (double)(m.moe.d_ff_dense > 0 ? m.moe.d_ff_dense : m.d_ff),
                     gates = m.gated_mlp ? 2 : 1;
        const struct sp_framework f = {.stops_early = rand() % 2};
        const double down = f.stops_early ? 0 : r->down;
        double flops = 0, all_scores = 0;
        for (int layer = 0; layer < m.layers; layer++) {
            const double passed =
                has_experts(&m, layer)
                    ? (double)((m.moe.top_k + m.moe.shared_experts) * m.moe.d_ff_expert)
                    : F;
            flops += r->qkv * 2 * D * H * (N + 2 * K) + r->out * 2 * D * H * N;
            all_scores += r->core * 2 * 2 * (double)p.seq * H * N;
            flops += r->up * 2 * gates * D * passed + down * 2 * D * passed;
            if (has_experts(&m, layer)) /* the router counts as a part of the MLP's matrices */
                flops += (r->up * gates + down) / (gates + 1) * 2 * D * (double)m.moe.experts;
        }
        const double scores = (double)ANY(0, 1, 2) / 2;
        flops += scores * all_scores;
        assert_close(sp_step_recomputed_flops(&m, &p, &f, scores),
                     flops * p.recompute_layers * (double)(p.batch * p.seq), 1e-12);
    }
}

/* Micro-batches in flight: at each instant those that went forward and have not come back. */
static void in_flight_over_time(void **state)
{
    (void)state;
    static struct sp_task tasks[4096];
    static struct sp_in_flight_level levels[4096];
    static struct sp_played of;
    static const enum sp_schedule schedules[] = {SP_GPIPE, SP_1F1B, SP_INTERLEAVED, SP_ZB_H1};
    srand(9);
    for (int i = 0; i < 300; i++) {
        const int p = 1 + rand() % 4, v = 2;
        const enum sp_schedule schedule = schedules[rand() % 4];
        const struct sp_pipeline pipeline = {.schedule = schedule,
                                             .stages = p,
                                             .microbatches = p * (1 + rand() % 4),
                                             .chunks = schedule == SP_INTERLEAVED ? v : 1,
                                             .forward_s = 1,
                                             .backward_s = 2,
                                             .weight_grad_s = 1};
        const int64_t n = sp_tasks_of(&pipeline), stage = rand() % p;
        double most = 0;
        if (n == 0 || n > 4096 || !sp_play_pipeline(&pipeline, NULL, 0, tasks, &of))
            continue;
        const int64_t count = sp_in_flight_levels(tasks, n, pipeline.chunks, stage, levels);
        for (int64_t k = 0; k < count; k++) {
            double held = 0;
            for (int64_t t = 0; t < n; t++) {
                if (tasks[t].stage != stage)
                    continue;
                held += tasks[t].kind == 'F' && tasks[t].start_s <= levels[k].s;
                held -= tasks[t].kind == 'B' && tasks[t].end_s <= levels[k].s;
            }
            assert_close(levels[k].microbatches, held / (double)pipeline.chunks, 0);
            assert_true(k == 0 || levels[k].s > levels[k - 1].s);
            most = fmax(most, levels[k].microbatches);
        }
        assert_close(most, of.peak_in_flight[stage], 0);
        assert_close(levels[count - 1].microbatches, 0, 0);
    }
}

/* Quantiles between neighbours in proportion, by sorting every time anew. */
static void error_statistics(void **state)
{
    (void)state;
    double four[] = {-0.4, 0.1, 0.3, -0.2};
    const struct sp_error_stats of = sp_summarise_errors(four, 4);
    assert_close(of.mean_abs, 0.25, 1e-15);
    assert_close(of.bias, -0.05, 1e-15);
    assert_close(of.median_abs, 0.25, 1e-15);
    assert_close(of.p90_abs, 0.37, 1e-15); /* 0.3 + 0.7 (0.4 - 0.3) */
    srand(10);
    for (int i = 0; i < 2000; i++) {
        double errors[40], rest[40];
        const size_t n = 1 + (size_t)(rand() % 40);
        for (size_t k = 0; k < n; k++)
            errors[k] = rest[k] = rand() % 2001 / 1000.0 - 1;
        double sorted[40], sum = 0;
        for (size_t k = 0; k < n; k++) { /* the smallest that is left */
            size_t least = 0;
            for (size_t j = 0; j < n; j++)
                if (fabs(rest[j]) < fabs(rest[least]))
                    least = j;
            sorted[k] = fabs(rest[least]);
            sum += rest[least];
            rest[least] = 1e9;
        }
        const double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
        const struct sp_error_stats s = sp_summarise_errors(errors, n);
        const size_t below = (size_t)(0.9 * (double)(n - 1));
        const double above = below + 1 < n ? sorted[below + 1] : sorted[below];
        assert_close(s.median_abs, middle, 1e-12);
        assert_true(fabs(s.bias - sum / (double)n) < 1e-12);
        assert_close(s.p90_abs,
                     sorted[below] +
                         (0.9 * (double)(n - 1) - (double)below) * (above - sorted[below]),
                     1e-12);
    }
    assert_true(isnan(sp_summarise_errors(four, 0).mean_abs));
}

/* A ring passes pieces one hop at a time, both ways at once: after X/2 steps everybody has
 * everything. */
static void rings(void **state)
{
    (void)state;
    for (int X = 2; X <= 16; X += 2) {
        bool has[16][16] = {{false}};
        const double V = 1e9, w = 4.5e10;
        double time = 0, crossed = 0;
        int left = X * (X - 1);
        for (int d = 0; d < X; d++)
            has[d][d] = true;
        for (int step = 1; left > 0; step++) {
            int most = 0;
            for (int d = 0; d < X; d++) {
                const int from_left = (d - step + X) % X, from_right = (d + step) % X;
                int got = 0;
                for (int side = 0; side < 2; side++) {
                    const int piece = side ? from_right : from_left;
                    if (!has[d][piece]) {
                        has[d][piece] = true;
                        got++;
                        left--;
                    }
                }
                most = got > most ? got : most;
            }
            /* at the last step of an even ring both ways bring the same piece: each way brings half
             */
            time += (most == 2 ? 1.0 : 0.5) * V / X / w;
            crossed += (most == 2 ? 1.0 : 0.5) * V / X;
        }
        const struct sp_torus_group group = {
            .n = 1, .length = {X}, .wraps = {true}, .link_bytes_per_s = w};
        /* the closed form drops (X-1)/X */
        assert_close(sp_torus_bandwidth_s(SP_ALL_GATHER, V, &group) * (X - 1) / X, time, 1e-12);
        assert_close(sp_one_way_ring_link_bytes(SP_ALL_GATHER, V, X), 2 * crossed, 1e-12);
    }
}

/* Who holds which element, device by device. */
static void shards(void **state)
{
    (void)state;
    srand(5);
    for (int i = 0; i < 2000; i++) {
        struct sp_mesh mesh = {.name = {'X', 'Y', 'Z'},
                               .length = {1 + rand() % 4, 1 + rand() % 4, 1 + rand() % 4},
                               .n = 3};
        struct sp_sharded array = {.n = 2, .name = {'I', 'J'}, .element_bytes = 2};
        for (int axis = 0; axis < 3; axis++)
            if (rand() % 2)
                array.axes[rand() % 2] |= 1u << axis;
        double parts[2];
        for (int d = 0; d < 2; d++) {
            parts[d] = 1;
            for (int axis = 0; axis < 3; axis++)
                parts[d] *= array.axes[d] >> axis & 1 ? (double)mesh.length[axis] : 1;
            array.size[d] = 12 * parts[d];
        }
        /* block indices of every device; copies of block (0, 0) */
        double copies = 0;
        int64_t at[3];
        for (at[0] = 0; at[0] < mesh.length[0]; at[0]++)
            for (at[1] = 0; at[1] < mesh.length[1]; at[1]++)
                for (at[2] = 0; at[2] < mesh.length[2]; at[2]++) {
                    bool origin = true;
                    for (int d = 0; d < 2; d++)
                        for (int axis = 0; axis < 3; axis++)
                            origin = origin && !((array.axes[d] >> axis & 1) && at[axis] > 0);
                    copies += origin;
                }
        assert_close(sp_replicas(&mesh, &array), copies, 0);
        assert_close(sp_local_bytes(&mesh, &array),
                     2 * (array.size[0] / parts[0]) * (array.size[1] / parts[1]), 0);
        assert_close(sp_whole_bytes(&array), 2 * array.size[0] * array.size[1], 0);
    }
}

/* --- the step, added up operator by operator and message by message --------------------------- */

static double blend(double a, double b) /* (a^4 + b^4)^(1/4) */
{
    return pow(pow(a, 4) + pow(b, 4), 0.25);
}

/* A machine with round figures: two axes of 8 and 4 chips that close, or nodes of 8. */
static struct sp_hardware machine(bool torus, int64_t chips)
{
    struct sp_hardware hw = {.slices = torus ? ANY(1, 2) : 1};
    hw.chip.peak_flops_per_s[SP_BF16] = 4e14;
    hw.chip.peak_flops_per_s[SP_FP8] = 8e14;
    for (int dtype = 0; dtype < SP_DTYPES; dtype++)
        if (dtype != SP_BF16 && dtype != SP_FP8)
            hw.chip.peak_flops_per_s[dtype] = NAN;
    hw.chip.hbm_bytes = 8e10;
    hw.chip.hbm_bytes_per_s = 2e12;
    hw.chip.pcie_bytes_per_s = 3e10;
    hw.chips_per_slice = chips / hw.slices;
    hw.network.kind = torus ? SP_TORUS : SP_SWITCHED;
    hw.network.axes = 2;
    hw.network.link_bytes_per_s = 9e10;
    hw.network.hop_latency_s = 1e-6;
    hw.network.wrap = SP_WRAP_ALWAYS;
    hw.network.chips_per_host = 4;
    hw.network.dcn_bytes_per_s_per_host = 2.5e10;
    hw.network.domain = 8;
    hw.network.domain_bytes_per_s = 4.5e11;
    hw.network.scaleout_bytes_per_s = 5e10;
    hw.shape =
        (struct sp_shape){{(int32_t)(hw.chips_per_slice >= 8 ? 8 : hw.chips_per_slice),
                           (int32_t)(hw.chips_per_slice >= 8 ? hw.chips_per_slice / 8 : 1), 1}};
    return hw;
}

struct world {
    struct sp_model m;
    struct sp_hardware hw;
    struct sp_plan p;
    struct sp_framework f;
    struct sp_profile profile;
    struct sp_precision precision;
};

static double k(const struct world *w, enum sp_constant id)
{
    return w->profile.value[id];
}

static double tokens_of(const struct world *w)
{
    return (double)(w->p.micro_batch * w->p.seq / w->p.cp);
}

/* [a,b] x [b,c], each side half a tile longer, against its bytes. */
static double product_s(const struct world *w, double a, double b, double c, bool layer)
{
    const bool fp8 = layer && w->p.dtype == SP_FP8;
    const double rate = fp8 ? 8e14 * k(w, SP_C_MATMUL_8) : 4e14 * k(w, SP_C_MATMUL_16);
    return blend(2 * (a + 64) * (b + 64) * (c + 64) / rate, 2 * (a * b + b * c + a * c) / 2e12);
}

static double passes_s(const struct world *w, double elements)
{
    return k(w, SP_C_MEMORY) * 2 * elements / 2e12;
}

struct operators {
    double qkv, core, out, up, down, norms;
};

/* Positions that the tokens of a sequence may attend to, on average and twice, since the products
 * of the masked half are taken off later: one by one for a window. */
static double keys_of(const struct sp_model *m, double seq)
{
    if (m->sliding_window == 0)
        return seq;
    double sum = 0, windowed = 0;
    for (int layer = 0; layer < m->layers; layer++)
        windowed += m->global_every == 0 || (layer + 1) % m->global_every != 0;
    /* between one token and the next the count rises in a straight line */
    for (int i = 0; i < (int)seq; i++)
        sum += fmin((double)m->sliding_window, i + 0.5);
    return (windowed * 2 * sum / seq + ((double)m->layers - windowed) * seq) / (double)m->layers;
}

static struct operators operators_of(const struct world *w, bool moe)
{
    const struct sp_model *const m = &w->m;
    const double T = tokens_of(w), t = (double)w->p.tp, D = (double)m->d_model,
                 N = (double)m->heads;
    const double gates = m->gated_mlp ? 2 : 1, wide = w->p.sequence_parallel ? T / t : T;
    struct operators o = {0};
    double width;
    if (m->mla.kv_lora_rank > 0) {
        const double nope = (double)m->mla.qk_nope_head_dim, rope = (double)m->mla.qk_rope_head_dim,
                     v = (double)m->mla.v_head_dim, q_l = (double)m->mla.q_lora_rank,
                     k_l = (double)m->mla.kv_lora_rank;
        if (q_l > 0)
            o.qkv =
                product_s(w, T, D, q_l, true) + product_s(w, T, q_l, N * (nope + rope) / t, true);
        else
            o.qkv = product_s(w, T, D, N * (nope + rope) / t, true);
        o.qkv +=
            product_s(w, T, D, k_l + rope, true) + product_s(w, T, k_l, N * (nope + v) / t, true);
        o.out = product_s(w, T, N * v / t, D, true);
        width = (nope + rope + v) / 2;
    } else {
        const double H = (double)m->head_dim;
        o.qkv = product_s(w, T, D, H * (N / t + 2 * fmax((double)m->kv_heads / t, 1)), true);
        o.out = product_s(w, T, H * N / t, D, true);
        width = H;
    }
    /* two products, half of them masked */
    o.core = 2 * (2 * T * keys_of(m, (double)w->p.seq) * width * N / t) / 2 /
             (4e14 * k(w, SP_C_ATTENTION));
    double elements = 11 * D * wide;
    if (moe) {
        const double inner = (double)w->p.etp;
        const double E = (double)m->moe.experts, here = E / (double)w->p.ep,
                     F = (double)m->moe.d_ff_expert;
        const double sent = T * (double)m->moe.top_k * w->p.imbalance * w->f.capacity_factor / t;
        const double shared = (double)m->moe.shared_experts * F;
        for (int expert = 0; expert < (int)here; expert++) {
            /* with TP inside an expert each rank has the rows of all, and a part of the columns */
            o.up += product_s(w, sent * inner / here, D, gates * F / inner, true);
            o.down += product_s(w, sent * inner / here, F / inner, D, true);
        }
        o.up += product_s(w, wide, D, E, false);
        if (shared > 0) {
            o.up += product_s(w, T, D, gates * shared / t, true);
            o.down += product_s(w, T, shared / t, D, true);
        }
        elements +=
            (gates + 1) * (sent * F + shared * T / t) + 4 * (1 + 1) * sent * D; /* four copies */
    } else {
        const double F = (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff);
        o.up = product_s(w, T, D, gates * F / t, true);
        o.down = product_s(w, T, F / t, D, true);
        elements += (gates + 1) * F * T / t;
    }
    if (w->p.dtype == SP_FP8)
        elements += 2 * (2 * D + N * (double)m->head_dim) * T / t;
    o.norms = passes_s(w, elements);
    return o;
}

/* Who a group is: TP itself, groups beside TP's chips, EP groups that take TP's chips too. */
enum who { TENSOR, BESIDE_TENSOR, OVER_TENSOR };

/* Bytes/s into a chip of a torus, from both sides of each axis that closes into a ring. Where a box
 * of chips is given to TP, TP has the links of the box; a part of an axis has an end, and the links
 * outside are shared by as many others as the box is long. */
static double torus_rate_of(const struct world *w, enum who who, double size)
{
    const double chips = (double)w->hw.chips_per_slice;
    const bool boxed = w->p.tp_axes[0] > 0 && who != OVER_TENSOR;
    double rate = 0, outside = 1;
    for (int axis = 0; axis < 2; axis++) {
        const int32_t length = w->hw.shape.axis[axis], mine = boxed ? w->p.tp_axes[axis] : 1;
        if (!boxed && length > 1)
            rate += 2 * 9e10;
        if (boxed && who == TENSOR && mine > 1)
            rate += (mine == length ? 2 : 1) * 9e10;
        if (boxed && who == BESIDE_TENSOR && mine < length)
            rate += 2 * 9e10 / mine;
        outside *= (double)length / mine;
    }
    if (!boxed)
        return rate * log(fmin(size, chips)) / log(chips);
    return who == TENSOR ? rate : rate * log(fmin(size, outside)) / log(outside);
}

/* Members of a group on the first node of 8, one by one. The order of ranks is TP, CP, DP, PP, or
 * TP, CP, PP, DP: then the ranks of a stage come in blocks of tp cp, pp blocks apart. */
static double in_first_node(const struct world *w, double size, double stride)
{
    const int block = (int)(w->p.tp * w->p.cp), pp = (int)w->p.pp;
    int members = 0;
    for (int i = 0; i < (int)size; i++) {
        const int rank = i * (int)stride;
        const int at = w->p.stages_inside ? rank / block * block * pp + rank % block : rank;
        members += at < 8;
    }
    return members < 1 ? 1 : members;
}

/* Gathering over `size` devices that stand `stride` ranks apart. */
static double gathering_s(const struct world *w, enum who who, double size, double stride,
                          double bytes)
{
    if (size <= 1)
        return 0;
    if (w->hw.network.kind == SP_TORUS) {
        const double rate = torus_rate_of(w, who, size);
        return bytes * (size - 1) / size / (rate * k(w, SP_C_SCALE_UP)) + 1e-6 * fmin(64, size);
    }
    const double inside = in_first_node(w, size, stride);
    const double nodes = size / inside;
    const double within = bytes * (inside - 1) / inside / (4.5e11 * k(w, SP_C_SCALE_UP));
    const double across = bytes * (nodes - 1) / nodes / (inside * 5e10 * k(w, SP_C_SCALE_OUT));
    return nodes > 1 ? blend(within, across) + 5e-6 * (nodes - 1) : within + 3e-6 * (inside - 1);
}

static double exchanging_s(const struct world *w, enum who who, double size, double stride,
                           double bytes)
{
    const double share = k(w, SP_C_EXCHANGE);
    if (size <= 1)
        return 0;
    if (w->hw.network.kind == SP_TORUS) /* a quarter of gathering everybody's bytes, no latency */
        return size * bytes / (4 * torus_rate_of(w, who, size) * share);
    const double inside = in_first_node(w, size, stride);
    return bytes * (inside - 1) / size / (4.5e11 * share) +
           bytes * (size - inside) / size / (5e10 * share);
}

/* What hides behind `work` still costs a share of itself. */
static double hidden_s(const struct world *w, double work, double comm)
{
    return comm > 0 ? blend(work, comm) - work + k(w, SP_C_CONTENTION) * comm : 0;
}

/* Who shares a stage's weights of one kind: `shards` hold a part each of a copy; of all copies some
 * stand in this slice. Neighbours are `apart` ranks from each other. */
struct sharing {
    double shards, copies, slices, apart;
    enum who who;
};

static enum who experts_are(const struct sp_plan *p)
{
    return p->etp == p->tp ? BESIDE_TENSOR : OVER_TENSOR;
}

static struct sharing sharing_of(const struct world *w, bool experts)
{
    const struct sp_plan *const p = &w->p;
    double all = (double)(p->dp * p->cp), shards = (double)p->shards, apart = (double)p->tp;
    if (experts) { /* tp more of them, of which ep etp hold different experts */
        const double different = (double)(p->ep * p->etp);
        all *= (double)p->tp / different;
        shards = fmax(1, shards * (double)p->tp / different);
        apart = different;
    }
    const bool torus = w->hw.network.kind == SP_TORUS;
    return (struct sharing){shards, all / shards,
                            torus && p->dp % w->hw.slices == 0 ? (double)w->hw.slices : 1, apart,
                            experts ? experts_are(p) : BESIDE_TENSOR};
}

/* Between slices each chip has a quarter of its host's 2.5e10 bytes/s. */
static double dcn_s(const struct world *w, double slices, double bytes)
{
    return slices <= 1 ? 0 : bytes * (slices - 1) / slices / (2.5e10 / 4 * k(w, SP_C_SCALE_OUT));
}

/* Everybody of a copy gets all of it, or the reverse. */
static double sharding_s(const struct world *w, bool experts, double bytes)
{
    const struct sharing s = sharing_of(w, experts);
    const double in_slice = fmin(s.shards, s.shards * s.copies / s.slices);
    const double within = gathering_s(w, s.who, in_slice, s.apart, bytes);
    const double between = dcn_s(w, s.shards / in_slice, bytes / in_slice);
    return between > 0 ? blend(within, between) : within;
}

/* The copies add up what each of their shards holds. */
static double adding_s(const struct world *w, bool experts, double bytes)
{
    const struct sharing s = sharing_of(w, experts);
    const double in_slice = fmax(1, s.copies / s.slices), mine = bytes / s.shards;
    return 2 * gathering_s(w, s.who, in_slice, s.apart * s.shards, mine) +
           2 * dcn_s(w, s.copies / in_slice, mine / in_slice);
}

static double sharding_both_s(const struct world *w, double dense, double experts, double bytes)
{
    return sharding_s(w, false, dense * bytes) +
           (experts > 0 ? sharding_s(w, true, experts * bytes) : 0);
}

static double adding_both_s(const struct world *w, double dense, double experts, double bytes)
{
    return adding_s(w, false, dense * bytes) +
           (experts > 0 ? adding_s(w, true, experts * bytes) : 0);
}

struct pass {
    double work, recompute, weight_grad; /* all of a layer's time, and of it */
};

static struct pass pass_of(const struct world *w, bool moe)
{
    const struct sp_plan *const p = &w->p;
    const struct sp_recompute *const r = &p->recompute;
    const struct operators o = operators_of(w, moe);
    const double T = tokens_of(w), t = (double)p->tp, redone = p->recompute_layers,
                 D = (double)w->m.d_model;
    const double matmul = 3 * (o.qkv + o.out + o.up + o.down), attention = 3.5 * o.core,
                 norms = 3 * o.norms;
    const double recompute =
        redone * (r->qkv * o.qkv + r->core * o.core + r->out * o.out + r->up * o.up +
                  (w->f.stops_early ? 0 : r->down) * o.down + r->norms * o.norms);
    /* context: keys and values of everybody, once forward, twice backward */
    const struct sp_mla *const mla = &w->m.mla;
    const double kv_width =
        mla->kv_lora_rank > 0
            ? (double)((mla->qk_nope_head_dim + mla->qk_rope_head_dim + mla->v_head_dim) *
                       w->m.heads)
            : 2 * fmax((double)w->m.kv_heads, t) * (double)w->m.head_dim;
    const double kv = 2 * kv_width * T * (double)p->cp / t;
    const double cp = 3 * gathering_s(w, BESIDE_TENSOR, (double)p->cp, t, kv);
    const double cp_exposed = hidden_s(w, attention, cp);
    /* tensor: a gather and a reduce-scatter of each block, one more gather backward with shards */
    const double one =
        gathering_s(w, TENSOR, t, 1, 2 * T * D) * (w->f.overlaps_tp ? k(w, SP_C_TP_EXPOSED) : 1);
    const bool mlp_has_tp = !moe || w->m.moe.shared_experts > 0 || p->etp > 1;
    const double down = w->f.stops_early ? 0 : r->down;
    const int each = p->sequence_parallel ? 5 : 4;
    double tp = each * one;
    /* with shards of the sequence a gather before and a scatter after; without, a sum after */
    const int before = p->sequence_parallel ? 1 : 0, after = p->sequence_parallel ? 1 : 2;
    tp += redone * one * ((r->qkv > 0 ? before : 0) + (r->spare > 0 ? 0 : r->out) * after);
    if (mlp_has_tp) {
        tp += each * one;
        tp += redone * one * ((r->up > 0 ? before : 0) + (r->spare > 0 ? 0 : down) * after);
    }
    /* experts: there and back, forward and backward, and what is not kept */
    const double way = exchanging_s(w, experts_are(p), (double)p->ep, (double)p->etp,
                                    2 * T / t * (double)(w->m.moe.top_k * p->etp) * D *
                                        p->imbalance * w->f.capacity_factor);
    double ep = moe ? 4 * way : 0;
    if (moe && r->up == 1)
        ep += redone * way;
    if (moe && down == 1)
        ep += redone * way;
    const double busy = matmul + attention + norms + recompute + cp_exposed;
    const struct sp_recompute keep = {.qkv = r->qkv,
                                      .core = r->core,
                                      .out = r->out,
                                      .up = r->up,
                                      .down = r->down,
                                      .norms = r->norms,
                                      .spare = r->spare};
    const double copied = r->offload ? 2 * kept_of(&w->m, p, &w->f, &keep, moe) * redone / 3e10 : 0;
    const double least = k(w, SP_C_LAUNCH) * (1 + redone * r->qkv / 3);
    const double with = blend(copied > 0 ? blend(busy, copied) : busy, least);
    const double without =
        blend(copied > 0 ? blend(busy - matmul / 3, copied) : busy - matmul / 3, least);
    return (struct pass){with + tp + ep, recompute, with - without};
}

/* Idle time of either of two equal stages that work `work` s on a micro-batch, of which the weight
 * gradients take `late` s. One stage waits for the other's first pass and last one. */
static double idle_of_two_s(const struct sp_plan *p, int m, double work, double late)
{
    switch (p->schedule) {
    case SP_NAIVE: /* one at a time */
        return m * work;
    case SP_INTERLEAVED: /* a chunk's passes; an odd micro-batch goes round alone */
    case SP_CIRCULAR:
        return m % 2 ? work : work / (double)p->vpp;
    case SP_ZB_H1: /* the weight gradients of two micro-batches fill the gap, or of three */
        return fmax(0, work - fmin(m, 2) * late);
    case SP_ZB_H2:
        return fmax(0, work - fmin(m, 3) * late);
    default: /* DualPipe fills two devices from both ends */
        return 0;
    }
}

/* Two stages under a schedule that has a closed form only: the one that works longer than it waits
 * sets the pace, and waits as long as the other would in a pipeline of its like. */
static double two_stages_s(const struct sp_plan *p, int m, const double *work, const double *late)
{
    const double idle[] = {idle_of_two_s(p, m, work[0], late[0]),
                           idle_of_two_s(p, m, work[1], late[1])};
    const int slow = m * work[1] - idle[1] > m * work[0] - idle[0];
    return m * work[slow] + idle[1 - slow];
}

/* Gradients over the replicas and weights back, hidden behind a micro-batch, and the optimizer,
 * which reads and writes master copy and moments, reads the gradient, writes the weight. */
static double updating_s(const struct world *w, double dense, double experts, double each, int m)
{
    const struct sp_plan *const p = &w->p;
    const double sent = w->precision.grad_bytes > 0 ? w->precision.grad_bytes : 2;
    double time = 0;
    if (p->zero == 3) {
        time += hidden_s(w, each, adding_both_s(w, dense, experts, 2));
    } else {
        const double grads = sharding_both_s(w, dense, experts, sent);
        const double back =
            sharding_both_s(w, dense, experts, p->zero == 0 ? sent : w->precision.weight_bytes);
        if (p->zero == 2)
            time += (m - 1) * hidden_s(w, each, grads);
        time += hidden_s(w, each, adding_both_s(w, dense, experts, sent) + grads + back);
    }
    const double mine =
        p->zero == 0 ? dense + experts
                     : dense / sharing_of(w, false).shards + experts / sharing_of(w, true).shards;
    return time + k(w, SP_C_MEMORY) * mine *
                      (2 * (w->precision.master_bytes + w->precision.optimizer_bytes) +
                       w->precision.weight_bytes + w->precision.grad_bytes) /
                      2e12;
}

static double obvious_step(const struct world *w)
{
    const struct sp_plan *const p = &w->p;
    const double T = tokens_of(w), t = (double)p->tp, D = (double)w->m.d_model,
                 V = (double)w->m.vocab;
    const int m = (int)sp_plan_microbatches(p), stages = (int)p->pp;
    double forward[16], backward[16], work[16], late[16];
    struct sp_stage_weights held[16];
    int slowest = 0;
    for (int s = 0; s < stages; s++) {
        const int from = first_layer(&w->m, stages, s), to = first_layer(&w->m, stages, s + 1);
        double dense, experts, recompute = 0;
        work[s] = late[s] = 0;
        for (int layer = from; layer < to; layer++) {
            const struct pass pass = pass_of(w, has_experts(&w->m, layer));
            work[s] += pass.work;
            recompute += pass.recompute;
            late[s] += pass.weight_grad;
        }
        if (s == 0)
            work[s] += 3 * passes_s(w, 2 * T * D);
        if (s == stages - 1) {
            work[s] += 3 * product_s(w, T, D, V / t, false) + 3 * passes_s(w, 3 * T * V / t);
            late[s] += product_s(w, T, D, V / t, false);
        }
        held_of(&w->m, p, from, to, &dense, &experts);
        held[s].dense = dense;
        held[s].experts = experts;
        if (p->zero == 3) { /* gathered twice, reduced once, 2 bytes each */
            work[s] += hidden_s(w, work[s], sharding_both_s(w, dense, experts, 6));
            late[s] = 0; /* the next gather stands where weight gradients would wait */
        }
        forward[s] = (work[s] - recompute) / 3;
        backward[s] = work[s] - forward[s];
        slowest = work[s] > work[slowest] ? s : slowest;
    }
    const bool closed = p->schedule != SP_GPIPE && p->schedule != SP_1F1B;
    const double pipeline = stages == 1 ? m * work[0]
                            : closed
                                ? two_stages_s(p, m, work, late)
                                : played(p->schedule == SP_GPIPE, stages, m, forward, backward);
    double step = fmax(pipeline, m * work[slowest]);
    /* sends there and back */
    if (stages > 1) {
        const int64_t apart = p->tp * p->cp * (p->stages_inside ? 1 : p->dp);
        double across = 0; /* of the boundaries, those between two nodes or slices */
        if (w->hw.network.kind == SP_TORUS)
            across = p->dp % w->hw.slices == 0 ? 0 : (double)(w->hw.slices - 1);
        else if (apart >= 8)
            across = stages - 1;
        else
            across = fmax(0, (double)(stages * apart) / 8 - 1);
        across /= stages - 1;
        const bool torus = w->hw.network.kind == SP_TORUS;
        const double link =
            1 / ((1 - across) / (torus ? 9e10 : 4.5e11) + across / (torus ? 2.5e10 / 4 : 5e10));
        const double seen = w->f.overlaps_sends && p->vpp > 1 ? k(w, SP_C_CONTENTION) : 1;
        step += 2 * (m + stages - 1) * (double)p->vpp *
                (seen * 2 * T * D / t / (link * k(w, SP_C_SEND)) + 5e-6);
    }
    /* gradients and weights over the replicas, hidden behind a micro-batch */
    const double each = pipeline / m;
    double last = 0; /* of all stages the slowest */
    for (int stage = 0; stage < stages; stage++) {
        const double copies = p->schedule == SP_DUALPIPE ? 2 : 1; /* two stages on a device */
        last = fmax(
            last, updating_s(w, copies * held[stage].dense, copies * held[stage].experts, each, m));
    }
    step += last;
    step *= 1 + k(w, SP_C_STRAGGLER) * log2(1 + (double)sp_chips(&w->hw) / 8);
    const double flops = 6 * sp_count_params(&w->m).active * (double)(p->batch * p->seq);
    return fmax(step, flops / ((double)sp_chips(&w->hw) * (p->dtype == SP_FP8 ? 8e14 : 4e14)));
}

static void steps(void **state)
{
    (void)state;
    srand(6);
    int compared = 0, boxes = 0;
    for (int i = 0; i < 60000; i++) {
        struct world w = {.m = random_model()};
        w.m.d_model *= ANY(1, 8, 32);
        w.m.d_ff *= ANY(1, 8, 32);
        w.m.sliding_window = ANY(0, 0, 100, 1000);
        w.m.global_every = ANY(0, 1, 2, 3);
        w.p = random_plan(&w.m);
        if (rand() % 4 == 0) { /* groups of more than 64, whose hops are no longer counted */
            w.p.dp *= 64;
            w.p.batch *= 64;
            w.p.shards = w.p.dp * w.p.cp;
        }
        w.p.batch *= w.p.micro_batch;
        if (w.m.moe.experts > 0 && rand() % 3 == 0)
            w.p.etp = w.p.tp;
        if (w.p.pp == 2 && rand() % 2) {
            w.p.schedule = (enum sp_schedule)(rand() % SP_SCHEDULES);
            if (w.p.schedule == SP_INTERLEAVED || w.p.schedule == SP_CIRCULAR)
                w.p.vpp = ANY(2, 3);
            if (w.p.schedule != SP_DUALPIPE)
                w.p.batch -= w.p.dp * w.p.micro_batch * (rand() % 3);
        }
        w.p.stages_inside = rand() % 2;
        w.p.dtype = rand() % 3 ? SP_BF16 : SP_FP8;
        if (w.m.moe.experts > 0)
            w.p.pp = 1; /* only then are all inner stages alike, and the library's 1F1B exact */
        else if ((w.m.layers % w.p.pp != 0 && (w.m.layers + 2) % w.p.pp != 0) || w.p.pp > 2)
            w.p.pp = ANY(1, 2);
        const bool torus = rand() % 2;
        w.hw = machine(torus, sp_plan_devices(&w.p));
        if (torus && w.p.tp > 1 && rand() % 2) { /* a box of tp chips */
            const int32_t x = (int32_t)ANY(1, 2, 4), y = (int32_t)w.p.tp / x;
            if (x * y == w.p.tp && w.hw.shape.axis[0] % x == 0 && w.hw.shape.axis[1] % y == 0) {
                w.p.tp_axes[0] = x;
                w.p.tp_axes[1] = y;
                w.p.tp_axes[2] = 1;
                boxes++;
            }
        }
        w.f = (struct sp_framework){.overlaps_tp = rand() % 2,
                                    .overlaps_sends = rand() % 2,
                                    .stops_early = rand() % 2,
                                    .capacity_factor = (double)ANY(1, 2),
                                    .keeps_gathered = rand() % 2,
                                    .ring_attention = rand() % 2};
        w.precision = (struct sp_precision){.weight_bytes = 2,
                                            .grad_bytes = (double)ANY(0, 2, 4),
                                            .master_bytes = 4,
                                            .optimizer_bytes = 8};
        for (int c = 0; c < SP_CONSTANTS; c++)
            w.profile.value[c] = sp_constants[c].gpu * (0.7 + 0.6 * rand() / RAND_MAX);
        if (w.hw.chips_per_slice < 2 ||
            w.hw.chips_per_slice * w.hw.slices != sp_plan_devices(&w.p) ||
            sp_check_plan(&w.m, &w.p, sp_plan_devices(&w.p), w.hw.slices) != SP_PLAN_OK)
            continue;
        const struct sp_step_inputs in = {&w.m, &w.hw, &w.precision, &w.f, &w.profile, &w.p};
        const struct sp_step_time time = sp_estimate_step(&in);
        assert_close(time.step, obvious_step(&w), 1e-9);
        compared++;
    }
    print_message("%d steps\n", compared);
    assert_true(compared >= 10000 && boxes > 1000);
}

/* The order in which an array's dimensions are written changes nothing. */
static void order_of_dimensions(void **state)
{
    (void)state;
    srand(11);
    for (int i = 0; i < 4000; i++) {
        const struct sp_mesh mesh = {.name = {'X', 'Y', 'Z'}, .length = {2, 4, 3}, .n = 3};
        struct sp_sharded a = {.n = 2, .name = {'I', 'J'}, .size = {96, 48}, .element_bytes = 2};
        struct sp_sharded b = {.n = 2, .name = {'J', 'K'}, .size = {48, 24}, .element_bytes = 2};
        for (int axis = 0; axis < 3; axis++) {
            if (rand() % 2)
                a.axes[rand() % 2] |= 1u << axis;
            if (rand() % 2)
                b.axes[rand() % 2] |= 1u << axis;
        }
        struct sp_sharded turned[2] = {a, b};
        for (int k = 0; k < 2; k++) {
            struct sp_sharded *const t = &turned[k];
            const struct sp_sharded was = *t;
            for (int d = 0; d < 2; d++) {
                t->name[d] = was.name[1 - d];
                t->size[d] = was.size[1 - d];
                t->axes[d] = was.axes[1 - d];
            }
        }
        const struct sp_sharded_matmul first = sp_sharded_matmul(&mesh, &a, &b, 2);
        if (first.kind != SP_CASE_MISMATCH)
            assert_close(first.flops, 2.0 * 96 * 48 * 24, 0);
        for (int which = 1; which < 4; which++) {
            const struct sp_sharded_matmul other = sp_sharded_matmul(
                &mesh, which & 1 ? &turned[0] : &a, which & 2 ? &turned[1] : &b, 2);
            assert_int_equal(other.kind, first.kind);
            assert_int_equal(other.gathered, first.gathered);
            assert_int_equal(other.over, first.over);
            assert_close(other.bytes, first.bytes, 0);
            assert_close(other.flops, first.flops, 0);
            assert_close(other.replication, first.replication, 0);
            assert_close(other.output_bytes, first.output_bytes, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_and_flops),
        cmocka_unit_test(memory),
        cmocka_unit_test(conservation),
        cmocka_unit_test(steps),
        cmocka_unit_test(repeated_flops),
        cmocka_unit_test(in_flight_over_time),
        cmocka_unit_test(error_statistics),
        cmocka_unit_test(pipelines),
        cmocka_unit_test(rings),
        cmocka_unit_test(shards),
        cmocka_unit_test(order_of_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
