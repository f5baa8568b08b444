/* The settings that a plan leaves open. */
#include "study/resolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "study/plan_text.h"
#include "study/space.h"

const char *const sp_origin_names[] = {
    "given", "default", "framework's default", "left by the devices", "chosen as search does",
    NULL};

/* Refuses degrees with the number of devices they make, and the machine of that size if there is
 * one. */
static bool refuse_degrees(const struct sp_planned *p, double made, struct sp_error *error)
{
    const int64_t N = sp_chips(&p->hw);
    char instead[96] = "";
    if (made < 1e9 && sp_nearest_chips(&p->hw.network, (int64_t)made, true) == (int64_t)made)
        snprintf(instead, sizeof instead, "; --hw %s-%.0f has them", p->hw.name, made);
    return sp_fail(error, SP_INPUT, "the degrees multiply to %.10g devices, %s has %lld%s", made,
                   p->hw.name, (long long)N, instead);
}

static bool resolve_replicas(const struct sp_said *said, struct sp_planned *p,
                             struct sp_error *error)
{
    struct sp_plan *const plan = &p->plan;
    const int64_t N = sp_chips(&p->hw);
    const int64_t others = plan->tp * plan->pp * plan->cp;
    if (others > N || plan->dp > N / others)
        return refuse_degrees(p, fmax(1, (double)plan->dp) * (double)others, error);
    if (plan->dp == 0 && N % others == 0) {
        plan->dp = N / others;
        p->origin[SP_FIELD_DP] = SP_ORIGIN_DEVICES;
    } else if (plan->dp > 0 && !said->given[SP_FIELD_TP] && N % (plan->dp * others) == 0 &&
               plan->dp * others != N) {
        plan->tp = N / (plan->dp * others);
        p->origin[SP_FIELD_TP] = SP_ORIGIN_DEVICES;
    }
    if (plan->dp > 0 && sp_plan_devices(plan) == N)
        return true;
    return sp_fail(error, SP_INPUT,
                   "tp %lld x pp %lld x cp %lld%s does not %s the %lld devices of %s",
                   (long long)plan->tp, (long long)plan->pp, (long long)plan->cp,
                   plan->dp > 0 ? " x the given dp" : "", plan->dp > 0 ? "make" : "divide",
                   (long long)N, p->hw.name);
}

/* ZeRO stage and shard group. --fsdp with --zero 0 is refused unless it changes nothing: there is
 * nothing to shard. */
static bool resolve_sharding(const struct sp_said *said, struct sp_planned *p,
                             struct sp_error *error)
{
    struct sp_plan *const plan = &p->plan;
    const int64_t all = sp_default_shards(plan, p->hw.slices);
    if (!said->given[SP_FIELD_ZERO]) {
        plan->zero = plan->shards > 0 ? 3 : sp_usual_zero(&p->framework.framework);
        p->origin[SP_FIELD_ZERO] = SP_ORIGIN_FRAMEWORK;
    }
    if (plan->shards == 0) {
        plan->shards = all;
        p->origin[SP_FIELD_SHARDS] = SP_ORIGIN_DEVICES;
    }
    return plan->shards == all || plan->zero > 0 ||
           sp_fail(error, SP_INPUT, "--fsdp %lld: with --zero 0 nothing is sharded",
                   (long long)plan->shards);
}

enum sp_schedule sp_schedule_left_open(const struct sp_repertoire *runs, int64_t pp, int64_t vpp)
{
    const enum sp_schedule usual = sp_usual_schedule(vpp);
    for (int i = 0; i < SP_SCHEDULES && pp > 1 && !runs->schedule[usual]; i++)
        if (runs->schedule[i] && sp_schedules[i].divided && sp_schedules[i].chunked == (vpp > 1))
            return (enum sp_schedule)i;
    return usual;
}

static void resolve_schedule(const struct sp_said *said, struct sp_planned *p)
{
    if (said->given[SP_FIELD_SCHEDULE])
        return;
    p->plan.schedule = sp_schedule_left_open(said->runs, p->plan.pp, p->plan.vpp);
    p->origin[SP_FIELD_SCHEDULE] = SP_ORIGIN_FRAMEWORK;
}

bool sp_resolve_degrees(const struct sp_said *said, struct sp_planned *p, struct sp_error *error)
{
    struct sp_plan *const plan = &p->plan;
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const bool of_execution = i >= SP_FIELD_DISPATCH && i <= SP_FIELD_CP_KIND;
        p->origin[i] = said->given[i]                    ? SP_ORIGIN_GIVEN
                       : of_execution || said->is_launch ? SP_ORIGIN_FRAMEWORK
                                                         : SP_ORIGIN_DEFAULT;
    }
    if (!resolve_replicas(said, p, error) || !resolve_sharding(said, p, error))
        return false;
    resolve_schedule(said, p);
    if (!said->given[SP_FIELD_ETP])
        plan->etp = said->is_launch ? 1 : sp_usual_etp(&p->model, plan->tp, plan->ep);
    if (!said->given[SP_FIELD_SP])
        plan->sequence_parallel = said->runs->sequence_parallel[1] || said->is_launch;
    plan->sequence_parallel = plan->sequence_parallel && plan->tp > 1;
    if (plan->micro_batch == 0)
        plan->micro_batch = 1;
    return true;
}

bool sp_opens_micro_batch(const struct sp_said *said, const struct sp_plan *plan)
{
    return !said->given[SP_FIELD_MICRO] && !said->is_launch && plan->batch / plan->dp > 1;
}

/* Plans with as many of two extras, recomputed modules and offload: see sp_plan_complexity. */
enum { EXTRAS = 3 };

/* A plan with its worth. */
struct tried {
    struct sp_plan plan;
    double bytes, doubt;
    double value; /* NAN: not worked out, as of what is too large and of a plan without rivals */
    bool exists;
};

/* The plans between which a resolver chooses. */
struct choosing {
    const struct sp_said *said;
    const struct sp_planned *p;
    const struct sp_layers *layers;
    const struct sp_stage_map *map; /* of all of them */
    struct sp_dimensions open;
    double limit[2];              /* bytes: with memory to spare, and tightly */
    struct tried best[2][EXTRAS]; /* below each limit */
    struct tried least;           /* of memory */
    struct sp_plan plan;          /* being tried */
    double doubt;                 /* of its micro-batch, with the next two */
    struct sp_rank_layers *mine;
    struct sp_prepared_memory *memory; /* of its micro-batch */
    struct sp_kind_memory *kinds;
    int n_enough; /* recomputations without offload whose plans fit with memory to spare */
    struct sp_recompute enough[SP_WAYS_TO_RECOMPUTE];
};

static bool is_better(const struct tried *one, const struct tried *other)
{
    return !other->exists || one->value < other->value;
}

/* Whether a recomputation repeats at least what another does. */
static bool repeats_as_much(const struct sp_recompute *r, const struct sp_recompute *than)
{
    return r->qkv >= than->qkv && r->core >= than->core && r->out >= than->out &&
           r->up >= than->up && r->down >= than->down && r->grouped >= than->grouped &&
           r->norms >= than->norms && (r->modules & than->modules) == than->modules;
}

/* Whether a recomputation that repeats less, and moves nothing to the host, fits with memory to
 * spare: more work makes no plan faster or simpler. Weight gradients that fill a pipeline's gaps
 * are another matter. */
static bool repeats_more_than_enough(const struct choosing *c)
{
    const bool fills = c->plan.pp > 1 && sp_schedules[c->plan.schedule].splits_weight;
    for (int i = 0; i < c->n_enough && !fills; i++)
        if (repeats_as_much(&c->plan.recompute, &c->enough[i]))
            return true;
    return false;
}

static bool any_exists(const struct tried best[EXTRAS])
{
    bool any = false;
    for (int i = 0; i < EXTRAS; i++)
        any = any || best[i].exists;
    return any;
}

/* Whether a plan of these bytes is out of the question whatever its time: if any plan fits, one
 * that fits is taken. */
static bool is_too_large(const struct choosing *c, double bytes)
{
    for (int i = 0; i < 2; i++)
        if (any_exists(c->best[i]))
            return bytes > c->limit[i];
    return c->least.exists && bytes > c->limit[1] && bytes > c->least.bytes;
}

static double value_of(const struct choosing *c, const struct sp_step_inputs *inputs,
                       const struct tried *tried)
{
    struct sp_step_inputs in = *inputs;
    struct sp_rank_layers mine;
    in.plan = &tried->plan;
    sp_layers_on_rank(c->layers, in.plan, in.framework, &mine);
    return sp_step_on_stages_s(&in, &mine, c->map) * tried->doubt;
}

/* Works out the plan's value if another fits already, and then the other's too: most problems have
 * one plan that fits, which needs none. */
static void value_rivals(struct choosing *c, const struct sp_step_inputs *in, struct tried *tried)
{
    double first = NAN;
    if (!any_exists(c->best[1]))
        return;
    for (int i = 0; i < 2 * EXTRAS; i++) {
        struct tried *const t = &c->best[i / EXTRAS][i % EXTRAS];
        if (!t->exists || !isnan(t->value))
            continue;
        if (isnan(first)) /* all copies without a value are of the one that came first */
            first = value_of(c, in, t);
        t->value = first;
    }
    tried->value = sp_step_on_stages_s(in, c->mine, c->map) * c->doubt;
}

/* Keeps a plan that does not fit if it needs the least memory; equal ones differ by time. */
static void keep_least(struct choosing *c, const struct sp_step_inputs *in,
                       const struct tried *tried)
{
    if (!c->least.exists || tried->bytes < c->least.bytes ||
        (tried->bytes == c->least.bytes && value_of(c, in, tried) < value_of(c, in, &c->least)))
        c->least = *tried;
}

/* Keeps a plan that fits if it is the best of its kind. */
static void keep(struct choosing *c, const struct tried *tried)
{
    const struct sp_recompute *const r = &tried->plan.recompute;
    const int extras = (r->modules != 0) + r->offload;
    for (int i = 0; i < 2; i++)
        if (tried->bytes <= c->limit[i] && is_better(tried, &c->best[i][extras]))
            c->best[i][extras] = *tried;
    if (tried->bytes <= c->limit[0] && sp_offloaded_share(&c->p->model, &tried->plan) == 0)
        c->enough[c->n_enough++] = *r;
}

static void try_plan(struct choosing *c)
{
    struct sp_step_inputs in = sp_inputs_of(c->p);
    struct sp_stage_memory m;
    if (repeats_more_than_enough(c))
        return;
    in.plan = &c->plan;
    in.layers = c->layers;
    sp_recompute_memory(&c->plan, in.framework, c->map, c->memory, c->kinds);
    sp_fullest_beside(&in, c->map, c->kinds, NULL, &m);
    struct tried tried = {.plan = c->plan,
                          .bytes = (double)m.device,
                          .doubt = c->doubt,
                          .value = NAN,
                          .exists = true};
    if (is_too_large(c, tried.bytes))
        return;
    if (tried.bytes > c->limit[1]) {
        keep_least(c, &in, &tried);
        return;
    }
    value_rivals(c, &in, &tried);
    keep(c, &tried);
}

/* The best of everything that may be kept, recomputed or moved, with memory to spare if any has. */
static void try_kept(struct choosing *c)
{
    const bool *const given = c->said->given;
    struct sp_step_inputs in = sp_inputs_of(c->p);
    struct sp_kept_found found;
    struct sp_dimensions open = c->open;
    open.n_modules = sp_module_sets(&c->p->model, &c->said->runs->modules, open.modules);
    struct sp_kept_space space = sp_kept_space_of(&open, c->said->runs, c->said->open_away);
    space.is_given = given[SP_FIELD_REMAT] || given[SP_FIELD_MODULES];
    if (given[SP_FIELD_OPTIMIZER_OFFLOAD])
        space.optimizer_parts = 0;
    in.plan = &c->plan;
    in.layers = c->layers;
    for (int i = 0; i < 2; i++) {
        if (!sp_choose_kept(&in, &space, c->limit[i], &found))
            continue;
        struct tried tried = {.plan = c->plan,
                              .bytes = found.device_bytes,
                              .doubt = c->doubt,
                              .value = found.step_s * c->doubt,
                              .exists = true};
        tried.plan.recompute = found.recompute;
        tried.plan.optimizer_away = found.optimizer_away;
        keep(c, &tried);
        return;
    }
}

/* Whether the run itself says that the exchange hides or not: then that is not questioned. */
static bool says_overlap(const struct sp_said *said)
{
    return said->given[SP_FIELD_MOE_OVERLAP] || said->is_launch;
}

/* Policies and sets of modules. --remat is meant without modules, and modules without it. */
static void try_recomputations(struct choosing *c)
{
    const bool *const given = c->said->given;
    const struct sp_recompute typed = c->plan.recompute;
    const bool moves = given[SP_FIELD_OFFLOAD] || given[SP_FIELD_OFFLOAD_LAYERS] ||
                       given[SP_FIELD_OFFLOAD_MODULES];
    if (c->said->open_modules || c->said->open_away)
        try_kept(c);
    if (given[SP_FIELD_REMAT] || given[SP_FIELD_MODULES]) {
        if (says_overlap(c->said) || sp_may_recompute(&c->plan, &typed))
            try_plan(c);
        return;
    }
    for (int at = 0; at < SP_WAYS_TO_RECOMPUTE; at++)
        for (int offload = 0; offload < 2; offload++) {
            if (!sp_recompute_at(&c->open, &c->plan, at, &c->plan.recompute) ||
                (moves || c->said->is_launch ? offload != typed.offload
                                             : !c->open.offload[offload]))
                continue;
            c->plan.recompute.offload = offload;
            c->plan.recompute.away = typed.away;
            try_plan(c);
        }
    c->plan.recompute = typed;
}

/* Most sequences of a micro-batch whose residual stream alone, at a byte per number, is in the
 * memory: more need not be tried. At least 1. */
static double most_sequences(const struct choosing *c)
{
    const struct sp_plan *const p = &c->plan;
    const double width = sp_positions_per_token(&c->p->model) * (double)c->p->model.d_model /
                         (double)(p->tp * p->cp);
    return fmax(1, sp_capacity_bytes(&c->p->hw.chip) / fmax(1, (double)p->seq * width));
}

/* Whether the schedule takes a replica's share of the batch in micro-batches of that size. */
static bool takes_micro(const struct choosing *c, int64_t share, int64_t micro)
{
    return share % micro == 0 &&
           (c->plan.vpp == 1 || sp_takes_rounds(c->open.rounds, share / micro, c->plan.pp));
}

static void try_micro_batches(struct choosing *c)
{
    const struct sp_framework *const framework = &c->p->framework.framework;
    const int64_t share = c->plan.batch / c->plan.dp;
    const int64_t most = (int64_t)fmin((double)share, most_sequences(c));
    const bool open = sp_opens_micro_batch(c->said, &c->plan);
    const int64_t typed = c->plan.micro_batch;
    bool any_takes = false;
    for (int64_t micro = 1; open && micro <= most && !any_takes; micro++)
        any_takes = takes_micro(c, share, micro);
    for (int64_t micro = 1; micro <= (open ? most : 1); micro++) {
        if (open && (any_takes ? !takes_micro(c, share, micro) : share % micro != 0))
            continue;
        c->plan.micro_batch = open ? micro : typed;
        if (sp_check_plan(&c->p->model, &c->plan, sp_chips(&c->p->hw), c->p->hw.slices) !=
            SP_PLAN_OK)
            continue;
        c->n_enough = 0;
        sp_layers_on_rank(c->layers, &c->plan, framework, c->mine);
        sp_prepare_memory(c->mine, &c->plan, framework, c->memory);
        sp_memory_of_kinds(framework, c->memory, c->map, c->kinds);
        const struct sp_place place = sp_place_of(&c->p->model, &c->p->hw, &c->plan);
        c->doubt = open && c->said->ground ? sp_doubt(sp_octaves_away(c->said->ground, &place)) : 1;
        try_recomputations(c);
    }
    c->plan.micro_batch = typed;
}

/* Whether a value of a name may be tried: the given one, else each that is open, else its own. */
static bool may_try(const struct choosing *c, enum sp_plan_field_id field, const bool *open,
                    bool counts, int value, int own)
{
    const bool fixed = c->said->given[field] || c->said->is_launch || !counts;
    return fixed ? value == own : open[value];
}

/* The exchange of a single micro-batch cannot overlap. */
static void try_executions(struct choosing *c)
{
    const struct sp_execution own = c->plan.execution;
    const bool exchanges = c->plan.ep > 1, rings = c->plan.cp > 1;
    struct sp_overlap_limits limits = c->open.overlap;
    if (!c->said->given[SP_FIELD_VPP]) /* a run that does not name its chunks may have several */
        limits.in_chunks = false;
    for (int kind = 0; kind < SP_CP_KINDS; kind++)
        for (int dispatch = 0; dispatch < SP_DISPATCHES; dispatch++)
            for (int overlap = 0; overlap < 2; overlap++) {
                struct sp_execution *const e = &c->plan.execution;
                e->cp_kind = (enum sp_cp_kind)kind;
                e->dispatch = (enum sp_dispatch)dispatch;
                e->moe_overlap = overlap;
                if (may_try(c, SP_FIELD_CP_KIND, c->open.cp_kind, rings, kind, (int)own.cp_kind) &&
                    may_try(c, SP_FIELD_DISPATCH, c->open.dispatch, exchanges, dispatch,
                            (int)own.dispatch) &&
                    may_try(c, SP_FIELD_MOE_OVERLAP, c->open.moe_overlap, exchanges, overlap,
                            own.moe_overlap) &&
                    (says_overlap(c->said) || sp_may_overlap(&limits, &c->plan)) &&
                    (!rings || sp_cp_divides(&c->p->model, &c->plan, c->open.copies_kv_heads)))
                    try_micro_batches(c);
            }
}

/* The plan of least value below a limit, or a simpler one that is as good. */
static const struct tried *simplest(const struct tried best[EXTRAS])
{
    const struct tried *first = NULL;
    for (int i = 0; i < EXTRAS; i++)
        if (best[i].exists && (!first || best[i].value < first->value))
            first = &best[i];
    for (int i = 0; first && i < EXTRAS; i++)
        if (best[i].exists && best[i].value <= SP_SIMPLER * first->value)
            return &best[i];
    return first;
}

/* Marks the fields that were chosen, as far as the plan has them. */
static void mark_chosen(const struct sp_said *said, struct sp_planned *p)
{
    static const enum sp_plan_field_id settings[] = {SP_FIELD_DISPATCH, SP_FIELD_MOE_OVERLAP,
                                                     SP_FIELD_CP_KIND};
    const bool policy = !said->given[SP_FIELD_REMAT] && !said->given[SP_FIELD_MODULES];
    const bool moves = said->given[SP_FIELD_OFFLOAD] || said->given[SP_FIELD_OFFLOAD_LAYERS] ||
                       said->given[SP_FIELD_OFFLOAD_MODULES];
    if (sp_opens_micro_batch(said, &p->plan))
        p->origin[SP_FIELD_MICRO] = SP_ORIGIN_CHOSEN;
    if (policy)
        p->origin[SP_FIELD_REMAT] = p->origin[SP_FIELD_MODULES] = SP_ORIGIN_CHOSEN;
    if (said->open_away)
        p->origin[SP_FIELD_OFFLOAD] = p->origin[SP_FIELD_OFFLOAD_MODULES] =
            p->origin[SP_FIELD_OPTIMIZER_OFFLOAD] = SP_ORIGIN_CHOSEN;
    if (policy && !moves && !said->is_launch)
        p->origin[SP_FIELD_OFFLOAD] = SP_ORIGIN_CHOSEN;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && !said->is_launch; i++)
        if (!said->given[settings[i]] && sp_has_effect(&p->plan, settings[i]))
            p->origin[settings[i]] = SP_ORIGIN_CHOSEN;
}

void sp_resolve_settings(const struct sp_said *said, struct sp_planned *p)
{
    const struct sp_framework *const f = &p->framework.framework;
    const double capacity = sp_capacity_bytes(&p->hw.chip);
    struct sp_layers room;
    struct sp_stage_map map;
    struct sp_rank_layers mine;
    struct sp_prepared_memory memory;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    struct choosing c; /* its plans are large: each is set where it exists */
    c.said = said;
    c.p = p;
    c.layers = p->layers ? p->layers : &room;
    c.map = &map;
    c.mine = &mine;
    c.memory = &memory;
    c.kinds = kinds;
    c.plan = p->plan;
    c.limit[0] = sp_most_bytes(f->memory_residual, capacity, SP_VERDICT_YES);
    c.limit[1] = sp_most_bytes(f->memory_residual, capacity, SP_VERDICT_TIGHT);
    c.least.exists = false;
    for (int i = 0; i < 2 * EXTRAS; i++)
        c.best[i / EXTRAS][i % EXTRAS].exists = false;
    const struct sp_stage_split split = sp_split_of(&p->plan, (enum sp_balance)f->balance);
    if (!p->layers)
        sp_list_model(&p->model, &room);
    sp_map_stages(&p->model, &split, &map);
    sp_open_dimensions(p, said->runs, said->any, &c.open);
    try_executions(&c);
    const struct tried *found = simplest(c.best[0]);
    if (!found)
        found = simplest(c.best[1]);
    if (!found && c.least.exists)
        found = &c.least;
    if (found)
        p->plan = found->plan;
    mark_chosen(said, p);
}
