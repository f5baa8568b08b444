/* Gradient buckets: the timeline of equal buckets, and a plan's. */
#include <scaleplan/step.h>

#include <math.h>

#include <scaleplan/forms.h>

#include "core/step/step_internal.h"

/* Buckets only illustrate: the step's exposed time comes from measured runs, with windows and
 * contention. They are the timeline of the last backward pass at the same rates. */
struct sp_buckets sp_bucket_timeline(const struct sp_bucket_times *t)
{
    const double G = t->gradient_bytes, b = sp_bucket_bytes(t->bucket_bytes, G);
    const double n = sp_bucket_count(G, b), full = n - 1;
    const double filled_s = sp_first_bucket_full(t->backward_s, b, G);
    struct sp_buckets s = {
        .exist = true,
        .count = n,
        .bytes = b,
        .gradient_bytes = G,
        .last_bytes = sp_last_bucket_bytes(G, n, b),
        .backward_s = t->backward_s,
        .bucket_s = n > 1 ? t->full_s : t->last_s,
        .first_launch_s = filled_s,
        .naive_s = t->all_s,
    };
    const double before =
        n > 1 ? fmax(filled_s + full * t->full_s, full * filled_s + t->full_s) : 0;
    s.end_s = fmax(before, t->backward_s) + t->last_s;
    s.tail_s = s.end_s - t->backward_s;
    const double reducing_s = full * t->full_s + t->last_s;
    s.hidden = fmax(0, 1 - s.tail_s / reducing_s);
    return s;
}

struct sp_bucket_span sp_bucket_span(const struct sp_buckets *b, double k)
{
    const double f = b->first_launch_s, t = b->bucket_s;
    const bool last = k >= b->count - 1;
    const double filled = last ? b->backward_s : (k + 1) * f;
    const double idle =
        k > 0 ? fmax(k * f, f + (k - 1) * t) + t : 0; /* the previous one is reduced */
    const double start = fmax(filled, idle);
    return (struct sp_bucket_span){start, last ? b->end_s : start + t};
}

/* Time to reduce a share of a stage's gradients, with a gather if every replica updates all
 * weights. */
static double reduce_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                       double share, double bytes_per_param)
{
    const struct sp_stage_weights part = {share * held->dense, share * held->experts};
    const double scatter = sp_shards_s(in, &part, bytes_per_param);
    return scatter * (in->plan->zero == 0 ? 2 : 1) + sp_replicas_s(in, &part, bytes_per_param);
}

struct sp_buckets sp_buckets_of(const struct sp_step_inputs *in,
                                const struct sp_stage_weights *held, double backward_s)
{
    const struct sp_plan *const p = in->plan;
    const double per_param = in->precision->grad_bytes > 0 ? in->precision->grad_bytes : SP_ELEMENT;
    const double G = (held->dense + held->experts) * per_param, b = in->framework->bucket_bytes;
    if (p->zero > 2 || p->dp * p->cp <= 1 || !(G > 0) || !(b > 0))
        return (struct sp_buckets){.exist = false};
    struct sp_bucket_times t = {.gradient_bytes = G, .bucket_bytes = b, .backward_s = backward_s};
    struct sp_buckets sizes = sp_bucket_timeline(&t);
    t.full_s = reduce_s(in, held, sizes.bytes / G, per_param);
    t.last_s = reduce_s(in, held, sizes.last_bytes / G, per_param);
    t.all_s = reduce_s(in, held, 1, per_param);
    return sp_bucket_timeline(&t);
}
