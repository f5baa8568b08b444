/* axolotl: its YAML by the names of Hugging Face's Trainer, over which it runs. Names:
 * axolotl/utils/schemas/config.py. */
#include "launch/huggingface/axolotl.h"

#include <string.h>

bool sp_is_axolotl(const struct sp_settings *s)
{
    return sp_said(s, "base_model") &&
           (sp_said(s, "micro_batch_size") || sp_said(s, "sequence_len") || sp_said(s, "adapter"));
}

bool sp_spell_axolotl(struct sp_settings *s)
{
    const bool fsdp = sp_said(s, "fsdp") != NULL;
    bool configured = false;
    if (!sp_is_axolotl(s))
        return true;
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
