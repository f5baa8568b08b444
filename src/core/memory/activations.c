/* Kept activation bytes: per model, per layer and device, by published rule. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/memory.h>

#include "core/layers/layer_rank.h"

/* Elements kept per token in all layers; those that width does not divide among TP ranks count
 * `undivided` times. */
static double kept_elements(const struct sp_layers *layers, enum sp_remat remat, double undivided)
{
    double elements = 0;
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const struct sp_layer *const layer = &layers->list[kind];
        double trained = layers->count[kind] - layers->still[kind];
        if (trained == 0) /* and perhaps not listed */
            continue;
        if (kind != SP_LAYER_ENCODER)
            trained *= sp_stream_share(layer->own, 1);
        for (int i = 0; trained > 0 && i < layer->n_kept; i++) {
            const struct sp_kept *const k = &layer->kept[i];
            const double times = k->sharded_by == SP_BY_WIDTH ? 1 : undivided;
            elements += k->remats >> remat & 1 ? times * trained * k->width : 0;
        }
    }
    return elements;
}

double sp_kept_bytes_per_token_layer(const struct sp_layers *layers, enum sp_remat remat)
{
    if (!sp_model_has_shape(layers->model) || remat >= SP_REMATS)
        return NAN;
    return SP_ELEMENT * kept_elements(layers, remat, 1) / (double)layers->model->layers;
}

/* Assumes fused attention. `none` keeps the tensors that a backward pass reads (Korthikanti's list
 * with grouped queries and a gated MLP); `dots` keeps the exact widths of the seven large matmuls
 * instead of 7 D. */
double sp_activation_bytes_per_token_layer(const struct sp_model *model, enum sp_remat remat)
{
    if (!sp_model_has_shape(model) || remat >= SP_REMATS)
        return NAN;
    struct sp_layers layers;
    sp_list_model(model, &layers);
    return sp_kept_bytes_per_token_layer(&layers, remat);
}

double sp_undivided_activations(const struct sp_model *model, enum sp_remat remat, double tp)
{
    if (!sp_model_has_shape(model) || remat >= SP_REMATS)
        return NAN;
    struct sp_layers layers;
    sp_list_model(model, &layers);
    const double kept = kept_elements(&layers, remat, 1);
    return kept > 0 ? kept_elements(&layers, remat, tp) / kept : 1;
}

/* Bytes of attention scores that unfused kernels keep: the softmax and, with dropout, its mask of
 * one byte and the scores after it. Korthikanti et al. 2022, section 4.1: 5 a s^2 b. */
static double score_bytes(const struct sp_layer *layer, const struct sp_rank *rank,
                          const struct sp_plan *plan)
{
    const struct sp_execution *const e = &plan->execution;
    const double each = SP_ELEMENT + (e->dropout > 0 ? 1 + SP_ELEMENT : 0);
    double scores = 0;
    for (int cross = 0; cross <= 1; cross++) {
        const struct sp_mixer *const x = cross ? &layer->cross : &layer->mixer;
        const double keys = x->length > 0 ? x->length : (double)plan->seq;
        scores += x->qk > 0 ? x->heads * keys : 0;
    }
    return e->attention_kernel == SP_KERNEL_UNFUSED ? each * scores * rank->tokens[SP_BY_WIDTH] : 0;
}

void sp_list_kept(const struct sp_layer *layer, const struct sp_rank *rank,
                  const struct sp_plan *plan, const struct sp_framework *framework,
                  struct sp_kept_bytes *kept)
{
    const bool exchanges = plan->cp > 1 && plan->execution.cp_kind == SP_CP_ULYSSES;
    /* after the exchange a rank keeps all tokens of its KV heads, or of a copy of one */
    const double sharers = exchanges ? (double)plan->cp : 1;
    const double bytes = sp_dtypes[plan->dtype].bytes;
    const bool narrow = framework->narrow_inputs && bytes < SP_ELEMENT;
    const double copies[SP_COPIES] = {
        [SP_COPIES_ONE] = 1,
        [SP_COPIES_QKV] = 1 + framework->qkv_copies,
        [SP_COPIES_MLP] = 1 + framework->mlp_copies,
        [SP_COPIES_INPUT] = 1,
        [SP_COPIES_EXCHANGED] = exchanges ? 1 : 0,
        [SP_COPIES_DROPOUT] = plan->execution.dropout > 0 ? 1 : 0,
        [SP_COPIES_NORMS] = framework->norm_copies,
        [SP_COPIES_CAST] = narrow ? 1 : 0,
        [SP_COPIES_FROZEN] = framework->keeps_frozen_inputs ? 1 : 0,
        [SP_COPIES_MLP_FROZEN] = (framework->keeps_frozen_inputs ? 1 : 0) + framework->mlp_copies};
    const double T = rank->tokens[SP_BY_NOTHING];
    *kept = (struct sp_kept_bytes){.qkv_input = 0};
    if (layer->frozen) /* no gradient passes it */
        return;
    for (int i = 0; i < layer->n_kept; i++) {
        const struct sp_kept *const k = &layer->kept[i];
        const int with = k->with_norms                  ? SP_KEPT_UNLESS_NORMS
                         : k->copies == SP_COPIES_INPUT ? SP_KEPT_INPUT
                                                        : (int)k->by;
        const double mine = (k->source ? rank->from : 1) *
                            (k->groups > 0 ? T * sharers / fmin(rank->tp * sharers, k->groups)
                                           : rank->tokens[k->sharded_by]);
        const double element = narrow && k->feeds != 0 ? bytes / SP_ELEMENT : 1;
        const double all = SP_ELEMENT * copies[k->copies] * (k->routed ? rank->imbalance : 1) *
                           k->width * element * mine;
        kept->of[with] += all;
        if (k->feeds == 0)
            continue;
        if (with == SP_OP_NORMS && k->feeds & 1U << SP_OP_QKV)
            kept->qkv_input += all;
        if (with == SP_OP_EXPERT_UP && k->feeds & 1U << SP_OP_EXPERT_UP)
            kept->fc1_input += all;
    }
    kept->of[SP_OP_CORE] += score_bytes(layer, rank, plan);
}

struct sp_shares sp_kept_shares(const struct sp_recompute *recompute)
{
    struct sp_shares kept = sp_shares_of(recompute);
    const double core = kept.of[SP_OP_CORE];
    for (int op = 0; op < SP_OPERATORS; op++)
        kept.of[op] = 1 - kept.of[op];
    kept.of[SP_KEPT_ALWAYS] = 1;
    kept.of[SP_KEPT_UNLESS_NORMS] = 1 - core * recompute->norms;
    kept.of[SP_KEPT_INPUT] = 1 + recompute->spare;
    return kept;
}

double sp_sum_kept(const struct sp_kept_bytes *kept, const struct sp_shares *shares)
{
    double bytes = 0;
    for (int i = 0; i < SP_KEPT_ROWS; i++)
        bytes += kept->of[i] * (shares ? shares->of[i] : 1);
    return bytes;
}

/* The tensors of each row; those of qkv_linear and expert_fc1 belong to the rows of others. */
static const unsigned away_of[SP_KEPT_ROWS] = {
    [SP_OP_QKV] = 1U << SP_AWAY_CORE_ATTN,     [SP_OP_LATENT] = 1U << SP_AWAY_CORE_ATTN,
    [SP_OP_OUT] = 1U << SP_AWAY_MLP_NORM,      [SP_OP_UP] = 1U << SP_AWAY_MLP,
    [SP_OP_DOWN] = 1U << SP_AWAY_MLP,          [SP_OP_SHARED_UP] = 1U << SP_AWAY_MLP,
    [SP_OP_SHARED_DOWN] = 1U << SP_AWAY_MLP,   [SP_OP_EXPERT_UP] = 1U << SP_AWAY_MOE_ACT,
    [SP_OP_NORMS] = 1U << SP_AWAY_MLP,         [SP_OP_ACT] = 1U << SP_AWAY_MLP,
    [SP_OP_SHARED_ACT] = 1U << SP_AWAY_MLP,    [SP_KEPT_UNLESS_NORMS] = 1U << SP_AWAY_ATTN_PROJ,
    [SP_KEPT_INPUT] = 1U << SP_AWAY_ATTN_NORM,
};

static double away_share(unsigned away, unsigned of)
{
    return (away & of) != 0 ? 1 : 0;
}

double sp_sum_away(const struct sp_kept_bytes *kept, const struct sp_shares *shares, unsigned away)
{
    const double norms = shares ? shares->of[SP_OP_NORMS] : 1,
                 fc1 = shares ? shares->of[SP_OP_EXPERT_UP] : 1;
    if (away == 0)
        return sp_sum_kept(kept, shares);
    double bytes =
        norms * kept->qkv_input *
            (away_share(away, 1U << SP_AWAY_QKV_LINEAR) - away_share(away, away_of[SP_OP_NORMS])) +
        fc1 * kept->fc1_input *
            (away_share(away, 1U << SP_AWAY_EXPERT_FC1) -
             away_share(away, away_of[SP_OP_EXPERT_UP]));
    for (int i = 0; i < SP_KEPT_ROWS; i++)
        bytes += away_share(away, away_of[i]) * kept->of[i] * (shares ? shares->of[i] : 1);
    return bytes;
}

enum sp_gpt_rule sp_gpt_rule(enum sp_remat remat, double tp, bool sequence_parallel)
{
    const bool alone = tp <= 1;
    if (remat == SP_REMAT_FULL)
        return SP_GPT_FULL;
    if (remat == SP_REMAT_SELECTIVE)
        return sequence_parallel || alone ? SP_GPT_SELECTIVE : SP_GPT_TP_SELECTIVE;
    return alone ? SP_GPT_NONE : sequence_parallel ? SP_GPT_TP_SP : SP_GPT_TP;
}

double sp_stage_activation_bytes(double layers, double layer_bytes, const struct sp_spread *s)
{
    return sp_gpt_stage_bytes(layers, layer_bytes, s->pp, s->microbatches_in_flight);
}

double sp_activation_footprint(const struct sp_model *model, enum sp_remat remat, double tokens,
                               const struct sp_spread *s)
{
    return (double)model->layers / s->pp * tokens / (s->tp * s->cp) * s->microbatches_in_flight *
           sp_activation_bytes_per_token_layer(model, remat);
}

double sp_gpt_activation_bytes(enum sp_gpt_rule rule, double s, double b, double h, double a,
                               double t)
{
    switch (rule) {
    case SP_GPT_TP:
        return sp_gpt_tp_layer_bytes(s, b, h, a, t);
    case SP_GPT_TP_SP:
        return sp_gpt_sp_layer_bytes(s, b, h, a, t);
    case SP_GPT_TP_SELECTIVE:
        return sp_gpt_tp_selective_bytes(s, b, h, t);
    case SP_GPT_SELECTIVE:
        return sp_gpt_selective_bytes(s, b, h, t);
    case SP_GPT_FULL:
        return sp_gpt_full_bytes(s, b, h);
    default:
        return sp_gpt_layer_bytes(s, b, h, a);
    }
}
