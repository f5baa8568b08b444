/* search: the command that estimates a plan of it. */
#include <stdlib.h>
#include <string.h>

#include "cli/plan_fields.h"
#include "commands/search_report.h"

static const enum sp_option_id passed_on[] = {
    SP_O_model,     SP_O_shape,         SP_O_network,      SP_O_seq,         SP_O_framework,
    SP_O_precision, SP_O_profile,       SP_O_config_dir,   SP_O_constants,   SP_O_convention,
    SP_O_trainable, SP_O_lora_rank,     SP_O_lora_targets, SP_O_base_format, SP_O_reference,
    SP_O_teacher,   SP_O_teacher_top_k, SP_NO_OPTION};

void sp_step_words(const struct sp_searching *s, const struct sp_candidate *machine,
                   const struct sp_found *found, struct sp_words *w)
{
    const struct sp_planned *const base = &machine->base;
    *w = (struct sp_words){0};
    sp_add_word(w, "step");
    sp_add_given(w, s->args, passed_on);
    sp_add_option(w, "hw", machine->hw);
    if (!s->args->given.framework) /* `step` would choose by the ZeRO stage */
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
