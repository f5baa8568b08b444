/* Training on preferences over Megatron-LM: MindSpeed-LLM's --stage (its posttrain_gpt.py,
 * mindspeed_llm/tasks/posttrain) and ms-swift's --rlhf_type (`megatron rlhf`). */
#include <stdio.h>

#include "base/text.h"
#include "launch/fields/programs.h"
#include "launch/huggingface/adapters.h"
#include "launch/megatron/megatron.h"

/* How it trains; "": on text. */
static const char *kind_of(const struct sp_launch_file *file, struct sp_settings *s)
{
    const char *const stage = sp_setting(s, "--stage"), *const type = sp_setting(s, "--rlhf-type");
    const bool swift = sp_is_megatron_swift(file);
    if (swift && !sp_is(sp_started_task(file->script), "rlhf") && !type)
        return "";
    return swift ? (type ? type : "dpo") : stage && !sp_has_word("sft prm", stage) ? stage : "";
}

/* A sample counts as one in these arguments. */
static void count_twice(struct sp_settings *s, const char *name)
{
    const int64_t samples = sp_setting_whole(s, name, 1, 0);
    for (int i = 0; i < s->n && samples > 0; i++)
        if (sp_is(s->at[i].name, name))
            snprintf(s->at[i].value, sizeof s->at[i].value, "%lld", 2 * (long long)samples);
}

bool sp_spell_preferences(const struct sp_launch_file *file, struct sp_settings *s)
{
    const char *const kind = kind_of(file, s);
    if (!kind[0])
        return true;
    if (!sp_has_word("dpo simpo rm orm", kind))
        return sp_fail_in(s,
                          "training by %s over Megatron-LM is not supported: give the plan as "
                          "options",
                          sp_safe(kind));
    sp_setting(s, "--is-pairwise-dataset");
    count_twice(s, "--micro-batch-size");
    count_twice(s, "--global-batch-size");
    sp_launch_note(s, "%s: a line of data is two sequences, chosen and rejected", kind);
    return true;
}

void sp_read_preferences(const struct sp_launch_file *file, struct sp_settings *s, bool adapted)
{
    if (sp_is(kind_of(file, s), "dpo"))
        sp_launch_reference(s, adapted, false);
}
