/* The DeepSpeed JSON that arguments of Hugging Face's Trainer name: its "auto" values are theirs.
 * Rules: transformers/integrations/deepspeed.py. */
#include "launch/huggingface/trainer_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/deepspeed/deepspeed.h"
#include "launch/fields/named_files.h"
#include "launch/formats/syntax.h"

static const char micro_batch[] = "per_device_train_batch_size";

/* Puts a value where the JSON has "auto", or (`always`) nothing. */
static void fill(struct sp_settings *json, const char *name, bool always, const char *value)
{
    if (sp_setting(json, name) ? sp_setting_is(json, name, "auto") : always)
        sp_add_setting(json, name, value);
}

/* A number of the JSON that is not the arguments': the Trainer does not start then. */
static void compare(struct sp_settings *s, struct sp_settings *json, const char *name,
                    const char *argument, int64_t usual)
{
    const int64_t own = sp_setting_whole(s, argument, 1, usual);
    const char *const said = sp_said(json, name);
    if (said && !sp_is(said, "auto") && sp_said_whole(json, name, own) != own)
        sp_launch_note(s, "the Trainer refuses this: %s %.20s of the JSON, %s %lld", name,
                       sp_safe(said), argument, (long long)own);
}

static void fill_all(struct sp_settings *s, struct sp_settings *json, int64_t sequences)
{
    compare(s, json, "train_micro_batch_size_per_gpu", micro_batch, 8);
    compare(s, json, "gradient_accumulation_steps", "gradient_accumulation_steps", 1);
    char micro[24], steps[24];
    const int64_t of_micro = sequences * sp_setting_whole(s, micro_batch, 1, 8);
    snprintf(micro, sizeof micro, "%lld", (long long)of_micro);
    snprintf(steps, sizeof steps, "%lld",
             (long long)sp_setting_whole(s, "gradient_accumulation_steps", 1, 1));
    fill(json, "train_micro_batch_size_per_gpu", true, micro);
    fill(json, "gradient_accumulation_steps", true, steps);
    fill(json, "train_batch_size", false, "0"); /* DeepSpeed makes it of the others */
    /* accelerate fills in the formats that the JSON lacks (DeepSpeedPlugin.set_mixed_precision) */
    fill(json, "bf16.enabled", true, sp_setting_on(s, "bf16") ? "true" : "false");
    fill(json, "fp16.enabled", true, sp_setting_on(s, "fp16") ? "true" : "false");
}

static void drop_setting(struct sp_settings *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (sp_is(s->at[i].name, name))
            s->at[i].name[0] = '\0';
}

/* The Trainer calls DeepSpeed's checkpoints of activations for no model. */
static void drop_checkpoints(struct sp_launch_file *inner)
{
    static const char section[] = "activation_checkpointing.";
    cJSON_DeleteItemFromObject((cJSON *)inner->json, "activation_checkpointing");
    for (int i = 0; i < inner->settings.n; i++)
        if (sp_starts_with(inner->settings.at[i].name, section))
            inner->settings.at[i].name[0] = '\0';
}

bool sp_read_trainer_json(struct sp_launch_file *file, const char *name, int64_t sequences)
{
    const struct sp_typed_names none = {0};
    struct sp_json json;
    size_t length;
    char *const text = sp_read_named(file, name, &length);
    if (!text)
        return false;
    struct sp_launch_file *const inner = sp_must(calloc(1, sizeof *inner));
    if (sp_json_parse(text, length, name, &json, file->settings.error)) {
        inner->json = json.root;
        inner->hw = file->hw;
        inner->settings.launch = inner->assumed.launch = file->settings.launch;
        inner->settings.error = inner->assumed.error = file->settings.error;
        inner->settings.origin = inner->assumed.origin = name;
        inner->settings.words = file->words[1];
        sp_read_json(text, &none, &inner->settings);
        fill_all(&file->settings, &inner->settings, sequences);
        drop_checkpoints(inner);
        if (sp_has_setting(&inner->settings, "optimizer.type")) /* it replaces the Trainer's */
            drop_setting(&file->settings, "optim");
        sp_read_deepspeed(inner);
        sp_json_free(&json);
    }
    free(inner);
    free(text);
    return true;
}
