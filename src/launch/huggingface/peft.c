/* Hugging Face PEFT: adapter_config.json, which describes an adapter and names its model. */
#include <string.h>

#include "launch/huggingface/adapters.h"

static enum sp_match detect(const struct sp_launch_file *file)
{
    return file->json && sp_said(&file->settings, "peft_type") ? SP_CERTAIN : SP_NO_MATCH;
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const char *const type = sp_setting(s, "peft_type"), *const base = sp_setting(
                                                             s, "base_model_name_or_path");
    if (strcasecmp(type, "LORA") != 0)
        return sp_fail_in(s, "peft_type: \"%s\": expected LORA", sp_safe(type));
    sp_read_hub_model(s, base, file->sources);
    const struct sp_adapters adapters = {
        .rank = sp_setting_whole(s, "r", 1, 0),
        .usual_rank = 8,
        .modules = sp_setting(s, "target_modules"),
        .usual_targets = "q,v",
    };
    sp_launch_adapters(s, &adapters);
    sp_note_adapters(s);
    return true;
}

const struct sp_target sp_target_peft = {
    .format = "PEFT adapter",
    .detect = detect,
    .read = read,
};
