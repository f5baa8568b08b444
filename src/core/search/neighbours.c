/* Plans one change away from a plan, and those that make it fit. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "core/require.h"
#include "core/search/search_internal.h"
#include "core/step/step_internal.h"

struct listing {
    const struct sp_step_inputs *in;
    const struct sp_repertoire *runs;   /* NULL: any */
    const struct sp_settling *settling; /* NULL: none */
    struct sp_neighbour *found;
    size_t n, room;
    bool only_fitting;
};

static bool is_valid(const struct listing *l, const struct sp_plan *plan)
{
    const int64_t devices = sp_chips(l->in->hw), slices = l->in->hw->slices;
    return sp_check_plan(l->in->model, plan, devices, slices) == SP_PLAN_OK &&
           sp_companions_take(l->in->model->tuning.companions, plan, devices, slices);
}

/* Index of the plan's policy; -1 if it matches none, as in some measured runs. */
static int policy_of(const struct sp_plan *plan)
{
    const double policy = sp_plan_value(plan, &sp_plan_fields[SP_FIELD_REMAT]);
    return isnan(policy) ? -1 : (int)policy;
}

/* Chooses a schedule that the framework supports if a changed pipeline needs another; false if
 * there is none. */
static bool settle_schedule(const struct listing *l, struct sp_neighbour *changed)
{
    const struct sp_plan *const from = l->in->plan;
    struct sp_plan *const plan = &changed->plan;
    if (plan->pp == 1 || l->runs->schedule[plan->schedule] ||
        (from->pp > 1 && plan->schedule == from->schedule))
        return true;
    const bool asked = plan->vpp == from->vpp && from->pp > 1; /* asked for with this schedule */
    for (int i = 0; i < SP_SCHEDULES && !asked; i++) {
        plan->schedule = (enum sp_schedule)i;
        if (l->runs->schedule[i] && is_valid(l, plan)) {
            changed->field[changed->changes++] = SP_FIELD_SCHEDULE;
            return true;
        }
    }
    return false;
}

/* Whether the framework supports what changed, as in a search; --any allows everything. */
static bool is_run(const struct listing *l, struct sp_neighbour *changed)
{
    const struct sp_plan *const from = l->in->plan, *const plan = &changed->plan;
    const struct sp_repertoire *const runs = l->runs;
    return !runs ||
           ((runs->zero[plan->zero] || plan->zero == from->zero) &&
            (policy_of(plan) == policy_of(from) || runs->policy[policy_of(plan)]) &&
            ((runs->cp_kind[plan->execution.cp_kind] &&
              (plan->execution.cp_kind != SP_CP_DYNAMIC || l->in->model->documents)) ||
             plan->execution.cp_kind == from->execution.cp_kind) &&
            (sp_cp_divides(l->in->model, plan, runs->copies_kv_heads) ||
             !sp_cp_divides(l->in->model, from, runs->copies_kv_heads)) &&
            (runs->offload || !plan->recompute.offload || from->recompute.offload) &&
            (runs->sequence_parallel[plan->sequence_parallel] || plan->tp == 1 ||
             plan->sequence_parallel == from->sequence_parallel) &&
            (runs->splits_axes || plan->tp == from->tp ||
             sp_fits_whole_axes(l->in->hw, plan->tp)) &&
            (runs->uneven_stages || plan->pp == from->pp ||
             sp_even_layers(l->in->model, plan->pp) > 0) &&
            (runs->contexts || plan->cp == 1 || from->cp > 1) &&
            (runs->pipelines || plan->pp == 1 || from->pp > 1) && settle_schedule(l, changed));
}

/* Estimates a changed plan and inserts it by speed; false if it is not among the fastest wanted. */
static bool add(struct listing *l, struct sp_neighbour *changed)
{
    struct sp_step_inputs in = *l->in;
    struct sp_stage_memory memory;
    if (l->n == l->room || !is_run(l, changed) || !is_valid(l, &changed->plan))
        return false;
    if (l->settling && (!l->settling->settle(l->settling->of, changed) || !is_run(l, changed)))
        return false;
    if (l->runs && !sp_may_overlap(&l->runs->overlap, &changed->plan) &&
        sp_may_overlap(&l->runs->overlap, l->in->plan))
        return false;
    if (l->runs && !sp_may_interleave(l->runs->rounds, &changed->plan) &&
        sp_may_interleave(l->runs->rounds, l->in->plan))
        return false;
    in.plan = &changed->plan;
    const double step = sp_evaluate(&in, &memory);
    const enum sp_verdict verdict = sp_plan_verdict(&in, (double)memory.device);
    if (l->only_fitting && verdict == SP_VERDICT_NO)
        return false;
    size_t at = l->n++;
    for (; at > 0 && l->found[at - 1].step_s > step; at--)
        l->found[at] = l->found[at - 1];
    l->found[at] = *changed;
    l->found[at].step_s = step;
    l->found[at].device_bytes = (double)memory.device;
    l->found[at].verdict = verdict;
    return true;
}

/* The plan with one field changed. */
static struct sp_neighbour with(const struct listing *l, enum sp_plan_field_id field, double value)
{
    struct sp_neighbour n = {.plan = *l->in->plan, .changes = 1, .field = {field, field}};
    sp_set_plan_value(&n.plan, &sp_plan_fields[field], value);
    return n;
}

/* Whether the field has an effect in this plan. */
static bool matters(const struct listing *l, enum sp_plan_field_id field)
{
    const struct sp_plan *const p = l->in->plan;
    switch (field) {
    case SP_FIELD_VPP:
    case SP_FIELD_SCHEDULE:
    case SP_FIELD_PLACEMENT:
        return p->pp > 1;
    case SP_FIELD_ZERO:
        return p->dp * p->cp > 1;
    case SP_FIELD_SHARDS:
        return p->zero > 0;
    case SP_FIELD_SP:
        return p->tp > 1;
    case SP_FIELD_CP_KIND:
        return p->cp > 1;
    case SP_FIELD_OFFLOAD:
        return sp_host_bytes_per_s(&l->in->hw->chip) > 0;
    default:
        return true;
    }
}

/* Whether new TP ranks divide the sequence too. */
static bool divides_sequence(const struct listing *l)
{
    return !l->runs || l->runs->sequence_parallel[1];
}

/* Adjusts dependent fields: the sharded share of replicas is kept, one stage has one chunk. */
static void follow_degrees(const struct listing *l, struct sp_plan *plan)
{
    const struct sp_plan *const from = l->in->plan;
    const int64_t before = from->dp * from->cp, now = plan->dp * plan->cp;
    plan->shards = from->shards == before || now % from->shards != 0 ? now : from->shards;
    plan->sequence_parallel =
        plan->tp > 1 && (from->tp == 1 ? divides_sequence(l) : from->sequence_parallel);
    if (plan->pp == 1) {
        plan->schedule = sp_usual_schedule(1);
        plan->vpp = 1;
    }
}

/* Moves a factor of two from one degree to each other one. */
static void move_factor(struct listing *l, enum sp_plan_field_id from)
{
    const struct sp_plan *const plan = l->in->plan;
    const double less = sp_plan_value(plan, &sp_plan_fields[from]) / 2;
    for (int to = 0; to < SP_PLAN_FIELDS && less == (double)(int64_t)less; to++) {
        if (to == (int)from || sp_plan_fields[to].near != SP_PLAN_MOVES)
            continue;
        struct sp_neighbour n = with(l, from, less);
        n.changes = 2;
        n.field[1] = (enum sp_plan_field_id)to;
        sp_set_plan_value(&n.plan, &sp_plan_fields[to],
                          2 * sp_plan_value(plan, &sp_plan_fields[to]));
        follow_degrees(l, &n.plan);
        add(l, &n);
    }
}

/* Doubles and halves a number. */
static void scale_number(struct listing *l, enum sp_plan_field_id field)
{
    const struct sp_plan *const plan = l->in->plan;
    const double value = sp_plan_value(plan, &sp_plan_fields[field]);
    const double scaled[] = {2 * value, value / 2};
    for (int i = 0; i < 2; i++) {
        if (scaled[i] > sp_plan_fields[field].max || scaled[i] != (double)(int64_t)scaled[i])
            continue;
        struct sp_neighbour n = with(l, field, scaled[i]);
        add(l, &n);
    }
}

/* Tries all other numbers of chunks into which the layers of a stage divide: five of 20 layers may
 * be faster where four are not. */
static void cut_stages(struct listing *l, enum sp_plan_field_id field)
{
    const struct sp_plan *const plan = l->in->plan;
    const int64_t layers = l->in->model->layers / plan->pp;
    for (int64_t chunks = 1; chunks <= layers; chunks++) {
        if (layers % chunks != 0 || chunks == plan->vpp)
            continue;
        struct sp_neighbour n = with(l, field, (double)chunks);
        if (chunks == 1 || plan->vpp == 1)
            n.plan.schedule = sp_usual_schedule(chunks);
        add(l, &n);
    }
}

/* Tries every other name; for schedules, those that divide the batch. */
static void swap_names(struct listing *l, enum sp_plan_field_id field)
{
    const double value = sp_plan_value(l->in->plan, &sp_plan_fields[field]);
    for (int i = 0; sp_plan_fields[field].names[i]; i++) {
        struct sp_neighbour n = with(l, field, i);
        if (i != value && (field != SP_FIELD_SCHEDULE || sp_schedules[i].divided))
            add(l, &n);
    }
}

size_t sp_find_neighbours(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                          const struct sp_settling *settling,
                          struct sp_neighbour found[SP_MAX_NEIGHBOURS])
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    static void (*const change[])(struct listing *, enum sp_plan_field_id) = {
        [SP_PLAN_MOVES] = move_factor,
        [SP_PLAN_SCALES] = scale_number,
        [SP_PLAN_CUTS] = cut_stages,
        [SP_PLAN_SWAPS] = swap_names,
    };
    struct sp_layers room;
    struct sp_step_inputs listed = *in;
    listed.layers = sp_layers_of(in, &room);
    struct listing l = {.in = &listed,
                        .runs = runs,
                        .settling = settling,
                        .found = found,
                        .room = SP_MAX_NEIGHBOURS};
    for (int how = SP_PLAN_MOVES; how <= SP_PLAN_SWAPS; how++)
        for (int i = 0; i < SP_PLAN_FIELDS; i++)
            if ((int)sp_plan_fields[i].near == how && matters(&l, (enum sp_plan_field_id)i))
                change[how](&l, (enum sp_plan_field_id)i);
    return l.n;
}

/* Tries 2, 4 and 8 times a degree instead of replicas, up to the first that fits. */
static void raise_degree(struct listing *l, enum sp_plan_field_id field)
{
    const struct sp_plan *const plan = l->in->plan;
    for (int64_t factor = 2; factor <= 8 && plan->dp % factor == 0; factor *= 2) {
        const double value = sp_plan_value(plan, &sp_plan_fields[field]);
        struct sp_neighbour n = with(l, field, value * (double)factor);
        n.plan.dp /= factor;
        n.plan.shards = n.plan.dp * n.plan.cp;
        n.plan.sequence_parallel = n.plan.tp > 1 && divides_sequence(l);
        if (add(l, &n))
            return;
    }
}

size_t sp_find_fixes(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                     const struct sp_settling *settling, struct sp_neighbour found[SP_MAX_FIXES])
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct sp_layers room;
    struct sp_step_inputs listed = *in;
    listed.layers = sp_layers_of(in, &room);
    struct listing l = {.in = &listed,
                        .runs = runs,
                        .settling = settling,
                        .found = found,
                        .room = SP_MAX_FIXES,
                        .only_fitting = true};
    for (int i = 1; i < SP_POLICIES; i++) {
        struct sp_neighbour n = with(&l, SP_FIELD_REMAT, i);
        n.plan.recompute.offload = false;
        n.plan.recompute_layers = 1;
        add(&l, &n);
    }
    for (int zero = in->plan->zero + 1; zero <= 3; zero++) {
        struct sp_neighbour n = with(&l, SP_FIELD_ZERO, zero);
        add(&l, &n);
    }
    for (int64_t micro = in->plan->micro_batch / 2; micro >= 1; micro /= 2) {
        struct sp_neighbour n = with(&l, SP_FIELD_MICRO, (double)micro);
        add(&l, &n);
    }
    raise_degree(&l, SP_FIELD_TP);
    raise_degree(&l, SP_FIELD_PP);
    raise_degree(&l, SP_FIELD_CP);
    return l.n;
}
