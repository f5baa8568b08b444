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
    struct sp_strategy best = *s;
    sp_judge(&best, in, t);
    for (int64_t v = 2; v <= most; v++) {
        struct sp_strategy deeper = *s;
        deeper.chunks = v;
        sp_judge(&deeper, in, t);
        if (sp_better(&deeper, &best))
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

/* Gives whole axes to shards so that their product is `fsdp`, the others to replicas. Returns the
 * shards' bandwidth; NAN if impossible. The replicas' load is that of one shard and never the
 * larger. */
static double axes_of_shards(const struct sp_hardware *hw, int64_t fsdp)
{
    double best = NAN;
    for (unsigned chosen = 0; chosen < 1U << SP_MAX_AXES; chosen++) {
        const double rate = sp_slice_axes_bytes_per_s(hw, chosen);
        int64_t product = 1;
        for (int i = 0; i < SP_MAX_AXES; i++)
            product *= chosen >> i & 1 ? hw->shape.axis[i] : 1;
        if (product == fsdp && !(best >= rate))
            best = rate;
    }
    return best;
}

/* Shards take whole axes first, replicas the rest, because replicas reduce only a shard. */
static bool lay_on_torus(const struct sp_hardware *hw, struct sp_strategy *s)
{
    if (s->tp > 1 || s->pp > 1 || hw->slices > 1)
        return false;
    s->W_X = axes_of_shards(hw, s->fsdp);
    return !isnan(s->W_X);
}

/* TP is innermost and stays within a domain, then shards, replicas, stages. */
static bool lay_on_switches(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                            struct sp_strategy *s)
{
    const int64_t domain = in->hw->network.domain;
    const bool shaped = sp_model_has_shape(in->model);
    if (s->tp > 1 && (!shaped || domain % s->tp != 0 || !sp_tp_divides(in->model, s->tp, s->tp)))
        return false;
    if (s->pp == 1)
        return true;
    if (!shaped || s->pp > in->model->layers)
        return false;
    sp_seat_sequences(s, in);
    s->microbatches = sp_most_microbatches(sp_replica_sequences(in, s));
    deepen_pipeline(s, in, t);
    return true;
}

bool sp_lay_replicas(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                     const struct sp_degrees *d, struct sp_strategy *s)
{
    *s = sp_new_strategy(d->pp > 1 ? SP_PP_FSDP : SP_HSDP);
    s->dp = d->dp;
    s->fsdp = d->fsdp;
    s->tp = d->tp;
    s->pp = d->pp;
    return in->hw->network.kind == SP_TORUS ? lay_on_torus(in->hw, s) : lay_on_switches(in, t, s);
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
