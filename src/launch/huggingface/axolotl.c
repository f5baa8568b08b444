/* axolotl: its YAML by the names of Hugging Face's Trainer, over which it runs. Names:
 * axolotl/utils/schemas/config.py. */
#include "launch/huggingface/axolotl.h"

#include <string.h>

/* Its names, and those of the Trainer. */
static const char *const names[][2] = {
    {"base_model", "model_name_or_path"}, {"micro_batch_size", "per_device_train_batch_size"},
    {"sequence_len", "max_seq_length"},   {"optimizer", "optim"},
    {"peft_use_dora", "use_dora"},
};

bool sp_is_axolotl(const struct sp_settings *s)
{
    return sp_said(s, "base_model") &&
           (sp_said(s, "micro_batch_size") || sp_said(s, "sequence_len") || sp_said(s, "adapter"));
}

bool sp_spell_axolotl(struct sp_settings *s, struct sp_error *error)
{
    const bool fsdp = sp_said(s, "fsdp") != NULL;
    bool configured = false;
    if (!sp_is_axolotl(s))
        return true;
    for (int i = 0; i < s->n; i++) {
        struct sp_setting *const at = &s->at[i];
        configured = configured || strncmp(at->name, "fsdp_", 5) == 0;
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (strcmp(at->name, names[j][0]) == 0)
                snprintf(at->name, sizeof at->name, "%s", names[j][1]);
    }
    const bool whole = sp_setting(s, "fsdp_config.reshard_after_forward") &&
                       !sp_setting_on(s, "fsdp_config.reshard_after_forward");
    return fsdp || !configured ||
           sp_add_setting(s, "fsdp", whole ? "shard_grad_op" : "full_shard", error);
}
