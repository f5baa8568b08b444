/* search: plans as words of `step`, to print and to parse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/search_report.h"

static const char *const passed_on[] = {"model",     "shape",     "network", "seq",
                                        "framework", "precision", "profile", "config-dir",
                                        "constants", NULL};

static void add_number(struct sp_words *w, const char *name, int64_t value)
{
    sp_add_word(w, "--%s", name);
    sp_add_word(w, "%lld", (long long)value);
}

static void add_base(const struct sp_searching *s, int machine, struct sp_words *w)
{
    const struct sp_planned *const base = &s->machine[machine]->base;
    *w = (struct sp_words){0};
    sp_add_word(w, "step");
    sp_add_given(w, s->args, passed_on);
    sp_add_option(w, "hw", s->machine[machine]->hw);
    if (!sp_given(s->args, "framework")) /* `step` would choose by the ZeRO stage */
        sp_add_option(w, "framework", base->framework.framework.name);
    sp_add_word(w, "--batch");
    sp_add_word(w, "%lldx%lld", (long long)base->plan.batch, (long long)base->plan.seq);
}

void sp_step_words(const struct sp_searching *s, int machine, const struct sp_found *found,
                   struct sp_words *w)
{
    const struct sp_plan *const p = &found->plan;
    const int64_t slices = s->machine[machine]->base.hw.slices;
    const struct {
        const char *name;
        int64_t value, otherwise; /* left out when it is what step takes anyway */
    } numbers[] = {
        {"dp", p->dp, 0},
        {"tp", p->tp, 1},
        {"pp", p->pp, 1},
        {"vpp", p->vpp, 1},
        {"cp", p->cp, 1},
        {"ep", p->ep, 1},
        {"etp", p->etp, 1},
        {"zero", p->zero, -1},
        {"fsdp", p->shards, p->zero == 0 ? p->shards : sp_default_shards(p, slices)},
        {"micro-batch", p->micro_batch, 1},
    };
    add_base(s, machine, w);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value != numbers[i].otherwise)
            add_number(w, numbers[i].name, numbers[i].value);
    sp_add_option(w, "remat", sp_policies[found->policy].name);
    if (p->pp > 1)
        sp_add_option(w, "schedule", sp_schedule_names[p->schedule]);
    if (p->tp > 1 && !p->sequence_parallel)
        sp_add_option(w, "sp", "off");
    if (p->recompute.offload)
        sp_add_option(w, "offload", "on");
    if (p->tp_axes[0] > 0)
        sp_add_word(w, "--tp-axes=%dx%dx%d", p->tp_axes[0], p->tp_axes[1], p->tp_axes[2]);
    if (p->stages_inside)
        sp_add_option(w, "placement", "pp-inside");
}

bool sp_plan_words(const struct sp_searching *s, const char *option, const char *plan,
                   struct sp_words *w, struct sp_error *error)
{
    char copy[512], *rest = copy;
    if (strlen(plan) >= sizeof copy)
        return sp_fail(error, SP_INPUT, "--%s: too long", option);
    snprintf(copy, sizeof copy, "%s", plan);
    add_base(s, 0, w);
    for (char *pair; (pair = strsep(&rest, ",")) != NULL;) {
        char *const equals = strchr(pair, '=');
        if (!equals || equals == pair || pair[0] == '-') {
            sp_free_words(w);
            return sp_fail(error, SP_INPUT,
                           "--%s: \"%s\" is not KEY=VALUE, such as tp=8,pp=16,remat=full", option,
                           sp_safe(pair));
        }
        *equals = '\0';
        sp_add_option(w, pair, equals + 1);
    }
    return true;
}
