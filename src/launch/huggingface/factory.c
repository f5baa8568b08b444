/* LLaMA-Factory's newer YAML (v1), which has its own trainer: names and defaults of
 * src/llamafactory/v1/config, weights as core/model_engine.py and its FSDP2 plugin hold them. */
#include "launch/huggingface/factory.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"

bool sp_is_factory(const struct sp_settings *s)
{
    return sp_has_setting(s, "model_class") || sp_has_setting(s, "dist_config.name");
}

static bool add(struct sp_settings *s, const char *name, const char *usual, const char *as)
{
    const char *const said = sp_setting(s, name), *const value = said ? said : usual;
    return !value || sp_add_setting(s, as, value);
}

/* The global batch as passes of each replica. */
static bool spell_batch(struct sp_settings *s, int64_t devices)
{
    char passes[24];
    const int64_t micro = sp_setting_whole(s, "micro_batch_size", 1, 1),
                  cp = sp_setting_whole(s, "cp_size", 1, 1),
                  each = devices > 0 && devices % cp == 0 ? micro * (devices / cp) : 0,
                  all = sp_setting_whole(s, "global_batch_size", 1, each);
    if (each > 0 && all % each != 0)
        return sp_fail_in(s,
                          "global_batch_size %lld is not a multiple of %lld, the micro-batches of "
                          "all replicas",
                          (long long)all, (long long)each);
    snprintf(passes, sizeof passes, "%lld", (long long)(each > 0 ? all / each : 1));
    if (cp > 1)
        sp_launch_option(s, "cp-kind", "%s",
                         sp_setting_is(s, "cp_mode", "ring") ? "ring" : "ulysses");
    return sp_add_setting(s, "gradient_accumulation_steps", passes);
}

/* The degrees that share weights and states. */
static bool spell_sharding(struct sp_settings *s)
{
    const char *const by = sp_setting(s, "dist_config.name");
    if (sp_setting_whole(s, "mp_replicate_size", 1, 1) > 1 || sp_has_setting(s, "mp_shard_size"))
        sp_add_unread(s->launch, "fsdp", "mp_shard_size", "", 0);
    if (!by)
        return true;
    if (sp_is(by, "fsdp2"))
        return sp_add_setting(s, "fsdp", "full_shard");
    if (sp_is(by, "deepspeed"))
        return add(s, "dist_config.config_file", NULL, "deepspeed");
    sp_add_unread(s->launch, "zero", "dist_config.name", by, 0);
    return true;
}

/* Matmuls are in bf16; weights and states keep the checkpoint's format, except in DeepSpeed. */
static bool spell_format(struct sp_settings *s)
{
    static const char bf16[] = "bf16";
    const bool deepspeed = sp_setting_is(s, "dist_config.name", "deepspeed"),
               wide = sp_setting_off(s, bf16);
    for (int i = 0; i < s->n && !deepspeed; i++)
        if (sp_is(s->at[i].name, bf16))
            snprintf(s->at[i].name, sizeof s->at[i].name, "model");
    return deepspeed ? sp_has_setting(s, bf16) || sp_add_setting(s, bf16, "true")
                     : sp_add_setting(s, "torch_dtype", wide ? "float32" : "auto");
}

static bool spell_adapters(struct sp_settings *s)
{
    const char *const kind = sp_setting(s, "peft_config.name");
    if (sp_is(kind, "freeze"))
        sp_add_unread(s->launch, "trainable", "peft_config.name", kind, 0);
    if (!sp_is(kind, "lora"))
        return true;
    const char *const targets = sp_setting(s, "peft_config.target_modules");
    return add(s, "peft_config.r", "8", "lora_r") &&
           sp_add_setting(s, "lora_target_modules",
                          !targets || sp_is(targets, "all") ? "all-linear" : targets) &&
           (!sp_setting_is(s, "quant_config.quantization_bit", "4") ||
            sp_add_setting(s, "load_in_4bit", "true"));
}

bool sp_spell_factory(struct sp_settings *s, int64_t devices)
{
    if (!sp_is_factory(s))
        return true;
    return add(s, "model", "Qwen/Qwen3-4B-Instruct-2507", "model_name_or_path") &&
           add(s, "micro_batch_size", "1", "per_device_train_batch_size") &&
           add(s, "cp_size", NULL, "context_parallel_size") &&
           (sp_has_setting(s, "cutoff_len") || sp_add_setting(s, "cutoff_len", "2048")) &&
           add(s, "enable_activation_checkpointing", "true", "gradient_checkpointing") &&
           add(s, "optim_config.name", NULL, "optim") && spell_format(s) &&
           spell_batch(s, devices) && spell_sharding(s) && spell_adapters(s);
}
