/* Adapters (LoRA, QLoRA) of launches: names of modules in the frameworks, and of what asks for
 * adapters. Names: peft/tuners/lora/config.py, trl/trainer/model_config.py, LLaMA-Factory's
 * finetuning_args.py, axolotl's schemas, megatron/bridge/peft. */
#include "launch/huggingface/adapters.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/list.h"
#include "launch/fields/hub.h"

/* Modules and their words in --lora-targets. */
static const struct {
    const char *module, *targets;
} modules[] = {
    {"q_proj", "q"},
    {"k_proj", "k"},
    {"v_proj", "v"},
    {"o_proj", "o"},
    {"out_proj", "o"},
    {"gate_proj", "gate"},
    {"up_proj", "up"},
    {"down_proj", "down"},
    {"qkv_proj", "qkv,fused"},
    {"gate_up_proj", "gate,up,fused"},
    {"Wqkv", "qkv,fused"},
    {"W_pack", "qkv,fused"},
    {"c_attn", "qkv,fused"},
    {"query_key_value", "qkv,fused"},
    {"attention.dense", "o"},
    {"dense", "o"},
    {"dense_h_to_4h", "up"},
    {"dense_4h_to_h", "down"},
    {"fc1", "up"},
    {"fc2", "down"},
    {"c_fc", "up"},
    {"w1", "gate"},
    {"w2", "down"},
    {"w3", "up"},
    {"linear_qkv", "qkv,fused"},
    {"linear_q", "q"},
    {"linear_k", "k"},
    {"linear_v", "v"},
    {"linear_proj", "o"},
    {"linear_fc1", "gate,up,fused"},
    {"linear_fc1_gate", "gate"},
    {"linear_fc1_up", "up"},
    {"linear_fc2", "down"},
    {"all", "all-linear"},
    {"all-linear", "all-linear"},
    {"decoder.layers", "all-linear"},
};

/* Settings that only say whether there is an adapter. */
static const char *const asks[] = {"use_peft",    "use_lora", "lora_enable", "enable_lora",
                                   "enable_peft", "lora",     "use_qlora",   "qlora"};

static void append(char *list, size_t size, const char *word)
{
    if (!sp_is_listed(list, word, '\0'))
        sp_append(list, size, "%s%s", list[0] ? "," : "", word);
}

static const char *targets_of(const char *module)
{
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (sp_is(modules[i].module, module))
            return modules[i].targets;
    return NULL;
}

/* Modules of a pattern such as "model.layers.[\\d]+.(mlp|self_attn).(up|q)_proj", by the words
 * between its marks, whole or in front of "_proj"; false: it names none. */
static bool read_pattern(const char *pattern, char *out, size_t size)
{
    static const char marks[] = " ,[]'\"()|\\.*+?^$";
    const bool split = strstr(pattern, ")_proj") != NULL;
    for (size_t n; *pattern; pattern += n) {
        char word[72], each[32];
        pattern += strspn(pattern, marks);
        n = strcspn(pattern, marks);
        snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), pattern);
        const char *targets = targets_of(word);
        if (!targets && split && n > 0) {
            sp_append(word, sizeof word, "_proj");
            targets = targets_of(word);
        }
        while (targets && sp_next_item(&targets, each, sizeof each))
            append(out, size, each);
    }
    return out[0] != '\0';
}

/* Words of a list of modules, "[q_proj, v_proj]" or "q_proj v_proj", as targets. */
static void read_modules(const struct sp_settings *s, const char *list, char *out, size_t size)
{
    static const char between[] = " ,[]'\"()|\t\r\n";
    if (strpbrk(list, "\\|(") && read_pattern(list, out, size)) {
        sp_launch_note(s, "adapters by a pattern: read as adapters in every layer");
        return;
    }
    for (size_t n; *list; list += n) {
        char word[72], each[32];
        list += strspn(list, between);
        n = *list == '#' ? strcspn(list, "\n") : strcspn(list, between);
        if (*list == '#') /* a remark in a list of Python */
            continue;
        const size_t named = n > 0 && list[n - 1] == '.' ? n - 1 : n;
        if (n == 0)
            break;
        snprintf(word, sizeof word, "%.*s", (int)(named < sizeof word ? named : sizeof word - 1),
                 list);
        const char *const star = strrchr(word, '*'), *const dot = strrchr(word, '.'),
                          *const whole = targets_of(word),
                          *const targets =
                              whole ? whole : targets_of(dot && dot[1] ? dot + 1 : word);
        if (!targets)
            sp_launch_note(s, "not modelled: an adapter of %.60s", sp_safe(word));
        else if (!whole && (star || strstr(word, ".layers.")))
            sp_launch_note(s, "adapters of %.60s: read as adapters in every layer", sp_safe(word));
        for (const char *rest = targets; rest && sp_next_item(&rest, each, sizeof each);)
            append(out, size, each);
    }
}

/* Leaves experts out of a list of targets. */
static void drop_experts(char *targets, size_t size)
{
    char kept[96] = "", each[32];
    for (const char *rest = targets; sp_next_item(&rest, each, sizeof each);)
        if (sp_is(each, "all-linear"))
            append(kept, sizeof kept, "q,k,v,o");
        else if (!sp_has_word("gate up down", each))
            append(kept, sizeof kept, each);
    snprintf(targets, size, "%s", kept);
}

/* PEFT adapts separate matrices; the experts of these models are one tensor per layer, which
 * target_parameters names and target_modules do not. */
static bool has_whole_experts(const struct sp_launch *launch)
{
    for (int i = 0; i < launch->options; i++)
        if (sp_is(launch->option[i].name, "model") &&
            strncmp(launch->option[i].value, "gpt-oss", 7) == 0)
            return true;
    return false;
}

void sp_launch_adapters(const struct sp_settings *s, const struct sp_adapters *a)
{
    char targets[96] = "";
    if (a->modules)
        read_modules(s, a->modules, targets, sizeof targets);
    if (a->of_matrices && has_whole_experts(s->launch)) {
        drop_experts(targets, sizeof targets);
        sp_launch_note(s, "its experts are one tensor of a layer: no adapters in them");
    }
    if (a->rank == 0)
        sp_launch_note(s, "no adapter rank: %lld, its tool's default", (long long)a->usual_rank);
    sp_launch_option(s, "trainable", "lora");
    sp_launch_whole(s, "lora-rank", (a->rank > 0 ? a->rank : a->usual_rank));
    sp_launch_option(s, "lora-targets", "%s", targets[0] ? targets : a->usual_targets);
    if (a->base)
        sp_launch_option(s, "base-format", "%s", a->base);
}

static bool is_on(struct sp_settings *s, const char *name)
{
    return sp_setting_on(s, name) && strcasecmp(sp_setting(s, name), "none") != 0;
}

static bool is_one_of(struct sp_settings *s, const char *name, const char *words)
{
    const char *const value = sp_setting(s, name);
    return value && sp_is_quiet(words, value);
}

/* The frozen weights' format by switches of bitsandbytes. LLaMA-Factory and axolotl scale the
 * scales too unless told otherwise, PEFT and TRL do not. */
static const char *base_of(struct sp_settings *s)
{
    const bool four = is_on(s, "load_in_4bit") || is_on(s, "use_4bit_quantization") ||
                      is_one_of(s, "quantization_bit", "4") || is_one_of(s, "bits", "4"),
               eight = is_on(s, "load_in_8bit") || is_on(s, "use_8bit_quantization") ||
                       is_one_of(s, "quantization_bit", "8") || is_one_of(s, "bits", "8");
    static const char *const twice[] = {"bnb_4bit_use_double_quant",
                                        "use_bnb_nested_quant",
                                        "use_nested_quant",
                                        "double_quantization",
                                        "double_quant",
                                        "bnb_config_kwargs.bnb_4bit_use_double_quant"};
    bool nested = sp_setting(s, "quantization_bit") || sp_setting(s, "adapter");
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        nested = sp_setting(s, twice[i]) ? is_on(s, twice[i]) : nested;
    return four ? (nested ? "nf4-double" : "nf4") : eight ? "int8" : NULL;
}

/* Other settings of adapters that change memory or time and are not counted. */
void sp_note_adapters(struct sp_settings *s)
{
    static const char *const others[] = {"use_dora",
                                         "peft_use_dora",
                                         "lora_modules_to_save",
                                         "modules_to_save",
                                         "additional_target",
                                         "lora_layers_to_transform",
                                         "layers_to_transform",
                                         "peft_layers_to_transform",
                                         "unfrozen_parameters",
                                         "rank_pattern",
                                         "relora_steps",
                                         "lora_on_embedding"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_on(s, others[i]) && !sp_is(sp_setting(s, others[i]), "[]") &&
            sp_setting(s, others[i])[0])
            sp_launch_note(s, "not modelled: %s", others[i]);
}

/* The first of some settings that is given; NULL: none is. */
static const char *first_of(struct sp_settings *s, const char *const *names, size_t n)
{
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *const value = sp_setting(s, names[i]);
        found = found ? found : value;
    }
    return found;
}

bool sp_read_adapters(struct sp_settings *s)
{
    static const char *const ranks[] = {"lora_r", "lora_rank", "lora_dim"},
                             *const lists[] = {"lora_target_modules", "lora_target",
                                               "lora_module_name", "target_modules"};
    enum { RANKS = sizeof ranks / sizeof *ranks };
    const bool factory = sp_setting(s, "finetuning_type") || sp_setting(s, "lora_target"),
               all = is_on(s, "lora_target_linear");
    bool asked = is_one_of(s, "finetuning_type", "lora") || is_one_of(s, "adapter", "lora qlora"),
         refused = is_one_of(s, "finetuning_type", "full freeze");
    int64_t rank = 0;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        asked = is_on(s, asks[i]) || asked;
        refused = (sp_setting(s, asks[i]) && !is_on(s, asks[i])) || refused;
    }
    for (int i = 0; i < RANKS; i++)
        if (rank == 0)
            rank = sp_setting_whole(s, ranks[i], 0, 0);
    const char *const list = first_of(s, lists, sizeof lists / sizeof *lists);
    const char *const base = base_of(s);
    if (!asked && (refused || rank == 0)) {
        if (base)
            sp_launch_note(s, "not modelled: weights loaded in %s without adapters", base);
        return false;
    }
    const struct sp_adapters adapters = {
        .rank = rank,
        .usual_rank = sp_setting(s, "use_peft") ? 16 : 8,
        .modules = all ? "all-linear" : list,
        .usual_targets = factory ? "all-linear" : "q,v",
        .base = base,
        .of_matrices = !is_on(s, "target_parameters") && !is_on(s, "lora_target_parameters"),
    };
    sp_launch_adapters(s, &adapters);
    if (!adapters.modules && !factory)
        sp_launch_note(s, "no list of adapted modules: queries and values, as in PEFT for Llama "
                          "and similar models");
    sp_note_adapters(s);
    return true;
}

void sp_read_hub_model(const struct sp_settings *s, const char *given,
                       const struct sp_sources *sources)
{
    char name[96];
    if (sp_find_hub_model(given, sources, name, sizeof name))
        sp_launch_option(s, "model", "%s", name);
    else
        sp_launch_no_model(s, "its model is %.80s",
                           given && given[0] ? sp_safe(given) : "not given");
}

void sp_launch_reference(const struct sp_settings *s, bool adapted, bool away)
{
    const struct sp_launch *const launch = s->launch;
    static const char named[] = "name=";
    const char *model = "model"; /* that is typed, where the launch names none */
    for (int i = 0; i < launch->options; i++)
        if (sp_is(launch->option[i].name, "model"))
            model = launch->option[i].value;
        else if (sp_is(launch->option[i].name, "shape") &&
                 sp_starts_with(launch->option[i].value, named))
            model = launch->option[i].value + strlen(named);
    const int n = (int)strcspn(model, ",");
    sp_launch_option(s, "reference", "%.*s%s", n < 96 ? n : 96, model,
                     adapted ? ":shared-base"
                     : away  ? ":offloaded"
                             : "");
}
