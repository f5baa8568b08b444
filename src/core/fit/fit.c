/* Rows of `fit`, its best plan, and the smallest changes that turn a "no" into a "yes". */
#include <math.h>

#include <scaleplan/fit.h>
#include <scaleplan/plan.h>

#include "core/fit/fit_internal.h"
#include "core/layers/layer_rank.h"

/* No machine this large has been published; none is suggested. */
#define MOST_CHIPS 1e6
/* The largest published run spans 199 slices (Google 2023, 50,944 v5e chips). */
#define MOST_SLICES 256

struct search {
    const struct sp_fit_input *in;
    const struct sp_fit_terms *t;
    struct sp_strategy best;
    double batch_needed;
};

static void keep_better(struct sp_strategy *s, void *context)
{
    struct search *search = context;
    sp_judge_against(s, search->in, search->t, &search->best);
    if (sp_better(s, &search->best))
        search->best = *s;
}

static bool hopes_for_better(const struct sp_strategy *s, const void *context)
{
    const struct search *const search = context;
    return !sp_ranks_below(s, search->in, search->t, &search->best);
}

/* T_comms / T_math with the loads that are set. */
static double load_of(const struct sp_strategy *s, const struct sp_fit_terms *t,
                      enum sp_overlap overlap)
{
    enum sp_link binding;
    (void)t;
    return sp_comms_over_math(&s->loads, overlap, &binding);
}

static bool hopes_for_quieter(const struct sp_strategy *s, const void *context)
{
    const struct search *const search = context;
    return !search->best.exists ||
           sp_least_of_loads(*s, search->in, search->t, load_of) < search->best.comms_over_math;
}

/* The closed forms are asked for the mesh with the least communication, whatever its memory. */
static void keep_quieter(struct sp_strategy *s, void *context)
{
    struct search *search = context;
    const struct sp_strategy *best = &search->best;
    const bool pipeline = s->kind == SP_PP_FSDP;
    if (pipeline)
        sp_judge_against(s, search->in, search->t, best);
    else if (hopes_for_quieter(s, search))
        sp_judge(s, search->in, search->t);
    const double own = s->comms_over_math, other = best->comms_over_math;
    const bool quieter = s->exists && own < other * (1 - 1e-12);
    if (!best->exists || (pipeline ? sp_better(s, best) : quieter))
        search->best = *s;
}

static bool hopes_always(const struct sp_strategy *s, const void *context)
{
    (void)s;
    (void)context;
    return true;
}

static double least_batch(const struct sp_strategy *s, const struct search *search)
{
    return sp_least_of_loads(*s, search->in, search->t, sp_batch_needed);
}

static bool hopes_for_less(const struct sp_strategy *s, const void *context)
{
    const struct search *const search = context;
    return least_batch(s, search) < search->batch_needed;
}

static void keep_least_batch(struct sp_strategy *s, void *context)
{
    struct search *search = context;
    const double batch = least_batch(s, search);
    if (batch < search->batch_needed) {
        search->batch_needed = batch;
        search->best = *s;
    }
}

/* Whether a strategy is possible for this model on this machine. */
static bool has_meaning(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                        enum sp_strategy_kind kind)
{
    const bool torus = in->hw->network.kind == SP_TORUS, shaped = sp_splits_layers(in->model);
    const bool several_domains = torus ? t->S > 1 : t->N > (double)in->hw->network.domain;
    if (t->N <= 1)
        return kind == SP_DP;
    switch (kind) {
    case SP_TP:
        return shaped;
    case SP_FSDP_TP:
        return shaped && (!torus || t->n > 1);
    case SP_PP_FSDP:
        return shaped && several_domains;
    case SP_HSDP:
        return several_domains;
    default:
        return true;
    }
}

/* r of a strategy's weights: E/k for experts, as in the textbook; shared experts count in the
 * arithmetic, not here. DP sends only gradients. */
static double weights_ratio(const struct sp_fit_terms *t, enum sp_strategy_kind kind)
{
    return t->r * (kind == SP_DP ? t->gradients_alone : 1);
}

/* Whether ranks share sequences or experts, which the closed forms of a critical batch leave out.
 */
static bool shares_ranks(const struct sp_strategy *s)
{
    return s->cp > 1 || s->ep > 1;
}

/* Critical tokens per chip: the closed form if FSDP and TP have separate axes, else that of
 * this mesh. */
static void set_mesh_critical(struct sp_strategy *s, const struct sp_fit_input *in,
                              const struct sp_fit_terms *t)
{
    if (!isnan(t->W_Y) && s->tp > 1 && s->pp == 1 && !shares_ranks(s)) {
        s->critical_rule = SP_CRITICAL_SPLIT;
        s->critical_tokens_per_chip = sp_critical_across_slices(
            sp_critical_fsdp_tp(t->C, t->W_X, t->W_Y, t->F, t->r, sp_turns(in->overlap)),
            sp_critical_dcn(t), in->overlap);
        return;
    }
    s->critical_rule = SP_CRITICAL_MESH;
    s->critical_tokens_per_chip = sp_batch_needed(s, t, in->overlap) / t->N;
}

/* DP, FSDP or TP over all chips at once. */
static struct sp_strategy whole_machine(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                                        enum sp_strategy_kind kind)
{
    const int64_t N = sp_chips(in->hw);
    const bool torus = in->hw->network.kind == SP_TORUS && t->n > 0;
    struct sp_strategy s = sp_new_strategy(kind);
    if (kind == SP_TP) {
        s.tp = N;
        s.W_Y = torus ? t->W_axes : NAN;
    } else {
        s.dp = kind == SP_DP ? N : 1;
        s.fsdp = kind == SP_DP ? 1 : N;
        s.W_X = torus ? t->W_axes : NAN;
        s.critical_tokens_per_chip =
            N > 1 ? sp_critical_tokens_per_chip(t->C, t->W_group, weights_ratio(t, kind)) : NAN;
    }
    sp_judge(&s, in, t);
    s.critical_rule = kind == SP_TP ? SP_CRITICAL_NOTHING : SP_CRITICAL_LINKS;
    if (shares_ranks(&s))
        set_mesh_critical(&s, in, t);
    else if (N > 1)
        s.ratio_rule = kind == SP_TP ? SP_RATIO_WIDTH : SP_RATIO_WEIGHTS;
    return s;
}

/* Visits the candidate meshes of a row: those of the closed forms, or, where these have none (a
 * torus with one axis, slices of a model without a shape), real ones. */
static void each_row_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                          enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context)
{
    const bool size_only_slices = kind == SP_HSDP && !sp_splits_layers(in->model);
    if (size_only_slices || (in->hw->network.kind == SP_TORUS && t->n < 2))
        sp_each_real_mesh(in, 1U << kind, hopes_always, visit, context);
    else
        sp_each_rule_mesh(in, t, kind, visit, context);
}

struct sp_strategy sp_fit_strategy(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                                   enum sp_strategy_kind kind)
{
    if (!has_meaning(in, t, kind))
        return (struct sp_strategy){.kind = kind};
    if (kind == SP_DP || kind == SP_FSDP || kind == SP_TP)
        return whole_machine(in, t, kind);
    struct search search = {.in = in, .t = t};
    each_row_mesh(in, t, kind, keep_quieter, &search);
    sp_judge_kept(&search.best, in, t);
    if (search.best.exists)
        set_mesh_critical(&search.best, in, t);
    return search.best;
}

struct mesh_search {
    struct search search;
    struct sp_degrees degrees;
};

static bool is_of(const struct sp_strategy *s, const struct sp_degrees *d)
{
    return (d->dp == 0 || d->dp == s->dp) && (d->fsdp == 0 || d->fsdp == s->fsdp) &&
           (d->tp == 0 || d->tp == s->tp) && (d->pp == 0 || d->pp == s->pp);
}

static void keep_quieter_of_degrees(struct sp_strategy *s, void *context)
{
    struct mesh_search *wanted = context;
    if (is_of(s, &wanted->degrees))
        keep_quieter(s, &wanted->search);
}

/* The given degrees, if they can be laid out on the machine. */
static struct sp_strategy given_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                                     const struct sp_degrees *degrees)
{
    struct search search = {.in = in, .t = t};
    sp_each_given_mesh(in, degrees, hopes_always, keep_quieter, &search);
    sp_judge_kept(&search.best, in, t);
    if (search.best.exists)
        set_mesh_critical(&search.best, in, t);
    return search.best;
}

/* Whether the degrees are a product that no single strategy of `fit` covers: replicas
 * beside shards, TP or stages. */
static bool has_replicas(const struct sp_degrees *d)
{
    return d->dp > 1 && (d->fsdp > 1 || d->tp > 1 || d->pp > 1);
}

struct sp_strategy sp_fit_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                               enum sp_strategy_kind kind, const struct sp_degrees *degrees,
                               bool real_axes)
{
    struct mesh_search wanted = {.search = {.in = in, .t = t}, .degrees = *degrees};
    const bool over_slices = in->hw->slices > 1 && degrees->pp == 1;
    const bool named = degrees->dp && degrees->fsdp && degrees->tp && degrees->pp;
    if (!named && !has_meaning(in, t, kind))
        return (struct sp_strategy){.kind = kind};
    if (named &&
        ((!over_slices && has_replicas(degrees)) || real_axes || !has_meaning(in, t, kind)))
        return given_mesh(in, t, degrees);
    if (kind == SP_TP || (!real_axes && (kind == SP_DP || kind == SP_FSDP))) {
        const struct sp_strategy whole = whole_machine(in, t, kind);
        return is_of(&whole, degrees) ? whole : (struct sp_strategy){.kind = kind};
    }
    if (real_axes)
        sp_each_real_mesh(in, 1U << kind, hopes_always, keep_quieter_of_degrees, &wanted);
    else
        each_row_mesh(in, t, kind, keep_quieter_of_degrees, &wanted);
    sp_judge_kept(&wanted.search.best, in, t);
    if (!wanted.search.best.exists)
        return named ? given_mesh(in, t, degrees) : wanted.search.best;
    set_mesh_critical(&wanted.search.best, in, t);
    return wanted.search.best;
}

/* The searches of each strategy. */
static void keep_better_of_kind(struct sp_strategy *s, void *context)
{
    struct search *const of = context;
    keep_better(s, &of[s->kind]);
}

static bool hopes_for_better_of_kind(const struct sp_strategy *s, const void *context)
{
    const struct search *const of = context;
    return hopes_for_better(s, &of[s->kind]);
}

/* Completes the best plan of a search on the real axes, if there is one. */
static struct sp_strategy completed(const struct search *search)
{
    struct sp_strategy s = search->best;
    if (!s.exists)
        return s;
    sp_judge_kept(&s, search->in, search->t);
    s.critical_rule = SP_CRITICAL_MESH;
    s.critical_tokens_per_chip = sp_batch_needed(&s, search->t, search->in->overlap) / search->t->N;
    return s;
}

/* Uses all real axes; --axes applies to closed forms only. TP never crosses slices, which have no
 * links for it. */
struct sp_strategy sp_fit_best_of_each(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                                       unsigned allowed, struct sp_strategy of[SP_STRATEGIES])
{
    struct sp_fit_input real = *in;
    real.axes = 0;
    const struct sp_fit_terms whole = sp_fit_terms_on(*t, &real);
    struct search search[SP_STRATEGIES];
    struct sp_strategy best = {.exists = false};
    for (int kind = 0; kind < SP_STRATEGIES; kind++)
        search[kind] = (struct search){.in = &real, .t = &whole};
    sp_each_real_mesh(&real, allowed, hopes_for_better_of_kind, keep_better_of_kind, search);
    for (int kind = 0; kind < SP_STRATEGIES; kind++) {
        of[kind] = completed(&search[kind]);
        if (sp_better(&of[kind], &best))
            best = of[kind];
    }
    return best;
}

struct sp_strategy sp_fit_best(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                               unsigned allowed)
{
    struct sp_fit_input real = *in;
    real.axes = 0;
    const struct sp_fit_terms whole = sp_fit_terms_on(*t, &real);
    struct search search = {.in = &real, .t = &whole};
    sp_each_real_mesh(&real, allowed, hopes_for_better, keep_better, &search);
    return completed(&search);
}

/* Interleaved pipelines are left out: they send more. */
static void keep_quietest_that_fits(struct sp_strategy *s, void *context)
{
    struct search *search = context;
    const struct sp_strategy *const best = &search->best;
    if (s->kind == SP_TP || (best->exists && sp_least_of_loads(*s, search->in, search->t,
                                                               load_of) >= best->comms_over_math))
        return;
    sp_judge_depth(s, search->in, search->t, NULL);
    if (s->fits && (!best->exists || s->comms_over_math < best->comms_over_math))
        search->best = *s;
}

struct sp_strategy sp_fit_quietest(const struct sp_fit_input *in, const struct sp_fit_terms *t)
{
    struct search search = {.in = in, .t = t};
    sp_each_real_mesh(in, ~0U, hopes_for_quieter, keep_quietest_that_fits, &search);
    return search.best;
}

/* Smallest batch with one gather per step and context parallelism over `cp` ranks. */
static double batch_needed_with(const struct sp_strategy *s, const struct sp_fit_terms *t,
                                enum sp_overlap overlap, int64_t cp)
{
    double rest[SP_LINKS], needed = 0;
    for (int link = 0; link < SP_LINKS; link++)
        rest[link] = s->loads.activations[link] -
                     s->loads.context[link] * (cp > 1 ? 1 - (double)cp / (double)s->cp : 1);
    if (overlap == SP_OVERLAP_NONE) {
        const double fixed = sp_serial_load(rest);
        const double falling = sp_serial_load(s->loads.weights);
        if (fixed > 1 || (fixed == 1 && falling > 0))
            return INFINITY;
        return falling > 0 ? t->B * falling / (1 - fixed) : 0;
    }
    for (int link = 0; link < SP_LINKS; link++) {
        const double weights = s->loads.weights[link];
        if (rest[link] > 1 || (rest[link] == 1 && weights > 0))
            return INFINITY;
        if (weights > 0)
            needed = fmax(needed, t->B * weights / (1 - rest[link]));
    }
    return needed;
}

/* A larger batch needs less context parallelism, because every replica has a sequence. */
double sp_batch_needed(const struct sp_strategy *s, const struct sp_fit_terms *t,
                       enum sp_overlap overlap)
{
    if (s->cp <= 1)
        return batch_needed_with(s, t, overlap, 1);
    double least = INFINITY;
    for (int64_t cp = 1; cp <= s->cp; cp++)
        if (s->cp % cp == 0) {
            const int64_t replicas = s->dp * s->fsdp / cp; /* cp divides them, or they are cut */
            const double shared = (double)replicas * t->seq;
            least = fmin(least, fmax(shared, batch_needed_with(s, t, overlap, cp)));
        }
    return least;
}

double sp_batch_needed_any(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                           enum sp_strategy_kind kind, bool real_axes, struct sp_strategy *s)
{
    struct search search = {.in = in, .t = t, .batch_needed = INFINITY};
    if (!real_axes && !has_meaning(in, t, kind))
        return INFINITY;
    if (kind == SP_TP || (!real_axes && (kind == SP_DP || kind == SP_FSDP))) {
        search.best = whole_machine(in, t, kind);
        search.batch_needed = sp_batch_needed(&search.best, t, in->overlap);
    } else if (real_axes) {
        sp_each_real_mesh(in, 1U << kind, hopes_for_less, keep_least_batch, &search);
    } else {
        each_row_mesh(in, t, kind, keep_least_batch, &search);
    }
    if (search.batch_needed < INFINITY && !search.best.exists)
        sp_judge(&search.best, in, t);
    *s = search.best;
    return search.batch_needed;
}

/* The smallest available machine of at least `chips` chips: a slice, or whole slices if none is
 * large enough or several are asked for. 0 if none. */
static int64_t machine_of(const struct sp_hardware *hw, int64_t chips)
{
    const struct sp_network *net = &hw->network;
    const int64_t one = sp_nearest_chips(net, chips, true);
    if (net->kind != SP_TORUS || (one > 0 && hw->slices <= 1))
        return one;
    if (isnan(net->dcn_bytes_per_s_per_host))
        return 0;
    const int64_t slice =
        hw->slices > 1 ? hw->chips_per_slice : sp_nearest_chips(net, chips, false);
    const int64_t slices = slice > 0 ? (chips + slice - 1) / slice : 0;
    return slices <= MOST_SLICES ? slices * slice : 0;
}

/* Fewest chips that hold `shared` bytes together and `kept` bytes each; 0 if none do. */
static double chips_for(double shared, double kept, double capacity)
{
    const double fewest = floor(shared / (capacity - kept)) + 1;
    return kept >= capacity || fewest > MOST_CHIPS ? INFINITY : fewest;
}

int64_t sp_chips_to_fit(const struct sp_strategy *s, const struct sp_fit_input *in,
                        const struct sp_fit_terms *t)
{
    /* Memory per chip is kept + shared / N. */
    const double all = isnan(s->activation_bytes) ? 0 : t->activation_bytes[s->remat];
    const double copies = (double)s->dp, sequences = sp_replica_sequences(in, s);
    const double gradients = (t->grad_bytes - t->grad_counted) * t->P_trained;
    const bool shards_all = s->kind != SP_DP && s->dp == 1;
    const bool cut = s->pp > 1 || in->accumulate > 0; /* the number of micro-batches is fixed */
    const double capacity = sp_live_capacity(s, t);
    const double buffers = s->is_plan ? 0 : s->beside.buffers; /* a plan's number is fixed */
    const double held =
        buffers + (s->is_plan || s->keeps_weights ? s->held_bytes : s->beside.gathered);
    const double add_up = cut && s->microbatches > 1 && !s->keeps_weights ? gradients : 0;
    const double states =
        s->is_plan ? s->state_bytes * t->N / copies : s->uneven_params * (t->state_bytes + add_up);
    const double peak =
        cut ? (s->peak_bytes - buffers) * t->N : sp_peak_of_tokens(s, t->B * (double)s->tp);
    const double alive = isnan(s->activation_bytes) ? 0 : s->activation_bytes * t->N;
    const double activations = (cut ? alive : s->uneven * all) + peak;
    const double kept = (shards_all ? 0 : states * copies / t->N) + held;
    double fewest = chips_for((shards_all ? states : 0) + activations, kept, capacity);
    if (!cut && sequences > 1) {
        const double one = all / sequences / t->N + sp_peak_of_tokens(s, in->seq) +
                           (shards_all ? 0 : gradients * copies / t->N);
        fewest = fmin(fewest, chips_for(shards_all ? states + gradients : 0, kept + one, capacity));
    }
    if (s->is_plan && !s->fits) /* the forms above do not equal those of `step` to the byte */
        fewest = fmax(fewest, t->N + 1);
    return isinf(fewest) ? 0 : machine_of(in->hw, (int64_t)fewest);
}

/* One slice of `chips` chips. */
static struct sp_hardware slice_of(const struct sp_hardware *hw, int64_t chips)
{
    struct sp_hardware slice = *hw;
    slice.slices = 1;
    slice.chips_per_slice = chips;
    if (slice.network.kind == SP_TORUS)
        sp_find_shape(&slice.network, chips, &slice.shape);
    return slice;
}

int sp_fit_curve(const struct sp_fit_input *in, struct sp_fit_point *points, int room)
{
    const struct sp_fit_terms whole = sp_fit_terms(in);
    int n = 0;
    for (int64_t wanted = 1; wanted <= in->hw->chips_per_slice && n < room; wanted *= 2) {
        const int64_t chips = sp_nearest_chips(&in->hw->network, wanted, true);
        if (chips == 0 || chips > in->hw->chips_per_slice)
            break;
        const struct sp_hardware slice = slice_of(in->hw, chips);
        struct sp_fit_input there = *in;
        there.hw = &slice;
        const struct sp_fit_terms t = sp_fit_terms_on(whole, &there);
        const struct sp_fit_point point = {chips, sp_fit_best(&there, &t, ~0u), 1, 1};
        if (!point.best.exists || (n > 0 && points[n - 1].chips == chips))
            continue;
        points[n++] = point;
        points[n - 1].times = (double)chips / (double)points[0].chips;
        points[n - 1].efficiency = points[0].best.step_with_bubble_s /
                                   (point.best.step_with_bubble_s * points[n - 1].times);
    }
    return n;
}

/* The critical batch of DP and FSDP on one slice of `chips` chips; 0: no communication. */
static double critical_of_slice(const struct sp_fit_input *in, const struct sp_fit_terms *whole,
                                enum sp_strategy_kind kind, int64_t chips)
{
    const struct sp_hardware hw = slice_of(in->hw, chips);
    struct sp_fit_input there = *in;
    there.hw = &hw;
    const struct sp_fit_terms t = sp_fit_terms_on(*whole, &there);
    return chips > 1 ? sp_critical_tokens_per_chip(t.C, t.W_group, weights_ratio(&t, kind)) : 0;
}

/* Tries available sizes from above, because smaller slices may have fewer or open rings, and a
 * single domain its own network. Beyond one domain the critical batch rises with the number of
 * nodes by at most (n-1)/n, so an upper bound follows from an unlimited machine. */
static int64_t chips_fed_by_axes(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                                 enum sp_strategy_kind kind)
{
    const struct sp_network *net = &in->hw->network;
    const double B = t->B;
    double most = INFINITY;
    if (net->kind == SP_SWITCHED)
        most = B / critical_of_slice(in, t, kind, net->domain << 40) + (double)net->domain;
    int64_t chips = sp_nearest_chips(net, (int64_t)fmin(most, 1e12), false);
    while (chips > 1 && B / (double)chips < critical_of_slice(in, t, kind, chips))
        chips = sp_nearest_chips(net, chips - 1, false);
    return chips;
}

int64_t sp_chips_fed(const struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t)
{
    if (t->S > 1 || !(s->critical_tokens_per_chip > 0) || isinf(s->critical_tokens_per_chip))
        return 0;
    if (s->kind == SP_DP || s->kind == SP_FSDP)
        return chips_fed_by_axes(in, t, s->kind);
    const double most = floor(t->B / s->critical_tokens_per_chip);
    return most < 1 || most > 1e12 ? 0 : sp_nearest_chips(&in->hw->network, (int64_t)most, false);
}

enum sp_remat sp_remat_to_fit(const struct sp_strategy *s, const struct sp_fit_input *in,
                              const struct sp_fit_terms *t)
{
    struct sp_layers room;
    const struct sp_layers *const layers = sp_layers_of_fit(in, &room);
    const double now = sp_kept_bytes_per_token_layer(layers, s->remat);
    for (int remat = SP_REMAT_NONE; remat < SP_REMATS; remat++) {
        const double bytes = sp_kept_bytes_per_token_layer(layers, (enum sp_remat)remat);
        if (isnan(bytes) || bytes >= now)
            continue;
        struct sp_strategy other = *s;
        other.remat = (enum sp_remat)remat;
        sp_fill_memory(&other, in, t);
        if (other.fits)
            return (enum sp_remat)remat;
    }
    return SP_REMATS;
}
