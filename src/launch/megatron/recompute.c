/* What of a layer runs again or waits in the host's memory, as arguments of Megatron-LM, read and
 * written. */
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

/* --offload-modules of every layer; of experts there is more. */
static const char offloaded[] = "attn_norm qkv_linear core_attn attn_proj mlp_norm";

/* Modules whose activations wait in the host's memory; a plan has all of a layer's or none. */
void sp_read_offload(struct sp_settings *s)
{
    const char *const modules = sp_setting(s, "--offload-modules"), *const again = sp_setting(
                                                                        s, "--recompute-modules");
    const bool routed = sp_setting(s, "--num-experts") != NULL;
    bool all = routed ? sp_has_word(modules, "expert_fc1") || sp_has_word(again, "moe")
                      : sp_has_word(again, "mlp");
    for (const char *at = offloaded; *at; at += strspn(at, " ")) {
        char word[24];
        const size_t n = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        all = all && sp_has_word(modules, word);
        at += n;
    }
    sp_launch_option(s, "offload", "on");
    if (!all)
        sp_launch_note(s,
                       "--offload-modules %s: read as all activations in host memory; in fact MLPs "
                       "and unnamed modules stay on the device",
                       modules ? sp_safe(modules) : "");
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

/* Layers that are recomputed in each chunk of `of`; a share of all layers. */
static double recomputed(const struct sp_launched *l, double *of)
{
    const struct sp_plan *const p = l->plan;
    *of = (double)l->model->layers / (double)(p->pp * p->vpp);
    return p->recompute_layers > 0 ? ceil(p->recompute_layers * *of - 1e-9) : 0;
}

/* The share of layers that run again. */
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
        sp_make_setting(made, "--offload-modules", "%s%s", offloaded,
                        l->model->moe.experts > 0 && !(p->recompute.modules >> SP_MODULE_MOE & 1)
                            ? " expert_fc1 moe_act"
                            : "");
}
