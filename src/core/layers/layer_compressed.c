/* Attention to a window and to entries that stand for many tokens. */
#include "core/layers/layer_rows.h"

/* Bytes per element of the sums that an entry of generation grows by. */
enum { SUM_BYTES = 4 };

/* A compressor of `ratio` tokens into an entry of `width`: every token gives values and their
 * shares in the sum, with a share that depends on its place, and a norm. Where entries overlap, a
 * token enters two, with separate columns for each. */
static void list_compressor(struct sp_layer *l, const char *name, double ratio, double width,
                            bool overlaps)
{
    const double columns = (overlaps ? 2 : 1) * width, tokens = (overlaps ? 2 : 1) * ratio;
    MATMUL(l, name, SP_PART_ATTENTION, SP_OP_QKV, SP_TP_WHOLE, l->width, 2 * columns);
    TENSOR(l, ratio * columns + width, SP_PART_ATTENTION, SP_TP_WHOLE);
    l->mixer.state +=
        2 * SUM_BYTES * tokens * columns; /* values and shares of unfinished entries */
    KEEP(l, 2 * columns, SP_BY_NOTHING, SP_OP_QKV, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, 2 * width / ratio, SP_BY_NOTHING, SP_OP_LATENT, SP_COPIES_ONE,
         NONE | SELECTIVE); /* before and after the norm */
    MOVE(l, 2 * columns + 2 * width / ratio, SP_BY_NOTHING, SP_OP_NORMS);
}

/* Index queries from the query latent, a weight per head, and keys that are entries themselves. */
static void list_entry_indexer(const struct sp_model *m, struct sp_layer *l, double ratio)
{
    const struct sp_sparse_attention *const s = &m->sparse;
    const double heads = (double)s->index_heads, width = (double)s->index_head_dim;
    l->mixer.index = heads * (width + 1);
    l->mixer.entries = (double)s->top_k;
    l->mixer.cache_index = width;
    MATMUL(l, "index queries", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_WHOLE,
           (double)m->compressed.query_rank, heads * width);
    MATMUL(l, "index weights", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_WHOLE, l->width, heads,
           .plain = true);
    list_compressor(l, "index entries", ratio, width, true);
    KEEP(l, heads * (width + 1), SP_BY_NOTHING, SP_OP_LATENT, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS);
    KEEP(l, 2 * (double)s->top_k, SP_BY_NOTHING, SP_OP_CORE, SP_COPIES_ONE, NONE); /* 4 bytes */
}

/* DeepSeek-V4, section 2.3: queries from a latent, one vector per token that is key and value of
 * all heads, entries beside the window, a sink per head, and an output in two steps, the first by
 * groups of heads. Entries of layers A overlap and an indexer picks among them; those of layers L
 * do neither. */
void sp_list_compressed(const struct sp_model *m, struct sp_layer *l, int64_t ratio, bool picks)
{
    const struct sp_compressed_attention *const c = &m->compressed;
    const double D = l->width, a = (double)m->heads, H = (double)m->head_dim;
    const double q_l = (double)c->query_rank, g = (double)c->output_groups,
                 o_l = (double)c->output_rank;
    l->mixer = (struct sp_mixer){.heads = a,
                                 .kv_heads = 1,
                                 .qk = H,
                                 .v = H,
                                 .window = (double)m->sliding_window,
                                 .ratio = (double)ratio,
                                 .cache = H,
                                 .cache_entry = ratio > 0 ? H : 0};
    MATMUL(l, "query latent", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, D, q_l,
           .target = SP_LORA_Q);
    MATMUL(l, "queries", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_COLUMNS, q_l, a * H, .norm = q_l,
           .target = SP_LORA_Q);
    MATMUL(l, "keys that are values", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_WHOLE, D, H,
           .target = SP_LORA_K);
    MATMUL(l, "output projection of a group", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_COLUMNS,
           a * H / g, o_l, g, g, .target = SP_LORA_O);
    MATMUL(l, "output projection", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, g * o_l, D,
           .target = SP_LORA_O);
    TENSOR(l, H + a, SP_PART_ATTENTION, SP_TP_STORED); /* norm of the keys, sinks */
    sp_keep_stream(l, 1, a * H);
    KEEP(l, 2 * q_l, SP_BY_NOTHING, SP_OP_QKV, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS);                                             /* around its norm */
    KEEP(l, 2 * H, SP_BY_NOTHING, SP_OP_QKV, SP_COPIES_QKV, NONE | SELECTIVE); /* the same */
    KEEP(l, 2 * a * H, SP_BY_WIDTH, SP_OP_LATENT, SP_COPIES_QKV,
         NONE | SELECTIVE | DOTS); /* queries around theirs, which has no weights */
    KEEP(l, a * H, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE | SELECTIVE, .with_norms = true);
    KEEP(l, g * o_l, SP_BY_WIDTH, SP_OP_OUT, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    KEEP(l, 2 * a, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE); /* log-sum-exp, 4 bytes */
    if (ratio <= 0)
        return;
    list_compressor(l, "entries", (double)ratio, H, picks);
    if (picks)
        list_entry_indexer(m, l, (double)ratio);
}
