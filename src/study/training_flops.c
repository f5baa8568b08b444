/* Training FLOPs per token by every convention. */
#include "study/training_flops.h"

#include <math.h>

/* Forward FLOPs of layers with a backward pass; only these are recomputed. */
static struct sp_flops passed_flops(const struct sp_flops_question *q, const struct sp_flops *all)
{
    const struct sp_flops still =
        sp_still_flops_per_token(q->model, q->seq, q->scores == SP_FLOPS_CAUSAL);
    struct sp_flops passed = *all;
    passed.mlp -= still.mlp;
    passed.projections -= still.projections;
    passed.attention -= still.attention;
    passed.total -= still.total;
    return passed;
}

struct sp_training_flops sp_count_training_flops(const struct sp_flops_question *q)
{
    const double active = sp_count_params(q->model).active, six_p = sp_six_p(active);
    struct sp_training_flops f = {
        .forward = sp_forward_flops_per_token(q->model, q->seq, q->scores == SP_FLOPS_CAUSAL,
                                              q->count_embedding),
        .computed = sp_tuned_flops(q->model, 1, q->seq, SP_FLOPS_6P) +
                    sp_companion_flops(q->companions, 1, q->seq, SP_FLOPS_6P),
        .computed_with_scores = NAN,
    };
    const struct sp_flops passed = passed_flops(q, &f.forward);
    const double table = sp_training_of_forward(f.forward.embedding);
    f.plain = !(f.computed < six_p || f.computed > six_p);
    f.recomputed = sp_recomputed_flops_per_token(&passed, q->remat);
    if (sp_model_has_shape(q->model)) {
        f.computed_with_scores = f.plain
                                     ? sp_training_of_forward(f.forward.total)
                                     : sp_tuned_flops(q->model, 1, q->seq, q->scores) + table +
                                           sp_companion_flops(q->companions, 1, q->seq, q->scores);
    }
    f.executed = isnan(f.computed_with_scores) ? NAN : fmax(f.computed_with_scores, f.computed);
    if (isnan(f.executed) && q->remat == SP_REMAT_FULL) { /* 8 P of a bare size */
        f.executed = f.computed;
        f.recomputed = sp_two_p(active);
    }
    f.hardware = f.executed + f.recomputed;
    return f;
}
