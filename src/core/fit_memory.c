/* Memory of one strategy: states, what is held beside them, and the activations that are alive. */
#include <math.h>

#include <scaleplan/pipeline.h>

#include "core/fit_internal.h"

double sp_replica_sequences(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    return in->batch_tokens / (in->seq * (double)(s->dp * s->fsdp));
}

int64_t sp_most_microbatches(double sequences)
{
    const double m = ceil(sequences - 1e-9);
    return m < 1 ? 1 : m > 1e6 ? 1000000 : (int64_t)m;
}

/* Share of a replica's batch that a micro-batch of whole sequences is, when there are `m`. */
static double microbatch_share(double sequences, int64_t m)
{
    const double whole = ceil((double)sp_most_microbatches(sequences) / (double)m);
    return m > 1 ? whole / sequences : 1;
}

/* Share of the batch whose activations are alive: those of one micro-batch, or of as many as the
 * first stage of a pipeline has in flight (interleaved 1F1B). */
static double alive_share(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    const double share = microbatch_share(sp_replica_sequences(in, s), s->microbatches);
    const struct sp_pipeline pipeline = {.schedule = sp_usual_schedule(s->chunks),
                                         .stages = s->pp,
                                         .microbatches = s->microbatches,
                                         .chunks = s->chunks};
    return s->pp > 1 ? sp_in_flight(&pipeline, 0) * share : share;
}

double sp_gathered_bytes(const struct sp_strategy *s, const struct sp_fit_input *in,
                         const struct sp_fit_terms *t)
{
    const bool gathers = s->fsdp > 1 && !s->keeps_weights && sp_model_has_shape(in->model);
    return gathers && in->counts_gathered ? SP_GATHERED_BYTES * t->P / (t->L * (double)s->tp) : 0;
}

/* Bytes of one chip of the fullest stage beside the recipe's sharded states: gradients that
 * accumulate over micro-batches and that the recipe does not count; with weights that are kept, a
 * stage's weights in 16 bit and its gradients, whole instead of sharded; the layer that is
 * gathered. */
static double held_bytes(const struct sp_strategy *s, const struct sp_fit_input *in,
                         const struct sp_fit_terms *t)
{
    const double copies = (double)s->dp * s->uneven;
    if (s->keeps_weights) {
        const double own = t->weight_bytes == SP_GATHERED_BYTES ? SP_GATHERED_BYTES : 0;
        const double stage = s->uneven * t->P / (double)(s->pp * s->tp),
                     shard = t->P * copies / t->N;
        return stage * (SP_GATHERED_BYTES + t->grad_bytes) - shard * (own + t->grad_counted);
    }
    const double gradients = (t->grad_bytes - t->grad_counted) * t->P * copies / t->N;
    return (s->microbatches > 1 ? gradients : 0) + sp_gathered_bytes(s, in, t);
}

/* Fills the bytes of a strategy with its number of micro-batches, on a chip of its fullest stage.
 */
static void fill_bytes(struct sp_strategy *s, const struct sp_fit_input *in,
                       const struct sp_fit_terms *t)
{
    const double all = t->activation_bytes[s->remat];
    s->state_bytes = s->uneven * t->state_bytes * (double)s->dp / t->N;
    s->held_bytes = held_bytes(s, in, t);
    s->in_flight = alive_share(s, in);
    s->activation_bytes = isnan(all) ? NAN : s->uneven * all * s->in_flight / t->N;
    s->memory_bytes = s->state_bytes + s->held_bytes + (isnan(all) ? 0 : s->activation_bytes);
    s->fits = s->memory_bytes < t->capacity_bytes;
}

/* Micro-batches of at most `most` of those sequences, all of the same size. */
static int64_t alike_microbatches(int64_t sequences, int64_t most)
{
    int64_t each = most < sequences ? most : sequences;
    while (sequences % each != 0)
        each--;
    return sequences / each;
}

int64_t sp_accumulation_to_fit(const struct sp_strategy *s, const struct sp_fit_input *in,
                               const struct sp_fit_terms *t)
{
    struct sp_strategy one = *s, most = *s;
    const double sequences = sp_replica_sequences(in, s);
    if (s->pp > 1)
        return 0;
    one.microbatches = 1;
    fill_bytes(&one, in, t);
    if (one.fits)
        return 1;
    most.microbatches = sp_most_microbatches(sequences);
    fill_bytes(&most, in, t);
    if (isnan(most.activation_bytes) || !most.fits || most.microbatches == 1)
        return 0;
    const double room = t->capacity_bytes - most.state_bytes - most.held_bytes;
    const double most_sequences = ceil(room / most.activation_bytes) - 1;
    return alike_microbatches(most.microbatches, (int64_t)fmax(most_sequences, 1));
}

void sp_judge_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t)
{
    const int64_t most = sp_most_microbatches(sp_replica_sequences(in, s));
    struct sp_strategy whole = *s;
    if (s->pp > 1 || in->accumulate > 0) {
        s->microbatches = s->pp > 1 || in->accumulate > most ? most : in->accumulate;
        fill_bytes(s, in, t);
        return;
    }
    const int64_t fewest = sp_accumulation_to_fit(s, in, t);
    const bool unknown = isnan(t->activation_bytes[s->remat]);
    s->microbatches = fewest > 0 ? fewest : unknown ? 1 : most;
    whole.microbatches = 1;
    fill_bytes(s, in, t);
    fill_bytes(&whole, in, t);
    if (!s->fits && whole.memory_bytes <= s->memory_bytes)
        *s = whole;
}
