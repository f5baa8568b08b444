/* Recomputed and offloaded parts of a layer, as arguments of Megatron-LM, read and written. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/names.h>

#include "launch/megatron/megatron.h"

void sp_read_recompute_modules(struct sp_settings *s, const char *name)
{
    const char *const modules = sp_setting(s, name);
    char others[160] = "";
    unsigned bits = 0;
    size_t known = 0, said = 0;
    for (int i = 0; modules && i < SP_MODULES; i++)
        if (sp_has_word(modules, sp_module_names[i])) {
            known += strlen(sp_module_names[i]);
            if (i == SP_MODULE_CORE_ATTN)
                continue;
            bits |= 1U << i;
            sp_append(others, sizeof others, "%s%s", others[0] ? "," : "", sp_module_names[i]);
        }
    /* attention itself is what the policy selective repeats */
    const bool core = !modules || sp_has_word(modules, "core_attn");
    sp_launch_option(s, "remat", "%s", core ? "selective" : "none");
    if (bits != 0)
        sp_launch_option(s, "recompute-modules", "%s", others);
    for (const char *at = modules; at && *at; at++)
        said += !strchr(" ,", *at);
    if (said != known)
        sp_launch_note(s, "not modelled: some of %s %s", name, sp_safe(modules));
}

void sp_read_recompute(struct sp_settings *s, int64_t chunks)
{
    const char *const granularity = sp_setting(s, "--recompute-granularity");
    if (sp_is(granularity, "full")) {
        const char *const method = sp_setting(s, "--recompute-method");
        const double layers = (double)sp_setting_whole(s, "--num-layers", 1, 0),
                     some = (double)sp_setting_whole(s, "--recompute-num-layers", 0, 1000000);
        sp_launch_option(s, "remat", "full");
        if (sp_is(method, "block") && some * (double)chunks < layers)
            sp_launch_option(s, "remat-layers", "%.17g", some * (double)chunks / layers);
        return;
    }
    if (sp_is(granularity, "selective"))
        sp_read_recompute_modules(s, "--recompute-modules");
    else
        sp_launch_option(s, "remat", "none");
}

/* --offload-modules of every layer; experts have more. */
static const char offloaded[] = "attn_norm qkv_linear core_attn attn_proj mlp_norm";

/* Whether nothing that a layer keeps is left on the device. */
static bool is_all(struct sp_settings *s, const char *modules)
{
    const char *const again = sp_setting(s, "--recompute-modules");
    const bool experts = sp_has_word(again, "moe") ||
                         (sp_has_word(modules, "expert_fc1") && sp_has_word(modules, "moe_act"));
    bool all = sp_setting(s, "--num-experts") ? experts : sp_has_word(again, "mlp");
    for (int i = 0; i < SP_AWAY_MLP; i++)
        all = all && sp_has_word(modules, sp_away_names[i]);
    return all;
}

/* Modules whose inputs wait in the host's memory, under our names. */
void sp_read_offload(struct sp_settings *s)
{
    const char *const modules = sp_setting(s, "--offload-modules");
    char list[160] = "";
    size_t known = 0, said = 0;
    for (int i = 0; modules && i < SP_AWAYS; i++)
        if (i != SP_AWAY_MLP && sp_has_word(modules, sp_away_names[i])) {
            known += strlen(sp_away_names[i]);
            sp_append(list, sizeof list, "%s%s", list[0] ? "," : "", sp_away_names[i]);
        }
    for (const char *at = modules; at && *at; at++)
        said += !strchr(" ,", *at);
    if (modules && is_all(s, modules))
        sp_launch_option(s, "offload", "on");
    else if (list[0])
        sp_launch_option(s, "offload-modules", "%s", list);
    if (said != known)
        sp_launch_note(s, "not modelled: some of --offload-modules %s", sp_safe(modules));
}

/* The hosts' share of the optimizer. */
void sp_read_optimizer_offload(struct sp_settings *s, const char *on, const char *fraction,
                               double usual)
{
    const double share = sp_setting_number(s, fraction, usual);
    if (sp_setting_on(s, on) && share > 0)
        sp_launch_option(s, "optimizer-offload", "%.17g", share);
}

static void make_modules(const struct sp_launched *l, struct sp_settings *made)
{
    char list[160] = "";
    unsigned bits = l->plan->recompute.modules;
    if (sp_is(l->remat, "selective") || sp_is(l->remat, "dots"))
        bits |= 1U << SP_MODULE_CORE_ATTN;
    if (sp_is(l->remat, "dots"))
        bits |= 1U << SP_MODULE_LAYERNORM;
    for (int i = 0; i < SP_MODULES; i++)
        if (bits >> i & 1)
            sp_append(list, sizeof list, "%s%s", list[0] ? " " : "", sp_module_names[i]);
    sp_make_setting(made, "--recompute-granularity", "selective");
    sp_make_setting(made, "--recompute-modules", "%s", list);
}

/* Layers recomputed in each chunk of `of`, as a share of all layers. */
static double recomputed(const struct sp_launched *l, double *of)
{
    const struct sp_plan *const p = l->plan;
    *of = (double)l->model->layers / (double)(p->pp * p->vpp);
    return p->recompute_layers > 0 ? ceil(p->recompute_layers * *of - 1e-9) : 0;
}

/* The share of layers that are recomputed. */
void sp_lose_recompute(const struct sp_launched *l)
{
    const struct sp_plan *const p = l->plan;
    double layers;
    const double some = recomputed(l, &layers);
    if (p->recompute_layers < 1 && sp_is(l->remat, "full") &&
        some * (double)(p->pp * p->vpp) / (double)l->model->layers != p->recompute_layers)
        sp_lose(l, "recompute of a share of %g; written as %.0f of %g layers of a chunk",
                p->recompute_layers, some, layers);
}

/* The modules of the plan, or all of Megatron-LM's. */
static void make_offload(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_recompute *const r = &l->plan->recompute;
    char list[160] = "";
    for (int i = 0; i < SP_AWAYS; i++)
        if (r->away >> i & 1 && i != SP_AWAY_MLP)
            sp_append(list, sizeof list, "%s%s", list[0] ? " " : "", sp_away_names[i]);
    if (r->away >> SP_AWAY_MLP & 1)
        sp_lose(l, "activations of MLPs without experts in the host's memory");
    if (r->away == 0)
        sp_append(list, sizeof list, "%s%s", offloaded,
                  l->model->moe.experts > 0 && !(r->modules >> SP_MODULE_MOE & 1)
                      ? " expert_fc1 moe_act"
                      : "");
    sp_make_setting(made, "--offload-modules", "%s", list);
}

void sp_make_recompute(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const bool full = sp_is(l->remat, "full"), all = p->recompute_layers == 1;
    double per_chunk;
    const double some = recomputed(l, &per_chunk);
    if (sp_is(l->remat, "dots") || (p->recompute.modules != 0 && !full))
        make_modules(l, made);
    else if (full || sp_is(l->remat, "selective"))
        sp_make_setting(made, "--recompute-granularity", "%s", l->remat);
    if (full) {
        sp_make_setting(made, "--recompute-method", all ? "uniform" : "block");
        sp_make_setting(made, "--recompute-num-layers", "%.0f", all ? 1 : some);
    }
    sp_make_switch(made, "--fine-grained-activation-offloading", p->recompute.offload);
    if (p->recompute.offload)
        make_offload(l, made);
    sp_make_switch(made, "--optimizer-cpu-offload", p->optimizer_away > 0);
    sp_make_switch(made, "--use-precision-aware-optimizer", p->optimizer_away > 0);
    if (p->optimizer_away > 0)
        sp_make_setting(made, "--optimizer-offload-fraction", "%.17g", p->optimizer_away);
}
