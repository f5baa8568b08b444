/* Plans: arithmetic, validity, layers per stage. */
#include <math.h>
#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>

#include "core/layers/layer_kinds.h"
#include "core/require.h"

const struct sp_policy sp_policies[SP_POLICIES] = {
    [SP_REMAT_NONE] = {{.qkv = 0}},
    [SP_REMAT_SELECTIVE] = {{.core = 1}},
    [SP_REMAT_MLP] = {{.qkv = 1, .core = 1, .out = 1, .norms = 1}},
    [SP_REMAT_DOTS] = {{.core = 1, .norms = 1}},
    [SP_REMAT_FULL] = {{.qkv = 1, .core = 1, .out = 1, .up = 1, .down = 1, .norms = 1}},
    /* torchtitan's list of saved operators (activation_checkpoint.py) has `mm`, of which it keeps
     * every second one, and no grouped matmul: experts run again whole */
    [SP_REMAT_ALTERNATE] =
        {{.qkv = 0.25, .out = 1, .up = 0.5, .grouped = 1, .norms = 1, .spare = 1}},
    [SP_REMAT_QKV] = {{.core = 1, .out = 1, .up = 1, .norms = 1}},
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

/* A single micro-batch has no other to overlap. */
bool sp_overlaps_exchange(const struct sp_plan *plan)
{
    return plan->execution.moe_overlap && sp_plan_microbatches(plan) > 1;
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

/* What TP divides in MLPs: dense layers, and the shared experts as one MLP. */
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

/* What TP divides in mixers: whole heads of each kind. */
static bool heads_divide(const struct sp_model *model, int64_t tp)
{
    const struct sp_state_space *const states = &model->state_space;
    return model->heads % tp == 0 && model->linear.heads % tp == 0 &&
           model->local.heads % tp == 0 && model->encoder.heads % tp == 0 &&
           states->inner % tp == 0 && states->heads % tp == 0;
}

static bool experts_divide(const struct sp_model *model, int64_t etp)
{
    return model->moe.experts == 0 || model->moe.d_ff_expert % etp == 0;
}

/* No pipeline: every stage would need the encoder's output, and frameworks differ in how it gets
 * there. Other encoders and towers are on the first stage, as in frameworks. */
bool sp_attends_to_encoder(const struct sp_model *model)
{
    return model->cross_attention || strchr(model->pattern, 'X') != NULL;
}

/* TP must divide heads, dense MLPs, all shared experts together, and with ETP each expert. */
bool sp_tp_divides(const struct sp_model *model, int64_t tp, int64_t etp)
{
    return sp_model_has_shape(model) && heads_divide(model, tp) && widths_divide(model, tp) &&
           experts_divide(model, etp);
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

bool sp_cp_divides(const struct sp_model *model, const struct sp_plan *plan, bool copies)
{
    const bool exchanges = plan->cp > 1 && plan->execution.cp_kind == SP_CP_ULYSSES;
    return cuts_sequence(plan) &&
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
    if (!heads_divide(model, plan->tp))
        return SP_PLAN_TP_HEADS;
    if (!widths_divide(model, plan->tp))
        return SP_PLAN_TP_WIDTH;
    if (plan->pp > SP_MAX_STAGES || plan->pp > model->layers ||
        plan->pp * plan->vpp > model->layers + 2)
        return SP_PLAN_PP_LAYERS;
    if (plan->pp > 1 && sp_attends_to_encoder(model))
        return SP_PLAN_PP_CROSS;
    if (!cuts_sequence(plan))
        return SP_PLAN_CP_SEQ;
    if (!sp_cp_divides(model, plan, true))
        return SP_PLAN_CP_HEADS;
    if (experts_do_not_divide(model, plan))
        return SP_PLAN_EP_EXPERTS;
    if ((plan->dp * plan->cp * plan->tp) % (plan->ep * plan->etp) != 0)
        return SP_PLAN_EP_DEVICES;
    if (!experts_divide(model, plan->etp))
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
        [SP_PLAN_TP_HEADS] = "tp does not divide the heads",
        [SP_PLAN_TP_WIDTH] = "tp does not divide the width of an MLP",
        [SP_PLAN_PP_LAYERS] = "more stages than layers",
        [SP_PLAN_PP_CROSS] =
            "pipelines of models whose layers attend to an encoder are not modelled: pp is 1",
        [SP_PLAN_VPP_STAGES] = "chunks (vpp) need a pipeline: pp is 1",
        [SP_PLAN_OFFLOAD_LAYERS] = "more layers offloaded (offload-layers) than a stage has",
        [SP_PLAN_CP_SEQ] = "cp (2 cp with ring and allgather) does not divide the sequence",
        [SP_PLAN_CP_HEADS] = ("with cp-kind ulysses tp x cp does not divide the heads, or fits no "
                              "number of copies of the KV heads"),
        [SP_PLAN_EP_EXPERTS] = "ep does not divide the experts, or there are none for ep or etp",
        [SP_PLAN_EP_DEVICES] = "ep x etp does not divide the devices of a stage",
        [SP_PLAN_ETP_WIDTH] = "etp does not divide the width of an expert",
        [SP_PLAN_PLACEMENT] = "with pp-inside ep x etp must not exceed tp x cp",
        [SP_PLAN_SLICES] = "tp, cp or ep would leave a slice: the slices must divide dp, or pp",
        [SP_PLAN_BATCH] = "fewer sequences than replicas",
        [SP_PLAN_MICRO_BATCH] = "the micro-batch is larger than a replica's share of the batch",
        [SP_PLAN_UNEVEN_BATCH] = "the batch is no whole number of micro-batches on every replica",
        [SP_PLAN_VPP_SCHEDULE] =
            "chunks need the interleaved or circular schedule, and these need chunks",
        [SP_PLAN_SHARDS] = "shards must divide dp x cp, and fill slices or sets of experts whole",
    };
    return texts[problem];
}

/* Boundaries of a pipeline: the first `left` stages have `each` + 1 layers, the others `each`, and
 * the first one `table` fewer; or with `share` != 0 a stage ends with the layer at which the
 * weights pass `share` times its number. */
struct cuts {
    int64_t layers, stages, each, left, table;
    double share;
};

/* Weights per stage in layers; the head counts by its weights. */
static double share_of_weights(const struct sp_model *model, int64_t stages)
{
    const double D = (double)model->d_model;
    const double head = D * (double)sp_head_outputs(model);
    const double layer = 4 * D * D + (model->gated_mlp ? 3 : 2) * D * (double)model->d_ff;
    return ((double)model->layers * layer + head) / (double)stages / layer;
}

static struct cuts cuts_of(const struct sp_model *model, int64_t stages, enum sp_balance balance)
{
    const int64_t L = model->layers, left = L % stages;
    /* Megatron counts table and head as one layer each if only that divides */
    const bool ends = left != 0 && (L + 2) % stages == 0;
    return (struct cuts){.layers = L,
                         .stages = stages,
                         .each = ends ? (L + 2) / stages : L / stages,
                         .left = ends ? 0 : left,
                         .table = ends,
                         .share = balance == SP_BALANCE_EVEN ? 0 : share_of_weights(model, stages)};
}

/* Layers before the boundary in front of stage `stage`. */
static int64_t boundary(const struct cuts *c, int64_t stage)
{
    if (stage == 0)
        return 0;
    if (stage >= c->stages)
        return c->layers;
    if (c->share == 0)
        return c->each * stage + (stage < c->left ? stage : c->left) - c->table;
    const double closed = floor(c->share * (double)stage) + 1;
    return closed < (double)c->layers ? (int64_t)closed : c->layers;
}

static void kind_of(const struct sp_model *model, const struct cuts *cuts, int64_t stage,
                    struct sp_stage_kind *kind)
{
    const int64_t from = boundary(cuts, stage), until = boundary(cuts, stage + 1);
    sp_count_layers(model, from, until, &kind->layers);
    sp_count_still_layers(model, from, until, &kind->still);
    kind->first = stage == 0;
    kind->last = stage == cuts->stages - 1;
    kind->present = 0;
    for (int i = 0; i < SP_LAYER_KINDS; i++)
        kind->present |= (unsigned)(kind->layers.of[i] > 0) << i;
}

struct sp_stage_kind sp_kind_of_stage(const struct sp_model *model, int64_t stages, int64_t stage,
                                      enum sp_balance balance)
{
    sp_require(stage >= 0 && stage < stages, "the stage must be one of the stages");
    const struct cuts cuts = cuts_of(model, stages, balance);
    struct sp_stage_kind kind;
    kind_of(model, &cuts, stage, &kind);
    return kind;
}

struct sp_layer_counts sp_layers_of_stage(const struct sp_model *model, int64_t stages,
                                          int64_t stage, enum sp_balance balance)
{
    sp_require(stage >= 0 && stage < stages, "the stage must be one of the stages");
    return sp_kind_of_stage(model, stages, stage, balance).layers;
}

static bool same_kind(const struct sp_stage_kind *a, const struct sp_stage_kind *b)
{
    bool same = a->present == b->present && a->first == b->first && a->last == b->last;
    for (unsigned left = a->present; left && same;) {
        const int i = sp_take_kind(&left);
        same = a->layers.of[i] == b->layers.of[i] && a->still.of[i] == b->still.of[i];
    }
    return same;
}

/* From this layer on, all layers have one kind and are trained alike; the encoder is before
 * them. */
static int64_t alike_from(const struct sp_model *model)
{
    const struct sp_moe *const moe = &model->moe;
    if (model->pattern[0] || moe->every > 1 || model->tuning.trainable == SP_TRAIN_LAST)
        return model->layers;
    return moe->experts > 0 && moe->dense_layers > 1 ? moe->dense_layers : 1;
}

/* Index of the kind of a stage, added to the map if new. The last of SP_STAGE_KINDS stands for all
 * that do not fit. */
static uint8_t map_stage(const struct sp_model *model, const struct cuts *cuts, int64_t stage,
                         struct sp_stage_map *map)
{
    struct sp_stage_kind *const kind = &map->kind[map->kinds];
    int at = 0;
    kind_of(model, cuts, stage, kind);
    while (at < map->kinds && !same_kind(&map->kind[at], kind))
        at++;
    if (at == SP_STAGE_KINDS)
        return SP_STAGE_KINDS - 1;
    if (at == map->kinds)
        map->stage[map->kinds++] = stage;
    return (uint8_t)at;
}

/* Number of consecutive stages with as many layers as this one, the last stage excluded. */
static int64_t stages_of_a_size(const struct cuts *cuts, int64_t stage)
{
    if (cuts->share == 0 && stage >= cuts->table) { /* even: those with a layer more come first */
        const int64_t alike = stage < cuts->left ? cuts->left : cuts->stages - 1;
        return alike > stage ? alike - stage : 1;
    }
    int64_t last = boundary(cuts, stage + 1), next = stage + 1;
    const int64_t size = last - boundary(cuts, stage);
    for (; next < cuts->stages - 1; next++) {
        const int64_t until = boundary(cuts, next + 1);
        if (until - last != size)
            break;
        last = until;
    }
    return next - stage;
}

/* Even stages. If pp divides L + 2 but not L, embedding and head count as a layer each, as Megatron
 * allows (Llama 3 405B: 126 layers on 16 stages). Else the first stages take the remainder.
 * nanotron balances by cost. */
void sp_map_stages(const struct sp_model *model, int64_t stages, enum sp_balance balance,
                   struct sp_stage_map *map)
{
    sp_require(stages >= 1 && stages <= SP_MAX_STAGES, "there must be 1 to SP_MAX_STAGES stages");
    const struct cuts cuts = cuts_of(model, stages, balance);
    const int64_t alike = alike_from(model);
    int64_t same;
    map->stages = stages;
    map->kinds = 0;
    for (int64_t stage = 0; stage < stages; stage += same) {
        same = boundary(&cuts, stage) >= alike ? stages_of_a_size(&cuts, stage) : 1;
        memset(&map->of[stage], map_stage(model, &cuts, stage, map), (size_t)same);
    }
}
