/* Token mixers: attention and its alternatives. */
#include "core/layers/layer_rows.h"

/* Bytes per element of recurrent state and per token of a convolution's history, as in the
 * generation code of Mamba and Qwen3-Next. */
enum { STATE_BYTES = 4, TAP_BYTES = 2 };

/* Share of the layers that attend to all tokens. */
static double global_share(const struct sp_model *m)
{
    const int64_t first = m->global_first < m->layers ? m->global_first : m->layers;
    const int64_t later = m->global_every > 0 ? (m->layers - first) / m->global_every : 0;
    return m->sliding_window + m->attention_chunk > 0 ? (double)(first + later) / (double)m->layers
                                                      : 1;
}

/* Kept activations of keys, values and scores, whatever produced queries, keys and values. */
static void keep_scores(struct sp_layer *l, enum sp_operator qkv, bool made)
{
    const struct sp_mixer *x = &l->mixer;
    const double q = x->heads * x->qk, kv = x->kv_heads * (x->qk + x->v), out = x->heads * x->v;
    KEEP(l, q, SP_BY_WIDTH, qkv, SP_COPIES_QKV, NONE | SELECTIVE | DOTS);
    if (made) /* otherwise kept by the layer that made them */
        KEEP(l, kv, SP_BY_WIDTH, qkv, SP_COPIES_QKV, NONE | SELECTIVE | DOTS,
             .groups = x->kv_heads);
    KEEP(l, out, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE | SELECTIVE, .with_norms = true);
    KEEP(l, out, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_EXCHANGED, .with_norms = true);
    KEEP(l, out, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_CAST, .with_norms = true,
         .feeds = 1U << SP_OP_OUT);
    KEEP(l, 2 * x->heads, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE); /* log-sum-exp, 4 bytes */
}

/* Heads of an attention and their widths. */
struct heads {
    double q, kv, qk, v;
    double streams;     /* inputs of queries, keys and values, each as wide as the layer */
    double made;        /* projections of keys and values: 2; 1 if keys are values; 0 if both are
                           reused */
    bool gate, reusing; /* gate: as wide as the values; reusing: keys and values of another layer */
};

/* A gate on attention's output, of the width of all values or of one number per head. */
static void list_gates(const struct sp_model *m, struct sp_layer *l, double heads, double values)
{
    const double width = m->attention_gate ? values : heads;
    MATMUL(l, "output gate", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, l->width, width);
    KEEP(l, width, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
}

/* Grouped-query attention. With fewer KV heads than TP ranks, several ranks hold the same head, in
 * weights, activations, matmuls and CP sends. */
static void list_grouped(const struct sp_model *m, struct sp_layer *l, const struct heads *h)
{
    const double D = l->width, a = h->q, K = h->kv;
    l->mixer.kv_heads = K;
    l->mixer.qk = h->qk;
    l->mixer.v = h->v;
    l->mixer.cache = h->reusing ? 0 : K * (h->qk + h->v);
    const double keys = h->made > 0 ? h->qk : 0, values = h->made > 1 ? h->v : 0;
    MATMUL(l, "QKV projection", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, h->streams * D,
           h->qk * a + K * (keys + values) + (h->gate ? h->v * a : 0), .groups = K,
           .group_out = keys + values, .bias = m->qkv_bias, .target = SP_LORA_Q,
           .piece = {h->qk * a, K * keys, K * values});
    MATMUL(l, "output projection", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, h->v * a, D,
           .bias = m->o_bias, .target = SP_LORA_O);
    if (h->gate)
        KEEP(l, h->v * a, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    if (m->head_gates)
        list_gates(m, l, a, h->v * a);
}

/* Attention to tokens picked by an indexer. In latents shared by all heads it counts the cheaper of
 * two forms, as in DeepSeek-V3.2's report for short and long sequences: all pairs, masked, in
 * separate heads, or the picked ones in shared latents (1088 instead of 320 multiply-adds per pair
 * and head). The indexer scores all pairs; the whole cache is kept. */
static void attend_to_picked(const struct sp_model *m, struct sp_layer *l)
{
    const double latent = (double)m->mla.kv_lora_rank, rope = (double)m->mla.qk_rope_head_dim;
    l->mixer.window = (double)m->sparse.top_k;
    l->mixer.global = 0;
    l->mixer.picked = latent > 0 ? 2 * latent + rope : l->mixer.qk + l->mixer.v;
}

/* The lightning indexer: query heads from the query latent, one shared key, a weight per head; the
 * top_k tokens with the largest sums are attended to. Every rank computes all of it. DeepSeek-V3.2,
 * section 2.1. Without latents, queries are of the stream and the largest product of a head counts,
 * so that there are no weights, and norms of both in place of the key's LayerNorm: MiniMax-M3
 * (Megatron-Bridge, modeling_minimax_m3_vl.py). */
static void list_indexer(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_sparse_attention *s = &m->sparse;
    const double heads = (double)s->index_heads, width = (double)s->index_head_dim;
    const double from = m->mla.q_lora_rank > 0 ? (double)m->mla.q_lora_rank : l->width;
    const bool weighs = m->mla.kv_lora_rank > 0;
    l->mixer.index = heads * (width + weighs);
    l->mixer.cache += width;
    l->mixer.cache_index = width;
    MATMUL(l, "index queries", SP_PART_ATTENTION, weighs ? SP_OP_LATENT : SP_OP_QKV, SP_TP_WHOLE,
           from, heads * width);
    MATMUL(l, "index key", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_WHOLE, l->width, width);
    if (weighs)
        MATMUL(l, "index weights", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_WHOLE, l->width, heads,
               .plain = true);
    TENSOR(l, 2 * width, SP_PART_ATTENTION, SP_TP_WHOLE); /* LayerNorm of the key, or two norms */
    KEEP(l, (heads + 1) * width + (weighs ? heads : 0), SP_BY_NOTHING, SP_OP_LATENT, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS);
    KEEP(l, 2 * (double)s->top_k, SP_BY_NOTHING, SP_OP_CORE, SP_COPIES_ONE, NONE); /* 4 bytes */
}

/* Multi-head latent attention: low-rank latents with norms, expanded to queries, keys and values of
 * all heads. DeepSeek-V2, section 2.1. */
static void list_latent(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_mla *mla = &m->mla;
    const double D = (double)m->d_model, a = (double)m->heads;
    const double q_l = (double)mla->q_lora_rank, k_l = (double)mla->kv_lora_rank;
    const double nope = (double)mla->qk_nope_head_dim, rope = (double)mla->qk_rope_head_dim;
    const double v = (double)mla->v_head_dim;
    l->mixer.kv_heads = a;
    l->mixer.qk = nope + rope;
    l->mixer.v = v;
    l->mixer.cache = k_l + rope;
    if (q_l > 0)
        MATMUL(l, "query latent", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, D, q_l,
               .bias = m->qkv_bias, .target = SP_LORA_Q);
    MATMUL(l, "queries", SP_PART_ATTENTION, q_l > 0 ? SP_OP_LATENT : SP_OP_QKV, SP_TP_COLUMNS,
           q_l > 0 ? q_l : D, a * (nope + rope), .norm = q_l, .target = SP_LORA_Q);
    MATMUL(l, "key-value latent", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, D, k_l + rope,
           .bias = m->qkv_bias, .target = SP_LORA_K);
    MATMUL(l, "keys and values", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_COLUMNS, k_l,
           a * (nope + v), .norm = k_l, .target = SP_LORA_V);
    MATMUL(l, "latent output projection", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, a * v, D,
           .bias = m->o_bias, .target = SP_LORA_O);
    if (m->attention_gate)
        list_gates(m, l, a, a * v);
    KEEP(l, q_l + k_l, SP_BY_NOTHING, SP_OP_QKV, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS); /* before the norm */
    KEEP(l, q_l + k_l, SP_BY_NOTHING, SP_OP_LATENT, SP_COPIES_ONE, NONE | SELECTIVE,
         .feeds = 1U << SP_OP_LATENT); /* after it */
}

/* Weights of query and key norms, for `all` heads of both. */
static double qk_norm_weights(int qk_norm, double head_dim, double all)
{
    const double heads[] = {[SP_QK_NORM_NONE] = 0, [SP_QK_NORM_HEAD] = 2, [SP_QK_NORM_FULL] = all};
    return heads[qk_norm] * head_dim;
}

/* Norm weights of an attention's queries and own keys. Norms over all heads take a sum each. */
static double norm_queries_and_keys(const struct sp_model *m, const struct heads *h,
                                    struct sp_mixer *mixer)
{
    const double both = qk_norm_weights(m->qk_norm, h->qk, h->q + h->kv);
    if (m->qk_norm == SP_QK_NORM_FULL)
        mixer->sums = h->made > 0 ? 2 : 1;
    return h->made > 0 || m->qk_norm == SP_QK_NORM_NONE ? both
           : m->qk_norm == SP_QK_NORM_HEAD              ? h->qk
                                                        : h->q * h->qk;
}

/* A causal convolution of `channels` channels over `taps` tokens: read, written. */
static void add_convolution(struct sp_layer *l, double channels, double taps)
{
    if (taps <= 0)
        return;
    l->mixer.scan += taps * channels;
    l->mixer.state += TAP_BYTES * (taps - 1) * channels;
    MOVE(l, 2 * channels, SP_BY_WIDTH, SP_OP_CORE);
}

/* Kept activations and traffic of linear attention besides its scan: `made` projection outputs,
 * `scanned` inputs and internals of the scan, and the output of width `inner` before and after norm
 * and gate. */
static void keep_linear(struct sp_layer *l, double made, double scanned, double inner)
{
    sp_keep_stream(l, 1, inner);
    KEEP(l, made, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    if (scanned > 0)
        KEEP(l, scanned, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE);
    KEEP(l, inner, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE | SELECTIVE, .with_norms = true);
    KEEP(l, inner, SP_BY_WIDTH, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    MOVE(l, 3 * inner, SP_BY_WIDTH, SP_OP_NORMS);
}

/* Lightning attention: constant decays, an output gate, one norm over all heads. Per chunk of C
 * tokens a head multiplies queries, keys and values, and updates and reads its state. MiniMax-01
 * 2025, section 2.2.1. */
static void list_lightning(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_linear_attention *x = &m->linear;
    const double D = l->width, h = (double)x->heads, k = (double)x->key_heads;
    const double dk = (double)x->key_dim, dv = (double)x->value_dim;
    const double C = x->chunk > 0 ? (double)x->chunk : 256, channels = 2 * k * dk + h * dv;
    l->mixer.scan = h * (C * (dk + dv) + 2 * dk * dv);
    l->mixer.sums = 1;
    MATMUL(l, "linear attention inputs", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D,
           channels + h * dv, .groups = k, .group_out = 2 * dk);
    TENSOR(l, h * dv, SP_PART_ATTENTION, SP_TP_STORED);
    keep_linear(l, channels + h * dv, 0, h * dv);
    MOVE(l, channels + h * dv + 2 * h * dk * dv / C, SP_BY_WIDTH,
         SP_OP_CORE); /* inputs, outputs, states */
}

/* Gated DeltaNet: decay and step size per head, output gate, norm per head. Per chunk of C tokens a
 * head multiplies keys by keys, inverts a C x C triangle, applies it to keys and values, multiplies
 * queries, keys and values, and does three products with its state. Yang, Kautz and Hatamizadeh
 * 2024, "Gated Delta Networks", section 3.3. With gate_rank, decays are per channel, and decay and
 * gate pass a latent: Kimi Linear 2025, section 3; Kimi K3's gate does not. Counts the chunked form
 * that kernels run (chunks of 64; Mamba-2: `chunk`), 1.5 to 2 times the recurrence. Mamba-1 has
 * none: 4 multiply-adds per state element. */
static void list_delta_rule(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_linear_attention *x = &m->linear;
    const double D = l->width, h = (double)x->heads, k = (double)x->key_heads;
    const double dk = (double)x->key_dim, dv = (double)x->value_dim, r = (double)x->gate_rank;
    const double C = x->chunk > 0 ? (double)x->chunk : 64, channels = 2 * k * dk + h * dv;
    const double decays = r > 0 ? h + h * dk : 2 * h;
    const bool low = r > 0 && !x->full_gate;
    l->mixer.scan = h * (C * (3 * dk + 2 * dv) + C * C / 6 + 3 * dk * dv);
    MATMUL(l, "linear attention inputs", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D,
           channels + (low ? 0 : h * dv), .groups = k, .group_out = 2 * dk);
    MATMUL(l, "decay and step", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, r > 0 ? h : 2 * h);
    if (r > 0) {
        MATMUL(l, "decay and gate latents", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, D,
               low ? 2 * r : r);
        MATMUL(l, "decay", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_COLUMNS, r, h * dk);
    }
    if (low)
        MATMUL(l, "output gate", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_COLUMNS, r, h * dv);
    TENSOR(l, (double)x->conv * channels + decays + dv, SP_PART_ATTENTION,
           SP_TP_STORED); /* taps, decays, the heads' norm */
    keep_linear(l, channels + h * dv + decays, channels + h * C, h * dv);
    add_convolution(l, channels, (double)x->conv);
    /* inputs and outputs; the triangle, its products and their corrections, written and read;
     * likewise the state per chunk */
    MOVE(l, channels + 2 * h + h * dv, SP_BY_WIDTH, SP_OP_CORE);
    MOVE(l, 2 * h * (C + dk + 2 * dv) + 2 * h * dk * dv / C, SP_BY_WIDTH, SP_OP_CORE);
}

static void list_linear(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_linear_attention *x = &m->linear;
    const double inner = (double)(x->heads * x->value_dim);
    l->mixer.heads = (double)x->heads;
    l->mixer.state = STATE_BYTES * inner * (double)x->key_dim;
    MATMUL(l, "linear attention output", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, inner, l->width);
    if (x->fixed_decay)
        list_lightning(m, l);
    else
        list_delta_rule(m, l);
}

/* Mamba-2: heads share a step size, groups of heads B and C. Per chunk of Q tokens a group
 * multiplies C by B, a head that by its channels, and both update and read the chunk's state. Dao
 * and Gu 2024, "Transformers are SSMs", section 6. Kept activations: those of the fused kernel,
 * which recomputes the convolution. */
static void list_heads_of_state(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_state_space *x = &m->state_space;
    const double D = l->width, inner = (double)x->inner, h = (double)x->heads;
    const double N = (double)x->state, G = (double)x->groups;
    const double Q = x->chunk > 0 ? (double)x->chunk : 256, channels = inner + 2 * G * N;
    l->mixer.scan += G * Q * N + inner * (Q + 2 * N);
    MATMUL(l, "state-space inputs", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D,
           inner + channels + h, .groups = G, .group_out = 2 * N, .bias = x->bias);
    MATMUL(l, "state-space output", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, inner, D,
           .bias = x->bias);
    TENSOR(l, ((double)x->conv + x->conv_bias) * channels + 3 * h + (x->norm ? inner : 0),
           SP_PART_ATTENTION, SP_TP_STORED); /* taps; decay, skip and step bias per head */
    KEEP(l, inner + channels + h, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    add_convolution(l, channels, (double)x->conv);
    /* inputs and outputs; states per chunk, accumulated over chunks: written and read in 4 bytes,
     * then in 2 */
    MOVE(l, channels + h + inner, SP_BY_WIDTH, SP_OP_CORE);
    MOVE(l, 6 * inner * N / Q, SP_BY_WIDTH, SP_OP_CORE);
}

/* Mamba-1: step size, B and C per token from all channels, and N state numbers per channel:
 * decayed, updated and read with 4 multiply-adds per element. Gu and Dao 2023, "Mamba", section 3.
 * Kept activations: those of the fused kernel, which recomputes convolution and step sizes. */
static void list_channels_of_state(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_state_space *x = &m->state_space;
    const double D = l->width, inner = (double)x->inner, N = (double)x->state;
    const double r = (double)x->dt_rank, steps = r + 2 * N;
    l->mixer.scan += 4 * inner * N;
    MATMUL(l, "state-space inputs", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, 2 * inner,
           .bias = x->bias);
    MATMUL(l, "steps, B and C", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, inner, steps);
    MATMUL(l, "step sizes", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_COLUMNS, r, inner, .bias = true);
    MATMUL(l, "state-space output", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, inner, D,
           .bias = x->bias);
    TENSOR(l,
           ((double)x->conv + x->conv_bias) * inner + inner * N + inner + (x->dt_norms ? steps : 0),
           SP_PART_ATTENTION, SP_TP_STORED); /* taps, decays, skips */
    KEEP(l, 2 * inner, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, steps, SP_BY_NOTHING, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    add_convolution(l, inner, (double)x->conv);
    MOVE(l, 4 * inner, SP_BY_WIDTH, SP_OP_CORE); /* channels, step sizes, gate; output */
}

static void list_state_space(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_state_space *x = &m->state_space;
    const double inner = (double)x->inner;
    if (x->heads > 0)
        list_heads_of_state(m, l);
    else
        list_channels_of_state(m, l);
    l->mixer.state += STATE_BYTES * inner * (double)x->state;
    KEEP(l, inner, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE | SELECTIVE, .with_norms = true);
    MOVE(l, 3 * inner, SP_BY_WIDTH, SP_OP_NORMS); /* gate and norm */
}

/* A gated short convolution: three streams of the layer's width; the product of two passes the
 * convolution, the third gates the result. LFM2 (transformers, modeling_lfm2.py). */
static void list_short_conv(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width;
    MATMUL(l, "short convolution inputs", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, 3 * D,
           .bias = m->short_conv_bias);
    MATMUL(l, "short convolution output", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, D, D,
           .bias = m->short_conv_bias);
    TENSOR(l, ((double)m->short_conv + m->short_conv_bias) * D, SP_PART_ATTENTION, SP_TP_STORED);
    sp_keep_stream(l, 1, D);
    KEEP(l, 3 * D, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, 3 * D, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE); /* product, sum, gated sum */
    add_convolution(l, D, (double)m->short_conv);
    MOVE(l, 3 * D + 3 * D, SP_BY_WIDTH, SP_OP_CORE); /* the two products */
}

static void list_local(const struct sp_model *m, struct sp_layer *l, bool reusing)
{
    const struct sp_local_attention *x = &m->local;
    const double dim = (double)x->head_dim, v = x->value_dim > 0 ? (double)x->value_dim : dim;
    const struct heads h = {
        .q = (double)x->heads,
        .kv = (double)x->kv_heads,
        .qk = dim,
        .v = v,
        .streams = 1,
        .made = reusing && !m->reused.projections ? 0 : 2,
        .gate = m->attention_gate,
        .reusing = reusing,
    };
    l->mixer = (struct sp_mixer){.heads = h.q, .window = (double)x->window};
    list_grouped(m, l, &h);
    TENSOR(l, norm_queries_and_keys(m, &h, &l->mixer) + (x->sinks ? h.q : 0), SP_PART_ATTENTION,
           SP_TP_STORED);
    sp_keep_stream(l, 1, h.q * v);
    keep_scores(l, SP_OP_QKV, h.made > 0);
}

/* The heads of a model's attention. */
static struct heads heads_of(const struct sp_model *m, bool reusing)
{
    const double H = (double)m->head_dim;
    const double made = m->keys_are_values ? 1 : 2;
    return (struct heads){.q = (double)m->heads,
                          .kv = (double)m->kv_heads,
                          .qk = H,
                          .v = m->value_dim > 0 ? (double)m->value_dim : H,
                          .streams = 1,
                          .made = reusing && !m->reused.projections ? 0 : made,
                          .gate = m->attention_gate,
                          .reusing = reusing};
}

/* Attention. With an indexer, the layer has its own or reuses the picks of the layer before. */
static void list_attention(const struct sp_model *m, struct sp_layer *l, const struct heads *h,
                           bool indexer)
{
    const double a = h->q, H = h->qk;
    l->mixer = (struct sp_mixer){.heads = a,
                                 .window = (double)(m->sliding_window + m->attention_chunk),
                                 .chunked = m->attention_chunk > 0,
                                 .global = global_share(m),
                                 .length = l->own,
                                 .bidirectional = m->bidirectional,
                                 .block = (double)m->denoised};
    const bool latent = m->mla.kv_lora_rank > 0;
    if (latent)
        list_latent(m, l);
    else
        list_grouped(m, l, h);
    if (m->sparse.top_k > 0 && (indexer || !m->sparse.others))
        attend_to_picked(m, l);
    if (m->sparse.top_k > 0 && indexer)
        list_indexer(m, l);
    TENSOR(l, norm_queries_and_keys(m, h, &l->mixer) + (double)m->extra_attention_params_per_layer,
           SP_PART_ATTENTION, SP_TP_STORED);
    sp_keep_stream(l, h->streams, a * H);
    keep_scores(l, latent ? SP_OP_LATENT : SP_OP_QKV, h->made > 0);
    if (m->state_space.parallel)
        list_state_space(m, l);
}

/* Counts all its weights as attention, including convolution, decays and norms. */
void sp_list_other_mixer(const struct sp_model *m, struct sp_layer *l, bool reusing)
{
    if (m->linear.heads > 0) {
        list_linear(m, l);
    } else if (m->state_space.state > 0) {
        sp_keep_stream(l, 1, (double)m->state_space.inner);
        list_state_space(m, l);
    } else if (m->local.heads > 0) {
        list_local(m, l, reusing);
    } else if (m->compressed.far_ratio > 0) {
        sp_list_compressed(m, l, m->compressed.far_ratio, false);
    } else if (m->short_conv > 0) {
        list_short_conv(m, l);
    } else {
        const struct heads h = heads_of(m, false);
        list_attention(m, l, &h, false);
    }
}

/* Cross-attention: queries from the layer's tokens, keys and values from the encoder's, in the
 * model's width if projectors lead there. Vaswani et al. 2017, section 3.2.3. */
static void list_cross(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width, a = (double)m->heads, K = (double)m->kv_heads,
                 H = (double)m->head_dim;
    const double E = m->encoder.projectors > 0 ? D : (double)m->encoder.d_model;
    l->from = (double)m->encoder.tokens;
    l->cross = (struct sp_mixer){
        .heads = a, .kv_heads = K, .qk = H, .v = H, .length = l->from, .bidirectional = true};
    MATMUL(l, "cross queries", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, a * H,
           .bias = m->qkv_bias);
    MATMUL(l, "cross keys and values", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, E, 2 * K * H,
           .groups = K, .group_out = 2 * H, .bias = m->qkv_bias, .source = true);
    MATMUL(l, "cross output projection", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, a * H, D,
           .bias = m->o_bias);
    KEEP(l, D, SP_BY_INPUT, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_OUT, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, a * H, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_QKV, NONE | SELECTIVE | DOTS);
    KEEP(l, 2 * K * H, SP_BY_WIDTH, SP_OP_QKV, SP_COPIES_QKV, NONE | SELECTIVE | DOTS, .groups = K,
         .source = true);
    KEEP(l, a * H, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE | SELECTIVE, .with_norms = true);
    KEEP(l, 2 * a, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE); /* log-sum-exp, 4 bytes */
    MOVE(l, 4 * D, SP_BY_SEQUENCE, SP_OP_NORMS);                  /* norm and addition */
}

void sp_list_cross_attention(const struct sp_model *m, struct sp_layer *l)
{
    KEEP(l, l->width, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_INPUT, NONE | SELECTIVE | FULL);
    TENSOR(l,
           qk_norm_weights(m->qk_norm, (double)m->head_dim, (double)(m->heads + m->kv_heads)) +
               (double)m->extra_attention_params_per_layer,
           SP_PART_ATTENTION, SP_TP_STORED);
    list_cross(m, l);
}

void sp_list_shared_attention(const struct sp_model *m, struct sp_layer *l)
{
    struct heads h = heads_of(m, false);
    h.streams = m->shared.streams > 0 ? (double)m->shared.streams : 1;
    list_attention(m, l, &h, true);
}

void sp_list_attention(const struct sp_model *m, struct sp_layer *l, bool reusing)
{
    const struct heads h = heads_of(m, reusing);
    if (m->compressed.output_rank > 0) {
        sp_list_compressed(m, l, m->compressed.ratio, m->compressed.ratio > 0);
        return;
    }
    list_attention(m, l, &h, true);
    if (m->cross_attention)
        list_cross(m, l);
}
