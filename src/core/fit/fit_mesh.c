/* Meshes: the ways to divide a machine's chips over replicas, shards, TP and pipeline stages. */
#include <math.h>

#include <scaleplan/plan.h>

#include "core/fit/fit_internal.h"

struct sp_strategy sp_new_strategy(enum sp_strategy_kind kind)
{
    return (struct sp_strategy){.kind = kind,
                                .dp = 1,
                                .fsdp = 1,
                                .tp = 1,
                                .pp = 1,
                                .cp = 1,
                                .ep = 1,
                                .chunks = 1,
                                .microbatches = 1,
                                .uneven = 1,
                                .beside = {.slack = 1},
                                .W_X = NAN,
                                .W_Y = NAN,
                                .W_P = NAN,
                                .critical_tokens_per_chip = NAN};
}

/* Divides the shards into replicas (DP) and shards (FSDP) as the strategy requires. */
static void deal_shards(struct sp_strategy *s, const struct sp_fit_input *in, int64_t shards)
{
    const struct sp_hardware *hw = in->hw;
    s->fsdp = shards;
    if (s->kind == SP_DP) {
        s->dp = shards;
        s->fsdp = 1;
    } else if (s->kind == SP_HSDP) {
        const int64_t group =
            hw->network.kind == SP_TORUS ? hw->chips_per_slice / s->tp : hw->network.domain / s->tp;
        s->dp = shards / group;
        s->fsdp = group;
    }
}

/* On GPUs a stage is a whole number of nodes and TP is innermost, so p stages divide the gradients
 * that a node sends by p. */
static void each_pipeline(const struct sp_fit_input *in, int64_t tp, double W_X, double W_Y,
                          sp_mesh_visitor *visit, void *context)
{
    const bool torus = in->hw->network.kind == SP_TORUS;
    const int64_t blocks = torus ? in->hw->slices : sp_chips(in->hw) / in->hw->network.domain;
    for (int64_t p = 2; p <= blocks && p <= in->model->layers; p++) {
        if (blocks % p != 0)
            continue;
        struct sp_strategy s = sp_new_strategy(SP_PP_FSDP);
        s.tp = tp;
        s.pp = p;
        s.W_X = W_X;
        s.W_Y = W_Y;
        s.fsdp = sp_chips(in->hw) / (p * tp);
        if (torus && p != blocks)
            continue; /* a stage is one slice: shards stay within it */
        visit(&s, context);
    }
}

/* The textbook's meshes on switches: TP within a domain. */
static void each_switched_mesh(const struct sp_fit_input *in, enum sp_strategy_kind kind,
                               sp_mesh_visitor *visit, void *context)
{
    const int64_t chips = sp_chips(in->hw), domain = in->hw->network.domain;
    const bool mixed = kind == SP_FSDP_TP, pipeline = kind == SP_PP_FSDP;
    for (int64_t tp = mixed ? 2 : 1; tp <= (mixed || pipeline ? domain : 1) && tp <= chips; tp++) {
        if (domain % tp != 0 || chips % tp != 0 || (tp > 1 && !sp_tp_divides(in->model, tp, tp)))
            continue;
        if (mixed && tp == chips)
            continue;
        if (pipeline) {
            each_pipeline(in, tp, NAN, NAN, visit, context);
            continue;
        }
        struct sp_strategy s = sp_new_strategy(kind);
        s.tp = tp;
        deal_shards(&s, in, chips / tp);
        visit(&s, context);
    }
}

/* Groups of a mesh on an axis of a slice, from the innermost: TP, shards, replicas, stages. */
enum { OF_TP, OF_SHARDS, OF_REPLICAS, OF_STAGES, GROUPS };

/* Most layouts of a mesh that no other layout beats in all rates; a mesh has few. */
#define MOST_WAYS 32

/* The rates of a layout's groups: W_X, W_Y and W_P of a strategy. */
struct way {
    double W_X, W_Y, W_P;
};

/* A mesh being laid out on the axes of a slice. */
struct laying {
    const struct sp_hardware *hw;
    int data;                          /* the group that sends gradients: of shards or replicas */
    int64_t part[SP_MAX_AXES][GROUPS]; /* of each axis */
    int64_t left[GROUPS];              /* of the degrees, for the axes to come */
    int64_t after[SP_MAX_AXES];        /* chips of the axes behind this one */
    bool twin[SP_MAX_AXES];            /* whether the axis is like the one before */
    int split;                         /* axes that TP takes in part */
    int ways;
    struct way way[MOST_WAYS];
};

/* Bandwidth of a group on its whole axes, else on its fastest part of one: a part of a ring is a
 * line, and inner groups share its links. NAN without any. */
static double laid_bytes_per_s(const struct laying *l, int group)
{
    const double w = l->hw->network.link_bytes_per_s;
    unsigned whole = 0;
    double best = NAN;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        const int64_t length = l->hw->shape.axis[i], mine = l->part[i][group];
        int64_t inner = 1;
        for (int g = 0; g < group; g++)
            inner *= l->part[i][g];
        if (mine == 1)
            continue;
        whole |= mine == length ? 1U << i : 0;
        const int64_t end = mine * inner;
        const bool wraps = end == length && sp_axis_wraps(l->hw, i);
        const double rate =
            sp_axis_bytes_per_s(w, inner > 1 && end == length ? length : mine, wraps) /
            (double)inner;
        best = best >= rate ? best : rate;
    }
    return whole ? sp_slice_axes_bytes_per_s(l->hw, whole) : best;
}

/* A stage sends to the next one over one link of each chip, which the chips in between share. */
static double stage_bytes_per_s(const struct laying *l)
{
    double rate = NAN;
    for (int i = 0; i < SP_MAX_AXES; i++)
        if (l->part[i][OF_STAGES] > 1) {
            const double between = (double)l->hw->shape.axis[i] / (double)l->part[i][OF_STAGES];
            rate = fmin(rate, l->hw->network.link_bytes_per_s / between);
        }
    return rate;
}

/* Whether a group of `a` is at least as fast as that of `b`; the same groups have a rate. */
static bool keeps_up(double a, double b)
{
    return isnan(b) || a >= b;
}

static bool is_beaten(const struct way *by, const struct way *w)
{
    return keeps_up(by->W_X, w->W_X) && keeps_up(by->W_Y, w->W_Y) && keeps_up(by->W_P, w->W_P);
}

/* Keeps the current layout, unless another beats it. */
static void keep_way(struct laying *l)
{
    const struct way w = {laid_bytes_per_s(l, l->data), laid_bytes_per_s(l, OF_TP),
                          stage_bytes_per_s(l)};
    int kept = 0;
    for (int i = 0; i < l->ways; i++) {
        if (is_beaten(&l->way[i], &w))
            return;
        if (!is_beaten(&w, &l->way[i]))
            l->way[kept++] = l->way[i];
    }
    l->ways = kept;
    if (l->ways < MOST_WAYS)
        l->way[l->ways++] = w;
}

/* a / b, rounded up; the usual without a division, which takes longer than all else here. */
static int64_t at_least_over(int64_t a, int64_t b)
{
    return a <= b ? 1 : b == 1 ? a : (a + b - 1) / b;
}

/* The first group whose part of an axis differs from that of the axis before; at most `end`. */
static int first_unlike(const struct laying *l, int axis, int end)
{
    int g = 0;
    while (g < end && l->part[axis - 1][g] == l->part[axis][g])
        g++;
    return g;
}

/* Whether an axis and an equal one before it are divided as in an earlier layout, with their parts
 * swapped. */
static bool is_swapped(const struct laying *l, int axis)
{
    const int g = l->twin[axis] ? first_unlike(l, axis, GROUPS) : GROUPS;
    return g < GROUPS && l->part[axis - 1][g] > l->part[axis][g];
}

/* What a group must take of an axis with `room` left: the axes behind cannot hold more of its
 * degree, the outer groups no more of this axis, and less would swap it with an equal one. */
static int64_t least_part(const struct laying *l, int axis, int group, int64_t room)
{
    int64_t outer = 1;
    for (int g = group + 1; g < GROUPS; g++)
        outer *= l->left[g];
    const bool is_tied = l->twin[axis] && first_unlike(l, axis, group) == group;
    const int64_t of_degree = at_least_over(l->left[group], l->after[axis]);
    const int64_t of_axis = at_least_over(room, outer);
    const int64_t least = is_tied ? l->part[axis - 1][group] : 1;
    return of_degree > of_axis ? (of_degree > least ? of_degree : least)
                               : (of_axis > least ? of_axis : least);
}

/* Whether TP of `mine` on an axis has a part of it, not all and not none. */
static bool splits_axis(const struct laying *l, int axis, int64_t mine)
{
    return mine > 1 && mine < l->hw->shape.axis[axis];
}

/* The last axis has all that is left. */
static void lay_last_axis(struct laying *l)
{
    const int last = SP_MAX_AXES - 1;
    for (int g = 0; g < GROUPS; g++)
        l->part[last][g] = l->left[g];
    if (l->split + splits_axis(l, last, l->left[OF_TP]) <= 1 && !is_swapped(l, last))
        keep_way(l);
}

/* Every way to divide the axes from `axis` on among the groups from `group` on, `room` of the
 * first; TP has part of one axis at most. */
static void lay_axes(struct laying *l, int axis, int group, int64_t room)
{
    for (; group < GROUPS && l->left[group] == 1; group++)
        l->part[axis][group] = 1;
    if (group == GROUPS) {
        if (room > 1 || is_swapped(l, axis))
            return;
        if (axis + 1 == SP_MAX_AXES - 1)
            lay_last_axis(l);
        else
            lay_axes(l, axis + 1, 0, l->hw->shape.axis[axis + 1]);
        return;
    }
    const int64_t left = l->left[group], both = sp_common_divisor(room, left);
    for (int64_t mine = least_part(l, axis, group, room); mine <= both; mine++) {
        const bool splits = group == OF_TP && splits_axis(l, axis, mine);
        if (both % mine != 0 || l->split + splits > 1)
            continue;
        l->part[axis][group] = mine;
        l->left[group] = left / mine;
        l->split += splits;
        lay_axes(l, axis, group + 1, room / mine);
        l->split -= splits;
    }
    l->left[group] = left;
}

/* Everything but the degrees and `data`. */
static void start_laying(const struct sp_hardware *hw, struct laying *l)
{
    l->hw = hw;
    l->split = l->ways = 0;
    int64_t after = 1;
    for (int i = SP_MAX_AXES - 1; i >= 0; i--) {
        l->after[i] = after;
        after *= hw->shape.axis[i];
        l->twin[i] = i > 0 && hw->shape.axis[i - 1] == hw->shape.axis[i] &&
                     sp_axis_wraps(hw, i - 1) == sp_axis_wraps(hw, i);
    }
}

/* The most that a group of `chips` can have on any layout: both directions of a part of an axis, or
 * all whole axes that it can fill. NAN for a group of one. */
static double most_bytes_per_s(const struct sp_hardware *hw, int64_t chips)
{
    double most = chips > 1 ? sp_axis_bytes_per_s(hw->network.link_bytes_per_s, 2, true) : NAN;
    for (unsigned axes = 1; chips > 1 && axes < 1U << SP_MAX_AXES; axes++) {
        int64_t fills = 1;
        for (int i = 0; i < SP_MAX_AXES; i++)
            fills *= axes >> i & 1 ? hw->shape.axis[i] : 1;
        if (fills <= chips)
            most = fmax(most, sp_slice_axes_bytes_per_s(hw, axes));
    }
    return most;
}

/* Stages take as many slices as they can, because they send least; replicas take the others. */
static void lay_on_torus(const struct sp_fit_input *in, const struct sp_degrees *d,
                         struct sp_strategy s, sp_mesh_hope *hopes, sp_mesh_visitor *visit,
                         void *context)
{
    const struct sp_hardware *const hw = in->hw;
    const int64_t across = sp_stages_of_slices(d->pp, hw->slices), copies = hw->slices / across;
    const bool shards_cross = d->dp == 1;
    if ((shards_cross ? d->fsdp : d->dp) % copies != 0)
        return;
    struct laying l;
    start_laying(hw, &l);
    l.data = d->fsdp > 1 ? OF_SHARDS : OF_REPLICAS;
    l.left[OF_TP] = d->tp;
    l.left[OF_SHARDS] = d->fsdp / (shards_cross ? copies : 1);
    l.left[OF_REPLICAS] = d->dp / (shards_cross ? 1 : copies);
    l.left[OF_STAGES] = d->pp / across;
    s.W_X = most_bytes_per_s(hw, l.left[l.data]);
    s.W_Y = most_bytes_per_s(hw, d->tp);
    s.W_P = l.left[OF_STAGES] > 1 ? hw->network.link_bytes_per_s : NAN;
    if (!hopes(&s, context))
        return;
    lay_axes(&l, 0, 0, hw->shape.axis[0]);
    for (int i = 0; i < l.ways; i++) {
        struct sp_strategy laid = s;
        laid.W_X = l.way[i].W_X;
        laid.W_Y = l.way[i].W_Y;
        laid.W_P = l.way[i].W_P;
        visit(&laid, context);
    }
}

/* TP is innermost and has whole domains, parts of one, or all devices of a smaller machine; then
 * shards, replicas, stages. */
static bool lies_on_switches(const struct sp_hardware *hw, int64_t tp)
{
    return hw->network.domain % tp == 0 || tp % hw->network.domain == 0 || tp == sp_chips(hw);
}

enum sp_strategy_kind sp_strategy_of_degrees(const struct sp_degrees *d)
{
    if (d->pp > 1)
        return SP_PP_FSDP;
    if (d->dp > 1 || d->fsdp * d->tp == 1)
        return d->fsdp > 1 || d->tp > 1 ? SP_HSDP : SP_DP;
    return d->tp == 1 ? SP_FSDP : d->fsdp > 1 ? SP_FSDP_TP : SP_TP;
}

void sp_each_given_mesh(const struct sp_fit_input *in, const struct sp_degrees *d,
                        sp_mesh_hope *hopes, sp_mesh_visitor *visit, void *context)
{
    struct sp_strategy s = sp_new_strategy(sp_strategy_of_degrees(d));
    s.dp = d->dp;
    s.fsdp = d->fsdp;
    s.tp = d->tp;
    s.pp = d->pp;
    const bool cuts = d->tp > 1 || d->pp > 1;
    if (sp_mesh_fault(in, d) != SP_MESH_OK || (cuts && !sp_splits_layers(in->model)))
        return;
    if (in->hw->network.kind == SP_TORUS)
        lay_on_torus(in, d, s, hopes, visit, context);
    else if (lies_on_switches(in->hw, d->tp))
        visit(&s, context);
}

enum sp_mesh_fault sp_mesh_fault(const struct sp_fit_input *in, const struct sp_degrees *d)
{
    if (d->tp * d->pp > 1 && sp_is_convolutional(in->model))
        return SP_MESH_CONVOLUTIONS;
    if (d->tp > 1 && !sp_tp_divides(in->model, d->tp, d->tp))
        return SP_MESH_TP;
    return d->pp > 1 && d->pp > in->model->layers ? SP_MESH_STAGES : SP_MESH_OK;
}

/* Numbers up to 1e9 have at most this many divisors. */
#define MOST_DIVISORS 1344

static int list_divisors(int64_t n, int64_t list[MOST_DIVISORS])
{
    int count = 0;
    for (int64_t d = 1; d * d <= n && count < MOST_DIVISORS; d++)
        if (n % d == 0)
            list[count++] = d;
    for (int i = count - 1; i >= 0 && count < MOST_DIVISORS; i--)
        if (list[i] * list[i] != n)
            list[count++] = n / list[i];
    return count;
}

void sp_each_real_mesh(const struct sp_fit_input *in, unsigned allowed, sp_mesh_hope *hopes,
                       sp_mesh_visitor *visit, void *context)
{
    const int64_t N = sp_chips(in->hw);
    int64_t list[MOST_DIVISORS];
    const int n = list_divisors(N, list);
    for (int p = 0; p < n && (p == 0 || list[p] <= in->model->layers); p++)
        for (int y = 0; y < n; y++) {
            const int64_t of_replica = list[p] * list[y];
            if (N % of_replica != 0)
                continue;
            for (int x = n - 1; x >= 0; x--) {
                const struct sp_degrees d = {N / of_replica / list[x], list[x], list[y], list[p]};
                if (N / of_replica % list[x] == 0 && allowed >> sp_strategy_of_degrees(&d) & 1)
                    sp_each_given_mesh(in, &d, hopes, visit, context);
            }
        }
}

/* The textbook: two axes for FSDP, one for TP, any factorisation whose TP degree divides the
 * model. The whole mesh is judged, so the verdict can be "no" where the continuous threshold
 * says "yes". */
void sp_each_rule_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context)
{
    if (in->hw->network.kind == SP_SWITCHED) {
        each_switched_mesh(in, kind, visit, context);
        return;
    }
    const int64_t per_slice = in->hw->chips_per_slice;
    for (int64_t tp = kind == SP_FSDP_TP ? 2 : 1; tp < per_slice && tp <= in->model->heads; tp++) {
        if (per_slice % tp != 0 || !sp_tp_divides(in->model, tp, tp))
            continue;
        struct sp_strategy s = sp_new_strategy(kind);
        s.tp = tp;
        s.W_X = tp > 1 ? t->W_X : t->W_X + t->W_Y;
        s.W_Y = tp > 1 ? t->W_Y : NAN;
        if (kind == SP_PP_FSDP) {
            each_pipeline(in, tp, s.W_X, s.W_Y, visit, context);
            continue;
        }
        deal_shards(&s, in, sp_chips(in->hw) / tp);
        visit(&s, context);
    }
}
