/* Memory of one strategy: states, buffers, live activations. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/pipeline.h>

#include "core/fit/fit_internal.h"

int64_t sp_most_microbatches(double sequences)
{
    const double m = ceil(sequences - 1e-9);
    return m < 1 ? 1 : m > 1e12 ? 1000000000000 : (int64_t)m;
}

/* Share of the batch's mean over replicas in one of `m` micro-batches of whole sequences. */
static double microbatch_share(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    const double sequences = sp_replica_sequences(in, s), m = (double)s->microbatches;
    const double mean = in->batch_tokens * (double)s->cp / (in->seq * (double)(s->dp * s->fsdp));
    const double whole = ceil(ceil(sequences - 1e-9) / m);
    return m > 1 ? whole / mean : sequences / mean;
}

/* The pipeline of a strategy; interleaved 1F1B if it has chunks. */
static struct sp_pipeline pipeline_of(const struct sp_strategy *s)
{
    return (struct sp_pipeline){.schedule = sp_usual_schedule(s->chunks),
                                .stages = s->pp,
                                .microbatches = s->microbatches,
                                .chunks = s->chunks};
}

/* Share of the batch with live activations: one micro-batch, or those in flight on the first
 * stage. */
static double alive_share(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    const double share = microbatch_share(s, in);
    const struct sp_pipeline pipeline = pipeline_of(s);
    return s->pp > 1 ? sp_in_flight(&pipeline, 0) * share : share;
}

/* The strategy as a plan with micro-batches of one sequence, for the memory rules of plans. */
static struct sp_plan plan_of(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    struct sp_plan plan = sp_strategy_plan(in, s);
    plan.recompute = (struct sp_recompute){.qkv = 0};
    plan.micro_batch = 1;
    plan.batch = plan.dp;
    return plan;
}

/* Parameters of a stage over the mean of all stages. */
static double share_of_params(const struct sp_strategy *s, double P,
                              const struct sp_kind_memory *stage)
{
    return (stage->weights.held.dense + stage->weights.held.experts) * (double)(s->tp * s->pp) / P;
}

const struct sp_layers *sp_layers_of_fit(const struct sp_fit_input *in, struct sp_layers *room)
{
    if (in->layers && in->layers->model == in->model)
        return in->layers;
    sp_list_model(in->model, room);
    return room;
}

void sp_list_strategy(const struct sp_strategy *s, const struct sp_fit_input *in,
                      struct sp_strategy_layers *listed)
{
    const struct sp_plan plan = plan_of(s, in);
    listed->framework = sp_strategy_framework(in, s);
    if (!sp_model_has_shape(in->model))
        listed->framework = NULL;
    if (!listed->framework)
        return;
    sp_layers_on_rank(sp_layers_of_fit(in, &listed->layers), &plan, listed->framework,
                      &listed->mine);
}

/* Sets what a framework keeps under any strategy, and the unevenness of whole layers. */
static void judge_framework(struct sp_strategy *s, const struct sp_framework *f)
{
    s->uneven_params = s->uneven;
    s->beside = f ? (struct sp_beside){.slack = f->reserved_factor,
                                       .residual = f->memory_residual,
                                       .context = f->context_bytes}
                  : (struct sp_beside){.slack = 1};
}

void sp_judge_stages(struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t, const struct sp_strategy_layers *listed)
{
    const struct sp_framework *const f = listed->framework;
    const struct sp_rank_layers *const mine = &listed->mine;
    judge_framework(s, f);
    if (!f)
        return;
    struct sp_plan plan = plan_of(s, in);
    plan.recompute = sp_policies[s->remat].recompute;
    const double tokens = (double)plan.seq;
    struct sp_prepared_memory prepared;
    sp_prepare_memory(mine, &plan, f, &prepared);
    const struct sp_kind_memory first = sp_kind_memory_of_stage(mine, &prepared, &plan, f, 0),
                                last = s->pp > 1 ? sp_kind_memory_of_stage(mine, &prepared, &plan,
                                                                           f, s->pp - 1)
                                                 : first;
    if (s->pp > 1)
        s->uneven_params = fmax(
            s->uneven, fmax(share_of_params(s, t->P, &first), share_of_params(s, t->P, &last)));
    s->beside.layer_peak = (s->pp > 1 ? first.peak : 0) / tokens;
    s->beside.loss = last.peak / tokens;
    s->beside.buffers = fmax(first.dummy, last.dummy);
    s->beside.gathered = s->fsdp > 1 && !s->keeps_weights ? fmax(first.gathered, last.gathered) : 0;
}

double sp_live_capacity(const struct sp_strategy *s, const struct sp_fit_terms *t)
{
    const double limit = sp_most_bytes(s->beside.residual, t->capacity_bytes, SP_VERDICT_TIGHT);
    return (limit - s->beside.context) / s->beside.slack;
}

double sp_peak_of_tokens(const struct sp_strategy *s, double tokens)
{
    return tokens * fmax(s->beside.layer_peak, s->beside.loss);
}

/* Peak bytes on top of the first stage's activations: a layer's backward pass there or, if larger,
 * the loss on the last stage less the micro-batches by which that stage has fewer in flight. */
static double peak_bytes(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    const double sequences = sp_replica_sequences(in, s);
    const double m = (double)s->microbatches;
    const double tokens = in->seq * (m > 1 ? ceil(ceil(sequences - 1e-9) / m) : sequences);
    if (s->pp == 1)
        return sp_peak_of_tokens(s, tokens);
    const struct sp_pipeline pipeline = pipeline_of(s);
    const double first = sp_in_flight(&pipeline, 0), last = sp_in_flight(&pipeline, s->pp - 1);
    const double kept = isnan(s->activation_bytes) ? 0 : s->activation_bytes * (1 - last / first);
    return fmax(tokens * s->beside.layer_peak, sp_peak_of_tokens(s, tokens) - kept);
}

/* Bytes per chip of the fullest stage beyond the sharded recipe state: accumulated gradients that
 * the recipe does not count; whole 16-bit weights and gradients of a stage that keeps them;
 * gathered layers. */
static double held_bytes(const struct sp_strategy *s, const struct sp_fit_terms *t)
{
    const double dp = (double)s->dp;
    if (s->keeps_weights) {
        const double own = t->weight_bytes == SP_GATHERED_BYTES ? SP_GATHERED_BYTES : 0;
        return sp_held_whole_per_chip(t->P, t->P_trained, t->frozen_bytes, t->grad_bytes, own,
                                      t->grad_counted, dp, (double)s->tp, (double)s->pp,
                                      s->uneven_params, t->N);
    }
    if (s->microbatches <= 1)
        return s->beside.gathered;
    return sp_held_per_chip(t->grad_bytes, t->grad_counted, t->P_trained, dp, s->uneven_params,
                            t->N, s->beside.gathered);
}

/* Parts of a strategy's memory by the closed forms. */
static void fill_closed(struct sp_strategy *s, const struct sp_fit_input *in,
                        const struct sp_fit_terms *t)
{
    const double all = t->activation_bytes[s->remat];
    s->state_bytes = sp_state_per_chip(t->state_bytes, (double)s->dp, t->N, s->uneven_params);
    s->held_bytes = held_bytes(s, t);
    s->activation_bytes = sp_activations_per_chip(all, s->in_flight, s->uneven, t->N);
    s->peak_bytes = peak_bytes(s, in) + s->beside.buffers;
}

/* The same for a plan that a framework can run, by the routine of `step`. */
static void fill_plan(struct sp_strategy *s, const struct sp_fit_input *in)
{
    const struct sp_plan plan = sp_strategy_plan(in, s);
    struct sp_layers room;
    struct sp_stage_memory m;
    sp_fullest_listed(sp_layers_of_fit(in, &room), sp_strategy_precision(in, s), &plan,
                      sp_strategy_framework(in, s), &m);
    s->state_bytes = (double)(m.params + m.grads + m.optimizer);
    s->held_bytes = (double)m.buffers;
    s->activation_bytes = (double)(m.activations - m.transient);
    s->peak_bytes = (double)m.transient;
}

/* Whether the strategy is a plan whose memory `step` knows; the book's rule is not. */
static bool is_plan(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    return in->runs && sp_strategy_framework(in, s) && sp_model_has_shape(in->model) &&
           sp_strategy_runs(in, s);
}

/* Fills the bytes of a strategy with known micro-batches, per chip of the fullest stage; is_plan
 * must be set. */
static void fill_known(struct sp_strategy *s, const struct sp_fit_input *in,
                       const struct sp_fit_terms *t)
{
    s->in_flight = alive_share(s, in);
    if (s->is_plan)
        fill_plan(s, in);
    else
        fill_closed(s, in, t);
    s->live_bytes =
        sp_live_per_chip(s->state_bytes, s->held_bytes,
                         isnan(s->activation_bytes) ? 0 : s->activation_bytes, s->peak_bytes);
    s->memory_bytes = sp_memory_per_chip(s->live_bytes, s->beside.slack, s->beside.context);
    s->verdict = sp_memory_verdict(s->beside.residual, s->memory_bytes, t->capacity_bytes);
    s->fits = s->verdict != SP_VERDICT_NO;
}

static void fill_bytes(struct sp_strategy *s, const struct sp_fit_input *in,
                       const struct sp_fit_terms *t)
{
    s->is_plan = is_plan(s, in);
    fill_known(s, in, t);
}

void sp_fill_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t)
{
    struct sp_strategy_layers listed;
    sp_list_strategy(s, in, &listed);
    sp_judge_stages(s, in, t, &listed);
    fill_bytes(s, in, t);
}

/* Fewest micro-batches of one size, at most `most` sequences each, for `sequences` sequences. One
 * of two factors is at most the root of their product: no more than twice as many are tried. */
static int64_t alike_microbatches(int64_t sequences, int64_t most)
{
    const int64_t root = (int64_t)sqrt((double)sequences);
    int64_t each = most < sequences ? most : sequences;
    int64_t number = (sequences + each - 1) / each;
    for (; number <= root; number++)
        if (sequences % number == 0)
            return number;
    if (each > root)
        each = root + 1; /* (root + 1)^2 is more than `sequences` */
    while (sequences % each != 0)
        each--;
    return sequences / each;
}

/* Most sequences at once with which a plan fits, if it fits with one and not with all; found by
 * trial. */
static int64_t most_sequences(struct sp_strategy s, const struct sp_fit_input *in,
                              const struct sp_fit_terms *t, int64_t sequences)
{
    int64_t fit = 1, most = sequences;
    while (most - fit > 1) {
        const int64_t middle = fit + (most - fit) / 2;
        s.microbatches = alike_microbatches(sequences, middle);
        fill_bytes(&s, in, t);
        if (s.fits)
            fit = middle;
        else
            most = sequences / s.microbatches;
    }
    return fit;
}

/* Fewest micro-batches with which a strategy fits that does not fit with one; 0: none. */
static int64_t several_to_fit(const struct sp_strategy *s, const struct sp_fit_input *in,
                              const struct sp_fit_terms *t)
{
    struct sp_strategy most = *s;
    most.microbatches = sp_most_microbatches(sp_replica_sequences(in, s));
    fill_bytes(&most, in, t);
    if (isnan(most.activation_bytes) || !most.fits || most.microbatches == 1)
        return 0;
    if (most.is_plan)
        return alike_microbatches(most.microbatches,
                                  most_sequences(most, in, t, most.microbatches));
    const double room =
        sp_live_capacity(&most, t) - most.state_bytes - most.held_bytes - most.beside.buffers;
    const double one_more = most.activation_bytes + most.peak_bytes - most.beside.buffers;
    const double most_sequences = ceil(room / one_more) - 1;
    return alike_microbatches(most.microbatches, (int64_t)fmax(most_sequences, 1));
}

int64_t sp_accumulation_to_fit(const struct sp_strategy *s, const struct sp_fit_input *in,
                               const struct sp_fit_terms *t)
{
    struct sp_strategy one = *s;
    if (s->pp > 1)
        return 0;
    one.microbatches = 1;
    fill_bytes(&one, in, t);
    return one.fits ? 1 : several_to_fit(s, in, t);
}

/* Where a strategy is not a plan that runs, counts gathered layers, the peak of a layer's backward
 * pass or the loss, buffers, allocator slack and runtime, as for a plan: closed forms alone
 * accepted plans that do not fit. --constants textbook and models without a shape omit them. The
 * stages of a plan count in its own memory: sp_judge_stages shows that of the plan that is kept. */
void sp_judge_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t, const struct sp_strategy_layers *listed)
{
    const int64_t most = sp_most_microbatches(sp_replica_sequences(in, s));
    if (s->pp > 1 || in->accumulate > 0) {
        s->microbatches = s->pp > 1 || in->accumulate > most ? most : in->accumulate;
        s->is_plan = is_plan(s, in);
        if (s->pp > 1 && s->is_plan)
            judge_framework(s, listed->framework);
        else
            sp_judge_stages(s, in, t, listed);
        fill_known(s, in, t);
        return;
    }
    sp_judge_stages(s, in, t, listed);
    struct sp_strategy whole = *s;
    whole.microbatches = 1;
    fill_bytes(&whole, in, t);
    const int64_t fewest = whole.fits ? 1 : several_to_fit(s, in, t);
    const bool unknown = isnan(t->activation_bytes[s->remat]);
    s->microbatches = fewest > 0 ? fewest : unknown ? 1 : most;
    if (s->microbatches > 1)
        fill_bytes(s, in, t);
    if (s->microbatches == 1 || (!s->fits && whole.memory_bytes <= s->memory_bytes))
        *s = whole;
}
