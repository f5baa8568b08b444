/* search --find: the inverse questions, each a row of searches from a bound towards the answer.
 *
 * What fits or is fast enough is not monotone in a size: 40 devices divide a batch of 560 that 48
 * do not. So nothing is bisected. Every size from a bound on is tried until one will do; only where
 * there are thousands of them some are left out, and the answer says which. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/interrupt.h"
#include "commands/search_report.h"
#include "commands/step_report.h"

/* Of an octave of sizes at most twice so many are tried, the fewer the longer a search takes; at
 * most so many bounds are computed for it, where that leaves as many as FEWEST_TRIED. */
#define MOST_TRIED 1024
#define FEWEST_TRIED 64
#define MOST_BOUNDS 1e7

/* Waking threads takes longer than looking through so few groups. */
enum { GROUPS_A_THREAD = 16384 };

/* Largest values of the questions. */
#define MOST_DEVICES 4194304.0
#define MOST_SEQUENCES 1e8
#define MOST_THOUSANDS 976562.0 /* 10^9 tokens, as --seq */
#define MOST_LAYERS 1e4

/* What a count of states may be off, being added up in another way than a plan's. */
#define STATES_MARGIN 0.98

struct finding {
    struct sp_searching *s;
    const struct question *asked;
    struct sp_candidate *at; /* what is tried */
    double step_s;           /* the best one's there */
    double max_step_s, deadline_days, tokens;
    double half;   /* sizes below twice this are all tried; beyond, so many of an octave at least */
    double odd;    /* factor that multiples are tried of, too */
    double bound;  /* no answer is beyond it */
    double probed; /* beyond it only powers of two were tried; 0: was not needed */
    int tried;
    int left_out;  /* sizes that could not be searched */
    bool skipping; /* not every size was tried */
};

/* A question: an answer is a whole number of `units`. */
struct question {
    const char *name, *unit, *way;
    const char *beyond; /* why no answer is beyond the bound */
    bool fewest;        /* else the most */
    bool max_step;      /* --max-step (or --deadline) bounds the answer and must be given */
    double scale;       /* of the value to the answer's unit */
    double most;
    bool (*change)(const struct finding *f, struct sp_planned *base, double value);
    double (*bound_of)(const struct finding *f); /* NULL: found by trying powers of two */
};

static const struct sp_planned *given(const struct finding *f)
{
    return &f->s->machine[0]->base;
}

/* Devices, of one slice: 1 to a node's, whole nodes, or what is on offer. */
static bool with_devices(const struct finding *f, struct sp_planned *base, double devices)
{
    (void)f;
    base->hw.slices = 1;
    return sp_take_slice(&base->hw, (int64_t)devices);
}

static bool with_batch(const struct finding *f, struct sp_planned *base, double sequences)
{
    (void)f;
    base->plan.batch = (int64_t)sequences;
    return sequences * (double)base->plan.seq <= 1e15;
}

/* Sequences in steps of 1024 tokens; the batch keeps its tokens where it can. */
static bool with_seq(const struct finding *f, struct sp_planned *base, double thousands)
{
    const double tokens = (double)base->plan.batch * (double)base->plan.seq;
    (void)f;
    base->plan.seq = (int64_t)(1024 * thousands);
    base->plan.batch = (int64_t)fmax(1, exp2(floor(log2(tokens / (double)base->plan.seq))));
    return true;
}

static bool with_layers(const struct finding *f, struct sp_planned *base, double layers)
{
    (void)f;
    if (base->model.moe.dense_layers >= (int64_t)layers)
        base->model.moe.dense_layers = (int64_t)layers - 1;
    base->model.layers = (int64_t)layers;
    return true;
}

/* The longest step that is fast enough; INFINITY: any. s */
static double limit_of(const struct finding *f, const struct sp_planned *base)
{
    const double tokens = (double)base->plan.batch * (double)base->plan.seq;
    return fmin(isnan(f->max_step_s) ? INFINITY : f->max_step_s,
                isnan(f->deadline_days) ? INFINITY : f->deadline_days * 86400 * tokens / f->tokens);
}

/* Device-seconds that no step of it is below. */
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

/* Bytes that all devices together hold at least, when each state is there once. */
static double states_bytes(const struct sp_planned *base)
{
    return STATES_MARGIN * sp_count_params(&base->model).total *
           sp_state_bytes_per_param(&base->precision) * base->framework.framework.reserved_factor;
}

static double fewest_devices(const struct finding *f)
{
    const struct sp_planned *const base = given(f);
    return fmax(1, ceil(fmax(ideal_s(base) / limit_of(f, base) * (1 - 1e-9),
                             states_bytes(base) / f->s->machine[0]->space.most_bytes)));
}

static double most_sequences(const struct finding *f)
{
    struct sp_planned one = *given(f);
    one.plan.batch = 1;
    return floor(f->max_step_s * (double)sp_chips(&one.hw) / ideal_s(&one) * (1 + 1e-9));
}

/* Whether so many layers are too many for the devices' memory or for --max-step. */
static bool is_too_deep(const struct finding *f, double layers)
{
    struct sp_planned deep = *given(f);
    with_layers(f, &deep, layers);
    const double devices = (double)sp_chips(&deep.hw);
    return states_bytes(&deep) > devices * f->s->machine[0]->space.most_bytes ||
           ideal_s(&deep) * (1 - 1e-9) > devices * limit_of(f, &deep);
}

/* States and arithmetic grow with every layer: here halves are right. */
static double most_layers(const struct finding *f)
{
    double few = 0, many = MOST_LAYERS + 1;
    while (many - few > 1) {
        const double layers = floor((few + many) / 2);
        *(is_too_deep(f, layers) ? &many : &few) = layers;
    }
    return few;
}

static const struct question questions[] = {
    {"devices", "devices", "up",
     "fewer cannot hold the training state, or would be too slow at full peak", true, true, 1,
     MOST_DEVICES, with_devices, fewest_devices},
    {"batch", "sequences", "down", "more would take longer than --max-step at full peak", false,
     true, 1, MOST_SEQUENCES, with_batch, most_sequences},
    {"seq", "tokens", "down", NULL, false, false, 1024, MOST_THOUSANDS, with_seq, NULL},
    {"model", "layers", "down",
     "the training state of more does not fit, or they would be too slow at full peak", false,
     false, 1, MOST_LAYERS, with_layers, most_layers},
};

/* Whether the size has a plan that fits and is fast enough. `whole`: its best step, too. */
static bool will_do(struct finding *f, double value, bool whole)
{
    struct sp_error ignored = {0};
    struct sp_search_run run = f->s->run;
    f->at->base = *given(f);
    run.wanted = 1;
    run.any = !whole;
    run.enough = limit_of(f, &f->at->base);
    if (!f->asked->change(f, &f->at->base, value))
        return false;
    if (run.any)
        run.enough = limit_of(f, &f->at->base);
    f->tried += run.any;
    /* the options were read before: what can fail is the room for divisors */
    if (!sp_space_of(f->s->args, &f->at->base, &f->at->space, &ignored)) {
        f->left_out++;
        return false;
    }
    if (sp_search_groups(&f->at->space) < GROUPS_A_THREAD)
        run.threads = 1;
    sp_run_search(&f->at->space, &run, &f->at->result);
    if (f->at->result.best.n == 0)
        return false;
    f->step_s = f->at->result.best.found[0].step_s;
    return true;
}

static double odd_part(int64_t n)
{
    while (n > 0 && n % 2 == 0)
        n /= 2;
    return (double)n;
}

/* How many sizes are affordable, going by the policies that each group of plans is bounded for. */
static double tried_of_an_octave(const struct sp_search_space *space)
{
    double policies = 0;
    for (int i = 0; i < SP_POLICIES; i++)
        policies += space->policy[i] * (space->offload[0] + space->offload[1]);
    const double bounds = policies * (double)sp_search_groups(space) / space->n_boxes;
    return exp2(floor(log2(fmax(FEWEST_TRIED, fmin(MOST_TRIED, MOST_BOUNDS / bounds)))));
}

/* What tried sizes near this value are multiples of: a power of two, times `factor`. */
static double spacing(const struct finding *f, double value, double factor)
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

/* The next size to try, `value` or beyond it. */
static double next_up(struct finding *f, double value)
{
    const double next =
        fmin(at_least(value, spacing(f, value, 1)), at_least(value, spacing(f, value, f->odd)));
    f->skipping = f->skipping || next != value;
    return next;
}

static double next_down(struct finding *f, double value)
{
    const double next = value < 1 ? 0
                                  : fmax(at_most(value, spacing(f, value, 1)),
                                         at_most(value, spacing(f, value, f->odd)));
    f->skipping = f->skipping || (value >= 1 && next != value);
    return next;
}

/* The next machine of at least so many devices; 0: none. */
static double next_machine(struct finding *f, double devices)
{
    const struct sp_network *const net = &given(f)->hw.network;
    const double node = (double)net->domain;
    if (devices > MOST_DEVICES)
        return 0;
    if (net->kind == SP_TORUS || devices <= node)
        return (double)sp_nearest_chips(net, (int64_t)devices, true);
    return node * next_up(f, ceil(devices / node));
}

static double next_size(struct finding *f, double value)
{
    const double next = f->asked->fewest ? next_machine(f, value) : next_down(f, value);
    return next > f->asked->most ? 0 : next;
}

/* How far powers of two go, and the odd factor's: at most twice that is the answer, as far as they
 * tell. */
static void probe(struct finding *f)
{
    const double factors[] = {1, f->odd};
    double largest = 0;
    for (size_t i = 0; i < 2 && (i == 0 || f->odd > 1); i++)
        for (double value = factors[i]; value <= f->asked->most && !sp_was_interrupted();
             value *= 2)
            if (will_do(f, value, false))
                largest = fmax(largest, value);
    f->bound = f->asked->most;
    if (largest > 0)
        f->probed = f->bound = fmin(f->asked->most, 2 * largest);
}

/* The value of the answer; NAN: none. No bisection: fitting and speed are not monotone in a size,
 * because divisors decide. Every size is tried from a bound that no plan can pass. */
static double find(struct finding *f)
{
    const struct sp_planned *const base = given(f);
    const double one = f->asked->fewest ? 1 : -1;
    f->half = tried_of_an_octave(&f->s->machine[0]->space);
    f->odd = odd_part(f->asked->fewest ? base->plan.batch : sp_chips(&base->hw));
    if (f->asked->bound_of)
        f->bound =
            f->asked->fewest ? f->asked->bound_of(f) : fmin(f->asked->bound_of(f), f->asked->most);
    else
        probe(f);
    for (double value = next_size(f, f->bound); value > 0 && !sp_was_interrupted();
         value = next_size(f, value + one))
        if (will_do(f, value, false) && will_do(f, value, true))
            return value;
    return NAN;
}

/* Where a better answer may be, if anywhere. */
static void note_left_out(const struct finding *f, bool at_the_end)
{
    const struct question *const q = f->asked;
    struct sp_report *const r = f->s->report;
    char odd[64] = "";
    if (f->odd > 1)
        snprintf(odd, sizeof odd, " (or %.0f times one)", f->odd);
    if (sp_was_interrupted())
        sp_note(r, "interrupted: not all sizes were tried");
    else if (f->skipping)
        sp_note(r,
                "every size up to %.0f %s was tried, and beyond it multiples of a power of two%s, "
                "at most 1/%.0f of the size apart: one between may be %s",
                (2 * f->half - 1) * q->scale, q->fewest ? "nodes" : q->unit, odd, f->half,
                q->fewest ? "enough too" : "possible too");
    if (q->scale > 1)
        sp_note(r, "sizes are tried in steps of %.0f %s", q->scale, q->unit);
    if (f->probed > 0 && f->probed < q->most)
        sp_note(r, "above %.0f %s only powers of two%s were tried; none of them will do",
                f->probed * q->scale, q->unit, odd);
    if (f->left_out > 0)
        sp_note(r, "%d sizes were left out: they have more divisors than a search has room for",
                f->left_out);
    if (at_the_end)
        sp_note(r, "no more than %.0f %s were looked at", q->most * q->scale, q->unit);
}

static void put_proof(struct finding *f, double value)
{
    struct sp_report *const r = f->s->report;
    const bool at_the_end = !f->asked->fewest && value >= f->asked->most;
    sp_put_bool(r, SP_Q_SEARCH_PARTIAL, sp_was_interrupted());
    sp_put_bool(r, SP_Q_SEARCH_PROVEN,
                !sp_was_interrupted() && !f->skipping && f->probed == 0 && f->left_out == 0 &&
                    !at_the_end);
    note_left_out(f, at_the_end);
}

static void put_lines(const struct finding *f, bool found)
{
    const struct question *const q = f->asked;
    struct sp_report *const r = f->s->report;
    if (found)
        sp_line(r,
                "find       %s: {answer!} %s (step {answer_step_s}%s, {answer_params} parameters)",
                q->name, q->unit, isnan(f->tokens) ? "" : ", {answer_days} days for the tokens");
    else if (sp_was_interrupted())
        sp_line(r, "find       %s: not known", q->name);
    else
        sp_line(r, "find       %s: none of the sizes tried has a plan that fits and is fast enough",
                q->name);
    sp_line(r, "looked at  {tried} sizes%s from %.0f %s %s%s%s",
            q->bound_of ? "" : ", one after the other", f->bound * q->scale, q->unit, q->way,
            q->beyond ? "; " : "", q->beyond ? q->beyond : "");
}

/* The machine of the answer as --hw names it; "": a file, which has no name to type. */
static void name_machine(struct finding *f)
{
    const char *const typed = f->s->machine[0]->hw;
    if (!f->asked->fewest)
        snprintf(f->at->hw, sizeof f->at->hw, "%s", typed);
    else if (strchr(typed, '/') || strstr(typed, ".json") || strcmp(typed, "-") == 0)
        f->at->hw[0] = '\0';
    else
        snprintf(f->at->hw, sizeof f->at->hw, "%.100s-%lld", f->at->base.hw.name,
                 (long long)sp_chips(&f->at->base.hw));
}

/* What the answer changed in the model. */
static void add_changes(const struct finding *f, struct sp_words *words)
{
    const struct sp_model *const before = &given(f)->model, *const now = &f->at->base.model;
    if (now->layers != before->layers) {
        sp_add_word(words, "--set");
        sp_add_word(words, "model.layers=%lld", (long long)now->layers);
    }
    if (now->moe.dense_layers != before->moe.dense_layers) {
        sp_add_word(words, "--set");
        sp_add_word(words, "model.moe.dense_layers=%lld", (long long)now->moe.dense_layers);
    }
}

/* The best plan of the size that was found. */
static void put_plan(struct finding *f)
{
    const struct sp_found *const best = &f->at->result.best.found[0];
    struct sp_planned planned;
    struct sp_estimate e;
    struct sp_words words;
    sp_planned_of(&f->at->base, best, &planned);
    sp_estimate_planned(&planned, f->s->convention, &e);
    sp_put_named_plan(f->s, &planned, &e);
    name_machine(f);
    if (f->at->hw[0] == '\0')
        return;
    sp_step_words(f->s, f->at, best, &words);
    add_changes(f, &words);
    sp_put_command(f->s->report, &words);
    sp_line(f->s->report, "repeat     {command!}");
}

static void put_answer(struct finding *f, double value)
{
    const struct question *const q = f->asked;
    struct sp_report *const r = f->s->report;
    const struct sp_planned *const base = &f->at->base;
    const double batch_tokens = (double)base->plan.batch * (double)base->plan.seq;
    const bool found = !isnan(value);
    sp_put_text(r, SP_Q_FIND_WHAT, "%s", q->name);
    sp_put(r, SP_Q_FIND_VALUE, value * q->scale);
    sp_put(r, SP_Q_FIND_TRIED, f->tried);
    sp_put(r, SP_Q_FIND_STEP, found ? f->step_s : NAN);
    sp_put(r, SP_Q_FIND_DAYS, found ? f->tokens / batch_tokens * f->step_s / 86400 : NAN);
    sp_put(r, SP_Q_FIND_PARAMS, found ? sp_count_params(&base->model).total : NAN);
    if (found || !sp_was_interrupted())
        sp_put_bool(r, SP_Q_SEARCH_FITS, found);
    else
        sp_put_null(r, SP_Q_SEARCH_FITS);
    put_proof(f, value);
    put_lines(f, found);
    if (found)
        put_plan(f);
    if (strcmp(q->name, "devices") == 0 || strcmp(q->name, "model") == 0)
        sp_note_batch(r, given(f));
}

bool sp_report_find(struct sp_searching *s, struct sp_error *error)
{
    struct finding f = {.s = s,
                        .asked = &questions[s->args->value.find],
                        .at = calloc(1, sizeof *f.at),
                        .max_step_s = s->args->value.max_step,
                        .deadline_days = s->args->value.deadline,
                        .tokens = s->args->value.tokens};
    if (!f.at)
        abort();
    bool ok = true;
    const bool devices = f.asked->fewest;
    if (f.asked->max_step && isnan(f.max_step_s) && (!devices || isnan(f.deadline_days)))
        ok = sp_fail(error, SP_USAGE, "--find %s needs --max-step%s", f.asked->name,
                     devices ? ", or --deadline with --tokens" : "");
    if (ok)
        put_answer(&f, find(&f));
    free(f.at);
    return ok;
}
