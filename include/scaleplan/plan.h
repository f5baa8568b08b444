/* One explicit training plan: its validity, where its layers go, its fields as a table. */
#ifndef SCALEPLAN_PLAN_H
#define SCALEPLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <scaleplan/formats.h>
#include <scaleplan/layer.h>
#include <scaleplan/machine.h>
#include <scaleplan/pipeline.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == The plan ==
 *
 * One explicit training plan: how a model is spread over a machine and what its step does.
 */

/* What the backward pass runs again, as the share of each operator that is repeated (0 to 1), and
 * how the layers are treated. What is not repeated is kept from the forward pass. */
struct sp_recompute {
    double qkv;     /* query, key and value projections */
    double core;    /* attention itself */
    double out;     /* attention's output projection */
    double up;      /* the MLP's first matmuls */
    double down;    /* its last one */
    double grouped; /* the routed experts' matmuls, where that is more than of the others */
    double norms;   /* norms, activation function, products */
    double spare;   /* block outputs that are kept though nothing needs them */
    bool offload;   /* what is kept waits in the host's memory */
    /* parts of a layer that run again beyond those shares: a bit for each enum sp_module */
    unsigned modules;
};

/* What Megatron-Core's --recompute-modules names; sp_module_names has its words. */
enum sp_module {
    SP_MODULE_CORE_ATTN,
    SP_MODULE_MLA_UP_PROJ, /* queries, keys and values of the latents */
    SP_MODULE_LAYERNORM,
    SP_MODULE_MLP,            /* of the layers without experts */
    SP_MODULE_MOE,            /* all of a mixture: router, experts, shared experts */
    SP_MODULE_MOE_ACT,        /* the routed experts' activation function */
    SP_MODULE_SHARED_EXPERTS, /* the experts of every token */
    SP_MODULES
};

/* How tokens are exchanged between the ranks of EP; sp_dispatch_names has the words. */
enum sp_dispatch {
    SP_DISPATCH_ALLTOALL,  /* NCCL's all-to-all: a copy for each of a token's experts */
    SP_DISPATCH_DEEPEP,    /* DeepEP: a copy for each node, passed on inside it */
    SP_DISPATCH_HYBRIDEP,  /* the same by the hardware of NVLink domains */
    SP_DISPATCH_ALLGATHER, /* every rank gets all tokens */
    SP_DISPATCHES
};

/* What CUDA graphs capture, so that the host launches it in one; sp_cuda_graph_names. */
enum sp_cuda_graph {
    SP_CUDA_GRAPH_NONE,
    SP_CUDA_GRAPH_TE,   /* layers, by TransformerEngine */
    SP_CUDA_GRAPH_FULL, /* a whole iteration */
    SP_CUDA_GRAPHS
};

/* How the scores of attention are worked on; sp_attention_kernel_names. */
enum sp_attention_kernel {
    SP_KERNEL_FLASH,   /* tile by tile on the chip */
    SP_KERNEL_UNFUSED, /* written to memory between two matmuls, the masked half too */
    SP_ATTENTION_KERNELS
};

/* What of the logits is in memory at once; sp_logits_names. */
enum sp_logits {
    SP_LOGITS_UNFUSED, /* all, with the copies that the framework's loss makes: its logit_bytes */
    SP_LOGITS_FUSED,   /* all, once in 2 bytes: the gradient takes their place */
    SP_LOGITS_CHUNKED, /* the same as unfused of an eighth of the tokens */
    SP_LOGITS_LINEAR,  /* those of a few tokens: one operator has the head's matmul and the loss */
    SP_LOGITS_KINDS
};
enum { SP_LOGITS_CHUNKS = 8 }; /* torchtitan's and torchtune's default */

/* How a plan's layers are run: as the framework runs them, unless the plan says otherwise. */
struct sp_execution {
    enum sp_dispatch dispatch;
    bool moe_overlap; /* the experts' exchange hides behind another micro-batch's work */
    enum sp_cuda_graph cuda_graph;
    enum sp_fp8_recipe fp8_recipe;
    enum sp_attention_kernel attention_kernel;
    enum sp_logits logits;
    double dropout; /* probability, of scores and of what each block adds; 0: none */
};

/* What each policy of enum sp_remat repeats; sp_policy_names has their names. */
struct sp_policy {
    struct sp_recompute recompute;
};
extern const struct sp_policy sp_policies[SP_POLICIES];

/* The name of one of them. */
const char *sp_policy_name(const struct sp_policy *policy);

/* The policy of that name; NULL: there is none. */
const struct sp_policy *sp_find_policy(const char *name);

/* A plan. Every degree is >= 1; devices = dp tp pp cp. */
struct sp_plan {
    int64_t dp;      /* replicas of the model; with ZeRO the states shard over them */
    int64_t shards;  /* devices that share the sharded states: dp cp, fewer with HSDP */
    int64_t tp;      /* tensor parallelism */
    int64_t pp, vpp; /* pipeline stages, chunks of layers on each */
    int64_t cp;      /* context parallelism */
    int64_t ep, etp; /* expert parallelism, and tensor parallelism inside an expert */
    int zero;        /* 0 to 3 */
    bool sequence_parallel;
    int64_t micro_batch; /* sequences of one micro-batch */
    int64_t batch;       /* sequences of one step */
    int64_t seq;         /* tokens of one sequence */
    struct sp_recompute recompute;
    double recompute_layers; /* share of the layers that `recompute` applies to */
    int64_t offload_layers;  /* layers of a stage whose activations wait in the host's memory; 0: as
                                `recompute.offload` says, all or none */
    struct sp_execution execution;
    enum sp_schedule schedule;
    enum sp_dtype dtype; /* of the layers' matmuls */
    double imbalance;    /* busiest expert rank over the mean, >= 1 */
    bool stages_inside;  /* stages are neighbours and replicas apart, not the other way round */
    int32_t
        tp_axes[SP_MAX_AXES]; /* torus: how far a TP group reaches along each axis; 0: not said */
};

/* Share of the layers whose activations wait in the host's memory: all with `recompute.offload`,
 * and with offload_layers of them on each stage at most 1, offload_layers pp / L. */
double sp_offloaded_share(const struct sp_model *model, const struct sp_plan *plan);

/* Micro-batches of one replica, m = ceil(batch / (dp micro_batch)); sp_check_plan refuses a plan
 * that has to round. */
int64_t sp_plan_microbatches(const struct sp_plan *plan);

/* Whether the experts' exchange hides behind another micro-batch's work: the plan has it so, and
 * there is another one. */
bool sp_overlaps_exchange(const struct sp_plan *plan);

/* The batch to run where one is asked for in tokens, as `sequences` (any fraction), and
 * `at_once` = dp micro_batch sequences go through all replicas together. The nearest power of two
 * where that is within 5 %, else the nearest multiple of a power of two about a sixteenth of it:
 * numbers that many degrees divide. Where at_once does not divide that, its multiple nearest to
 * what was asked, at least one. Both numbers must be at least 1. sequences. */
int64_t sp_round_batch(double sequences, int64_t at_once);

/* Devices, dp tp pp cp. */
int64_t sp_plan_devices(const struct sp_plan *plan);

/* Why a plan cannot run this model on that many devices. */
enum sp_plan_problem {
    SP_PLAN_OK,
    SP_PLAN_NO_SHAPE,       /* the model's shape is not known */
    SP_PLAN_DEVICES,        /* degrees do not multiply to the devices */
    SP_PLAN_TP_HEADS,       /* tp does not divide the heads */
    SP_PLAN_TP_WIDTH,       /* tp does not divide a dense MLP, or the shared experts */
    SP_PLAN_PP_LAYERS,      /* more stages (times chunks) than layers */
    SP_PLAN_PP_CROSS,       /* a pipeline of a model whose layers attend to an encoder */
    SP_PLAN_VPP_STAGES,     /* chunks of a stage without a pipeline */
    SP_PLAN_OFFLOAD_LAYERS, /* more layers offloaded than a stage has */
    SP_PLAN_CP_SEQ,         /* cp does not divide the sequence */
    SP_PLAN_EP_EXPERTS,     /* ep does not divide the experts, or there are none to divide */
    SP_PLAN_EP_DEVICES,     /* ep does not divide the devices of a stage */
    SP_PLAN_ETP_WIDTH,      /* etp does not divide d_ff_expert */
    SP_PLAN_PLACEMENT,      /* stages stand between the ranks of EP */
    SP_PLAN_SLICES,         /* what only links carry would leave a slice */
    SP_PLAN_BATCH,          /* fewer sequences than replicas need */
    SP_PLAN_MICRO_BATCH,    /* a micro-batch larger than a replica's share of the batch */
    SP_PLAN_UNEVEN_BATCH,   /* replicas and micro-batches do not divide the batch */
    SP_PLAN_VPP_SCHEDULE, /* chunks without a schedule of chunks, or such a schedule without any */
    SP_PLAN_SHARDS,       /* shards do not divide dp cp, or the ranks of a slice, or are no multiple
                             of them, or of the sets of experts */
    SP_PLAN_PROBLEMS
};

/* The first problem of a plan. Every degree, the devices and the slices must be at least 1. */
enum sp_plan_problem sp_check_plan(const struct sp_model *model, const struct sp_plan *plan,
                                   int64_t devices, int64_t slices);

/* Whether layers of the model attend to its encoder: then all stages would need what it makes, and
 * no pipeline of them is modelled. */
bool sp_attends_to_encoder(const struct sp_model *model);

/* Whether TP of `tp`, with the routed experts cut in `etp`, splits evenly what it shards: the query
 * heads, the MLP of the dense layers if there are any (d_ff_dense, else d_ff), the shared experts
 * together, and each routed expert. Also false for a model of unknown shape. */
bool sp_tp_divides(const struct sp_model *model, int64_t tp, int64_t etp);

/* What a TP rank has of `groups` that cannot be divided, such as heads of keys and values: groups /
 * tp, or one that several ranks hold alike. */
double sp_groups_of_rank(double groups, double tp);

/* Whether TP, CP or EP would cross from one slice to another, which no link does: the replicas span
 * the slices, or the stages where there are fewer replicas, and EP stays in what is left. */
bool sp_leaves_slices(const struct sp_plan *plan, int64_t slices);

/* Whether groups of plan->shards all look alike: they divide dp cp, lie in one slice or fill
 * several, and hold each expert equally often, if more than once. */
bool sp_shards_fit(const struct sp_plan *plan, int64_t slices);

/* Shards unless a plan says otherwise: dp cp, of one slice where the replicas span several, so that
 * each slice holds the whole model. */
int64_t sp_default_shards(const struct sp_plan *plan, int64_t slices);

/* The words for it, "tp does not divide the heads". */
const char *sp_plan_problem_text(enum sp_plan_problem problem);

/* How the layers fall on the stages. */
enum sp_balance {
    SP_BALANCE_EVEN, /* as equal as possible, the first stages take what is left over */
    SP_BALANCE_COST  /* nanotron: a stage is full when its share of all weights is passed */
};

/* Layers of each kind on one stage. The stage must be one of the stages. */
struct sp_layer_counts sp_layers_of_stage(const struct sp_model *model, int64_t stages,
                                          int64_t stage, enum sp_balance balance);

/* Stages that are alike: the same layers at the same end of the model. */
struct sp_stage_kind {
    struct sp_layer_counts layers;
    bool first, last;
    struct sp_layer_counts still; /* of the layers, below all that is trained */
};

/* The kind of one stage. The stage must be one of the stages. */
struct sp_stage_kind sp_kind_of_stage(const struct sp_model *model, int64_t stages, int64_t stage,
                                      enum sp_balance balance);

/* The kinds of stages of a pipeline, and which stage is of which. A split into sizes that differ by
 * a layer, with a mixture every so many layers after some dense ones and two ends, has no more than
 * SP_STAGE_KINDS. */
enum { SP_STAGE_KINDS = 32 };
struct sp_stage_map {
    int64_t stages;
    int kinds;
    struct sp_stage_kind kind[SP_STAGE_KINDS + 1]; /* behind the last is room to make one */
    int64_t stage[SP_STAGE_KINDS]; /* the first of the kind; kinds come in the order of these */
    uint8_t of[SP_MAX_STAGES];     /* kind of each stage */
};

/* Maps a pipeline. There must be 1 to SP_MAX_STAGES stages. */
void sp_map_stages(const struct sp_model *model, int64_t stages, enum sp_balance balance,
                   struct sp_stage_map *map);

/*
 * == Its fields ==
 *
 * The fields of a plan as rows of a table: code that reads, prints or varies plans walks it.
 */

/* How a field is stored in struct sp_plan, and how a search lists its values. */
enum sp_plan_kind {
    SP_PLAN_WHOLE,  /* int64_t; struct sp_degree */
    SP_PLAN_LEVEL,  /* int, whose numbers are its names; bool[] as for all that has names */
    SP_PLAN_REAL,   /* double */
    SP_PLAN_SWITCH, /* bool: off or on */
    SP_PLAN_EITHER, /* bool with other names */
    SP_PLAN_NAME,   /* enum */
    SP_PLAN_POLICY, /* struct sp_recompute: one of sp_policies */
    SP_PLAN_LIST,   /* unsigned: a bit for each of its names */
    SP_PLAN_AXES    /* int32_t[SP_MAX_AXES] */
};

/* How a plan one change away differs in the field. */
enum sp_plan_change {
    SP_PLAN_STAYS,
    SP_PLAN_MOVES,  /* a factor of two moves between it and another one of these */
    SP_PLAN_SCALES, /* twice or half */
    SP_PLAN_SWAPS   /* any other of its names */
};

struct sp_plan_field {
    const char *name;  /* of the option, and in JSON */
    const char *value; /* what stands for the value in a usage: "N" */
    enum sp_plan_kind kind;
    double min, max;          /* of numbers */
    const char *fallback;     /* what a plan has that does not say; NULL: it depends on the rest */
    const char *const *names; /* of its values, or NULL */
    size_t offset;            /* in struct sp_plan */
    size_t space;             /* of its values in struct sp_search_space; 0: a search keeps it */
    const char *most;         /* option of the largest value that a search looks at, or NULL */
    enum sp_plan_change near;
    bool in_line;    /* the line of a plan in a text has it; others where they are unusual */
    bool of_problem; /* of what is trained, not of how: plans that are compared share it */
    const char *text;
};

#define SP_PLAN_FIELD(id, ...) SP_FIELD_##id,
enum sp_plan_field_id {
#include <scaleplan/plan_fields.def>
    SP_PLAN_FIELDS
};
#undef SP_PLAN_FIELD

extern const struct sp_plan_field sp_plan_fields[SP_PLAN_FIELDS];

/* The field's value: its number, the index of its name (0 or 1 of a switch), the bits of a list,
 * and NAN for axes and for a recomputation that is none of sp_policies. */
double sp_plan_value(const struct sp_plan *plan, const struct sp_plan_field *field);

/* The name of that value; NULL: it has none, as a list. */
const char *sp_plan_name(const struct sp_plan *plan, const struct sp_plan_field *field);

/* Puts such a value in. A policy leaves `offload` and `modules` as they are; axes are left alone.
 */
void sp_set_plan_value(struct sp_plan *plan, const struct sp_plan_field *field, double value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
