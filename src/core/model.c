/* Parameter counts of a model, by part. */
#include <math.h>

#include <scaleplan/layer.h>

bool sp_model_has_shape(const struct sp_model *model)
{
    return model->layers > 0;
}

int64_t sp_moe_layers(const struct sp_model *model)
{
    return sp_count_layers(model, model->layers).of[SP_LAYER_MOE];
}

/* Weights by part, and those that a token passes. */
struct weights {
    double part[SP_PARTS], active;
};

/* Adds `times` layers. */
static void weigh(struct weights *w, const struct sp_layer *layer, double times)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *m = &layer->matmul[i];
        const double each =
            times * ((m->tied ? 0 : m->in * m->out) + (m->bias ? m->out : 0) + m->norm);
        w->part[m->part] += m->count * each;
        w->active += m->passed * each;
    }
    for (int i = 0; i < layer->tensors; i++) {
        w->part[layer->tensor[i].part] += times * layer->tensor[i].weights;
        w->active += times * layer->tensor[i].weights;
    }
}

struct sp_params sp_params_of(const struct sp_layers *layers)
{
    struct weights w = {{0}, 0};
    for (int list = 0; list < SP_LAYER_LISTS; list++)
        weigh(&w, &layers->list[list], layers->count[list]);
    struct sp_params p = {.embedding = w.part[SP_PART_EMBEDDING],
                          .attention = w.part[SP_PART_ATTENTION],
                          .mlp = w.part[SP_PART_MLP],
                          .experts = w.part[SP_PART_EXPERTS],
                          .router = w.part[SP_PART_ROUTER],
                          .norm = w.part[SP_PART_NORM],
                          .active = w.active};
    for (int part = 0; part < SP_PARTS; part++)
        p.total += w.part[part];
    return p;
}

struct sp_params sp_count_params(const struct sp_model *model)
{
    struct sp_layers layers;
    if (!sp_model_has_shape(model))
        return (struct sp_params){NAN, NAN, NAN, NAN, NAN, NAN, model->params, model->params};
    sp_list_model(model, &layers);
    return sp_params_of(&layers);
}

double sp_active_d_ff(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    if (!sp_model_has_shape(model))
        return NAN;
    if (moe->experts == 0)
        return (double)model->d_ff;
    return (double)((moe->top_k + moe->shared_experts) * moe->d_ff_expert);
}

double sp_expert_ratio(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    return moe->experts == 0 ? 1 : (double)moe->experts / (double)moe->top_k;
}

double sp_off_published(const struct sp_model *model)
{
    return model->published_params > 0 ? sp_count_params(model).total / model->published_params - 1
                                       : NAN;
}
