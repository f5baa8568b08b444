/* Bytes of one device under a parallel plan. */
#include <math.h>

#include <scaleplan/footprint.h>

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
        .grads = (s->zero >= 2 ? shared : whole) * q->grad_bytes,
        .optimizer = (s->zero >= 1 ? shared : whole) * K,
    };
    f.total = f.params + f.grads + f.optimizer;
    return f;
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
