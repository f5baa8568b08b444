/* The search space: values of each dimension, and the number of plans. */
#include <scaleplan/estimate.h>

#include "core/layers/layer_rank.h"
#include "core/search/search_internal.h"
#include "core/require.h"

static bool allows(const struct sp_degree *degree, int64_t value)
{
    if (degree->most > 0 && value > degree->most)
        return false;
    if (degree->n == 0)
        return true;
    for (int i = 0; i < degree->n; i++)
        if (degree->value[i] == value)
            return true;
    return false;
}

/* Adds a divisor if it is allowed; false if there is no room. */
static bool add(int64_t d, int64_t most, const struct sp_degree *degree, int64_t *out, int *count)
{
    if (d > most || !allows(degree, d))
        return true;
    if (*count == SP_SEARCH_LISTED)
        return false;
    out[(*count)++] = d;
    return true;
}

/* Allowed divisors of `n` up to `most`, rising; -1 if there is no room. */
static int divisors(int64_t n, int64_t most, const struct sp_degree *degree, int64_t *out)
{
    int count = 0;
    int64_t d = 1;
    for (; d <= n / d; d++)
        if (n % d == 0 && !add(d, most, degree, out, &count))
            return -1;
    for (d--; d >= 1; d--)
        if (n % d == 0 && n / d > d && !add(n / d, most, degree, out, &count))
            return -1;
    return count;
}

/* Whether all companions accept these tp, ep and etp, or stages and chunks, with as few replicas as
 * possible. */
static bool takes_beside(const struct sp_search_space *s, const struct sp_plan *part)
{
    if (!s->in.model->tuning.companions)
        return true;
    struct sp_plan plan = *part;
    plan.dp = plan.shards = plan.batch = plan.ep;
    plan.cp = plan.micro_batch = 1;
    plan.seq = s->seq;
    return sp_companions_take(s->in.model->tuning.companions, &plan, sp_plan_devices(&plan), 1);
}

static int keep_tps(const struct sp_model *model, int64_t *tps, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (sp_tp_divides(model, tps[i], 1))
            tps[kept++] = tps[i];
    return kept;
}

static int keep_dividing(int64_t whole, int64_t *values, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (whole % values[i] == 0)
            values[kept++] = values[i];
    return kept;
}

static int keep_even(const struct sp_model *model, int64_t *stages, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (sp_even_layers(model, stages[i]) > 0)
            stages[kept++] = stages[i];
    return kept;
}

/* The order of flows among those of their stages: one chunk each, two models in one (DualPipe), or
 * chunks, whose number of micro-batches a framework may limit. */
enum { WHOLE, DOUBLED, CHUNKED, FLOW_KINDS };

static int flow_kind(int64_t pp, int64_t vpp, enum sp_schedule schedule)
{
    return vpp > 1 ? CHUNKED : sp_has_chunks(pp, vpp, schedule) ? DOUBLED : WHOLE;
}

/* Adds the flows of a kind at the `at`th number of stages; false when there are too many. */
static bool list_kind(struct sp_search_space *s, int at, int kind)
{
    const int64_t pp = s->pps[at], even = sp_even_layers(s->in.model, pp);
    const int64_t most = even > 0 ? even : s->in.model->layers / pp;
    struct sp_plan part = {.tp = 1, .ep = 1, .etp = 1, .pp = pp};
    for (int schedule = 0; schedule < SP_SCHEDULES; schedule++) {
        const bool chunked = sp_schedules[schedule].chunked;
        if (!s->open.schedule[schedule] || !sp_schedules[schedule].divided)
            continue;
        for (int64_t v = chunked ? 2 : 1; v <= (chunked ? most : 1); v++) {
            part.schedule = (enum sp_schedule)schedule;
            part.vpp = v;
            /* equal stages take equal chunks; of 61 layers on 8, chunks differ in any case */
            if (flow_kind(pp, v, part.schedule) != kind || (chunked && even % v != 0) ||
                !allows(&s->vpp, v) || !takes_beside(s, &part))
                continue;
            if (s->n_flow[at] == SP_SEARCH_FLOWS)
                return false;
            s->flow[at][s->n_flow[at]++] = (struct sp_flow){part.schedule, v};
        }
    }
    return true;
}

/* Schedules and chunks of the `at`th number of stages; false when there are too many. */
static bool list_flows(struct sp_search_space *s, int at)
{
    int before[FLOW_KINDS];
    s->n_flow[at] = s->n_whole[at] = s->n_chunked[at] = 0;
    if (s->pps[at] == 1) {
        s->flow[at][s->n_flow[at]++] = (struct sp_flow){sp_usual_schedule(1), 1};
        return true;
    }
    for (int kind = 0; kind < FLOW_KINDS; kind++) {
        before[kind] = s->n_flow[at];
        if (!list_kind(s, at, kind))
            return false;
    }
    s->n_whole[at] = before[DOUBLED];
    s->n_chunked[at] = s->n_flow[at] - before[CHUNKED];
    return true;
}

/* Whether a set allows the value; an empty set allows the framework's own. */
static bool lists(const bool *set, int n, int value, int own)
{
    for (int i = 0; i < n; i++)
        if (set[i])
            return set[value];
    return value == own;
}

/* The `at`-th of all executions; options that a search does not vary are the framework's. */
static struct sp_execution execution_at(int at, const struct sp_execution *own)
{
    struct sp_execution e = *own;
    e.moe_overlap = at % 2;
    at /= 2;
    e.dispatch = (enum sp_dispatch)(at % SP_DISPATCHES);
    at /= SP_DISPATCHES;
    e.cuda_graph = (enum sp_cuda_graph)(at % SP_CUDA_GRAPHS);
    at /= SP_CUDA_GRAPHS;
    e.fp8_recipe = (enum sp_fp8_recipe)(at % SP_FP8_RECIPES);
    e.cp_kind = (enum sp_cp_kind)(at / SP_FP8_RECIPES);
    return e;
}

static bool same_execution(const struct sp_execution *a, const struct sp_execution *b)
{
    return a->dispatch == b->dispatch && a->moe_overlap == b->moe_overlap &&
           a->cuda_graph == b->cuda_graph && a->fp8_recipe == b->fp8_recipe &&
           a->cp_kind == b->cp_kind;
}

/* Whether the space allows the execution. */
static bool allows_execution(const struct sp_search_space *s, const struct sp_execution *e)
{
    const struct sp_execution *const own = &s->in.framework->execution;
    return lists(s->open.dispatch, SP_DISPATCHES, (int)e->dispatch, (int)own->dispatch) &&
           lists(s->open.moe_overlap, 2, e->moe_overlap, own->moe_overlap) &&
           lists(s->open.cuda_graph, SP_CUDA_GRAPHS, (int)e->cuda_graph, (int)own->cuda_graph) &&
           lists(s->open.fp8_recipe, SP_FP8_RECIPES, (int)e->fp8_recipe, (int)own->fp8_recipe) &&
           lists(s->open.cp_kind, SP_CP_KINDS, (int)e->cp_kind, (int)own->cp_kind);
}

/* Whether an earlier execution gives the same plan: without EP nothing is exchanged, without CP its
 * kind has no effect, and only 8-bit matmuls have a recipe. */
static bool repeats_another(const struct sp_search_space *s, int at, int64_t ep, int64_t cp)
{
    const struct sp_execution *const e = &s->execution[at];
    const bool scaled = sp_dtypes[sp_compute_dtype(&s->in.hw->chip, s->dtype)].bytes == 1;
    for (int i = 0; i < at; i++) {
        const struct sp_execution *const other = &s->execution[i];
        const bool exchange =
            other->dispatch == e->dispatch && other->moe_overlap == e->moe_overlap;
        if (other->cuda_graph == e->cuda_graph && (ep == 1 || exchange) &&
            (cp == 1 || other->cp_kind == e->cp_kind) &&
            (!scaled || other->fp8_recipe == e->fp8_recipe))
            return true;
    }
    return false;
}

/* Dispatchers, overlap of the exchange and kinds of CP differ most between plans, so the search
 * varies those that the framework supports. CUDA graphs and fp8 recipes stay the framework's: the
 * estimate has no cost for them and would always take the fastest. */
static void list_executions(struct sp_search_space *s)
{
    enum { ALL = 2 * SP_DISPATCHES * SP_CUDA_GRAPHS * SP_FP8_RECIPES * SP_CP_KINDS };
    const int64_t most_cp = s->n_cp > 0 ? s->cps[s->n_cp - 1] : 1; /* none: no plan is left */
    _Static_assert((int)ALL <= (int)SP_SEARCH_EXECUTIONS, "room for all executions");
    const struct sp_execution *const own = &s->in.framework->execution;
    s->n_executions = 0;
    if (allows_execution(s, own))
        s->execution[s->n_executions++] = *own;
    for (int i = 0; i < ALL; i++) {
        const struct sp_execution e = execution_at(i, own);
        if (!allows_execution(s, &e) || same_execution(&e, own))
            continue;
        s->execution[s->n_executions] = e;
        s->n_executions +=
            s->in.model->moe.experts > 0 || !repeats_another(s, s->n_executions, 1, most_cp);
    }
}

/* Plans that nobody can run are useless, so only --any goes beyond what the framework supports. */
bool sp_open_space(struct sp_search_space *s)
{
    sp_require(s->batch >= 1 && s->seq >= 1, "the batch and the sequence must be positive");
    static const struct sp_degree any = {.n = 0};
    const struct sp_model *const m = s->in.model;
    const int64_t N = sp_chips(s->in.hw);
    int64_t splits[SP_SEARCH_LISTED] = {0};
    if (!sp_model_has_shape(m) || N < 1 || s->batch < 1 || s->seq < 1)
        return false;
    sp_list_model(m, &s->layers);
    const int64_t experts = m->moe.experts > 0 ? m->moe.experts : 1;
    const int64_t stages = sp_keeps_layers(m) || !sp_splits_layers(m) ? 1 : m->layers;
    const int64_t most = stages < SP_MAX_STAGES ? stages : SP_MAX_STAGES;
    s->n_divisor = divisors(N, N, &any, s->divisor);
    s->n_tp = divisors(N, N, &s->tp, s->tps);
    s->n_cp = divisors(N, N, &s->cp, s->cps);
    s->n_ep = divisors(experts, experts, &s->ep, s->eps);
    s->n_micro = divisors(s->batch, s->batch, &s->micro_batch, s->micros);
    s->n_pp = divisors(N, most, &s->pp, splits);
    if (s->n_divisor < 0 || s->n_tp < 0 || s->n_cp < 0 || s->n_ep < 0 || s->n_micro < 0 ||
        s->n_pp < 0 || s->n_pp > SP_SEARCH_SPLITS)
        return false;
    s->n_tp = keep_tps(m, s->tps, s->n_tp);
    list_executions(s);
    s->n_boxes = s->in.hw->network.kind == SP_TORUS ? SP_SEARCH_BOXES : 1;
    s->n_cp = keep_dividing(s->seq, s->cps, s->n_cp);
    if (s->even_stages)
        s->n_pp = keep_even(m, splits, s->n_pp);
    for (int i = 0; i < s->n_pp; i++) {
        s->pps[i] = splits[i];
        const struct sp_stage_split split = {.stages = s->pps[i],
                                             .balance = (enum sp_balance)s->in.framework->balance};
        sp_map_stages(m, &split, &s->maps[i]);
        if (!list_flows(s, i))
            return false;
    }
    return true;
}

/* Whether a box of TP ranks takes a part of an axis. */
static bool splits_an_axis(const int32_t *axis, const int32_t *box)
{
    for (int i = 0; i < SP_MAX_AXES; i++)
        if (box[i] > 1 && box[i] < axis[i])
            return true;
    return false;
}

/* The `at`-th way to place TP on the axes, whole ones where parts are not allowed; false if there
 * are fewer. Of axes of equal length, the first takes the longer part. */
static bool lay_over_axes(const struct sp_hardware *hw, bool whole, int64_t tp, int at,
                          int32_t *box)
{
    const int32_t *const axis = hw->shape.axis;
    for (int32_t x = 1; x <= axis[0] && x <= tp; x++) {
        if (axis[0] % x != 0 || tp % x != 0)
            continue;
        for (int32_t y = 1; y <= axis[1] && y <= tp / x; y++) {
            const int64_t z = tp / ((int64_t)x * y);
            if (axis[1] % y != 0 || z < 1 || z > axis[2] || axis[2] % z != 0 || x * y * z != tp ||
                (axis[0] == axis[1] && x < y) || (axis[1] == axis[2] && y < z) ||
                (whole && splits_an_axis(axis, (const int32_t[]){x, y, (int32_t)z})) || at-- > 0)
                continue;
            box[0] = x;
            box[1] = y;
            box[2] = (int32_t)z;
            return true;
        }
    }
    return false;
}

bool sp_fits_whole_axes(const struct sp_hardware *hw, int64_t tp)
{
    int32_t box[SP_MAX_AXES];
    return hw->network.kind != SP_TORUS || tp == 1 || lay_over_axes(hw, true, tp, 0, box);
}

uint64_t sp_search_groups(const struct sp_search_space *s)
{
    return (uint64_t)s->n_boxes * (uint64_t)s->n_tp * (uint64_t)s->n_cp * (uint64_t)s->n_ep *
           (uint64_t)s->n_micro * 4 * (uint64_t)s->n_executions;
}

/* What a group's number says: places in the space's lists. */
struct numbered {
    int micro, ep, box, cp, tp, execution;
    bool wide_experts, sequence_parallel;
};

/* Takes the last digit off a number whose digit has `n` values. */
static int take_digit(uint64_t *number, int n)
{
    const int digit = (int)(*number % (uint64_t)n);
    *number /= (uint64_t)n;
    return digit;
}

static struct numbered read_number(const struct sp_search_space *s, uint64_t group)
{
    struct numbered at;
    at.wide_experts = take_digit(&group, 2);
    at.sequence_parallel = take_digit(&group, 2);
    at.micro = take_digit(&group, s->n_micro);
    at.ep = take_digit(&group, s->n_ep);
    at.box = take_digit(&group, s->n_boxes);
    at.cp = take_digit(&group, s->n_cp);
    at.tp = take_digit(&group, s->n_tp);
    at.execution = (int)group;
    return at;
}

/* Whether the numbers go together, before a plan is made of them: most do not. */
static bool go_together(const struct sp_search_space *s, const struct numbered *at)
{
    const struct sp_model *const m = s->in.model;
    const int64_t tp = s->tps[at->tp], cp = s->cps[at->cp], ep = s->eps[at->ep];
    const int64_t etp = at->wide_experts ? tp : 1, N = sp_chips(s->in.hw);
    const struct sp_execution *const e = &s->execution[at->execution];
    if (at->wide_experts && (m->moe.experts == 0 || tp == 1))
        return false; /* same as etp 1 */
    if (tp == 1 ? at->sequence_parallel : !s->open.sequence_parallel[at->sequence_parallel])
        return false;
    if (N % (tp * cp) != 0 || N % (ep * etp) != 0 || !allows(&s->etp, etp) ||
        !sp_etp_divides(m, etp) || (at->box > 0 && tp == 1))
        return false;
    if (ep > 1 && e->moe_overlap && s->open.overlap.refuses[e->dispatch])
        return false;
    return !repeats_another(s, at->execution, ep, cp);
}

bool sp_group_plan(const struct sp_search_space *s, uint64_t group, struct sp_plan *plan)
{
    const struct numbered at = read_number(s, group);
    const int64_t tp = s->tps[at.tp], ep = s->eps[at.ep];
    const int64_t etp = at.wide_experts ? tp : 1;
    if (!go_together(s, &at))
        return false;
    *plan = (struct sp_plan){.tp = tp,
                             .cp = s->cps[at.cp],
                             .ep = ep,
                             .etp = etp,
                             .micro_batch = s->micros[at.micro],
                             .schedule = s->flow[0][0].schedule,
                             .sequence_parallel = at.sequence_parallel,
                             .seq = s->seq,
                             .batch = s->batch,
                             .dtype = s->dtype,
                             .execution = s->execution[at.execution],
                             .imbalance = s->imbalance,
                             .recompute_layers = s->recompute_layers};
    const struct sp_plan part = {
        .tp = tp, .ep = ep, .etp = etp, .pp = 1, .vpp = 1, .schedule = sp_usual_schedule(1)};
    if (!takes_beside(s, &part) || !sp_cp_divides(s->in.model, plan, s->open.copies_kv_heads))
        return false;
    return s->n_boxes == 1 || tp == 1 ||
           lay_over_axes(s->in.hw, s->whole_axes, tp, at.box, plan->tp_axes);
}

bool sp_is_likely_group(const struct sp_search_space *s, uint64_t group)
{
    const struct numbered at = read_number(s, group);
    const struct sp_execution *const e = &s->execution[at.execution];
    struct sp_plan plan;
    return at.cp == 0 && !at.wide_experts &&
           (s->tps[at.tp] == 1 || at.sequence_parallel || !s->open.sequence_parallel[1]) &&
           (s->eps[at.ep] == 1 || e->moe_overlap || !s->open.moe_overlap[1]) &&
           sp_group_plan(s, group, &plan);
}

/* A single device has nothing to shard, except experts that TP ranks replicate. */
int sp_list_shardings(const struct sp_search_space *s, const struct sp_split_space *split,
                      struct sp_sharding list[SP_SHARDINGS])
{
    const int64_t D = split->dp * split->cp;
    const int64_t slices = s->in.hw->slices;
    struct sp_plan plan = {
        .dp = split->dp, .cp = split->cp, .tp = split->tp, .ep = split->ep, .etp = split->etp};
    int64_t fitting[SP_SEARCH_LISTED];
    int n = 0, n_fitting = 0;
    const bool shares_experts = s->in.model->moe.experts > 0 && split->tp > split->ep * split->etp;
    for (int i = s->n_divisor - 1; i > 0 && D > 1; i--) {
        plan.shards = s->divisor[i];
        if (D % plan.shards == 0 && sp_shards_fit(&plan, slices) && allows(&s->shards, plan.shards))
            fitting[n_fitting++] = plan.shards;
    }
    if (s->open.zero[0] || (D == 1 && !shares_experts))
        list[n++] = (struct sp_sharding){0, sp_default_shards(&plan, slices)};
    for (int zero = 1; zero < 4 && D == 1 && shares_experts; zero++)
        if (s->open.zero[zero])
            list[n++] = (struct sp_sharding){zero, 1};
    for (int zero = 1; zero < 4; zero++)
        for (int i = 0; i < n_fitting && s->open.zero[zero] && n < SP_SHARDINGS; i++)
            list[n++] = (struct sp_sharding){zero, fitting[i]};
    return n;
}

/* Counts a split's shardings, and the most sharded one. */
static void count_shardings(const struct sp_search_space *s, struct sp_split_space *split)
{
    struct sp_sharding list[SP_SHARDINGS];
    split->shardings = sp_list_shardings(s, split, list);
    split->most_zero = 0;
    split->most_shards = 1;
    for (int i = 0; i < split->shardings; i++) {
        if (list[i].zero > split->most_zero)
            split->most_zero = list[i].zero;
        if (list[i].shards > split->most_shards)
            split->most_shards = list[i].shards;
    }
}

bool sp_open_split(const struct sp_search_space *s, const struct sp_plan *group, int at,
                   struct sp_split_space *split)
{
    const int64_t stage = sp_chips(s->in.hw) / (group->tp * group->cp);
    split->pp = s->pps[at];
    split->cp = group->cp;
    split->tp = group->tp;
    split->ep = group->ep;
    split->etp = group->etp;
    if (stage % split->pp != 0)
        return false;
    split->dp = stage / split->pp;
    if (split->dp > s->batch || s->batch % split->dp != 0 ||
        s->batch / split->dp % group->micro_batch != 0 || !allows(&s->dp, split->dp) ||
        (split->dp * group->cp * group->tp) % (group->ep * group->etp) != 0)
        return false;
    struct sp_plan plan = *group;
    plan.dp = split->dp;
    plan.pp = split->pp;
    const bool hides = plan.ep > 1 && plan.execution.moe_overlap;
    if (hides && !sp_overlaps_exchange(&plan))
        return false; /* same as without */
    if (sp_leaves_slices(&plan, s->in.hw->slices))
        return false;
    const int whole = hides && s->open.overlap.in_chunks ? s->n_whole[at] : 0;
    const bool in_rounds = sp_takes_rounds(s->open.rounds, sp_plan_microbatches(&plan), plan.pp);
    split->flow = s->flow[at] + whole;
    split->flows = s->n_flow[at] - whole - (in_rounds ? 0 : s->n_chunked[at]);
    count_shardings(s, split);
    const bool differs =
        s->in.hw->network.kind != SP_TORUS && split->pp > 1 && split->dp * split->cp > 1;
    split->placement[0] = !differs || s->open.stages_inside[0];
    split->placement[1] =
        differs && s->open.stages_inside[1] && group->ep * group->etp <= group->tp * group->cp;
    split->plans = (uint64_t)split->flows * (uint64_t)split->shardings *
                   (uint64_t)(split->placement[0] + split->placement[1]);
    return split->plans > 0;
}

bool sp_may_recompute(const struct sp_plan *plan, const struct sp_recompute *recompute)
{
    const bool hides = plan->ep > 1 && plan->execution.moe_overlap && plan->schedule != SP_DUALPIPE;
    return !hides || sp_repeated_experts(recompute) < 1;
}
