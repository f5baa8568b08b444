/* The kinds of layers, and the lists of their parts. */
#include <math.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "core/layers/layer_rows.h"

/* The two blocks of each kind of layer. */
static const struct {
    enum { NO_MIXER, ATTENTION, OTHER_MIXER, CROSS_ATTENTION, REUSING, OTHER_REUSING, NEAR } mixer;
    enum { NO_MLP, DENSE, EXPERTS } mlp;
} blocks[SP_LAYER_KINDS] = {
    [SP_LAYER_DENSE] = {ATTENTION, DENSE},
    [SP_LAYER_MOE] = {ATTENTION, EXPERTS},
    [SP_LAYER_OTHER_DENSE] = {OTHER_MIXER, DENSE},
    [SP_LAYER_OTHER_MOE] = {OTHER_MIXER, EXPERTS},
    [SP_LAYER_ATTENTION] = {ATTENTION, NO_MLP},
    [SP_LAYER_OTHER] = {OTHER_MIXER, NO_MLP},
    [SP_LAYER_MLP] = {NO_MIXER, DENSE},
    [SP_LAYER_EXPERTS] = {NO_MIXER, EXPERTS},
    [SP_LAYER_CROSS] = {CROSS_ATTENTION, DENSE},
    [SP_LAYER_REUSING] = {REUSING, DENSE},
    [SP_LAYER_OTHER_REUSING] = {OTHER_REUSING, DENSE},
    [SP_LAYER_SHARED] = {ATTENTION, DENSE},
    [SP_LAYER_NEAR_DENSE] = {NEAR, DENSE},
    [SP_LAYER_NEAR_MOE] = {NEAR, EXPERTS},
    [SP_LAYER_ENCODER] = {ATTENTION, DENSE},
    [SP_LAYER_MTP] = {ATTENTION, DENSE}, /* as the last layer, with more around it */
};

bool sp_kind_has_experts(enum sp_layer_kind kind)
{
    return kind < SP_LAYER_KINDS && blocks[kind].mlp == EXPERTS;
}

/* Number of MoE layers among the first `layers`, without a pattern. */
static int64_t count_mixtures(const struct sp_moe *moe, int64_t layers)
{
    const int64_t after = layers - moe->dense_layers;
    if (moe->experts <= 0 || after <= 0)
        return 0;
    return moe->every > 1 ? after / moe->every : after;
}

/* After the dense layers, every `every`-th layer is MoE. */
static bool is_mixture(const struct sp_moe *moe, int64_t layer)
{
    const int64_t after = layer - moe->dense_layers, every = moe->every > 1 ? moe->every : 1;
    return moe->experts > 0 && after >= 0 && (after + 1) % every == 0;
}

/* The kind of a layer from its letter. All published hybrids have attention and at most one other
 * mixer, so a kind is a pair of mixer and MLP. */
static enum sp_layer_kind kind_of_letter(char letter, bool mixture)
{
    switch (letter) {
    case 'L':
        return mixture ? SP_LAYER_OTHER_MOE : SP_LAYER_OTHER_DENSE;
    case '*':
        return SP_LAYER_ATTENTION;
    case 'M':
        return SP_LAYER_OTHER;
    case '-':
        return SP_LAYER_MLP;
    case 'E':
        return SP_LAYER_EXPERTS;
    case 'X':
        return SP_LAYER_CROSS;
    case 'a':
        return SP_LAYER_REUSING;
    case 'l':
        return SP_LAYER_OTHER_REUSING;
    case 'S':
        return SP_LAYER_SHARED;
    case 'W':
        return mixture ? SP_LAYER_NEAR_MOE : SP_LAYER_NEAR_DENSE;
    default:
        return mixture ? SP_LAYER_MOE : SP_LAYER_DENSE;
    }
}

/* The kind of the last layer, whose parts a module for a further token has; in a compressed
 * attention it has only the window. */
static enum sp_layer_kind last_kind(const struct sp_model *m)
{
    const int64_t last = m->layers - 1, length = (int64_t)strlen(m->pattern);
    if (m->compressed.output_rank > 0)
        return kind_of_letter('W', is_mixture(&m->moe, last));
    return kind_of_letter(length > 0 ? m->pattern[last % length] : 'A', is_mixture(&m->moe, last));
}

/* Adds the layers of a pattern from layer `from` to before `until`. */
static void count_pattern(const struct sp_model *model, int64_t from, int64_t until,
                          struct sp_layer_counts *counts)
{
    const int64_t length = (int64_t)strlen(model->pattern);
    for (int64_t i = from; i < until; i++)
        counts->of[kind_of_letter(model->pattern[i % length], is_mixture(&model->moe, i))]++;
}

void sp_count_layers(const struct sp_model *model, int64_t from, int64_t until,
                     struct sp_layer_counts *counts)
{
    *counts = (struct sp_layer_counts){{0}};
    if (sp_is_convolutional(model)) {
        sp_count_blocks(model, from, until, counts);
    } else if (model->pattern[0]) {
        count_pattern(model, from, until, counts);
    } else {
        const int64_t mixtures =
            count_mixtures(&model->moe, until) - count_mixtures(&model->moe, from);
        counts->of[SP_LAYER_MOE] = mixtures;
        counts->of[SP_LAYER_DENSE] = until - from - mixtures;
    }
    if (from == 0 && until > 0)
        counts->of[SP_LAYER_ENCODER] = model->encoder.layers;
    if (until == model->layers)
        counts->of[SP_LAYER_MTP] = model->mtp_layers;
}

void sp_count_still_layers(const struct sp_model *model, int64_t from, int64_t until,
                           struct sp_layer_counts *counts)
{
    const int64_t first = model->layers - model->tuning.last; /* first trained layer */
    *counts = (struct sp_layer_counts){{0}};
    if (model->tuning.trainable != SP_TRAIN_LAST)
        return;
    if (from < first)
        sp_count_layers(model, from, until < first ? until : first, counts);
    if (from == 0 && until > 0)
        counts->of[SP_LAYER_ENCODER] = model->encoder.layers;
}

int64_t sp_head_outputs(const struct sp_model *model)
{
    const int64_t outputs[] = {
        [SP_HEAD_VOCABULARY] = model->vocab, [SP_HEAD_SCORE] = model->labels, [SP_HEAD_NONE] = 0};
    return outputs[model->head];
}

/* Weights of one normalisation of `width` channels: scale, and shift for a biased LayerNorm. */
static double norm_weights(const struct sp_model *model, double width)
{
    static const double weights[] = {[SP_NORM_RMS] = 1,
                                     [SP_NORM_LAYER] = 2,
                                     [SP_NORM_LAYER_NO_BIAS] = 1,
                                     [SP_NORM_NO_AFFINE] = 0};
    return weights[model->norm] * width;
}

/* Parallel MLPs, gated or plain: a dense layer's, all shared experts as one, the routed ones. */
struct mlp {
    const char *up[2], *down; /* up: without a gate, and with one */
    enum sp_layer_part part;
    enum sp_operator op_up, op_down, op_act;
    double width, count, passed;
    double stream; /* input and output width; 0: the layer's */
    bool bias, gradient;
};

static void list_mlp(const struct sp_model *m, struct sp_layer *l, const struct mlp *mlp)
{
    const double D = mlp->stream > 0 ? mlp->stream : l->width;
    const double F = mlp->width, gates = m->gated_mlp ? 2 : 1;
    const double all = mlp->passed * F;
    const bool routed = mlp->part == SP_PART_EXPERTS;
    MATMUL(l, mlp->up[m->gated_mlp], mlp->part, mlp->op_up, SP_TP_COLUMNS, D, gates * F, mlp->count,
           mlp->passed, .bias = mlp->bias, .target = m->gated_mlp ? SP_LORA_GATE : SP_LORA_UP,
           .piece = {m->gated_mlp ? F : 0, m->gated_mlp ? F : 0});
    MATMUL(l, mlp->down, mlp->part, mlp->op_down, SP_TP_ROWS, F, D, mlp->count, mlp->passed,
           .bias = mlp->bias, .target = SP_LORA_DOWN);
    KEEP(l, gates * all, SP_BY_WIDTH, mlp->op_up, SP_COPIES_ONE, NONE | SELECTIVE | MLP | DOTS,
         .routed = routed, .gradient = mlp->gradient);
    KEEP(l, all, SP_BY_WIDTH, mlp->op_act, m->gated_mlp ? SP_COPIES_MLP : SP_COPIES_ONE,
         NONE | SELECTIVE, .routed = routed, .feeds = 1U << mlp->op_down); /* gate times up */
    KEEP(l, mlp->passed * D, SP_BY_WIDTH, mlp->op_down, SP_COPIES_NONE, MLP | DOTS,
         .routed = routed); /* what comes out */
    MOVE(l, (gates + 1) * all, SP_BY_WIDTH, mlp->op_act, routed);
}

int64_t sp_dense_d_ff(const struct sp_model *model)
{
    return model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->d_ff;
}

static void list_dense(const struct sp_model *m, struct sp_layer *l, bool reusing)
{
    const int64_t whole = reusing && m->reused.d_ff > 0 ? m->reused.d_ff : sp_dense_d_ff(m);
    const struct mlp mlp = {.up = {"up", "up and gate"},
                            .down = "down",
                            .part = SP_PART_MLP,
                            .op_up = SP_OP_UP,
                            .op_down = SP_OP_DOWN,
                            .op_act = SP_OP_ACT,
                            .width = m->mean_d_ff > 0 ? m->mean_d_ff : (double)whole,
                            .count = 1,
                            .passed = 1,
                            .bias = m->mlp_bias,
                            .gradient = true};
    list_mlp(m, l, &mlp);
    KEEP(l, l->width, SP_BY_INPUT, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE,
         .feeds = 1U << SP_OP_UP);
}

/* Row copies per token and expert: permute and restore on both sides of the exchange, read and
 * write. */
enum { MOVES = 8 };

int64_t sp_shared_d_ff(const struct sp_model *model)
{
    const struct sp_moe *const moe = &model->moe;
    return moe->d_ff_shared > 0 ? moe->d_ff_shared : moe->shared_experts * moe->d_ff_expert;
}

/* Routed experts in a narrower stream, with projections into and out of it: Nemotron 3's latent
 * experts. */
static void list_latent_stream(struct sp_layer *l, double latent)
{
    MATMUL(l, "expert latent", SP_PART_MLP, SP_OP_EXPERT_UP, SP_TP_TOKENS, l->width, latent);
    MATMUL(l, "expert latent output", SP_PART_MLP, SP_OP_EXPERT_DOWN, SP_TP_TOKENS, latent,
           l->width);
    KEEP(l, 2 * latent, SP_BY_SEQUENCE, SP_OP_EXPERT_UP, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
}

/* A load-balancing bias counts only if the published count includes it (DeepSeek's does, LFM2's
 * does not). */
static void list_mixture(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_moe *moe = &m->moe;
    const double D = l->width, E = (double)moe->experts, k = (double)moe->top_k;
    const double f_e = (double)moe->d_ff_expert, shared = (double)sp_shared_d_ff(m);
    const double stream = moe->latent > 0 ? (double)moe->latent : D;
    const struct mlp routed = {.up = {"expert up", "expert up and gate"},
                               .down = "expert down",
                               .part = SP_PART_EXPERTS,
                               .op_up = SP_OP_EXPERT_UP,
                               .op_down = SP_OP_EXPERT_DOWN,
                               .op_act = SP_OP_EXPERT_ACT,
                               .width = f_e,
                               .count = E,
                               .passed = k,
                               .stream = stream,
                               .bias = moe->expert_bias,
                               .gradient = true};
    const struct mlp all = {.up = {"shared expert up", "shared expert up and gate"},
                            .down = "shared expert down",
                            .part = SP_PART_MLP,
                            .op_up = SP_OP_SHARED_UP,
                            .op_down = SP_OP_SHARED_DOWN,
                            .op_act = SP_OP_SHARED_ACT,
                            .width = shared,
                            .count = 1,
                            .passed = 1};
    l->picks = k;
    l->sent = stream;
    list_mlp(m, l, &routed);
    MATMUL(l, "router", SP_PART_ROUTER, SP_OP_EXPERT_UP, SP_TP_TOKENS, D, E,
           .bias = moe->router_bias, .plain = true);
    TENSOR(l, (moe->score_correction_bias ? E : 0) + (moe->router_scale ? D + E : 0),
           SP_PART_ROUTER, SP_TP_WHOLE);
    if (moe->latent_norm)
        TENSOR(l, stream, SP_PART_NORM, SP_TP_WHOLE);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_ROUTE, SP_COPIES_ONE); /* router input */
    KEEP(l, k * stream, SP_BY_WIDTH, SP_OP_EXPERT_UP, SP_COPIES_ONE, NONE | SELECTIVE,
         .routed = true, .feeds = 1U << SP_OP_EXPERT_UP); /* in expert order */
    MOVE(l, MOVES * k * stream, SP_BY_WIDTH, SP_OP_ROUTE, .routed = true);
    if (moe->latent > 0)
        list_latent_stream(l, stream);
    if (shared > 0)
        list_mlp(m, l, &all);
    if (moe->shared_gate)
        TENSOR(l, D, SP_PART_ROUTER, SP_TP_WHOLE);
}

/* D-wide elements read and written by two norms, two residual additions and casts. */
enum { NORM_MOVES = 11 };

/* A single block has half of the norms and host operations, and its input is the layer's. The first
 * norm of a shared block has the width that its attention reads. */
static void list_layer(const struct sp_model *m, struct sp_layer *l, enum sp_layer_kind kind)
{
    const int64_t wider =
        kind == SP_LAYER_SHARED && m->shared.streams > 0 ? m->shared.streams - 1 : 0;
    const int64_t norms = (l->half ? (m->norms_per_layer + 1) / 2 : m->norms_per_layer) + wider;
    TENSOR(l, (double)norms * norm_weights(m, l->width), SP_PART_NORM, SP_TP_WHOLE);
    MOVE(l, (l->half ? 0.5 : 1) * NORM_MOVES * l->width, SP_BY_SEQUENCE, SP_OP_NORMS);
    KEEP(l, (l->half ? 1 : 2) * l->width / 2, SP_BY_SEQUENCE, SP_OP_NORMS,
         SP_COPIES_DROPOUT); /* a mask of a byte for what each block adds */
    if (m->norm == SP_NORM_RMS)
        KEEP(l, (double)norms * l->width, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_NORMS);
    const bool reusing = blocks[kind].mixer == REUSING || blocks[kind].mixer == OTHER_REUSING;
    if (kind == SP_LAYER_SHARED)
        sp_list_shared_attention(m, l);
    else if (blocks[kind].mixer == ATTENTION || blocks[kind].mixer == REUSING)
        sp_list_attention(m, l, reusing);
    else if (blocks[kind].mixer == OTHER_MIXER || blocks[kind].mixer == OTHER_REUSING)
        sp_list_other_mixer(m, l, reusing);
    else if (blocks[kind].mixer == CROSS_ATTENTION)
        sp_list_cross_attention(m, l);
    else if (blocks[kind].mixer == NEAR)
        sp_list_compressed(m, l, 0, false);
    else
        KEEP(l, l->width, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_INPUT, NONE | SELECTIVE | FULL);
    if (blocks[kind].mlp == DENSE)
        list_dense(m, l, reusing);
    else if (blocks[kind].mlp == EXPERTS)
        list_mixture(m, l);
    if (kind == SP_LAYER_SHARED)
        sp_share_block(m, l, (m->gated_mlp ? 2 : 1) * (double)sp_dense_d_ff(m));
    else
        sp_list_side_streams(m, l, norm_weights(m, 1));
}

/* A layer of the encoder: a layer with the encoder's widths and tokens. */
static void list_encoder_layer(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_encoder *const e = &m->encoder;
    const struct sp_model own = {.layers = e->layers,
                                 .d_model = e->d_model,
                                 .d_ff = e->d_ff,
                                 .heads = e->heads,
                                 .kv_heads = e->kv_heads,
                                 .head_dim = e->head_dim,
                                 .norm = e->norm,
                                 .qk_norm = e->qk_norm,
                                 .norms_per_layer = e->norms_per_layer,
                                 .extra_attention_params_per_layer = e->extra_layer_params,
                                 .sliding_window = e->window,
                                 .global_every = e->global_every,
                                 .gated_mlp = e->gated_mlp,
                                 .qkv_bias = e->qkv_bias,
                                 .o_bias = e->o_bias,
                                 .mlp_bias = e->mlp_bias,
                                 .bidirectional = true};
    l->width = l->sent = (double)e->d_model;
    l->own = (double)e->tokens;
    l->frozen = e->frozen;
    list_layer(&own, l, SP_LAYER_ENCODER);
    l->mixer.length = (double)(e->length > 0 ? e->length : e->tokens);
    l->mixer.cache = 0;
    for (int i = 0; i < l->matmuls; i++)
        l->matmul[i].frozen = e->frozen;
    for (int i = 0; i < l->tensors; i++)
        l->tensor[i].frozen = e->frozen;
}

/* E, width of a table row. */
static double table_width(const struct sp_model *m)
{
    return (double)(m->embedding_width > 0 ? m->embedding_width : m->d_model);
}

static void list_input(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width, E = table_width(m),
                 norm = m->embedding_norm ? norm_weights(m, E) : 0;
    TENSOR(l, E * (double)m->vocab, SP_PART_EMBEDDING, SP_TP_STORED, .vocab = true);
    TENSOR(l, D * (double)m->learned_positions, SP_PART_EMBEDDING, SP_TP_WHOLE);
    TENSOR(l, norm, SP_PART_NORM, SP_TP_WHOLE);
    TENSOR(l, (double)m->extra_params, SP_PART_EMBEDDING, SP_TP_WHOLE);
    if (E != D)
        MATMUL(l, "projection of the table", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, E, D,
               .plain = true);
    if (m->patch > 0)
        MATMUL(l, "patch embedding", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, (double)m->patch, D,
               .bias = true, .plain = true);
    if (m->encoder.layers > 0)
        sp_list_encoder_ends(m, l);
    sp_list_side_tables(m, l, norm_weights(m, 1));
    if (!sp_is_convolutional(m)) /* a picture model's stem belongs to its first block */
        MOVE(l, 2 * D, SP_BY_NOTHING, SP_OP_NORMS);
}

static void list_output(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width, E = table_width(m), out = (double)sp_head_outputs(m);
    const bool vocab = m->head == SP_HEAD_VOCABULARY;
    if (m->side.hyper > 1)
        sp_list_merged_streams(m, l);
    if (m->side.residual_block > 0)
        sp_list_last_residual(m, l);
    if (m->head_dense)
        MATMUL(l, "transform before the head", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, D, D,
               .bias = m->norm == SP_NORM_LAYER, .plain = true);
    TENSOR(l, m->head_norm ? norm_weights(m, vocab ? E : D) : 0, SP_PART_NORM, SP_TP_WHOLE);
    sp_list_streams_end(m, l);
    if (vocab && E != D)
        MATMUL(l, "projection to the table", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_WHOLE, D, E,
               .plain = true);
    if (m->head != SP_HEAD_NONE)
        MATMUL(l, "output head", SP_PART_EMBEDDING, SP_OP_OUT, vocab ? SP_TP_COLUMNS : SP_TP_WHOLE,
               vocab ? E : D, out, .bias = m->lm_head_bias, .plain = true, .vocab = vocab,
               .tied = vocab && m->tied_embeddings);
    TENSOR(l, m->no_final_norm ? 0 : norm_weights(m, D), SP_PART_NORM, SP_TP_WHOLE);
    MOVE(l, 3 * out, SP_BY_WIDTH, SP_OP_NORMS, .loss = true);
}

/* Stored weights by part, and active ones. */
struct weights {
    double part[SP_PARTS], passed, lookup, encoder;
    double adapters, frozen, frozen_active, adapters_active;
    double frozen_experts, expert_adapters, frozen_bytes, frozen_expert_bytes, still_active;
    double idle_active;
};

/* Adds frozen weights of one row, with this many bytes each. */
static void add_frozen(struct weights *w, enum sp_layer_part part, double weights, double bytes)
{
    const bool experts = part == SP_PART_EXPERTS;
    w->frozen += weights;
    w->frozen_bytes += weights * bytes;
    w->frozen_experts += experts ? weights : 0;
    w->frozen_expert_bytes += experts ? weights * bytes : 0;
}

/* Frozen copies of a row stored `stored` times: all; those of still layers; or for a shared block
 * all, if no trained layer uses it. */
static double frozen_copies(const struct sp_layers *layers, int list, bool frozen, bool shared,
                            double stored)
{
    const double still = layers->still[list];
    if (shared)
        return frozen || still >= layers->count[list] ? stored : 0;
    return frozen ? stored : still;
}

/* Adds the layers of a list: each weight once per stored copy and once per use. */
static void weigh(struct weights *w, const struct sp_layers *layers, int list)
{
    const struct sp_layer *const layer = &layers->list[list];
    const double times = layers->count[list], sets = fmin(layer->sets, times);
    const double still = layers->still[list], base = sp_base_bytes(layers->model);
    const bool encoder = list == SP_LAYER_ENCODER, end = list == SP_LAYER_INPUT;
    const double positions = encoder ? 1 : sp_stream_share(layer->own, 1), uses = times * positions;
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *m = &layer->matmul[i];
        const double stored = m->shared ? sets : times;
        const double one = (m->tied ? 0 : m->in * m->out) + (m->bias ? m->out : 0) + m->norm;
        const double of_each = m->rank > 0 ? sp_adapter_weights(m) : 0;
        const double adapters = stored * m->count * of_each;
        w->part[m->part] += round(stored * m->count * one); /* a mean width may not be exact */
        *(encoder || (m->source && end) ? &w->encoder : &w->passed) +=
            uses * (encoder || m->source ? m->count : m->passed) * one;
        w->adapters += adapters;
        w->expert_adapters += m->part == SP_PART_EXPERTS ? adapters : 0;
        if (m->frozen || still > 0)
            add_frozen(w, m->part,
                       frozen_copies(layers, list, m->frozen, m->shared, stored) * m->count * one,
                       m->base ? base : SP_FROZEN_BYTES);
        if (encoder || m->source)
            continue;
        w->adapters_active += uses * m->passed * of_each;
        const double frozen_uses = (m->frozen ? uses : still * positions) * m->passed;
        w->frozen_active += frozen_uses * m->in * m->out;
        w->idle_active +=
            frozen_uses * (one - m->in * m->out); /* a tied head works, its table not */
        w->still_active += still * positions * m->passed * m->in * m->out;
    }
    if (positions > 1) /* every picture has as many scores, so they are part of its work */
        w->passed +=
            uses / 2 *
            sp_score_flops(layer->mixer.heads, layer->mixer.qk, layer->mixer.v, layer->own, 1);
    for (int i = 0; i < layer->tensors; i++) {
        const struct sp_tensor *t = &layer->tensor[i];
        const double stored = t->shared ? sets : times;
        w->part[t->part] += stored * t->weights;
        *(t->lookup              ? &w->lookup
          : encoder || t->source ? &w->encoder
                                 : &w->passed) += times * t->weights;
        if (!t->frozen && !(still > 0))
            continue;
        add_frozen(w, t->part,
                   frozen_copies(layers, list, t->frozen, t->shared, stored) * t->weights,
                   SP_FROZEN_BYTES);
        w->idle_active +=
            t->lookup || encoder || t->source ? 0 : (t->frozen ? times : still) * t->weights;
    }
}

static struct sp_params params_of(const struct sp_layers *layers)
{
    struct weights w = {.passed = 0};
    for (unsigned left = layers->present; left;)
        weigh(&w, layers, sp_take_kind(&left));
    w.passed = layers->model->mean_d_ff > 0 ? round(w.passed) : w.passed;
    struct sp_params p = {.embedding = w.part[SP_PART_EMBEDDING],
                          .attention = w.part[SP_PART_ATTENTION],
                          .mlp = w.part[SP_PART_MLP],
                          .experts = w.part[SP_PART_EXPERTS],
                          .router = w.part[SP_PART_ROUTER],
                          .norm = w.part[SP_PART_NORM],
                          .active = w.passed + w.encoder,
                          .encoder = w.encoder,
                          .lookup = w.lookup,
                          .passed = w.passed,
                          .adapters = w.adapters,
                          .trained_experts =
                              w.part[SP_PART_EXPERTS] - w.frozen_experts + w.expert_adapters,
                          .frozen_bytes = w.frozen_bytes,
                          .frozen_expert_bytes = w.frozen_expert_bytes,
                          .frozen_active = w.frozen_active,
                          .adapters_active = w.adapters_active,
                          .still_active = w.still_active,
                          .idle_active = w.idle_active};
    for (int part = 0; part < SP_PARTS; part++)
        p.total += w.part[part];
    p.trained = p.total - w.frozen + p.adapters;
    return p;
}

/* An empty list. */
static void clear(struct sp_layer *l, const struct sp_model *model)
{
    static const struct sp_mixer none;
    l->matmuls = l->tensors = l->n_kept = l->n_moved = 0;
    l->frozen = l->half = false;
    l->width = l->sent = (double)model->d_model;
    l->picks = 0;
    l->own = model->patch > 0 ? (double)model->learned_positions : 0;
    l->from = l->own;
    l->sets = 0;
    l->mixer = none;
    l->cross = none;
}

void sp_list_model(const struct sp_model *model, struct sp_layers *layers)
{
    struct sp_layer_counts counts, still;
    sp_count_layers(model, 0, model->layers, &counts);
    sp_count_still_layers(model, 0, model->layers, &still);
    layers->model = model;
    layers->present = 0;
    for (int list = 0; list < SP_LAYER_LISTS; list++) {
        layers->count[list] = list < SP_LAYER_KINDS ? (double)counts.of[list] : 1;
        layers->still[list] = list < SP_LAYER_KINDS ? (double)still.of[list] : 0;
        layers->present |= (unsigned)(layers->count[list] > 0) << list;
    }
    for (unsigned left = layers->present; left;)
        clear(&layers->list[sp_take_kind(&left)], model);
    layers->list[SP_LAYER_OUTPUT].own = 0; /* a picture has one head, on its class token */
    if (sp_is_convolutional(model))
        sp_list_blocks(model, layers);
    for (unsigned left = sp_is_convolutional(model) ? 0 : sp_kinds_of(layers); left;) {
        const int kind = sp_take_kind(&left);
        struct sp_layer *const l = &layers->list[kind];
        l->half = blocks[kind].mixer == NO_MIXER || blocks[kind].mlp == NO_MLP;
        if (kind == SP_LAYER_ENCODER)
            list_encoder_layer(model, l);
        else
            list_layer(model, l,
                       kind == SP_LAYER_MTP ? last_kind(model) : (enum sp_layer_kind)kind);
        if (kind == SP_LAYER_MTP)
            sp_list_predictor(model, l, norm_weights(model, l->width));
        if (kind != SP_LAYER_ENCODER)
            l->mixer.documents = model->documents;
    }
    list_input(model, &layers->list[SP_LAYER_INPUT]);
    list_output(model, &layers->list[SP_LAYER_OUTPUT]);
    if (model->tuning.trainable != SP_TRAIN_ALL)
        sp_freeze(layers);
    layers->params = params_of(layers);
}

double sp_stream_share(double tokens, double seq)
{
    return tokens > 0 ? tokens / seq : 1;
}

/* A shared block counts once per layer that uses it, so that 6 P is the work per token (ALBERT:
 * 11.7 M in total, 89.7 M active). A per-layer table is looked up and does not count (Gemma 4 E2B:
 * 2.28 B active). Encoder parameters count by encoder tokens; otherwise every word would pay for an
 * image tower. */
struct sp_params sp_worked_params(const struct sp_model *model, const struct sp_params *params,
                                  double seq)
{
    const double share = sp_stream_share((double)model->encoder.tokens, seq);
    const bool still = model->encoder.frozen || model->tuning.trainable == SP_TRAIN_LAST;
    const double thirds = still ? 1 : model->tuning.trainable != SP_TRAIN_ALL ? 2 : 3;
    struct sp_params worked = *params;
    if (params->encoder > 0)
        worked.active = params->passed + thirds / 3 * share * params->encoder;
    return worked;
}
