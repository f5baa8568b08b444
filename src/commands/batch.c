/* batch: the batch below which each kind of parallelism waits for its network, and the inverses. */
#include <math.h>
#include <string.h>

#include "commands/batch.h"
#include "commands/plot_data.h"

static const struct sp_taken options[] = {
    SP_OPTIONS_MACHINE,
    SP_TAKE(chips),
    SP_OPTIONS_MODEL,
    SP_TAKE(d_ff),
    SP_TAKE(d_model),
    SP_TAKE(experts),
    SP_TAKE(top_k, .fallback = "1"),
    SP_OPTION_BATCH,
    SP_TAKE(tokens_per_chip, .excludes = SP_THESE(SP_O_batch)),
    SP_OPTION_SEQ,
    SP_OPTION_OVERLAP,
    SP_TAKE(dtype, .fallback = "bf16"),
    SP_TAKE(wire_bytes),
    SP_TAKE(fsdp),
    SP_TAKE(tp),
    SP_TAKE(pp, .fallback = "1"),
    SP_TAKE(ep),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"scaleplan batch --hw v5p-4096",
     "critical batches on 1, 2 and 3 axes, and for the whole slice"},
    {"scaleplan batch --hw v5p --d-ff 30000 --batch 2M --get chips_fed.fsdp_tp",
     "most chips a batch can feed"},
    {"scaleplan batch --hw h100-2048 --experts 128 --top-k 4 --get critical.dp.cross",
     "a mixture of experts"},
    {"scaleplan batch --hw v5p-4096 --explain critical.dp.3", "formula, numbers and source"},
    {"scaleplan batch --hw v5p-4096 --model llama2-13b --plot batch.svg",
     "T_math and T_comms over the batch, drawn"},
    {NULL, NULL},
};

static void put_mixed(const struct batch *f)
{
    struct sp_report *r = f->report;
    const int64_t axes = f->hw.network.axes;
    const double W_ici = 2 * f->hw.network.link_bytes_per_s;
    const double W_X = W_ici * (double)(axes - 1), W_Y = W_ici;
    sp_scope(r, "");
    if (axes < 2 || isnan(f->F)) {
        sp_put_null(r, SP_Q_BATCH_MIXED);
        return;
    }
    double by[2]; /* enum sp_overlap */
    for (int overlap = 0; overlap < 2; overlap++)
        by[overlap] = sp_critical_tokens_per_chip_mixed(f->C_wire, W_X, W_Y, f->F, f->r,
                                                        (enum sp_overlap)overlap);
    const double critical = by[f->overlap];
    sp_symbol(r, "W_X", W_X, "bytes/s", "axes that the rule gives to FSDP: %lld",
              (long long)axes - 1);
    sp_symbol(r, "W_Y", W_Y, "bytes/s", "axis that the rule gives to TP");
    sp_symbol(r, "turns", critical / by[SP_OVERLAP_AXES], "",
              "4 where collectives take turns, 1 where they overlap");
    sp_put(r, SP_Q_BATCH_MIXED, critical);
    sp_put(r, SP_Q_BATCH_MIXED_AXES, by[SP_OVERLAP_AXES]);
    sp_put(r, SP_Q_BATCH_MIXED_TURNS, by[SP_OVERLAP_NONE]);
    sp_put(r, SP_Q_BATCH_MIXED_TOTAL, f->N * critical);
    sp_line(
        r, "FSDP+TP      {critical.fsdp_tp} tokens a chip (axes overlapped "
           "{critical.fsdp_tp_overlapped}, in "
           "turn {critical.fsdp_tp_in_turn}; --overlap), {batch_needed.fsdp_tp} for {chips} chips");
    if (!f->has_batch)
        return;
    const double x = sp_optimal_fsdp_degree(f->B, f->N, W_X, W_Y, f->F, f->r);
    sp_put(r, SP_Q_BATCH_MIXED_FED, f->B / (critical));
    sp_put(r, SP_Q_BATCH_MIXED_PODS, f->B / critical / f->pod);
    if (f->slice > 1)
        sp_put(r, SP_Q_BATCH_MIXED_SLICES, f->B / critical / f->slice);
    sp_put_bool(r, SP_Q_BATCH_MIXED_OK, f->B / f->N >= critical);
    sp_put(r, SP_Q_BATCH_X_OPT, x);
    sp_put(r, SP_Q_BATCH_X_POW2, sp_nearest_pow2(x));
    sp_put(r, SP_Q_BATCH_Y_POW2, sp_nearest_pow2(f->N / sp_nearest_pow2(x)));
    sp_line(r, "             this batch feeds {chips_fed.fsdp_tp} chips; X_opt {x_opt}, nearest "
               "power of two {x_pow2}");
    const struct sp_split split =
        sp_best_pow2_split(f->B, (int64_t)f->N, f->F, f->C_wire, W_X, W_Y, f->r, f->overlap);
    sp_scope(r, "");
    sp_symbol(r, "fsdp", split.fsdp, "", "FSDP degree of the split");
    sp_put(r, SP_Q_BATCH_SPLIT_X, split.fsdp);
    sp_put(r, SP_Q_BATCH_SPLIT_Y, split.tp);
    sp_put(r, SP_Q_BATCH_SPLIT_RATIO, split.comms_over_math);
    sp_put_bool(r, SP_Q_BATCH_SPLIT_OK, split.comms_over_math <= 1);
    sp_line(r, "             best power-of-two split {split.fsdp} x {split.tp}: T_comms / T_math "
               "{split.comms_over_math}, compute-bound {split.compute_bound}");
}

/* The axes that this very slice has: those that do not close are lines. */
static void put_real_axes(const struct batch *f)
{
    struct sp_report *r = f->report;
    const double W = sp_slice_axes_bytes_per_s(&f->hw, (1U << f->hw.network.axes) - 1);
    bool rings = true;
    for (int i = 0; i < f->hw.network.axes; i++) {
        const int64_t length = f->hw.shape.axis[i];
        rings = rings && (length == 1 || sp_axis_wraps(&f->hw, i));
    }
    if (W <= 0)
        return;
    const double critical = sp_critical_tokens_per_chip(f->C_wire, W, f->r);
    sp_scope(r, "");
    sp_symbol(r, "W_slice", W, "bytes/s",
              "axes of the slice together: 2w a ring, w N/(N-1) a line, N their chips");
    sp_put(r, SP_Q_BATCH_SLICE, critical);
    if (f->has_batch)
        sp_put_bool(r, SP_Q_BATCH_SLICE_OK, f->B / f->N >= critical);
    if (!rings)
        sp_line(r, "this slice   {critical.slice} tokens a chip: not all of its axes close into "
                   "rings, as the lines above suppose");
}

/* Experts dealt out over chips of this slice; a chip without a size has no axes to lay them on. */
static void put_torus_experts(const struct batch *f)
{
    struct sp_report *r = f->report;
    if (isnan(f->ep) || f->ep <= 1)
        return;
    const struct sp_torus_group g = sp_exchange_box(&f->hw, (int64_t)f->ep);
    if (g.n == 0) {
        sp_note(r, "--ep %s: the axes of this slice have no box of so many chips (--hw names it)",
                sp_human_text(f->ep, SP_COUNT));
        return;
    }
    const double least = sp_min_d_ff_for_ep_torus(f->top_k, f->C_wire, &g);
    sp_scope(r, "");
    sp_symbol(r, "Z", f->ep, "", "expert-parallel degree");
    sp_symbol(r, "k", f->top_k, "", "experts of a token");
    sp_symbol(r, "exchange", sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1, &g), "s/byte",
              "of an all-to-all over these chips");
    sp_put(r, SP_Q_BATCH_EP_TORUS, least);
    if (!isnan(f->d_expert))
        sp_put_bool(r, SP_Q_BATCH_EP_OK, f->d_expert >= least);
    sp_line(r, "experts      EP over %s chips hides from an expert width of {ep.d_ff_min}%s",
            sp_human_text(f->ep, SP_COUNT),
            isnan(f->d_expert) ? "" : ": hidden at this one: {ep.compute_bound}");
}

static void put_torus(const struct batch *f)
{
    const struct sp_network *net = &f->hw.network;
    const double W_dcn = sp_dcn_bytes_per_s_per_chip(net);
    for (int n = 1; n <= net->axes; n++) {
        char level[16], what[32];
        snprintf(level, sizeof level, "%d", n);
        snprintf(what, sizeof what, "%d %s", n, n == 1 ? "axis" : "axes");
        sp_put_batch_level(f, level, 2 * n * net->link_bytes_per_s, what);
    }
    put_mixed(f);
    put_real_axes(f);
    put_torus_experts(f);
    if (isnan(W_dcn)) {
        sp_put_null(f->report, SP_Q_BATCH_DCN);
        return;
    }
    const double critical = sp_critical_tokens_per_chip(f->C_wire, W_dcn, f->r);
    sp_scope(f->report, "");
    sp_symbol(f->report, "W_dcn", W_dcn, "bytes/s", "data-centre egress of one chip");
    sp_put(f->report, SP_Q_BATCH_DCN, critical);
    if (f->has_batch)
        sp_put_bool(f->report, SP_Q_BATCH_DCN_OK, f->B / f->S >= critical);
    sp_line(f->report, "slices       {critical.dcn} tokens a slice over the data-centre network");
}

/* Traffic of a layer, and the two-dimensional split of weights that stay in place. */
static void put_layer(const struct batch *f, const struct sp_args *args)
{
    struct sp_report *r = f->report;
    const double Y = isnan(f->tp) ? 1 : f->tp, given = args->value.fsdp;
    const double X = isnan(given) ? f->N / Y : given;
    if (isnan(f->F) || isnan(f->D))
        return;
    const struct sp_layer_bytes bytes = sp_layer_bytes(f->B, f->D, f->F, X, Y);
    sp_scope(r, "");
    sp_symbol(r, "X", X, "", "FSDP degree");
    sp_put(r, SP_Q_BATCH_BYTES_DP, bytes.dp);
    sp_put(r, SP_Q_BATCH_BYTES_FSDP, bytes.fsdp);
    if (f->has_batch) {
        sp_put(r, SP_Q_BATCH_BYTES_TP, bytes.tp);
        sp_put(r, SP_Q_BATCH_BYTES_MIXED, bytes.mixed);
    }
    sp_put(r, SP_Q_BATCH_2D_MIN, sp_stationary_min_chips(f->D, f->F));
    sp_put(r, SP_Q_BATCH_2D_X, sp_stationary_x(f->N, f->D, f->F));
    sp_put(r, SP_Q_BATCH_2D_YZ, f->N / sp_stationary_x(f->N, f->D, f->F));
    sp_line(r,
            "a layer      moves {layer_bytes.dp} with DP, {layer_bytes.fsdp} with FSDP, "
            "{layer_bytes.tp} with "
            "TP, {layer_bytes.fsdp_tp} with FSDP %s x TP %s",
            sp_human_text(X, SP_COUNT), sp_human_text(Y, SP_COUNT));
}

static bool load(const struct sp_args *args, struct batch *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const double d_ff = args->value.d_ff, d_model = args->value.d_model;
    const double experts = args->value.experts, k = args->value.top_k;
    const double chips = args->value.chips, wire = args->value.wire_bytes;
    const double per_chip = args->value.tokens_per_chip;
    const enum sp_dtype wanted = (enum sp_dtype)args->value.dtype;
    const bool has_model = args->value.model || args->value.shape;
    const char *origin;
    if ((has_model && !sp_model_of(args, &sources, &f->model, error)) ||
        !sp_hardware_of(args, &sources, &f->hw, error) ||
        !sp_batch_of(args, &f->model, &f->B, &f->T, &origin, error))
        return false;
    if (k > experts)
        return sp_fail(error, SP_INPUT, "--top-k is larger than --experts");
    const enum sp_dtype dtype = sp_compute_dtype(&f->hw.chip, wanted);
    f->has_batch = args->value.batch || f->model.batch_tokens > 0;
    f->C = f->hw.chip.peak_flops_per_s[dtype];
    f->N = isnan(chips) ? (double)sp_chips(&f->hw) : chips;
    if (!isnan(per_chip)) {
        f->B = per_chip * f->N;
        f->has_batch = true;
    }
    f->S = (double)f->hw.slices;
    f->slice = (double)f->hw.chips_per_slice;
    struct sp_hardware pod;
    f->pod = sp_whole_pod(&f->hw, &pod) ? (double)pod.chips_per_slice : NAN;
    f->experts = !isnan(experts)            ? experts
                 : f->model.moe.experts > 0 ? (double)f->model.moe.experts
                                            : NAN;
    f->ep = args->value.ep;
    f->top_k = f->model.moe.top_k > 0 ? (double)f->model.moe.top_k : k;
    if (f->ep > f->experts)
        return sp_fail(error, SP_INPUT,
                       "--ep %s: there are %s experts to deal out; ep.d_ff_min_limit "
                       "is the limit of any degree",
                       sp_human_text(f->ep, SP_COUNT), sp_human_text(f->experts, SP_COUNT));
    f->F = !isnan(d_ff) ? d_ff : has_model ? sp_active_d_ff(&f->model) : NAN;
    f->d_expert = f->model.moe.d_ff_expert > 0 ? (double)f->model.moe.d_ff_expert : f->F;
    f->D = !isnan(d_model)                 ? d_model
           : sp_model_has_shape(&f->model) ? (double)f->model.d_model
                                           : NAN;
    f->r = !isnan(experts) ? experts / k : has_model ? sp_expert_ratio(&f->model) : 1;
    f->wire = !isnan(wire) ? wire : sp_dtypes[dtype].wire_bytes;
    f->C_wire = sp_peak_of_wire(f->C, f->wire);
    f->tp = args->value.tp;
    f->overlap = (enum sp_overlap)args->value.overlap;
    if (dtype != wanted)
        sp_note(f->report, "%s publishes no %s peak; C is its %s peak", f->hw.name,
                sp_dtype_names[wanted], sp_dtype_names[dtype]);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct batch f = {.report = report};
    if (!load(args, &f, error))
        return false;
    sp_symbol(report, "C", f.C, "FLOP/s", "dense peak of one chip");
    sp_symbol(report, "N", f.N, "chips", "chips");
    sp_symbol(report, "S", f.S, "", "slices");
    sp_symbol(report, "B", f.B, "tokens", "batch");
    sp_symbol(report, "T", f.T, "tokens", "sequence length");
    sp_symbol(report, "F", f.F, "", "MLP width that a token passes");
    sp_symbol(report, "D", f.D, "", "d_model");
    sp_symbol(report, "Y", isnan(f.tp) ? 1 : f.tp, "", "TP degree");
    sp_symbol(report, "r", f.r, "", "E/k of a mixture of experts, 1 for a dense model");
    sp_symbol(report, "b", f.wire, "bytes", "an element on the wire");
    sp_put(report, SP_Q_BATCH_PEAK, f.C);
    sp_put(report, SP_Q_BATCH_CHIPS, f.N);
    sp_line(report, "hardware     %s: {chips} chips of {peak_flops_per_s}%s", f.hw.name,
            f.r > 1 ? ", weights' traffic times E/k" : "");
    if (f.has_batch) {
        sp_put(report, SP_Q_BATCH_TOKENS, f.B);
        sp_put(report, SP_Q_BATCH_TOKENS_CHIP, f.B / f.N);
        sp_put(report, SP_Q_BATCH_TOKENS_SLICE, f.B / f.S);
        sp_put(report, SP_Q_BATCH_SEQUENCES, f.B / f.T);
        sp_put_bool(report, SP_Q_BATCH_SEQUENCES_OK, f.B / f.T >= f.N);
        sp_line(
            report,
            "batch        {batch_tokens} tokens, {sequences} sequences: {tokens_per_chip} a chip, "
            "{tokens_per_slice} a slice");
    }
    const double W_1 = f.hw.network.kind == SP_TORUS ? 2 * f.hw.network.link_bytes_per_s
                                                     : f.hw.network.domain_bytes_per_s;
    sp_symbol(report, "W_1", W_1, "bytes/s", "one torus axis, or a node's inside");
    sp_put(report, SP_Q_BATCH_TP_MAX, sp_max_tp_degree(f.C_wire, W_1, f.F));
    const bool torus = f.hw.network.kind == SP_TORUS;
    sp_line(report, "critical batches, DP and FSDP%s:",
            torus ? "" : " (many devices, (n-1)/n dropped, but where it says kept)");
    if (torus)
        put_torus(&f);
    else
        sp_put_batch_switched(&f, args);
    put_layer(&f, args);
    return true;
}

const struct sp_command sp_cmd_batch = {
    .name = "batch",
    .summary = "critical batch of every strategy and network, and the inverses",
    .about = "The batch below which each kind of parallelism waits for its network: DP and FSDP on "
             "one, two and "
             "three wrapped torus axes, inside a node and across nodes, FSDP+TP, slices over the "
             "data-centre "
             "network; the largest TP degree; the most chips a batch can feed and the smallest "
             "batch for a "
             "machine. Throughput only; whole rings.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = sp_plot_batch,
};
