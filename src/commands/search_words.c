/* search: the command that estimates a plan of it. */
#include <string.h>

#include "cli/plan_fields.h"
#include "commands/search_report.h"

static const char *const passed_on[] = {"model",     "shape",      "network", "seq",
                                        "framework", "precision",  "profile", "config-dir",
                                        "constants", "convention", NULL};

void sp_step_words(const struct sp_searching *s, int machine, const struct sp_found *found,
                   struct sp_words *w)
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
    sp_plan_words(&found->plan, base->hw.slices, w);
}
