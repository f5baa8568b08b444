/* Verdicts of `fit`, their reasons, and the smallest remedy for each "no". */
#include "study/fit_rows.h"

#include <math.h>

#include <scaleplan/fit.h>
#include <scaleplan/plan.h>

static enum sp_fit_why why_of(const struct sp_fit_row *row)
{
    const struct sp_strategy *const s = &row->s;
    if (!s->fits)
        return SP_WHY_MEMORY;
    if (row->t->N <= 1)
        return SP_WHY_ALONE;
    if (s->kind == SP_TP)
        return s->compute_bound && row->tp > row->tp_most ? SP_WHY_FEW_NODES : SP_WHY_DEGREE;
    if (!s->compute_bound && s->cp > 1 && row->at_once >= s->critical_tokens_per_chip)
        return SP_WHY_CONTEXT;
    if (!s->compute_bound && row->at_once >= s->critical_tokens_per_chip)
        return SP_WHY_NO_SPLIT;
    return isinf(s->critical_tokens_per_chip) ? SP_WHY_NEVER : SP_WHY_TOKENS;
}

/* Whether the strategy is compute-bound at that batch and still fits if it does now. */
static bool keeps_up_at(const struct sp_fit_row *row, bool real_axes, double batch)
{
    const struct sp_strategy *const s = &row->s;
    struct sp_fit_input in = *row->in;
    in.batch_tokens = batch * (1 + 1e-9);
    const struct sp_fit_terms t = sp_fit_terms(&in);
    const struct sp_strategy then =
        real_axes ? sp_fit_best(&in, &t, 1u << s->kind) : sp_fit_strategy(&in, &t, s->kind);
    return then.exists && then.compute_bound && (then.fits || !s->fits);
}

/* The largest TP degree that hides and divides chips and model; 1: none. */
static int64_t usable_tp(const struct sp_fit_row *row)
{
    const int64_t chips = sp_chips(row->in->hw);
    const int64_t hides = sp_usable_tp_degree(row->t, row->in->hw->network.domain);
    int64_t degree = hides < chips ? hides : chips; /* slow chips hide any degree */
    while (degree > 1 && (chips % degree != 0 || !sp_tp_divides(row->in->model, degree, degree)))
        degree--;
    return degree;
}

/* The remedy of a row; `batch`: the smallest that makes a mesh compute-bound with one gather per
 * step. */
static enum sp_fit_remedy remedy_of(const struct sp_fit_row *row, bool real_axes, double batch)
{
    const struct sp_strategy *const s = &row->s;
    /* without a micro-batch that fits, gathers cannot be judged */
    if (s->compute_bound || (!s->fits && s->loads.gathers > 1))
        return SP_REMEDY_NONE;
    if (!isfinite(batch) && s->kind == SP_TP)
        return row->tp_degree > 1 ? SP_REMEDY_TP : SP_REMEDY_FSDP;
    if (!isfinite(batch))
        return SP_REMEDY_NETWORK;
    if (batch > row->t->B)
        return keeps_up_at(row, real_axes, batch) ? SP_REMEDY_BATCH : SP_REMEDY_NO_ROOM;
    if (s->loads.gathers > 1)
        return s->pp > 1 ? SP_REMEDY_SEQUENCES : SP_REMEDY_GATHERS;
    return SP_REMEDY_MESH;
}

static double number_or_nan(int64_t count)
{
    return count > 0 ? (double)count : NAN;
}

static void find_ways(struct sp_fit_row *row, bool real_axes)
{
    const struct sp_fit_input *const in = row->in;
    const struct sp_fit_terms *const t = row->t;
    const struct sp_strategy *const s = &row->s;
    const int64_t fed = sp_chips_fed(s, in, t);
    const double batch = sp_batch_needed_any(in, t, s->kind, real_axes, &row->other);
    row->chips_to_fit = number_or_nan(sp_chips_to_fit(s, in, t));
    row->accumulation = number_or_nan(s->fits ? 0 : sp_accumulation_to_fit(s, in, t));
    row->remat_to_fit = s->fits ? SP_REMATS : sp_remat_to_fit(s, in, t);
    row->batch_needed = batch > 0 ? batch : NAN;
    row->chips_fed = number_or_nan(fed);
    row->tp_degree = usable_tp(row);
    row->remedy = remedy_of(row, real_axes, batch);
    row->is_more_fed = row->remedy != SP_REMEDY_NONE && fed > 0 && fed < sp_chips(in->hw) &&
                       t->S <= 1 && s->loads.gathers <= 1 &&
                       (s->kind == SP_DP || s->kind == SP_FSDP);
}

/* Sequences per replica and pass. */
static double sequences_at_once(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    const double sequences = sp_replica_sequences(in, s);
    return s->microbatches > 1 ? ceil(ceil(sequences - 1e-9) / (double)s->microbatches) : sequences;
}

void sp_fill_fit_row(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                     const struct sp_strategy *s, bool real_axes, struct sp_fit_row *row)
{
    const int64_t rest = s->pp > 0 ? s->microbatches % s->pp : 0;
    const int64_t replicas = s->dp * s->fsdp / s->cp;
    *row = (struct sp_fit_row){
        .in = in,
        .t = t,
        .s = *s,
        .dp = (double)s->dp,
        .fsdp = (double)s->fsdp,
        .tp = (double)s->tp,
        .pp = (double)s->pp,
        .chunks = (double)s->chunks,
        .microbatches = (double)s->microbatches,
        .batch_shards = (double)(s->dp * s->fsdp),
        .cp = (double)s->cp,
        .ep = (double)s->ep,
        .sequences = sp_replica_sequences(in, s),
        .replicas = (double)replicas,
        .batch_sequences = sp_sequences_of(t->B, in->seq),
        .state_chips = t->N / (double)s->dp,
        .activations = t->activation_bytes[s->remat],
        .activations_alive = isnan(s->activation_bytes) ? 0 : s->activation_bytes,
        .microbatch_sequences = sequences_at_once(in, s),
        .weight_counted = t->weight_bytes == 2 ? 2 : 0,
        .r = t->r * (s->kind == SP_DP ? t->gradients_alone : 1),
        .dcn_load = sp_link_load(&s->loads, SP_LINK_DCN),
        .node_load = sp_link_load(&s->loads, SP_LINK_DOMAIN),
        .cross_load = sp_link_load(&s->loads, SP_LINK_SCALEOUT),
        .critical_dcn = sp_critical_dcn(t),
        .last_round = (double)(rest > 0 ? rest : s->pp),
        .turns = in->overlap == SP_OVERLAP_NONE,
        .at_once = t->tokens_per_chip / s->loads.gathers,
        .tp_most = sp_max_tp_degree(t->C, t->W, t->F),
        .real_ratio = NAN,
        .critical_mixed =
            sp_critical_fsdp_tp(t->C, t->W_X, t->W_Y, t->F, t->r, sp_turns(in->overlap)),
    };
    row->why = why_of(row);
    find_ways(row, real_axes);
}

void sp_fill_real_axes(struct sp_fit_row *row, const struct sp_degrees *degrees)
{
    const struct sp_strategy *const s = &row->s;
    const struct sp_strategy real = sp_fit_mesh(row->in, row->t, s->kind, degrees, true);
    row->real_ratio = real.exists ? real.comms_over_math : NAN;
    row->is_worse_on_axes = real.exists && real.comms_over_math > s->comms_over_math * 1.001;
}

double sp_machine_gather_bytes_per_s(const struct sp_hardware *hw)
{
    const struct sp_device_group group = sp_machine_group(hw);
    const double gather = sp_time_of_collective(SP_ALL_GATHER, 1, &group).throughput_s;
    return gather > 0 ? 1 / gather : NAN;
}

int sp_open_axes(const struct sp_hardware *hw, int *axes)
{
    int open = 0;
    *axes = 0;
    for (int i = 0; i < SP_MAX_AXES && hw->network.kind == SP_TORUS; i++) {
        *axes += hw->shape.axis[i] > 1;
        open += hw->shape.axis[i] > 1 && !sp_axis_wraps(hw, i);
    }
    return open;
}

double sp_least_cp(double shards, double sequences)
{
    return ceil(shards / sequences);
}
