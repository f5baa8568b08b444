/* FLOPs of training, by part. */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/layer.h>

double sp_attended_tokens(const struct sp_model *m, double seq)
{
    struct sp_layer layer;
    sp_list_layer(m, SP_LAYER_DENSE, &layer);
    return sp_mixer_tokens(&layer.mixer, seq);
}

double sp_seq_of_attended_tokens(const struct sp_model *m, double tokens)
{
    struct sp_layer layer;
    sp_list_layer(m, SP_LAYER_DENSE, &layer);
    const double W = layer.mixer.window, g = layer.mixer.global;
    if (W <= 0 || tokens <= W)
        return tokens;
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
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *m = &layer->matmul[i];
        *of[m->part] += times * 2 * m->passed * m->in * m->out;
    }
    f->attention += times * sp_mixer_flops(&layer->mixer, seq, scores);
}

struct sp_flops sp_forward_flops_per_token(const struct sp_model *m, double seq, bool causal,
                                           bool count_embedding)
{
    if (!sp_model_has_shape(m))
        return (struct sp_flops){NAN, NAN, NAN, NAN, NAN, 2 * m->params};
    const struct sp_layer_counts counts = sp_count_layers(m, m->layers);
    const double scores = causal ? 0.5 : 1;
    struct sp_flops f = {0};
    struct sp_layer layer;
    sp_list_output(m, &layer);
    add_layer(&f, &layer, 1, seq, scores);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        sp_list_layer(m, (enum sp_layer_kind)kind, &layer);
        add_layer(&f, &layer, (double)counts.of[kind], seq, scores);
    }
    f.embedding = count_embedding ? f.unembedding : 0;
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
    const struct sp_layer_counts counts = sp_count_layers(m, m->layers);
    struct sp_layer layer;
    double elements = 0;
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        sp_list_layer(m, (enum sp_layer_kind)kind, &layer);
        elements += (double)counts.of[kind] * layer.mixer.cache;
    }
    return element_bytes * elements;
}

double sp_selective_flop_overhead(double seq, double d_model)
{
    return (1 + seq / (3 * d_model)) / (1 + seq / (6 * d_model)) - 1;
}
