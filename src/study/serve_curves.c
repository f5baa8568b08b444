/* Walks over the batches of a serving instance. */
#include "study/serve_curves.h"

#include <math.h>

#include <scaleplan/serve.h>

static void put(struct sp_serve_curves *c, enum sp_serve_curve curve, int i, double seconds,
                double rate)
{
    c->seconds[curve][i] = seconds;
    c->rate[curve][i] = rate;
}

static void at_batch(const struct sp_served *served, const struct sp_serve_instance *instance,
                     const struct sp_serve_load *load, struct sp_serve_curves *c, int i)
{
    const double B = c->batch[i];
    const struct sp_decode_time t = sp_decode_time(served, B, 1 + served->service.drafts);
    put(c, SP_CURVE_CACHE, i, t.kv_s, B / t.kv_s);
    put(c, SP_CURVE_WEIGHTS, i, t.weights_s, B / t.weights_s);
    put(c, SP_CURVE_ARITHMETIC, i, t.math_s, B / t.math_s);
    put(c, SP_CURVE_LEAST, i, t.step_s, B / t.step_s);
    put(c, SP_CURVE_ESTIMATE, i, NAN, NAN);
    put(c, SP_CURVE_BETWEEN, i, NAN, NAN);
    if (!instance->estimated || B > fmax(1, c->fits))
        return;
    const struct sp_steady y = sp_state_of(instance, load, B);
    put(c, SP_CURVE_ESTIMATE, i, y.step_s, y.tokens_per_s);
    put(c, SP_CURVE_BETWEEN, i, y.tpot_s, NAN);
}

void sp_curves_of_service(const struct sp_served *served, const struct sp_serve_instance *instance,
                          const struct sp_serve_load *load, double B, struct sp_serve_curves *c)
{
    c->fits = sp_most_sequences(served);
    const double most =
        2 * fmax(16, fmax(B, isfinite(c->fits) ? c->fits : sp_critical_batch(served)));
    for (int i = 0; i < SP_CURVE_BATCHES; i++) {
        c->batch[i] = pow(most, (double)i / (SP_CURVE_BATCHES - 1));
        at_batch(served, instance, load, c, i);
    }
}
