/* FLOPs of training, by part. */
#include <math.h>

#include <scaleplan/flops.h>

/* Columns of the weight matrices that one token passes in the attention projections, times d_model.
 */
static double projection_weights(const struct sp_model *m)
{
    const double h = (double)m->d_model, a = (double)m->heads, H = (double)m->head_dim;
    if (m->mla.kv_lora_rank == 0)
        return 2 * h * H * (a + (double)m->kv_heads);
    const struct sp_mla *mla = &m->mla;
    const double d_qk = (double)(mla->qk_nope_head_dim + mla->qk_rope_head_dim);
    const double q_l = (double)mla->q_lora_rank, k_l = (double)mla->kv_lora_rank;
    const double query = q_l > 0 ? h * q_l + q_l * a * d_qk : h * a * d_qk;
    return query + h * (k_l + (double)mla->qk_rope_head_dim) +
           k_l * a * (double)(mla->qk_nope_head_dim + mla->v_head_dim) +
           a * (double)mla->v_head_dim * h;
}

/* Sum of the widths of the score and the value product of all heads. */
static double attention_width(const struct sp_model *m)
{
    const double a = (double)m->heads;
    if (m->mla.kv_lora_rank == 0)
        return 2 * a * (double)m->head_dim;
    return a * (double)(m->mla.qk_nope_head_dim + m->mla.qk_rope_head_dim + m->mla.v_head_dim);
}

/* Share of the layers that have no window. */
static double global_share(const struct sp_model *m)
{
    if (m->sliding_window <= 0)
        return 1;
    const int64_t global = m->global_every > 0 ? m->layers / m->global_every : 0;
    return (double)global / (double)m->layers;
}

double sp_attended_tokens(const struct sp_model *m, double seq)
{
    const double W = (double)m->sliding_window, g = global_share(m);
    return W > 0 && W < seq ? g * seq + (1 - g) * (2 * W - W * W / seq) : seq;
}

double sp_seq_of_attended_tokens(const struct sp_model *m, double tokens)
{
    const double W = (double)m->sliding_window, g = global_share(m);
    if (W <= 0 || tokens <= W)
        return tokens;
    /* g seq^2 + (2W (1-g) - tokens) seq - (1-g) W^2 = 0 */
    const double b = 2 * W * (1 - g) - tokens, c = (1 - g) * W * W;
    if (g > 0)
        return (sqrt(b * b + 4 * g * c) - b) / (2 * g);
    return b > 0 ? c / b : INFINITY;
}

/* MLP weights that one token passes, all layers. */
static double mlp_weights(const struct sp_model *m)
{
    const struct sp_moe *moe = &m->moe;
    const double D = (double)m->d_model, matrices = m->gated_mlp ? 3 : 2;
    const double L = (double)m->layers, L_moe = (double)sp_moe_layers(m);
    const double d_ff_dense = (double)(moe->d_ff_dense > 0 ? moe->d_ff_dense : m->d_ff);
    const double passed = (double)((moe->top_k + moe->shared_experts) * moe->d_ff_expert);
    return (L - L_moe) * matrices * D * d_ff_dense +
           L_moe * (matrices * D * passed + D * (double)moe->experts);
}

struct sp_flops sp_forward_flops_per_token(const struct sp_model *m, double seq, bool causal,
                                           bool count_embedding)
{
    if (!sp_model_has_shape(m))
        return (struct sp_flops){NAN, NAN, NAN, NAN, NAN, 2 * m->params};
    const double L = (double)m->layers, head = 2 * (double)m->d_model * (double)m->vocab;
    struct sp_flops f = {
        .mlp = 2 * mlp_weights(m),
        .projections = 2 * L * projection_weights(m),
        .attention = 2 * L * sp_attended_tokens(m, seq) * attention_width(m) * (causal ? 0.5 : 1),
        .unembedding = head,
        .embedding = count_embedding ? head : 0,
    };
    f.total = f.mlp + f.projections + f.attention + f.unembedding + f.embedding;
    return f;
}

double sp_recomputed_flops_per_token(const struct sp_flops *forward, enum sp_remat remat)
{
    switch (remat) {
    case SP_REMAT_SELECTIVE:
    case SP_REMAT_DOTS:
        return forward->attention;
    case SP_REMAT_MLP:
        return forward->attention + forward->projections;
    case SP_REMAT_FULL:
        return forward->total - forward->unembedding - forward->embedding;
    default:
        return 0;
    }
}

double sp_training_flops(double params, double tokens)
{
    return 6 * params * tokens;
}

double sp_attention_crossover_tokens(const struct sp_model *m, bool causal)
{
    const struct sp_flops one = sp_forward_flops_per_token(m, 1, causal, false);
    return sp_seq_of_attended_tokens(m, (one.mlp + one.projections) / one.attention);
}

double sp_scores_equal_projections_tokens(const struct sp_model *m, bool causal)
{
    const struct sp_flops one = sp_forward_flops_per_token(m, 1, causal, false);
    return sp_seq_of_attended_tokens(m, one.projections / one.attention);
}

double sp_mfu(double params, double tokens_per_s, double devices, double peak_flops_per_s)
{
    return 6 * params * tokens_per_s / (devices * peak_flops_per_s);
}

double sp_pf_days(double flops)
{
    return flops / (1e15 * 86400);
}

double sp_kv_bytes_per_token(const struct sp_model *m, double element_bytes)
{
    const double latent = (double)(m->mla.kv_lora_rank + m->mla.qk_rope_head_dim);
    const double width = m->mla.kv_lora_rank > 0 ? latent : 2 * (double)(m->kv_heads * m->head_dim);
    return element_bytes * (double)m->layers * width;
}

double sp_selective_flop_overhead(double seq, double d_model)
{
    return (1 + seq / (3 * d_model)) / (1 + seq / (6 * d_model)) - 1;
}
