/* FLOPs of training, by part. */
#include <math.h>
#include <stddef.h>

#include "core/layers/layer_flops.h"

double sp_attended_tokens(const struct sp_model *m, double seq)
{
    struct sp_layers layers;
    double tokens = 0, attend = 0;
    sp_list_model(m, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const struct sp_mixer *const mixer = &layers.list[kind].mixer;
        if (layers.count[kind] == 0 || mixer->qk <= 0 || kind == SP_LAYER_ENCODER)
            continue;
        tokens += layers.count[kind] * sp_mixer_tokens(mixer, seq);
        attend += layers.count[kind];
    }
    return attend > 0 ? tokens / attend : 0;
}

/* The first kind of layer with attention scores, NULL without any; all windows are assumed
 * equal. */
static const struct sp_mixer *attention_of(const struct sp_layers *layers)
{
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        if (layers->count[kind] > 0 && layers->list[kind].mixer.qk > 0)
            return &layers->list[kind].mixer;
    return NULL;
}

double sp_seq_of_attended_tokens(const struct sp_model *m, double tokens)
{
    struct sp_layers layers;
    sp_list_model(m, &layers);
    const struct sp_mixer *any = attention_of(&layers);
    if (!any || any->window <= 0 || tokens <= any->window)
        return tokens;
    const double W = any->window, g = any->global;
    if (any->chunked) /* g seq + (1-g) W in whole chunks */
        return g > 0 ? (tokens - (1 - g) * W) / g : INFINITY;
    /* g seq^2 + (2W (1-g) - tokens) seq - (1-g) W^2 = 0 */
    const double b = 2 * W * (1 - g) - tokens, c = (1 - g) * W * W;
    if (g > 0)
        return (sqrt(b * b + 4 * g * c) - b) / (2 * g);
    return b > 0 ? c / b : INFINITY;
}

/* Adds `times` layers, or an end. */
static void add_layer(struct sp_flops *f, const struct sp_layer *layer, double times, double seq,
                      double scores)
{
    double *const of[SP_PARTS] = {[SP_PART_EMBEDDING] = &f->unembedding,
                                  [SP_PART_ATTENTION] = &f->projections,
                                  [SP_PART_MLP] = &f->mlp,
                                  [SP_PART_EXPERTS] = &f->mlp,
                                  [SP_PART_ROUTER] = &f->mlp};
    if (times == 0)
        return;
    const double own = times * sp_stream_share(layer->own, seq);
    const double from = times * sp_stream_share(layer->from, seq);
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *m = &layer->matmul[i];
        *of[m->part] += (m->source ? from : own) * 2 * m->passed * m->in * m->out;
    }
    f->attention += own * sp_mixer_flops(&layer->mixer, seq, scores);
    f->attention += own * sp_mixer_flops(&layer->cross, seq, scores);
}

/* Share of the pairs of tokens whose scores count. */
static double scores_of(bool causal)
{
    return causal ? 0.5 : 1;
}

struct sp_flops sp_forward_flops_of(const struct sp_layers *layers, double seq, bool causal,
                                    bool count_embedding)
{
    struct sp_flops f = {0};
    for (int list = 0; list < SP_LAYER_LISTS; list++)
        add_layer(&f, &layers->list[list], layers->count[list], seq, scores_of(causal));
    if (layers->model->mean_d_ff > 0)
        f.mlp = round(f.mlp);
    f.embedding = count_embedding ? f.unembedding : 0;
    f.total = sp_forward_flops(f.mlp, f.projections, f.attention, f.unembedding, f.embedding);
    return f;
}

struct sp_flops sp_forward_flops_per_token(const struct sp_model *m, double seq, bool causal,
                                           bool count_embedding)
{
    if (!sp_model_has_shape(m))
        return (struct sp_flops){NAN, NAN, NAN, NAN, NAN, 2 * m->params};
    struct sp_layers layers;
    sp_list_model(m, &layers);
    return sp_forward_flops_of(&layers, seq, causal, count_embedding);
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

double sp_tuning_flops(const struct sp_params *p, double tokens)
{
    return sp_training_flops(p->active - p->idle_active, tokens) -
           2 * (p->frozen_active + p->still_active) * tokens +
           sp_training_flops(p->adapters_active, tokens);
}

/* Whether attention FLOPs are proportional to the attended tokens: all layers attend to everything,
 * or to one window, and no other mixer. */
static bool is_proportional(const struct sp_model *m)
{
    return !m->pattern[0] && m->sparse.top_k == 0 && m->compressed.output_rank == 0 &&
           !m->state_space.parallel;
}

/* The shortest sequence whose mixers need `flops` per token, by search. */
static double seq_of_mixer_flops(const struct sp_model *m, double flops, bool causal)
{
    double low = 1, high = 1e12;
    struct sp_model whole = *m;
    whole.documents = NULL;
    if (!(sp_forward_flops_per_token(&whole, high, causal, false).attention > flops))
        return INFINITY;
    while (high > low * (1 + 1e-12)) {
        const double middle = sqrt(low * high);
        const double need = sp_forward_flops_per_token(&whole, middle, causal, false).attention;
        *(need < flops ? &low : &high) = middle;
    }
    return high;
}

/* The same, extrapolated from a sequence of one token if proportional. */
static double seq_from_one(const struct sp_model *m, double flops, double one, bool causal)
{
    return is_proportional(m) ? sp_seq_of_attended_tokens(m, flops / one)
                              : seq_of_mixer_flops(m, flops, causal);
}

double sp_attention_crossover_tokens(const struct sp_model *m, bool causal)
{
    const struct sp_flops one = sp_forward_flops_per_token(m, 1, causal, false);
    return seq_from_one(m, one.mlp + one.projections, one.attention, causal);
}

double sp_scores_equal_projections_tokens(const struct sp_model *m, bool causal)
{
    const struct sp_flops one = sp_forward_flops_per_token(m, 1, causal, false);
    return seq_from_one(m, one.projections, one.attention, causal);
}

double sp_attention_overtakes_mlp_tokens(const struct sp_model *m, double seq, bool causal)
{
    const struct sp_flops f = sp_forward_flops_per_token(m, seq, causal, false);
    return is_proportional(m)
               ? sp_seq_of_attended_tokens(m, f.mlp / f.attention * sp_attended_tokens(m, seq))
               : seq_of_mixer_flops(m, f.mlp, causal);
}

/* Forward FLOPs per token of untrained weights. */
static double frozen_flops(const struct sp_layers *layers, double seq, double scores)
{
    struct sp_flops f = {0};
    if (!layers->model->encoder.frozen)
        return 0;
    add_layer(&f, &layers->list[SP_LAYER_ENCODER], layers->count[SP_LAYER_ENCODER], seq, scores);
    return f.projections + f.mlp + f.attention;
}

double sp_model_flops_of(const struct sp_layers *layers, double tokens, double seq,
                         enum sp_flop_convention convention)
{
    if (convention == SP_FLOPS_6P)
        return sp_training_flops(sp_worked_params(layers->model, &layers->params, seq).active,
                                 tokens);
    const bool causal = convention == SP_FLOPS_CAUSAL;
    const double forward = sp_forward_flops_of(layers, seq, causal, false).total;
    return (3 * forward - 2 * frozen_flops(layers, seq, scores_of(causal))) * tokens;
}

/* A sample counts as one token, so that no command needs a second unit; its active parameters are
 * sample_flops / 2. */
double sp_model_flops(const struct sp_model *m, double tokens, double seq,
                      enum sp_flop_convention convention)
{
    if (!sp_model_has_shape(m)) {
        const struct sp_params params = sp_count_params(m);
        return sp_training_flops(sp_worked_params(m, &params, seq).active, tokens);
    }
    struct sp_layers layers;
    sp_list_model(m, &layers);
    return sp_model_flops_of(&layers, tokens, seq, convention);
}

/* Without a backward pass: layers below the trained ones, and a tower that is frozen. */
struct sp_flops sp_still_flops_of(const struct sp_layers *layers, double seq, bool causal)
{
    struct sp_flops f = {0};
    const bool last = layers->model->tuning.trainable == SP_TRAIN_LAST;
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const bool tower = kind == SP_LAYER_ENCODER && layers->model->encoder.frozen;
        if (last || tower)
            add_layer(&f, &layers->list[kind], tower ? layers->count[kind] : layers->still[kind],
                      seq, scores_of(causal));
    }
    f.total = f.mlp + f.projections + f.attention;
    return f;
}

struct sp_flops sp_still_flops_per_token(const struct sp_model *m, double seq, bool causal)
{
    struct sp_layers layers;
    if (!sp_model_has_shape(m))
        return (struct sp_flops){0};
    sp_list_model(m, &layers);
    return sp_still_flops_of(&layers, seq, causal);
}

/* FLOPs per token of the gradients that a tower's matmuls do not compute: those of frozen weights,
 * and those of inputs where no gradient passes. */
static double tower_spared(const struct sp_layers *layers, double seq)
{
    const struct sp_layer *const tower = &layers->list[SP_LAYER_ENCODER];
    if (!(layers->count[SP_LAYER_ENCODER] > 0)) /* the list has no information about absent kinds */
        return 0;
    const double times = layers->count[SP_LAYER_ENCODER] * sp_stream_share(tower->own, seq);
    const bool still = tower->frozen || layers->still[SP_LAYER_ENCODER] > 0;
    double flops = 0;
    for (int i = 0; i < tower->matmuls; i++) {
        const struct sp_matmul *const m = &tower->matmul[i];
        flops += ((m->frozen || still) + still) * 2 * m->passed * m->in * m->out;
    }
    return times * flops;
}

double sp_tuned_flops_of(const struct sp_layers *layers, double tokens, double seq,
                         enum sp_flop_convention convention)
{
    const struct sp_params p = sp_worked_params(layers->model, &layers->params, seq);
    if (convention == SP_FLOPS_6P)
        return sp_tuning_flops(&p, tokens);
    const bool causal = convention == SP_FLOPS_CAUSAL;
    const double forward = sp_forward_flops_of(layers, seq, causal, false).total;
    const double scores = sp_still_flops_of(layers, seq, causal).attention;
    return (3 * forward - 2 * (p.frozen_active + p.still_active + scores) -
            tower_spared(layers, seq)) *
               tokens +
           sp_training_flops(p.adapters_active, tokens);
}

double sp_tuned_flops(const struct sp_model *m, double tokens, double seq,
                      enum sp_flop_convention convention)
{
    if (!sp_model_has_shape(m)) {
        const struct sp_params counted = sp_count_params(m), p = sp_worked_params(m, &counted, seq);
        return sp_tuning_flops(&p, tokens);
    }
    struct sp_layers layers;
    sp_list_model(m, &layers);
    return sp_tuned_flops_of(&layers, tokens, seq, convention);
}
