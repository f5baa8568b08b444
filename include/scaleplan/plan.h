/* An explicit training plan: validity, layers per stage, table of fields. */
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
 * How a model is divided over a machine and how its step runs.
 */

/* Recomputation: per operator the share (0 to 1) that the backward pass computes again; the rest is
 * kept from the forward pass. */
struct sp_recompute {
    double qkv;     /* query, key and value projections */
    double core;    /* the attention core */
    double out;     /* attention's output projection */
    double up;      /* first MLP matmuls */
    double down;    /* last MLP matmul */
    double grouped; /* routed experts' matmuls, if that is more than `up` and `down` */
    double norms;   /* norms, activation function, gating */
    double spare;   /* block outputs that are kept needlessly */
    bool offload;   /* kept activations wait in host memory */
    /* parts of a layer recomputed beyond those shares: a bit per enum sp_module */
    unsigned modules;
    unsigned away; /* of `offload`: the tensors that wait there, a bit per enum sp_away; 0: all */
};

/* The kept activations that can be offloaded separately: inputs of a layer's modules under
 * the names of Megatron-Core's --offload-modules, and what a dense MLP keeps; sp_away_names. */
enum sp_away {
    SP_AWAY_ATTN_NORM,  /* the layer's input */
    SP_AWAY_QKV_LINEAR, /* the norm's output */
    SP_AWAY_CORE_ATTN,  /* queries, keys and values, or their latents */
    SP_AWAY_ATTN_PROJ,  /* the output of attention */
    SP_AWAY_MLP_NORM,   /* the stream after attention */
    SP_AWAY_MLP,        /* of dense and shared MLPs: input, gate and up, their product */
    SP_AWAY_EXPERT_FC1, /* tokens in the order of experts */
    SP_AWAY_MOE_ACT,    /* the routed experts' gate and up */
    SP_AWAYS
};

/* Modules of Megatron-Core's --recompute-modules, named by sp_module_names. */
enum sp_module {
    SP_MODULE_CORE_ATTN,
    SP_MODULE_MLA_UP_PROJ, /* up-projections from MLA's latents */
    SP_MODULE_LAYERNORM,
    SP_MODULE_MLP,     /* in layers without experts */
    SP_MODULE_MOE,     /* router, experts and shared experts */
    SP_MODULE_MOE_ACT, /* the routed experts' activation function */
    SP_MODULE_SHARED_EXPERTS,
    SP_MODULES
};

/* Sets of modules that a search tries besides the policies: the first of a ladder, the first two
 * and so on, as bits; modules that the model lacks are left out. Returns their number. */
struct sp_module_ladder {
    int n;
    enum sp_module rung[SP_MODULES]; /* each once, the cheapest per freed byte first */
};
int sp_module_sets(const struct sp_model *model, const struct sp_module_ladder *ladder,
                   unsigned sets[SP_MODULES]);

/* How EP ranks exchange tokens, named by sp_dispatch_names. */
enum sp_dispatch {
    SP_DISPATCH_ALLTOALL,  /* NCCL all-to-all: one copy per token and expert */
    SP_DISPATCH_DEEPEP,    /* DeepEP: one copy per token and node, forwarded inside it */
    SP_DISPATCH_HYBRIDEP,  /* the same in the hardware of NVLink domains */
    SP_DISPATCH_ALLGATHER, /* every rank gets all tokens */
    SP_DISPATCHES
};

/* What CUDA graphs capture and the host launches at once, named by sp_cuda_graph_names. */
enum sp_cuda_graph {
    SP_CUDA_GRAPH_NONE,
    SP_CUDA_GRAPH_TE,     /* layers, captured by TransformerEngine */
    SP_CUDA_GRAPH_FULL,   /* a whole iteration */
    SP_CUDA_GRAPH_ROUTER, /* routers and what prepares the exchange */
    SP_CUDA_GRAPHS
};

/* How attention scores are computed; sp_attention_kernel_names. */
enum sp_attention_kernel {
    SP_KERNEL_FLASH,   /* tile by tile on the chip, by the framework's own kernel */
    SP_KERNEL_UNFUSED, /* written to memory between two matmuls, the masked half too */
    SP_KERNEL_FA2,     /* FlashAttention 2, as flash; its instructions are the A100's */
    SP_KERNEL_FA3,     /* FlashAttention 3: the H100's */
    SP_KERNEL_CUDNN,   /* cuDNN's, for each chip */
    SP_KERNEL_FLEX,    /* FlexAttention, in Triton */
    SP_ATTENTION_KERNELS
};

/* The part of the logits in memory at once; sp_logits_names. */
enum sp_logits {
    SP_LOGITS_UNFUSED, /* all, with the copies that the framework's loss makes: its logit_bytes */
    SP_LOGITS_FUSED,   /* all, once in 2 bytes: the gradient takes their place */
    SP_LOGITS_CHUNKED, /* the same as unfused of an eighth of the tokens */
    SP_LOGITS_LINEAR,  /* those of a few tokens: one operator has the head's matmul and the loss */
    SP_LOGITS_NATIVE,  /* all, with two copies in 4 bytes: Megatron's own fusion, whose compiled
                          pieces each keep input and result in memory */
    SP_LOGITS_KINDS
};
enum { SP_LOGITS_CHUNKS = 8 }; /* torchtitan's and torchtune's default */

/* What hides behind passes where ZeRO 0 or 1 spreads a batch over replicas; sp_dp_overlap_names. */
enum sp_dp_overlap {
    SP_DP_OVERLAP_ALL,       /* gradients and, with ZeRO 1, the updated weights */
    SP_DP_OVERLAP_GRADIENTS, /* weights are gathered between steps */
    SP_DP_OVERLAP_NONE,      /* gradients too are reduced after the last backward pass */
    SP_DP_OVERLAPS
};

/* How the ranks of context parallelism attend to each other's tokens; sp_cp_kind_names. */
enum sp_cp_kind {
    SP_CP_RING,      /* keys and values go around a ring; attention works on a block meanwhile */
    SP_CP_ALLGATHER, /* every rank gathers all keys and values */
    SP_CP_ULYSSES,   /* all-to-alls give a rank all tokens of some heads, then return its own */
    SP_CP_DYNAMIC,   /* a ring of as many ranks, a power of two, as a document needs; a scheduler
                        gives all the same work */
    SP_CP_KINDS
};

/* Execution options of a plan; their defaults are the framework's. */
struct sp_execution {
    enum sp_dispatch dispatch;
    bool moe_overlap; /* expert exchange overlaps another micro-batch's work */
    enum sp_cuda_graph cuda_graph;
    enum sp_fp8_recipe fp8_recipe;
    enum sp_attention_kernel attention_kernel;
    enum sp_logits logits;
    enum sp_dp_overlap dp_overlap;
    double dropout; /* probability, of scores and of what each block adds; 0: none */
    enum sp_cp_kind cp_kind;
    double capacity; /* tokens that each expert computes over the mean, cut and padded to it; 0: all
                        that it is sent */
};

/* What each policy of enum sp_remat recomputes, named by sp_policy_names. */
struct sp_policy {
    struct sp_recompute recompute;
};
extern const struct sp_policy sp_policies[SP_POLICIES];

const char *sp_policy_name(const struct sp_policy *policy);

/* The policy with that name; NULL if there is none. */
const struct sp_policy *sp_find_policy(const char *name);

/* Layers of each pipeline stage, if the plan sets them. */
enum { SP_OWN_STAGES = 32 }; /* at most SP_STAGE_KINDS: each may be of a different kind */
struct sp_own_stages {
    int16_t n;          /* stages; 0: the split is the framework's */
    bool modules_apart; /* modules for further tokens are on the stage before the last, their heads
                           and losses on the last; else all of it is there */
    int16_t layers[SP_OWN_STAGES];
};

/* A plan. Every degree is >= 1; devices = dp tp pp cp. */
struct sp_plan {
    int64_t dp;      /* replicas of the model; ZeRO shards states over them */
    int64_t shards;  /* devices that share sharded states: dp cp, less with HSDP */
    int64_t tp;      /* tensor parallelism */
    int64_t pp, vpp; /* pipeline stages, chunks per stage */
    int64_t first_layers, last_layers; /* layers of the stages at the ends; 0: as the others */
    struct sp_own_stages own;          /* in place of those two: layers of every stage */
    int64_t cp;                        /* context parallelism */
    int64_t ep, etp;                   /* expert parallelism, TP inside an expert */
    int zero;                          /* 0 to 3 */
    bool sequence_parallel;
    int64_t micro_batch; /* sequences per micro-batch */
    int64_t batch;       /* sequences per step */
    int64_t seq;         /* tokens per sequence */
    struct sp_recompute recompute;
    double recompute_layers; /* share of the layers that `recompute` applies to */
    double optimizer_away;   /* share of the optimizer's states that hosts keep and update */
    int64_t offload_layers;  /* layers per stage with activations offloaded to the host; 0: all or
                                none by `recompute.offload` */
    struct sp_execution execution;
    enum sp_schedule schedule;
    enum sp_dtype dtype; /* of the layers' matmuls */
    double imbalance;    /* busiest expert rank over the mean, >= 1 */
    bool stages_inside;  /* stages are adjacent and replicas far apart, instead of the reverse */
    int32_t tp_axes[SP_MAX_AXES]; /* torus: length of a TP group along each axis; 0: not stated */
    bool open_etp, open_remat;    /* a measured run that does not state its etp or recomputation */
};

/* Share of the layers with offloaded activations under `recompute.offload`: all, or offload_layers
 * pp / L, at most 1. */
double sp_offloaded_share(const struct sp_model *model, const struct sp_plan *plan);

/* Micro-batches per replica, m = ceil(batch / (dp micro_batch)). sp_check_plan refuses plans that
 * would round. */
int64_t sp_plan_microbatches(const struct sp_plan *plan);

/* Tokens that the busiest rank's experts are sent and compute, over the mean: with a capacity it is
 * that capacity, whatever the router does. */
double sp_expert_load(const struct sp_plan *plan);

/* What hides behind passes: as the plan asks with ZeRO 0 and 1; with more all that can. */
enum sp_dp_overlap sp_dp_overlap(const struct sp_plan *plan);

/* Whether the expert exchange overlaps: the plan asks for it and has another micro-batch. */
bool sp_overlaps_exchange(const struct sp_plan *plan);

/* What a framework asks of plans that overlap it. */
struct sp_overlap_limits {
    bool in_chunks;              /* a stage has several chunks */
    bool refuses[SP_DISPATCHES]; /* dispatchers that it does not overlap */
};

/* Whether a plan that overlaps the exchange keeps to the limits; one that does not always does. */
bool sp_may_overlap(const struct sp_overlap_limits *limits, const struct sp_plan *plan);

/* The numbers of micro-batches that a framework's interleaved and circular schedules take. */
enum sp_rounds {
    SP_ROUNDS_ANY,
    SP_ROUNDS_OF_STAGES, /* multiples of the stages. MaxText: num_pipeline_microbatches */
    SP_ROUNDS_ALIKE,     /* equal rounds, of at least the stages each. PyTorch,
                            ScheduleInterleaved1F1B */
    SP_ROUNDS_OF_GROUPS, /* the same as of stages by default; others in larger groups, see
                            sp_microbatch_group, whose time and memory are not modelled, so nothing
                            chooses them */
    SP_ROUNDS
};

/* The smallest group of micro-batches that pass a chunk one after the other with which Megatron
 * runs that many on that many stages: none of its groups is smaller than the stages; 0: there is
 * none. Megatron-Core, schedules.py: microbatch_group_size_per_vp_stage. */
int64_t sp_microbatch_group(int64_t microbatches, int64_t stages);

/* Whether a number of micro-batches is one of those, on that many stages. Both must be at least
 * 1. */
bool sp_takes_rounds(enum sp_rounds rounds, int64_t microbatches, int64_t stages);

/* Whether a plan's number of micro-batches is one of those; without chunks (vpp) any is. */
bool sp_may_interleave(enum sp_rounds rounds, const struct sp_plan *plan);

/* Whether a device alternates between parts of the model, or holds all of it: a pipeline's stages
 * have several chunks (DualPipe's two), or there is no pipeline. */
bool sp_has_chunks(int64_t pp, int64_t vpp, enum sp_schedule schedule);

/* Greatest common divisor of two numbers; that of a number and 0 is the number. Both must be at
 * least 0. */
int64_t sp_common_divisor(int64_t number, int64_t other);

/* A number without its factors of two. It must be at least 1. */
int64_t sp_odd_part(int64_t number);

/* A batch (sequences) close to `sequences` (real) when the replicas process `at_once` = dp
 * micro_batch sequences together: the nearest power of two if within 5 %, else the nearest multiple
 * of about a sixteenth of it (a power of two), since many degrees divide such numbers; if at_once
 * does not divide that, its nearest multiple, at least one. Both numbers must be at least 1. */
int64_t sp_round_batch(double sequences, int64_t at_once);

/* Devices, dp tp pp cp. */
int64_t sp_plan_devices(const struct sp_plan *plan);

/* Why a plan cannot run a model on some devices. */
enum sp_plan_problem {
    SP_PLAN_OK,
    SP_PLAN_NO_SHAPE,     /* the model has no shape */
    SP_PLAN_DEVICES,      /* the product of degrees is not the number of devices */
    SP_PLAN_CONVOLUTIONS, /* tp, pp or cp of a convolutional network */
    SP_PLAN_TP_HEADS,     /* tp does not divide the heads */
    SP_PLAN_TP_WIDTH,     /* tp does not divide a dense MLP or the shared experts */
    SP_PLAN_PP_LAYERS,    /* more stages x chunks than layers */
    SP_PLAN_PP_ENDS,    /* stages at the ends leave the others without layers, or there are none */
    SP_PLAN_PP_OWN,     /* explicit layers of stages do not match pp or the model's layers */
    SP_PLAN_PP_CROSS,   /* a pipeline for a model with cross-attention */
    SP_PLAN_VPP_STAGES, /* chunks without a pipeline */
    SP_PLAN_OFFLOAD_LAYERS, /* more layers offloaded than a stage has */
    SP_PLAN_CP_SEQ,         /* cp does not divide the sequence: sp_cp_divides */
    SP_PLAN_CP_ENTRIES,     /* cp above 1 with compressed attention */
    SP_PLAN_CP_HEADS,       /* Ulysses does not divide the heads */
    SP_PLAN_EP_EXPERTS,     /* ep does not divide the experts, or there are none */
    SP_PLAN_EP_DEVICES,     /* ep does not divide the devices of a stage */
    SP_PLAN_ETP_WIDTH,      /* etp does not divide d_ff_expert */
    SP_PLAN_PLACEMENT,      /* stages lie between the ranks of EP */
    SP_PLAN_SLICES,         /* TP, CP or EP would cross slices, which no link joins */
    SP_PLAN_BATCH,          /* fewer sequences than replicas need */
    SP_PLAN_MICRO_BATCH,    /* a micro-batch larger than a replica's share of the batch */
    SP_PLAN_UNEVEN_BATCH,   /* replicas x micro-batch does not divide the batch */
    SP_PLAN_VPP_SCHEDULE,   /* chunks without a chunked schedule, or the reverse */
    SP_PLAN_SHARDS,         /* shards do not divide dp cp, or fit neither slices nor sets of
                               experts */
    SP_PLAN_PROBLEMS
};

/* The first problem of a plan. Every degree, the devices and the slices must be at least 1. */
enum sp_plan_problem sp_check_plan(const struct sp_model *model, const struct sp_plan *plan,
                                   int64_t devices, int64_t slices);

/* Whether layers attend to the encoder. Every stage would then need its output; such pipelines are
 * not modelled. */
bool sp_attends_to_encoder(const struct sp_model *model);

/* Whether a pipeline cannot divide a model's layers: they attend to an encoder, or only the mean
 * width of their MLPs is known. */
bool sp_keeps_layers(const struct sp_model *model);

/* Whether tp, with routed experts divided by etp, divides evenly what it shards: query heads, dense
 * MLPs if any (d_ff_dense, else d_ff), shared experts together, each routed expert. False for a
 * model without shape. */
bool sp_tp_divides(const struct sp_model *model, int64_t tp, int64_t etp);

/* Whether etp alone divides each routed expert, if there are any. */
bool sp_etp_divides(const struct sp_model *model, int64_t etp);

/* TP inside an expert if it is not given: TP's degree where each rank has all experts, as
 * Megatron-LM and torchtitan then split them; 1 where expert parallelism spreads the experts (as
 * recipes do), where TP does not divide their width, and for a model without experts. */
int64_t sp_usual_etp(const struct sp_model *model, int64_t tp, int64_t ep);

/* Whether CP divides the sequence, and with Ulysses TP x CP the heads, and the KV heads unless
 * `copies` of one may be on several ranks. A causal mask leaves ring and all-gather even work if
 * each rank has an early and a late part: 2 cp parts. */
bool sp_cp_divides(const struct sp_model *model, const struct sp_plan *plan, bool copies);

/* A TP rank's share of indivisible `groups` such as KV heads: groups / tp, at least 1
 * (replicated). */
double sp_groups_of_rank(double groups, double tp);

/* Whether TP, CP or EP would cross slices, if there are no links: replicas span the slices (or
 * stages, if replicas are fewer), and EP stays within the rest. */
bool sp_leaves_slices(const struct sp_plan *plan, int64_t slices);

/* Whether all groups of plan->shards are alike: they divide dp cp, lie in one slice or fill
 * several, and hold every expert equally often. */
bool sp_shards_fit(const struct sp_plan *plan, int64_t slices);

/* Default shards: dp cp, within one slice if replicas span several, so that each slice holds the
 * whole model. */
int64_t sp_default_shards(const struct sp_plan *plan, int64_t slices);

/* The problem in words: "tp does not divide the heads". */
const char *sp_plan_problem_text(enum sp_plan_problem problem);

/* How layers are assigned to stages. */
enum sp_balance {
    SP_BALANCE_EVEN, /* as equal as possible; the first stages take the remainder */
    SP_BALANCE_COST  /* nanotron: a stage is full when it exceeds its share of all weights */
};

/* How a model is split into stages. */
struct sp_stage_split {
    int64_t stages;
    int64_t first, last; /* layers of the stages at the ends; 0: as the others */
    enum sp_balance balance;
    const struct sp_own_stages *own; /* layers of every stage; NULL: as the rest says */
};

/* The split of a plan, of whose own layers it keeps the address. */
struct sp_stage_split sp_split_of(const struct sp_plan *plan, enum sp_balance balance);

/* Layers of each stage, from a list of them, "7,8,8,9", or from Megatron's layout of the chunks of
 * all stages: "Et*3|(tt|)*6tL", where t is a layer, m a module for further tokens, E and L are the
 * model's ends, and * repeats the letter or the group before it; a number of the list with an m has
 * the modules too. No stages are set if they equal the default split of `usual`. Returns NULL, or
 * the fault: the text has neither form, has another number of layers than the model on the stages
 * of `usual`, has m on a stage other than the last two, or L in a chunk other than the last. */
const char *sp_read_stages(const char *text, const struct sp_model *model,
                           const struct sp_stage_split *usual, struct sp_own_stages *own);

/* Chunks of all stages in Megatron's letters; 0: not such a text. */
int64_t sp_layout_chunks(const char *text);

/* Layers per kind on a stage. The stage must be one of the stages. */
struct sp_layer_counts sp_layers_of_stage(const struct sp_model *model,
                                          const struct sp_stage_split *split, int64_t stage);

/* A kind of stage: the same layers at the same end of the model. */
struct sp_stage_kind {
    struct sp_layer_counts layers;
    unsigned present; /* bits of the kinds of layers that it has */
    bool first, last;
    bool copy; /* it holds what is tied to the input table, and the first stage does not */
    struct sp_layer_counts still; /* the layers that no gradient passes */
};

/* The kind of a stage. The stage must be one of the stages. */
struct sp_stage_kind sp_kind_of_stage(const struct sp_model *model,
                                      const struct sp_stage_split *split, int64_t stage);

/* The distinct kinds of stages, and the kind of each stage. Stages whose sizes differ by one layer,
 * experts in every n-th layer after some dense ones, and two ends make at most SP_STAGE_KINDS. */
enum { SP_STAGE_KINDS = 32 };
struct sp_stage_map {
    int64_t stages;
    int kinds;
    struct sp_stage_kind kind[SP_STAGE_KINDS + 1]; /* the extra element is scratch */
    int64_t stage[SP_STAGE_KINDS];                 /* first stage of each kind, in rising order */
    uint8_t of[SP_MAX_STAGES];                     /* kind of each stage */
};

/* Layers of each pipeline stage where all have the same number, counting the embedding and the head
 * as one layer each where only that divides; 0 where stages differ. Stages must be at least 1. */
int64_t sp_even_layers(const struct sp_model *model, int64_t stages);

/* Maps a pipeline. There must be 1 to SP_MAX_STAGES stages. */
void sp_map_stages(const struct sp_model *model, const struct sp_stage_split *split,
                   struct sp_stage_map *map);

/*
 * == Its fields ==
 *
 * The fields of a plan as a table, for code that reads, prints or varies plans.
 */

/* Storage of a field in struct sp_plan, and in a search space. */
enum sp_plan_kind {
    SP_PLAN_WHOLE,  /* int64_t; struct sp_degree */
    SP_PLAN_LEVEL,  /* int, values indexed by name; space: bool[] */
    SP_PLAN_REAL,   /* double */
    SP_PLAN_SWITCH, /* bool: off or on */
    SP_PLAN_EITHER, /* bool with other names than off and on */
    SP_PLAN_NAME,   /* enum */
    SP_PLAN_POLICY, /* struct sp_recompute: one of sp_policies */
    SP_PLAN_LIST,   /* unsigned: a bit per name */
    SP_PLAN_AXES,   /* int32_t[SP_MAX_AXES] */
    SP_PLAN_STAGES  /* struct sp_own_stages */
};

/* How a neighbouring plan differs in a field. */
enum sp_plan_change {
    SP_PLAN_STAYS,
    SP_PLAN_MOVES,  /* a factor of two moves between two such fields */
    SP_PLAN_SCALES, /* doubled or halved */
    SP_PLAN_CUTS,   /* every other number of chunks that divide a stage's layers */
    SP_PLAN_SWAPS   /* another of its names */
};

struct sp_plan_field {
    const char *name;  /* of the option and the JSON key */
    const char *value; /* placeholder in a usage line: "N" */
    enum sp_plan_kind kind;
    double min, max;          /* of numbers */
    const char *fallback;     /* default; NULL: depends on other fields */
    const char *const *names; /* names of its values, or NULL */
    size_t offset;            /* in struct sp_plan */
    size_t space;             /* offset of its values in struct sp_search_space; 0: not searched */
    const char *most;         /* option for the largest searched value, or NULL */
    enum sp_plan_change near;
    bool in_line;    /* always printed in the one-line form of a plan; others only if not the
                        default */
    bool of_problem; /* part of the training problem, equal in all compared plans */
    const char *text;
};

#define SP_PLAN_FIELD(id, ...) SP_FIELD_##id,
enum sp_plan_field_id {
#include <scaleplan/plan_fields.def>
    SP_PLAN_FIELDS
};
#undef SP_PLAN_FIELD

extern const struct sp_plan_field sp_plan_fields[SP_PLAN_FIELDS];

/* The field's value as a number: a number, the index of a name (switch: 0 or 1), the bits of a
 * list. NAN for axes, stages and for recomputation that is not one of sp_policies. */
double sp_plan_value(const struct sp_plan *plan, const struct sp_plan_field *field);

/* The name of the current value; NULL if it has none, as lists. */
const char *sp_plan_name(const struct sp_plan *plan, const struct sp_plan_field *field);

/* Sets such a value. A policy leaves `offload` and `modules` unchanged; axes and stages are
 * ignored. */
void sp_set_plan_value(struct sp_plan *plan, const struct sp_plan_field *field, double value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
