/* Megatron-LM: an argument list, alone or inside a shell script. Flags:
 * megatron/training/arguments.py and the fields of TransformerConfig, ModelParallelConfig and
 * TrainingConfig, Megatron-LM 0.20. */
#include <math.h>
#include <string.h>

#include "launch_internal.h"

/* Whole numbers that stand for one another. */
static const struct {
    const char *flag, *option;
    size_t offset; /* in struct sp_plan */
    bool always;   /* written even where it is 1 */
} degrees[] = {
    {"--tensor-model-parallel-size", "tp", offsetof(struct sp_plan, tp), true},
    {"--pipeline-model-parallel-size", "pp", offsetof(struct sp_plan, pp), true},
    {"--num-virtual-stages-per-pipeline-rank", "vpp", offsetof(struct sp_plan, vpp), false},
    {"--context-parallel-size", "cp", offsetof(struct sp_plan, cp), false},
    {"--expert-model-parallel-size", "ep", offsetof(struct sp_plan, ep), false},
    {"--micro-batch-size", "micro-batch", offsetof(struct sp_plan, micro_batch), true},
};

/* The same for the model's shape: names of its fields. */
#define FIELD(flag, key, member)                                                                   \
    {                                                                                              \
        flag, key, offsetof(struct sp_model, member)                                               \
    }
struct shape_flag {
    const char *flag, *key;
    size_t offset;
};
static const struct shape_flag shape[] = {
    FIELD("--num-layers", "layers", layers),      FIELD("--hidden-size", "d_model", d_model),
    FIELD("--ffn-hidden-size", "d_ff", d_ff),     FIELD("--num-attention-heads", "heads", heads),
    FIELD("--kv-channels", "head_dim", head_dim), FIELD("--vocab-size", "vocab", vocab),
};
static const struct shape_flag mixture[] = {
    FIELD("--num-experts", "moe.experts", moe.experts),
    FIELD("--moe-router-topk", "moe.top_k", moe.top_k),
    FIELD("--moe-ffn-hidden-size", "moe.d_ff_expert", moe.d_ff_expert),
};
static const struct shape_flag latents[] = {
    FIELD("--q-lora-rank", "mla.q_lora_rank", mla.q_lora_rank),
    FIELD("--kv-lora-rank", "mla.kv_lora_rank", mla.kv_lora_rank),
    FIELD("--qk-head-dim", "mla.qk_nope_head_dim", mla.qk_nope_head_dim),
    FIELD("--qk-pos-emb-head-dim", "mla.qk_rope_head_dim", mla.qk_rope_head_dim),
    FIELD("--v-head-dim", "mla.v_head_dim", mla.v_head_dim),
};

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

static const char *const strategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};

static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2] >= 'a' && word[2] <= 'z';
}

/* Where a word of a shell stands: inside of an array, or of quotes that hold several arguments
 * (ARGS="--fp8-format hybrid --bf16", which the shell splits when it uses them), line breaks part
 * words and end nothing. */
struct shell {
    const char *at;
    int arrays; /* parentheses that are open */
    char list;  /* the quote of such a list, 0 outside */
    bool ended; /* a command, an array or a list ended before the word */
};

/* The first character from `at` that closes this quote, or the end. */
static const char *closing(const char *at, char quote)
{
    for (; *at && *at != quote; at++)
        if (quote == '"' && *at == '\\' && at[1])
            at++;
    return at;
}

/* Whether quotes open a list of arguments here: a flag first, or variables and then a flag, and
 * more than one word. */
static bool opens_list(const char *at)
{
    static const char blanks[] = " \t\r\n\\";
    const char *const end = (*at == '"' || *at == '\'') ? closing(at + 1, *at) : at;
    const char *word = at + 1;
    if (at == end)
        return false;
    for (word += strspn(word, blanks); word < end && *word == '$'; word += strspn(word, blanks))
        word += strcspn(word, " \t\r\n\\\"'");
    const size_t n = strcspn(word, blanks);
    return word < end && is_flag(word) && (word + n < end || word > at + 1);
}

/* Blanks, comments, line continuations, the parentheses of arrays, the quotes of lists. */
static void skip_blanks(struct shell *shell)
{
    shell->ended = false;
    for (;; shell->at++) {
        const char *const at = shell->at;
        const bool bare = !shell->list;
        if (*at == '\\' && (at[1] == '\n' || at[1] == '\r'))
            shell->at++;
        else if (bare && *at == '#')
            shell->at += strcspn(at, "\n") - 1;
        else if (bare && *at == '(')
            shell->arrays++;
        else if (bare && (*at == ')' || (*at == '\n' && shell->arrays == 0)))
            shell->ended = true;
        else if (*at && *at == shell->list)
            shell->ended = true;
        else if (bare && opens_list(at))
            shell->list = *at;
        else if (*at == '\0' || !strchr(" \t\r\n", *at))
            return;
        if (!bare && *at == shell->list)
            shell->list = 0;
        if (bare && *at == ')' && shell->arrays > 0)
            shell->arrays--;
    }
}

/* Whether an unquoted character ends a word. */
static bool ends_word(const struct shell *shell, const char *at)
{
    return strchr(shell->list ? " \t\r\n" : " \t\r\n()", *at) ||
           (*at == '\\' && (at[1] == '\n' || at[1] == '\r')) || (!shell->list && opens_list(at));
}

/* The next word of a shell's script, quotes taken off; false at the end. */
static bool next_word(struct shell *shell, char *word, size_t size)
{
    size_t n = 0;
    skip_blanks(shell);
    const char *at = shell->at;
    if (!*at)
        return false;
    for (char quote = 0; *at && *at != shell->list && (quote || !ends_word(shell, at)); at++) {
        if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (quote && *at == quote)
            quote = 0;
        else if (n + 1 < size)
            word[n++] = *at;
    }
    word[n] = '\0';
    shell->at = at;
    return true;
}

/* Flags with their values; several values of one are joined by blanks. */
static bool read_flags(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    char word[256];
    struct shell shell = {.at = text};
    bool open = false; /* the last flag may have values yet */
    while (next_word(&shell, word, sizeof word)) {
        struct sp_setting *const last = settings->n > 0 ? &settings->at[settings->n - 1] : NULL;
        open = is_flag(word) || (open && !shell.ended);
        char *const equals = strchr(word, '=');
        if (is_flag(word) && equals) {
            *equals = '\0';
            if (!sp_add_setting(settings, word, equals + 1, error))
                return false;
        } else if (is_flag(word)) {
            if (!sp_add_setting(settings, word, NULL, error))
                return false;
        } else if (open && last) {
            const size_t used = strlen(last->value);
            snprintf(last->value + used, sizeof last->value - used, "%s%s", used > 0 ? " " : "",
                     word);
            last->has_value = true;
        }
    }
    return true;
}

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
    if (sp_setting(s, "--num-experts") || ep > 1)
        sp_launch_option(
            launch, "etp", "%lld",
            (long long)sp_setting_whole(s, "--expert-tensor-parallel-size", 1, tp, error));
}

static void read_degrees(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (sp_setting(s, degrees[i].flag))
            sp_launch_option(launch, degrees[i].option, "%lld",
                             (long long)sp_setting_whole(s, degrees[i].flag, 1, 1, error));
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
    bool known = !strategy;
    for (int i = 0; i < 4 && strategy; i++)
        if (strcmp(strategy, strategies[i]) == 0) {
            zero = i;
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

static void read_habits(struct sp_settings *s, struct sp_launch *launch)
{
    const bool half = sp_setting(s, "--bf16") || sp_setting(s, "--fp16");
    const bool fp8 = sp_setting(s, "--fp8-format") || sp_setting(s, "--fp8");
    const bool bf16_grads = sp_setting(s, "--grad-reduce-in-bf16") != NULL;
    sp_launch_option(launch, "precision", "%s",
                     fp8          ? "fp8"
                     : !half      ? "fp32"
                     : bf16_grads ? "mixed16"
                                  : "mixed18");
    if (sp_setting(s, "--fine-grained-activation-offloading"))
        sp_launch_option(launch, "offload", "on");
    for (size_t i = 0; i < sizeof unread / sizeof *unread - 1; i++)
        if (sp_setting(s, unread[i]))
            sp_launch_note(launch, "not modelled: %s", unread[i]);
}

/* "[0]*3+[1]*58": layers without experts, then with; or a number, one layer in so many. */
static void read_frequency(struct sp_settings *s, char *out, size_t size, struct sp_launch *launch)
{
    const char *const text = sp_setting(s, "--moe-layer-freq");
    long dense, rest, every;
    char tail;
    if (!text)
        return;
    const size_t used = strlen(out);
    const char *const at = text + (text[0] == '(');
    if (sscanf(at, "[0]*%ld+[1]*%ld", &dense, &rest) == 2 && dense >= 0)
        snprintf(out + used, size - used, ",moe.dense_layers=%ld", dense);
    else if (sscanf(text, "%ld%c", &every, &tail) == 1 && every >= 1)
        snprintf(out + used, size - used, ",moe.every=%ld", every);
    else
        sp_launch_note(launch, "--moe-layer-freq %s: read as experts in every layer",
                       sp_safe(text));
}

#define ADD(...) snprintf(out + strlen(out), size - strlen(out), __VA_ARGS__)

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
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (sp_setting(s, shape[i].flag))
            ADD(",%s=%lld", shape[i].key,
                (long long)sp_setting_whole(s, shape[i].flag, 1, 1, error));
    read_kinds(s, out, size, error);
    if (sp_setting(s, "--num-experts")) {
        for (size_t i = 0; i < sizeof mixture / sizeof *mixture; i++)
            if (sp_setting(s, mixture[i].flag))
                ADD(",%s=%lld", mixture[i].key,
                    (long long)sp_setting_whole(s, mixture[i].flag, 1, 1, error));
        const int64_t width = sp_setting_whole(s, "--moe-ffn-hidden-size", 1, 0, error);
        const int64_t shared =
            sp_setting_whole(s, "--moe-shared-expert-intermediate-size", 0, 0, error);
        if (!sp_setting(s, "--moe-router-topk"))
            ADD(",moe.top_k=2");
        if (shared > 0 && width > 0)
            ADD(",moe.shared_experts=%lld", (long long)(shared / width));
        if (sp_setting(s, "--moe-router-enable-expert-bias"))
            ADD(",moe.score_correction_bias=true");
        read_frequency(s, out, size, launch);
    }
    for (size_t i = 0; i < sizeof latents / sizeof *latents; i++)
        if (sp_setting(s, "--multi-latent-attention") && sp_setting(s, latents[i].flag))
            ADD(",%s=%lld", latents[i].key,
                (long long)sp_setting_whole(s, latents[i].flag, 1, 1, error));
    if (!sp_setting(s, "--vocab-size"))
        sp_launch_note(launch, "--vocab-size is not in it: counted without tables of tokens");
    sp_launch_option(launch, "shape", "%s", out);
}

bool sp_read_megatron(const char *text, const char *origin, int64_t devices,
                      struct sp_launch *launch, struct sp_error *error)
{
    static struct sp_settings settings, assumed;
    settings.n = assumed.n = 0;
    settings.origin = assumed.origin = origin;
    launch->format = "Megatron-LM arguments";
    const int before = error->lines;
    if (!read_flags(text, &settings, error) ||
        !sp_read_assumed_lines(text, &assumed, launch, error))
        return false;
    if (!sp_setting(&settings, "--tensor-model-parallel-size") &&
        !sp_setting(&settings, "--num-layers") && !sp_setting(&settings, "--micro-batch-size"))
        return sp_fail(error, SP_INPUT,
                       "%s: no argument of Megatron-LM in it, such as "
                       "--tensor-model-parallel-size, --num-layers or --micro-batch-size",
                       sp_safe(origin));
    read_model(&settings, launch, error);
    read_degrees(&settings, launch, error);
    read_sharding(&settings, devices, launch, error);
    read_recompute(&settings, launch, error);
    read_habits(&settings, launch);
    read_framework(&settings, &assumed,
                   sp_setting_whole(&settings, "--tensor-model-parallel-size", 1, 1, error) > 1,
                   launch);
    if (!sp_setting(&settings, "--num-distributed-optimizer-instances"))
        sp_assume(&assumed, "fsdp", launch);
    sp_assume(&assumed, "imbalance", launch);
    return error->lines == before;
}

static int64_t member(const void *base, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void write_model(const struct sp_model *m, int64_t seq, FILE *out)
{
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (member(m, shape[i].offset) > 0)
            fprintf(out, "%s %lld\n", shape[i].flag, (long long)member(m, shape[i].offset));
    if (m->kv_heads != m->heads && m->mla.kv_lora_rank == 0)
        fprintf(out, "--group-query-attention\n--num-query-groups %lld\n", (long long)m->kv_heads);
    fputs(m->gated_mlp ? "--swiglu\n" : "", out);
    fprintf(out, "--normalization %s\n", m->norm == SP_NORM_RMS ? "RMSNorm" : "LayerNorm");
    fputs(!m->o_bias && !m->mlp_bias ? "--disable-bias-linear\n" : "", out);
    fputs(!m->o_bias && !m->mlp_bias && m->qkv_bias ? "--add-qkv-bias\n" : "", out);
    fputs(m->qk_norm == SP_QK_NORM_HEAD ? "--qk-layernorm\n" : "", out);
    fputs(!m->tied_embeddings ? "--untie-embeddings-and-output-weights\n" : "", out);
    fprintf(out, "--position-embedding-type %s\n--max-position-embeddings %lld\n",
            m->learned_positions > 0 ? "learned_absolute" : "rope",
            (long long)most(m->learned_positions > 0 ? m->learned_positions : m->max_seq, seq));
    for (size_t i = 0; i < sizeof mixture / sizeof *mixture && m->moe.experts > 0; i++)
        fprintf(out, "%s %lld\n", mixture[i].flag, (long long)member(m, mixture[i].offset));
    if (m->moe.experts > 0) {
        if (m->moe.shared_experts > 0)
            fprintf(out, "--moe-shared-expert-intermediate-size %.0f\n",
                    (double)m->moe.shared_experts * (double)m->moe.d_ff_expert);
        if (m->moe.dense_layers > 0)
            fprintf(out, "--moe-layer-freq '[0]*%lld+[1]*%lld'\n", (long long)m->moe.dense_layers,
                    (long long)(m->layers - m->moe.dense_layers));
        else if (m->moe.every > 1)
            fprintf(out, "--moe-layer-freq %lld\n", (long long)m->moe.every);
        fputs(m->moe.score_correction_bias ? "--moe-router-score-function "
                                             "sigmoid\n--moe-router-enable-expert-bias\n"
                                           : "",
              out);
        fputs("--moe-grouped-gemm\n--moe-token-dispatcher-type alltoall\n", out);
    }
    if (m->mla.kv_lora_rank > 0)
        fputs("--multi-latent-attention\n", out);
    for (size_t i = 0; i < sizeof latents / sizeof *latents && m->mla.kv_lora_rank > 0; i++)
        if (member(m, latents[i].offset) > 0)
            fprintf(out, "%s %lld\n", latents[i].flag, (long long)member(m, latents[i].offset));
}

static void lose_model(const struct sp_model *m, int64_t seq, struct sp_written *lost)
{
    if (m->learned_positions > 0 && m->learned_positions < seq)
        sp_lose(lost, "a table of %lld learned positions for %lld tokens",
                (long long)m->learned_positions, (long long)seq);
    if (m->norms_per_layer != 2)
        sp_lose(lost, "%lld norms in a block", (long long)m->norms_per_layer);
    if (m->norm == SP_NORM_LAYER_NO_BIAS || m->norm == SP_NORM_NO_AFFINE)
        sp_lose(lost, "norms without shift or weights");
    if (m->parallel_attention)
        sp_lose(lost, "attention and MLP side by side");
    if (m->embedding_norm)
        sp_lose(lost, "a norm after the embedding");
    if (m->o_bias != m->mlp_bias || (m->o_bias && !m->qkv_bias))
        sp_lose(lost, "biases in some of the linear layers");
    if (m->qk_norm == SP_QK_NORM_FULL)
        sp_lose(lost, "norms over all heads of queries and keys");
    if (m->lm_head_bias)
        sp_lose(lost, "a bias on the output head");
    if (m->extra_attention_params_per_layer > 0)
        sp_lose(lost, "%lld further attention weights in a block (sinks, gates)",
                (long long)m->extra_attention_params_per_layer);
    if (m->moe.router_bias || m->moe.expert_bias)
        sp_lose(lost, "biases of router and experts");
    if (m->moe.dense_layers > 0 && m->moe.every > 1)
        sp_lose(lost, "leading dense layers and experts in one layer of %lld",
                (long long)m->moe.every);
}

/* Layers that are recomputed in each chunk of `of`; a share of all layers. */
static double recomputed(const struct sp_launched *l, double *of)
{
    const struct sp_plan *const p = l->plan;
    *of = (double)l->model->layers / (double)(p->pp * p->vpp);
    return p->recompute_layers > 0 ? ceil(p->recompute_layers * *of - 1e-9) : 0;
}

static bool overlaps_tp(const struct sp_launched *l)
{
    return l->plan->sequence_parallel && strcmp(l->framework, "nemo") == 0;
}

static void lose_plan(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const int64_t chunks = p->pp * p->vpp, L = l->model->layers;
    static const bool known[SP_SCHEDULES] = {[SP_1F1B] = true, [SP_INTERLEAVED] = true};
    if (p->pp > 1 && !known[p->schedule])
        sp_lose(lost, "this pipeline schedule; 1F1B runs, interleaved with chunks");
    if (L % chunks != 0 && (L + 2) % chunks != 0)
        sp_lose(lost,
                "%lld layers on %lld stages, but by a --pipeline-model-parallel-layout "
                "of your own",
                (long long)L, (long long)chunks);
    if (p->vpp > 1 && sp_plan_microbatches(p) % p->pp != 0)
        sp_lose(lost, "interleaving with %lld micro-batches, which %lld stages do not divide",
                (long long)sp_plan_microbatches(p), (long long)p->pp);
    if (p->batch % (p->dp * p->micro_batch) != 0)
        sp_lose(lost, "a batch that replicas and micro-batches do not divide");
    double layers;
    const double some = recomputed(l, &layers);
    if (p->recompute_layers < 1 && strcmp(l->remat, "full") == 0 &&
        some * (double)chunks / (double)L != p->recompute_layers)
        sp_lose(lost, "recompute of a share of %g; %.0f of %g layers of a chunk stand for it",
                p->recompute_layers, some, layers);
    if (p->stages_inside)
        sp_lose(lost, "stages as neighbours (--placement pp-inside)");
    if (p->tp > 1 && l->model->moe.experts > 0 && !p->sequence_parallel)
        sp_lose(lost, "experts with TP and without sequence parallelism");
    if (strcmp(l->remat, "none") != 0 && strcmp(l->remat, "selective") != 0 &&
        strcmp(l->remat, "dots") != 0 && strcmp(l->remat, "full") != 0)
        sp_lose(lost, "recompute policy %s", l->remat);
    if (p->recompute_layers < 1 && strcmp(l->remat, "full") != 0)
        sp_lose(lost, "a share of the layers for recompute policy %s", l->remat);
    if (!sp_recipe_is(l, "mixed16") && !sp_recipe_is(l, "mixed18") && !sp_recipe_is(l, "fp8") &&
        !sp_recipe_is(l, "fp32"))
        sp_lose(lost, "precision recipe %s; %s with fp32 states and gradients stands for it",
                sp_recipe_text(l), p->dtype == SP_FP8 ? "fp8" : "bf16");
}

static void write_recompute(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    double per_chunk;
    const double some = recomputed(l, &per_chunk);
    if (strcmp(l->remat, "selective") == 0)
        fputs("--recompute-granularity selective\n", out);
    else if (strcmp(l->remat, "dots") == 0)
        fputs("--recompute-granularity selective\n--recompute-modules core_attn layernorm\n", out);
    else if (strcmp(l->remat, "full") == 0 && p->recompute_layers < 1)
        fprintf(out,
                "--recompute-granularity full\n--recompute-method block\n--recompute-num-layers "
                "%.0f\n",
                some);
    else if (strcmp(l->remat, "full") == 0)
        fputs("--recompute-granularity full\n--recompute-method uniform\n--recompute-num-layers "
              "1\n",
              out);
}

static void write_plan(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const int64_t L = l->model->layers, chunks = p->pp * p->vpp;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].always || member(p, degrees[i].offset) > 1)
            fprintf(out, "%s %lld\n", degrees[i].flag, (long long)member(p, degrees[i].offset));
    if (l->model->moe.experts > 0) /* without it Megatron would take tp */
        fprintf(out, "--expert-tensor-parallel-size %lld\n", (long long)p->etp);
    fputs(p->sequence_parallel ? "--sequence-parallel\n" : "", out);
    if (L % chunks != 0 && (L + 2) % chunks == 0)
        fputs("--account-for-embedding-in-pipeline-split\n--account-for-loss-in-pipeline-split\n",
              out);
    fprintf(out, "--global-batch-size %lld\n--seq-length %lld\n", (long long)p->batch,
            (long long)p->seq);
    if (p->zero == 1)
        fputs("--use-distributed-optimizer\n", out);
    if (p->zero > 1)
        fprintf(out, "--use-megatron-fsdp\n--data-parallel-sharding-strategy %s\n",
                strategies[p->zero]);
    if (p->zero > 0 && p->shards < p->dp * p->cp)
        fprintf(out, "--num-distributed-optimizer-instances %lld\n",
                (long long)(p->dp * p->cp / p->shards));
    write_recompute(l, out);
    if (p->recompute.offload)
        fputs("--fine-grained-activation-offloading\n", out);
    if (!sp_multiplies_in_fp32(p))
        fputs("--bf16\n", out);
    if (p->dtype == SP_FP8)
        fputs("--fp8-format hybrid\n", out);
    fputs(strcmp(l->precision, "mixed16") == 0 ? "--grad-reduce-in-bf16\n"
                                               : "--accumulate-allreduce-grads-in-fp32\n",
          out);
    fputs("--overlap-grad-reduce\n", out);
    if (p->zero > 0)
        fputs("--overlap-param-gather\n", out);
    if (overlaps_tp(l))
        fputs("--tp-comm-overlap\n", out);
}

void sp_write_megatron(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    lose_model(l->model, l->plan->seq, lost);
    lose_plan(l, lost);
    fputs("# Megatron-LM arguments: ", out);
    sp_write_title(l, out);
    fputs("\n", out);
    sp_write_lost(lost, "#", out);
    sp_write_assumed(l, overlaps_tp(l) ? "nemo" : "megatron", false, "# ", "\n", out);
    write_model(l->model, l->plan->seq, out);
    write_plan(l, out);
}
