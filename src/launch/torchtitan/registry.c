/* torchtitan's fields as its Python has them (torchtitan/config/configs.py, models/NAME/
 * config_registry.py). */
#include "launch/torchtitan/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/formats/syntax.h"

/* The folder of a registry's file, "" if it is not one. */
static void find_folder(const char *path, char *out, size_t size)
{
    static const char file[] = "/config_registry.py";
    const char *const end = strstr(path, file), *from = end;
    while (from && from > path && from[-1] != '/')
        from--;
    snprintf(out, size, "%.*s", end ? (int)(end - from) : 0, end ? from : "");
}

void sp_miss_titan_sizes(const struct sp_settings *s, const char *name, const char *value)
{
    static const char *const sizes[][3] = {
        {"micro-batch", "training.num_tokens_per_microbatch_per_dp_rank",
         "training.local_batch_size"},
        {"seq", "training.max_context_length", "training.seq_len"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!sp_has_setting(s, sizes[i][1]) && !sp_has_setting(s, sizes[i][2]))
            sp_add_unread(s->launch, sizes[i][0], name, value, 0);
}

bool sp_spell_titan(const char *path, struct sp_settings *s)
{
    static const char model[] = "model_spec.", again[] = "activation_checkpoint";
    char folder[64];
    bool flavored = false;
    find_folder(path, folder, sizeof folder);
    const char *const base = sp_said(s, sp_recipe_base);
    if (base)
        sp_miss_titan_sizes(s, base, "(not here)");
    for (int i = 0; i < s->n; i++) {
        struct sp_setting *const at = &s->at[i];
        const char *name = at->name;
        if (sp_is(name, "model_spec.model_registry")) {
            char flavor[64];
            snprintf(flavor, sizeof flavor, "%.63s", at->value);
            snprintf(at->value, sizeof at->value, folder[0] ? "%s" : "model_registry(\"%s\"",
                     flavor);
            name = folder[0] ? "model.flavor" : "config.model_spec";
            flavored = true;
        } else if (sp_is(name, "model_spec.converters") && !sp_is(at->value, "[]")) {
            sp_add_unread(s->launch, "precision", "converters", "of the model", at->line);
            name = "_";
        } else if (strncmp(name, model, sizeof model - 1) == 0 || sp_is(name, sp_recipe_base)) {
            name = "_";
        } else if (strncmp(name, again, sizeof again - 1) == 0 &&
                   (!name[sizeof again - 1] || sp_is(name + sizeof again - 1, "._target_"))) {
            name = "config.activation_checkpoint";
        }
        if (name != at->name)
            snprintf(at->name, sizeof at->name, "%s", name);
    }
    sp_peek_setting(s, "_");
    return !flavored || !folder[0] || sp_add_setting(s, "model.name", folder);
}
