/* Plans: arithmetic, validity, layers per stage. */
#include <math.h>
#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>

#include "core/plan/stages.h"
#include "core/require.h"

const struct sp_policy sp_policies[SP_POLICIES] = {
    [SP_REMAT_NONE] = {{.qkv = 0}},
    [SP_REMAT_SELECTIVE] = {{.core = 1}},
    [SP_REMAT_MLP] = {{.qkv = 1, .core = 1, .out = 1, .norms = 1}},
    [SP_REMAT_DOTS] = {{.core = 1, .norms = 1}},
    [SP_REMAT_FULL] = {{.qkv = 1, .core = 1, .out = 1, .up = 1, .down = 1, .norms = 1}},
    /* torchtitan's list of saved operators (activation_checkpoint.py) contains `mm`, of which it
     * keeps every second one, but no grouped matmul, so experts are recomputed in full */
    [SP_REMAT_ALTERNATE] =
        {{.qkv = 0.25, .out = 1, .up = 0.5, .grouped = 1, .norms = 1, .spare = 1}},
    [SP_REMAT_QKV] = {{.core = 1, .out = 1, .up = 1, .norms = 1}},
    [SP_REMAT_ATTENTION] = {{.core = 1, .up = 1, .norms = 1}},
};

const char *sp_policy_name(const struct sp_policy *policy)
{
    return sp_policy_names[policy - sp_policies];
}

const struct sp_policy *sp_find_policy(const char *name)
{
    for (int i = 0; i < SP_POLICIES; i++)
        if (strcmp(sp_policy_names[i], name) == 0)
            return &sp_policies[i];
    return NULL;
}

/* Whether the model has layers whose memory the module changes. */
static bool has_module(const struct sp_model *m, enum sp_module module)
{
    const bool routed = m->moe.experts > 0;
    switch (module) {
    case SP_MODULE_MLA_UP_PROJ:
        return m->mla.kv_lora_rank > 0;
    case SP_MODULE_MLP:
        return !routed || m->moe.dense_layers > 0 || m->moe.every > 1;
    case SP_MODULE_MOE:
    case SP_MODULE_MOE_ACT:
        return routed;
    case SP_MODULE_SHARED_EXPERTS:
        return routed && sp_shared_d_ff(m) > 0;
    default:
        return true;
    }
}

int sp_module_sets(const struct sp_model *model, const struct sp_module_ladder *ladder,
                   unsigned sets[SP_MODULES])
{
    unsigned bits = 0;
    int n = 0;
    for (int i = 0; i < ladder->n; i++)
        if (has_module(model, ladder->rung[i]))
            sets[n++] = bits |= 1U << ladder->rung[i];
    return n;
}

double sp_offloaded_share(const struct sp_model *model, const struct sp_plan *plan)
{
    if (plan->offload_layers == 0)
        return plan->recompute.offload ? 1 : 0;
    return fmin(1, (double)(plan->offload_layers * plan->pp) / (double)model->layers);
}

int64_t sp_plan_microbatches(const struct sp_plan *plan)
{
    const int64_t at_once = plan->dp * plan->micro_batch;
    return (plan->batch + at_once - 1) / at_once;
}

double sp_expert_load(const struct sp_plan *plan)
{
    return plan->execution.capacity > 0 ? plan->execution.capacity : plan->imbalance;
}

enum sp_dp_overlap sp_dp_overlap(const struct sp_plan *plan)
{
    return plan->zero < 2 ? plan->execution.dp_overlap : SP_DP_OVERLAP_ALL;
}

/* A single micro-batch has no other to overlap. */
bool sp_overlaps_exchange(const struct sp_plan *plan)
{
    return plan->execution.moe_overlap && sp_plan_microbatches(plan) > 1;
}

bool sp_may_overlap(const struct sp_overlap_limits *limits, const struct sp_plan *plan)
{
    return plan->ep == 1 || !sp_overlaps_exchange(plan) ||
           (!limits->refuses[plan->execution.dispatch] &&
            (!limits->in_chunks || sp_has_chunks(plan->pp, plan->vpp, plan->schedule)));
}

bool sp_takes_rounds(enum sp_rounds rounds, int64_t microbatches, int64_t stages)
{
    sp_require(microbatches >= 1 && stages >= 1, "both must be at least 1");
    const int64_t alike = microbatches < stages ? 1 : microbatches / stages;
    return rounds == SP_ROUNDS_ANY ||
           microbatches % (rounds == SP_ROUNDS_ALIKE ? alike : stages) == 0;
}

int64_t sp_microbatch_group(int64_t microbatches, int64_t stages)
{
    int64_t group = stages;
    while (group < microbatches && microbatches % group > 0 && microbatches % group < stages)
        group++;
    return group <= microbatches ? group : 0;
}

bool sp_may_interleave(enum sp_rounds rounds, const struct sp_plan *plan)
{
    return plan->vpp == 1 || sp_takes_rounds(rounds, sp_plan_microbatches(plan), plan->pp);
}

bool sp_has_chunks(int64_t pp, int64_t vpp, enum sp_schedule schedule)
{
    return pp == 1 || vpp > 1 || schedule == SP_DUALPIPE;
}

int64_t sp_common_divisor(int64_t number, int64_t other)
{
    sp_require(number >= 0 && other >= 0, "both must be at least 0");
    while (other != 0) {
        const int64_t rest = number % other;
        number = other;
        other = rest;
    }
    return number;
}

int64_t sp_odd_part(int64_t number)
{
    sp_require(number >= 1, "it must be at least 1");
    while (number % 2 == 0)
        number /= 2;
    return number;
}

int64_t sp_round_batch(double sequences, int64_t at_once)
{
    sp_require(sequences >= 1 && at_once >= 1, "both numbers must be at least 1");
    const double unit = (double)at_once, power = exp2(round(log2(sequences)));
    const double step = exp2(fmax(0, floor(log2(sequences)) - 4));
    const double rounder =
        fabs(power / sequences - 1) <= 0.05 ? power : round(sequences / step) * step;
    if (fmod(rounder, unit) == 0)
        return (int64_t)rounder;
    return (int64_t)(fmax(1, round(sequences / unit)) * unit);
}

int64_t sp_default_shards(const struct sp_plan *plan, int64_t slices)
{
    return plan->dp * plan->cp / (plan->dp % slices == 0 ? slices : 1);
}

int64_t sp_plan_devices(const struct sp_plan *plan)
{
    return plan->dp * plan->tp * plan->pp * plan->cp;
}

/* The width that TP divides in MLPs: of dense layers, and of the shared experts as one MLP. */
static bool widths_divide(const struct sp_model *model, int64_t tp)
{
    const struct sp_moe *const moe = &model->moe;
    struct sp_layer_counts counts;
    sp_count_layers(model, 0, model->layers, &counts);
    const int64_t dense = counts.of[SP_LAYER_DENSE] + counts.of[SP_LAYER_OTHER_DENSE] +
                          counts.of[SP_LAYER_MLP] + counts.of[SP_LAYER_CROSS];
    if ((dense > 0 && sp_dense_d_ff(model) % tp != 0) || model->encoder.d_ff % tp != 0)
        return false;
    return moe->experts == 0 || sp_shared_d_ff(model) % tp == 0;
}

/* The counts that TP divides in mixers: whole heads of each kind. */
static bool heads_divide(const struct sp_model *model, int64_t tp)
{
    const struct sp_state_space *const states = &model->state_space;
    return model->heads % tp == 0 && model->linear.heads % tp == 0 &&
           model->local.heads % tp == 0 && model->encoder.heads % tp == 0 &&
           states->inner % tp == 0 && states->heads % tp == 0;
}

bool sp_etp_divides(const struct sp_model *model, int64_t etp)
{
    return model->moe.experts == 0 || model->moe.d_ff_expert % etp == 0;
}

/* No pipeline: every stage would need the encoder's output, and frameworks differ in how it gets
 * there. Other encoders and towers are on the first stage, as in frameworks. */
bool sp_attends_to_encoder(const struct sp_model *model)
{
    return model->cross_attention || strchr(model->pattern, 'X') != NULL;
}

bool sp_keeps_layers(const struct sp_model *model)
{
    return sp_attends_to_encoder(model) || model->mean_d_ff > 0;
}

/* TP must divide heads, dense MLPs, all shared experts together, and with ETP each expert. */
bool sp_tp_divides(const struct sp_model *model, int64_t tp, int64_t etp)
{
    return (tp == 1 || sp_splits_layers(model)) && sp_model_has_shape(model) &&
           heads_divide(model, tp) && widths_divide(model, tp) && sp_etp_divides(model, etp);
}

int64_t sp_usual_etp(const struct sp_model *model, int64_t tp, int64_t ep)
{
    const bool splits = model->moe.experts > 0 && ep == 1 && sp_etp_divides(model, tp);
    return splits ? tp : 1;
}

static bool experts_do_not_divide(const struct sp_model *model, const struct sp_plan *plan)
{
    if (model->moe.experts == 0)
        return plan->ep > 1 || plan->etp > 1;
    return model->moe.experts % plan->ep != 0;
}

/* Whether Ulysses gives each of the tp cp ranks whole heads: they divide the heads, and the KV
 * heads too, unless several ranks may hold a copy of one. */
static bool ulysses_divides(const struct sp_model *model, int64_t tp, int64_t cp, bool copies)
{
    /* latents are expanded to a key and a value of each head */
    const int64_t ranks = tp * cp,
                  kv = model->mla.kv_lora_rank > 0 ? model->heads : model->kv_heads;
    return heads_divide(model, ranks) && (kv % ranks == 0 || (copies && kv > 0 && ranks % kv == 0));
}

static bool cuts_sequence(const struct sp_plan *plan)
{
    const bool in_two = plan->cp > 1 && plan->execution.cp_kind != SP_CP_ULYSSES;
    return plan->seq % (in_two ? 2 * plan->cp : plan->cp) == 0;
}

/* No context parallelism of entries that stand for many tokens: frameworks refuse it too. */
static bool entries_are_whole(const struct sp_model *model, const struct sp_plan *plan)
{
    return model->compressed.output_rank == 0 || plan->cp == 1;
}

bool sp_cp_divides(const struct sp_model *model, const struct sp_plan *plan, bool copies)
{
    const bool exchanges = plan->cp > 1 && plan->execution.cp_kind == SP_CP_ULYSSES;
    return cuts_sequence(plan) && entries_are_whole(model, plan) &&
           (!exchanges || ulysses_divides(model, plan->tp, plan->cp, copies));
}

double sp_groups_of_rank(double groups, double tp)
{
    return fmax(groups / tp, 1);
}

bool sp_leaves_slices(const struct sp_plan *plan, int64_t slices)
{
    const bool over_replicas = plan->dp % slices == 0;
    const int64_t ranks = plan->dp * plan->cp * plan->tp / (over_replicas ? slices : 1);
    return (!over_replicas && plan->pp % slices != 0) || ranks % (plan->ep * plan->etp) != 0;
}

/* Shard groups that straddle slices or hold some experts more often would differ in cost. */
bool sp_shards_fit(const struct sp_plan *plan, int64_t slices)
{
    const int64_t ranks = plan->dp * plan->cp, kinds = plan->ep * plan->etp;
    const int64_t here = sp_default_shards(plan, slices), holders = plan->shards * plan->tp;
    return ranks % plan->shards == 0 && (here % plan->shards == 0 || plan->shards % here == 0) &&
           (holders < kinds || holders % kinds == 0);
}

enum sp_plan_problem sp_check_plan(const struct sp_model *model, const struct sp_plan *plan,
                                   int64_t devices, int64_t slices)
{
    sp_require(plan->dp >= 1 && plan->tp >= 1 && plan->pp >= 1 && plan->vpp >= 1 && plan->cp >= 1 &&
                   plan->ep >= 1 && plan->etp >= 1 && plan->shards >= 1 && plan->micro_batch >= 1 &&
                   devices >= 1 && slices >= 1,
               "every degree, the devices and the slices must be at least 1");
    if (!sp_model_has_shape(model))
        return SP_PLAN_NO_SHAPE;
    if (sp_plan_devices(plan) != devices)
        return SP_PLAN_DEVICES;
    if (plan->tp * plan->pp * plan->cp > 1 && !sp_splits_layers(model))
        return SP_PLAN_CONVOLUTIONS;
    if (!heads_divide(model, plan->tp))
        return SP_PLAN_TP_HEADS;
    if (!widths_divide(model, plan->tp))
        return SP_PLAN_TP_WIDTH;
    if (plan->pp > SP_MAX_STAGES || plan->pp > model->layers ||
        plan->pp * plan->vpp > model->layers + 2)
        return SP_PLAN_PP_LAYERS;
    if (!sp_ends_leave_layers(model->layers, plan))
        return SP_PLAN_PP_ENDS;
    if (!sp_own_stages_fit(model, plan))
        return SP_PLAN_PP_OWN;
    if (plan->pp > 1 && sp_keeps_layers(model))
        return SP_PLAN_PP_CROSS;
    if (!cuts_sequence(plan))
        return SP_PLAN_CP_SEQ;
    if (!entries_are_whole(model, plan))
        return SP_PLAN_CP_ENTRIES;
    if (!sp_cp_divides(model, plan, true))
        return SP_PLAN_CP_HEADS;
    if (experts_do_not_divide(model, plan))
        return SP_PLAN_EP_EXPERTS;
    if ((plan->dp * plan->cp * plan->tp) % (plan->ep * plan->etp) != 0)
        return SP_PLAN_EP_DEVICES;
    if (!sp_etp_divides(model, plan->etp))
        return SP_PLAN_ETP_WIDTH;
    if (plan->stages_inside && plan->ep * plan->etp > plan->tp * plan->cp)
        return SP_PLAN_PLACEMENT;
    if (sp_leaves_slices(plan, slices))
        return SP_PLAN_SLICES;
    if (plan->batch < plan->dp)
        return SP_PLAN_BATCH;
    if (plan->micro_batch > (plan->batch + plan->dp - 1) / plan->dp)
        return SP_PLAN_MICRO_BATCH;
    if (plan->batch % (plan->dp * plan->micro_batch) != 0)
        return SP_PLAN_UNEVEN_BATCH;
    if (sp_schedules[plan->schedule].chunked != (plan->vpp > 1))
        return SP_PLAN_VPP_SCHEDULE;
    if (plan->pp == 1 && plan->vpp > 1)
        return SP_PLAN_VPP_STAGES;
    if ((plan->offload_layers - 1) * plan->pp >= model->layers)
        return SP_PLAN_OFFLOAD_LAYERS;
    if (!sp_shards_fit(plan, slices))
        return SP_PLAN_SHARDS;
    return SP_PLAN_OK;
}

const char *sp_plan_problem_text(enum sp_plan_problem problem)
{
    static const char *const texts[SP_PLAN_PROBLEMS] = {
        [SP_PLAN_OK] = "valid",
        [SP_PLAN_NO_SHAPE] = "the model's shape is not known",
        [SP_PLAN_DEVICES] = "dp x tp x pp x cp is not the number of devices",
        [SP_PLAN_CONVOLUTIONS] =
            "a convolutional network is divided only by images and weights, with tp, pp and cp 1",
        [SP_PLAN_TP_HEADS] = "tp does not divide the heads",
        [SP_PLAN_TP_WIDTH] = "tp does not divide the width of an MLP",
        [SP_PLAN_PP_LAYERS] = "more stages than layers",
        [SP_PLAN_PP_ENDS] = ("first-layers and last-layers must leave a layer for each stage "
                             "between, and none left over"),
        [SP_PLAN_PP_OWN] =
            ("stage-layers must give pp stages all the layers, none empty except at the ends, and "
             "excludes first-layers and last-layers"),
        [SP_PLAN_PP_CROSS] =
            ("pipelines of models whose layers attend to an encoder, or whose MLPs differ, are not "
             "modelled: pp must be 1"),
        [SP_PLAN_VPP_STAGES] = "chunks (vpp) need a pipeline, but pp is 1",
        [SP_PLAN_OFFLOAD_LAYERS] = "more layers offloaded (offload-layers) than a stage has",
        [SP_PLAN_CP_SEQ] = "cp (with ring and allgather: 2 x cp) does not divide the sequence",
        [SP_PLAN_CP_ENTRIES] =
            "context parallelism of compressed attention is not modelled: cp must be 1",
        [SP_PLAN_CP_HEADS] = ("with cp-kind ulysses tp x cp does not divide the heads, or does not "
                              "fit copies of the KV heads"),
        [SP_PLAN_EP_EXPERTS] = "ep does not divide the experts, or there are none for ep or etp",
        [SP_PLAN_EP_DEVICES] = "ep x etp does not divide the devices of a stage",
        [SP_PLAN_ETP_WIDTH] = "etp does not divide the width of an expert",
        [SP_PLAN_PLACEMENT] = "with pp-inside ep x etp must not exceed tp x cp",
        [SP_PLAN_SLICES] = "tp, cp or ep would leave a slice: the slices must divide dp, or pp",
        [SP_PLAN_BATCH] = "fewer sequences than replicas",
        [SP_PLAN_MICRO_BATCH] = "the micro-batch is larger than a replica's share of the batch",
        [SP_PLAN_UNEVEN_BATCH] =
            "the batch is not a whole number of micro-batches on every replica",
        [SP_PLAN_VPP_SCHEDULE] =
            "chunks need the interleaved or circular schedule, and these need chunks",
        [SP_PLAN_SHARDS] = "shards must divide dp x cp, and fill slices or sets of experts whole",
    };
    return texts[problem];
}
