/* Context parallelism in a layer: the time that a ring, a gather or an exchange of heads adds. */
#include <math.h>

#include "core/step/step_internal.h"
#include "core/require.h"

/* Elements per token of a mixer's keys and values for `ranks` that share the heads: together they
 * hold each KV head at least once per `per` of them. */
static double kv_of(const struct sp_mixer *x, double ranks, double per)
{
    return sp_groups_of_rank(x->kv_heads, ranks) * per * (x->qk + x->v);
}

static struct sp_context_bytes bytes_of(const struct sp_step_inputs *in,
                                        const struct sp_layer *layer)
{
    const struct sp_plan *const p = in->plan;
    const struct sp_mixer *const x = &layer->mixer, *const y = &layer->cross;
    const double t = (double)p->tp, n = (double)p->cp, seq = (double)p->seq;
    const double own = sp_shard_tokens(p) * sp_stream_share(layer->own, seq),
                 from = sp_shard_tokens(p) * sp_stream_share(layer->from, seq);
    const double kv = own * kv_of(x, t, 1) + from * kv_of(y, t, 1),
                 copied = own * kv_of(x, t * n, n) + from * kv_of(y, t * n, n);
    const double q = own * (x->heads * x->qk + y->heads * y->qk) / t,
                 o = own * (x->heads * x->v + y->heads * y->v) / t;
    return (struct sp_context_bytes){
        .kv = SP_ELEMENT * kv,
        .grads = in->framework->ring_grad_bytes * kv,
        .inward = SP_ELEMENT * (q + copied),
        .output = SP_ELEMENT * (x->qk + y->qk > 0 ? o : 0),
        /* ranks need the final states of those before them, and their gradients */
        .states = SP_ELEMENT * x->state * (double)(p->micro_batch * p->cp) / t};
}

double sp_document_ranks(double tokens, double cp, double row)
{
    double ranks = 1;
    sp_require(tokens >= 1 && cp >= 1, "both numbers must be at least 1");
    while (ranks < cp && tokens * cp > row * ranks)
        ranks *= 2;
    return sp_smaller(ranks, cp);
}

double sp_mean_document_ranks(const struct sp_documents *d, double cp)
{
    double sum = 0;
    for (int i = 0; i < d->n; i++)
        sum += d->of[i].share * sp_document_ranks(sp_smaller(d->of[i].tokens, d->row), cp, d->row);
    return sum;
}

/* Whether each document has its own number of ranks. */
static bool follows_documents(const struct sp_step_inputs *in)
{
    const struct sp_plan *const p = in->plan;
    return in->model->documents && p->cp > 1 && p->execution.cp_kind == SP_CP_DYNAMIC;
}

/* Sent and merged blocks of other ranks, as a fraction of those of a ring of all ranks. */
static double share_of_blocks(const struct sp_step_inputs *in)
{
    const struct sp_documents *const d = in->model->documents;
    const double cp = (double)in->plan->cp;
    return follows_documents(in) ? (sp_mean_document_ranks(d, cp) - 1) / (cp - 1) : 1;
}

struct sp_context_bytes sp_context_bytes(const struct sp_step_inputs *in)
{
    struct sp_context_bytes sum = {0};
    struct sp_layers layers;
    sp_list_model(in->model, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const double n = layers.count[kind];
        if (n <= 0)
            continue;
        const struct sp_context_bytes one = bytes_of(in, &layers.list[kind]);
        sum.kv += n * one.kv;
        sum.grads += n * one.grads;
        sum.inward += n * one.inward;
        sum.output += n * one.output;
        sum.states += n * one.states;
    }
    sum.kv *= share_of_blocks(in);
    sum.grads *= share_of_blocks(in);
    return sum;
}

/* The exposed part of `comm` during work that hides it: the work is delayed by the profile's share
 * of the time that both run, and the longer of both counts. Unlike in sp_exposed_s, a send much
 * longer than its block hides that delay too; else rings on slow links would count it twice. */
static double beyond(const struct sp_step_inputs *in, double comm, double hides)
{
    const double together = comm + hides - sp_smooth_max(comm, hides);
    const double delayed = hides + constant(in, SP_C_CONTENTION) * together;
    return comm > 0 ? sp_smooth_max(delayed, comm) - hides : 0;
}

/* cp - 1 sends, each while attention works on one of cp blocks: the longer of both counts. */
static double around_s(const struct sp_step_inputs *in, double bytes, double attention)
{
    const double n = (double)in->plan->cp;
    return (n - 1) * beyond(in, sp_context_send_s(in, bytes), attention / n);
}

/* Gradients follow their keys and values around, and at the end go one step further, back to the
 * rank that owns them. */
static struct sp_context_time ring_s(const struct sp_step_inputs *in,
                                     const struct sp_context_bytes *bytes,
                                     const struct sp_context_work *work)
{
    return (struct sp_context_time){around_s(in, bytes->kv, work->forward),
                                    around_s(in, bytes->kv + bytes->grads, work->backward) +
                                        sp_context_send_s(in, bytes->grads)};
}

/* The backward pass gathers again, and sums the gradients of all keys and values at their
 * owners. */
static struct sp_context_time gather_s(const struct sp_step_inputs *in,
                                       const struct sp_context_bytes *bytes,
                                       const struct sp_context_work *work)
{
    const double n = (double)in->plan->cp, gather = sp_context_gather_s(in, bytes->kv * n);
    switch ((enum sp_cp_gather)in->framework->cp_gather) {
    case SP_CP_GATHER_BLOCKS:
        return (struct sp_context_time){beyond(in, gather, work->forward / n),
                                        beyond(in, gather, work->backward / n) +
                                            around_s(in, bytes->grads, work->backward) +
                                            sp_context_send_s(in, bytes->grads)};
    case SP_CP_GATHER_HEADS:
        return (struct sp_context_time){beyond(in, gather, work->forward),
                                        beyond(in, 2 * gather, work->backward)};
    case SP_CP_GATHER_SCHEDULED: /* forward only the projections of this layer can run meanwhile;
                                    backward the weight gradients wait for nothing */
        return (struct sp_context_time){beyond(in, gather, work->projections),
                                        beyond(in, 2 * gather, work->weight_grads)};
    default:
        return (struct sp_context_time){gather, 2 * gather};
    }
}

/* Attention waits for the exchange before it, and the output projection for the one after it.
 * Tensors are rearranged before and after each: read and written twice. */
static struct sp_context_time exchange_s(const struct sp_step_inputs *in,
                                         const struct sp_context_bytes *bytes)
{
    enum { LAYOUTS = 2, READ_AND_WRITTEN = 2 };
    const double laid =
        LAYOUTS * READ_AND_WRITTEN * (bytes->inward + bytes->output) / in->hw->chip.hbm_bytes_per_s;
    const double both =
        sp_context_exchange_s(in, bytes->inward) + sp_context_exchange_s(in, bytes->output) + laid;
    return (struct sp_context_time){both, both};
}

bool sp_works_on_blocks(const struct sp_plan *plan, const struct sp_framework *framework)
{
    const enum sp_cp_kind kind = plan->execution.cp_kind;
    return kind == SP_CP_RING || kind == SP_CP_DYNAMIC ||
           (kind == SP_CP_ALLGATHER && framework->cp_gather == SP_CP_GATHER_BLOCKS);
}

/* Partial results of the cp - 1 further blocks are read in 2 bytes, the sums read and written in 4:
 * outputs forward; gradients of queries, keys and values backward. TransformerEngine and XLA fuse
 * this into one pass, PyTorch's blocks (_SDPAMerger) do not. Liu et al. 2023, "Ring Attention". */
static double merge_s(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer)
{
    const struct sp_mixer *const x = &layer->mixer;
    const double kv = x->kv_heads * (x->qk + x->v);
    const double bytes = ((double)in->plan->cp - 1) * (2 + 4 + 4) * rank->tokens[SP_BY_WIDTH] *
                         (x->heads * (x->v + x->qk) + kv);
    const double passes =
        in->framework->cp_gather == SP_CP_GATHER_BLOCKS ? constant(in, SP_C_MEMORY) : 1;
    return sp_works_on_blocks(in->plan, in->framework)
               ? passes * bytes / in->hw->chip.hbm_bytes_per_s
               : 0;
}

/* Share of a layer's tokens, and of its attention, in the documents that one ring shares. */
struct ring_share {
    double tokens, attention;
};

static struct ring_share share_of_ring(const struct sp_documents *d, const struct sp_mixer *x,
                                       double cp, double ranks)
{
    struct ring_share s = {0, 0};
    const double all = sp_mixer_flops(x, d->row, 0.5);
    struct sp_mixer alone = *x;
    alone.documents = NULL;
    for (int i = 0; i < d->n; i++) {
        const double tokens = sp_smaller(d->of[i].tokens, d->row);
        if (sp_document_ranks(tokens, cp, d->row) != ranks)
            continue;
        s.tokens += d->of[i].share;
        s.attention += d->of[i].share * sp_mixer_flops(&alone, tokens, 0.5) / all;
    }
    return s;
}

/* Rings of each size work on their share of the tokens, one after the other. Without documents all
 * tokens belong to one ring. */
static struct sp_context_time dynamic_s(const struct sp_step_inputs *in,
                                        const struct sp_layer *layer,
                                        const struct sp_context_bytes *bytes,
                                        const struct sp_context_work *work)
{
    const struct sp_documents *const d = layer->mixer.documents;
    struct sp_context_time sum = {0, 0};
    struct sp_plan plan = *in->plan;
    struct sp_step_inputs smaller = *in;
    smaller.plan = &plan;
    if (!d || !(layer->mixer.qk > 0))
        return ring_s(in, bytes, work);
    const double cp = (double)in->plan->cp;
    for (int64_t ranks = 2; ranks < 2 * in->plan->cp; ranks *= 2) {
        const double n = sp_smaller((double)ranks, cp);
        const struct ring_share s = share_of_ring(d, &layer->mixer, cp, n);
        const struct sp_context_bytes mine = {.kv = s.tokens * bytes->kv,
                                              .grads = s.tokens * bytes->grads};
        const struct sp_context_work during = {.forward = s.attention * work->forward,
                                               .backward = s.attention * work->backward};
        plan.cp = (int64_t)n;
        const struct sp_context_time t = ring_s(&smaller, &mine, &during);
        sum.forward += t.forward;
        sum.backward += t.backward;
    }
    return sum;
}

struct sp_context_time sp_context_of_layer(const struct sp_step_inputs *in,
                                           const struct sp_rank *rank, const struct sp_layer *layer,
                                           const struct sp_context_work *work)
{
    const struct sp_plan *const p = in->plan;
    if (p->cp <= 1)
        return (struct sp_context_time){0, 0};
    const struct sp_context_bytes bytes = bytes_of(in, layer);
    const enum sp_cp_kind kind = p->execution.cp_kind;
    struct sp_context_time s = kind == SP_CP_ULYSSES     ? exchange_s(in, &bytes)
                               : kind == SP_CP_ALLGATHER ? gather_s(in, &bytes, work)
                               : kind == SP_CP_DYNAMIC   ? dynamic_s(in, layer, &bytes, work)
                                                         : ring_s(in, &bytes, work);
    s.forward += beyond(in, sp_context_gather_s(in, bytes.states), work->forward);
    s.backward += beyond(in, sp_context_gather_s(in, bytes.states), work->backward) +
                  share_of_blocks(in) * merge_s(in, rank, layer);
    return s;
}

double sp_context_operations(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    enum { RING = 3 /* send, attention, merge */, BLOCK = 2, HEAD = 2, EXCHANGE = 3 * 4 };
    const struct sp_plan *const p = in->plan;
    const double n = (double)p->cp;
    const double heads = sp_groups_of_rank(layer->mixer.kv_heads, (double)p->tp);
    const double gathers[SP_CP_GATHERS] = {
        [SP_CP_GATHER_WHOLE] = 2,
        [SP_CP_GATHER_BLOCKS] = 2 + BLOCK * (n - 1),
        [SP_CP_GATHER_HEADS] = HEAD * heads,
        [SP_CP_GATHER_SCHEDULED] = 2,
    };
    const double operations[SP_CP_KINDS] = {
        [SP_CP_RING] = RING * (n - 1),
        [SP_CP_ALLGATHER] = gathers[in->framework->cp_gather],
        [SP_CP_DYNAMIC] = RING * (n - 1) * share_of_blocks(in),
        [SP_CP_ULYSSES] =
            EXCHANGE, /* queries, keys, values, output: rearranged, sent, rearranged */
    };
    return n > 1 && layer->mixer.qk > 0 ? operations[p->execution.cp_kind] : 0;
}

double sp_busiest_context(const struct sp_step_inputs *in, const struct sp_mixer *x)
{
    const struct sp_plan *const p = in->plan;
    const double n = (double)p->cp, seq = x->length > 0 ? x->length : (double)p->seq;
    if (p->cp <= 1 || !in->framework->cp_uneven || x->bidirectional || x->qk <= 0 ||
        p->execution.cp_kind == SP_CP_ULYSSES || follows_documents(in))
        return 1;
    double before = 0, most = 0;
    for (int64_t rank = 1; rank <= p->cp; rank++) {
        const double tokens = seq * (double)rank / n, until = tokens * sp_mixer_tokens(x, tokens);
        most = sp_larger(most, until - before);
        before = until;
    }
    return n * most / before;
}

double sp_busiest_replica(const struct sp_step_inputs *in)
{
    const struct sp_plan *const p = in->plan;
    const struct sp_documents *const d = in->model->documents;
    if (!d || p->dp <= 1 || follows_documents(in))
        return 1;
    const double together = p->zero >= 3 || p->ep > 1 ? 1 : (double)sp_plan_microbatches(p);
    return sp_busiest_documents(d, (double)p->dp, (double)p->micro_batch * together);
}
