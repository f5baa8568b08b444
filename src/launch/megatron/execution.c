/* How layers run, as arguments of Megatron-LM: recomputed modules, offloaded layers, the exchange
 * of experts, CUDA graphs, the scaling of 8-bit matmuls. */
#include <stdio.h>
#include <string.h>

#include <scaleplan/names.h>

#include "launch/megatron/megatron.h"

/* Argument and value of each way to exchange tokens, and of each scope of CUDA graphs. */
static const char *const dispatchers[] = {
    [SP_DISPATCH_ALLTOALL] = "alltoall",
    [SP_DISPATCH_DEEPEP] = "flex\n--moe-flex-dispatcher-backend deepep",
    [SP_DISPATCH_HYBRIDEP] = "flex\n--moe-flex-dispatcher-backend hybridep",
    [SP_DISPATCH_ALLGATHER] = "allgather"};
static const char *const graphs[] = {[SP_CUDA_GRAPH_NONE] = "none",
                                     [SP_CUDA_GRAPH_TE] = "transformer_engine",
                                     [SP_CUDA_GRAPH_FULL] = "full_iteration"};

bool sp_has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at && *at; at += strcspn(at, " ,")) {
        at += strspn(at, " ,");
        if (strncmp(at, word, n) == 0 && (at[n] == '\0' || at[n] == ' ' || at[n] == ','))
            return true;
    }
    return false;
}

void sp_read_modules(struct sp_settings *s, struct sp_launch *launch)
{
    const char *const modules = sp_setting(s, "--recompute-modules");
    char others[160] = "";
    unsigned bits = 0;
    size_t known = 0, said = 0;
    for (int i = 0; modules && i < SP_MODULES; i++)
        if (sp_has_word(modules, sp_module_names[i])) {
            known += strlen(sp_module_names[i]);
            if (i == SP_MODULE_CORE_ATTN)
                continue;
            bits |= 1U << i;
            snprintf(others + strlen(others), sizeof others - strlen(others), "%s%s",
                     others[0] ? "," : "", sp_module_names[i]);
        }
    /* attention itself is what the policy selective repeats */
    const bool core = !modules || sp_has_word(modules, "core_attn");
    sp_launch_option(launch, "remat", "%s", core ? "selective" : "none");
    if (bits != 0)
        sp_launch_option(launch, "recompute-modules", "%s", others);
    for (const char *at = modules; at && *at; at++)
        said += !strchr(" ,", *at);
    if (said != known)
        sp_launch_note(launch, "not modelled: some of --recompute-modules %s", sp_safe(modules));
}

static void read_exchange(struct sp_settings *s, struct sp_launch *launch)
{
    const char *const type = sp_setting(s, "--moe-token-dispatcher-type");
    const char *const backend = sp_setting(s, "--moe-flex-dispatcher-backend");
    const bool flexible = type && strcmp(type, "flex") == 0;
    const char *const usual = sp_setting(s, "--deepspeed") ? "alltoall" : "allgather";
    const char *const name = flexible ? (backend ? backend : "deepep") : type ? type : usual;
    for (int i = 0; sp_dispatch_names[i]; i++)
        if (strcmp(name, sp_dispatch_names[i]) == 0)
            sp_launch_option(launch, "dispatch", "%s", name);
    if (sp_setting(s, "--overlap-moe-expert-parallel-comm"))
        sp_launch_option(launch, "moe-overlap", "on");
}

static const char *graph_of(struct sp_settings *s)
{
    const char *const said = sp_setting(s, "--cuda-graph-impl");
    const char *const scope = sp_setting(s, "--cuda-graph-scope");
    const bool old = sp_setting(s, "--enable-cuda-graph") || sp_setting(s, "--external-cuda-graph");
    if ((said && strcmp(said, "full_iteration") == 0) || sp_has_word(scope, "full_iteration"))
        return "full";
    return old || (said && strcmp(said, "none") != 0) ? "te" : "none";
}

void sp_read_execution(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    const char *const recipe = sp_setting(s, "--fp8-recipe");
    const char *const graph = graph_of(s);
    const int64_t away = sp_setting_whole(s, "--cpu-offloading-num-layers", 0, 0, error);
    if (sp_setting(s, "--num-experts"))
        read_exchange(s, launch);
    if (strcmp(graph, "none") != 0)
        sp_launch_option(launch, "cuda-graph", "%s", graph);
    /* delayed scaling, which is Megatron's own, has a scale for a tensor too */
    if (recipe && (strcmp(recipe, "mxfp8") == 0 || strcmp(recipe, "blockwise") == 0 ||
                   strcmp(recipe, "tensorwise") == 0))
        sp_launch_option(launch, "fp8-recipe", "%s", recipe);
    if (away > 0)
        sp_launch_option(launch, "offload-layers", "%lld", (long long)away);
}

void sp_write_modules(const struct sp_launched *l, FILE *out)
{
    unsigned bits = l->plan->recompute.modules;
    if (strcmp(l->remat, "selective") == 0 || strcmp(l->remat, "dots") == 0)
        bits |= 1U << SP_MODULE_CORE_ATTN;
    if (strcmp(l->remat, "dots") == 0)
        bits |= 1U << SP_MODULE_LAYERNORM;
    fputs("--recompute-granularity selective\n--recompute-modules", out);
    for (int i = 0; i < SP_MODULES; i++)
        if (bits >> i & 1)
            fprintf(out, " %s", sp_module_names[i]);
    fputs("\n", out);
}

void sp_lose_execution(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    if (p->dtype == SP_FP8 && p->execution.fp8_recipe == SP_FP8_ROWWISE)
        sp_lose(lost, "a scale for each row of 8-bit matmuls");
}

void sp_write_execution(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const struct sp_execution *const e = &p->execution;
    if (l->model->moe.experts > 0)
        fprintf(out, "--moe-token-dispatcher-type %s\n%s", dispatchers[e->dispatch],
                e->moe_overlap ? "--overlap-moe-expert-parallel-comm\n" : "");
    if (e->cuda_graph != SP_CUDA_GRAPH_NONE)
        fprintf(out, "--cuda-graph-impl %s\n", graphs[e->cuda_graph]);
    if (e->cuda_graph == SP_CUDA_GRAPH_FULL)
        fputs("--no-check-for-nan-in-loss-and-grad\n", out);
    if (p->dtype == SP_FP8 && e->fp8_recipe != SP_FP8_ROWWISE)
        fprintf(out, "--fp8-recipe %s\n", sp_fp8_recipe_names[e->fp8_recipe]);
    if (p->offload_layers > 0)
        fprintf(out, "--cpu-offloading-num-layers %lld\n", (long long)p->offload_layers);
}
