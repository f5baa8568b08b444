/* Megatron-Bridge: settings in which its configuration differs from Megatron-LM's arguments: the
 * name of a precision, and defaults (mixed_precision.py, transformer_config.py and recipes of
 * 0.7). */
#include <stdio.h>
#include <string.h>

#include "launch/fields/deciding.h"
#include "launch/huggingface/adapters.h"
#include "base/text.h"
#include "launch/bridge/bridge.h"
#include "launch/shell/expand.h"

bool sp_is_bridge_name(const char *name)
{
    return sp_is_quiet("train.micro_batch_size train.global_batch_size train.train_iters "
                       "ddp.use_distributed_optimizer mixed_precision._target_ peft.dim",
                       name);
}

bool sp_is_bridge(const struct sp_settings *s)
{
    const char *const precision = sp_said(s, "mixed_precision"); /* a key that accelerate has too */
    for (int i = 0; i < s->n; i++)
        if (sp_is_bridge_name(s->at[i].name))
            return true;
    return precision && strstr(precision, "mixed");
}

/* A precision by its name, "bf16_with_fp8_current_scaling_mixed". */
static bool take_precision(const struct sp_settings *from, const char *given,
                           struct sp_settings *to)
{
    char name[96];
    snprintf(name, sizeof name, "%s", given);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    const bool fp16 = strncmp(name, "fp16_", 5) == 0;
    bool ok = !fp16 || sp_add_setting(to, "--fp16", ""), known = fp16;
    struct sp_spelling as; /* whose `when` is a part of the name */
    const char *list = sp_row_of(from->words, "mixed_precision")->as;
    while (ok && sp_next_spelling(&list, &as))
        if (strstr(name, as.when)) {
            known = true;
            ok = sp_add_setting(to, as.option, as.value);
        }
    if (strstr(name, "fp8") || strstr(name, "fp4")) /* of a scaling that a row has */
        known = sp_has_setting(to, "--fp8-format") || sp_has_setting(to, "--fp4-format");
    return ok && (known || sp_fail_in(to,
                                      "mixed_precision: \"%s\": expected a precision of "
                                      "Megatron-Bridge such as bf16_mixed",
                                      sp_safe(given)));
}

/* The settings that a file of overrides leaves to its recipe. */
static bool take_recipe(const struct sp_settings *from, struct sp_settings *to)
{
    const bool precise = sp_said(to, "--bf16") || sp_said(to, "--fp16") ||
                         sp_said(from, "mixed_precision.fp32") ||
                         sp_said(from, "mixed_precision._target_"),
               sharded = sp_said(from, "ddp.use_distributed_optimizer") ||
                         sp_said(from, "optimizer.use_distributed_optimizer") ||
                         sp_said(to, "--use-megatron-fsdp") || sp_said(to, "--use-torch-fsdp2");
    const bool split = sp_said(to, "--tensor-model-parallel-size");
    if (!precise || !sharded || !split)
        sp_launch_note(from, "a recipe may set more; assumed here:%s%s%s", split ? "" : " TP 1",
                       precise ? "" : " bf16_mixed", sharded ? "" : " the distributed optimizer");
    if (!sp_has_setting(to, "--num-layers") && !sp_has_setting(to, "--hidden-dropout") &&
        !sp_add_setting(to, "--hidden-dropout", "0")) /* as in the classes of named models */
        return false;
    return (precise || sp_add_setting(to, "--bf16", "")) &&
           (sharded || sp_add_setting(to, "--use-distributed-optimizer", ""));
}

/* Adapters: peft.dim for every linear layer, unless set otherwise. */
static void take_adapters(struct sp_settings *from, const struct sp_settings *to)
{
    static const char section[] = "peft.";
    const char *const class = sp_setting(from, "peft._target_"), *const given =
                                                                     sp_setting(from, "peft");
    bool asked = given && !sp_is(given, "None");
    for (int i = 0; i < from->n; i++)
        asked = asked || strncmp(from->at[i].name, section, sizeof section - 1) == 0;
    if (!asked)
        return;
    const struct sp_adapters adapters = {
        .rank = sp_setting_whole(from, "peft.dim", 1, 32),
        .modules = sp_setting(from, "peft.target_modules"),
        .usual_targets = class && strstr(class, "Canonical") ? "all-linear" : "all-linear,fused",
    };
    sp_launch_adapters(from, &adapters);
    if ((class && strstr(class, "DoRA")) || (given && strcasecmp(given, "dora") == 0))
        sp_launch_note(from, "not modelled: DoRA's magnitudes; read as LoRA");
    if (sp_said_whole(to, "--num-experts", 1) > 1 ||
        sp_said_whole(to, "--expert-model-parallel-size", 1) > 1)
        sp_launch_note(
            from, "adapters are counted for each expert; there, the experts of a rank share them");
}

/* Reports that a command starts a recipe of adapters by its name, if its settings have none. */
static void note_recipe(const struct sp_script_command *command, const struct sp_settings *from)
{
    for (int i = 0; command && i + 1 < command->n; i++) {
        const char *const name = command->words[i + 1];
        const bool adapts = strstr(name, "peft") || strstr(name, "lora") || strstr(name, "dora"),
                   chosen = sp_is(command->words[i], "--recipe") ||
                            sp_is(command->words[i], "--peft_scheme");
        if (chosen && adapts && !sp_said(from, "peft.dim") && !sp_said(from, "peft"))
            sp_add_unread(from->launch, "trainable", command->words[i], name, command->lines[i]);
    }
}

/* Options of Megatron-Bridge's scripts/training/run_recipe.py, the fields that they set, and what
 * of a plan they decide. */
static const struct {
    const char *name, *brief, *field, *plan;
} flags[] = {
    {"--tensor_model_parallel_size", "-tp", "model.tensor_model_parallel_size", "tp"},
    {"--pipeline_model_parallel_size", "-pp", "model.pipeline_model_parallel_size", "pp"},
    {"--context_parallel_size", "-cp", "model.context_parallel_size", "cp"},
    {"--virtual_pipeline_model_parallel_size", "-vp", "model.virtual_pipeline_model_parallel_size",
     "vpp"},
    {"--expert_model_parallel_size", "-ep", "model.expert_model_parallel_size", "ep"},
    {"--expert_tensor_parallel_size", "-etp", "model.expert_tensor_parallel_size", "etp"},
    {"--global_batch_size", "-gb", "train.global_batch_size", "batch"},
    {"--micro_batch_size", "-mb", "train.micro_batch_size", "micro-batch"},
    {"--seq_length", "-sl", "model.seq_length", "seq"},
};

bool sp_starts_recipe(const char *word)
{
    return sp_is(sp_base_name(word), "run_recipe.py");
}

bool sp_take_recipe_flags(const struct sp_script *script, struct sp_settings *to)
{
    for (int i = 0; i < script->n; i++) {
        const struct sp_script_command *const command = &script->commands[i];
        bool runs = false, ok = true;
        for (int j = 0; j + 1 < command->n && ok; j++) {
            const char *const value = command->words[j + 1];
            runs = runs || sp_starts_recipe(command->words[j]);
            for (size_t k = 0; runs && ok && k < sizeof flags / sizeof *flags; k++) {
                if (!sp_is(command->words[j], flags[k].name) &&
                    !sp_is(command->words[j], flags[k].brief))
                    continue;
                if (sp_shell_gap_in(&script->shell->text, value))
                    sp_add_unread(to->launch, flags[k].plan, flags[k].name, "(unknown)",
                                  command->lines[j]);
                else
                    ok = sp_add_setting(to, flags[k].field, value);
            }
        }
        if (runs)
            note_recipe(command, to);
        if (runs)
            return ok;
    }
    return true;
}

bool sp_take_bridge(struct sp_settings *from, struct sp_settings *to)
{
    const char *const precision = sp_said(from, "mixed_precision"), *const seq =
                                                                        sp_said(to, "--seq-length");
    /* recipes overlap what replicas exchange: gradients, and weights where ranks share states */
    static const char reduces[] = "--overlap-grad-reduce", gathers[] = "--overlap-param-gather";
    const char *const shares = sp_said(to, "--use-distributed-optimizer");
    if (!sp_said(to, reduces) && !sp_add_setting(to, reduces, "true"))
        return false;
    if (shares && !sp_is(shares, "false") && !sp_said(to, gathers) &&
        !sp_add_setting(to, gathers, "true"))
        return false;
    take_adapters(from, to);
    /* experts are not split by default, and there are as many positions as tokens */
    return (!precision || take_precision(from, precision, to)) && take_recipe(from, to) &&
           (sp_said(to, "--expert-tensor-parallel-size") ||
            sp_said_whole(to, "--expert-model-parallel-size", 1) == 1 ||
            sp_add_setting(to, "--expert-tensor-parallel-size", "1")) &&
           (!seq || sp_said(to, "--max-position-embeddings") ||
            sp_add_setting(to, "--max-position-embeddings", seq));
}
