/* memory: bytes of one device, the largest model, the fewest devices, offload. */
#include <math.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "base/list.h"
#include "base/number.h"
#include "cli/tuning.h"
#include "commands/memory.h"
#include "commands/plot_data.h"

static const char *const rules[] = {"exact", "korthikanti", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_OPTIONS_MACHINE,
    SP_OPTION_RECIPE,
    SP_TAKE(matrix),
    SP_TAKE(zero),
    SP_TAKE(dp, .fallback = "1"),
    SP_TAKE(fsdp),
    SP_TAKE(tp, .fallback = "1"),
    SP_TAKE(pp, .fallback = "1"),
    SP_TAKE(ep, .fallback = "1"),
    SP_TAKE(cp, .fallback = "1"),
    SP_TAKE(in_flight, .fallback = "1"),
    SP_TAKE(batch),
    SP_OPTION_SEQ,
    SP_TAKE(micro_batch),
    SP_OPTION_REMAT_THAT_FITS,
    SP_TAKE(checkpoints),
    SP_TAKE(rule, .fallback = "exact", .choices = rules),
    SP_TAKE(sequence_parallel),
    SP_TAKE(kv_sequences),
    SP_TAKE(kv_bytes, .fallback = "2"),
    SP_TAKE(offload_part, .alias = "offload", .choices = sp_offloads),
    SP_TAKE(offload_bandwidth),
    SP_TAKE(storage),
    SP_TAKE(drives, .fallback = "8"),
    SP_TAKE(mfu, .fallback = "40%"),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"scaleplan memory --params 7.5e9 --precision mixed16 --dp 64 --zero 2", "ZeRO's own example"},
    {"scaleplan memory --model llama3-70b --hw h100 --get min_devices",
     "fewest devices that hold the states"},
    {"scaleplan memory --model gpt3-175b --rule korthikanti --remat none --micro-batch 1",
     "closed form of a GPT block"},
    {"scaleplan memory --model llama3-8b --hw h100-64 --dp 64 --batch 64x8192 --plot zero.svg",
     "what each ZeRO stage leaves on a device, drawn"},
    {NULL, NULL},
};

/* Weights of the whole model, those that are frozen as they are stored. */
static double weights_bytes(const struct memory *f)
{
    return f->params.trained * f->precision.weight_bytes + f->params.frozen_bytes;
}

/* Puts a number under the formula that counts models beside, where there are some. */
static void put_either(const struct memory *f, enum sp_quantity_id alone,
                       enum sp_quantity_id beside, double value)
{
    sp_put(f->report, f->model.tuning.companions ? beside : alone, value);
}

static void put_device(const struct memory *f, const struct device_memory *m)
{
    struct sp_report *r = f->report;
    const struct sp_footprint s = m->states;
    const double total = m->total;
    if (m->rule == SP_Q_MEMORY_A_COUNT)
        sp_symbol(r, "checkpoints", f->args->value.checkpoints, "", "option --checkpoints");
    if (m->rule == SP_Q_MEMORY_A_RULE) {
        sp_symbol(r, "layer", m->gpt_layer, "bytes", "one layer of one micro-batch");
        sp_symbol(r, "pp", f->spread.pp, "", "stages");
        sp_symbol(r, "in_flight", f->spread.microbatches_in_flight, "", "micro-batches in flight");
    }
    sp_symbol(r, "act", isnan(m->activations) ? 0 : m->activations, "bytes",
              "activations; none are claimed for a model of unknown shape");
    sp_symbol(r, "params_bytes", s.params, "bytes", "weights on one device");
    sp_symbol(r, "grads_bytes", s.grads, "bytes", "gradients on one device");
    sp_symbol(r, "optimizer_bytes", s.optimizer, "bytes", "master copy and moments on one device");
    sp_symbol(r, "states_bytes", s.total, "bytes", "states on one device");
    sp_symbol(r, "total_bytes", total, "bytes", "states and activations on one device");
    sp_put(r, SP_Q_MEMORY_P, s.params);
    sp_put(r, SP_Q_MEMORY_G, s.grads);
    sp_put(r, SP_Q_MEMORY_O, s.optimizer);
    sp_put(r, m->rule, m->activations);
    sp_symbol(r, "buffers", m->buffers, "bytes", "models beside it, and logits of a teacher");
    sp_put(r, SP_Q_MEMORY_BUFFERS, m->buffers);
    sp_put(r, SP_Q_MEMORY_STATES, s.total);
    put_either(f, SP_Q_MEMORY_TOTAL, SP_Q_MEMORY_TOTAL_BESIDE, total);
    put_either(f, SP_Q_MEMORY_LIVE, SP_Q_MEMORY_LIVE_BESIDE, total);
    sp_put_null(r, SP_Q_MEMORY_RESERVED);
    sp_put_null(r, SP_Q_MEMORY_DEVICE);
    sp_put(r, SP_Q_MEMORY_GB, total / 1e9);
    sp_put(r, SP_Q_MEMORY_GIB, total / 1073741824);
    sp_put(r, SP_Q_MEMORY_CLUSTER, total * f->devices);
    if (!isnan(m->activations)) {
        sp_put(r, SP_Q_MEMORY_ACT_ALL, m->activations * f->devices);
        sp_put(r, SP_Q_MEMORY_ACT_OVER_WEIGHTS, m->activations * f->devices / weights_bytes(f));
    }
    if (f->has_hw) {
        const double capacity = sp_capacity_bytes(&f->hw.chip);
        sp_put(r, SP_Q_MEMORY_CAPACITY, capacity);
        sp_put_bool(r, SP_Q_MEMORY_FITS, total < capacity);
        sp_put_bool(r, SP_Q_MEMORY_STATES_FIT,
                    sp_state_bytes(&f->params, &f->precision) < capacity);
    }
    sp_line(r, "a device     {memory.total_bytes} = {memory.total_gib} GiB: "
               "weights "
               "{memory.params_bytes}, gradients {memory.grads_bytes}, optimizer "
               "{memory.optimizer_bytes}, activations "
               "{memory.activations_bytes}");
    sp_line(r, "             all devices {cluster_bytes}, their activations "
               "{activations_over_weights} times the model's weights");
    sp_line(r,
            "             fits: {memory.fits}, with {capacity_bytes} a device; the whole state on "
            "one device: {states_fit_one}");
}

/* Bytes of state that devices keep of a parameter, in the mean of those that are trained and those
 * that are frozen. */
static double kept_per_param(const struct memory *f)
{
    const int what = f->args->value.offload_part;
    const struct sp_params *const p = &f->params;
    const double kept =
        sp_state_bytes_per_param(&f->precision) -
        (what == OFFLOAD_PARAMS      ? f->precision.weight_bytes
         : what == OFFLOAD_OPTIMIZER ? f->precision.master_bytes + f->precision.optimizer_bytes
                                     : 0);
    if (!(p->frozen_bytes > 0))
        return kept;
    return (p->trained * kept + (what == OFFLOAD_PARAMS ? 0 : p->frozen_bytes)) / p->total;
}

/* The largest model that the machine holds. */
static void put_largest(const struct memory *f, double capacity)
{
    struct sp_report *r = f->report;
    const double kept = kept_per_param(f), N = (double)sp_chips(&f->hw),
                 w = f->precision.weight_bytes;
    sp_symbol(r, "hbm", capacity, "bytes", "memory of a device");
    sp_symbol(r, "hw_devices", N, "devices", "devices of --hw");
    sp_symbol(r, "kept", kept, "bytes",
              "of state that devices keep of a parameter, --offload-part");
    sp_put(r, SP_Q_MEMORY_MAX_DP, sp_max_params(capacity, 1, kept));
    sp_put(r, SP_Q_MEMORY_MAX_FSDP, sp_max_params(capacity, N, kept));
    sp_put(r, SP_Q_MEMORY_MAX_DP_BYTES, sp_max_params(capacity, 1, kept) * w);
    sp_put(r, SP_Q_MEMORY_MAX_FSDP_BYTES, sp_max_params(capacity, N, kept) * w);
    sp_line(r,
            "largest      {max_params.dp} parameters on one device (DP), {max_params.fsdp} on all "
            "of %s (FSDP)",
            f->hw.name);
}

/* Weights of the models beside it that devices hold. */
static double beside_bytes(const struct memory *f)
{
    double bytes = 0;
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        if (f->companions.of[i].place == SP_COMPANION_HELD)
            bytes += sp_count_params(&f->companions.of[i].model).frozen_bytes;
    return bytes;
}

/* The fewest devices, with the states alone and with the activations of the batch. */
static void put_fewest(const struct memory *f, const struct device_memory *m, double capacity)
{
    struct sp_report *r = f->report;
    const struct sp_network *net = &f->hw.network;
    const double node = (double)(net->kind == SP_TORUS ? net->chips_per_host : net->domain);
    const double beside = beside_bytes(f), states = f->params.total * kept_per_param(f) + beside;
    const double fewest = sp_min_devices(states, capacity);
    const bool all = !isnan(m->activations) && isnan(f->args->value.micro_batch);
    sp_symbol(r, "node", node, "devices", "devices of a node or host");
    sp_symbol(r, "beside", beside, "bytes", "weights of the models beside that devices hold");
    put_either(f, SP_Q_MEMORY_MIN, SP_Q_MEMORY_MIN_BESIDE, fewest);
    put_either(f, SP_Q_MEMORY_MIN_NODES, SP_Q_MEMORY_MIN_NODES_BESIDE, ceil(fewest / node));
    if (all)
        put_either(f, SP_Q_MEMORY_MIN_ALL, SP_Q_MEMORY_MIN_ALL_BESIDE,
                   sp_min_devices(states + m->activations * f->devices, capacity));
    sp_line(r, "fewest       {min_devices} devices for the states, {min_nodes} whole %s%s",
            net->kind == SP_TORUS ? "hosts" : "nodes",
            all ? "; {min_devices_with_activations} with the activations of the batch" : "");
}

static void put_shape_figures(const struct memory *f)
{
    struct sp_report *r = f->report;
    const double a = (double)f->model.heads, D = (double)f->model.d_model;
    const double sequences = f->args->value.kv_sequences;
    if (!sp_model_has_shape(&f->model))
        return;
    sp_symbol(r, "a", a, "", "heads");
    sp_put(r, SP_Q_MEMORY_ACT_LAYER, sp_activation_bytes_per_token_layer(&f->model, f->remat));
    sp_put(r, SP_Q_MEMORY_SAVED, sp_selective_saved_share(f->seq, D, a));
    sp_put(r, SP_Q_MEMORY_OVERHEAD, sp_selective_flop_overhead(f->seq, D));
    if (isnan(sequences))
        return;
    const double kv = sp_kv_bytes_of_sequence(&f->model, f->seq, f->args->value.kv_bytes) +
                      sp_state_bytes_of_sequence(&f->model);
    sp_symbol(r, "kv", kv, "bytes",
              "keys and values of a sequence, in layers with a window of its last tokens alone, "
              "and the state of recurrences");
    sp_symbol(r, "kv_sequences", sequences, "", "option --kv-sequences");
    sp_put(r, SP_Q_MEMORY_KV, kv * sequences);
    sp_put(r, SP_Q_MEMORY_KV_GIB, kv * sequences / 1073741824);
    sp_line(r, "KV cache     {kv_cache_bytes} = {kv_cache_gib} GiB");
}

static void put_recipe(const struct memory *f)
{
    const struct sp_precision *const q = &f->precision;
    sp_symbol(f->report, "w", q->weight_bytes, "bytes", "weights, a parameter");
    sp_symbol(f->report, "g", q->grad_bytes, "bytes", "gradients, a parameter");
    sp_symbol(f->report, "K", q->master_bytes + q->optimizer_bytes, "bytes",
              "master copy and moments, a parameter");
}

/* The plan, with what was asked of its activations. */
static void put_plan(const struct memory *f)
{
    const double count = f->args->value.checkpoints;
    char kept[64];
    if (isnan(count))
        snprintf(kept, sizeof kept, "recompute %s (--remat)", sp_remat_names[f->remat]);
    else
        snprintf(kept, sizeof kept, "%.4g checkpoints a layer (--checkpoints)", count);
    sp_line(f->report, "plan         {devices} devices, ZeRO %d (--zero), batch %s tokens (%s), %s",
            f->spread.zero, sp_human_text(f->batch, SP_TOKENS),
            f->batch_assumed ? "one sequence a replica, --batch" : "--batch", kept);
    char why[160];
    if (f->spread.dp > 1 && sp_model_has_shape(&f->model) && !f->args->given.micro_batch &&
        !sp_shares_batch(f->batch / f->seq, 1, f->spread.dp, why, sizeof why))
        sp_note(f->report, "--batch: %s", why);
    if (!isnan(count) && f->args->given.remat)
        sp_note(f->report, "--checkpoints counts, --remat %s does not: give one of them",
                sp_remat_names[f->remat]);
}

/* The largest model of a machine, where no model is named. */
static bool run_without_model(const struct sp_args *args, struct sp_report *report,
                              struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct memory f = {.report = report, .args = args, .has_hw = true};
    if (!sp_hardware_of(args, &sources, &f.hw, error) ||
        !sp_recipe_of(args, &sources, &f.hw, &f.precision, error))
        return false;
    if (kept_per_param(&f) <= 0)
        return sp_fail(error, SP_INPUT, "this recipe keeps nothing of a parameter on a device");
    put_recipe(&f);
    sp_put_text(report, SP_Q_MEMORY_PRECISION, "%s", f.precision.name);
    sp_put(report, SP_Q_MEMORY_PER_PARAM, sp_state_bytes_per_param(&f.precision));
    sp_line(report,
            "states       {state_bytes_per_param} bytes a parameter ({precision}, --precision)");
    put_largest(&f, sp_capacity_bytes(&f.hw.chip));
    return true;
}

static bool names_model(const struct sp_args *args)
{
    return args->given.model || args->given.shape || args->given.params || args->given.matrix;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct memory f = {.report = report};
    if (!names_model(args) && args->given.hw && !args->given.plot)
        return run_without_model(args, report, error);
    if (!sp_read_memory(args, &f, error))
        return false;
    const struct device_memory m = sp_memory_of_device(&f);
    const double P = f.params.total, per_param = sp_state_bytes_per_param(&f.precision),
                 weights = weights_bytes(&f);
    sp_symbol(report, "P", P, "parameters", "parameters");
    sp_symbol(report, "P_trained", f.params.trained, "parameters", "parameters that are trained");
    sp_symbol(report, "frozen", f.params.frozen_bytes, "bytes", "what is frozen, as it is stored");
    sp_symbol(report, "flops_factor",
              sp_tuned_flops(&f.model, 1, f.seq, SP_FLOPS_6P) / f.params.active, "FLOPs",
              "an active parameter and token");
    sp_symbol(report, "P_active", f.params.active, "parameters",
              "parameters that one token passes");
    put_recipe(&f);
    sp_symbol(report, "B", f.batch, "tokens", "batch");
    sp_symbol(report, "T", f.seq, "tokens", "sequence length");
    sp_symbol(report, "D", (double)f.model.d_model, "", "d_model");
    sp_symbol(report, "L", (double)f.model.layers, "layers", "layers");
    sp_symbol(report, "devices", f.devices, "devices", "DP x TP x PP x CP");
    sp_put_text(report, SP_Q_MEMORY_MODEL, "%s", f.model.name);
    sp_put(report, SP_Q_MEMORY_PARAMS_N, P);
    sp_put_text(report, SP_Q_MEMORY_PRECISION, "%s", f.precision.name);
    sp_put_text(report, SP_Q_MEMORY_REMAT, "%s", sp_remat_names[f.remat]);
    sp_put(report, SP_Q_MEMORY_PER_PARAM, per_param);
    sp_put(report, SP_Q_MEMORY_STATE, sp_state_bytes(&f.params, &f.precision));
    sp_put(report, SP_Q_MEMORY_WEIGHTS, weights);
    sp_put(report, SP_Q_MEMORY_WEIGHTS_GB, weights / 1e9);
    sp_put(report, SP_Q_MEMORY_WEIGHTS_GIB, weights / 1073741824);
    sp_put(report, SP_Q_MEMORY_DEVICES, f.devices);
    sp_put(report, SP_Q_MEMORY_PARAMS_DEVICE, P / f.devices);
    sp_line(report, "model        {model}: {params} parameters, {state_bytes} of state "
                    "({precision}, {state_bytes_per_param} "
                    "bytes a parameter, --precision); weights {weights_gb} GB = {weights_gib} GiB");
    sp_put_tuning(report, &f.model);
    sp_put_companion_work(report, args, &f.companions, m.beside);
    put_plan(&f);
    put_device(&f, &m);
    if (sp_model_has_shape(&f.model))
        sp_note(report,
                "closed forms: parameters are spread evenly over the devices; `step` has the "
                "fullest stage and what a framework needs beside states and activations");
    const double capacity = f.has_hw ? sp_capacity_bytes(&f.hw.chip) : NAN;
    if (f.has_hw && kept_per_param(&f) > 0) {
        put_fewest(&f, &m, capacity);
        put_largest(&f, capacity);
    }
    put_shape_figures(&f);
    return sp_put_offload(&f, &m, error);
}

const struct sp_command sp_cmd_memory = {
    .name = "memory",
    .summary = "bytes of a device, the largest model, the fewest devices, offload",
    .about = "Bytes of one device for any recipe of training state, ZeRO stage, parallel degrees "
             "and checkpoint "
             "policy; the largest model that fits, the fewest devices that hold a model, and what "
             "offloading costs. "
             "Frameworks' own buffers and allocator slack are not modelled here.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "memory.fits",
    .compute_bound_key = "memory.fits",
    .run = run,
    .plot = sp_plot_memory,
};
