/* One strategy in full: its policies, its experts' groups and depths, and which of two is better.
 */
#include <math.h>

#include "core/fit/fit_internal.h"

/* Times of one policy are equal within this share. */
static const double SAME = 1e-9;

/* Most sizes of groups of experts whose memory is remembered; further ones are judged
 * anew. */
#define REMEMBERED 32

enum known { NOT_JUDGED, MAY_FIT, DOES_NOT_FIT };

/* Which ways to run the stages of a pipeline are known not to fit with one chunk per stage: by size
 * of the experts' groups, policy, and whether a stage keeps its weights. */
struct one_chunk {
    enum known way[REMEMBERED][SP_REMATS][2];
};

/* The policies of a strategy that are tried, the best of them, and the strategy that it is compared
 * with. */
struct policies {
    const struct sp_fit_input *in;
    const struct sp_fit_terms *t;
    const struct sp_strategy *rival; /* NULL: none */
    struct sp_strategy best;
    struct sp_strategy_layers *listed;
    bool has_loads, is_listed; /* for the degrees of the policy at hand */
    struct one_chunk *one_chunk;
    int group; /* of experts: how many smaller sizes there are */
};

/* The shortest step of a policy: that of a pipeline, which has one sequence per micro-batch; else
 * that of one gather. */
static double least_step_s(struct sp_strategy s, const struct policies *p)
{
    s.microbatches = s.pp > 1 ? sp_most_microbatches(sp_replica_sequences(p->in, &s)) : 1;
    s.loads.gathers = sp_is_whole(&s) || s.keeps_weights ? 1 : (double)s.microbatches;
    sp_judge_times(&s, p->in, p->t);
    return s.step_with_bubble_s;
}

/* Whether a policy is too slow to be kept, whatever its memory: the best of this strategy, or its
 * rival, runs and fits in less time. Memory takes ten times as long to judge as times. */
static bool is_too_slow(const struct sp_strategy *s, const struct policies *p)
{
    const struct sp_strategy *const best = &p->best, *const rival = p->rival;
    const bool beats_best = !(best->exists && best->is_plan && best->fits);
    const bool beats_rival = !(rival && rival->exists && rival->runs && rival->fits);
    if (beats_best && beats_rival)
        return false;
    const double least = least_step_s(*s, p);
    return (!beats_best && least >= best->step_with_bubble_s * (1 - SAME)) ||
           (!beats_rival && least > rival->step_with_bubble_s * (1 + 2 * SAME));
}

/* What is known about the policy of a strategy with one chunk per stage; NULL where nothing is
 * kept.
 */
static enum known *with_one_chunk(const struct sp_strategy *s, const struct policies *p)
{
    const bool kept = p->one_chunk && s->pp > 1 && s->chunks > 1 && p->group < REMEMBERED;
    return kept ? &p->one_chunk->way[p->group][s->remat][s->keeps_weights] : NULL;
}

static bool is_known_not_to_fit(const struct sp_strategy *s, const struct policies *p)
{
    const enum known *const known = with_one_chunk(s, p);
    return known && *known == DOES_NOT_FIT;
}

/* Whether a deeper pipeline cannot fit, because it does not with one chunk per stage, which has the
 * fewest micro-batches in flight. Most depths end here: they share this answer. */
static bool cannot_fit(const struct sp_strategy *s, const struct policies *p)
{
    enum known *const known = with_one_chunk(s, p);
    if (known && *known == NOT_JUDGED) {
        struct sp_strategy one = *s;
        one.chunks = 1;
        one.uneven = sp_layer_unevenness(p->t->L, (double)s->pp, 1);
        sp_judge_memory(&one, p->in, p->t, p->listed);
        *known = one.is_plan && !one.fits ? DOES_NOT_FIT : MAY_FIT;
    }
    return known && *known == DOES_NOT_FIT;
}

/* Tries a policy of given degrees, whose loads are judged for the first that needs them; the
 * earlier policy wins ties. */
static void try_policy(struct policies *p, struct sp_strategy *of, enum sp_remat remat)
{
    struct sp_strategy *const best = &p->best;
    of->remat = remat;
    if (is_known_not_to_fit(of, p))
        return;
    if (!p->has_loads)
        sp_judge_loads(of, p->in, p->t);
    p->has_loads = true;
    if (is_too_slow(of, p))
        return;
    struct sp_strategy s = *of;
    if (!p->is_listed)
        sp_list_strategy(&s, p->in, p->listed);
    p->is_listed = true;
    if (cannot_fit(&s, p))
        return;
    sp_judge_memory(&s, p->in, p->t, p->listed);
    s.loads.gathers = sp_is_whole(&s) || s.keeps_weights ? 1 : (double)s.microbatches;
    sp_judge_times(&s, p->in, p->t);
    const double tie = 1 - SAME;
    const bool better = s.is_plan != best->is_plan ? s.is_plan
                        : s.fits != best->fits     ? s.fits
                        : s.fits ? s.step_with_bubble_s < best->step_with_bubble_s * tie
                                 : s.memory_bytes < best->memory_bytes * tie;
    if (!best->exists || better)
        *best = s;
    best->exists = true;
}

double sp_least_of_loads(struct sp_strategy s, const struct sp_fit_input *in,
                         const struct sp_fit_terms *t,
                         double of(const struct sp_strategy *, const struct sp_fit_terms *,
                                   enum sp_overlap))
{
    double least = INFINITY;
    sp_seat_sequences(&s, in);
    for (int64_t ep = 1; ep > 0; ep = sp_next_ep(in, &s, ep)) {
        s.ep = ep;
        sp_judge_loads(&s, in, t);
        least = fmin(least, of(&s, t, in->overlap));
    }
    return least;
}

/* Whether a pipeline with shards can gather weights for each micro-batch, and whether it can keep a
 * stage's once a step: a framework does one of the two, as in `step`; the book's rule may choose.
 */
static void find_ways(const struct sp_strategy *s, const struct sp_fit_input *in,
                      const struct sp_framework *f, bool can[2])
{
    const bool stages = s->pp > 1 && s->fsdp > 1;
    can[false] = !(stages && f && f->keeps_stages_whole);
    can[true] = stages && (!can[false] || !f || !in->runs);
}

static const struct sp_framework *framework_of(const struct sp_strategy *s,
                                               const struct sp_fit_input *in)
{
    return sp_model_has_shape(in->model) ? sp_strategy_framework(in, s) : NULL;
}

/* Judges a strategy with its number of chunks over policies and sizes of groups of experts. With
 * `one_chunk` it leaves out what cannot fit. */
static void judge_depth(struct sp_strategy *s, const struct sp_fit_input *in,
                        const struct sp_fit_terms *t, const struct sp_strategy *rival,
                        struct one_chunk *one_chunk)
{
    static const enum sp_remat lightest_first[] = {SP_REMAT_NONE, SP_REMAT_SELECTIVE,
                                                   SP_REMAT_FULL};
    s->uneven = s->pp > 1 ? sp_layer_unevenness(t->L, (double)s->pp, (double)s->chunks) : 1;
    const bool any = t->remat == SP_REMATS;
    bool can[2];
    struct sp_strategy_layers listed;
    struct policies p = {
        .in = in, .t = t, .rival = rival, .listed = &listed, .one_chunk = one_chunk};
    sp_seat_sequences(s, in);
    for (int64_t ep = 1; ep > 0; ep = sp_next_ep(in, s, ep), p.group++) {
        s->ep = ep;
        find_ways(s, in, framework_of(s, in), can);
        p.has_loads = p.is_listed = false;
        for (size_t i = 0; i < (any ? sizeof lightest_first / sizeof *lightest_first : 1); i++)
            for (int keeps = 0; keeps < 2; keeps++) {
                if (!can[keeps])
                    continue;
                s->keeps_weights = keeps;
                try_policy(&p, s, any ? lightest_first[i] : t->remat);
            }
    }
    *s = p.best;
    s->runs = s->exists && sp_strategy_runs(in, s);
}

void sp_judge_depth(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t, const struct sp_strategy *rival)
{
    judge_depth(s, in, t, rival, NULL);
}

/* Most chunks per stage. Interleaving needs at least as many micro-batches as stages. */
static int64_t most_chunks(const struct sp_strategy *s, const struct sp_fit_input *in,
                           const struct sp_fit_terms *t)
{
    const int64_t m = sp_most_microbatches(sp_replica_sequences(in, s));
    const struct sp_framework *const f = in->runs ? sp_strategy_framework(in, s) : NULL;
    const bool is_deep =
        s->pp > 1 && m >= s->pp && (!f || sp_takes_rounds((enum sp_rounds)f->rounds, m, s->pp));
    return is_deep ? (int64_t)t->L / s->pp : 1;
}

/* The shortest step of a strategy over all depths, policies and degrees of expert parallelism, by
 * its times alone: one chunk sends least and is cut most evenly, most chunks have the least bubble.
 */
static double bound_s(struct sp_strategy s, const struct policies *p)
{
    const int64_t deepest = most_chunks(&s, p->in, p->t);
    double least = INFINITY;
    bool can[2];
    find_ways(&s, p->in, framework_of(&s, p->in), can);
    s.keeps_weights = can[true];
    s.uneven = s.pp > 1 ? sp_layer_unevenness(p->t->L, (double)s.pp, 1) : 1;
    for (s.ep = 1; s.ep > 0; s.ep = sp_next_ep(p->in, &s, s.ep)) {
        s.chunks = 1;
        sp_judge_loads(&s, p->in, p->t);
        s.chunks = deepest;
        least = fmin(least, least_step_s(s, p));
    }
    return least;
}

/* Whether the strategy is a plan that runs, with experts on groups of some size. One chunk per
 * stage is the easiest case. */
static bool can_run(struct sp_strategy s, const struct sp_fit_input *in)
{
    s.chunks = 1;
    s.microbatches = sp_most_microbatches(sp_replica_sequences(in, &s));
    for (s.ep = 1; s.ep > 0; s.ep = sp_next_ep(in, &s, s.ep))
        if (sp_strategy_runs(in, &s))
            return true;
    return false;
}

bool sp_ranks_below(const struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t, const struct sp_strategy *rival)
{
    const struct policies all = {.in = in, .t = t};
    struct sp_strategy seated = *s;
    if (!rival || !rival->exists)
        return false;
    sp_seat_sequences(&seated, in);
    const bool runs = can_run(seated, in);
    if (runs != rival->runs)
        return rival->runs;
    return rival->fits && bound_s(seated, &all) > rival->step_with_bubble_s * (1 + 2 * SAME);
}

/* Judges the variant of a strategy with the least memory: one chunk per stage, which has the fewest
 * micro-batches in flight, with the policy that keeps least. If that is a plan and does not fit, no
 * variant fits. */
static struct sp_strategy leanest(struct sp_strategy s, const struct sp_fit_input *in,
                                  const struct sp_fit_terms *t)
{
    struct sp_fit_terms lean = *t;
    if (t->remat == SP_REMATS)
        lean.remat = SP_REMAT_FULL;
    s.chunks = 1;
    sp_judge_depth(&s, in, &lean, NULL);
    return s;
}

void sp_judge_against(struct sp_strategy *s, const struct sp_fit_input *in,
                      const struct sp_fit_terms *t, const struct sp_strategy *rival)
{
    if (sp_ranks_below(s, in, t, rival))
        return;
    struct sp_strategy best = leanest(*s, in, t);
    struct one_chunk one_chunk = {0};
    if (!best.is_plan || best.fits) {
        best.exists = false;
        sp_seat_sequences(s, in);
        for (int64_t v = most_chunks(s, in, t); v >= 1; v--) {
            struct sp_strategy deeper =
                *s; /* deeper ones are faster, and rule out more of the others */
            deeper.chunks = v;
            judge_depth(&deeper, in, t, rival && sp_better(rival, &best) ? rival : &best,
                        &one_chunk);
            if (deeper.exists && !sp_better(&best, &deeper))
                best = deeper;
        }
    }
    *s = best;
}

void sp_judge_kept(struct sp_strategy *s, const struct sp_fit_input *in,
                   const struct sp_fit_terms *t)
{
    struct sp_strategy_layers listed;
    if (!s->exists || !s->is_plan || s->pp == 1)
        return;
    sp_list_strategy(s, in, &listed);
    sp_judge_stages(s, in, t, &listed);
}

void sp_judge(struct sp_strategy *s, const struct sp_fit_input *in, const struct sp_fit_terms *t)
{
    sp_judge_against(s, in, t, NULL);
    sp_judge_kept(s, in, t);
}

/* Fewer kinds of groups are simpler; with equally many, the earlier in this order, and shards
 * before replicas. */
static int complexity(const struct sp_strategy *s)
{
    static const int order[SP_STRATEGIES] = {
        [SP_DP] = 0, [SP_FSDP] = 1, [SP_HSDP] = 2, [SP_TP] = 3, [SP_FSDP_TP] = 4, [SP_PP_FSDP] = 6};
    const int groups = (s->dp > 1) + (s->fsdp > 1) + (s->tp > 1) + (s->pp > 1);
    return groups * 8 + (s->kind == SP_HSDP && s->tp > 1 ? 5 : order[s->kind]);
}

bool sp_better(const struct sp_strategy *a, const struct sp_strategy *b)
{
    if (!b->exists || !a->exists)
        return a->exists;
    if (a->runs != b->runs)
        return a->runs;
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits && fabs(a->memory_bytes - b->memory_bytes) > 1e-9 * a->memory_bytes)
        return a->memory_bytes < b->memory_bytes;
    const double tie = 1e-9 * fmin(a->step_with_bubble_s, b->step_with_bubble_s);
    if (fabs(a->step_with_bubble_s - b->step_with_bubble_s) > tie)
        return a->step_with_bubble_s < b->step_with_bubble_s;
    /* the ideal step has neither a run that ends for lack of memory nor what is recomputed */
    if (a->verdict != b->verdict)
        return a->verdict < b->verdict;
    if (a->remat != b->remat)
        return a->remat < b->remat;
    if (complexity(a) != complexity(b))
        return complexity(a) < complexity(b);
    return a->comms_over_math < b->comms_over_math;
}
