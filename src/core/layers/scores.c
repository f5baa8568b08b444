/* Attention scores and their substitutes: how far a token attends, and its FLOPs. */
#include <math.h>
#include <stddef.h>

#include <scaleplan/flops.h>
#include <scaleplan/forms.h>
#include <scaleplan/layer.h>
#include <scaleplan/lengths.h>

/* Tokens that a token of a layer without the whole sequence attends to. */
static double local_tokens(const struct sp_mixer *x, double seq)
{
    if (x->bidirectional)
        return sp_both_sides_reach(x->window, seq);
    if (x->chunked)
        return sp_chunk_reach(x->window, seq, fmod(seq, x->window));
    return sp_window_reach(x->window, seq);
}

static bool is_local(const struct sp_mixer *x, double seq)
{
    return x->window > 0 && x->window < seq;
}

static double length_of(const struct sp_mixer *x, double seq)
{
    return x->length > 0 ? x->length : seq;
}

/* Tokens of a document at the beginning of a row: a row has room for more tokens than it contains
 * on average. */
static double within(const struct sp_documents *d, double tokens, double seq)
{
    return fmin(tokens, seq * (d->row / d->filled));
}

/* A quantity of a mixer for a sequence of `tokens` tokens; `scores` as in sp_mixer_flops. */
typedef double of_length(const struct sp_mixer *x, double tokens, double scores);

/* The same of a token's document, the mean over tokens. */
static inline double mean_of(of_length *of, const struct sp_mixer *x, double seq, double scores)
{
    const struct sp_documents *const d = x->documents;
    double sum = 0;
    if (!d)
        return of(x, seq, scores);
    for (int i = 0; i < d->n; i++)
        sum += d->of[i].share * of(x, within(d, d->of[i].tokens, seq), scores);
    return sum;
}

static double entries_of(const struct sp_mixer *x, double seq, double scores)
{
    (void)scores;
    const double all = x->ratio > 0 ? sp_entries(x->ratio, seq) : 0;
    return x->entries > 0 && x->entries < all ? sp_picked_entries(x->entries, x->ratio, seq) : all;
}

double sp_mixer_entries(const struct sp_mixer *x, double seq)
{
    return mean_of(entries_of, x, seq, 1);
}

static double entry_flops(const struct sp_mixer *x, double seq, double scores)
{
    if (!(x->ratio > 0))
        return 0;
    return sp_entry_score_flops(x->index, sp_entries(x->ratio, seq), x->heads, x->qk, x->v,
                                entries_of(x, seq, scores), scores);
}

double sp_entry_flops(const struct sp_mixer *x, double seq, double scores)
{
    return mean_of(entry_flops, x, seq, scores);
}

static double all_tokens(const struct sp_mixer *x, double seq, double scores)
{
    (void)scores;
    return length_of(x, seq);
}

/* For a layer that is not global. */
static double local_or_all(const struct sp_mixer *x, double seq, double scores)
{
    (void)scores;
    const double T = length_of(x, seq);
    return is_local(x, T) ? local_tokens(x, T) : T;
}

/* Tokens that a token attends to directly, without entries. */
static double near_tokens(const struct sp_mixer *x, double T)
{
    const double g = x->global;
    return is_local(x, T) ? g * T + (1 - g) * local_tokens(x, T) : T;
}

static double tokens_of(const struct sp_mixer *x, double seq, double scores)
{
    return near_tokens(x, length_of(x, seq)) + entries_of(x, seq, scores);
}

double sp_mixer_tokens(const struct sp_mixer *x, double seq)
{
    return mean_of(tokens_of, x, seq, 1);
}

/* Share of the token pairs whose scores count: half under a causal mask, all if tokens attend both
 * ways, (n + 1) / (2 n) for a sequence of n blocks whose tokens attend to their whole block.
 * Arriola et al. 2025, "Block Diffusion", section 3.2. */
static double counted_of(const struct sp_mixer *x, double seq, double scores)
{
    if (x->bidirectional)
        return 1;
    return scores < 1 ? fmin(1, scores * (1 + x->block / length_of(x, seq))) : scores;
}

static double picked_flops(const struct sp_mixer *x, double seq, double scores)
{
    return sp_picked_score_flops(x->index, x->heads, x->qk, x->v, x->picked, seq,
                                 near_tokens(x, length_of(x, seq)), scores);
}

static double near_flops(const struct sp_mixer *x, double seq, double scores)
{
    const double counted = counted_of(x, seq, scores);
    if (x->picked > 0)
        return picked_flops(x, seq, counted);
    return sp_score_flops(x->heads, x->qk, x->v, near_tokens(x, length_of(x, seq)), counted) +
           entry_flops(x, seq, counted);
}

double sp_mixer_flops(const struct sp_mixer *x, double seq, double scores)
{
    return sp_scan_flops(x->scan) + mean_of(near_flops, x, seq, scores);
}

double sp_mixer_unevenness(const struct sp_mixer *x, double seq)
{
    const struct sp_documents *const d = x->documents;
    const double mean = sp_mixer_flops(x, seq, 0.5);
    double both = 0, squares = 0;
    if (!d || !(mean > 0))
        return 0;
    for (int i = 0; i < d->n; i++) {
        const double T = within(d, d->of[i].tokens, seq), share = d->of[i].share;
        const double beyond = T - d->reach;
        const double flops = sp_scan_flops(x->scan) + near_flops(x, T, 0.5);
        both += share * T * beyond * (flops - mean);
        squares += share * T * beyond * beyond;
    }
    return squares > 0 ? both / squares * d->reach / mean : 0;
}

/* Adds a part of a mixer if layers have it; merges it with the part before it if they are alike. */
static int put(struct sp_scores *out, int n, const struct sp_scores *part)
{
    if (part->layers <= 0)
        return n;
    for (int i = 0; i < n; i++)
        if (out[i].reach == part->reach && out[i].tokens == part->tokens &&
            out[i].flops == part->flops) {
            out[i].layers += part->layers;
            return n;
        }
    out[n] = *part;
    return n + 1;
}

/* The longest document, else the sequence. */
static double longest(const struct sp_mixer *x, double seq)
{
    const struct sp_documents *const d = x->documents;
    return d ? within(d, d->of[d->n - 1].tokens, seq) : seq;
}

/* The parts of a mixer that `layers` layers have. */
static int put_mixer(struct sp_scores *out, int n, const struct sp_mixer *x, double layers,
                     double seq, double share)
{
    const bool scores = x->qk > 0 && x->picked <= 0;
    const double local =
        scores && is_local(x, length_of(x, longest(x, seq))) ? (1 - x->global) * layers : 0;
    const double all = mean_of(all_tokens, x, seq, 1), here = mean_of(local_or_all, x, seq, 1);
    const double counted = counted_of(x, all, share);
    const enum sp_reach near = x->bidirectional ? SP_REACH_BOTH_SIDES
                               : x->chunked     ? SP_REACH_CHUNK
                                                : SP_REACH_WINDOW;
    const struct sp_scores parts[] = {
        {SP_REACH_PICKED, *x, x->picked > 0 ? layers : 0, sp_mixer_tokens(x, seq), share,
         mean_of(picked_flops, x, seq, share)},
        {SP_REACH_ALL, *x, scores ? layers - local : 0, all, counted,
         sp_score_flops(x->heads, x->qk, x->v, all, counted)},
        {near, *x, local, here, counted, sp_score_flops(x->heads, x->qk, x->v, here, counted)},
        {SP_REACH_ENTRIES, *x, x->ratio > 0 ? layers : 0, sp_mixer_entries(x, seq), share,
         sp_entry_flops(x, seq, share)},
        {SP_REACH_RECURRENCE, *x, x->scan > 0 ? layers : 0, 0, 1, sp_scan_flops(x->scan)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        n = put(out, n, &parts[i]);
    return n;
}

int sp_list_scores(const struct sp_model *model, double seq, bool causal,
                   struct sp_scores out[SP_MOST_SCORES])
{
    struct sp_layers layers;
    int n = 0;
    sp_list_model(model, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const struct sp_layer *const layer = &layers.list[kind];
        if (layers.count[kind] == 0)
            continue;
        const double times = layers.count[kind] * sp_stream_share(layer->own, seq);
        n = put_mixer(out, n, &layer->mixer, times, seq, causal ? 0.5 : 1);
        n = put_mixer(out, n, &layer->cross, times, seq, causal ? 0.5 : 1);
    }
    return n;
}
