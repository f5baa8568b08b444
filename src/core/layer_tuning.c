/* What a tuning freezes of a model, and the adapters that it trains in its place. */
#include "core/layer_rows.h"

/* The part that is trained beside all that is frozen; SP_PARTS: none, only adapters are. */
static enum sp_layer_part trained_part(const struct sp_tuning *tuning)
{
    static const enum sp_layer_part parts[SP_TRAINABLES] = {
        [SP_TRAIN_ALL] = SP_PARTS,
        [SP_TRAIN_LORA] = SP_PARTS,
        [SP_TRAIN_EMBEDDINGS] = SP_PART_EMBEDDING,
        [SP_TRAIN_ATTENTION] = SP_PART_ATTENTION,
        [SP_TRAIN_MLP] = SP_PART_MLP,
        [SP_TRAIN_EXPERTS] = SP_PART_EXPERTS};
    return parts[tuning->trainable];
}

/* Routers are trained with their experts. */
static bool is_trained(const struct sp_tuning *tuning, enum sp_layer_part part)
{
    const enum sp_layer_part with = part == SP_PART_ROUTER ? SP_PART_EXPERTS : part;
    return with == trained_part(tuning);
}

bool sp_is_base(const struct sp_matmul *m)
{
    return m->frozen && m->part != SP_PART_EMBEDDING && m->part != SP_PART_ROUTER;
}

double sp_adapter_weights(const struct sp_matmul *m)
{
    return m->rank * (m->adapted * m->in + m->adapted_out);
}

/* Puts the adapters of the tuning beside a matmul, where it is among their targets. */
static void adapt(const struct sp_tuning *tuning, struct sp_matmul *m)
{
    const int pieces = m->piece[0] > 0 ? (int)(sizeof m->piece / sizeof *m->piece) : 1;
    if (tuning->trainable != SP_TRAIN_LORA || m->target == SP_LORA_NONE)
        return;
    for (int i = 0; i < pieces; i++) {
        const double out = m->piece[0] > 0 ? m->piece[i] : m->out;
        if (out > 0 && (tuning->targets >> ((int)m->target + i) & 1) != 0) {
            m->rank = (double)tuning->lora_rank;
            m->adapted++;
            m->adapted_out += out;
        }
    }
}

/* What adapters keep of a token: R numbers between the two products of each. */
static void keep_middles(struct sp_layer *l, const struct sp_matmul *m)
{
    KEEP(l, m->passed * m->adapted * m->rank, SP_BY_NOTHING, m->op, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS, .routed = m->part == SP_PART_EXPERTS);
}

static void freeze_layer(const struct sp_tuning *tuning, struct sp_layer *l)
{
    unsigned learns = 0; /* operators whose weight gradients need their inputs */
    const int matmuls = l->matmuls;
    for (int i = 0; i < matmuls; i++) {
        struct sp_matmul *const m = &l->matmul[i];
        const bool alone = m->frozen; /* of a frozen tower, whatever the tuning */
        m->frozen = alone || !is_trained(tuning, m->part);
        if (!alone)
            adapt(tuning, m);
        if (!m->frozen || m->rank > 0)
            learns |= 1U << m->op;
        if (m->rank > 0)
            keep_middles(l, m);
    }
    for (int i = 0; i < l->tensors; i++)
        l->tensor[i].frozen |= !is_trained(tuning, l->tensor[i].part);
    for (int i = 0; i < l->n_kept; i++)
        if (l->kept[i].feeds != 0 && (l->kept[i].feeds & learns) == 0) {
            const bool mlp = l->kept[i].copies == SP_COPIES_MLP;
            l->kept[i].copies = mlp ? SP_COPIES_MLP_FROZEN : SP_COPIES_FROZEN;
            l->kept[i].remats = 0;
        }
}

void sp_freeze(struct sp_layers *layers)
{
    for (int list = 0; list < SP_LAYER_LISTS; list++)
        freeze_layer(&layers->model->tuning, &layers->list[list]);
}
