/* Shared blocks, side streams past a layer's blocks, and modules that predict further tokens. */
#include "core/layers/layer_rows.h"

/* An adapter of rank `rank` on matmuls of width `in` and `out`, one per layer. */
static void list_adapter(struct sp_layer *l, enum sp_layer_part part, enum sp_operator op,
                         double in, double rank, double out)
{
    MATMUL(l, "shared block's adapter", part, op, SP_TP_STORED, in, rank);
    MATMUL(l, "shared block's adapter output", part, op, SP_TP_COLUMNS, rank, out);
    KEEP(l, rank, SP_BY_NOTHING, op, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
}

void sp_share_block(const struct sp_model *m, struct sp_layer *l, double up)
{
    const struct sp_shared_block *const s = &m->shared;
    const double D = l->width, read = D * (double)(s->streams > 0 ? s->streams : 1);
    const double rank = (double)s->rank, attention = (double)s->attention_rank;
    const double q = (double)(m->heads * m->head_dim), kv = (double)(m->kv_heads * m->head_dim);
    l->sets = (double)s->sets;
    for (int i = 0; i < l->matmuls; i++)
        l->matmul[i].shared = true;
    for (int i = 0; i < l->tensors; i++)
        l->tensor[i].shared = true;
    if (rank > 0)
        list_adapter(l, SP_PART_MLP, SP_OP_UP, D, rank, up);
    if (attention > 0) {
        list_adapter(l, SP_PART_ATTENTION, SP_OP_QKV, read, attention, q);
        list_adapter(l, SP_PART_ATTENTION, SP_OP_QKV, read, attention, kv);
        list_adapter(l, SP_PART_ATTENTION, SP_OP_QKV, read, attention, kv);
    }
    if (!s->output)
        return;
    MATMUL(l, "after the shared block", SP_PART_MLP, SP_OP_DOWN, SP_TP_WHOLE, D, D);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_DOWN, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
}

double sp_positions_per_token(const struct sp_model *model)
{
    return model->patch > 0             ? (double)model->learned_positions
           : sp_is_convolutional(model) ? sp_last_positions(model)
                                        : 1;
}

/* Streams besides the current one that a block of attention residuals reads, the mean over all
 * attentions and MLPs: a layer that is a multiple of `residual_block` ends a stream before its
 * attention writes. */
static double kept_residuals(const struct sp_model *m)
{
    const int64_t block = m->side.residual_block;
    int64_t sum = 0;
    if (block <= 0)
        return 0;
    for (int64_t i = 0; i < m->layers; i++)
        sum += (i + block - 1) / block + i / block + 1;
    return (double)sum / (2 * (double)m->layers);
}

double sp_carried_width(const struct sp_model *m)
{
    const int64_t altup = m->side.altup > 1 ? m->side.altup : 1;
    const int64_t hyper = m->side.hyper > 1 ? m->side.hyper : 1;
    const int64_t read = m->shared.streams > 1 ? m->shared.streams - 1 : 0;
    return sp_positions_per_token(m) * (double)m->d_model *
           ((double)(altup * hyper + read) + kept_residuals(m));
}

/* A gate to the width of the layer's table, its product with the table row, and the projection
 * back. */
static void list_per_layer(struct sp_layer *l, double width, double norm)
{
    const double D = l->width;
    MATMUL(l, "per-layer gate", SP_PART_MLP, SP_OP_DOWN, SP_TP_WHOLE, D, width);
    MATMUL(l, "per-layer projection", SP_PART_MLP, SP_OP_DOWN, SP_TP_WHOLE, width, D);
    TENSOR(l, norm * D, SP_PART_NORM, SP_TP_WHOLE);
    KEEP(l, 2 * D, SP_BY_SEQUENCE, SP_OP_DOWN, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, 2 * width, SP_BY_SEQUENCE, SP_OP_DOWN, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, width, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    MOVE(l, 5 * D + 4 * width, SP_BY_SEQUENCE, SP_OP_NORMS); /* norm, addition, gate, product */
}

/* AltUp: all streams are predicted from all, and corrected by the output of the one that passes the
 * blocks. Both read and write all streams. */
static void list_streams(struct sp_layer *l, double n, double norm)
{
    const double D = l->width;
    MATMUL(l, "stream router", SP_PART_ROUTER, SP_OP_NORMS, SP_TP_WHOLE, D, n, .plain = true);
    TENSOR(l, n * n * n + n * n, SP_PART_ROUTER, SP_TP_WHOLE); /* predictions, corrections */
    TENSOR(l, norm * D + D, SP_PART_NORM, SP_TP_WHOLE);        /* norm of the router; a scale */
    l->mixer.scan += n * (n + 1) * D;
    KEEP(l, (n - 1) * D, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_ONE, NONE | SELECTIVE | FULL);
    KEEP(l, 3 * D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    MOVE(l, (4 * n + 3) * D, SP_BY_SEQUENCE, SP_OP_NORMS);
}

/* LAuReL: a low-rank path past attention. */
static void list_laurel(struct sp_layer *l, double rank, double norm)
{
    const double D = l->width;
    MATMUL(l, "low-rank residual", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_WHOLE, D, rank);
    MATMUL(l, "low-rank residual output", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_WHOLE, rank, D);
    TENSOR(l, norm * D, SP_PART_NORM, SP_TP_WHOLE);
    KEEP(l, rank, SP_BY_SEQUENCE, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_OUT, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    MOVE(l, 4 * D, SP_BY_SEQUENCE, SP_OP_NORMS); /* norm, addition */
}

/* Manifold-constrained hyper-connections of n residual streams. Each of a layer's two blocks has
 * weights that depend on all streams and that a matmul with a scale and a shift computes: n for the
 * mix that it reads, n for its addition to each stream, n n for the streams among themselves, made
 * doubly stochastic. DeepSeek-V4, section 2.2; Zhu et al. 2024, "Hyper-Connections". */
static void list_hyper(struct sp_layer *l, double n)
{
    enum {
        BLOCKS = 2,
        SCALES = 3,
        PASSES = 6 /* read for the mix; read, written with the output */
    };
    const double D = l->width, given = n * (n + 2);
    /* A matmul, which `dots` keeps, unlike the norms around it; it counts as a matmul of the
     * MLP. */
    MATMUL(l, "mixes of residual streams", SP_PART_ROUTER, SP_OP_UP, SP_TP_WHOLE, n * D, given,
           BLOCKS, BLOCKS, .plain = true);
    TENSOR(l, BLOCKS * (given + SCALES), SP_PART_ROUTER, SP_TP_WHOLE);
    l->mixer.scan += BLOCKS * given * D;
    KEEP(l, (n - 1) * D, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_ONE, NONE | SELECTIVE | FULL);
    KEEP(l, (n - 1) * D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    KEEP(l, 2 * BLOCKS * D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE,
         NONE | SELECTIVE); /* inputs and additions of a block */
    MOVE(l, PASSES * (n - 1) * D, SP_BY_SEQUENCE, SP_OP_NORMS);
}

/* Attention residuals: each of a layer's two blocks reads the current stream and the kept ones,
 * each with a share that a norm and one column compute; a stream is kept every `residual_block`
 * layers. Kimi K3 (Megatron-Bridge, kimi_k3_layers.py). */
static void list_residuals(const struct sp_model *m, struct sp_layer *l)
{
    enum { BLOCKS = 2 };
    const double D = l->width, read = kept_residuals(m) + 1;
    MATMUL(l, "shares of earlier streams", SP_PART_ROUTER, SP_OP_NORMS, SP_TP_WHOLE, D, 1, BLOCKS,
           BLOCKS, .plain = true);
    TENSOR(l, BLOCKS * D, SP_PART_NORM, SP_TP_WHOLE);
    l->mixer.scan += BLOCKS * (2 * read - 1) * D; /* shares of the others, and the sum */
    KEEP(l, D / (double)m->side.residual_block, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_ONE,
         NONE | SELECTIVE | FULL);
    KEEP(l, BLOCKS * D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    MOVE(l, BLOCKS * (read + 1) * D, SP_BY_SEQUENCE, SP_OP_NORMS);
}

void sp_list_last_residual(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width;
    const int64_t ended = (m->layers - 1) / m->side.residual_block;
    const double read = (double)ended + 2;
    MATMUL(l, "shares of the streams", SP_PART_EMBEDDING, SP_OP_NORMS, SP_TP_WHOLE, D, 1,
           .plain = true);
    TENSOR(l, D, SP_PART_NORM, SP_TP_WHOLE);
    MOVE(l, (read + 1) * D, SP_BY_SEQUENCE, SP_OP_NORMS);
}

void sp_list_merged_streams(const struct sp_model *m, struct sp_layer *l)
{
    const double n = (double)m->side.hyper, D = l->width;
    MATMUL(l, "mix of residual streams", SP_PART_EMBEDDING, SP_OP_NORMS, SP_TP_WHOLE, n * D, n,
           .plain = true);
    TENSOR(l, n + 1, SP_PART_EMBEDDING, SP_TP_WHOLE);
    MOVE(l, (n + 1) * D, SP_BY_SEQUENCE, SP_OP_NORMS);
}

void sp_list_side_streams(const struct sp_model *m, struct sp_layer *l, double norm)
{
    const struct sp_side_streams *const s = &m->side;
    if (s->per_layer > 0)
        list_per_layer(l, (double)s->per_layer, norm);
    if (s->altup > 1)
        list_streams(l, (double)s->altup, norm);
    if (s->laurel_rank > 0)
        list_laurel(l, (double)s->laurel_rank, norm);
    if (s->hyper > 1)
        list_hyper(l, (double)s->hyper);
    if (s->residual_block > 0)
        list_residuals(m, l);
}

/* Matmuls that expand one stream to several, or merge them. */
static void list_streams_ends(const struct sp_model *m, struct sp_layer *l, const char *name)
{
    const double further = (double)(m->side.altup - 1);
    if (further > 0)
        MATMUL(l, name, SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, l->width, l->width, further,
               further);
}

void sp_list_side_tables(const struct sp_model *m, struct sp_layer *l, double norm)
{
    const struct sp_side_streams *const s = &m->side;
    const double width = (double)s->per_layer, all = width * (double)m->layers;
    const double rows = (double)(s->per_layer_vocab > 0 ? s->per_layer_vocab : m->vocab);
    list_streams_ends(m, l, "further streams");
    if (width <= 0)
        return;
    TENSOR(l, rows * all, SP_PART_EMBEDDING, SP_TP_STORED, .lookup = true);
    TENSOR(l, norm * width, SP_PART_NORM, SP_TP_WHOLE);
    MATMUL(l, "per-layer inputs", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, l->width, all);
    MOVE(l, 5 * all, SP_BY_NOTHING, SP_OP_NORMS); /* norm, addition of the table rows */
}

void sp_list_streams_end(const struct sp_model *m, struct sp_layer *l)
{
    list_streams_ends(m, l, "streams to one");
}

void sp_list_predictor(const struct sp_model *m, struct sp_layer *l, double norm)
{
    enum { NORMS = 3, MOVES_OF_NORMS = 2 * NORMS, MOVES_OF_JOINING = 4 };
    const double D = l->width, out = (double)m->vocab, n = (double)m->side.hyper;
    if (n > 1) { /* one projection of the embedding, one of each stream */
        MATMUL(l, "projection of the embedding", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, D);
        MATMUL(l, "projection of the streams", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, D, 1,
               n);
        KEEP(l, (n - 1) * D, SP_BY_SEQUENCE, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
        sp_list_merged_streams(m, l);
    } else {
        MATMUL(l, "projection of two streams", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, 2 * D,
               D);
    }
    MATMUL(l, "head of a further token", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_COLUMNS, D, out,
           .plain = true, .vocab = true, .tied = !m->tied_embeddings,
           .shared = m->tied_embeddings); /* belongs to no set: stored only here */
    TENSOR(l, NORMS * norm, SP_PART_NORM, SP_TP_WHOLE);
    KEEP(l, 2 * D, SP_BY_SEQUENCE, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, NORMS * D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    KEEP(l, out, SP_BY_WIDTH, SP_OPERATORS, SP_COPIES_ONE, NONE | SELECTIVE | DOTS | FULL);
    MOVE(l, (MOVES_OF_NORMS + MOVES_OF_JOINING) * D, SP_BY_SEQUENCE, SP_OP_NORMS);
    MOVE(l, 3 * out, SP_BY_WIDTH, SP_OP_NORMS); /* the loss */
}

void sp_list_encoder_ends(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_encoder *const e = &m->encoder;
    const double D = (double)e->d_model, n = (double)e->projectors;
    const double merge = (double)(e->merge > 0 ? e->merge : 1),
                 hidden = (double)e->projector_hidden;
    l->from = (double)e->tokens;
    if (e->patch > 0)
        MATMUL(l, "patch embedding", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, (double)e->patch, D,
               .bias = e->patch_bias, .plain = true, .source = true, .frozen = e->frozen);
    TENSOR(l, D * (double)e->positions + (double)e->extra_params, SP_PART_EMBEDDING, SP_TP_WHOLE,
           .source = true, .frozen = e->frozen);
    if (e->neck_out > 0) {
        const double taps = (double)e->neck_taps, step = (double)e->neck_step,
                     inner = (double)e->neck_hidden;
        MATMUL(l, "neck", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, taps * D, inner, 1, 1 / step,
               .bias = true, .plain = true, .source = true);
        MATMUL(l, "neck output", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, taps * inner,
               (double)e->neck_out, 1, 1 / (step * step), .bias = true, .plain = true,
               .source = true);
    }
    if (n <= 0)
        return;
    const double out = (double)m->d_model, first = hidden > 0 ? hidden : out;
    MATMUL(l, "projector", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, (double)e->projector_in,
           first, n, n / merge, .bias = e->projector_bias, .plain = true, .source = true);
    if (hidden > 0)
        MATMUL(l, "projector output", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, hidden, out, n,
               n / merge, .bias = e->projector_bias, .plain = true, .source = true);
}
