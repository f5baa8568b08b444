/* Models and recipes as frameworks name them, and whether a name describes all of one. */
#include "launch/fields/models.h"

#include "config/load.h"

void sp_find_shipped(const struct sp_model *m, const struct sp_precision *p, struct sp_shipped *out)
{
    struct sp_error error = {0};
    const struct sp_sources builtin = {0};
    out->has_model = sp_load_model(m->name, &builtin, &out->model, &error);
    out->has_precision = sp_load_precision(p->name, &builtin, &out->precision, &error);
}

bool sp_ships_model(const struct sp_launched *l)
{
    const struct sp_model *const m = l->model, *const ours = &l->shipped->model;
    if (!l->shipped->has_model || m->layers != ours->layers || m->d_model != ours->d_model ||
        m->d_ff != ours->d_ff || m->heads != ours->heads || m->kv_heads != ours->kv_heads ||
        m->head_dim != ours->head_dim || m->vocab != ours->vocab ||
        m->sliding_window != ours->sliding_window || m->attention_chunk != ours->attention_chunk ||
        m->global_every != ours->global_every || m->global_first != ours->global_first)
        return false;
    const struct sp_params here = sp_count_params(m), there = sp_count_params(ours);
    return here.total == there.total && here.active == there.active;
}

bool sp_ships_precision(const struct sp_launched *l)
{
    const struct sp_precision *const p = l->precision, *const ours = &l->shipped->precision;
    return l->shipped->has_precision && p->weight_bytes == ours->weight_bytes &&
           p->grad_bytes == ours->grad_bytes && p->master_bytes == ours->master_bytes &&
           p->optimizer_bytes == ours->optimizer_bytes && p->compute_dtype == ours->compute_dtype;
}
