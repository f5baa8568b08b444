/* fit: does the model train on the machine, what limits it, and what would be better. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

#include "cli/tuning.h"
#include "commands/fit.h"

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL, SP_OPTIONS_TUNING,
    SP_OPTIONS_MACHINE,     SP_OPTIONS_BATCH,
    SP_OPTION_RECIPE,       SP_OPTION_REMAT_THAT_FITS,
    SP_TAKE(axes),          SP_OPTION_OVERLAP,
    SP_TAKE(accumulate),    SP_TAKE(mfu, .fallback = "40%"),
    SP_TAKE(mesh),          SP_TAKE(path),
    SP_TAKE(against),       SP_TAKE(tokens),
    SP_OPTIONS_PRICE,       SP_TAKE(report),
    SP_TAKE(strategy),      SP_TAKE(check),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"scaleplan fit --model llama2-13b --hw v5p-4096 --batch 3M", "the textbook's exercise"},
    {"scaleplan fit --model llama3-405b --hw h100-16384 --batch 16M --get best.step_s",
     "one bare number, in seconds"},
    {"scaleplan fit --model llama3-70b --hw v5p-8960x4 --check && echo yes",
     "a verdict for a script"},
    {"scaleplan fit --model gpt2-medium --hw h100-8 --mesh fsdp=4,tp=2 --path",
     "the verdict on a mesh, and the questions that lead to a strategy"},
    {"scaleplan fit --params 25M --hw a100-40gb-8", "a model of which only the size is known"},
    {NULL, NULL},
};

static void put_symbols(const struct fit *f)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    sp_symbol(r, "P", t->P, "parameters", "parameters of the model");
    sp_symbol(r, "P_active", t->P_active, "parameters", "parameters that one token passes");
    sp_symbol(r, "P_trained", t->P_trained, "parameters", "parameters that have gradients");
    sp_symbol(r, "frozen", t->frozen_bytes, "bytes", "what is frozen, as it is stored");
    sp_symbol(r, "flops_factor", t->flops / (t->P_active * t->B), "FLOPs",
              "an active parameter and token");
    sp_symbol(r, "backward", t->backward_share, "", "share of them that the backward pass is");
    sp_symbol(r, "B", t->B, "tokens", "batch of one optimizer step (%s)", f->batch_origin);
    sp_symbol(r, "T", f->in.seq, "tokens", "sequence length");
    sp_symbol(r, "N", t->N, "chips", "chips of all slices");
    sp_symbol(r, "M", t->M, "chips", "chips of one slice");
    sp_symbol(r, "S", t->S, "", "slices");
    sp_symbol(r, "C", t->C, "FLOP/s", "dense %s peak of one chip", sp_dtype_names[t->dtype]);
    sp_put_weights_ratio(f, 1);
    sp_symbol(r, "hbm", t->capacity_bytes, "bytes", "memory of one chip");
    sp_symbol(r, "bytes_per_param", sp_state_bytes_per_param(&f->precision), "bytes",
              "training state of one parameter, %s", f->precision.name);
    sp_symbol(r, "state", t->state_bytes, "bytes", "training state of the whole model");
    sp_symbol(r, "mfu_stated", f->mfu, "", "option --mfu");
    sp_symbol(r, "turns", f->in.overlap == SP_OVERLAP_NONE ? 4 : 1, "",
              "4 where collectives take turns, 1 where they overlap");
    if (sp_model_has_shape(&f->model)) {
        sp_symbol(r, "L", t->L, "layers", "layers");
        sp_symbol(r, "D", t->D, "", "d_model");
        sp_symbol(r, "F", t->F, "", "MLP width that a token passes");
    }
    if (!isnan(t->W_ici)) {
        sp_symbol(r, "W_ici", t->W_ici, "bytes/s", "one torus axis, both directions");
        sp_symbol(r, "W_X", t->W_X, "bytes/s", "axes that the rule gives to FSDP");
        sp_symbol(r, "W_Y", t->W_Y, "bytes/s", "axis that the rule gives to TP");
    }
    if (!isnan(t->W_domain)) {
        sp_symbol(r, "W_gpu", t->W_domain, "bytes/s", "scale-up egress of one device");
        sp_symbol(r, "W_node", t->W_node, "bytes/s",
                  "scale-out egress of one domain of %lld devices",
                  (long long)f->hw.network.domain);
    }
    if (!isnan(t->W_dcn))
        sp_symbol(r, "W_dcn", t->W_dcn, "bytes/s", "data-centre egress of one chip");
}

static void put_inputs(const struct fit *f)
{
    struct sp_report *r = f->report;
    char shape[96], cloud[64];
    sp_shape_name(&f->hw, shape, sizeof shape);
    sp_cloud_name(&f->hw, cloud, sizeof cloud);
    sp_put_text(r, SP_Q_FIT_MODEL, "%s", f->model.name);
    sp_put_text(r, SP_Q_FIT_HARDWARE, "%s", f->hw.name);
    if (cloud[0])
        sp_put_text(r, SP_Q_FIT_CLOUD_NAME, "%s", cloud);
    else
        sp_put_null(r, SP_Q_FIT_CLOUD_NAME);
    sp_put(r, SP_Q_FIT_PARAMS, f->t.P);
    sp_put(r, SP_Q_FIT_PARAMS_ACTIVE, f->t.P_active);
    sp_put(r, SP_Q_FIT_CHIPS, f->t.N);
    sp_put_text(r, SP_Q_FIT_SHAPE, "%s", shape);
    sp_put(r, SP_Q_FIT_BATCH, f->t.B);
    sp_put(r, SP_Q_FIT_SEQ, f->in.seq);
    sp_put(r, SP_Q_FIT_SEQUENCES, f->t.B / f->in.seq);
    sp_put(r, SP_Q_FIT_TOKENS_PER_CHIP, f->t.tokens_per_chip);
    sp_put_text(r, SP_Q_FIT_PRECISION, "%s", f->precision.name);
    sp_put(r, SP_Q_FIT_STATE_PER_PARAM, sp_state_bytes_per_param(&f->precision));
    sp_put_text(r, SP_Q_FIT_OVERLAP, "%s", sp_overlap_names[f->in.overlap]);
    if (f->in.accumulate > 0)
        sp_put_text(r, SP_Q_FIT_ACCUMULATE, "%lld", (long long)f->in.accumulate);
    else
        sp_put_text(r, SP_Q_FIT_ACCUMULATE, "auto");
    sp_put_text(r, SP_Q_FIT_DTYPE, "%s", sp_dtype_names[f->t.dtype]);
    sp_put(r, SP_Q_FIT_PEAK, f->t.C);
    sp_put(r, SP_Q_FIT_CAPACITY, f->t.capacity_bytes);
    sp_put(r, SP_Q_FIT_STATE_BYTES, f->t.state_bytes);
}

/* The threshold of this very number of nodes, where the rule drops the (n-1)/n. */
static void put_critical_of_machine(const struct fit *f)
{
    const struct sp_fit_terms *const t = &f->t;
    const struct sp_device_group group = sp_machine_group(&f->hw);
    const double gather = sp_time_of_collective(SP_ALL_GATHER, 1, &group).throughput_s;
    sp_symbol(f->report, "gather", gather, "s/byte", "of an all-gather over all, (n-1)/n kept");
    if (!(gather > 0))
        return;
    const double exact = sp_critical_tokens_per_chip(t->C, 1 / gather, t->r);
    sp_put(f->report, SP_Q_FIT_CRITICAL_MACHINE, exact);
    if (t->tokens_per_chip >= exact &&
        t->tokens_per_chip < sp_critical_tokens_per_chip(t->C, t->W_group, t->r))
        sp_note(f->report,
                "exactly these nodes hide DP and FSDP from %s tokens a chip on (`batch`, `comm`): "
                "the rule of the rows leaves out the (n-1)/n of a collective",
                sp_human_text(exact, SP_TOKENS));
}

/* `fit` judges by the book's thresholds, without (n-1)/n, because the worked verdicts are the
 * book's; those of exactly these nodes stand beside them. */
static void put_thresholds(const struct fit *f)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    if (!isnan(t->W_ici)) {
        sp_put(r, SP_Q_FIT_ALPHA, t->C / t->W_ici);
        for (int n = 1; n <= f->hw.network.axes; n++)
            sp_put(r, (enum sp_quantity_id)(SP_Q_FIT_CRITICAL_1 + n - 1),
                   sp_critical_tokens_per_chip(t->C, n * t->W_ici, t->r));
        sp_put(r, SP_Q_FIT_CRITICAL_MIXED,
               sp_critical_tokens_per_chip_mixed(t->C, t->W_X, t->W_Y, t->F, t->r, f->in.overlap));
    } else {
        sp_put(r, SP_Q_FIT_CRITICAL_NODE, sp_critical_tokens_per_chip(t->C, t->W_domain, t->r));
        sp_put(r, SP_Q_FIT_CRITICAL_CROSS, sp_critical_tokens_per_chip(t->C, t->W_node, t->r));
        put_critical_of_machine(f);
    }
    if (!isnan(t->W_dcn))
        sp_put(r, SP_Q_FIT_CRITICAL_DCN, sp_critical_tokens_per_chip(t->C, t->W_dcn, t->r));
}

/* What the rules say in one pass, and what TP beside FSDP is worth. */
static void put_rules(const struct fit *f)
{
    struct sp_report *r = f->report;
    const struct sp_fit_terms *t = &f->t;
    const struct sp_strategy fsdp = sp_fit_strategy(&f->in, t, SP_FSDP);
    const struct sp_strategy both = sp_fit_strategy(&f->in, t, SP_FSDP_TP);
    if (fsdp.exists)
        sp_put_bool(r, SP_Q_FIT_RULE_FSDP, t->tokens_per_chip >= fsdp.critical_tokens_per_chip);
    if (!fsdp.exists || !both.exists)
        return;
    sp_put_bool(r, SP_Q_FIT_RULE_MIXED, t->tokens_per_chip >= both.critical_tokens_per_chip);
    sp_put(r, SP_Q_FIT_GAIN_CRITICAL,
           fsdp.critical_tokens_per_chip / both.critical_tokens_per_chip);
    sp_put(r, SP_Q_FIT_GAIN_STEP, fsdp.step_s / both.step_s);
}

static void put_header(const struct fit *f)
{
    struct sp_report *r = f->report;
    const bool tpu = f->hw.network.cloud_name[0] != '\0';
    sp_line(r, "{verdict}");
    sp_line(r, " ");
    sp_line(r, "model      {model}: {params} parameters%s",
            f->model.sample_flops > 0 ? ", a sample works as much as {params_active} would"
            : f->t.P != f->t.P_active ? ", {params_active} active"
                                      : "");
    sp_put_tuning(r, &f->model);
    sp_line(r,
            "hardware   {hw}: {chips} chips, {shape}%s; {peak_flops_per_s} {compute_dtype}, "
            "{capacity_bytes} a chip",
            tpu ? f->hw.slices > 1 ? ", each the cloud's {cloud_name}"
                                   : ", the cloud's {cloud_name}"
                : "");
    sp_line(r,
            "batch      {batch_tokens} tokens (%s), {sequences} sequences of {seq}: "
            "{tokens_per_chip} tokens a chip",
            f->batch_origin);
    sp_line(r,
            "state      {state_bytes}: {precision}, {state_bytes_per_param} bytes a parameter "
            "(--precision%s)%s",
            f->recipe_inferred && !f->textbook
                ? "; the scaling book's is adam10, 10: --constants textbook"
                : "",
            sp_model_has_shape(&f->model)
                ? "; activations {activation_bytes}, recompute {remat} (--remat)"
                : "; no activations are claimed for a model of unknown shape");
}

/* What memory counts. */
static void put_memory_rule(const struct fit *f)
{
    const struct sp_framework *const whole = f->in.framework;
    const struct sp_framework *const sharding = f->in.sharding_framework;
    if (!sp_model_has_shape(&f->model)) {
        sp_line(f->report, "memory     state and gradients that add up: more cannot be said of a "
                           "model of unknown shape");
        return;
    }
    if (!whole) {
        sp_line(f->report, "memory     state, gradients that add up, activations of a micro-batch; "
                           "what a framework adds is not counted");
        return;
    }
    const bool alike = strcmp(whole->name, sharding->name) == 0;
    sp_line(f->report,
            "memory     state, gradients that add up, activations of a micro-batch; and what a "
            "framework adds, as in `step`: gathered layers, the peak of a layer's backward pass "
            "or of the loss, buffers, allocator and runtime (%s%s%s)",
            whole->name, alike ? "" : ", with FSDP ", alike ? "" : sharding->name);
}

/* Critical batches of a switched machine: the limits, and that of exactly its devices. TP has one
 * verdict, of exactly its devices with both levels at once; tp_hides.node and .cross are null where
 * the group spans nodes. */
static void put_switched_thresholds(const struct fit *f)
{
    sp_line(f->report,
            "critical   tokens a device for DP and FSDP: {critical.fsdp.node} in a node, "
            "{critical.fsdp.cross} across many nodes%s%s",
            f->t.N <= 1 ? "" : ", {critical.fsdp.machine} over exactly these, ",
            f->t.N <= 1 ? ""
            : f->in.exact_groups
                ? "as the rows: n devices or nodes move (n-1)/n of what they gather"
                : "which the rows leave out: n devices or nodes move (n-1)/n");
}

/* The thresholds and rules behind the verdicts. */
static void put_footer(const struct fit *f)
{
    struct sp_report *r = f->report;
    sp_line(r, " ");
    sp_line(
        r,
        "comms/math time of the network over that of the arithmetic it hides behind: the network "
        "keeps up (compute-bound) where it is at most 1");
    if (!isnan(f->t.W_ici))
        sp_line(r,
                "critical   tokens a chip for DP and FSDP on 1%s: {critical.fsdp.1}, "
                "{critical.fsdp.2}%s",
                f->hw.network.axes > 2 ? ", 2, 3 axes" : ", 2 axes",
                f->hw.network.axes > 2 ? ", {critical.fsdp.3}; FSDP+TP {critical.fsdp_tp}"
                                       : "; FSDP+TP {critical.fsdp_tp}");
    else
        put_switched_thresholds(f);
    sp_line(r, "           tokens a slice for DP over the data-centre network: {critical.dcn}");
    sp_line(
        r,
        "rules      closed forms of the scaling book: collectives of different axes %s "
        "(--overlap), {constants} constants (--constants), 16-bit communication, throughput only",
        f->in.overlap == SP_OVERLAP_AXES ? "overlap" : "take turns");
    put_memory_rule(f);
}

/* The printed thresholds are for wrapped axes; the strategies use what this slice has. */
static void note_missing_wraparound(const struct fit *f)
{
    int open = 0, axes = 0;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        axes += f->hw.shape.axis[i] > 1;
        open += f->hw.shape.axis[i] > 1 && !sp_axis_wraps(&f->hw, i);
    }
    if (f->hw.network.kind == SP_TORUS && open > 0)
        sp_note(
            f->report,
            "axes of this slice without wraparound: %d of %d; there a collective runs at a line's "
            "bandwidth, w X / (X - 1), and the strategies' own thresholds are higher than those of "
            "wrapped axes",
            open, axes);
}

/* --accumulate: a number of micro-batches, or 0 for auto. */
static bool read_accumulation(const struct sp_args *args, struct fit *f, struct sp_error *error)
{
    const char *const given = args->value.accumulate;
    double micro;
    f->in.accumulate = !given && f->textbook ? 1 : 0;
    if (!given || strcmp(given, "auto") == 0)
        return true;
    if (!sp_parse_number(given, &micro) || micro < 1 || micro > 1e6 || micro != floor(micro))
        return sp_fail(error, SP_INPUT,
                       "--accumulate: \"%s\" is neither auto nor a number of "
                       "micro-batches from 1",
                       sp_safe(given));
    f->in.accumulate = (int64_t)micro;
    return true;
}

/* The frameworks of the machine, and the recipe of training state under them. */
static bool read_frameworks(const struct sp_args *args, const struct sp_sources *sources,
                            struct fit *f, struct sp_error *error)
{
    f->in.hw = &f->hw;
    if (!sp_fit_frameworks_of(sources, &f->frameworks, &f->in, error))
        return false;
    return f->in.framework ? sp_recipe_under(args, sources, f->in.framework, &f->precision, error)
                           : sp_recipe_of(args, sources, &f->hw, &f->precision, error);
}

bool sp_load_fit(const struct sp_args *args, struct fit *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_model_of(args, &sources, &f->model, error) ||
        !sp_hardware_of(args, &sources, &f->hw, error) ||
        !read_frameworks(args, &sources, f, error) ||
        !sp_batch_of(args, &f->model, &f->in.batch_tokens, &f->in.seq, &f->batch_origin, error))
        return false;
    const double axes = args->value.axes;
    f->only = args->value.strategy;
    f->in.model = &f->model;
    f->in.precision = &f->precision;
    f->in.remat = sp_remat_of(args);
    f->recipe_inferred = !args->given.precision;
    f->textbook = sources.textbook;
    f->in.exact_groups = !f->textbook;
    f->in.overlap = (enum sp_overlap)args->value.overlap;
    f->in.axes = isnan(axes) ? 0 : (int)axes;
    f->t = sp_fit_terms(&f->in);
    return read_accumulation(args, f, error);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct fit f = {.report = report};
    if (!sp_load_fit(args, &f, error))
        return false;
    f.mfu = args->value.mfu;
    put_symbols(&f);
    put_inputs(&f);
    sp_put_text(report, SP_Q_FIT_CONSTANTS, "%s", args->text[SP_O_constants]);
    put_thresholds(&f);
    put_rules(&f);
    put_header(&f);
    sp_put_strategies(&f);
    if (args->given.mesh && !sp_put_given_mesh(&f, args->value.mesh, error))
        return false;
    sp_put_best(&f);
    if (args->given.path || args->given.plot)
        sp_put_path(&f);
    if (!sp_put_fit_run(&f, args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(args);
    if (args->given.against && !sp_put_against(&f, args->value.against, &sources, error))
        return false;
    put_footer(&f);
    note_missing_wraparound(&f);
    if (f.model.sample_flops > 0)
        sp_note(report, "a token of %s is a sample of %s forward (model.sample_flops)",
                f.model.name, sp_human_text(f.model.sample_flops, SP_FLOPS));
    if (f.t.dtype != (enum sp_dtype)f.precision.compute_dtype)
        sp_note(report, "%s publishes no %s peak; C is its %s peak", f.hw.name,
                sp_dtype_names[f.precision.compute_dtype], sp_dtype_names[f.t.dtype]);
    const char *const path = args->value.report;
    return !path || sp_write_fit_page(&f, path, error);
}

const struct sp_command sp_cmd_fit = {
    .name = "fit",
    .summary = "does a model train on a machine, what limits it, what would be better",
    .about =
        "For each way of spreading the model over the machine: memory a chip and whether it fits, "
        "tokens a chip against the critical batch and whether the network keeps up, the ideal step "
        "time, and the reason. Then the best plan on the machine's real axes, and for each no the "
        "smallest change that turns it into a yes. The closed forms are the scaling book's.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "best.fits",
    .compute_bound_key = "best.compute_bound",
    .run = run,
    .plot = sp_plot_path,
};
