/* Scores of attention and what stands in their place: how far a token attends, and its FLOPs. */
#include <math.h>
#include <stddef.h>

#include <scaleplan/flops.h>
#include <scaleplan/forms.h>
#include <scaleplan/layer.h>

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

double sp_mixer_entries(const struct sp_mixer *x, double seq)
{
    const double all = x->ratio > 0 ? sp_entries(x->ratio, seq) : 0;
    return x->entries > 0 && x->entries < all ? sp_picked_entries(x->entries, x->ratio, seq) : all;
}

double sp_entry_flops(const struct sp_mixer *x, double seq, double scores)
{
    if (!(x->ratio > 0))
        return 0;
    return sp_entry_score_flops(x->index, sp_entries(x->ratio, seq), x->heads, x->qk, x->v,
                                sp_mixer_entries(x, seq), scores);
}

/* Tokens themselves that a token attends to, entries aside. */
static double near_tokens(const struct sp_mixer *x, double T)
{
    const double g = x->global;
    return is_local(x, T) ? g * T + (1 - g) * local_tokens(x, T) : T;
}

double sp_mixer_tokens(const struct sp_mixer *x, double seq)
{
    return near_tokens(x, length_of(x, seq)) + sp_mixer_entries(x, seq);
}

double sp_mixer_flops(const struct sp_mixer *x, double seq, double scores)
{
    const double counted = x->bidirectional ? 1 : scores;
    const double tokens = near_tokens(x, length_of(x, seq));
    const double scan = sp_scan_flops(x->scan);
    if (x->picked > 0)
        return scan + sp_picked_score_flops(x->index, x->heads, x->qk, x->v, x->picked, seq, tokens,
                                            counted);
    return scan + sp_score_flops(x->heads, x->qk, x->v, tokens, counted) +
           sp_entry_flops(x, seq, counted);
}

static double flops_of(const struct sp_scores *s, double seq)
{
    const struct sp_mixer *const x = &s->mixer;
    if (s->reach == SP_REACH_RECURRENCE)
        return sp_scan_flops(x->scan);
    if (s->reach == SP_REACH_ENTRIES)
        return sp_entry_flops(x, seq, s->share);
    if (s->reach == SP_REACH_PICKED)
        return sp_picked_score_flops(x->index, x->heads, x->qk, x->v, x->picked, seq, s->tokens,
                                     s->share);
    return sp_score_flops(x->heads, x->qk, x->v, s->tokens, s->share);
}

/* Takes a part of a mixer if layers have it, into the part before it where that is alike. */
static int put(struct sp_scores *out, int n, const struct sp_scores *part, double seq)
{
    if (part->layers <= 0)
        return n;
    for (int i = 0; i < n; i++)
        if (out[i].reach == part->reach && out[i].tokens == part->tokens &&
            flops_of(&out[i], seq) == flops_of(part, seq)) {
            out[i].layers += part->layers;
            return n;
        }
    out[n] = *part;
    return n + 1;
}

/* The parts of a mixer that `layers` layers have. */
static int put_mixer(struct sp_scores *out, int n, const struct sp_mixer *x, double layers,
                     double seq, double share)
{
    const double T = length_of(x, seq);
    const bool scores = x->qk > 0 && x->picked <= 0;
    const double local = scores && is_local(x, T) ? (1 - x->global) * layers : 0;
    const enum sp_reach near = x->bidirectional ? SP_REACH_BOTH_SIDES
                               : x->chunked     ? SP_REACH_CHUNK
                                                : SP_REACH_WINDOW;
    const struct sp_scores parts[] = {
        {SP_REACH_PICKED, *x, x->picked > 0 ? layers : 0, sp_mixer_tokens(x, seq), share},
        {SP_REACH_ALL, *x, scores ? layers - local : 0, T, x->bidirectional ? 1 : share},
        {near, *x, local, local > 0 ? local_tokens(x, T) : T, x->bidirectional ? 1 : share},
        {SP_REACH_ENTRIES, *x, x->ratio > 0 ? layers : 0, sp_mixer_entries(x, seq), share},
        {SP_REACH_RECURRENCE, *x, x->scan > 0 ? layers : 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        n = put(out, n, &parts[i], seq);
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
