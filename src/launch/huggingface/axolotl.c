/* axolotl runs on Hugging Face's Trainer: reads its YAML by the Trainer's names. Names:
 * axolotl/utils/schemas/config.py. */
#include "launch/huggingface/axolotl.h"

#include <stdio.h>
#include <string.h>

bool sp_is_axolotl(const struct sp_settings *s)
{
    return sp_has_setting(s, "base_model") &&
           (sp_said(s, "micro_batch_size") || sp_said(s, "sequence_len") || sp_said(s, "adapter"));
}

/* The older `batch_size` counts the sequences of one device in a step: its micro-batches times
 * their size. */
static bool spell_batch(struct sp_settings *s)
{
    static const char steps[] = "gradient_accumulation_steps";
    char passes[24];
    if (!sp_has_setting(s, "batch_size") || sp_said(s, steps))
        return true;
    const int64_t batch = sp_setting_whole(s, "batch_size", 1, 1),
                  micro = sp_said_whole(s, "micro_batch_size", 1);
    if (batch < micro)
        return sp_fail_in(s, "batch_size %lld is less than micro_batch_size %lld", (long long)batch,
                          (long long)micro);
    snprintf(passes, sizeof passes, "%lld", (long long)(batch / micro));
    return sp_add_setting(s, steps, passes);
}

bool sp_spell_axolotl(struct sp_settings *s)
{
    const bool fsdp = sp_said(s, "fsdp") != NULL;
    bool configured = false;
    if (!sp_is_axolotl(s))
        return true;
    if (!spell_batch(s))
        return false;
    for (int i = 0; i < s->n; i++) {
        struct sp_setting *const at = &s->at[i];
        configured = configured || strncmp(at->name, "fsdp_", 5) == 0;
        const struct sp_launch_row *const row = sp_row_of(s->words, at->name);
        if (row && row->as[0])
            snprintf(at->name, sizeof at->name, "%.71s", row->as);
    }
    /* lora_r without `adapter` trains all weights */
    if (!sp_said(s, "adapter") && !sp_add_setting(s, "use_peft", "false"))
        return false;
    return fsdp || !configured || sp_add_setting(s, "fsdp", "full_shard");
}
