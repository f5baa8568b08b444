/* batch: the batch below which each kind of parallelism waits for its network, and the inverses. */
#include <math.h>

#include "cli/command.h"
#include "pictures/batch.h"
#include "study/critical_batches.h"
#include "study/layer_steps.h"

static const char *const layer_plans[] = {"dp", "fsdp", "tp", "dp_tp", "fsdp_tp", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_MACHINE,
    SP_TAKE(layer, .choices = layer_plans),
    SP_TAKE(devices, .alias = "chips"),
    SP_OPTIONS_MODEL,
    SP_TAKE(d_ff),
    SP_TAKE(d_model),
    SP_TAKE(experts),
    SP_TAKE(top_k, .fallback = "1"),
    SP_TAKE(capacity, .fallback = "1"),
    SP_OPTION_BATCH,
    SP_TAKE(tokens_per_device, .alias = "tokens-per-chip", .excludes = SP_THESE(SP_O_batch)),
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
    {"batch --hw v5p-4096", "critical batches on 1, 2 and 3 axes and the whole slice"},
    {"batch --hw v5p --d-ff 30000 --batch 2M --get devices_fed.fsdp_tp",
     "most chips that a batch feeds"},
    {"batch --hw h100-2048 --experts 128 --top-k 4 --get critical.dp.cross",
     "a mixture of experts"},
    {"batch --hw v5p-4096 --explain critical.dp.3", "formula, numbers and source"},
    {"batch --hw v5p-4096 --model llama2-13b --plot batch.svg",
     "plot T_math and T_comms over the batch"},
    {NULL, NULL},
};

/* With --layer the list contains the text. */
#define SP_USUAL (s->lists_layer ? SP_DETAILS : SP_BOTH)
#define SP_USUAL_SPARE (s->lists_layer ? SP_DETAILS : SP_SPARE)
/* Conditions of the rows of batch.def. */
#define IS_TORUS (s->hw.network.kind == SP_TORUS)
#define W_OF_MACHINE (IS_TORUS ? s->W_slice : s->W_machine)
#define HAS_MIXED (!isnan(s->critical_mixed))
#define HAS_SLICE (!isnan(s->critical_slice))
#define HAS_MACHINE (!isnan(s->critical_machine))
#define HAS_NODES (!isnan(s->W_machine_cross))
#define HAS_EXACT_TP (!isnan(s->exact_tp))
#define HAS_EXPERTS (!IS_TORUS && !(isnan(s->ep) && isnan(s->experts)))

#define SP_PART batch_level
#define SP_PART_OF struct sp_critical_level
#include "answer/put_rows.h"

static void put_levels(struct sp_report *r, const struct sp_critical_batches *s)
{
    for (int i = 0; i < s->n_levels; i++) {
        sp_key_word(r, "LEVEL", s->levels[i].key);
        put_batch_level_rows(r, &s->levels[i]);
    }
    sp_key_word(r, NULL, NULL);
}

/* A step of one layer, with the factors of its bytes and FLOPs. */
struct layer_row {
    struct sp_layer_step of;
    const char *does;
    double B, D, F, X, Y;
    struct sp_moved_array moved;
};

#define SP_PART batch_step
#define SP_PART_OF struct layer_row
#include "answer/put_rows.h"

/* --layer: the steps under a plan that takes all chips for DP, FSDP or TP, or the split, numbered
 * in each pass. */
static void put_layer(struct sp_report *r, const struct sp_critical_batches *s, int plan)
{
    static const char *const does[] = {"matmul", "all-gather", "reduce-scatter", "all-reduce"};
    struct sp_layer_step steps[SP_MOST_LAYER_STEPS];
    const double X = plan == SP_LAYER_TP ? 1 : plan > SP_LAYER_TP ? s->X : s->N;
    const double Y = plan == SP_LAYER_TP ? s->N : plan > SP_LAYER_TP ? s->Y : 1;
    const int n = sp_layer_steps((enum sp_layer_plan)plan, X, Y, steps);
    int forward = 0, matmul = 0;
    for (int i = 0; i < n; i++) {
        char label[16];
        forward += !steps[i].backward;
        matmul = steps[i].work == SP_DO_MATMUL ? i : matmul;
        snprintf(label, sizeof label, "%c%d", steps[i].backward ? 'B' : 'F',
                 steps[i].backward ? i + 1 - forward : i + 1);
        sp_begin_row(r, label, "layer.%d", i);
        put_batch_step_rows(
            r, &(struct layer_row){steps[i], does[steps[i].work], s->B, s->D, s->F, X, Y,
                                   sp_moved_array(&steps[i], s->B, s->D, s->F, X, Y)});
    }
    sp_scope(r, "");
    sp_line(
        r, "layer        X %s over the batch, Y %s over the width; a matmul: {layer.%d.flops}/chip",
        sp_human_text(X, SP_COUNT), sp_human_text(Y, SP_COUNT), matmul);
    sp_stand_in(r, SP_LISTED);
    sp_list_table(r, "layer",
                  ": step, +pass, does, what, +flops: FLOPs per chip, bytes: bytes per chip");
    sp_stand_in(r, SP_BOTH);
}

#define SP_PART batch
#define SP_PART_OF struct sp_critical_batches
#include "answer/put_rows.h"

/* The experts of --experts, --top-k and --ep, else the model's. */
static bool load_experts(const struct sp_args *args, struct sp_critical_batches *s,
                         const struct sp_model *model, struct sp_error *error)
{
    const double experts = args->value.experts, k = args->value.top_k;
    const bool has_model = args->value.model || args->value.shape;
    if (k > experts)
        return sp_fail(error, SP_INPUT, "--top-k is larger than --experts");
    s->ep = args->value.ep;
    s->capacity = args->value.capacity;
    s->experts = !isnan(experts)          ? experts
                 : model->moe.experts > 0 ? (double)model->moe.experts
                                          : NAN;
    s->top_k = model->moe.top_k > 0 ? (double)model->moe.top_k : k;
    s->d_expert = model->moe.d_ff_expert > 0 ? (double)model->moe.d_ff_expert : s->F;
    s->r = !isnan(experts) ? sp_expert_share(experts, k)
           : has_model     ? sp_moved_over_worked(model, s->T)
                           : 1;
    return !(s->ep > s->experts) ||
           sp_fail(error, SP_INPUT,
                   "--ep %s exceeds the %s experts; ep.d_ff_min_limit is the limit at any degree",
                   sp_human_text(s->ep, SP_COUNT), sp_human_text(s->experts, SP_COUNT));
}

/* The peak of --dtype, and the bytes of its elements on the wire. */
static void load_peak(const struct sp_args *args, struct sp_critical_batches *s,
                      struct sp_report *report)
{
    const enum sp_dtype wanted = (enum sp_dtype)args->value.dtype;
    const enum sp_dtype dtype = sp_compute_dtype(&s->hw.chip, wanted);
    const double wire = args->value.wire_bytes;
    s->C = s->hw.chip.peak_flops_per_s[dtype];
    s->C_wire = sp_peak_of_wire(s->C, isnan(wire) ? sp_dtypes[dtype].wire_bytes : wire);
    if (dtype != wanted)
        sp_note(report, "%s publishes no %s peak; C is its %s peak", s->hw.name,
                sp_dtype_names[wanted], sp_dtype_names[dtype]);
}

static bool load(const struct sp_args *args, struct sp_critical_batches *s,
                 struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const struct sp_option_values *const v = &args->value;
    const bool has_model = v->model || v->shape;
    struct sp_model model = {0};
    const char *origin;
    if ((has_model && !sp_model_of(args, &sources, &model, error)) ||
        !sp_hardware_of(args, &sources, &s->hw, error) ||
        !sp_batch_of(args, &model, &s->B, &s->T, &origin, error))
        return false;
    sp_count_images(report, sp_takes_pictures(&model));
    s->N = isnan(v->devices) ? (double)sp_chips(&s->hw) : v->devices;
    s->S = (double)s->hw.slices;
    s->has_batch = v->batch || model.batch_tokens > 0 || !isnan(v->tokens_per_device);
    if (!isnan(v->tokens_per_device))
        s->B = sp_batch_to_feed(s->N, v->tokens_per_device);
    s->F = !isnan(v->d_ff) ? v->d_ff : has_model ? sp_active_d_ff(&model) : NAN;
    s->D = !isnan(v->d_model)                                         ? v->d_model
           : sp_model_has_shape(&model) && !sp_takes_pictures(&model) ? (double)model.d_model
                                                                      : NAN;
    s->tp = v->tp;
    s->pp = v->pp;
    s->fsdp = v->fsdp;
    s->overlap = (enum sp_overlap)v->overlap;
    if (!load_experts(args, s, &model, error))
        return false;
    if (!sp_check_peak(&s->hw, (enum sp_dtype)v->dtype, error))
        return false;
    load_peak(args, s, report);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_critical_batches s = {0};
    if (!load(args, &s, report, error))
        return false;
    sp_find_critical_batches(&s);
    s.lists_layer = args->value.layer >= 0;
    if (s.lists_layer && !(s.has_widths && s.has_batch))
        return sp_fail(
            error, SP_USAGE,
            "--layer needs a batch and a layer of two matrices: a --model of tokens with known "
            "layers, or --d-model and --d-ff (a convolution has neither)");
    if (args->value.layer > SP_LAYER_TP && isnan(s.tp) && isnan(s.fsdp))
        return sp_fail(error, SP_USAGE, "--layer %s needs a degree: --tp or --fsdp",
                       layer_plans[args->value.layer]);
    put_batch_rows(report, &s);
    if (s.lists_layer)
        put_layer(report, &s, args->value.layer);
    return true;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_model model = {.params = 1e9, .name = "10^9 parameters"};
    if ((args->value.model || args->value.shape) && !sp_model_of(args, &sources, &model, error))
        return NULL;
    return sp_draw_batch(report, args->value.hw, model.name, sp_count_params(&model).active,
                         args->value.tp);
}

const struct sp_command sp_cmd_batch = {
    .name = "batch",
    .summary = "critical batch per strategy and network, chips for a batch, largest TP",
    .about = "Computes the batch below which each kind of parallelism is network-bound (DP and "
             "FSDP on 1 to 3 torus axes, in a node and across nodes, FSDP+TP, slices over the "
             "data-centre network), the largest TP degree, the most chips that a batch feeds and "
             "the smallest batch for a machine. Rings are closed; latency is left out.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
