/* How layers run, as arguments of Megatron-LM: recomputed modules, offloaded layers, the exchange
 * of experts, CUDA graphs, the scaling of 8-bit matmuls. */
#include <stdio.h>
#include <string.h>

#include <scaleplan/names.h>

#include "base/text.h"

#include "launch/megatron/megatron.h"

void sp_read_modules(struct sp_settings *s)
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
    sp_launch_option(s, "remat", "%s", core ? "selective" : "none");
    if (bits != 0)
        sp_launch_option(s, "recompute-modules", "%s", others);
    for (const char *at = modules; at && *at; at++)
        said += !strchr(" ,", *at);
    if (said != known)
        sp_launch_note(s, "not modelled: some of --recompute-modules %s", sp_safe(modules));
}

static void read_exchange(struct sp_settings *s)
{
    const char *const type = sp_setting(s, "--moe-token-dispatcher-type");
    const char *const backend = sp_setting(s, "--moe-flex-dispatcher-backend");
    const bool flexible = sp_is(type, "flex");
    const char *const usual = sp_setting(s, "--deepspeed") ? "alltoall" : "allgather";
    const char *const name = flexible ? (backend ? backend : "deepep") : type ? type : usual;
    for (int i = 0; sp_dispatch_names[i]; i++)
        if (sp_is(name, sp_dispatch_names[i]))
            sp_launch_option(s, "dispatch", "%s", name);
    if (sp_setting(s, "--overlap-moe-expert-parallel-comm"))
        sp_launch_option(s, "moe-overlap", "on");
}

void sp_read_execution(struct sp_settings *s)
{
    const bool routed = sp_setting(s, "--num-experts");
    sp_peek_setting(s, "--moe-token-dispatcher-type");
    if (routed)
        read_exchange(s);
    sp_read_plan_rows(s, false, routed ? "experts fp8" : "fp8");
    /* DeepSpeed's forks exchange heads */
    sp_read_cp_kind(s, sp_plan_whole(s, "cp"), sp_setting(s, "--deepspeed") ? "ulysses" : "ring");
}

void sp_make_modules(const struct sp_launched *l, struct sp_settings *made)
{
    char list[160] = "";
    unsigned bits = l->plan->recompute.modules;
    if (sp_is(l->remat, "selective") || sp_is(l->remat, "dots"))
        bits |= 1U << SP_MODULE_CORE_ATTN;
    if (sp_is(l->remat, "dots"))
        bits |= 1U << SP_MODULE_LAYERNORM;
    for (int i = 0; i < SP_MODULES; i++)
        if (bits >> i & 1)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? " " : "",
                     sp_module_names[i]);
    sp_make_setting(made, "--recompute-granularity", "selective");
    sp_make_setting(made, "--recompute-modules", "%s", list);
}

/* The exchange of experts, and what CUDA graphs of an iteration need. */
void sp_make_execution(const struct sp_launched *l, struct sp_settings *made)
{
    static const char exchange[] = "--moe-token-dispatcher-type";
    const struct sp_execution *const e = &l->plan->execution;
    const char *const way = sp_dispatch_names[e->dispatch];
    char type[SP_ROW_WORD];
    sp_row_theirs(sp_row_of(l->words[0], exchange), way, type);
    if (l->model->moe.experts > 0)
        sp_make_setting(made, exchange, "%s", type);
    if (l->model->moe.experts > 0 && sp_is(type, "flex"))
        sp_make_setting(made, "--moe-flex-dispatcher-backend", "%s", way);
    sp_make_cp_kind(l, made);
    if (e->cuda_graph == SP_CUDA_GRAPH_FULL)
        sp_make_setting(made, "--no-check-for-nan-in-loss-and-grad", "%s", "");
}
