/* search: the command that estimates a plan of it. */
#include "cli/plan_fields.h"
#include "commands/search.h"

static const enum sp_option_id passed_on[] = {
    SP_O_model,     SP_O_shape,         SP_O_network,      SP_O_seq,         SP_O_framework,
    SP_O_precision, SP_O_profile,       SP_O_config_dir,   SP_O_constants,   SP_O_convention,
    SP_O_trainable, SP_O_lora_rank,     SP_O_lora_targets, SP_O_base_format, SP_O_reference,
    SP_O_teacher,   SP_O_teacher_top_k, SP_NO_OPTION};

/* What a search for the deepest model changed in it. */
static void add_depth(struct sp_words *words, const struct sp_model *typed,
                      const struct sp_model *now)
{
    if (now->layers != typed->layers) {
        sp_add_word(words, "--set");
        sp_add_word(words, "model.layers=%lld", (long long)now->layers);
    }
    if (now->moe.dense_layers != typed->moe.dense_layers) {
        sp_add_word(words, "--set");
        sp_add_word(words, "model.moe.dense_layers=%lld", (long long)now->moe.dense_layers);
    }
}

char *sp_step_line(const struct sp_searching *s, const struct sp_candidate *machine,
                   const struct sp_plan *plan, const struct sp_model *typed)
{
    const struct sp_planned *const base = &machine->base;
    struct sp_words w = {0};
    sp_add_word(&w, "step");
    sp_add_given(&w, s->args, passed_on);
    sp_add_option(&w, "hw", machine->hw);
    if (!s->args->given.framework) /* `step` would choose by the ZeRO stage */
        sp_add_option(&w, "framework", base->framework.framework.name);
    sp_add_word(&w, "--batch");
    sp_add_word(&w, "%lldx%lld", (long long)base->plan.batch, (long long)base->plan.seq);
    sp_plan_words(plan, &base->framework.framework, base->hw.slices, &w);
    if (typed)
        add_depth(&w, typed, &base->model);
    char *const line = sp_shell_line(&w);
    sp_free_words(&w);
    return line;
}
