/* Bytes of training state and of kept activations, of a model and of one device. */
#include <math.h>

#include <scaleplan/activations.h>

#include "core/layer_rank.h"

double sp_state_bytes_per_param(const struct sp_precision *precision)
{
    return precision->weight_bytes + precision->grad_bytes + precision->master_bytes +
           precision->optimizer_bytes;
}

/* Gradients that a recipe does not keep are still sent, in 2 bytes. */
double sp_kept_grad_bytes(const struct sp_precision *precision, double microbatches)
{
    const bool adds_up = precision->grad_bytes <= 0 && microbatches > 1;
    return adds_up ? precision->weight_bytes : precision->grad_bytes;
}

/* Assumes fused attention. `none` keeps what a backward pass reads (Korthikanti's list with grouped
 * queries and a gated MLP); `dots` keeps the exact widths of the seven big matmuls, not 7 D. */
double sp_activation_bytes_per_token_layer(const struct sp_model *model, enum sp_remat remat)
{
    if (!sp_model_has_shape(model) || remat >= SP_REMATS)
        return NAN;
    struct sp_layers layers;
    double elements = 0;
    sp_list_model(model, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const double trained = layers.count[kind] - layers.still[kind];
        for (int i = 0; trained > 0 && i < layers.list[kind].n_kept; i++) {
            const struct sp_kept *const k = &layers.list[kind].kept[i];
            elements += k->remats >> remat & 1 ? trained * k->width : 0;
        }
    }
    return SP_ELEMENT * elements / (double)model->layers;
}

double sp_kept_bytes(const struct sp_layer *layer, const struct sp_rank *rank,
                     const struct sp_plan *plan, const struct sp_framework *framework,
                     const struct sp_recompute *recompute)
{
    const bool exchanges = plan->cp > 1 && !framework->ring_attention;
    const double copies[SP_COPIES] = {
        [SP_COPIES_ONE] = 1,
        [SP_COPIES_QKV] = 1 + framework->qkv_copies,
        [SP_COPIES_MLP] = 1 + framework->mlp_copies,
        [SP_COPIES_INPUT] = 1 + recompute->spare,
        [SP_COPIES_EXCHANGED] = exchanges ? 1 : 0,
        [SP_COPIES_NORMS] = framework->norm_copies,
        [SP_COPIES_FROZEN] = framework->keeps_frozen_inputs ? 1 : 0,
        [SP_COPIES_MLP_FROZEN] = (framework->keeps_frozen_inputs ? 1 : 0) + framework->mlp_copies};
    const struct sp_shares again = sp_shares_of(recompute);
    const double T = rank->tokens[SP_BY_NOTHING];
    double elements = 0;
    if (layer->frozen) /* no gradient passes it */
        return 0;
    for (int i = 0; i < layer->n_kept; i++) {
        const struct sp_kept *const k = &layer->kept[i];
        const double dropped = again.of[k->by] * (k->with_norms ? recompute->norms : 1);
        const double mine =
            (k->source ? rank->from : 1) *
            (k->groups > 0 ? T / fmin(rank->tp, k->groups) : rank->tokens[k->sharded_by]);
        elements +=
            (1 - dropped) * copies[k->copies] * (k->routed ? rank->imbalance : 1) * k->width * mine;
    }
    return SP_ELEMENT * elements;
}

struct sp_footprint sp_state_footprint(double params, double experts, const struct sp_precision *q,
                                       const struct sp_spread *s)
{
    const double slice = s->tp * s->pp, shards = s->dp * s->cp;
    const double whole = (params - experts) / slice + experts / (slice * s->ep);
    /* EP takes its ranks from the shards, so that shards / ep of them share an expert */
    const double shared = params / (slice * shards);
    const double K = q->master_bytes + q->optimizer_bytes;
    struct sp_footprint f = {
        .params = (s->zero >= 3 ? shared : whole) * q->weight_bytes,
        .grads = (s->zero >= 2 ? shared : whole) * sp_kept_grad_bytes(q, s->microbatches),
        .optimizer = (s->zero >= 1 ? shared : whole) * K,
    };
    f.total = f.params + f.grads + f.optimizer;
    return f;
}

struct sp_footprint sp_tuned_footprint(const struct sp_params *p, const struct sp_precision *q,
                                       const struct sp_spread *s)
{
    const double experts = isnan(p->experts) ? 0 : p->trained_experts;
    struct sp_footprint f = sp_state_footprint(p->trained, experts, q, s);
    /* a byte of what is frozen is spread as a weight of a byte is */
    const struct sp_precision stored = {.weight_bytes = 1};
    struct sp_spread once = *s;
    once.microbatches = 1;
    if (p->frozen_bytes > 0)
        f.params +=
            sp_state_footprint(p->frozen_bytes, p->frozen_expert_bytes, &stored, &once).params;
    f.total = f.params + f.grads + f.optimizer;
    return f;
}

double sp_state_bytes(const struct sp_params *params, const struct sp_precision *precision)
{
    return params->trained * sp_state_bytes_per_param(precision) + params->frozen_bytes;
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
    return layers * layer_bytes / s->pp * s->microbatches_in_flight;
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
    const double sbh = s * b * h, scores = 5 * a * s / h;
    switch (rule) {
    case SP_GPT_TP:
        return sbh * (10 + 24 / t + scores / t);
    case SP_GPT_TP_SP:
        return sbh * (34 + scores) / t;
    case SP_GPT_TP_SELECTIVE:
        return sbh * (10 + 24 / t);
    case SP_GPT_SELECTIVE:
        return sbh * 34 / t;
    case SP_GPT_FULL:
        return sbh * 2;
    default:
        return sbh * (34 + scores);
    }
}

double sp_selective_saved_share(double s, double h, double a)
{
    const double scores = 5 * a * s / h;
    return scores / (34 + scores);
}

double sp_checkpoint_bytes(double count, double batch_tokens, double d_model, double layers)
{
    return 2 * count * batch_tokens * d_model * layers;
}

double sp_max_params(double capacity_bytes, double devices, double bytes_per_param)
{
    return capacity_bytes * devices / bytes_per_param;
}

double sp_min_devices(double bytes, double capacity_bytes)
{
    return floor(bytes / capacity_bytes) + 1;
}
