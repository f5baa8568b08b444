/* Megatron-LM: what its own checks refuse (validate_args of megatron/training/arguments.py,
 * TransformerConfig, the MoE layer and the interleaved schedule, 0.20). One table: of arguments
 * that are read it makes remarks, of those that are written losses. */
#include <string.h>

#include "launch/megatron/megatron.h"

/* What the checks are about, as numbers. */
struct facts {
    int64_t tp, pp, vpp, cp, ep, etp, layers, heads, groups, seq, positions, micro, batch, replicas;
    int64_t experts, top_k, away;
    bool routed, full, selective, staged_evenly;
    enum sp_core version;
};

static bool has(const struct sp_settings *s, const char *flag)
{
    return sp_has_setting(s, flag);
}

static bool is(const struct sp_settings *s, const char *flag, const char *value)
{
    const char *const text = sp_said(s, flag);
    return text && strcmp(text, value) == 0;
}

/* Whether stages may be of different sizes, or belong to DeepSpeed, which splits them itself. */
static bool is_uneven(const struct sp_settings *s)
{
    static const char *const flags[] = {"--decoder-first-pipeline-num-layers",
                                        "--decoder-last-pipeline-num-layers",
                                        "--pipeline-model-parallel-layout", "--deepspeed"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (has(s, flags[i]))
            return true;
    return false;
}

static struct facts facts_of(const struct sp_settings *s, enum sp_core version, int64_t devices)
{
    const int64_t ends = has(s, "--account-for-embedding-in-pipeline-split") +
                         has(s, "--account-for-loss-in-pipeline-split");
    struct facts f = {
        .version = version,
        .tp = sp_said_whole(s, "--tensor-model-parallel-size", 1),
        .pp = sp_said_whole(s, "--pipeline-model-parallel-size", 1),
        .vpp = sp_said_whole(s, "--num-virtual-stages-per-pipeline-rank", 1),
        .cp = sp_said_whole(s, "--context-parallel-size", 1),
        .ep = sp_said_whole(s, "--expert-model-parallel-size", 1),
        .layers = sp_said_whole(s, "--num-layers", 0),
        .heads = sp_said_whole(s, "--num-attention-heads", 0),
        .seq = sp_said_whole(s, "--seq-length", 0),
        .positions = sp_said_whole(s, "--max-position-embeddings", 0),
        .micro = sp_said_whole(s, "--micro-batch-size", 0),
        .batch = sp_said_whole(s, "--global-batch-size", 0),
        .experts = sp_said_whole(s, "--num-experts", 0),
        .top_k = sp_said_whole(s, "--moe-router-topk", 2),
        .away = sp_said_whole(s, "--cpu-offloading-num-layers", 0),
        .full = is(s, "--recompute-granularity", "full"),
        .selective = is(s, "--recompute-granularity", "selective"),
    };
    const int64_t model = f.tp * f.pp * f.cp;
    f.replicas = devices % model == 0 ? devices / model : 0;
    f.etp = sp_said_whole(s, "--expert-tensor-parallel-size", f.tp);
    f.groups =
        has(s, "--group-query-attention") ? sp_said_whole(s, "--num-query-groups", 1) : f.heads;
    f.routed = f.experts > 0;
    f.staged_evenly = is_uneven(s) || (f.layers + ends) % (f.pp * f.vpp) == 0;
    return f;
}

/* clang-format off */
/* A check of the versions from `newest` down to `oldest`. */
#define SOME(newest, oldest, holds, what) {f->version >= (newest) && f->version <= (oldest) && (holds), what}
#define ALL(holds, what) {holds, what}

static void check_degrees(const struct sp_settings *s, const struct facts *f, struct sp_refusals *refused)
{
    const int64_t at_once = f->micro * f->replicas;
    const struct sp_check checks[] = {
        ALL(f->pp > 1 && !f->staged_evenly, "--num-layers is no multiple of the stages and their chunks"),
        ALL(f->heads % f->tp != 0, "--num-attention-heads is no multiple of TP"),
        ALL(f->groups > 0 && f->groups % f->tp != 0 && f->tp % f->groups != 0, "TP and --num-query-groups do not divide one another"),
        SOME(SP_CORE_15, SP_CORE_14, f->groups > 0 && f->groups % f->tp != 0, "--num-query-groups is no multiple of TP"),
        ALL(f->pp == 1 && (f->vpp > 1 || has(s, "--num-layers-per-virtual-pipeline-stage")), "chunks of layers without stages"),
        ALL(!has(s, "--micro-batch-size"), "there is no --micro-batch-size"),
        ALL(at_once > 0 && f->batch % at_once != 0, "--global-batch-size is no multiple of micro-batch x replicas"),
        ALL(f->vpp > 1 && f->pp > 1 && at_once > 0 && f->batch / at_once % f->pp != 0, "interleaving with micro-batches that the stages do not divide"),
        ALL(f->cp > 1 && f->seq % (2 * f->cp) != 0, "--seq-length is no multiple of twice the CP degree"),
        ALL(f->positions > 0 && f->positions < f->seq, "--max-position-embeddings is less than --seq-length"),
        ALL(has(s, "--tp-comm-overlap") && !(f->tp > 1 && has(s, "--sequence-parallel")), "--tp-comm-overlap without sequence parallelism"),
    };
    SP_REFUSE(checks, refused);
}

static void check_states(const struct sp_settings *s, const struct facts *f, struct sp_refusals *refused)
{
    const char *const optimizer = sp_said(s, "--optimizer");
    const bool own = has(s, "--use-megatron-fsdp"), torch = has(s, "--use-torch-fsdp2"),
               dist = has(s, "--use-distributed-optimizer"),
               plain = !optimizer || strcmp(optimizer, "adam") == 0 || strcmp(optimizer, "sgd") == 0;
    const struct sp_check checks[] = {
        ALL(own && !is(s, "--ckpt-format", "fsdp_dtensor"), "--use-megatron-fsdp without --ckpt-format fsdp_dtensor"),
        ALL(!own && is(s, "--ckpt-format", "fsdp_dtensor"), "--ckpt-format fsdp_dtensor without --use-megatron-fsdp"),
        ALL(!plain && (own || torch), "FSDP with an optimizer other than adam and sgd"),
        ALL(has(s, "--overlap-param-gather") && !own && !dist && !is(s, "--optimizer", "dist_muon"), "--overlap-param-gather without states that are sharded"),
        ALL(torch && (f->pp > 1 || f->ep > 1 || dist), "--use-torch-fsdp2 with stages, experts' ranks or the distributed optimizer"),
        ALL(torch && !has(s, "--untie-embeddings-and-output-weights"), "--use-torch-fsdp2 with tied embeddings"),
    };
    SP_REFUSE(checks, refused);
}

static void check_recompute(const struct sp_settings *s, const struct facts *f, struct sp_refusals *refused)
{
    const char *const modules = f->selective ? sp_said(s, "--recompute-modules") : NULL,
                     *const offloaded = sp_said(s, "--offload-modules");
    const bool older = has(s, "--checkpoint-activations") || has(s, "--activations-checkpoint-method"); /* of forks */
    const bool fine = has(s, "--fine-grained-activation-offloading"), act = sp_has_word(modules, "moe_act"),
               delayed = has(s, "--fp8-format") && (!has(s, "--fp8-recipe") || is(s, "--fp8-recipe", "delayed"));
    const struct sp_check checks[] = {
        ALL(f->full && !older && !has(s, "--recompute-method"), "--recompute-granularity full without --recompute-method"),
        ALL(f->full && !older && !has(s, "--recompute-num-layers"), "--recompute-granularity full without --recompute-num-layers"),
        ALL(f->selective && has(s, "--recompute-method"), "--recompute-method with selective recomputation"),
        ALL(delayed && (act || sp_has_word(modules, "layernorm")), "norms or experts' activations run again with delayed scaling of fp8"),
        ALL(act && !has(s, "--moe-grouped-gemm"), "moe_act run again without --moe-grouped-gemm"),
        ALL(sp_has_word(modules, "mla_up_proj") && !has(s, "--multi-latent-attention"), "mla_up_proj run again without --multi-latent-attention"),
        ALL(sp_has_word(modules, "shared_experts") && has(s, "--moe-shared-expert-overlap"), "shared_experts run again with --moe-shared-expert-overlap"),
        ALL(fine && !(offloaded && offloaded[0]), "--fine-grained-activation-offloading without --offload-modules"),
        ALL(fine && f->away > 0, "--fine-grained-activation-offloading and --cpu-offloading-num-layers"),
        ALL(fine && sp_has_word(modules, "moe") && (sp_has_word(offloaded, "moe_act") || sp_has_word(offloaded, "expert_fc1")), "experts' activations offloaded though the whole mixture runs again"),
        ALL(f->away > 0 && f->away >= f->layers, "--cpu-offloading-num-layers is not less than --num-layers"),
        ALL(f->away > 0 && f->pp > 1, "--cpu-offloading-num-layers with stages"),
        ALL(f->away > 0 && has(s, "--recompute-granularity"), "--cpu-offloading-num-layers with recomputation"),
    };
    SP_REFUSE(checks, refused);
}

static void check_graphs(const struct sp_settings *s, const struct facts *f, struct sp_refusals *refused)
{
    const char *const graph = sp_said(s, "--cuda-graph-impl");
    const bool graphs = (graph && strcmp(graph, "none") != 0) || has(s, "--enable-cuda-graph") || has(s, "--external-cuda-graph"),
               whole_step = is(s, "--cuda-graph-impl", "full_iteration") || is(s, "--cuda-graph-scope", "full_iteration"),
               fine = has(s, "--fine-grained-activation-offloading");
    const struct sp_check checks[] = {
        ALL(whole_step && !has(s, "--no-check-for-nan-in-loss-and-grad"), "CUDA graphs of an iteration without --no-check-for-nan-in-loss-and-grad"),
        ALL(graphs && !whole_step && f->full, "CUDA graphs of layers that run again in full"),
        SOME(SP_CORE_17, SP_CORE_16, whole_step && f->ep > 1, "CUDA graphs of an iteration with ranks of experts"),
        SOME(SP_CORE_15, SP_CORE_14, graphs && (f->full || f->selective), "CUDA graphs with recomputation"),
        ALL(graphs && f->away > 0, "CUDA graphs with --cpu-offloading-num-layers"),
        ALL(fine && is(s, "--cuda-graph-impl", "local"), "--fine-grained-activation-offloading with CUDA graphs of its own"),
        ALL(fine && whole_step && !has(s, "--fine-grained-offloading-max-inflight-offloads"), "CUDA graphs of an iteration and offloading without a most of offloads in flight"),
    };
    SP_REFUSE(checks, refused);
}

static void check_experts(const struct sp_settings *s, const struct facts *f, struct sp_refusals *refused)
{
    const char *const modules = f->selective ? sp_said(s, "--recompute-modules") : NULL;
    const bool overlap = has(s, "--overlap-moe-expert-parallel-comm"), flex = is(s, "--moe-token-dispatcher-type", "flex"),
               exchange = flex || is(s, "--moe-token-dispatcher-type", "alltoall"),
               softmax = !has(s, "--moe-router-score-function") || is(s, "--moe-router-score-function", "softmax");
    const struct sp_check checks[] = {
        ALL(f->ep > 1 && !f->routed && f->layers > 0, "ranks of experts without --num-experts"),
        ALL(f->routed && f->experts % f->ep != 0, "--num-experts is no multiple of EP"),
        ALL(f->routed && f->top_k == 1 && softmax && !has(s, "--moe-router-pre-softmax"), "one expert a token without --moe-router-pre-softmax"),
        ALL(f->routed && f->etp > 1 && !has(s, "--disable-bias-linear"), "biases of experts that tensor parallelism splits"),
        ALL(f->routed && f->tp > 1 && !has(s, "--sequence-parallel"), "experts with TP and without sequence parallelism"),
        ALL(f->routed && flex && f->ep * f->etp == 1, "the flex dispatcher without ranks of experts"),
        ALL(has(s, "--moe-router-enable-expert-bias") && softmax, "--moe-router-enable-expert-bias with a softmax over experts"),
        SOME(SP_CORE_15, SP_CORE_14, f->routed && has(s, "--moe-grouped-gemm") && !has(s, "--bf16"), "--moe-grouped-gemm without --bf16"),
        ALL(overlap && f->ep == 1, "--overlap-moe-expert-parallel-comm without ranks of experts"),
        ALL(overlap && f->pp > 1 && f->vpp == 1 && !has(s, "--num-layers-per-virtual-pipeline-stage") && !has(s, "--pipeline-model-parallel-layout"), "--overlap-moe-expert-parallel-comm with stages that have one chunk"),
        ALL(overlap && !exchange, "--overlap-moe-expert-parallel-comm without the dispatchers alltoall and flex"),
        ALL(overlap && (f->full || sp_has_word(modules, "moe")), "--overlap-moe-expert-parallel-comm with mixtures that run again"),
        ALL(overlap && !has(s, "--bf16") && !has(s, "--fp16"), "--overlap-moe-expert-parallel-comm in fp32"),
    };
    SP_REFUSE(checks, refused);
}
/* clang-format on */

void sp_check_megatron(const struct sp_launch_words *words, const struct sp_settings *s,
                       enum sp_core version, int64_t devices, struct sp_refusals *refused)
{
    const struct facts f = facts_of(s, version, devices);
    refused->n = 0;
    check_degrees(s, &f, refused);
    check_states(s, &f, refused);
    check_recompute(s, &f, refused);
    check_graphs(s, &f, refused);
    check_experts(s, &f, refused);
    sp_check_rows(words, s, refused);
}
