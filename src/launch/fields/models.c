/* Models and recipes as frameworks name them: whether a name says all of one. */
#include "launch/fields/models.h"

#include "config/load.h"

bool sp_is_builtin_model(const struct sp_model *m)
{
    struct sp_model ours;
    struct sp_error error = {0};
    const struct sp_sources builtin = {0};
    const struct sp_params here = sp_count_params(m);
    if (!sp_load_model(m->name, &builtin, &ours, &error))
        return false;
    const struct sp_params there = sp_count_params(&ours);
    return m->layers == ours.layers && m->d_model == ours.d_model && m->d_ff == ours.d_ff &&
           m->heads == ours.heads && m->kv_heads == ours.kv_heads && m->head_dim == ours.head_dim &&
           m->vocab == ours.vocab && m->sliding_window == ours.sliding_window &&
           m->attention_chunk == ours.attention_chunk && m->global_every == ours.global_every &&
           m->global_first == ours.global_first && here.total == there.total &&
           here.active == there.active;
}

bool sp_is_builtin_precision(const struct sp_precision *p)
{
    struct sp_precision ours;
    struct sp_error error = {0};
    const struct sp_sources builtin = {0};
    return sp_load_precision(p->name, &builtin, &ours, &error) &&
           p->weight_bytes == ours.weight_bytes && p->grad_bytes == ours.grad_bytes &&
           p->master_bytes == ours.master_bytes && p->optimizer_bytes == ours.optimizer_bytes &&
           p->compute_dtype == ours.compute_dtype;
}
