/* A plan with all inputs of its estimate. */
#include "study/planned.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/repertoire.h"

void sp_copy_planned(struct sp_planned *copy, const struct sp_planned *p)
{
    memcpy(copy, p, offsetof(struct sp_planned, companions));
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        copy->companions.of[i].place = SP_COMPANION_NONE;
    if (p->model.tuning.companions == &p->companions) {
        copy->companions = p->companions;
        copy->model.tuning.companions = &copy->companions;
    }
    if (p->model.documents != &p->documents)
        return;
    copy->documents = p->documents;
    copy->model.documents = &copy->documents;
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        copy->companions.of[i].model.documents = &copy->documents;
}

struct sp_step_inputs sp_inputs_of(const struct sp_planned *p)
{
    return (struct sp_step_inputs){&p->model,   &p->hw,   &p->precision, &p->framework.framework,
                                   &p->profile, &p->plan, p->layers};
}

struct sp_repertoire sp_repertoire_of(const struct sp_planned *p, bool any)
{
    static const struct sp_framework_file anything = {
        .framework = {.copies_kv_heads = true},
        .recompute_modules = "mla_up_proj, moe_act, layernorm, shared_experts, mlp, moe",
        .offload_modules = "attn_norm, qkv_linear, core_attn, attn_proj, mlp_norm, mlp, "
                           "expert_fc1, moe_act",
        .optimizer_offload = true,
        .offload = true,
        .own_stages = true,
        .can_overlap_moe = true};
    struct sp_repertoire runs = sp_framework_repertoire(any ? &anything : &p->framework, &p->hw);
    if (!any) {
        sp_narrow_contexts(&p->framework, &p->hw, &p->model, &runs);
        sp_narrow_offload(&p->framework, &p->model, &runs);
    }
    return runs;
}

void sp_estimate_planned(const struct sp_planned *p, enum sp_flop_convention convention,
                         unsigned parts, struct sp_estimate *e)
{
    const struct sp_step_inputs in = sp_inputs_of(p);
    const int64_t n = parts & SP_WITH_PLAYED ? sp_tasks_of_plan(&p->plan) : 0;
    struct sp_task *const tasks = n > 0 ? sp_must(calloc((size_t)n, sizeof *tasks)) : NULL;
    sp_estimate_parts(&in, convention, parts, tasks, e);
    free(tasks);
}
