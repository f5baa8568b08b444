/* Parameter counts of a model, by part. */
#include <math.h>

#include <scaleplan/forms.h>
#include "core/layers/layer_rows.h"

bool sp_model_has_shape(const struct sp_model *model)
{
    return model->layers > 0;
}

bool sp_splits_layers(const struct sp_model *model)
{
    return sp_model_has_shape(model) && !sp_is_convolutional(model);
}

bool sp_takes_pictures(const struct sp_model *model)
{
    return model->sample_flops > 0 || model->patch > 0 || sp_is_convolutional(model);
}

bool sp_is_hybrid(const struct sp_model *m)
{
    return m->pattern[0] || m->sparse.top_k > 0 || m->compressed.output_rank > 0 ||
           m->state_space.parallel || m->attention_gate || m->head_gates || m->value_dim > 0 ||
           m->moe.latent > 0 || m->side.residual_block > 0 || m->moe.shared_gate ||
           m->moe.router_scale || m->keys_are_values || m->side.per_layer > 0 ||
           m->side.altup > 1 || m->side.hyper > 1 || m->side.laurel_rank > 0;
}

int64_t sp_moe_layers(const struct sp_model *model)
{
    struct sp_layer_counts counts;
    int64_t layers = 0;
    sp_count_layers(model, 0, model->layers, &counts);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        layers += sp_kind_has_experts((enum sp_layer_kind)kind) ? counts.of[kind] : 0;
    return layers;
}

struct sp_params sp_count_params(const struct sp_model *model)
{
    struct sp_layers layers;
    const double worked = model->sample_flops > 0 ? model->sample_flops / 2 : model->params;
    if (!sp_model_has_shape(model))
        return (struct sp_params){.embedding = NAN,
                                  .attention = NAN,
                                  .mlp = NAN,
                                  .experts = NAN,
                                  .router = NAN,
                                  .norm = NAN,
                                  .total = model->params,
                                  .active = worked,
                                  .passed = model->params,
                                  .trained = model->params};
    sp_list_model(model, &layers);
    return layers.params;
}

double sp_active_d_ff(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    if (!sp_splits_layers(model))
        return NAN;
    if (moe->experts == 0)
        return model->mean_d_ff > 0 ? model->mean_d_ff : (double)model->d_ff;
    return (double)(moe->top_k * moe->d_ff_expert + sp_shared_d_ff(model));
}

double sp_expert_ratio(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    if (sp_takes_pictures(model)) { /* a weight works at every position */
        const struct sp_params p = sp_count_params(model);
        return p.total / p.active;
    }
    return moe->experts == 0 ? 1 : (double)moe->experts / (double)moe->top_k;
}

double sp_off_published(const struct sp_model *model)
{
    return model->published_params > 0
               ? sp_off_published_total(sp_count_params(model).total, model->published_params)
               : NAN;
}

double sp_rule_params(const struct sp_model *model, const struct sp_params *params, double seq)
{
    return params->encoder > 0
               ? params->passed +
                     sp_stream_share((double)model->encoder.tokens, seq) * params->encoder
               : params->active;
}

double sp_moved_over_worked(const struct sp_model *model, double seq)
{
    const struct sp_params params = sp_count_params(model);
    const double worked = sp_rule_params(model, &params, seq);
    return sp_expert_ratio(model) * (params.encoder > 0 ? params.active / worked : 1);
}
