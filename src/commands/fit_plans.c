/* The strategies of `fit`: their numbers, the reason for each verdict, and the way out of each no.
 */
#include <math.h>
#include <string.h>

#include <scaleplan/fit.h>

#include "commands/fit.h"

const char *const sp_strategy_titles[SP_STRATEGIES] = {
    "DP", "FSDP", "TP", "FSDP+TP", "pipeline x FSDP", "HSDP"};
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

void sp_put_weights_ratio(const struct fit *f, double of_weights)
{
    sp_symbol(f->report, "r", f->t.r * of_weights, "",
              f->model.tuning.trainable != SP_TRAIN_ALL
                  ? "E/k of a mixture of experts, times the bytes that weights and gradients "
                    "move over the work that is left where some weights are frozen"
                  : "E/k of a mixture of experts, 1 for a dense model");
}

/* T_comms / T_math and the critical batch, and what their formulas take. */
static void put_ratio(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const bool turns = f->in.overlap == SP_OVERLAP_NONE;
    const struct {
        const char *name, *unit, *meaning;
        double value;
    } symbols[] = {
        {"W", "bytes/s", "bandwidth that the collective sees: its slowest level", f->t.W_group},
        {"W_X", "bytes/s", "axes of the FSDP group", s->W_X},
        {"W_Y", "bytes/s", "axes of the TP group; a part of a ring is a line", s->W_Y},
        {"dcn_load", "", "load of the data-centre network, 0 for one slice",
         sp_link_load(&s->loads, SP_LINK_DCN)},
        {"node_load", "", "load of the scale-up network", sp_link_load(&s->loads, SP_LINK_DOMAIN)},
        {"cross_load", "", "load of the scale-out network",
         sp_link_load(&s->loads, SP_LINK_SCALEOUT)},
        {"gathers", "", "times a step that the weights are gathered", s->loads.gathers},
        {"forward_load", "", "communication over arithmetic of the forward pass", s->forward_load},
        {"critical_dcn", "tokens", "of the data-centre network, 0 for one slice",
         sp_critical_dcn(&f->t)},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        sp_symbol(r, symbols[i].name, symbols[i].value, symbols[i].unit, "%s", symbols[i].meaning);
    sp_put_weights_ratio(f, s->kind == SP_DP ? f->t.gradients_alone : 1);
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

/* How the batch is cut, and what that keeps. */
static void put_microbatches(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    const double sequences = sp_replica_sequences(&f->in, s);
    const double whole =
        s->microbatches > 1 ? ceil(ceil(sequences - 1e-9) / (double)s->microbatches) : sequences;
    sp_symbol(r, "in_flight", s->in_flight, "", "share of the batch whose activations are alive");
    sp_symbol(r, "in_flight_each", whole / sequences, "", "share of the batch in a micro-batch");
    sp_symbol(r, "held_chip", s->held_bytes, "bytes", "gradients and weights beside the state");
    const double gradients = s->microbatches > 1
                                 ? (t->grad_bytes - t->grad_counted) * t->P_trained *
                                       (double)s->dp * s->uneven_params / t->N
                                 : 0;
    sp_symbol(r, "gathered", s->keeps_weights ? 0 : s->held_bytes - gradients, "bytes",
              "the layers that FSDP has gathered, as its framework does; none by the textbook");
    sp_symbol(r, "grad_bytes", t->grad_bytes, "bytes",
              "of an accumulated gradient: the recipe's, else as the weight");
    sp_symbol(r, "grad_counted", t->grad_counted, "bytes", "of a gradient in the recipe's state");
    sp_symbol(r, "weight_counted", t->weight_bytes == 2 ? 2 : 0, "bytes",
              "of the gathered weight's own shard in the recipe's state");
    sp_put(r, SP_Q_FIT_MICROBATCHES, (double)s->microbatches);
    sp_put(r, SP_Q_FIT_MICROBATCH, whole);
    sp_put(r,
           s->keeps_weights      ? SP_Q_FIT_MEM_HELD_WHOLE
           : s->microbatches > 1 ? SP_Q_FIT_MEM_HELD
                                 : SP_Q_FIT_MEM_HELD_NONE,
           s->held_bytes);
}

/* Everything that a strategy and the best plan have in common. */
void sp_put_strategy(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    sp_symbol(r, "state_chip", s->state_bytes, "bytes", "state on one chip");
    sp_symbol(r, "activation_chip", isnan(s->activation_bytes) ? 0 : s->activation_bytes, "bytes",
              "checkpoints on one chip");
    sp_symbol(r, "peak_chip", s->peak_bytes, "bytes", "peak and buffers on one chip");
    sp_symbol(r, "peak_per_token", fmax(s->beside.layer_peak, s->beside.loss), "bytes",
              "of a micro-batch: a layer's backward pass, or the loss");
    sp_symbol(r, "buffers", s->beside.buffers, "bytes", "gradients that the framework keeps");
    sp_symbol(r, "slack", s->beside.slack, "", "of the allocator: reserved over live");
    sp_symbol(r, "context", s->beside.context, "bytes", "the framework's runtime");
    sp_symbol(r, "activations", f->t.activation_bytes[s->remat], "bytes",
              "activations of the whole batch, %s", sp_remat_names[s->remat]);
    sp_put_bool(r, SP_Q_FIT_FITS, s->fits);
    sp_put_bool(r, SP_Q_FIT_COMPUTE_BOUND, s->compute_bound);
    sp_put_text(r, SP_Q_FIT_BOUND, "%s", s->compute_bound ? "math" : sp_link_titles[s->binding]);
    sp_put(r, SP_Q_FIT_DP_DEGREE, (double)s->dp);
    sp_put(r, SP_Q_FIT_FSDP_DEGREE, (double)s->fsdp);
    sp_put(r, SP_Q_FIT_TP_DEGREE, (double)s->tp);
    sp_put(r, SP_Q_FIT_PP_DEGREE, (double)s->pp);
    sp_put_text(r, SP_Q_FIT_MEM_REMAT, "%s", sp_remat_names[s->remat]);
    sp_symbol(r, "uneven", s->uneven, "", "layers of the fullest stage over the mean");
    sp_symbol(r, "uneven_params", s->uneven_params, "", "parameters of the fullest stage over it");
    if (s->pp > 1) {
        sp_put(r, SP_Q_FIT_CHUNKS, (double)s->chunks);
        sp_put(r, SP_Q_FIT_UNEVEN, s->uneven);
        sp_put(r, SP_Q_FIT_UNEVEN_PARAMS, s->uneven_params);
    }
    sp_put(r, s->pp > 1 ? SP_Q_FIT_MEM_STATE_STAGE : SP_Q_FIT_MEM_STATE, s->state_bytes);
    put_microbatches(f, s);
    sp_put(r, s->pp > 1 ? SP_Q_FIT_MEM_ACTIVATIONS_STAGE : SP_Q_FIT_MEM_ACTIVATIONS,
           s->activation_bytes);
    sp_put(r, s->pp > 1 ? SP_Q_FIT_MEM_PEAK_STAGES : SP_Q_FIT_MEM_PEAK, s->peak_bytes);
    sp_put(r, SP_Q_FIT_LIVE, s->live_bytes);
    sp_put(r, SP_Q_FIT_MEMORY, s->memory_bytes);
    put_sharding(f, s);
    put_ratio(f, s);
    sp_put(r, SP_Q_FIT_T_MATH, s->t_math_s);
    const bool alike = s->forward_load == s->comms_over_math;
    sp_put(r, alike ? SP_Q_FIT_T_COMMS : SP_Q_FIT_T_COMMS_BACKWARD, s->t_comms_s);
    sp_put(r, alike ? SP_Q_FIT_STEP : SP_Q_FIT_STEP_BACKWARD, s->step_s);
    if (s->pp > 1) {
        sp_put_bool(r, SP_Q_FIT_KEEPS, s->keeps_weights);
        const int64_t rest = s->microbatches % s->pp;
        sp_symbol(r, "last_round", (double)(rest > 0 ? rest : s->pp), "micro-batches",
                  "of the last round");
        sp_put(r, rest > 0 ? SP_Q_FIT_BUBBLE_ROUNDS : SP_Q_FIT_BUBBLE, s->bubble);
    }
    if (s->pp > 1)
        sp_put(r, SP_Q_FIT_STEP_BUBBLE, s->step_with_bubble_s);
}

void sp_put_reason(const struct fit *f, const struct sp_strategy *s)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    const char *const need = sp_human_text(s->memory_bytes, SP_BYTES);
    const double at_once = t->tokens_per_chip / s->loads.gathers;
    const char *const tokens = sp_human_text(at_once, SP_TOKENS);
    const double most = sp_max_tp_degree(t->C, t->W, t->F);
    const char *const critical = sp_human_text(s->critical_tokens_per_chip, SP_TOKENS);
    char mesh[64] = "", bubble[48] = "";
    if (s->pp > 1)
        snprintf(bubble, sizeof bubble, "; bubble %s", sp_human_text(s->bubble, SP_FRACTION));
    else if (s->microbatches > 1 && s->loads.gathers > 1)
        snprintf(bubble, sizeof bubble, " in each of %lld micro-batches",
                 (long long)s->microbatches);
    else if (s->microbatches > 1)
        snprintf(bubble, sizeof bubble, "; %lld micro-batches", (long long)s->microbatches);
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
    else if (s->kind == SP_TP && s->compute_bound && (double)s->tp > most)
        sp_put_text(r, SP_Q_FIT_REASON,
                    "degree %lld: few enough nodes to pass %s, whatever the batch",
                    (long long)s->tp, sp_human_text(most, SP_NUMBER));
    else if (s->kind == SP_TP)
        sp_put_text(r, SP_Q_FIT_REASON, "degree %lld against at most %s, whatever the batch",
                    (long long)s->tp, sp_human_text(most, SP_NUMBER));
    else if (!s->compute_bound && at_once >= s->critical_tokens_per_chip)
        sp_put_text(r, SP_Q_FIT_REASON,
                    "%sthe rule says yes (%s >= %s tokens a chip), but no whole split gets there",
                    mesh, tokens, critical);
    else if (isinf(s->critical_tokens_per_chip))
        sp_put_text(r, SP_Q_FIT_REASON, "%sthe %s binds whatever the batch", mesh,
                    sp_link_titles[s->binding]);
    else
        sp_put_text(r, SP_Q_FIT_REASON, "%s%s %s %s tokens a chip%s%s%s", mesh, tokens,
                    s->compute_bound ? ">=" : "<", critical, bubble,
                    s->compute_bound ? "" : ": waits for the ",
                    s->compute_bound ? "" : sp_link_titles[s->binding]);
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
    const struct sp_strategy real =
        sp_fit_mesh(&f->in, t, SP_FSDP_TP, &(struct sp_degrees){.tp = s->tp}, true);
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
        snprintf(row.label, sizeof row.label, "%s", sp_strategy_titles[kind]);
        snprintf(row.prefix, sizeof row.prefix, "strategies.%s", sp_strategy_names[kind]);
        sp_scope(f->report, row.prefix);
        if (!s.exists) {
            put_nothing(f->report);
            continue;
        }
        sp_put_strategy(f, &s);
        put_rule_extras(f, &s);
        sp_put_reason(f, &s);
        sp_put_way_out(f, &s, false);
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

/* Its degrees: "FSDP 2048 x TP 2". */
static void name_mesh(const struct sp_strategy *s, char *out, size_t size)
{
    const struct {
        const char *name;
        int64_t degree;
    } degrees[] = {{"DP", s->dp}, {"FSDP", s->fsdp}, {"TP", s->tp}, {"PP", s->pp}};
    size_t used = (size_t)snprintf(out, size, "%s", "");
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].degree > 1)
            used += (size_t)snprintf(out + used, size - used, "%s%s %lld", used ? " x " : "",
                                     degrees[i].name, (long long)degrees[i].degree);
    if (used == 0)
        snprintf(out, size, "one chip");
    else if (s->microbatches > 1)
        snprintf(out + used, size - used, " in %lld micro-batches", (long long)s->microbatches);
}

/* Whether a plan that fits leaves less free than `search` would. */
static bool is_tight(const struct fit *f, const struct sp_strategy *best)
{
    return best->fits && best->memory_bytes > sp_memory_limit_bytes(&f->hw.chip, SP_HEADROOM);
}

/* The answer in one line. */
static void put_verdict(const struct fit *f, const struct sp_strategy *best)
{
    struct sp_report *r = f->report;
    char mesh[128];
    name_mesh(best, mesh, sizeof mesh);
    sp_scope(r, "");
    const char *const need = sp_human_text(best->memory_bytes, SP_BYTES);
    const char *const has = sp_human_text(f->t.capacity_bytes, SP_BYTES);
    const char *const step = sp_human_text(best->step_with_bubble_s, SP_SECONDS);
    if (!best->fits) {
        sp_put_text(r, SP_Q_FIT_VERDICT, "No: the closest, %s, needs %s of the %s of a chip", mesh,
                    need, has);
        return;
    }
    char waits[96] = "", math[64] = "";
    if (!best->compute_bound) {
        snprintf(waits, sizeof waits, ", but it waits for the %s", sp_link_titles[best->binding]);
        snprintf(math, sizeof math, ", of which arithmetic %s",
                 sp_human_text(best->t_math_s, SP_SECONDS));
    }
    sp_put_text(r, SP_Q_FIT_VERDICT, "Yes%s%s: %s, %s of %s a chip, ideal step %s%s",
                is_tight(f, best) ? ", with little memory to spare" : "", waits, mesh, need, has,
                step, math);
}

/* Replicas without the same number of sequences: the closed forms have their mean. */
static void note_uneven_batch(struct sp_report *r, double sequences, double shards)
{
    char why[192];
    if (sequences == floor(sequences) && !sp_shares_batch(sequences, 1, shards, why, sizeof why))
        sp_note(r, "the closed forms have the mean replica, and no framework runs it: %s", why);
}

/* What the best plan takes that its line does not say. */
static void put_notes(const struct fit *f, const struct sp_strategy *best)
{
    struct sp_report *r = f->report;
    const double shards = (double)(best->dp * best->fsdp), sequences = f->t.B / f->in.seq;
    if (shards > sequences)
        sp_note(
            r,
            "the batch has %s sequences for %lld shards: it takes context parallelism of at least "
            "%lld, or shorter sequences",
            sp_human_text(sequences, SP_TOKENS), (long long)shards,
            (long long)ceil(shards / sequences));
    else
        note_uneven_batch(r, sequences, shards);
    if (best->pp > 1)
        sp_note(r,
                "pipeline: interleaved 1F1B, chunks a stage: %lld, micro-batches of one sequence: "
                "%lld, fullest stage %s of the mean%s",
                (long long)best->chunks, (long long)best->microbatches,
                sp_human_text(best->uneven, SP_NUMBER),
                best->fsdp == 1       ? ""
                : best->keeps_weights ? "; weights are gathered once a step and kept, gradients "
                                        "reduced once, and both are counted"
                                      : "; weights are gathered and gradients reduced for each "
                                        "micro-batch");
    if (best->pp == 1 && best->microbatches > 1)
        sp_note(r,
                "gradient accumulation: %lld micro-batches of %s sequences a replica%s%s "
                "(--accumulate)",
                (long long)best->microbatches,
                sp_human_text(ceil(ceil(sp_replica_sequences(&f->in, best) - 1e-9) /
                                   (double)best->microbatches),
                              SP_NUMBER),
                best->loads.gathers > 1 && best->fsdp > 1
                    ? "; FSDP gathers weights and reduces gradients for each"
                    : "",
                f->t.grad_counted > 0
                    ? ""
                    : "; the gradients that add up are counted as the weights, for the recipe "
                      "leaves them out");
    if (is_tight(f, best))
        sp_note(
            r,
            "memory is tight: `search` leaves %s of a device free (--headroom), which is %s here%s",
            sp_human_text(SP_HEADROOM, SP_FRACTION),
            sp_human_text(sp_memory_limit_bytes(&f->hw.chip, SP_HEADROOM), SP_BYTES),
            f->in.framework ? ""
                            : "; what a framework and its allocator need is not counted with "
                              "--constants textbook");
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
        sp_scope(r, "");
        sp_put_text(r, SP_Q_FIT_VERDICT, "No: the strategy has no meaning on this machine");
        return;
    }
    struct fit real = *f;
    real.in.axes = 0;
    real.t = sp_fit_terms(&real.in);
    const double at_mfu = sp_step_at_mfu_s(&best, f->mfu);
    sp_put_text(r, SP_Q_FIT_BEST_STRATEGY, "%s", sp_strategy_names[best.kind]);
    sp_put_strategy(&real, &best);
    if (best.pp == 1)
        sp_put(r, SP_Q_FIT_STEP_BUBBLE_NONE, best.step_with_bubble_s);
    sp_put(r, SP_Q_FIT_BEST_STEP_AT_MFU, at_mfu);
    sp_put(r, SP_Q_FIT_BEST_MFU, best.t_math_s / at_mfu);
    sp_put_reason(&real, &best);
    sp_put_way_out(&real, &best, true);
    sp_line(r, " ");
    sp_line(
        r,
        "best       %s on real axes: DP {best.dp} x FSDP {best.fsdp} x TP {best.tp} x PP {best.pp}",
        sp_strategy_titles[best.kind]);
    sp_line(r, "           fits: {best.fits} ({best.memory_bytes} of {capacity_bytes} a chip); "
               "compute-bound: {best.compute_bound} (comms/math {best.comms_over_math})");
    sp_line(r, "           ideal step {best.step_s}%s; {best.step_at_mfu_s} at {best.mfu} MFU (%s)",
            best.pp == 1      ? ""
            : best.uneven > 1 ? ", {best.step_with_bubble_s} at the pace of a stage {best.uneven} "
                                "times the mean and with a bubble of {best.bubble_over_ideal}"
                              : ", {best.step_with_bubble_s} with a bubble of "
                                "{best.bubble_over_ideal}",
            f->model.tuning.trainable == SP_TRAIN_ALL ? "6P" : "of what is computed");
    sp_line(r, "           {best.way_out}");
    put_notes(f, &best);
    put_verdict(f, &best);
}
