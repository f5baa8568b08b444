/* Macros that write the lists of layers: matmuls, tensors, activations, traffic. */
#ifndef SP_LAYER_ROWS_H
#define SP_LAYER_ROWS_H

#include <scaleplan/layer.h>

#include "core/layers/layer_kinds.h"

/* Sets of policies whose closed form keeps a tensor. */
enum {
    NONE = 1 << SP_REMAT_NONE,
    SELECTIVE = 1 << SP_REMAT_SELECTIVE,
    MLP = 1 << SP_REMAT_MLP,
    DOTS = 1 << SP_REMAT_DOTS,
    FULL = 1 << SP_REMAT_FULL
};

/* One row of a list: fields in order, then by name. */
#define MATMUL(l, ...)                                                                             \
    ((l)->matmul[(l)->matmuls] = (struct sp_matmul){.name = __VA_ARGS__}, sp_end_matmul(l))
#define TENSOR(l, ...) sp_add_tensor(l, (struct sp_tensor){.weights = __VA_ARGS__})
#define KEEP(l, ...) ((l)->kept[(l)->n_kept++] = (struct sp_kept){.width = __VA_ARGS__})
#define MOVE(l, ...) ((l)->moved[(l)->n_moved++] = (struct sp_moved){.width = __VA_ARGS__})

/* By default a matmul counts once, for every token. */
static inline void sp_end_matmul(struct sp_layer *l)
{
    struct sp_matmul *const row = &l->matmul[l->matmuls++];
    if (row->count == 0)
        row->count = row->passed = 1;
}

static inline void sp_add_tensor(struct sp_layer *l, struct sp_tensor row)
{
    if (row.weights > 0)
        l->tensor[l->tensors++] = row;
}

/* Marks what the tuning freezes, adds adapters, and drops activations needed only for weight
 * gradients of frozen matmuls. */
void sp_freeze(struct sp_layers *layers);

/* The rows of a layer's mixer: attention, cross-attention, or the other mixer. */
void sp_list_attention(const struct sp_model *model, struct sp_layer *layer, bool reusing);
void sp_list_cross_attention(const struct sp_model *model, struct sp_layer *layer);
void sp_list_other_mixer(const struct sp_model *model, struct sp_layer *layer, bool reusing);
void sp_list_shared_attention(const struct sp_model *model, struct sp_layer *layer);

/* The rows of a compressed attention with entries of `ratio` tokens, of which an indexer
 * picks; 0: only the window. */
void sp_list_compressed(const struct sp_model *model, struct sp_layer *layer, int64_t ratio,
                        bool picks);

/* The token stream at a mixer of width `inner` that reads `streams` inputs. The output of a single
 * block is the next layer's input, which that layer keeps. */
static inline void sp_keep_stream(struct sp_layer *l, double streams, double inner)
{
    const double D = l->width;
    KEEP(l, D, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_INPUT, NONE | SELECTIVE | FULL);
    KEEP(l, streams * D, SP_BY_INPUT, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE,
         .feeds = 1U << SP_OP_QKV);
    if (!l->half)
        KEEP(l, D, SP_BY_SEQUENCE, SP_OP_OUT, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    MOVE(l, 2 * (2 * D + inner), SP_BY_WIDTH, SP_OP_NORMS,
         .casts = true); /* read, write, write transposed */
}

/* Turns a layer's rows into those of a shared block and adds the layer's own; `up`: total columns
 * of the first MLP matmuls. Glorioso et al. 2024, "The Zamba2 Suite", section 2; Lan et al. 2019,
 * "ALBERT", section 3.1. */
void sp_share_block(const struct sp_model *model, struct sp_layer *layer, double up);

/* Side streams: per-layer embeddings, alternating updates (AltUp), learned low-rank residual
 * (LAuReL), with tables and matmuls before the layers and the merge after them. `norm`: norm
 * weights per channel. Baykal et al. 2023, "Alternating Updates for Efficient Transformers";
 * Menghani et al. 2024, "LAuReL"; transformers, modeling_gemma3n.py. */
void sp_list_side_streams(const struct sp_model *model, struct sp_layer *layer, double norm);
void sp_list_side_tables(const struct sp_model *model, struct sp_layer *layer, double norm);
void sp_list_streams_end(const struct sp_model *model, struct sp_layer *layer);

/* The encoder's input, and its output into the model's width. */
void sp_list_encoder_ends(const struct sp_model *model, struct sp_layer *layer);

/* The blocks of a convolutional network among the layers `from` to `until` - 1, their rows, and the
 * positions of the last stage. */
void sp_count_blocks(const struct sp_model *model, int64_t from, int64_t until,
                     struct sp_layer_counts *counts);
void sp_list_blocks(const struct sp_model *model, struct sp_layers *layers);
double sp_last_positions(const struct sp_model *model);

/* Hyper-connections: the mix of all residual streams that goes into the final norm. */
void sp_list_merged_streams(const struct sp_model *model, struct sp_layer *layer);

/* Attention residuals: the mix of all kept streams that goes into the final norm. */
void sp_list_last_residual(const struct sp_model *model, struct sp_layer *layer);

/* The parts of a module for a further token besides its layer: norms of the stream, of the next
 * token's embedding and before the head, of `norm` weights each, a projection of both into the
 * stream, the model's own head, and a loss. Table and head are the model's: a stage beyond the
 * first holds a copy of the table, as with a tied head. DeepSeek-V3, section 2.2. */
void sp_list_predictor(const struct sp_model *model, struct sp_layer *layer, double norm);

#endif
