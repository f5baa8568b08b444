/* Megatron-LM: an argument list, alone or inside a shell script, as a plan. */
#include <math.h>
#include <string.h>

#include "launch/assumed.h"
#include "launch/megatron.h"
#include "launch/shell.h"

/* Arguments that change memory or time and that no option of `step` has. */
static const char *const unread[] = {"--optimizer-cpu-offload",
                                     "--pipeline-model-parallel-layout",
                                     "--decoder-first-pipeline-num-layers",
                                     "--decoder-last-pipeline-num-layers",
                                     "--hierarchical-context-parallel-sizes",
                                     "--outer-dp-sharding-strategy",
                                     "--overlap-moe-expert-parallel-comm",
                                     "--main-grads-dtype",
                                     "--main-params-dtype",
                                     "--exp-avg-dtype",
                                     "--exp-avg-sq-dtype",
                                     "--mtp-num-layers",
                                     "--recompute-modules"};

/* Chunks of layers on a stage: said, or by their layers; 0 when those do not divide. */
static int64_t virtual_stages(struct sp_settings *s, struct sp_error *error)
{
    const int64_t per_chunk =
        sp_setting_whole(s, "--num-layers-per-virtual-pipeline-stage", 1, 0, error);
    const int64_t layers = sp_setting_whole(s, "--num-layers", 1, 0, error);
    const int64_t pp = sp_setting_whole(s, "--pipeline-model-parallel-size", 1, 1, error);
    if (per_chunk == 0)
        return sp_setting_whole(s, "--num-virtual-stages-per-pipeline-rank", 1, 1, error);
    return layers > 0 && layers % (pp * per_chunk) == 0 ? layers / pp / per_chunk : 0;
}

/* Inside of experts Megatron splits matmuls as outside, where it is not told otherwise. */
static void read_experts(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    const int64_t tp = sp_setting_whole(s, "--tensor-model-parallel-size", 1, 1, error);
    const int64_t ep = sp_setting_whole(s, "--expert-model-parallel-size", 1, 1, error);
    launch->etp_is_tp = !sp_setting(s, "--expert-tensor-parallel-size");
    if (sp_setting(s, "--num-experts") || ep > 1)
        sp_launch_option(
            launch, "etp", "%lld",
            (long long)sp_setting_whole(s, "--expert-tensor-parallel-size", 1, tp, error));
}

static void read_degrees(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    for (size_t i = 0; i < SP_DEGREE_FLAGS; i++)
        if (sp_setting(s, sp_degree_flags[i].flag))
            sp_launch_option(launch, sp_degree_flags[i].option, "%lld",
                             (long long)sp_setting_whole(s, sp_degree_flags[i].flag, 1, 1, error));
    if (sp_setting(s, "--num-layers-per-virtual-pipeline-stage")) {
        const int64_t vpp = virtual_stages(s, error);
        if (vpp > 0)
            sp_launch_option(launch, "vpp", "%lld", (long long)vpp);
        else
            sp_launch_note(launch, "--num-layers-per-virtual-pipeline-stage: needs --num-layers "
                                   "that the chunks divide");
    }
    read_experts(s, launch, error);
    sp_launch_option(launch, "sp", "%s", sp_setting(s, "--sequence-parallel") ? "on" : "off");
    if (sp_setting(s, "--seq-length"))
        sp_launch_option(launch, "seq", "%lld",
                         (long long)sp_setting_whole(s, "--seq-length", 1, 1, error));
    if (sp_setting(s, "--global-batch-size"))
        sp_launch_option(launch, "batch", "%lldx",
                         (long long)sp_setting_whole(s, "--global-batch-size", 1, 1, error));
}

static void read_sharding(struct sp_settings *s, int64_t devices, struct sp_launch *launch,
                          struct sp_error *error)
{
    const char *const strategy = sp_setting(s, "--data-parallel-sharding-strategy");
    int zero = sp_setting(s, "--use-torch-fsdp2")             ? 3
               : sp_setting(s, "--use-distributed-optimizer") ? 1
                                                              : 0;
    const bool counts = sp_setting(s, "--use-megatron-fsdp") || sp_setting(s, "--use-custom-fsdp");
    bool known = !strategy;
    if (strategy && !counts)
        sp_launch_note(launch, "--data-parallel-sharding-strategy counts with --use-megatron-fsdp "
                               "alone: left out");
    for (int i = 0; i < 4 && strategy; i++)
        if (strcmp(strategy, sp_strategies[i]) == 0) {
            zero = counts ? i : zero;
            known = true;
        }
    if (!known)
        sp_fail(error, SP_INPUT,
                "%s: --data-parallel-sharding-strategy: \"%s\": expected no_shard, optim, "
                "optim_grads or optim_grads_params",
                sp_safe(s->origin), sp_safe(strategy));
    sp_launch_option(launch, "zero", "%d", zero);
    const int64_t instances =
        sp_setting_whole(s, "--num-distributed-optimizer-instances", 1, 1, error);
    const int64_t model = sp_setting_whole(s, "--tensor-model-parallel-size", 1, 1, error) *
                          sp_setting_whole(s, "--pipeline-model-parallel-size", 1, 1, error);
    if (instances > 1 && devices > 0 && devices % model == 0 && devices / model % instances == 0)
        sp_launch_option(launch, "fsdp", "%lld", (long long)(devices / model / instances));
    else if (instances > 1)
        sp_launch_note(launch, "--num-distributed-optimizer-instances: does not divide the "
                               "replicas of this machine");
}

static bool has_word(const char *list, const char *word)
{
    const char *const at = list ? strstr(list, word) : NULL;
    const size_t n = strlen(word);
    return at && (at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' ');
}

static void read_recompute(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    const char *const granularity = sp_setting(s, "--recompute-granularity"),
                      *const modules = sp_setting(s, "--recompute-modules");
    if (granularity && strcmp(granularity, "full") == 0) {
        const char *const method = sp_setting(s, "--recompute-method");
        const double layers = (double)sp_setting_whole(s, "--num-layers", 1, 0, error),
                     some =
                         (double)sp_setting_whole(s, "--recompute-num-layers", 0, 1000000, error);
        const int64_t vpp = virtual_stages(s, error),
                      chunks = sp_setting_whole(s, "--pipeline-model-parallel-size", 1, 1, error) *
                               (vpp > 0 ? vpp : 1);
        sp_launch_option(launch, "remat", "full");
        if (method && strcmp(method, "block") == 0 && some * (double)chunks < layers)
            sp_launch_option(launch, "remat-layers", "%.17g", some * (double)chunks / layers);
        return;
    }
    const bool selective = sp_setting(s, "--recompute-activations") ||
                           (granularity && strcmp(granularity, "selective") == 0);
    const bool norms = has_word(modules, "layernorm"),
               core = !modules || has_word(modules, "core_attn");
    sp_launch_option(launch, "remat", "%s",
                     !selective      ? "none"
                     : norms && core ? "dots"
                     : core          ? "selective"
                                     : "none");
    if (modules && !(core && strspn(modules, "coreattnlaym_ ") == strlen(modules)))
        sp_launch_note(launch,
                       "not modelled: --recompute-modules %s beyond core_attn and layernorm",
                       sp_safe(modules));
}

/* The export's word on the framework counts where the arguments leave it open: NeMo overlaps TP,
 * which shows where there is TP with sequence parallelism. */
static void read_framework(const struct sp_settings *s, const struct sp_settings *assumed,
                           bool parallel, struct sp_launch *launch)
{
    const char *const said = sp_setting(assumed, "framework");
    const bool overlaps = sp_setting(s, "--tp-comm-overlap"),
               shows = parallel && sp_setting(s, "--sequence-parallel");
    sp_launch_option(launch, "framework", "%s",
                     overlaps                                        ? "nemo"
                     : said && !(shows && strcmp(said, "nemo") == 0) ? said
                                                                     : "megatron");
}

static void read_habits(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    const bool half = sp_setting(s, "--bf16") || sp_setting(s, "--fp16");
    const bool fp8 = sp_setting(s, "--fp8-format") || sp_setting(s, "--fp8");
    const bool bf16_grads = sp_setting(s, "--grad-reduce-in-bf16") != NULL;
    sp_launch_option(launch, "precision", "%s",
                     fp8          ? "fp8"
                     : !half      ? "fp32"
                     : bf16_grads ? "mixed16"
                                  : "mixed18");
    const char *const optimizer = sp_setting(s, "--optimizer");
    if (optimizer)
        sp_read_optimizer("--optimizer", strcmp(optimizer, "dist_muon") == 0 ? "muon" : optimizer,
                          sp_setting_number(s, "--sgd-momentum", 0.9, error), s->origin, launch,
                          error);
    if (sp_setting(s, "--fine-grained-activation-offloading"))
        sp_launch_option(launch, "offload", "on");
    for (size_t i = 0; i < sizeof unread / sizeof *unread - 1; i++)
        if (sp_setting(s, unread[i]))
            sp_launch_note(launch, "not modelled: %s", unread[i]);
}

#define ADD(...) snprintf(out + strlen(out), size - strlen(out), __VA_ARGS__)

/* The fields of the shape that are given. */
static void read_fields(struct sp_settings *s, const struct sp_shape_flag *flags, size_t n,
                        char *out, size_t size, struct sp_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (sp_setting(s, flags[i].flag))
            ADD(",%s=%lld", flags[i].key,
                (long long)sp_setting_whole(s, flags[i].flag, 1, 1, error));
}

/* The MLP's width where it is not given: 4 D, or two thirds of that for a gated one, rounded down
 * to 64 (validate_args of megatron/training/arguments.py). */
static int64_t usual_width(int64_t d_model, bool gated)
{
    return gated ? 8 * d_model / 192 * 64 : 4 * d_model;
}

/* The model's kind of block. */
static void read_kinds(struct sp_settings *s, char *out, size_t size, struct sp_error *error)
{
    const char *const norm = sp_setting(s, "--normalization"), *const position = sp_setting(
                                                                   s, "--position-embedding-type");
    const bool biased = !sp_setting(s, "--disable-bias-linear");
    const long long heads = sp_setting_whole(s, "--num-attention-heads", 1, 1, error);
    if (!sp_setting(s, "--ffn-hidden-size"))
        ADD(",d_ff=%lld", (long long)usual_width(sp_setting_whole(s, "--hidden-size", 1, 1, error),
                                                 sp_setting(s, "--swiglu")));
    ADD(",kv_heads=%lld",
        sp_setting(s, "--group-query-attention")
            ? (long long)sp_setting_whole(s, "--num-query-groups", 1, heads, error)
            : heads);
    ADD(",gated_mlp=%s", sp_setting(s, "--swiglu") ? "true" : "false");
    ADD(",norm=%s", norm && strcmp(norm, "RMSNorm") == 0 ? "rmsnorm" : "layernorm");
    ADD(",tied_embeddings=%s",
        sp_setting(s, "--untie-embeddings-and-output-weights") ? "false" : "true");
    ADD(",qkv_bias=%s", biased || sp_setting(s, "--add-qkv-bias") ? "true" : "false");
    ADD(",o_bias=%s,mlp_bias=%s", biased ? "true" : "false", biased ? "true" : "false");
    if (sp_setting(s, "--qk-layernorm"))
        ADD(",qk_norm=head");
    if (!position || strcmp(position, "learned_absolute") == 0)
        ADD(",learned_positions=%lld",
            (long long)sp_setting_whole(s, "--max-position-embeddings", 1, 0, error));
}

static void read_model(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    char out[700] = "name=arguments";
    const size_t size = sizeof out;
    if (!sp_setting(s, "--num-layers") || !sp_setting(s, "--hidden-size") ||
        !sp_setting(s, "--num-attention-heads")) {
        const char *const config = sp_setting(s, "--use-checkpoint-args") ? "a checkpoint" : NULL;
        sp_launch_note(launch, "the model's shape is not in it%s%s: give --model",
                       config ? " but in " : "", config ? config : "");
        return;
    }
    read_fields(s, sp_shape_flags, SP_SHAPE_FLAGS, out, size, error);
    read_kinds(s, out, size, error);
    if (sp_setting(s, "--num-experts")) {
        read_fields(s, sp_mixture_flags, SP_MIXTURE_FLAGS, out, size, error);
        const int64_t width = sp_setting_whole(s, "--moe-ffn-hidden-size", 1, 0, error);
        const int64_t shared =
            sp_setting_whole(s, "--moe-shared-expert-intermediate-size", 0, 0, error);
        if (!sp_setting(s, "--moe-router-topk"))
            ADD(",moe.top_k=2");
        if (shared > 0 && width > 0)
            ADD(",moe.shared_experts=%lld", (long long)(shared / width));
        if (sp_setting(s, "--moe-router-enable-expert-bias"))
            ADD(",moe.score_correction_bias=true");
        sp_read_moe_layers(s, out, size, launch, error);
    }
    if (sp_setting(s, "--multi-latent-attention"))
        read_fields(s, sp_latent_flags, SP_LATENT_FLAGS, out, size, error);
    if (!sp_setting(s, "--vocab-size"))
        sp_launch_note(launch, "--vocab-size is not in it: counted without tables of tokens");
    sp_launch_option(launch, "shape", "%s", out);
}

/* Whether a script's arguments are its own, or such as others have too (XLA, torchrun). */
static enum sp_match detect(const struct sp_launch_file *file)
{
    static const char *const own[] = {"--tensor-model-parallel-size", "--num-layers",
                                      "--micro-batch-size", NULL};
    return file->json                       ? SP_NO_MATCH
           : sp_has_flags(file->text, own)  ? SP_CERTAIN
           : sp_has_flags(file->text, NULL) ? SP_POSSIBLE
                                            : SP_NO_MATCH;
}

static bool read(struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    struct sp_settings *const s = &file->settings, *const assumed = &file->assumed;
    const int before = error->lines;
    if (!sp_read_flags(file->text, s, error) ||
        !sp_read_assumed_lines(file->text, assumed, launch, error))
        return false;
    if (!sp_setting(s, "--tensor-model-parallel-size") && !sp_setting(s, "--num-layers") &&
        !sp_setting(s, "--micro-batch-size"))
        return sp_fail(error, SP_INPUT,
                       "%s: no argument of Megatron-LM in it, such as "
                       "--tensor-model-parallel-size, --num-layers or --micro-batch-size",
                       sp_safe(file->origin));
    read_model(s, launch, error);
    read_degrees(s, launch, error);
    read_sharding(s, file->hw ? sp_chips(file->hw) : 0, launch, error);
    read_recompute(s, launch, error);
    read_habits(s, launch, error);
    read_framework(s, assumed, sp_setting_whole(s, "--tensor-model-parallel-size", 1, 1, error) > 1,
                   launch);
    if (!sp_setting(s, "--num-distributed-optimizer-instances"))
        sp_assume(assumed, "fsdp", launch);
    sp_assume(assumed, "imbalance", launch);
    return error->lines == before;
}

const struct sp_target sp_target_megatron = {
    .write = sp_write_megatron,
    .format = "Megatron-LM arguments",
    .detect = detect,
    .read = read,
};
