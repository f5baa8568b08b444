/* memory: what is asked, and the bytes of one device. */
#include <math.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "base/list.h"
#include "base/number.h"
#include "cli/tuning.h"
#include "commands/memory.h"

/* TP cuts heads, MLPs and experts evenly. */
static bool check_tp(const struct memory *f, struct sp_error *error)
{
    const int64_t tp = (int64_t)f->spread.tp;
    return tp == 1 || !sp_model_has_shape(&f->model) || sp_tp_divides(&f->model, tp, tp) ||
           sp_fail(error, SP_INPUT,
                   "--tp %lld does not divide the model's %lld heads and its MLP widths",
                   (long long)tp, (long long)f->model.heads);
}

/* EP takes its ranks from DP x CP, and whole experts. */
static bool check_experts(const struct memory *f, struct sp_error *error)
{
    const double ep = f->spread.ep, ranks = f->spread.dp * f->spread.cp;
    if (ep <= 1)
        return true;
    if (!sp_model_has_shape(&f->model) || f->model.moe.experts == 0)
        return sp_fail(error, SP_INPUT, "--ep %.0f: the model has no experts", ep);
    if (f->model.moe.experts % (int64_t)ep != 0)
        return sp_fail(error, SP_INPUT, "--ep %.0f does not divide the model's %lld experts", ep,
                       (long long)f->model.moe.experts);
    if (fmod(ranks, ep) != 0)
        return sp_fail(error, SP_INPUT,
                       "--ep %.0f: its ranks are some of DP x CP, %.0f here, which it must divide",
                       ep, ranks);
    return true;
}

/* The lightest of none, selective and full with which the device's memory is enough; none without a
 * machine. */
static void infer_remat(struct memory *f)
{
    static const enum sp_remat heavier[] = {SP_REMAT_SELECTIVE, SP_REMAT_FULL};
    const double capacity = f->has_hw ? sp_capacity_bytes(&f->hw.chip) : INFINITY;
    f->remat = SP_REMAT_NONE;
    for (size_t i = 0; i < 2 && !(sp_memory_of_device(f).total < capacity); i++)
        f->remat = heavier[i];
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
                           "--matrix: \"%s\" is no matrix, ROWSxCOLUMNS such as 4096x16384",
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
    if (args->given.model || args->given.shape || args->given.params)
        return sp_fail(error, SP_USAGE, "--matrix excludes --model, --shape and --params");
    return read_matrices(list, model, error) && sp_take_tuning(args, model, error);
}

/* Without a batch a replica has one sequence: the 4 Mi tokens of a machine's step would make 20 TB
 * on one device. Of a batch that is cut, gradients add up over the micro-batches. */
static void assume_batch(struct memory *f)
{
    f->batch_assumed = !f->args->given.batch && !f->args->given.micro_batch;
    if (f->batch_assumed)
        f->batch = f->seq * f->spread.dp;
    if (f->args->given.batch && f->args->given.micro_batch) {
        const double sequences = f->batch / f->seq / f->spread.dp;
        f->spread.microbatches = ceil(sequences / f->args->value.micro_batch - 1e-9);
    }
}

bool sp_read_memory(const struct sp_args *args, struct memory *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const double fsdp = args->value.fsdp, zero = args->value.zero;
    const char *origin;
    f->args = args;
    f->remat = sp_remat_of(args);
    f->has_hw = args->value.hw != NULL;
    if (!read_model(args, &sources, &f->model, error) ||
        (f->has_hw && !sp_hardware_of(args, &sources, &f->hw, error)) ||
        !sp_take_companions(args, &sources, f->has_hw ? &f->hw : NULL, &f->model, &f->companions,
                            error) ||
        !sp_recipe_of(args, &sources, f->has_hw ? &f->hw : NULL, &f->precision, error) ||
        !sp_batch_of(args, &f->model, &f->batch, &f->seq, &origin, error))
        return false;
    f->params = sp_count_params(&f->model);
    f->spread = (struct sp_spread){.dp = args->value.dp,
                                   .tp = args->value.tp,
                                   .pp = args->value.pp,
                                   .ep = args->value.ep,
                                   .cp = args->value.cp,
                                   .microbatches_in_flight = args->value.in_flight};
    if (!isnan(fsdp))
        f->spread.dp = fsdp;
    f->spread.zero = !isnan(zero) ? (int)zero : isnan(fsdp) ? 0 : 3;
    assume_batch(f);
    f->devices = f->spread.dp * f->spread.tp * f->spread.pp * f->spread.cp;
    if (!check_tp(f, error) || !check_experts(f, error))
        return false;
    if (f->spread.pp > 1 && sp_model_has_shape(&f->model) && f->spread.pp > (double)f->model.layers)
        return sp_fail(error, SP_INPUT, "--pp: more stages than the model's %lld layers",
                       (long long)f->model.layers);
    if (f->remat == SP_REMATS)
        infer_remat(f);
    if (args->value.rule == 1 && f->remat != SP_REMAT_NONE && f->remat != SP_REMAT_SELECTIVE &&
        f->remat != SP_REMAT_FULL)
        return sp_fail(error, SP_INPUT,
                       "--rule korthikanti knows --remat none, selective and full");
    if (args->value.rule == 1 && f->spread.cp > 1)
        return sp_fail(error, SP_INPUT, "--rule korthikanti knows no context parallelism");
    return true;
}

/* Activations of one device, by the rule that is asked for. */
static void add_activations(const struct memory *f, struct device_memory *m)
{
    const double micro = f->args->value.micro_batch, count = f->args->value.checkpoints;
    const double tokens = isnan(micro) ? f->batch / f->spread.dp : micro * f->seq;
    const double L = (double)f->model.layers, D = (double)f->model.d_model;
    m->activations = m->gpt_layer = NAN;
    m->rule = SP_Q_MEMORY_A;
    if (!sp_model_has_shape(&f->model))
        return;
    if (!isnan(count)) {
        m->activations = sp_checkpoint_bytes(count, f->batch, D, L) / f->devices;
        m->rule = SP_Q_MEMORY_A_COUNT;
    } else if (f->args->value.rule == 1) {
        const enum sp_gpt_rule rule =
            sp_gpt_rule(f->remat, f->spread.tp, f->args->given.sequence_parallel);
        m->gpt_layer = sp_gpt_activation_bytes(rule, f->seq, tokens / f->seq, D,
                                               (double)f->model.heads, f->spread.tp);
        m->activations = sp_stage_activation_bytes(L, m->gpt_layer, &f->spread);
        m->rule = SP_Q_MEMORY_A_RULE;
    } else {
        m->activations = sp_activation_footprint(&f->model, f->remat, tokens, &f->spread);
    }
}

/* Moves what --offload-part names to the host. The verdict, the fewest devices and the largest
 * model follow from what stays. */
static void offload(const struct memory *f, struct device_memory *m)
{
    double *const part[] = {[OFFLOAD_OPTIMIZER] = &m->states.optimizer,
                            [OFFLOAD_PARAMS] = &m->states.params,
                            [OFFLOAD_ACTIVATIONS] = &m->activations};
    const int what = f->args->value.offload_part;
    if (what < 0)
        return;
    m->freed = *part[what];
    *part[what] = 0;
    m->states.total = m->states.params + m->states.grads + m->states.optimizer;
}

/* Tokens of a micro-batch on a device. */
static double tokens_of_device(const struct memory *f)
{
    const double micro = f->args->value.micro_batch;
    return (isnan(micro) ? f->batch / f->spread.dp : micro * f->seq) / f->spread.cp;
}

/* Weights of the models beside it, spread as its own; what comes from the hosts works in the place
 * of its activations. */
static void add_companions(const struct memory *f, struct device_memory *m)
{
    double away = 0;
    for (int i = 0; i < SP_COMPANION_ROLES; i++) {
        const enum sp_companion_place place = f->companions.of[i].place;
        if (place != SP_COMPANION_HELD && place != SP_COMPANION_OFFLOADED)
            continue;
        const struct sp_params params = sp_count_params(&f->companions.of[i].model);
        m->beside[i] = sp_tuned_footprint(&params, &f->precision, &f->spread).total;
        if (place == SP_COMPANION_HELD)
            m->buffers += m->beside[i];
        else
            away = fmax(away, m->beside[i]);
    }
    m->buffers += fmax(away - (isnan(m->activations) ? 0 : m->activations), 0) +
                  f->companions.logit_bytes * tokens_of_device(f) / f->spread.tp;
}

struct device_memory sp_memory_of_device(const struct memory *f)
{
    struct device_memory m = {.states = sp_tuned_footprint(&f->params, &f->precision, &f->spread)};
    add_activations(f, &m);
    offload(f, &m);
    add_companions(f, &m);
    m.total = m.states.total + m.buffers + (isnan(m.activations) ? 0 : m.activations);
    return m;
}
