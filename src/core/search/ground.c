/* How far a plan is from measured runs. */
#include <math.h>

#include <scaleplan/search.h>

#include "core/require.h"

struct sp_place sp_place_of(const struct sp_model *model, const struct sp_hardware *hw,
                            const struct sp_plan *plan)
{
    sp_require(plan->tp >= 1 && plan->pp >= 1 && plan->cp >= 1 && plan->ep >= 1,
               "degrees must be at least 1");
    const double tp = (double)plan->tp, cp = (double)plan->cp;
    const double micro = (double)(plan->micro_batch > 0 ? plan->micro_batch : 1);
    const bool torus = hw->network.kind == SP_TORUS; /* TP's links reach everywhere in a slice */
    const double domain = torus ? tp : (double)(hw->network.domain > 0 ? hw->network.domain : 1);
    const double experts = (double)model->moe.experts / (double)plan->ep;
    return (struct sp_place){
        .has_experts = experts > 0,
        .octaves = {[SP_GROUND_TP] = log2(tp),
                    [SP_GROUND_PP] = log2((double)plan->pp),
                    [SP_GROUND_CP] = log2(cp),
                    [SP_GROUND_MICRO_BATCH] = log2(micro),
                    [SP_GROUND_TOKENS] =
                        log2(micro * (double)plan->seq * sp_positions_per_token(model) / cp),
                    [SP_GROUND_EXPERTS] = experts > 0 ? log2(experts) : 0,
                    [SP_GROUND_OUTSIDE] = fmax(0, log2(tp / domain))},
    };
}

double sp_octaves_between(const struct sp_place *one, const struct sp_place *other)
{
    double sum = one->has_experts == other->has_experts ? 0 : INFINITY;
    for (int i = 0; i < SP_GROUND_DIMENSIONS; i++)
        sum += fabs(one->octaves[i] - other->octaves[i]);
    return sum;
}

double sp_octaves_away(const struct sp_ground *ground, const struct sp_place *place)
{
    double nearest = INFINITY;
    for (size_t i = 0; i < ground->n; i++)
        nearest = fmin(nearest, sp_octaves_between(&ground->places[i], place));
    return isfinite(nearest) ? nearest : 0;
}

double sp_doubt(double octaves)
{
    return sp_expected_over_estimate(SP_BEST_OF_DIRECTIONS, SP_ERROR_PER_OCTAVE, octaves);
}
