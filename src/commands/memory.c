/* memory: bytes of one device, the largest model, the fewest devices, offload. */
#include <math.h>
#include <string.h>

#include <scaleplan/forms.h>
#include <scaleplan/plan.h>
#include <scaleplan/training.h>

#include "base/list.h"
#include "base/number.h"
#include "cli/companions.h"
#include "cli/expected.h"
#include "cli/tuning.h"
#include "pictures/pictures.h"
#include "cli/plan_options.h"
#include "study/device_memory.h"
#include "study/problem.h"
#include "study/plan_text.h"
#include "study/resolve.h"

static const char *const rules[] = {"exact", "korthikanti", NULL};

static const char *const offloads[] = {"optimizer", "params", "activations", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_OPTIONS_MACHINE,
    SP_OPTION_RECIPE,
    SP_TAKE(framework, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(matrix, .excludes = SP_THESE(SP_O_model, SP_O_shape, SP_O_params)),
    SP_TAKE(zero),
    SP_TAKE(dp),
    SP_TAKE(fsdp),
    SP_TAKE(tp, .fallback = "1"),
    SP_TAKE(pp, .fallback = "1"),
    SP_TAKE(vpp, .fallback = "1"),
    SP_TAKE(ep, .fallback = "1"),
    SP_TAKE(cp, .fallback = "1"),
    SP_TAKE(cp_kind, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(in_flight),
    SP_TAKE(batch),
    SP_OPTION_SEQ,
    SP_TAKE(micro_batch),
    SP_OPTION_REMAT_THAT_FITS,
    SP_TAKE(checkpoints),
    SP_TAKE(segments),
    SP_TAKE(rule, .fallback = "exact", .choices = rules),
    SP_TAKE(sp),
    SP_TAKE(kv_sequences),
    SP_TAKE(kv, .fallback = "bf16"),
    SP_TAKE(kv_bytes, .excludes = SP_THESE(SP_O_kv)),
    SP_TAKE(offload_part, .alias = "offload", .choices = offloads),
    SP_TAKE(offload_bandwidth),
    SP_TAKE(storage, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(drives, .fallback = "8"),
    SP_TAKE(mfu, .fallback = "40%"),
    SP_OPTION_PLOT,
    SP_TAKE(check),
};

static const struct sp_example examples[] = {
    {"memory --params 7.5e9 --precision mixed16 --dp 64 --zero 2", "ZeRO's own example"},
    {"memory --model llama3-70b --hw h100 --get min_devices",
     "fewest devices that hold the training state"},
    {"memory --model llama3.1-70b --seq 32Ki --kv-sequences 4 --get kv_cache_bytes",
     "KV cache of four sequences"},
    {"memory --model gpt3-175b --rule korthikanti --remat none --micro-batch 1",
     "closed form for a GPT block"},
    {"memory --model llama3-8b --hw h100-64 --dp 64 --batch 64x8192 --plot zero.svg",
     "plot the memory of each ZeRO stage"},
    {NULL, NULL},
};

/* The question, and the values shown by the rows of memory.def and memory_model.def. */
struct memory {
    struct sp_memory_case of;
    struct sp_device_memory m;
    struct sp_planned base; /* the plan's machine and framework, if `has_framework` */
    struct sp_case_verdict v;
    bool has_framework;
    bool chooses_remat; /* as `step` does, among what closed forms have */
    bool has_model;     /* else the question is the largest model of a machine */
    bool has_shape;
    bool batch_assumed; /* a sequence per replica: the number of tokens is not given */
    bool has_step;      /* the batch is that of a step, in micro-batches to be chosen */
    double weights;     /* of the whole model */
    double L, D, a;
    const char *remat;
    char modules[SP_PLAN_TEXT];         /* recomputed; "": none */
    char degrees[80];                   /* " (dp 2, tp 4)", of several devices */
    char kept_words[SP_PLAN_TEXT + 64]; /* activations kept for the backward pass */
    char cut_words[160];                /* why the replicas cannot share the batch; "" */
    bool both_given;                    /* --checkpoints and --remat */
    double segments, stage_layers, all_kept, input_share; /* --segments; NAN: not given */
    double act_all, capacity, kept, kept_here, held, node, hw_devices;
    bool fewest, largest, counts_all; /* the answers about the machine */
    bool keeps_whole;                 /* all of the batch is live: no stages, no micro-batches */
    bool offloads, has_drives;
    double kv, kv_sequences;                /* bytes of a sequence's cache */
    double W_host, host_devices, host_room; /* host_room: NAN if it does not count */
    struct sp_drive_tier tier;
    double transfer_s, compute_s;
};

#define SP_PART memory_model
#define SP_PART_OF struct memory
#include "answer/put_rows.h"

#define SP_PART memory
#define SP_PART_OF struct memory
#include "answer/put_rows.h"

/* TP cuts heads, MLPs and experts evenly. */
static bool check_tp(const struct sp_memory_case *f, struct sp_error *error)
{
    const int64_t tp = (int64_t)f->spread.tp;
    return tp == 1 || !sp_model_has_shape(&f->model) || sp_tp_divides(&f->model, tp, tp) ||
           sp_fail(error, SP_INPUT,
                   "--tp %lld does not divide the model's %lld heads and its MLP widths",
                   (long long)tp, (long long)f->model.heads);
}

/* EP takes its ranks from DP x CP, and from TP if that does not split experts; whole experts. */
static bool check_experts(const struct sp_memory_case *f, struct sp_error *error)
{
    const double ep = f->spread.ep, inside = f->spread.etp > 0 ? f->spread.tp / f->spread.etp : 1;
    const double ranks = f->spread.dp * f->spread.cp * inside;
    if (ep <= 1)
        return true;
    if (!sp_model_has_shape(&f->model) || f->model.moe.experts == 0)
        return sp_fail(error, SP_INPUT, "--ep %.0f: the model has no experts", ep);
    if (f->model.moe.experts % (int64_t)ep != 0)
        return sp_fail(error, SP_INPUT, "--ep %.0f does not divide the model's %lld experts", ep,
                       (long long)f->model.moe.experts);
    if (fmod(ranks, ep) != 0)
        return sp_fail(error, SP_INPUT, "--ep %.0f must divide DP x CP%s, %.0f here", ep,
                       inside > 1 ? " x TP" : "", ranks);
    return true;
}

/* The parameters of "4096x16384,16384x4096". */
static bool read_matrices(const char *list, struct sp_model *model, struct sp_error *error)
{
    char item[64];
    double dims[2];
    *model = (struct sp_model){.params = 0};
    snprintf(model->name, sizeof model->name, "%.60s", list);
    while (sp_next_item(&list, item, sizeof item)) {
        if (sp_parse_dims(item, dims, 2) != 2 || dims[0] < 1 || dims[1] < 1)
            return sp_fail(error, SP_INPUT,
                           "--matrix: \"%s\": expected ROWSxCOLUMNS, such as 4096x16384",
                           sp_safe(item));
        model->params += dims[0] * dims[1];
    }
    return model->params <= 1e15 ||
           sp_fail(error, SP_INPUT, "--matrix: more than 10^15 parameters");
}

static bool read_model(const struct sp_args *args, const struct sp_sources *sources,
                       struct sp_model *model, struct sp_error *error)
{
    const char *const list = args->value.matrix;
    if (!list)
        return sp_model_of(args, sources, model, error);
    return read_matrices(list, model, error) && sp_take_tuning(args, sources, model, error);
}

/* Without a batch a device has one sequence, but the plan of a whole machine has the batch of
 * `step`. */
static void assume_batch(const struct sp_args *args, struct memory *s)
{
    struct sp_memory_case *const f = &s->of;
    const bool is_open = !args->given.batch && !args->given.micro_batch;
    const bool is_machine = s->has_framework && sp_is_counted(&f->hw, args->value.hw) &&
                            f->devices == (double)sp_chips(&f->hw);
    const bool is_whole = is_machine && !args->given.checkpoints && !f->by_gpt_rule;
    s->has_step = args->given.batch || (is_open && is_whole);
    s->batch_assumed = is_open && !is_whole;
    if (s->batch_assumed)
        f->batch = sp_batch_tokens(f->spread.dp, f->seq);
    else if (is_open)
        f->batch = sp_batch_tokens((double)sp_round_batch(f->batch / f->seq, (int64_t)f->spread.dp),
                                   f->seq);
}

/* The number of replicas, if not typed, is the number that the machine's devices leave, as in
 * `step`; a chip without a count has one. */
static double replicas_left(const struct sp_args *args, const struct sp_memory_case *f)
{
    const double others = args->value.tp * args->value.pp * args->value.cp;
    const double N = f->has_hw ? (double)sp_chips(&f->hw) : 1;
    return N >= others && fmod(N, others) == 0 ? N / others : 1;
}

static void load_spread(const struct sp_args *args, struct sp_memory_case *f)
{
    const double fsdp = args->value.fsdp, zero = args->value.zero;
    f->spread = (struct sp_spread){.dp = args->given.fsdp ? fsdp
                                         : args->given.dp ? args->value.dp
                                                          : replicas_left(args, f),
                                   .tp = args->value.tp,
                                   .pp = args->value.pp,
                                   .ep = args->value.ep,
                                   .cp = args->value.cp,
                                   .microbatches_in_flight =
                                       args->given.in_flight ? args->value.in_flight : 1,
                                   .zero = !isnan(zero)  ? (int)zero
                                           : isnan(fsdp) ? 0
                                                         : 3};
    f->devices = sp_step_devices(f->spread.dp, f->spread.tp, f->spread.pp, f->spread.cp);
}

/* --framework, or the one that `step` takes for a plan of this ZeRO stage, with its ZeRO stage if
 * none was typed. The book's constants belong to no framework. */
static bool load_framework(const struct sp_args *args, const struct sp_sources *sources,
                           struct memory *s, struct sp_error *error)
{
    struct sp_memory_case *const f = &s->of;
    struct sp_planned *const base = &s->base;
    double memory_factor;
    const char *const name = args->value.framework
                                 ? args->value.framework
                                 : sp_default_framework(&f->hw, f->spread.zero == 3);
    if (sources->textbook)
        return true;
    *base = (struct sp_planned){.model = f->model, .hw = f->hw, .precision = f->precision};
    if (!sp_load_framework(name, sources, &base->framework, error) ||
        !sp_load_stack(&f->hw, &base->framework.framework, sources, &base->profile,
                       &base->own_profile, error) ||
        !sp_load_memory_factor(&f->hw, &base->framework.framework, sources, &memory_factor, error))
        return false;
    s->has_framework = true;
    if (args->given.cp_kind)
        base->framework.framework.execution.cp_kind = (enum sp_cp_kind)args->value.cp_kind;
    sp_use_memory_factor(memory_factor, &base->framework.framework);
    if (!args->given.zero && !args->given.fsdp)
        f->spread.zero = sp_usual_zero(&base->framework.framework);
    f->spread.etp = (double)sp_usual_etp(&f->model, (int64_t)f->spread.tp, (int64_t)f->spread.ep);
    return true;
}

/* Chooses settings that were not typed as `step` does: the micro-batch of a typed batch, and the
 * recomputation. `step` plans only all devices of the machine, so other plans keep the defaults. */
static bool resolve(const struct sp_args *args, const struct sp_sources *sources, struct memory *s,
                    struct sp_error *error)
{
    struct sp_memory_case *const f = &s->of;
    struct sp_memory_case tried = *f;
    if (f->remat == SP_REMATS)
        tried.remat = SP_REMAT_NONE;
    if (isnan(f->micro_batch))
        tried.micro_batch = 1;
    s->chooses_remat = s->has_framework && f->devices == (double)sp_chips(&f->hw) &&
                       sp_plan_of_case(&tried, &s->base.framework.framework, &s->base.plan);
    if (!s->chooses_remat)
        return true;
    const struct sp_repertoire runs = sp_repertoire_of(&s->base, false);
    struct sp_said said = {.runs = &runs};
    s->base.plan.schedule = sp_schedule_left_open(&runs, s->base.plan.pp, s->base.plan.vpp);
    said.given[SP_FIELD_REMAT] = f->remat != SP_REMATS;
    said.given[SP_FIELD_MICRO] = !isnan(f->micro_batch);
    said.given[SP_FIELD_CP_KIND] = args->given.cp_kind;
    if (!sp_resolve_on_ground(&said, sources, &s->base, error))
        return false;
    const struct sp_recompute *const r = &s->base.plan.recompute;
    f->remat = (enum sp_remat)sp_plan_value(&s->base.plan, &sp_plan_fields[SP_FIELD_REMAT]);
    if (r->modules || r->offload || f->remat > SP_REMATS)
        f->remat = SP_REMATS;
    f->plan = &s->base.plan;
    f->framework = &s->base.framework.framework;
    if (s->has_step && isnan(f->micro_batch))
        f->micro_batch = (double)s->base.plan.micro_batch;
    return true;
}

static bool load_plan(const struct sp_args *args, struct memory *s, struct sp_error *error)
{
    struct sp_memory_case *const f = &s->of;
    const struct sp_sources sources = sp_sources_of(args);
    const char *origin;
    f->has_hw = args->value.hw != NULL;
    const struct sp_hardware *const hw = f->has_hw ? &f->hw : NULL;
    if (!read_model(args, &sources, &f->model, error) ||
        (f->has_hw && !sp_hardware_of(args, &sources, &f->hw, error)) ||
        !sp_take_companions(args, &sources, hw, &f->model, &f->companions, error) ||
        !sp_recipe_of(args, &sources, hw, &f->precision, error) ||
        !sp_batch_of(args, &f->model, &f->batch, &f->seq, &origin, error))
        return false;
    s->has_model = true;
    s->has_shape = sp_model_has_shape(&f->model);
    f->params = sp_count_params(&f->model);
    f->micro_batch = args->value.micro_batch;
    f->checkpoints = args->value.checkpoints;
    f->by_gpt_rule = args->value.rule == 1;
    /* the paper's table begins without sequence parallelism; every plan has it */
    f->sequence_parallel = args->given.sp ? args->value.sp == 1 : !f->by_gpt_rule;
    load_spread(args, f);
    f->chunks = args->value.vpp;
    f->is_closed = args->given.in_flight;
    if (f->has_hw && !load_framework(args, &sources, s, error))
        return false;
    assume_batch(args, s);
    if (!check_tp(f, error) || !check_experts(f, error))
        return false;
    if (f->spread.pp > 1 && s->has_shape && f->spread.pp > (double)f->model.layers)
        return sp_fail(error, SP_INPUT, "--pp: more stages than the model's %lld layers",
                       (long long)f->model.layers);
    f->remat = sp_remat_of(args);
    if (!resolve(args, &sources, s, error))
        return false;
    if (s->has_step && !isnan(f->micro_batch))
        f->spread.microbatches = sp_micro_batches(f->batch, f->seq, f->spread.dp, f->micro_batch);
    if (f->remat == SP_REMATS && !s->chooses_remat)
        f->remat = sp_lightest_remat(*f, s->has_framework ? &s->base.framework.framework : NULL);
    if (!args->given.in_flight && s->has_framework)
        f->spread.microbatches_in_flight = sp_in_flight_of_case(f, &s->base.framework.framework);
    if ((f->by_gpt_rule || !isnan(f->checkpoints)) && sp_is_convolutional(&f->model))
        return sp_fail(error, SP_INPUT, "--rule korthikanti and --checkpoints count transformers");
    if (f->by_gpt_rule && f->remat != SP_REMAT_NONE && f->remat != SP_REMAT_SELECTIVE &&
        f->remat != SP_REMAT_FULL)
        return sp_fail(error, SP_INPUT,
                       "--rule korthikanti supports only --remat none, selective and full");
    return !(f->by_gpt_rule && f->spread.cp > 1) ||
           sp_fail(error, SP_INPUT, "--rule korthikanti does not support context parallelism");
}

static bool names_model(const struct sp_args *args)
{
    return args->given.model || args->given.shape || args->given.params || args->given.matrix;
}

static bool load(const struct sp_args *args, struct memory *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_memory_case *const f = &s->of;
    f->offload = args->value.offload_part;
    s->host_room = s->kv_sequences = NAN;
    if (names_model(args) || !args->given.hw || args->given.plot)
        return load_plan(args, s, error);
    f->has_hw = true;
    if (!sp_hardware_of(args, &sources, &f->hw, error) ||
        !sp_recipe_of(args, &sources, &f->hw, &f->precision, error))
        return false;
    return sp_kept_per_param(f) > 0 ||
           sp_fail(error, SP_INPUT, "this recipe keeps no bytes per parameter on a device");
}

/* " (dp 2, tp 4)": the degrees that are not 1. */
static void say_degrees(const struct sp_spread *of, char *out, size_t size)
{
    static const char *const names[] = {"dp", "tp", "pp", "cp", "ep"};
    const double degrees[] = {of->dp, of->tp, of->pp, of->cp, of->ep};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (degrees[i] > 1)
            sp_append(out, size, "%s%s %.0f", out[0] ? ", " : " (", names[i], degrees[i]);
    if (out[0])
        sp_append(out, size, ")");
}

/* The activations that the plan keeps, in words, and the fault of its batch. */
static void describe(const struct sp_args *args, struct memory *s)
{
    const struct sp_memory_case *const f = &s->of;
    const bool moves = f->plan && f->plan->recompute.offload;
    s->remat = f->plan
                   ? sp_policy_names[(int)sp_plan_value(f->plan, &sp_plan_fields[SP_FIELD_REMAT])]
                   : sp_remat_names[f->remat];
    if (f->plan)
        sp_format_plan(f->plan, &sp_plan_fields[SP_FIELD_MODULES], s->modules);
    say_degrees(&f->spread, s->degrees, sizeof s->degrees);
    if (isnan(f->checkpoints))
        snprintf(s->kept_words, sizeof s->kept_words, "recompute %s%s%s%s (--remat)", s->remat,
                 s->modules[0] ? " and " : "", s->modules, moves ? ", the rest offloaded" : "");
    else
        snprintf(s->kept_words, sizeof s->kept_words, "%.4g checkpoints per layer (--checkpoints)",
                 f->checkpoints);
    if (f->spread.tp > 1 && s->has_shape)
        sp_append(s->kept_words, sizeof s->kept_words, ", --sp %s",
                  f->sequence_parallel ? "on" : "off");
    s->both_given = !isnan(f->checkpoints) && args->given.remat;
    if (!(f->spread.dp > 1) || !s->has_shape || args->given.micro_batch ||
        sp_shares_batch(sp_sequences_of(f->batch, f->seq), 1, f->spread.dp, s->cut_words,
                        sizeof s->cut_words))
        s->cut_words[0] = '\0';
}

/* The machine: the most that it holds, and the fewest of its devices for the plan. */
static void look_at_machine(struct memory *s)
{
    const struct sp_memory_case *const f = &s->of;
    const struct sp_network *const net = &f->hw.network;
    s->kept = sp_kept_per_param(f);
    s->capacity = sp_capacity_bytes(&f->hw.chip);
    s->hw_devices = (double)sp_chips(&f->hw);
    s->node = (double)(net->kind == SP_TORUS ? net->chips_per_host : net->domain);
    s->largest = s->kept > 0;
    s->fewest = s->has_model && s->largest;
    s->kept_here = s->m.states.total / f->params.total;
    s->held = sp_states_held(f->params.total, s->kept, sp_beside_bytes(f));
    s->counts_all = !isnan(s->m.activations) &&
                    (isnan(f->micro_batch) || f->micro_batch * f->seq * f->spread.dp == f->batch);
}

/* The drives of a host, or its memory; a drive that is slower than the link sets the time. */
static bool load_tier(const struct sp_args *args, struct memory *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const struct sp_memory_case *const f = &s->of;
    struct sp_drive drive;
    if (!f->has_hw)
        return true;
    s->host_devices = fmin((double)sp_chips_per_host(&f->hw.network), f->devices);
    s->has_drives = args->given.storage;
    if (!s->has_drives)
        s->host_room = f->hw.network.host_memory_bytes;
    else if (!sp_load_drive(args->value.storage, &sources, &drive, error))
        return false;
    else
        s->tier = sp_drive_tier(&drive, args->value.drives, s->host_devices, s->m.freed);
    s->transfer_s = fmax(s->transfer_s, s->tier.transfer_s);
    return true;
}

static bool load_offload(const struct sp_args *args, struct memory *s, struct sp_error *error)
{
    const struct sp_memory_case *const f = &s->of;
    const struct sp_chip *const chip = &f->hw.chip;
    const double given = args->value.offload_bandwidth;
    if (f->offload < 0)
        return true;
    s->offloads = true;
    s->W_host = !isnan(given) ? given : f->has_hw ? sp_host_bytes_per_s(chip) : NAN;
    if (isnan(s->W_host))
        return sp_fail(
            error, SP_USAGE,
            "--offload-part needs --offload-bandwidth, or --hw with a published PCIe rate");
    if (isnan(s->m.freed))
        return sp_fail(error, SP_INPUT, "--offload-part activations needs a model of known shape");
    s->transfer_s = sp_there_and_back_s(s->m.freed, s->W_host);
    if (!load_tier(args, s, error))
        return false;
    if (!f->has_hw)
        return true;
    if (!sp_check_peak(&f->hw, (enum sp_dtype)f->precision.compute_dtype, error))
        return false;
    const double C =
        chip->peak_flops_per_s[sp_compute_dtype(chip, (enum sp_dtype)f->precision.compute_dtype)];
    s->compute_s = sp_run_s(sp_tuned_flops(&f->model, f->batch, f->seq, SP_FLOPS_6P),
                            (double)sp_chips(&f->hw), C, args->value.mfu);
    return true;
}

/* --segments: the activations that a device's layers would keep without recomputation, and a
 * layer's input among them. */
static bool load_segments(const struct sp_args *args, struct memory *s, struct sp_error *error)
{
    const char *const text = args->value.segments;
    struct sp_memory_case whole = s->of;
    s->segments = NAN;
    if (!text)
        return true;
    if (!s->has_shape || sp_is_convolutional(&s->of.model))
        return sp_fail(error, SP_INPUT, "--segments needs a transformer of known shape");
    s->stage_layers = s->L / s->of.spread.pp;
    if (strcmp(text, "sqrt") == 0)
        s->segments = sp_root_segments(s->stage_layers);
    else if (!sp_parse_number(text, &s->segments) || s->segments < 1 ||
             s->segments > s->stage_layers || s->segments != floor(s->segments))
        return sp_fail(error, SP_INPUT,
                       "--segments: \"%s\": expected sqrt, or 1 to %.0f, the layers of a stage",
                       sp_safe(text), floor(s->stage_layers));
    whole.remat = SP_REMAT_NONE;
    whole.checkpoints = NAN;
    whole.by_gpt_rule = false;
    s->all_kept = sp_memory_of_device(&whole).activations;
    s->input_share =
        sp_input_share(s->D, sp_activation_bytes_per_token_layer(&whole.model, SP_REMAT_NONE));
    return true;
}

static void work_out(const struct sp_args *args, struct memory *s)
{
    const struct sp_memory_case *const f = &s->of;
    if (s->has_model) {
        s->m = sp_memory_of_device(f);
        s->v = sp_judge_case(f, s->has_framework ? &s->base.framework.framework : NULL);
        s->weights =
            sp_training_state(f->params.trained, f->precision.weight_bytes, f->params.frozen_bytes);
        s->L = (double)f->model.layers;
        s->D = (double)f->model.d_model;
        s->a = (double)f->model.heads;
        s->act_all = sp_of_all_devices(s->m.activations, f->devices);
        s->keeps_whole = s->m.rule == SP_ACTIVATIONS_EXACT &&
                         fabs(sp_kept_activations(s->L, f->batch, s->m.token_layer) - s->act_all) <
                             1e-12 * s->act_all;
        describe(args, s);
    }
    if (f->has_hw)
        look_at_machine(s);
    if (s->has_shape) {
        s->kv_sequences =
            args->given.kv && !args->given.kv_sequences ? 1 : args->value.kv_sequences;
        s->kv = sp_kv_bytes_of_sequence(&f->model, f->seq, sp_kv_element_bytes(args)) +
                sp_state_bytes_of_sequence(&f->model);
    }
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct memory s = {.has_model = false};
    if (!load(args, &s, error))
        return false;
    work_out(args, &s);
    if (s.has_model && (!load_offload(args, &s, error) || !load_segments(args, &s, error)))
        return false;
    sp_count_images(report, s.has_model && sp_takes_pictures(&s.of.model));
    put_memory_model_rows(report, &s);
    if (s.has_model) {
        sp_put_length(report, &s.of.model, s.of.seq);
        sp_put_tuning(report, &s.of.model);
        sp_put_companion_work(report, args, &s.of.companions, s.m.beside);
    }
    put_memory_rows(report, &s);
    if (s.has_model && s.hw_devices > 1 && s.v.verdict == SP_VERDICT_NO)
        sp_say_search(report, args);
    return true;
}

/* A bar for each choice; one of the same length as the one before is marked as such. */
static size_t fill_bars(const struct sp_memory_case *plan, const struct sp_framework *framework,
                        struct sp_bar bars[SP_MEMORY_CHOICES])
{
    struct sp_memory_choice choices[SP_MEMORY_CHOICES];
    const size_t n = sp_memory_choices(plan, framework, choices);
    for (size_t i = 0; i < n; i++) {
        const struct sp_device_memory *const m = &choices[i].memory;
        const double device = choices[i].verdict.device;
        const bool as_before =
            plan->spread.dp > 1 && i > 0 && device == choices[i - 1].verdict.device;
        bars[i] = (struct sp_bar){.parts = {m->states.params, m->states.grads, m->states.optimizer,
                                            m->activations, device - m->total}};
        snprintf(bars[i].label, sizeof bars[i].label, "%.40s%s", choices[i].name,
                 choices[i].asked ? " (this plan)" : "");
        snprintf(bars[i].note, sizeof bars[i].note, "%s%s%s", sp_human_text(device, SP_BYTES),
                 as_before ? ", as " : "", as_before ? choices[i - 1].name : "");
    }
    return n;
}

/* Memory of a device as stacked bars: the requested plan among its neighbours. */
static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    static const char *const parts[] = {"weights", "gradients", "optimizer", "activations",
                                        "allocator and runtime"};
    struct memory s = {.has_model = false};
    struct sp_bar bars[SP_MEMORY_CHOICES];
    char limit[64], title[SP_PLOT_TEXT] = "";
    (void)report;
    if (!load(args, &s, error))
        return NULL;
    const struct sp_memory_case *const f = &s.of;
    const size_t n = fill_bars(f, s.has_framework ? &s.base.framework.framework : NULL, bars);
    const double capacity = f->has_hw ? sp_capacity_bytes(&f->hw.chip) : NAN;
    snprintf(limit, sizeof limit, "capacity %s", sp_human_text(capacity, SP_BYTES));
    struct sp_figure *const figure = sp_figure_new(
        "Memory of a device: %.40s on %s device%s, %.40s", f->model.name,
        sp_human_text(f->devices, SP_COUNT), f->devices > 1 ? "s" : "", f->precision.name);
    if (f->spread.dp > 1 && sp_memory_of_device(f).states.grads == 0)
        snprintf(
            title, sizeof title,
            "%.40s keeps no gradients, so ZeRO 2 shards no more than ZeRO 1 (mixed16 keeps them)",
            f->precision.name);
    sp_draw_bars(figure, &(struct sp_bars){.title = title,
                                           .label = "memory of a device",
                                           .unit = "B",
                                           .names = parts,
                                           .n_parts = sizeof parts / sizeof *parts,
                                           .bars = bars,
                                           .n_bars = n,
                                           .limit = capacity,
                                           .limit_text = limit});
    return figure;
}

const struct sp_command sp_cmd_memory = {
    .name = "memory",
    .summary = "memory per device, largest model, fewest devices, offload",
    .about = "Computes bytes per device for a precision recipe, ZeRO stage, parallel degrees and "
             "recomputation policy; the largest model that fits; the fewest devices that hold a "
             "model; the cost of offload. Framework buffers and allocator slack are left out.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "memory.fits",
    .run = run,
    .plot = plot,
};
