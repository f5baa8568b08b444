/* Meshes: the ways to divide a machine's chips over FSDP, TP and pipeline stages. */
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

/* Chooses the interleaving depth v in 1 .. L/p with the shortest step. It needs at least as many
 * micro-batches as stages. */
static void deepen_pipeline(struct sp_strategy *s, const struct sp_fit_input *in,
                            const struct sp_fit_terms *t)
{
    const int64_t most = s->microbatches >= s->pp ? (int64_t)t->L / s->pp : 1;
    struct sp_strategy best = {.exists = false};
    for (int64_t v = most; v >= 1; v--) { /* deeper ones are faster: they leave less to judge */
        struct sp_strategy deeper = *s;
        deeper.chunks = v;
        sp_judge_against(&deeper, in, t, &best);
        if (deeper.exists && !sp_better(&best, &deeper))
            best = deeper;
    }
    s->chunks = best.chunks;
}

/* On GPUs a stage is a whole number of nodes and TP is innermost, so p stages divide the gradients
 * that a node sends by p. */
static void each_pipeline(const struct sp_fit_input *in, const struct sp_fit_terms *t, int64_t tp,
                          double W_X, double W_Y, sp_mesh_visitor *visit, void *context)
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
        sp_seat_sequences(&s, in);
        s.microbatches = sp_most_microbatches(sp_replica_sequences(in, &s));
        deepen_pipeline(&s, in, t);
        visit(&s, context);
    }
}

/* On switches the textbook's meshes equal the real ones. */
static void each_switched_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                               enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context)
{
    const int64_t chips = sp_chips(in->hw), domain = in->hw->network.domain;
    const bool mixed = kind == SP_FSDP_TP, pipeline = kind == SP_PP_FSDP;
    for (int64_t tp = mixed ? 2 : 1; tp <= (mixed || pipeline ? domain : 1) && tp <= chips; tp++) {
        if (domain % tp != 0 || chips % tp != 0 || (tp > 1 && !sp_tp_divides(in->model, tp, tp)))
            continue;
        if (mixed && tp == chips)
            continue;
        if (pipeline) {
            each_pipeline(in, t, tp, NAN, NAN, visit, context);
            continue;
        }
        struct sp_strategy s = sp_new_strategy(kind);
        s.tp = tp;
        deal_shards(&s, in, chips / tp);
        visit(&s, context);
    }
}

/* Bandwidths of the FSDP and TP groups if `tp` of each axis goes to TP, innermost. A group uses its
 * whole axes; a part of an axis counts only for a group without one. A part of a ring is a line: TP
 * 4 inside an axis of 16 reaches 2/3 of the ring's bandwidth. FSDP on the rest of that axis adds
 * none, because TP uses those links. */
static void axis_bandwidths(const struct sp_hardware *hw, const int64_t tp[SP_MAX_AXES],
                            double *W_X, double *W_Y)
{
    const double w = hw->network.link_bytes_per_s;
    double line = 0, rest = 0;
    unsigned of_shards = 0, of_tp = 0;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        const int64_t length = hw->shape.axis[i];
        if (tp[i] == 1) {
            of_shards |= 1U << i;
        } else if (tp[i] == length) {
            of_tp |= 1U << i;
        } else {
            line = sp_axis_bytes_per_s(w, tp[i], false);
            rest = sp_axis_bytes_per_s(w, length, sp_axis_wraps(hw, i)) / (double)tp[i];
        }
    }
    const double shards = sp_slice_axes_bytes_per_s(hw, of_shards);
    *W_Y = sp_slice_axes_bytes_per_s(hw, of_tp);
    *W_X = shards > 0 ? shards : rest > 0 ? rest : NAN;
    *W_Y = *W_Y > 0 ? *W_Y : line > 0 ? line : NAN;
}

static void visit_torus_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                             enum sp_strategy_kind kind, const int64_t tp[SP_MAX_AXES],
                             sp_mesh_visitor *visit, void *context)
{
    struct sp_strategy s = sp_new_strategy(kind);
    s.tp = tp[0] * tp[1] * tp[2];
    const bool shards = s.tp < in->hw->chips_per_slice;
    if (s.tp > 1 && !sp_tp_divides(in->model, s.tp, s.tp))
        return;
    if (kind == SP_FSDP_TP && (s.tp == 1 || !shards))
        return;
    axis_bandwidths(in->hw, tp, &s.W_X, &s.W_Y);
    if (kind == SP_PP_FSDP) {
        each_pipeline(in, t, s.tp, s.W_X, s.W_Y, visit, context);
        return;
    }
    deal_shards(&s, in, sp_chips(in->hw) / s.tp);
    visit(&s, context);
}

/* The next divisor of `length` after `tp`; above `length` if none. */
static int64_t next_divisor(int64_t length, int64_t tp)
{
    do
        tp++;
    while (tp <= length && length % tp != 0);
    return tp;
}

/* Every way to give TP whole axes and at most one part of an axis. */
static void each_torus_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                            enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context)
{
    const int32_t *axis = in->hw->shape.axis;
    const bool may_split = kind == SP_FSDP_TP || kind == SP_PP_FSDP || kind == SP_HSDP;
    int64_t tp[SP_MAX_AXES], most[SP_MAX_AXES];
    for (int i = 0; i < SP_MAX_AXES; i++)
        most[i] = may_split ? axis[i] : 1;
    for (tp[0] = 1; tp[0] <= most[0]; tp[0] = next_divisor(axis[0], tp[0])) {
        for (tp[1] = 1; tp[1] <= most[1]; tp[1] = next_divisor(axis[1], tp[1])) {
            for (tp[2] = 1; tp[2] <= most[2]; tp[2] = next_divisor(axis[2], tp[2])) {
                int parts = 0;
                for (int i = 0; i < SP_MAX_AXES; i++)
                    parts += tp[i] > 1 && tp[i] < axis[i];
                if (parts <= 1)
                    visit_torus_mesh(in, t, kind, tp, visit, context);
            }
        }
    }
}

/* Groups of a mesh on an axis of a slice, from the innermost: TP, shards, replicas, stages. */
enum { OF_TP, OF_SHARDS, OF_REPLICAS, OF_STAGES, GROUPS };

/* A mesh being laid on the axes of a slice. */
struct laying {
    const struct sp_hardware *hw;
    int64_t part[SP_MAX_AXES][GROUPS]; /* of each axis */
    int64_t left[GROUPS];              /* of the degrees, for the axes to come */
    struct sp_strategy s;
    sp_mesh_visitor *visit;
    void *context;
};

/* Bandwidth of a group on its whole axes, else on its fastest part of one: a part of a ring is a
 * line, and groups further in share its links. NAN without any. */
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

/* A stage sends to the next one over one link of each chip, which the chips between share. */
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

static void visit_laid(struct laying *l)
{
    struct sp_strategy s = l->s;
    int parts = 0;
    for (int i = 0; i < SP_MAX_AXES; i++)
        parts += l->part[i][OF_TP] > 1 && l->part[i][OF_TP] < l->hw->shape.axis[i];
    if (parts > 1)
        return;
    s.W_X = laid_bytes_per_s(l, s.fsdp > 1 ? OF_SHARDS : OF_REPLICAS);
    s.W_Y = laid_bytes_per_s(l, OF_TP);
    s.W_P = stage_bytes_per_s(l);
    l->visit(&s, l->context);
}

/* Every way to divide the axes from `axis` on among the groups. */
static void lay_axes(struct laying *l, int axis, int group, int64_t room)
{
    if (axis == SP_MAX_AXES) {
        visit_laid(l);
    } else if (group == GROUPS) {
        if (room == 1)
            lay_axes(l, axis + 1, 0, axis + 1 < SP_MAX_AXES ? l->hw->shape.axis[axis + 1] : 1);
    } else {
        const int64_t left = l->left[group];
        for (int64_t mine = 1; mine <= room && mine <= left; mine++) {
            if (room % mine != 0 || left % mine != 0)
                continue;
            l->part[axis][group] = mine;
            l->left[group] = left / mine;
            lay_axes(l, axis, group + 1, room / mine);
        }
        l->left[group] = left;
    }
}

/* Stages take as many slices as they can, because they send least; replicas take the others. */
static void lay_on_torus(const struct sp_fit_input *in, const struct sp_degrees *d,
                         const struct sp_strategy *s, sp_mesh_visitor *visit, void *context)
{
    const struct sp_hardware *const hw = in->hw;
    const int64_t across = sp_stages_of_slices(d->pp, hw->slices), copies = hw->slices / across;
    const bool shards_cross = d->dp == 1;
    struct laying l = {.hw = hw, .s = *s, .visit = visit, .context = context};
    if ((shards_cross ? d->fsdp : d->dp) % copies != 0)
        return;
    l.left[OF_TP] = d->tp;
    l.left[OF_SHARDS] = d->fsdp / (shards_cross ? copies : 1);
    l.left[OF_REPLICAS] = d->dp / (shards_cross ? 1 : copies);
    l.left[OF_STAGES] = d->pp / across;
    lay_axes(&l, 0, 0, hw->shape.axis[0]);
}

/* TP is innermost and has whole domains or parts of one, then shards, replicas, stages. */
static bool lies_on_switches(const struct sp_hardware *hw, int64_t tp)
{
    return hw->network.domain % tp == 0 || tp % hw->network.domain == 0;
}

/* A mesh as a visitor takes it, once it has micro-batches. */
struct deepened {
    const struct sp_fit_input *in;
    const struct sp_fit_terms *t;
    sp_mesh_visitor *visit;
    void *context;
};

static void visit_deepened(struct sp_strategy *s, void *context)
{
    const struct deepened *const d = context;
    if (s->pp > 1) {
        sp_seat_sequences(s, d->in);
        s->microbatches = sp_most_microbatches(sp_replica_sequences(d->in, s));
        deepen_pipeline(s, d->in, d->t);
    }
    d->visit(s, d->context);
}

void sp_each_given_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                        const struct sp_degrees *d, sp_mesh_visitor *visit, void *context)
{
    struct deepened deepened = {in, t, visit, context};
    struct sp_strategy s = sp_new_strategy(d->pp > 1   ? SP_PP_FSDP
                                           : d->dp > 1 ? SP_HSDP
                                                       : SP_FSDP_TP);
    s.dp = d->dp;
    s.fsdp = d->fsdp;
    s.tp = d->tp;
    s.pp = d->pp;
    const bool cuts = d->tp > 1 || d->pp > 1;
    if (sp_mesh_fault(in, d) != SP_MESH_OK || (cuts && !sp_splits_layers(in->model)))
        return;
    if (in->hw->network.kind == SP_TORUS)
        lay_on_torus(in, d, &s, visit_deepened, &deepened);
    else if (lies_on_switches(in->hw, d->tp))
        visit_deepened(&s, &deepened);
}

enum sp_mesh_fault sp_mesh_fault(const struct sp_fit_input *in, const struct sp_degrees *d)
{
    if (d->tp * d->pp > 1 && sp_is_convolutional(in->model))
        return SP_MESH_CONVOLUTIONS;
    if (d->tp > 1 && !sp_tp_divides(in->model, d->tp, d->tp))
        return SP_MESH_TP;
    return d->pp > 1 && d->pp > in->model->layers ? SP_MESH_STAGES : SP_MESH_OK;
}

void sp_each_real_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context)
{
    if (in->hw->network.kind == SP_TORUS)
        each_torus_mesh(in, t, kind, visit, context);
    else
        each_switched_mesh(in, t, kind, visit, context);
}

/* The textbook: two axes for FSDP, one for TP, any factorisation whose TP degree divides the
 * model. The whole mesh is judged, so the verdict can be "no" where the continuous threshold
 * says "yes". */
void sp_each_rule_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context)
{
    if (in->hw->network.kind == SP_SWITCHED) {
        each_switched_mesh(in, t, kind, visit, context);
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
            each_pipeline(in, t, tp, s.W_X, s.W_Y, visit, context);
            continue;
        }
        deal_shards(&s, in, sp_chips(in->hw) / tp);
        visit(&s, context);
    }
}
