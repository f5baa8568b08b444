/* search: the command that estimates a plan of it. */
#include <stdlib.h>
#include <string.h>

#include "cli/plan_fields.h"
#include "commands/search_report.h"

static const char *const passed_on[] = {
    "model",        "shape",       "network",   "seq",        "framework",     "precision",
    "profile",      "config-dir",  "constants", "convention", "trainable",     "lora-rank",
    "lora-targets", "base-format", "reference", "teacher",    "teacher-top-k", NULL};

void sp_step_words(const struct sp_searching *s, const struct sp_candidate *machine,
                   const struct sp_found *found, struct sp_words *w)
{
    const struct sp_planned *const base = &machine->base;
    *w = (struct sp_words){0};
    sp_add_word(w, "step");
    sp_add_given(w, s->args, passed_on);
    sp_add_option(w, "hw", machine->hw);
    if (!sp_given(s->args, "framework")) /* `step` would choose by the ZeRO stage */
        sp_add_option(w, "framework", base->framework.framework.name);
    sp_add_word(w, "--batch");
    sp_add_word(w, "%lldx%lld", (long long)base->plan.batch, (long long)base->plan.seq);
    sp_plan_words(&found->plan, &base->framework.framework, base->hw.slices, w);
}

void sp_put_command(struct sp_report *report, struct sp_words *words)
{
    char *const line = sp_shell_line(words);
    sp_put_text(report, SP_Q_SEARCH_REPEAT, "scaleplan %s", line);
    free(line);
    sp_free_words(words);
}
