/* Bytes of training state by ZeRO stage, and inverses. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/memory.h>

#include "core/layers/layer_rank.h"
#include "core/require.h"

double sp_state_bytes_per_param(const struct sp_precision *precision)
{
    return sp_bytes_of_state(precision->weight_bytes, precision->grad_bytes,
                             precision->master_bytes, precision->optimizer_bytes);
}

double sp_checkpoint_bytes_per_param(const struct sp_precision *precision)
{
    return sp_state_bytes_per_param(precision) - precision->grad_bytes;
}

/* Recipes without stored gradients (adam10, jax12) still accumulate them over micro-batches, in the
 * format of the weights, and still send them in 2 bytes. */
double sp_kept_grad_bytes(const struct sp_precision *precision, double microbatches)
{
    const bool adds_up = precision->grad_bytes <= 0 && microbatches > 1;
    return adds_up ? precision->weight_bytes : precision->grad_bytes;
}

struct sp_footprint sp_state_footprint(double params, double experts, const struct sp_precision *q,
                                       const struct sp_spread *s)
{
    const double slice = s->tp * s->pp, shards = s->dp * s->cp;
    const double etp = s->etp > 0 ? s->etp : s->tp;
    sp_require(fmod(shards * s->tp / etp, s->ep) == 0,
               "the product dp cp tp / etp must be a multiple of ep");
    const double whole = (params - experts) / slice + experts / (s->pp * s->ep * etp);
    /* EP's ranks are part of the shards and TP, so that all of a stage's devices share its states
     */
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
    /* a frozen byte is sharded like a 1-byte weight */
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
    return sp_training_state(params->trained, sp_state_bytes_per_param(precision),
                             params->frozen_bytes);
}
