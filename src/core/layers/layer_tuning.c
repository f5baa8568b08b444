/* The weights that a tuning freezes, and the adapters that it trains. */
#include <math.h>

#include "core/layers/layer_rows.h"

/* Routers are trained with their experts. With SP_TRAIN_LAST rows describe a trained layer;
 * sp_layers.still counts the others. Encoders are trained unless encoder.frozen is set (the
 * costlier assumption); projectors always. Tied heads stay frozen: training the table would need
 * gradients through every layer. */
static bool is_trained(const struct sp_tuning *tuning, enum sp_layer_part part, bool end)
{
    const enum sp_layer_part with = part == SP_PART_ROUTER ? SP_PART_EXPERTS : part;
    if (tuning->trainable == SP_TRAIN_LAST)
        return !end && tuning->last > 0;
    return tuning->trainable == SP_TRAIN_PARTS && (tuning->parts >> with & 1) != 0;
}

/* Whether a frozen matmul is part of the base that may be stored in fewer bits: the layers'
 * matmuls, and the head if the framework quantises all linear layers. Tables and routers stay in 16
 * bits. Dettmers et al. 2023, "QLoRA". */
static bool is_base(const struct sp_tuning *tuning, const struct sp_matmul *m)
{
    if (m->part == SP_PART_EMBEDDING)
        return tuning->packs_head && m->vocab && !m->tied;
    return m->part != SP_PART_ROUTER;
}

double sp_base_bytes(const struct sp_model *model)
{
    return model->tuning.base_bytes > 0 ? model->tuning.base_bytes : SP_FROZEN_BYTES;
}

double sp_adapter_weights(const struct sp_matmul *m)
{
    return m->rank * (m->adapted * m->in + m->adapted_out);
}

enum { PIECES = sizeof((struct sp_matmul *)0)->piece / sizeof(double) };

/* Outputs of a matmul's piece with an adapter; 0: none. An unsplit matmul is its own first piece.
 * Under TP adapters are split as in peft, on the side that TP splits. Megatron-Bridge also splits A
 * of column-parallel layers over R, which reads the same input, and gathers the outputs of
 * row-parallel adapters (12 % of a step of Llama 2 70B at TP 8); that gather is not counted. */
static double adapted_out(const struct sp_tuning *tuning, const struct sp_matmul *m, int piece)
{
    const bool one = !(m->piece[0] > 0);
    if (tuning->trainable != SP_TRAIN_LORA || m->target == SP_LORA_NONE || (one && piece > 0) ||
        (tuning->targets >> ((int)m->target + piece) & 1) == 0)
        return 0;
    return one ? m->out : m->piece[piece];
}

double sp_most_lora_rank(const struct sp_layers *layers)
{
    double most = INFINITY;
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        for (int i = 0; layers->count[kind] > 0 && i < layers->list[kind].matmuls * PIECES; i++) {
            const struct sp_matmul *const m = &layers->list[kind].matmul[i / PIECES];
            const double out = m->rank > 0 ? adapted_out(&layers->model->tuning, m, i % PIECES) : 0;
            if (out > 0)
                most = fmin(most, fmin(m->in, out));
        }
    return most;
}

/* Adds adapters to a matmul if it is among the targets. */
static void adapt(const struct sp_tuning *tuning, struct sp_matmul *m)
{
    for (int i = 0; i < PIECES; i++) {
        const double out = adapted_out(tuning, m, i);
        if (out > 0) {
            m->rank = (double)tuning->lora_rank;
            m->adapted++;
            m->adapted_out += out;
        }
    }
    if ((tuning->targets >> SP_LORA_FUSED & 1) != 0)
        m->adapted = fmin(m->adapted, 1);
}

/* Adapters keep R numbers per token between their two products. `feeds` names the only weight
 * whose gradient needs a tensor, so that freezing drops it. */
static void keep_middles(struct sp_layer *l, const struct sp_matmul *m)
{
    KEEP(l, m->passed * m->adapted * m->rank, SP_BY_NOTHING, m->op, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS, .routed = m->part == SP_PART_EXPERTS);
}

static void freeze_layer(const struct sp_tuning *tuning, struct sp_layer *l, bool end)
{
    unsigned learns = 0; /* operators whose weight gradients need their inputs */
    const int matmuls = l->matmuls;
    for (int i = 0; i < matmuls; i++) {
        struct sp_matmul *const m = &l->matmul[i];
        const bool alone = m->frozen; /* frozen tower */
        m->frozen = alone || !is_trained(tuning, m->part, end);
        const bool still =
            tuning->trainable == SP_TRAIN_LAST && !end; /* some layers are not trained */
        m->base = (m->frozen || still) && is_base(tuning, m);
        if (!alone)
            adapt(tuning, m);
        if (!m->frozen || m->rank > 0)
            learns |= 1U << m->op;
        if (m->rank > 0)
            keep_middles(l, m);
    }
    for (int i = 0; i < l->tensors; i++)
        l->tensor[i].frozen |= !is_trained(tuning, l->tensor[i].part, end);
    for (int i = 0; i < l->n_kept; i++)
        if (l->kept[i].feeds != 0 && (l->kept[i].feeds & learns) == 0) {
            static const enum sp_copies of_frozen[SP_COPIES] = {[SP_COPIES_ONE] = SP_COPIES_FROZEN,
                                                                [SP_COPIES_MLP] =
                                                                    SP_COPIES_MLP_FROZEN,
                                                                [SP_COPIES_CAST] = SP_COPIES_NONE};
            l->kept[i].copies = of_frozen[l->kept[i].copies];
            l->kept[i].remats = 0;
        }
}

/* The trained parts are a property of the model: lists mark frozen matmuls and tensors, and
 * everything else follows. Training only the embeddings runs the whole backward pass, because
 * gradients must reach them. */
void sp_freeze(struct sp_layers *layers)
{
    const struct sp_tuning *const tuning = &layers->model->tuning;
    for (int list = 0; list < SP_LAYER_LISTS; list++)
        if (layers->count[list] > 0)
            freeze_layer(tuning, &layers->list[list], list >= SP_LAYER_KINDS);
    /* the table's gradient is not computed; with no trained layer, nor is the head's */
    layers->still[SP_LAYER_INPUT] = tuning->trainable == SP_TRAIN_LAST;
    layers->still[SP_LAYER_OUTPUT] = tuning->trainable == SP_TRAIN_LAST && tuning->last == 0;
}
