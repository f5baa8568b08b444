/* ms-swift runs on Hugging Face's Trainer: reads its arguments by the Trainer's names. Names
 * and defaults: swift/arguments and swift/config of modelscope/ms-swift. */
#include "launch/huggingface/swift.h"

#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"

bool sp_is_swift(const struct sp_launch_file *file)
{
    return file->program && sp_is(file->program->framework, "ms-swift");
}

bool sp_tells_swift(const char *word)
{
    char name[SP_ROW_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "= "), word);
    return sp_is_quiet(
        "--model --model_type --model_id_or_path --dataset --tuner_type --train_type "
        "--sft_type --rlhf_type --lora_rank --per_device_train_batch_size "
        "--gradient_accumulation_steps --max_length --deepspeed --torch_dtype --batch_size",
        name);
}

static bool add(struct sp_settings *s, const char *name, const char *value)
{
    return sp_has_setting(s, name) || sp_add_setting(s, name, value);
}

/* The first of some names that is given; NULL: none is. */
static const char *first_of(struct sp_settings *s, const char *const *names, int n)
{
    const char *found = NULL;
    for (int i = 0; i < n; i++) {
        const char *const value = sp_peek_setting(s, names[i]);
        found = found ? found : value;
    }
    return found;
}

/* The trained parts: adapters by default. */
static bool spell_tuner(struct sp_settings *s)
{
    static const char *const names[] = {"tuner_type", "train_type", "sft_type"};
    const char *const said = first_of(s, names, 3), *const type = said ? said : "lora",
                      *const bits = sp_peek_setting(s, "quant_bits"),
                      *const method = sp_peek_setting(s, "quant_method");
    if (!sp_has_word("lora full", type))
        sp_add_unread(s->launch, "trainable", said ? "tuner_type" : "", type, 0);
    if (bits && method && !sp_is(method, "bnb"))
        sp_launch_note(s, "not modelled: quant_method %s", sp_safe(method));
    const bool adapted = sp_is(type, "lora"), older = sp_has_setting(s, "sft_type");
    return sp_add_setting(s, "use_peft", adapted ? "true" : "false") &&
           (!adapted ||
            (add(s, "lora_rank", "8") &&
             add(s, "target_modules", older ? "q_proj,k_proj,v_proj" : "all-linear"))) &&
           (!bits || sp_add_setting(s, sp_is(bits, "8") ? "load_in_8bit" : "load_in_4bit", "true"));
}

/* Names and values of releases before 3.0 as the later ones have them. */
static void spell_older(struct sp_settings *s)
{
    static const char *const names[][2] = {{"batch_size", "per_device_train_batch_size"},
                                           {"dtype", "torch_dtype"},
                                           {"lora_target_modules", "target_modules"}},
                             *const values[][2] = {{"AUTO", "bfloat16"},
                                                   {"bf16", "bfloat16"},
                                                   {"fp16", "float16"},
                                                   {"DEFAULT", "q_proj,k_proj,v_proj"},
                                                   {"ALL", "all-linear"}};
    for (int i = 0; i < s->n; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            if (!sp_is(s->at[i].name, names[j][0]))
                continue;
            snprintf(s->at[i].name, sizeof s->at[i].name, "%s", names[j][1]);
            for (size_t k = 0; k < sizeof values / sizeof *values; k++)
                if (sp_is(s->at[i].value, values[k][0]))
                    snprintf(s->at[i].value, sizeof s->at[i].value, "%s", values[k][1]);
        }
}

bool sp_spell_swift(struct sp_settings *s, int64_t devices)
{
    static const char *const models[] = {"model", "model_id_or_path", "model_type"};
    char steps[24];
    spell_older(s);
    if (sp_is(sp_said(s, "fsdp"), "fsdp2") &&
        !sp_add_setting(s, "fsdp_config.activation_checkpointing", "true"))
        return false;
    const char *const model = first_of(s, models, 3),
                      *const parts = sp_peek_setting(s, "sequence_parallel_size"),
                      *const dtype = sp_said(s, "torch_dtype");
    const int64_t micro = sp_said_whole(s, "per_device_train_batch_size", 1),
                  all = micro * (devices > 0 ? devices : 1);
    snprintf(steps, sizeof steps, "%lld", (long long)(all < 16 ? (16 + all - 1) / all : 1));
    if (sp_has_setting(s, "max_completion_length") || sp_is(sp_said(s, "rlhf_type"), "grpo")) {
        const char *const prompt = sp_peek_setting(s, "max_length");
        if (!prompt)
            sp_add_unread(s->launch, "seq", "the length of prompts", "(left out)", 0);
        if (!add(s, "max_completion_length", "512") ||
            !sp_add_setting(s, "max_prompt_length", prompt ? prompt : "512"))
            return false;
        for (int i = 0; i < s->n; i++)
            if (sp_is(s->at[i].name, "max_length"))
                s->at[i].name[0] = '\0';
    }
    return (!model || sp_add_setting(s, "model_name_or_path", model)) && spell_tuner(s) &&
           (!parts || sp_add_setting(s, "context_parallel_size", parts)) &&
           (dtype || sp_add_setting(s, "torch_dtype", "bfloat16")) &&
           (sp_has_setting(s, "bf16") || sp_has_setting(s, "fp16") ||
            sp_add_setting(s, dtype && sp_has_word("float16 float32", dtype) ? "fp16" : "bf16",
                           "true")) &&
           add(s, "per_device_train_batch_size", "1") &&
           add(s, "gradient_accumulation_steps", steps) && add(s, "gradient_checkpointing", "true");
}
