/* Megatron-Bridge and NeMo 2: fields as a Python recipe sets them, by the names of ConfigContainer.
 * NeMo 2 has in trainer.strategy and data the settings that Megatron-Bridge calls model and train.
 * Names: the guide from Megatron-LM to Megatron-Bridge, NeMo 2's MegatronStrategy. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/bridge/bridge.h"
#include "launch/formats/syntax.h"

/* Other names of fields, whole or up to a dot. */
static const struct {
    const char *name, *ours;
} others[] = {
    {"trainer.strategy.ddp.", "ddp."},
    {"trainer.strategy.", "model."},
    {"trainer.plugins.precision", "mixed_precision"},
    {"trainer.plugins._target_", "mixed_precision._target_"},
    {"trainer.plugins.", "mixed_precision."},
    {"mixed_precision.get_mixed_precision_config", "mixed_precision"},
    {"optim.config.", "optimizer."},
    {"data.global_batch_size", "train.global_batch_size"},
    {"data.micro_batch_size", "train.micro_batch_size"},
    {"data.seq_length", "dataset.seq_length"},
    {"dataset.sequence_length", "dataset.seq_length"},
};

static bool rename_field(char *name, size_t size)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t n = strlen(others[i].name);
        const bool whole = others[i].name[n - 1] != '.';
        if (strncmp(name, others[i].name, n) != 0 || (whole && name[n] != '\0'))
            continue;
        char rest[48];
        snprintf(rest, sizeof rest, "%s", name + n);
        snprintf(name, size, "%.40s%s", others[i].ours, rest);
        return true;
    }
    return false;
}

bool sp_spell_bridge(struct sp_settings *s)
{
    bool is_recipe = false;
    for (int i = 0; i < s->n; i++) {
        struct sp_setting *const at = &s->at[i];
        if (sp_is(at->name, sp_recipe_base))
            snprintf(at->name, sizeof at->name, "_");
        is_recipe = rename_field(at->name, sizeof at->name) || is_recipe;
        if (sp_is(at->name, "mixed_precision._target_") && strlen(at->value) > 6 &&
            sp_is(at->value + strlen(at->value) - 6, "_mixed"))
            snprintf(at->name, sizeof at->name, "mixed_precision"); /* a function, "bf16_mixed" */
    }
    return is_recipe;
}
