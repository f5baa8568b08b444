/*
 * Inverse questions of a search: a series of searches from a bound towards the answer.
 *
 * What fits or is fast enough is not monotone in a size: 40 devices divide a batch of 560, 48 do
 * not. So instead of bisection every size from a bound on is tried until one succeeds. If there are
 * thousands, some are skipped, and the answer says which.
 */
#include "study/find.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "host/interrupt.h"
#include "study/nearby.h"

/* Most sizes tried per octave (less if a search takes long), and most bounds computed for it,
 * unless fewer than FEWEST_TRIED would be left. */
#define MOST_TRIED 1024
#define FEWEST_TRIED 64
#define MOST_BOUNDS 1e7

/* Below this many groups per thread, starting threads takes longer than searching. */
enum { GROUPS_A_THREAD = 16384 };

/* Upper limits of the questions. */
#define MOST_DEVICES 4194304.0
#define MOST_SEQUENCES 1e8
#define MOST_THOUSANDS 976562.0 /* 10^9 tokens, as --seq */
#define MOST_LAYERS 1e4

/* Margin for sums of states that are added in another order than a plan's. */
#define STATES_MARGIN 0.98

/* A question; `most` is the largest value tried. */
struct question {
    bool fewest; /* minimise; else maximise */
    double most;
    bool (*change)(struct sp_planned *base, double value);
    double (*bound_of)(const struct sp_finding *f); /* NULL: found by trying powers of two */
};

static const struct sp_planned *given(const struct sp_finding *f)
{
    return &f->of->machine[0]->base;
}

/* Sets devices of one slice: 1 to a node's, whole nodes, or an available size. */
static bool with_devices(struct sp_planned *base, double devices)
{
    base->hw.slices = 1;
    return sp_take_slice(&base->hw, (int64_t)devices);
}

static bool with_batch(struct sp_planned *base, double sequences)
{
    base->plan.batch = (int64_t)sequences;
    return sequences * (double)base->plan.seq <= 1e15;
}

/* Sets the sequence length in units of 1024 tokens; keeps the tokens of the batch if possible. */
static bool with_seq(struct sp_planned *base, double thousands)
{
    const double tokens = (double)base->plan.batch * (double)base->plan.seq;
    base->plan.seq = (int64_t)(1024 * thousands);
    base->plan.batch = (int64_t)fmax(1, exp2(floor(log2(tokens / (double)base->plan.seq))));
    return true;
}

static bool with_layers(struct sp_planned *base, double layers)
{
    if (base->model.moe.dense_layers >= (int64_t)layers)
        base->model.moe.dense_layers = (int64_t)layers - 1;
    base->model.layers = (int64_t)layers;
    return true;
}

static double tokens_of_batch(const struct sp_planned *base)
{
    return (double)base->plan.batch * (double)base->plan.seq;
}

/* Longest acceptable step, in s; INFINITY: no limit. */
static double limit_of(const struct sp_finding *f, const struct sp_planned *base)
{
    return sp_longest_step_s(&given(f)->problem, tokens_of_batch(base));
}

/* Lower bound of a step in device-seconds. */
static double ideal_s(const struct sp_planned *base)
{
    struct sp_step_inputs in = sp_inputs_of(base);
    const struct sp_plan one = {.dp = 1,
                                .tp = 1,
                                .pp = 1,
                                .cp = 1,
                                .seq = base->plan.seq,
                                .batch = base->plan.batch,
                                .dtype = base->plan.dtype};
    in.plan = &one;
    return sp_ideal_step_s(&in);
}

/* Least bytes on all devices together, with one copy of each state; frozen parts have only
 * weights. */
static double states_bytes(const struct sp_planned *base)
{
    const struct sp_params params = sp_count_params(&base->model);
    return STATES_MARGIN * sp_state_bytes(&params, &base->precision) *
           base->framework.framework.reserved_factor;
}

static double fewest_devices(const struct sp_finding *f)
{
    const struct sp_planned *const base = given(f);
    const double share = f->is_about ? 1 - SP_ABOUT : 1; /* of the batch */
    return fmax(1, ceil(fmax(share * ideal_s(base) / limit_of(f, base) * (1 - 1e-9),
                             states_bytes(base) / f->of->machine[0]->space.most_bytes)));
}

static double most_sequences(const struct sp_finding *f)
{
    struct sp_planned one = *given(f);
    one.plan.batch = 1;
    return floor(one.problem.max_step_s * (double)sp_chips(&one.hw) / ideal_s(&one) * (1 + 1e-9));
}

/* Whether this many layers exceed the devices' memory or --max-step. */
static bool is_too_deep(const struct sp_finding *f, double layers)
{
    struct sp_planned deep = *given(f);
    with_layers(&deep, layers);
    const double devices = (double)sp_chips(&deep.hw);
    return states_bytes(&deep) > devices * f->of->machine[0]->space.most_bytes ||
           ideal_s(&deep) * (1 - 1e-9) > devices * limit_of(f, &deep);
}

/* States and arithmetic grow with layers, so bisection works here. */
static double most_layers(const struct sp_finding *f)
{
    double few = 0, many = MOST_LAYERS + 1;
    while (many - few > 1) {
        const double layers = floor((few + many) / 2);
        *(is_too_deep(f, layers) ? &many : &few) = layers;
    }
    return few;
}

static const struct question questions[SP_FINDS] = {
    [SP_FIND_DEVICES] = {true, MOST_DEVICES, with_devices, fewest_devices},
    [SP_FIND_BATCH] = {false, MOST_SEQUENCES, with_batch, most_sequences},
    [SP_FIND_SEQ] = {false, MOST_THOUSANDS, with_seq, NULL},
    [SP_FIND_MODEL] = {false, MOST_LAYERS, with_layers, most_layers},
};

static const struct question *question_of(const struct sp_finding *f)
{
    return &questions[f->what];
}

/* Whether some plan of f->at's problem fits and is fast enough; with `whole`, whether the one that
 * a search puts first is, which is found then. */
static bool has_plan(struct sp_finding *f, bool whole)
{
    struct sp_error ignored = {0};
    struct sp_search_run run = f->of->run;
    run.wanted = 1;
    run.any = !whole;
    run.enough = limit_of(f, &f->at->base);
    /* opening succeeded for the first size; only room for divisors can fail */
    if (!sp_space_of(&f->at->base, &f->of->limits, &f->at->space, &ignored)) {
        f->left_out++;
        return false;
    }
    if (f->is_tight)
        f->at->space.most_bytes =
            sp_limit_of_search(&f->of->limits, &f->at->base, SP_VERDICT_TIGHT);
    if (sp_search_groups(&f->at->space) < GROUPS_A_THREAD)
        run.threads = 1;
    if (whole && f->of->grounded)
        f->at->space.ground = &f->of->machine[0]->ground;
    struct sp_best *const best = &f->at->result.best;
    sp_run_search(&f->at->space, &run, &f->at->result);
    if (best->n == 0)
        return false;
    if (best->grounded)
        sp_put_simplest_first(best);
    f->step_s = best->found[0].step_s;
    f->run_step_s = whole ? sp_run_step_s(f->of, &best->found[0]) : f->step_s;
    return sp_is_in_time(&given(f)->problem, tokens_of_batch(&f->at->base), f->step_s,
                         f->run_step_s);
}

/* The batches that may replace the requested one on f->at's machine. */
static int list_batches(const struct sp_finding *f, struct sp_variant list[SP_MAX_VARIANTS])
{
    const struct sp_planned *const base = &f->at->base;
    const struct sp_asked_batch *const asked = &base->problem.batch;
    const struct sp_tolerance tolerance = {.least = sp_chips(&base->hw),
                                           .batch = base->plan.batch,
                                           .asked = asked->tokens / asked->seq,
                                           .batches = f->is_about};
    if (f->what == SP_FIND_DEVICES)
        return sp_list_variants(&base->hw, &tolerance, list);
    list[0].batch = base->plan.batch;
    return 1;
}

/* Whether the plan that a search of this size puts first fits and is fast enough (without `whole`:
 * whether any plan is), of the first batch for which it is. */
static bool will_do(struct sp_finding *f, double value, bool whole)
{
    struct sp_variant list[SP_MAX_VARIANTS];
    f->at->base = *given(f);
    if (!question_of(f)->change(&f->at->base, value))
        return false;
    f->tried++;
    const int n = list_batches(f, list);
    for (int i = 0; i < n && !sp_was_interrupted(); i++) {
        f->at->base.plan.batch = list[i].batch;
        if (has_plan(f, false) && (!whole || has_plan(f, true)))
            return true;
    }
    return false;
}

/* Affordable number of sizes per octave, by the number of policies per group. */
static double tried_of_an_octave(const struct sp_search_space *space)
{
    static const struct sp_plan any;
    struct sp_recompute ignored;
    double policies = 0;
    for (int i = 0; i < SP_WAYS_TO_RECOMPUTE; i++)
        policies += sp_recompute_at(&space->open, &any, i, &ignored) *
                    (space->open.offload[0] + space->open.offload[1]);
    const double bounds = policies * (double)sp_search_groups(space) / space->n_boxes;
    return exp2(floor(log2(fmax(FEWEST_TRIED, fmin(MOST_TRIED, MOST_BOUNDS / bounds)))));
}

/* Spacing of tried sizes near this value: a power of two times `factor`. */
static double spacing(const struct sp_finding *f, double value, double factor)
{
    return factor * exp2(fmax(0, floor(log2(value / factor / f->half))));
}

static double at_least(double value, double spaces)
{
    return ceil(value / spaces) * spaces;
}

static double at_most(double value, double spaces)
{
    return floor(value / spaces) * spaces;
}

/* The next size to try, at least `value`. */
static double next_up(struct sp_finding *f, double value)
{
    const double next =
        fmin(at_least(value, spacing(f, value, 1)), at_least(value, spacing(f, value, f->odd)));
    f->skipping = f->skipping || next != value;
    return next;
}

static double next_down(struct sp_finding *f, double value)
{
    const double next = value < 1 ? 0
                                  : fmax(at_most(value, spacing(f, value, 1)),
                                         at_most(value, spacing(f, value, f->odd)));
    f->skipping = f->skipping || (value >= 1 && next != value);
    return next;
}

/* The next available machine with at least that many devices; 0: none. */
static double next_machine(struct sp_finding *f, double devices)
{
    const struct sp_network *const net = &given(f)->hw.network;
    const double node = (double)net->domain;
    if (devices > MOST_DEVICES)
        return 0;
    if (net->kind == SP_TORUS || devices <= node)
        return (double)sp_nearest_chips(net, (int64_t)devices, true);
    return node * next_up(f, ceil(devices / node));
}

static double next_size(struct sp_finding *f, double value)
{
    const double next = question_of(f)->fewest ? next_machine(f, value) : next_down(f, value);
    return next > question_of(f)->most ? 0 : next;
}

/* Finds the largest successful powers of two and their odd multiples; the answer is probably at
 * most twice that. */
static void probe(struct sp_finding *f)
{
    const double factors[] = {1, f->odd};
    double largest = 0;
    for (size_t i = 0; i < 2 && (i == 0 || f->odd > 1); i++)
        for (double value = factors[i]; value <= question_of(f)->most && !sp_was_interrupted();
             value *= 2)
            if (will_do(f, value, false))
                largest = fmax(largest, value);
    f->bound = question_of(f)->most;
    if (largest > 0)
        f->probed = f->bound = fmin(question_of(f)->most, 2 * largest);
}

/* The answer; NAN: none. */
static double find(struct sp_finding *f)
{
    const struct sp_planned *const base = given(f);
    const double one = question_of(f)->fewest ? 1 : -1;
    f->half = tried_of_an_octave(&f->of->machine[0]->space);
    f->odd = (double)sp_odd_part(question_of(f)->fewest ? base->plan.batch : sp_chips(&base->hw));
    if (question_of(f)->bound_of)
        f->bound = question_of(f)->fewest ? question_of(f)->bound_of(f)
                                          : fmin(question_of(f)->bound_of(f), question_of(f)->most);
    else
        probe(f);
    for (double value = next_size(f, f->bound);
         value > 0 && !(one > 0 && value >= f->below) && !sp_was_interrupted();
         value = next_size(f, value + one))
        if (will_do(f, value, true))
            return value;
    return NAN;
}

static void answer(struct sp_finding *f)
{
    f->at = sp_must(calloc(1, sizeof *f->at));
    f->value = find(f);
    f->most = question_of(f)->most;
    f->at_the_end = !question_of(f)->fewest && f->value >= f->most;
    f->step = f->what == SP_FIND_SEQ ? 1024 : 1;
    f->all_tried = f->step * (2 * f->half - 1);
    f->value *= f->step;
    f->bound *= f->step;
    f->probed *= f->step;
    f->most *= f->step;
    f->interrupted = sp_was_interrupted();
    f->is_proven =
        !f->interrupted && !f->skipping && f->probed == 0 && f->left_out == 0 && !f->at_the_end;
}

void sp_find_size(const struct sp_search *search, enum sp_find_what what, struct sp_finding *f)
{
    *f = (struct sp_finding){.of = search,
                             .what = what,
                             .is_about = sp_is_free_batch(&search->machine[0]->base.problem.batch),
                             .below = INFINITY};
    answer(f);
}

void sp_find_fitting(const struct sp_search *search, struct sp_finding *f)
{
    *f = (struct sp_finding){.of = search,
                             .what = SP_FIND_DEVICES,
                             .is_about = sp_is_free_batch(&search->machine[0]->base.problem.batch),
                             .is_tight = true,
                             .below =
                                 fmax(512, 16 * (double)sp_chips(&search->machine[0]->base.hw))};
    answer(f);
}

void sp_find_fewer_devices(const struct sp_finding *exact, struct sp_finding *f)
{
    *f = (struct sp_finding){
        .of = exact->of, .what = SP_FIND_DEVICES, .is_about = true, .below = exact->value};
    answer(f);
}

void sp_find_worth_fewer(const struct sp_finding *exact, struct sp_finding *f)
{
    *f = (struct sp_finding){.value = NAN};
    if (exact->what != SP_FIND_DEVICES || exact->is_about || isnan(exact->value) ||
        exact->interrupted)
        return;
    sp_find_fewer_devices(exact, f);
    if (f->value * (1 + SP_WORTH_NAMING) < exact->value)
        return;
    free(f->at);
    *f = (struct sp_finding){.value = NAN};
}
