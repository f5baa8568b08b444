/* The strategies of `fit`: their numbers, the reason for each verdict, and the way out of each no.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <scaleplan/critical.h>

#include "commands/fit.h"

static const char *const titles[] = {"DP", "FSDP", "TP", "FSDP+TP", "pipeline x FSDP", "HSDP"};
static const char *const links[SP_LINKS] = {
    [SP_LINK_ICI] = "ICI",
    [SP_LINK_ICI_TP] = "ICI (TP axis)",
    [SP_LINK_DOMAIN] = "scale-up network",
    [SP_LINK_SCALEOUT] = "scale-out network",
    [SP_LINK_DCN] = "data-centre network",
};

static double load_of(const struct sp_strategy *s, enum sp_link link)
{
    return s->loads.weights[link] + s->loads.activations[link];
}

/* Rows of T_comms / T_math by the formula that core used: axes overlapped, and in turn. */
static const enum sp_quantity_id ratios[SP_RATIO_RULES][2] = {
    [SP_RATIO_ALONE] = {SP_Q_FIT_RATIO_ALONE, SP_Q_FIT_RATIO_ALONE},
    [SP_RATIO_WEIGHTS] = {SP_Q_FIT_RATIO_W, SP_Q_FIT_RATIO_W},
    [SP_RATIO_WIDTH] = {SP_Q_FIT_RATIO_TP, SP_Q_FIT_RATIO_TP},
    [SP_RATIO_SHARDS] = {SP_Q_FIT_RATIO_FSDP, SP_Q_FIT_RATIO_FSDP_TURNS},
    [SP_RATIO_TP_SLICE] = {SP_Q_FIT_RATIO_TP_SLICE, SP_Q_FIT_RATIO_TP_SLICE_TURNS},
    [SP_RATIO_AXES] = {SP_Q_FIT_RATIO_AXES, SP_Q_FIT_RATIO_TURNS},
    [SP_RATIO_LEVELS] = {SP_Q_FIT_RATIO_LINKS, SP_Q_FIT_RATIO_LINKS_TURNS},
};
static const enum sp_quantity_id criticals[][2] = {
    [SP_CRITICAL_MESH] = {SP_Q_FIT_CRITICAL_MESH, SP_Q_FIT_CRITICAL_MESH},
    [SP_CRITICAL_LINKS] = {SP_Q_FIT_CRITICAL_W, SP_Q_FIT_CRITICAL_W},
    [SP_CRITICAL_SPLIT] = {SP_Q_FIT_CRITICAL_RULE, SP_Q_FIT_CRITICAL_RULE_TURNS},
    [SP_CRITICAL_NOTHING] = {SP_Q_FIT_CRITICAL_W, SP_Q_FIT_CRITICAL_W},
};

/* T_comms / T_math and the critical batch, and what their formulas take. */
static void put_ratio(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const bool turns = f->in.overlap == SP_OVERLAP_NONE;
    const struct {
        const char *name, *unit, *meaning;
        double value;
    } symbols[] = {
        {"W", "bytes/s", "bandwidth that the collective sees: its slowest level", f->t.W},
        {"W_X", "bytes/s", "axes of the FSDP group", s->W_X},
        {"W_Y", "bytes/s", "axes of the TP group; a part of a ring is a line", s->W_Y},
        {"dcn_load", "", "load of the data-centre network, 0 for one slice",
         load_of(s, SP_LINK_DCN)},
        {"node_load", "", "load of the scale-up network", load_of(s, SP_LINK_DOMAIN)},
        {"cross_load", "", "load of the scale-out network", load_of(s, SP_LINK_SCALEOUT)},
        {"critical_dcn", "tokens", "of the data-centre network, 0 for one slice",
         sp_critical_dcn(&f->t)},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        sp_symbol(r, symbols[i].name, symbols[i].value, symbols[i].unit, "%s", symbols[i].meaning);
    sp_put(r, ratios[s->ratio_rule][turns], s->comms_over_math);
    sp_put(r, criticals[s->critical_rule][turns], s->critical_tokens_per_chip);
}

/* What lies on how many chips. */
static void put_sharding(const struct fit *f, const struct sp_strategy *s)
{
    const long long batch = (long long)s->dp * s->fsdp;
    if (f->t.N <= 1)
        sp_put_text(f->report, SP_Q_FIT_SHARDING, "everything on one chip");
    else if (s->dp > 1)
        sp_put_text(f->report, SP_Q_FIT_SHARDING,
                    "state over %.0f chips in %lld replicas; batch over %lld%s%s",
                    f->t.N / (double)s->dp, (long long)s->dp, batch,
                    s->tp > 1 ? ", each sequence over TP " : "",
                    s->tp > 1 ? sp_human_text((double)s->tp, SP_COUNT) : "");
    else
        sp_put_text(f->report, SP_Q_FIT_SHARDING, "state over %.0f chips; batch over %lld%s%s%s%s",
                    f->t.N, batch, s->tp > 1 ? ", each sequence over TP " : "",
                    s->tp > 1 ? sp_human_text((double)s->tp, SP_COUNT) : "",
                    s->pp > 1 ? ", layers over stages " : "",
                    s->pp > 1 ? sp_human_text((double)s->pp, SP_COUNT) : "");
}

/* Everything that a strategy and the best plan have in common. */
static void put_strategy(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const double m = (double)s->microbatches;
    sp_symbol(r, "state_chip", s->state_bytes, "bytes", "state on one chip");
    sp_symbol(r, "activation_chip", isnan(s->activation_bytes) ? 0 : s->activation_bytes, "bytes",
              "checkpoints on one chip");
    sp_symbol(r, "activations", f->t.activation_bytes[s->remat], "bytes",
              "activations of the whole batch, %s", sp_remat_names[s->remat]);
    sp_symbol(r, "in_flight", sp_in_flight_share(s), "",
              "share of the micro-batches whose checkpoints are alive");
    sp_symbol(r, "uneven", s->uneven, "", "layers of the fullest stage over the mean");
    sp_put_bool(r, SP_Q_FIT_FITS, s->fits);
    sp_put_bool(r, SP_Q_FIT_COMPUTE_BOUND, s->compute_bound);
    sp_put_text(r, SP_Q_FIT_BOUND, "%s", s->compute_bound ? "math" : links[s->binding]);
    sp_put(r, SP_Q_FIT_DP_DEGREE, (double)s->dp);
    sp_put(r, SP_Q_FIT_FSDP_DEGREE, (double)s->fsdp);
    sp_put(r, SP_Q_FIT_TP_DEGREE, (double)s->tp);
    sp_put(r, SP_Q_FIT_PP_DEGREE, (double)s->pp);
    sp_put_text(r, SP_Q_FIT_MEM_REMAT, "%s", sp_remat_names[s->remat]);
    sp_put(r, SP_Q_FIT_MEM_STATE, s->state_bytes);
    sp_put(r, SP_Q_FIT_MEM_ACTIVATIONS, s->activation_bytes);
    sp_put(r, SP_Q_FIT_MEMORY, s->memory_bytes);
    put_sharding(f, s);
    put_ratio(f, s);
    sp_put(r, SP_Q_FIT_T_MATH, s->t_math_s);
    sp_put(r, s->kind == SP_DP ? SP_Q_FIT_T_COMMS_DP : SP_Q_FIT_T_COMMS, s->t_comms_s);
    sp_put(r, s->kind == SP_DP ? SP_Q_FIT_STEP_DP : SP_Q_FIT_STEP, s->step_s);
    if (s->pp > 1) {
        sp_put(r, SP_Q_FIT_CHUNKS, (double)s->chunks);
        sp_put(r, SP_Q_FIT_MICROBATCHES, m);
        const int64_t rest = s->microbatches % s->pp;
        sp_symbol(r, "last_round", (double)(rest > 0 ? rest : s->pp), "micro-batches",
                  "of the last round");
        sp_put(r, rest > 0 ? SP_Q_FIT_BUBBLE_ROUNDS : SP_Q_FIT_BUBBLE, s->bubble);
    }
    if (s->pp > 1)
        sp_put(r, SP_Q_FIT_STEP_BUBBLE, s->step_with_bubble_s);
}

static void put_reason(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    const char *const need = sp_human_text(s->memory_bytes, SP_BYTES);
    const char *const tokens = sp_human_text(t->tokens_per_chip, SP_TOKENS);
    const char *const critical = sp_human_text(s->critical_tokens_per_chip, SP_TOKENS);
    char mesh[64] = "", bubble[48] = "";
    if (s->pp > 1)
        snprintf(bubble, sizeof bubble, "; bubble %s", sp_human_text(s->bubble, SP_FRACTION));
    if (s->kind == SP_PP_FSDP)
        snprintf(mesh, sizeof mesh, "%lld stages, X=%lld, Y=%lld: ", (long long)s->pp,
                 (long long)s->fsdp, (long long)s->tp);
    else if (s->kind == SP_FSDP_TP || (s->kind == SP_HSDP && s->tp > 1))
        snprintf(mesh, sizeof mesh, "%lldx%lld at %s: ", (long long)s->dp * s->fsdp,
                 (long long)s->tp, sp_human_text(s->comms_over_math, SP_NUMBER));
    if (!s->fits)
        sp_put_text(r, SP_Q_FIT_REASON, "%sneeds %s a chip, which has %s", mesh, need,
                    sp_human_text(t->capacity_bytes, SP_BYTES));
    else if (t->N <= 1)
        sp_put_text(r, SP_Q_FIT_REASON, "one chip: nothing to communicate");
    else if (s->kind == SP_TP)
        sp_put_text(r, SP_Q_FIT_REASON, "degree %lld against at most %s, whatever the batch",
                    (long long)s->tp, sp_human_text(sp_max_tp_degree(t->C, t->W, t->F), SP_NUMBER));
    else if (!s->compute_bound && t->tokens_per_chip >= s->critical_tokens_per_chip)
        sp_put_text(r, SP_Q_FIT_REASON,
                    "%sthe rule says yes (%s >= %s tokens a chip), but no whole split gets there",
                    mesh, tokens, critical);
    else if (isinf(s->critical_tokens_per_chip))
        sp_put_text(r, SP_Q_FIT_REASON, "%sthe %s binds whatever the batch", mesh,
                    links[s->binding]);
    else
        sp_put_text(r, SP_Q_FIT_REASON, "%s%s %s %s tokens a chip%s%s%s", mesh, tokens,
                    s->compute_bound ? ">=" : "<", critical,
                    s->compute_bound ? "" : ": waits for the ",
                    s->compute_bound ? "" : links[s->binding], bubble);
}

/* Adds a way out to the list, parted by semicolons. */
__attribute__((format(printf, 3, 4))) static void add_way(char *out, size_t size,
                                                          const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    const int n = used > 0 ? snprintf(out + used, size - used, "; ") : 0;
    va_start(args, format);
    vsnprintf(out + used + n, size - used - (size_t)n, format, args);
    va_end(args);
}

/* What would make it fit. */
static void put_ways_to_fit(const struct fit *f, const struct sp_strategy *s, char *out,
                            size_t size)
{
    struct sp_report *r = f->report;
    const int64_t chips = sp_chips_to_fit(s, &f->in, &f->t);
    const int64_t steps = s->fits ? 0 : sp_accumulation_to_fit(s, &f->t);
    const enum sp_remat remat = s->fits ? SP_REMATS : sp_remat_to_fit(s, &f->in, &f->t);
    sp_put(r, SP_Q_FIT_CHIPS_TO_FIT, chips > 0 ? (double)chips : NAN);
    sp_put(r, SP_Q_FIT_ACCUMULATION, steps > 0 ? (double)steps : NAN);
    if (remat < SP_REMATS)
        sp_put_text(r, SP_Q_FIT_REMAT_TO_FIT, "%s", sp_remat_names[remat]);
    else
        sp_put_null(r, SP_Q_FIT_REMAT_TO_FIT);
    if (s->fits)
        return;
    if (remat < SP_REMATS)
        add_way(out, size, "fits with --remat %s", sp_remat_names[remat]);
    if (steps > 0)
        add_way(out, size, "fits with gradient accumulation in %lld steps", (long long)steps);
    if (chips > sp_chips(&f->hw))
        add_way(out, size, "fits on %lld chips", (long long)chips);
    if (!out[0] && (s->dp > 1 || s->kind == SP_DP))
        add_way(out, size, "more replicas do not help: shard the state over all chips (FSDP)");
    else if (!out[0])
        add_way(out, size, "fits on no machine of this kind at this batch");
}

/* What would make it compute-bound. */
static void put_ways_to_keep_up(const struct fit *f, const struct sp_strategy *s, bool real_axes,
                                char *out, size_t size)
{
    struct sp_report *r = f->report;
    struct sp_strategy mesh;
    const double batch = sp_batch_needed_any(&f->in, &f->t, s->kind, real_axes, &mesh);
    const int64_t fed = sp_chips_fed(s, &f->in, &f->t);
    sp_put(r, SP_Q_FIT_BATCH_NEEDED, batch > 0 ? batch : NAN);
    sp_put(r, SP_Q_FIT_CHIPS_FED, fed > 0 ? (double)fed : NAN);
    if (s->compute_bound)
        return;
    if (isfinite(batch))
        add_way(out, size, "compute-bound from a batch of %s tokens",
                sp_human_text(batch, SP_TOKENS));
    else if (s->kind == SP_TP)
        add_way(out, size, "no batch is enough: use TP up to %lld, and FSDP for the rest",
                (long long)sp_usable_tp_degree(&f->t, f->hw.network.domain));
    else
        add_way(out, size, "no batch is enough: the %s would have to be %s times as fast",
                links[s->binding], sp_human_text(s->comms_over_math, SP_NUMBER));
    if (fed > 0 && fed < sp_chips(&f->hw) && f->t.S <= 1 &&
        (s->kind == SP_DP || s->kind == SP_FSDP))
        add_way(out, size, "this batch feeds at most %lld chips", (long long)fed);
}

/* The smallest change for each no, as numbers and in words. */
static void put_way_out(const struct fit *f, const struct sp_strategy *s, bool real_axes)
{
    char out[512] = "";
    put_ways_to_fit(f, s, out, sizeof out);
    put_ways_to_keep_up(f, s, real_axes, out, sizeof out);
    if (out[0])
        sp_put_text(f->report, SP_Q_FIT_WAY_OUT, "%s", out);
    else
        sp_put_null(f->report, SP_Q_FIT_WAY_OUT);
}

/* A strategy without a meaning here keeps its keys, as null. */
static void put_nothing(struct sp_report *r)
{
    static const enum sp_quantity_id ids[] = {
        SP_Q_FIT_FITS,       SP_Q_FIT_COMPUTE_BOUND, SP_Q_FIT_MEMORY,
        SP_Q_FIT_CRITICAL_W, SP_Q_FIT_T_MATH,        SP_Q_FIT_T_COMMS,
        SP_Q_FIT_STEP,       SP_Q_FIT_REASON,        SP_Q_FIT_RATIO_W};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        sp_put_null(r, ids[i]);
}

static void put_rule_extras(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    if (s->kind == SP_TP) {
        sp_symbol(r, "W_tp", t->W, "bytes/s", "bandwidth of a TP group over all chips");
        sp_put(r, SP_Q_FIT_MAX_DEGREE, sp_max_tp_degree(t->C, t->W, t->F));
        return;
    }
    if (s->kind != SP_FSDP_TP || isnan(t->W_X))
        return;
    sp_put(r, SP_Q_FIT_X_OPT, sp_optimal_fsdp_degree(t->B, t->N, t->W_X, t->W_Y, t->F, t->r));
    const struct sp_strategy real = sp_fit_on_real_axes(&f->in, t, s->tp);
    sp_put(r, SP_Q_FIT_RATIO_REAL, real.exists ? real.comms_over_math : NAN);
    const double closed =
        sp_critical_tokens_per_chip_mixed(t->C, t->W_X, t->W_Y, t->F, t->r, f->in.overlap);
    if (t->tokens_per_chip >= closed && s->comms_over_math > 1)
        sp_note(
            r,
            "the continuous rule is optimistic here: %s tokens a chip pass its %s, but the best "
            "whole split %lldx%lld is %s times communication-bound",
            sp_human_text(t->tokens_per_chip, SP_TOKENS), sp_human_text(closed, SP_TOKENS),
            (long long)s->fsdp, (long long)s->tp, sp_human_text(s->comms_over_math, SP_NUMBER));
    if (real.exists && real.comms_over_math > s->comms_over_math * 1.001)
        sp_note(r,
                "the rule's mesh %lldx%lld stands at %s, but on the real axes at %s: a TP group of "
                "%lld is part of a ring and has no wraparound",
                (long long)s->fsdp, (long long)s->tp, sp_human_text(s->comms_over_math, SP_NUMBER),
                sp_human_text(real.comms_over_math, SP_NUMBER), (long long)s->tp);
    if (!real.exists)
        sp_note(r, "the rule's mesh %lldx%lld cannot be laid on the real axes of the slice",
                (long long)s->fsdp, (long long)s->tp);
}

void sp_put_strategies(const struct fit *f)
{
    static const struct sp_column columns[] = {
        {NULL, "strategy", true},
        {"fits", "fits", false},
        {"state_bytes", "state", false},
        {"activation_bytes", "activations", false},
        {"remat", "recompute", true},
        {"compute_bound", "compute-bound", false},
        {"comms_over_math", "comms/math", false},
        {"t_math_s", "T_math", false},
        {"t_comms_s", "T_comms", false},
        {"step_s", "step", false},
        {"reason", "why", true},
    };
    static const struct sp_column ways[] = {{NULL, "strategy", true},
                                            {"way_out", "what turns the no into a yes", true}};
    struct sp_row rows[SP_STRATEGIES], outs[SP_STRATEGIES];
    size_t n_rows = 0, n_outs = 0;
    for (int kind = 0; kind < SP_STRATEGIES; kind++) {
        if (f->only >= 0 && kind != f->only)
            continue;
        const struct sp_strategy s = sp_fit_strategy(&f->in, &f->t, (enum sp_strategy_kind)kind);
        struct sp_row row = {0};
        snprintf(row.label, sizeof row.label, "%s", titles[kind]);
        snprintf(row.prefix, sizeof row.prefix, "strategies.%s", sp_strategy_names[kind]);
        sp_scope(f->report, row.prefix);
        if (!s.exists) {
            put_nothing(f->report);
            continue;
        }
        put_strategy(f, &s);
        put_rule_extras(f, &s);
        put_reason(f, &s);
        put_way_out(f, &s, false);
        rows[n_rows++] = row;
        if (!s.fits || !s.compute_bound)
            outs[n_outs++] = row;
    }
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof *columns, rows, n_rows);
    if (n_outs > 0) {
        sp_line(f->report, " ");
        sp_table(f->report, ways, sizeof ways / sizeof *ways, outs, n_outs);
    }
}

/* Activations of the whole batch as the best plan keeps them. */
static void put_activations(const struct fit *f, enum sp_remat remat)
{
    struct sp_report *r = f->report;
    sp_scope(r, "");
    if (sp_model_has_shape(&f->model))
        sp_symbol(r, "bytes_per_token_layer", sp_activation_bytes_per_token_layer(&f->model, remat),
                  "bytes", "kept for one token in one layer, %s", sp_remat_names[remat]);
    sp_put_text(r, SP_Q_FIT_REMAT, "%s", sp_remat_names[remat]);
    sp_put(r, SP_Q_FIT_ACTIVATION_BYTES, f->t.activation_bytes[remat]);
}

void sp_put_best(const struct fit *f)
{
    struct sp_report *r = f->report;
    const unsigned allowed = f->only < 0 ? ~0u : 1u << f->only;
    const struct sp_strategy best = sp_fit_best(&f->in, &f->t, allowed);
    put_activations(f, best.exists ? best.remat : SP_REMAT_NONE);
    sp_scope(r, "best");
    if (!best.exists) {
        sp_put_null(r, SP_Q_FIT_BEST_STRATEGY);
        put_nothing(r);
        return;
    }
    struct fit real = *f;
    real.in.axes = 0;
    real.t = sp_fit_terms(&real.in);
    const double at_mfu = sp_step_at_mfu_s(&best, f->mfu);
    sp_put_text(r, SP_Q_FIT_BEST_STRATEGY, "%s", sp_strategy_names[best.kind]);
    put_strategy(&real, &best);
    if (best.pp == 1)
        sp_put(r, SP_Q_FIT_STEP_BUBBLE_NONE, best.step_with_bubble_s);
    sp_put(r, SP_Q_FIT_BEST_STEP_AT_MFU, at_mfu);
    sp_put(r, SP_Q_FIT_BEST_MFU, best.t_math_s / at_mfu);
    put_reason(&real, &best);
    put_way_out(&real, &best, true);
    sp_line(r, " ");
    sp_line(
        r,
        "best       %s on real axes: DP {best.dp} x FSDP {best.fsdp} x TP {best.tp} x PP {best.pp}",
        titles[best.kind]);
    sp_line(r, "           fits: {best.fits} ({best.memory_bytes} of {capacity_bytes} a chip); "
               "compute-bound: {best.compute_bound} (comms/math {best.comms_over_math})");
    sp_line(r, "           ideal step {best.step_s}%s; {best.step_at_mfu_s} at {best.mfu} MFU (6P)",
            best.pp > 1 ? ", {best.step_with_bubble_s} with a bubble of {best.bubble_over_ideal}"
                        : "");
    sp_line(r, "           {best.way_out}");
    const double shards = (double)(best.dp * best.fsdp), sequences = f->t.B / f->in.seq;
    if (shards > sequences)
        sp_note(
            r,
            "the batch has %s sequences for %lld shards: it takes context parallelism of at least "
            "%lld, or shorter sequences",
            sp_human_text(sequences, SP_TOKENS), (long long)shards,
            (long long)ceil(shards / sequences));
    if (best.pp > 1)
        sp_note(r,
                "pipeline: interleaved 1F1B, chunks a stage: %lld, micro-batches of one sequence: "
                "%lld, fullest "
                "stage %s of the mean; weights are gathered once a step and kept, gradients "
                "reduced once",
                (long long)best.chunks, (long long)best.microbatches,
                sp_human_text(best.uneven, SP_NUMBER));
}
