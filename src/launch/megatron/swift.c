/* ms-swift over Megatron-LM (`megatron sft`, `pt`, `rlhf`): its arguments by Megatron-LM's names.
 * Names and defaults: swift/megatron/arguments of modelscope/ms-swift. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/fields/programs.h"
#include "launch/huggingface/arguments_file.h"
#include "launch/megatron/megatron.h"

bool sp_is_megatron_swift(const struct sp_launch_file *file)
{
    return file->script && file->program &&
           sp_is(file->program->framework, "ms-swift over Megatron-LM");
}

static bool tells(const char *word)
{
    char name[SP_ROW_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "= "), word);
    return sp_is_quiet("--model --load --dataset --tensor_model_parallel_size --micro_batch_size "
                       "--global_batch_size --max_length --tuner_type --train_type --lora_rank "
                       "--recompute_granularity --rlhf_type --use_ray --config",
                       name);
}

/* Names with dashes; a switch that is off is none, and one that is on has no value. Whether the
 * distributed optimizer is off. */
static bool spell_names(struct sp_settings *s)
{
    bool whole = false;
    for (int i = 0; i < s->n; i++) {
        struct sp_setting *const at = &s->at[i];
        for (char *c = at->name; *c; c++)
            *c = *c == '_' ? '-' : *c;
        const bool off = strcasecmp(at->value, "false") == 0;
        whole = whole || (off && sp_is(at->name, "--use-distributed-optimizer"));
        if (off || (sp_is(at->name, "--recompute-granularity") && sp_is(at->value, "none")))
            snprintf(at->name, sizeof at->name, off ? "" : "--recompute-none");
        else if (strcasecmp(at->value, "true") == 0)
            at->value[0] = '\0';
    }
    return whole;
}

static bool add(struct sp_settings *s, const char *name, const char *value)
{
    return sp_said(s, name) || sp_add_setting(s, name, value);
}

/* The trained parts: all weights unless told otherwise. */
static bool spell_tuner(struct sp_settings *s)
{
    const char *const newer = sp_setting(s, "--tuner-type"),
                      *const type = newer ? newer : sp_setting(s, "--train-type"),
                      *const rank = sp_setting(s, "--lora-rank"),
                      *const modules = sp_setting(s, "--target-modules");
    if (!type || sp_is(type, "full"))
        return true;
    if (!sp_is(type, "lora"))
        sp_add_unread(s->launch, "trainable", "tuner_type", type, 0);
    return sp_add_setting(s, "--lora-r", rank ? rank : "8") &&
           sp_add_setting(s, "--lora-target-modules", modules ? modules : "all-linear");
}

static bool spell_precision(struct sp_settings *s)
{
    const char *const type = sp_setting(s, "--torch-dtype");
    const bool half = sp_said(s, "--fp16") || (type && strstr(type, "float16") == type),
               wide = type && sp_is(type, "float32");
    return wide || add(s, half ? "--fp16" : "--bf16", "");
}

static bool spell(struct sp_settings *s)
{
    const bool whole = spell_names(s);
    const char *const packed = sp_setting(s, "--packing-length"),
                      *const cut = sp_setting(s, "--max-length"),
                      *const length = packed ? packed : cut,
                      *const model = sp_setting(s, "--model");
    if (!length)
        sp_add_unread(s->launch, "seq", "max_length", "(left out)", 0);
    return (!length || add(s, "--seq-length", length)) && spell_tuner(s) && spell_precision(s) &&
           (!model || sp_add_setting(s, "model.from_hf_pretrained", model)) &&
           (whole || add(s, "--use-distributed-optimizer", "")) &&
           (sp_setting(s, "--recompute-none") || add(s, "--recompute-granularity", "selective")) &&
           add(s, "--micro-batch-size", "1") && add(s, "--global-batch-size", "16") &&
           add(s, "--expert-tensor-parallel-size", "1") && add(s, "--hidden-dropout", "0") &&
           add(s, "--attention-backend", "flash");
}

/* The settings of the YAML that --config names, as flags before the command's own. */
static bool take_config(const struct sp_launch_file *file, struct sp_settings *s)
{
    bool here;
    const char *const named = sp_read_named_yaml(file, s, &here);
    for (int i = 0; i < s->n; i++) {
        char flag[sizeof s->at->name];
        snprintf(flag, sizeof flag, "--%.*s", (int)sizeof flag - 3, s->at[i].name);
        snprintf(s->at[i].name, sizeof s->at[i].name, "%s", flag);
    }
    return !named || here || sp_refuse_empty(file, named);
}

bool sp_read_megatron_swift(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const bool ok = take_config(file, s) && sp_read_flags(file->script, tells, s) && spell(s);
    sp_peek_setting(s, "--config");
    return ok;
}
