/* Words in cells of a runs CSV, by table and in any case; a remark may follow ("ZeRO-1 (not stated
 * in the table)"). */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/truth.h"
#include "runs/runs_internal.h"

bool sp_begins_with_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return strncasecmp(text, word, n) == 0 && !isalnum((unsigned char)text[n]);
}

void sp_row_unknown(struct sp_row_reader *r, const char *column, const char *expected)
{
    sp_row_problem(r->run, "%s \"%s\" is not known; expected %s",
                   sp_run_column_name(r->csv, column), sp_safe(sp_row_text(r, column)), expected);
}

/* A word and its value. */
struct word {
    const char *word;
    int value;
};

/* The value of the first of `n` words at the start of the text, else `otherwise`. */
static int value_of(const char *text, const struct word *words, size_t n, int otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (sp_begins_with_word(text, words[i].word))
            return words[i].value;
    return otherwise;
}

bool sp_row_flag(struct sp_row_reader *r, const char *column, bool fallback)
{
    const char *const text = sp_row_text(r, column);
    const size_t n = strlen(text); /* pandas writes 1.0 in columns with empty cells */
    const char whole[2] = {text[0]};
    const int truth = sp_truth(n == 3 && strcmp(text + 1, ".0") == 0 ? whole : text);
    if (truth < 0 && text[0])
        sp_row_unknown(r, column, "0 or 1");
    return truth < 0 ? fallback : truth == 1;
}

int sp_row_zero(struct sp_row_reader *r, int fallback)
{
    static const struct word words[] = {
        {"none", 0},
        {"ddp", 0},
        {"0", 0},
        {"1", 1},
        {"2", 2},
        {"3", 3},
        {"full_shard", 3},
        {"fsdp", 3},
        {"fsdp1", 3},
        {"shard_grad_op", 2},
        {"fsdp2", 3},
        {"hsdp", 3},
        {"hybrid_shard", 3},
        {"dist", 1},
        {"distributed optimizer", 1},
        {"megatron-fsdp", 3},
    };
    const char *text = sp_row_text(r, "zero");
    if (text[0] == '\0')
        return fallback;
    if (strncasecmp(text, "zero", 4) == 0) /* "ZeRO-3", "zero3", "ZeRO 3" */
        text += 4 + (text[4] != '\0' && strchr("- _", text[4]) && isdigit((unsigned char)text[5]));
    const int zero = value_of(text, words, sizeof words / sizeof *words, -1);
    if (zero < 0)
        sp_row_unknown(r, "zero", "none, ZeRO-0 to ZeRO-3, FSDP or HSDP");
    return zero < 0 ? fallback : zero;
}

/* A word of the precision column; weights that are stored in fewer bits are multiplied in bf16. */
static const struct {
    const char *word;
    enum sp_dtype dtype;
} formats[] = {{"bfloat16", SP_BF16}, {"float16", SP_FP16}, {"float32", SP_FP32},
               {"mxfp8", SP_FP8},     {"mxfp4", SP_FP4},    {"nvfp4", SP_FP4},
               {"int8_wo", SP_BF16},  {"int4_wo", SP_BF16}};

/* The format at the start of a cell ("fp8 (int8)" is int8); SP_DTYPES if unknown. */
static enum sp_dtype format_of(const char *text)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (sp_begins_with_word(text, formats[i].word))
            return formats[i].dtype;
    for (int i = 0; i < SP_DTYPES; i++)
        if (sp_begins_with_word(text, sp_dtype_names[i]))
            return i == SP_FP8 && sp_has_words(text, "int8") ? SP_INT8 : (enum sp_dtype)i;
    return SP_DTYPES;
}

void sp_row_precision(struct sp_row_reader *r)
{
    /* as frameworks write them; Megatron-Bridge: cs (current), sc (subchannel), mx (MX) */
    static const struct word recipes[] = {
        {"mxfp8", SP_FP8_MXFP8},         {"mx", SP_FP8_MXFP8},
        {"blockwise", SP_FP8_BLOCKWISE}, {"blockscaled", SP_FP8_BLOCKWISE},
        {"block", SP_FP8_BLOCKWISE},     {"sc", SP_FP8_BLOCKWISE},
        {"rowwise", SP_FP8_ROWWISE},     {"tensorwise", SP_FP8_TENSORWISE},
        {"cs", SP_FP8_TENSORWISE},
    };
    const char *const text = sp_row_text(r, "precision");
    struct sp_plan *const plan = &r->run->plan;
    plan->dtype = SP_BF16;
    if (text[0] == '\0')
        return;
    const enum sp_dtype dtype = format_of(text);
    if (dtype == SP_DTYPES) {
        sp_row_unknown(r, "precision", "bf16, fp16, fp8, mxfp8, nvfp4, fp32 or tf32");
        return;
    }
    plan->dtype = dtype;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (dtype == SP_FP8 && sp_has_words(text, recipes[i].word)) {
            plan->execution.fp8_recipe = (enum sp_fp8_recipe)recipes[i].value;
            return;
        }
}

void sp_row_execution(struct sp_row_reader *r)
{
    static const struct word dispatchers[] = {{"alltoall", SP_DISPATCH_ALLTOALL},
                                              {"deepep", SP_DISPATCH_DEEPEP},
                                              {"hybridep", SP_DISPATCH_HYBRIDEP},
                                              {"allgather", SP_DISPATCH_ALLGATHER}};
    static const struct word graphs[] = {
        {"none", SP_CUDA_GRAPH_NONE},     {"transformer_engine", SP_CUDA_GRAPH_TE},
        {"te", SP_CUDA_GRAPH_TE},         {"local", SP_CUDA_GRAPH_TE},
        {"full", SP_CUDA_GRAPH_FULL},     {"full_iteration", SP_CUDA_GRAPH_FULL},
        {"router", SP_CUDA_GRAPH_ROUTER}, {"moe_router", SP_CUDA_GRAPH_ROUTER}};
    static const struct word kinds[] = {
        {"ring", SP_CP_RING},           {"p2p", SP_CP_RING},
        {"allgather", SP_CP_ALLGATHER}, {"all_gather", SP_CP_ALLGATHER},
        {"ulysses", SP_CP_ULYSSES},     {"a2a", SP_CP_ULYSSES}};
    struct sp_execution *const e = &r->run->plan.execution;
    const char *const cp = sp_row_text(r, "cp_kind");
    const int kind =
        value_of(cp, kinds, sizeof kinds / sizeof *kinds, cp[0] ? -1 : (int)e->cp_kind);
    const char *const dispatcher = sp_row_text(r, "dispatch");
    const char *const graph = sp_row_text(r, "cuda_graph");
    const int dispatch = value_of(dispatcher, dispatchers, sizeof dispatchers / sizeof *dispatchers,
                                  dispatcher[0] ? -1 : (int)e->dispatch);
    const int scope =
        value_of(graph, graphs, sizeof graphs / sizeof *graphs, graph[0] ? -1 : (int)e->cuda_graph);
    const double capacity = sp_row_number(r, "capacity", 0, 10);
    e->moe_overlap = sp_row_flag(r, "moe_overlap", e->moe_overlap);
    if (!isnan(capacity))
        e->capacity = capacity;
    if (dispatch < 0)
        sp_row_unknown(r, "dispatch", "alltoall, deepep, hybridep or allgather");
    else
        e->dispatch = (enum sp_dispatch)dispatch;
    if (kind < 0)
        sp_row_unknown(r, "cp_kind", "ring (p2p), allgather (all_gather) or ulysses (a2a)");
    else
        e->cp_kind = (enum sp_cp_kind)kind;
    if (scope < 0)
        sp_row_unknown(r, "cuda_graph",
                       "none, transformer_engine (te), full_iteration (full) or router");
    else
        e->cuda_graph = (enum sp_cuda_graph)scope;
}

int sp_row_convention(const struct sp_row_reader *r)
{
    static const struct {
        const char *words;
        int convention;
    } told[] = {{"not stated", -1},          {"hardware", -1}, /* includes recomputed FLOPs */
                {"full", SP_FLOPS_FULL},     {"non-causal", SP_FLOPS_FULL},
                {"12L", SP_FLOPS_FULL}, /* 12 L d s: all scores, forward and backward */
                {"causal", SP_FLOPS_CAUSAL}, {"6p", SP_FLOPS_6P}};
    const char *const text = sp_row_text(r, "flops_convention");
    if (text[0] == '\0')
        return SP_FLOPS_6P;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (strcasestr(text, told[i].words))
            return told[i].convention;
    return -1;
}

const char *const sp_memory_level_names[] = {"live", "reserved", "device", "closed-form"};

enum sp_memory_level sp_row_level(struct sp_row_reader *r)
{
    const char *const text = sp_row_text(r, "memory_level");
    for (int i = 0; i < SP_NO_LEVEL; i++)
        if (sp_begins_with_word(text, sp_memory_level_names[i]))
            return (enum sp_memory_level)i;
    if (text[0] != '\0')
        sp_row_unknown(r, "memory_level", "live, reserved, device or closed-form");
    return SP_NO_LEVEL;
}

/* Words of the recompute column. The first of them in a cell gives the policy; details of a
 * selective policy may follow. */
#define FULL .qkv = 1, .core = 1, .out = 1, .up = 1, .down = 1, .norms = 1
static const struct {
    const char *word;
    bool alone;
    struct sp_recompute recompute;
    double layers;
} policies[] = {
    {"every 2nd layer", true, {FULL}, 0.5},
    {"full (layer input offloaded)", true, {FULL, .offload = true}, 1},
    {"full", true, {FULL}, 1},
    {"none", true, {.qkv = 0}, 0},
    {"minimal", true, {.core = 1, .norms = 1}, 1},
    {"layer input offloaded", false, {FULL, .offload = true}, 1},
    {"layer input, mlpwo",
     false,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1, .offload = true},
     1},
    {"context, mlpwo",
     false,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1, .offload = true},
     1},
    {"layer input saved, qkv remat",
     false,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1},
     1},
    {"custom offload",
     true,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1, .offload = true},
     1},
    {"qkv", false, {.core = 1, .out = 1, .up = 1, .norms = 1, .offload = true}, 1},
};
#undef FULL

/* The policy of `step --remat` at the start of the text ("selective" is the framework's); NULL:
 * none. */
static const char *policy_of(const char *text, const char *selective)
{
    if (sp_begins_with_word(text, "selective"))
        return selective;
    for (int i = 0; i < SP_POLICIES; i++)
        if (sp_begins_with_word(text, sp_policy_names[i]))
            return sp_policy_names[i];
    return NULL;
}

/* "mla_up_proj mlp", or with commas. */
static void read_modules(struct sp_row_reader *r)
{
    const char *text = sp_row_text(r, "recompute_modules");
    while (*text) {
        const size_t n = strcspn(text, " ,;");
        int module = 0;
        while (module < SP_MODULES && (strncasecmp(sp_module_names[module], text, n) != 0 ||
                                       sp_module_names[module][n] != '\0'))
            module++;
        if (n > 0 && module == SP_MODULES) {
            sp_row_unknown(r, "recompute_modules", "Megatron-Core names, such as mla_up_proj mlp");
            return;
        }
        if (n > 0)
            r->run->plan.recompute.modules |= 1U << module;
        text += n + (text[n] != '\0');
    }
}

static bool stands_alone(const char *text)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (policies[i].alone && sp_begins_with_word(text, policies[i].word))
            return true;
    return false;
}

/* An unprinted policy means none: none of 160 readable NVIDIA recipes recomputes whole layers, and
 * a guess made a step a third longer. */
static void read_policy(struct sp_row_reader *r)
{
    const char *const text = sp_row_text(r, "remat");
    const char *const name = policy_of(text, r->run->framework.selective);
    struct sp_plan *const plan = &r->run->plan;
    if (!name && !stands_alone(text)) {
        sp_row_unknown(r, "remat",
                       "none, selective, full, every 2nd layer, or a policy of step --remat");
        return;
    }
    const struct sp_policy *const policy = name ? sp_find_policy(name) : NULL;
    const bool bare = name && strcasecmp(text, name) == 0; /* just a policy's name */
    for (size_t i = 0; i < sizeof policies / sizeof *policies && !bare; i++)
        if (sp_begins_with_word(text, "none") ? strcmp(policies[i].word, "none") == 0
                                              : strcasestr(text, policies[i].word) != NULL) {
            plan->recompute = policies[i].recompute;
            plan->recompute_layers = policies[i].layers;
            return;
        }
    if (policy)
        plan->recompute = policy->recompute;
}

void sp_row_recompute(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    run->plan.recompute = sp_policies[SP_REMAT_NONE].recompute;
    run->plan.recompute_layers = 1;
    if (*sp_row_text(r, "remat"))
        read_policy(r);
    read_modules(r);
    /* Megatron's granularity "selective" applies to the listed modules, and to attention's core if
     * there is no list */
    if (run->plan.recompute.modules != 0 && strcasecmp(sp_row_text(r, "remat"), "selective") == 0) {
        const unsigned modules = run->plan.recompute.modules;
        run->plan.recompute = sp_policies[SP_REMAT_NONE].recompute;
        run->plan.recompute.modules = modules;
    }
    run->plan.recompute.offload |= sp_row_flag(r, "offloads", false);
    if (run->plan.recompute.modules != 0 && run->plan.recompute_layers == 0)
        run->plan.recompute_layers = 1;
    run->recompute_stated = *sp_row_text(r, "remat") != '\0' || run->plan.recompute.modules != 0;
    run->plan.open_remat = !run->recompute_stated;
}
