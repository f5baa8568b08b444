/* Shared by the obvious tests: tensors one by one, and random models and plans. */
#include "obvious.h"

#include <string.h>

int64_t any(const int64_t *list, size_t n)
{
    return list[(size_t)rand() % n];
}

static void put(struct listing *l, int layer, double rows, double columns, enum share share,
                bool multiplies)
{
    assert_true(l->n < sizeof l->at / sizeof *l->at);
    l->at[l->n++] = (struct tensor){rows, columns, share, multiplies, false, false, layer};
}

bool has_experts(const struct sp_model *m, int layer)
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

void put_attention(struct listing *l, const struct sp_model *m, int layer)
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

void put_mlp(struct listing *l, const struct sp_model *m, int layer, double width, enum share share,
             bool bias)
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

void list_model(const struct sp_model *m, struct listing *l)
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

struct sp_model random_model(void)
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

int first_layer(const struct sp_model *m, int64_t stages, int64_t stage)
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

double padded(double vocab, double tp)
{
    double size = 0;
    while (size < vocab)
        size += 128 * tp;
    return size;
}

double sharers(const struct sp_model *m, const struct sp_plan *p, enum share share)
{
    if (share == OVER_KV_HEADS)
        return (double)(p->tp < m->kv_heads ? p->tp : m->kv_heads);
    return share == OVER_TP ? (double)p->tp : 1;
}

void held_of(const struct sp_model *m, const struct sp_plan *p, int from, int to, double *dense,
             double *experts)
{
    static struct listing listing;
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

struct sp_plan random_plan(const struct sp_model *m)
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
                        .dtype = rand() % 3 ? SP_BF16 : SP_FP8,
                        .imbalance = (double)ANY(1, 1, 2)};
    p.recompute.offload = rand() % 6 == 0;
    p.execution.attention_kernel = (enum sp_attention_kernel)(rand() % 4 == 0);
    p.execution.logits = (enum sp_logits)(rand() % SP_LOGITS_KINDS);
    p.execution.dropout = rand() % 3 == 0 ? 0.1 : 0;
    p.execution.cp_kind = (enum sp_cp_kind)(rand() % SP_CP_KINDS);
    p.sequence_parallel = p.tp > 1 && rand() % 2;
    p.shards = p.dp * p.cp / (p.dp > 2 ? ANY(1, 2, 4) : p.dp > 1 ? ANY(1, 2) : 1);
    return p;
}

int microbatches_of(const struct sp_plan *p)
{
    int64_t most = 0;
    for (int64_t replica = 0; replica < p->dp; replica++) {
        int64_t sequences = 0, micro = 0;
        for (int64_t dealt = replica; dealt < p->batch; dealt += p->dp)
            sequences++;
        for (; sequences > 0; sequences -= p->micro_batch)
            micro++;
        most = micro > most ? micro : most;
    }
    return (int)most;
}

double played(bool gpipe, int p, int m, const double *forward, const double *backward)
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
