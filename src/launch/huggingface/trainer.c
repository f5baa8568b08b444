/* Hugging Face's Trainer: arguments in a script, or its YAML (LLaMA-Factory), with the DeepSpeed
 * JSON whose "auto" values they fill, if it lies beside them. Names: transformers/training_args.py;
 * rules for "auto": transformers/integrations/deepspeed.py. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#include "launch/huggingface/accelerate.h"
#include "launch/huggingface/adapters.h"
#include "launch/huggingface/arguments_file.h"
#include "launch/huggingface/axolotl.h"
#include "launch/huggingface/calls.h"
#include "launch/huggingface/factory.h"
#include "launch/huggingface/swift.h"
#include "launch/huggingface/trainer_json.h"
#include "launch/fields/named_files.h"
#include "launch/fields/deciding.h"
#include "launch/fields/programs.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/formats/syntax.h"
#include "launch/shell/flags.h"
#include "launch/shell/starter.h"

/* Names without dashes; "-" and "_" are the same there. */
static const char mine[] = "per_device_train_batch_size";

static bool tells(const char *word)
{
    char name[sizeof mine] = "";
    if (strncmp(word, "--", 2) != 0)
        return false;
    snprintf(name, sizeof name, "%s", word + 2);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return sp_is(name, mine);
}

/* Whether a YAML that a command names has the Trainer's arguments, or axolotl's. */
static bool names_arguments(const struct sp_launch_file *file)
{
    struct sp_error unread = {0};
    struct sp_settings *const s = sp_new_settings(&file->settings);
    bool here;
    s->error = &unread;
    sp_read_named_yaml(file, s, &here);
    const bool has = here && (sp_has_setting(s, mine) || sp_is_axolotl(s));
    free(s);
    return has;
}

static enum sp_match detect(const struct sp_launch_file *file)
{
    if (file->script)
        return sp_count_telling(file->script, tells, false) > 0 ? SP_CERTAIN
               : names_arguments(file)                          ? SP_LIKELY
                                                                : SP_NO_MATCH;
    if (sp_has_setting(&file->settings, sp_python_class))
        return SP_CERTAIN;
    for (int i = 0; i < file->settings.n; i++)
        if (sp_is(file->settings.at[i].name, mine))
            return SP_CERTAIN;
    return !file->json && sp_is_axolotl(&file->settings) ? SP_CERTAIN : SP_NO_MATCH;
}

/* Whether a program's name has a word. */
static bool has_part(const char *program, const char *part)
{
    static const char marks[] = "_-./";
    const size_t n = strlen(part);
    for (const char *at = program; *at; at += strcspn(at, marks), at += strspn(at, marks))
        if (strcspn(at, marks) == n && strncmp(at, part, n) == 0)
            return true;
    return false;
}

/* How it trains by the script's name (TRL's examples), or by the word behind a command (`trl dpo`);
 * NULL: neither says it. */
static const char *kind_by_name(const struct sp_launch_file *file)
{
    static const char *const kinds[] = {"simpo", "dpo",    "orpo", "kto", "grpo", "ppo",
                                        "rloo",  "reward", "cpo",  "ipo", "rm"};
    enum { anywhere = 8 }; /* the others are parts of usual words */
    int line;
    const char *const program = sp_started_program(file->script, &line);
    const char *const task = sp_started_task(file->script);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sp_is(task, kinds[i]) ||
            (i < anywhere ? strstr(program, kinds[i]) != NULL : has_part(program, kinds[i])))
            return kinds[i];
    return sp_is(task, "rlhf") ? "dpo" : NULL; /* ms-swift's default */
}

/* How it trains: "stage" of LLaMA-Factory with its loss, "rl" of axolotl, or what the launch is
 * called; NULL: on text. */
static const char *kind_of(const struct sp_launch_file *file)
{
    struct sp_settings *const s = (struct sp_settings *)&file->settings;
    const char *const stage = sp_setting(s, "stage"), *const rl = sp_setting(s, "rl"),
                      *const loss = sp_setting(s, "pref_loss"),
                      *const called =
                          sp_setting(s, sp_setting(s, "rlhf_type") ? "rlhf_type" : sp_python_kind),
                      *const said = called ? called : rl;
    if (said)
        return said;
    if (stage && sp_is(stage, "dpo") && loss && sp_has_word("orpo simpo", loss))
        return loss; /* without a reference */
    if (stage)
        return sp_is_quiet("sft pt 0 1 2 3", stage) ? NULL : stage;
    return file->script ? kind_by_name(file) : NULL;
}

/* Preference training holds two answers for each line of data, and a reference if its loss has one:
 * the model itself, or the base of the adapters. */
static bool has_pairs(const char *kind)
{
    return kind && sp_has_word("dpo ipo orpo cpo simpo reward rm", kind);
}

/* The format in which the script loads the model; NULL: it does not state one. */
static const char *loaded_as(struct sp_settings *s)
{
    const char *const dtype = sp_setting(s, "dtype"), *const older = sp_setting(s, "torch_dtype");
    return dtype ? dtype : older;
}

/* The format of weights and states: the one in which the model is loaded, by default fp32; FSDP in
 * mixed precision always keeps them in fp32. */
static void read_weights(struct sp_settings *s, bool half, bool fsdp, bool adapted)
{
    const char *const loaded = loaded_as(s);
    const bool pure = sp_setting_on(s, "pure_bf16"); /* LLaMA-Factory's */
    const bool wide = !pure && (!loaded || sp_has_word("float32 fp32", loaded));
    if (!pure && !wide && sp_is(loaded, "auto"))
        sp_launch_note(s, "weights are loaded in the checkpoint's format: 16 bits are assumed");
    if (!wide && !(half && fsdp))
        sp_launch_option(s, "precision", "pure-bf16");
    else if (!half)
        sp_launch_option(s, "precision", "fp32");
    if (!loaded && !pure && !half)
        sp_launch_note(s, "neither bf16, fp16 nor torch_dtype is set: fp32, as in the Trainer");
    else if (wide && half && !fsdp && !adapted)
        sp_launch_note(s, "bf16 or fp16 with DDP: weights stay in fp32 and are cast on use; give "
                          "--precision");
}

/* The stage of FSDP by its words, by the strategy of fsdp_config, or that of its version 2. */
static int stage_of(struct sp_settings *s, const char *fsdp)
{
    static const char *const names[] = {"fsdp_config.sharding_strategy",
                                        "fsdp_config.fsdp_sharding_strategy"};
    static const char *const keeps[] = {"fsdp_config.reshard_after_forward",
                                        "fsdp_config.fsdp_reshard_after_forward"};
    bool half = strstr(fsdp, "shard_grad_op") != NULL, none = strstr(fsdp, "no_shard") != NULL;
    for (size_t i = 0; i < 2; i++) {
        const bool whole = sp_setting_off(s, keeps[i]);
        half = sp_setting_is(s, names[i], "SHARD_GRAD_OP") || half || whole;
        none = sp_setting_is(s, names[i], "NO_SHARD") || none;
    }
    return none ? 0 : half ? 2 : 3;
}

/* The same where accelerate's file has the sharding. */
static void read_loaded(struct sp_settings *s, const struct sp_accelerate *said)
{
    const char *const loaded = loaded_as(s);
    if (loaded && !said->casts && !sp_has_word("float32 fp32", loaded))
        sp_launch_option(s, "precision", "pure-bf16");
}

/* Without DeepSpeed: FSDP by its words, or DDP. */
static void read_sharding(struct sp_settings *s, bool adapted)
{
    const char *const fsdp = sp_setting(s, "fsdp");
    if (sp_setting(s, "zero_stage")) { /* a script that makes DeepSpeed's JSON itself */
        sp_launch_whole(s, "zero", sp_setting_whole(s, "zero_stage", 0, 0));
        sp_launch_option(s, "precision", "mixed16");
        sp_peek_setting(s, "torch_dtype"); /* it casts what was loaded */
        sp_peek_setting(s, "bf16");
        sp_peek_setting(s, "fp16");
        return;
    }
    const bool fp16 = sp_setting_on(s, "fp16"), half = sp_setting_on(s, "bf16") || fp16;
    sp_launch_whole(s, "zero", fsdp && fsdp[0] ? stage_of(s, fsdp) : 0);
    if ((fsdp && strstr(fsdp, "offload")) || sp_setting_on(s, "fsdp_config.offload_params") ||
        sp_setting_on(s, "fsdp_config.fsdp_offload_params"))
        sp_launch_note(s, "not modelled: fsdp offload, weights and states in host memory");
    if (fsdp && strstr(fsdp, "hybrid"))
        sp_launch_note(s, "fsdp hybrid_shard: shards inside a node; give --fsdp");
    if (fsdp && fsdp[0])
        sp_launch_option(s, "framework", "torchtitan");
    read_weights(s, half, fsdp && fsdp[0], adapted);
}

/* The batch if no DeepSpeed JSON has it: that of each device, times the sequences per line and the
 * accumulated passes. */
static void read_batch(struct sp_launch_file *file, int64_t sequences)
{
    struct sp_settings *const s = &file->settings;
    const int64_t micro = sequences * sp_setting_whole(s, mine, 1, 8),
                  steps = sp_setting_whole(s, "gradient_accumulation_steps", 1, 1);
    const int64_t tp = sp_setting_whole(s, "tensor_parallel_size", 1, 1),
                  cp = sp_setting_whole(s, "context_parallel_size", 1, 1);
    sp_launch_whole(s, "micro-batch", micro);
    if (tp > 1)
        sp_launch_whole(s, "tp", tp);
    if (cp > 1)
        sp_launch_whole(s, "cp", cp);
    if (!file->hw || sp_chips(file->hw) % (tp * cp) != 0)
        return;
    const int64_t replicas = sp_chips(file->hw) / (tp * cp);
    sp_launch_option(s, "batch", "%.0fx", (double)micro * (double)steps * (double)replicas);
}

/* LLaMA-Factory, whose YAML says how and for what it trains, recomputes layers unless told not to.
 */
static bool runs_again(struct sp_settings *s)
{
    static const char *const shards[] = {"fsdp_config.activation_checkpointing",
                                         "fsdp_config.fsdp_activation_checkpointing",
                                         "grad_checkpoint"}; /* InternVL's */
    bool again = sp_setting_on(s, "gradient_checkpointing");
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++)
        again = sp_setting_on(s, shards[i]) || again;
    return again || (sp_setting(s, "finetuning_type") &&
                     !sp_setting_on(s, "disable_gradient_checkpointing"));
}

static void read_kind(struct sp_settings *s, const char *kind, bool adapted)
{
    const char *const type = sp_setting(s, "finetuning_type");
    if (kind && sp_has_word("dpo ipo", kind))
        sp_launch_reference(s, adapted, false);
    if (has_pairs(kind))
        sp_launch_note(s, "%s: a line of data is two sequences, chosen and rejected",
                       sp_safe(kind));
    else if (kind)
        sp_launch_note(s, "not modelled: %s; read as training on text", sp_safe(kind));
    if (type && !sp_is_quiet("lora full", type))
        sp_add_unread(s->launch, "trainable", "finetuning_type", type, 0);
}

/* Sequences of a rollout are prompts and answers. TRL cut prompts at 512 tokens until 2026, unless
 * told otherwise, and cuts answers. False: there is no rollout. */
static bool read_rollout(struct sp_settings *s)
{
    const bool answers = sp_setting(s, "max_completion_length") != NULL;
    if (!answers && !sp_setting(s, "num_generations"))
        return false;
    if (!answers)
        sp_launch_note(s, "no max_completion_length: 512, as in TRL since July 2026 (before: 256)");
    if (!sp_setting(s, "max_prompt_length"))
        sp_launch_note(s, "no max_prompt_length: 512, as in TRL until 2026");
    sp_launch_whole(s, "seq",
                    sp_setting_whole(s, "max_prompt_length", 1, 512) +
                        sp_setting_whole(s, "max_completion_length", 1, 512));
    return true;
}

/* Whether TRL's own command or example scripts run it. */
static bool is_trl(const struct sp_launch_file *file)
{
    int line;
    const char *const program = file->script ? sp_started_program(file->script, &line) : "";
    return sp_is(program, "trl") || strstr(program, "trl/") || strstr(program, "trl.");
}

static void read_habits(struct sp_settings *s, bool again, bool trl)
{
    static const char *const lengths[] = {"max_seq_length", "cutoff_len", "model_max_length",
                                          "block_size",     "max_length", "max_seq_len"};
    static const char *const optimizers[] = {"use_galore", "use_apollo", "use_badam", "use_muon",
                                             "use_adam_mini"}; /* LLaMA-Factory's */
    const char *const optim = sp_setting(s, "optim");
    bool said = false;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (sp_setting(s, lengths[i])) {
            sp_launch_whole(s, "seq", sp_setting_whole(s, lengths[i], 1, 1));
            said = true;
        }
    said = read_rollout(s) || said;
    if (!said && sp_setting(s, "finetuning_type"))
        sp_launch_whole(s, "seq", 2048); /* cutoff_len of LLaMA-Factory */
    else if (!said && trl)
        sp_launch_whole(s, "seq", 1024); /* TRL's, by arguments too */
    else if (!said && sp_said_whole(s, sp_python_length, 0) > 0)
        sp_launch_whole(s, "seq", sp_said_whole(s, sp_python_length, 0));
    sp_launch_option(s, "remat", runs_again(s) || again ? "full" : "none");
    if (optim && strstr(optim, "8bit"))
        sp_launch_option(s, "set", "precision.optimizer_bytes=2");
    else if (sp_said(s, "optim") && !strstr(optim, "adamw"))
        sp_read_optimizer(s, "optim", optim, 0);
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        if (sp_setting_on(s, optimizers[i]))
            sp_read_optimizer(s, optimizers[i], optimizers[i] + strlen("use_"), 0);
}

/* Removes leading dashes, and writes those inside names as "_". */
static void spell_names(struct sp_settings *s)
{
    for (int i = 0; i < s->n; i++) {
        char *const name = s->at[i].name;
        if (strncmp(name, "--", 2) == 0)
            memmove(name, name + 2, strlen(name + 2) + 1);
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
    }
}

/* DeepSpeed's files that frameworks ship have their stage in their name; ms-swift's are just
 * "zero2" (before 3.0 "default-zero2"). */
static bool take_shipped(struct sp_settings *s, const char *name)
{
    static const char axolotl[] = "deepspeed_configs/zero", factory[] = "ds_z", swift[] = "zero";
    name += sp_starts_with(name, "default-zero") ? strlen("default-") : 0;
    const char *at = strstr(name, axolotl), *const other = strstr(name, factory),
               *const stage = at      ? at + sizeof axolotl - 1
                              : other ? other + sizeof factory - 1
                              : sp_starts_with(name, swift) && !strchr(name, '.')
                                  ? name + sizeof swift - 1
                                  : "";
    if (*stage < '0' || *stage > '3')
        return false;
    sp_launch_whole(s, "zero", *stage - '0');
    sp_launch_note(s, "%.80s was not found: ZeRO %c is assumed from its name", sp_safe(name),
                   *stage);
    if (strstr(stage, "offload"))
        sp_launch_option(s, "optimizer-offload", "1");
    sp_peek_setting(s, "torch_dtype"); /* DeepSpeed casts what was loaded */
    sp_peek_setting(s, "dtype");
    return true;
}

/* A file that is named but missing, which states over what weights and states are sharded. */
static void miss_file(struct sp_settings *s, const char *key, const char *name)
{
    char value[96];
    const bool half = sp_setting_on(s, "bf16") || sp_setting_on(s, "fp16");
    sp_launch_option(s, "precision", "%s", half ? "mixed16" : "fp32");
    if (take_shipped(s, name))
        return;
    snprintf(value, sizeof value, "%.48s (not here)", name);
    sp_add_unread(s->launch, "zero", key, value, 0);
}

/* The processes that a configuration of accelerate starts. */
static void count_processes(const struct sp_launch_file *file, const char *name)
{
    const struct sp_typed_names none = {0};
    struct sp_settings *const s = sp_new_settings(&file->settings);
    struct sp_launch *const launch = file->settings.launch;
    struct sp_error unread = {0};
    size_t length;
    char *const text = sp_read_named(file, name, &length);
    s->error = &unread;
    if (text && sp_read_yaml(text, &none, s, NULL)) {
        const char *const ids = sp_setting(s, "gpu_ids");
        launch->config.processes = sp_setting_whole(s, "num_processes", 1, 0);
        launch->config.machines = sp_setting_whole(s, "num_machines", 1, 1);
        launch->config.ids = ids && !sp_is(ids, "all") ? sp_count_ids(ids) : 0;
        snprintf(launch->config.name, sizeof launch->config.name, "%.71s", name);
    }
    free(text);
    free(s);
}

/* Reads the settings that `accelerate launch --config_file` names, if the script's own arguments
 * leave sharding to them; returns whether they do. */
static bool read_accelerate(struct sp_launch_file *file, bool shared, struct sp_accelerate *said)
{
    struct sp_settings *const s = &file->settings;
    char degree[24], name[sizeof s->at->value];
    const char *const given = sp_launcher_file(s, "config_file", name, sizeof name);
    if (shared && !given)
        return false;
    const char *const half = sp_setting_on(s, "bf16")   ? "bf16"
                             : sp_setting_on(s, "fp16") ? "fp16"
                                                        : NULL;
    if (!shared && sp_read_accelerate_flags(s, file, half, said))
        return true;
    if (!given)
        return false;
    count_processes(file, name);
    if (shared)
        return false;
    if (!sp_read_accelerate_beside(file, name, half, said)) {
        miss_file(s, "config_file", name);
        return true;
    }
    const struct {
        const char *name;
        int64_t degree;
    } degrees[] = {{"tensor_parallel_size", said->tp}, {"context_parallel_size", said->cp}};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        snprintf(degree, sizeof degree, "%lld", (long long)degrees[i].degree);
        if (degrees[i].degree > 1)
            sp_add_setting(s, degrees[i].name, degree);
    }
    return true;
}

/* Takes the arguments of a script: of the YAML that its command names, and over them its own. */
static bool read_script(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    bool here;
    const bool swift = sp_is_swift(file),
               own = swift || sp_count_telling(file->script, tells, false) > 0;
    const char *const named = sp_read_named_yaml(file, s, &here);
    if (!own && named && !here)
        return sp_refuse_empty(file, named);
    const int before = s->n;
    if (here && !sp_read_pairs(file->script, sp_names_yaml, s))
        return false;
    for (int i = before; i < s->n; i++) /* the YAML itself is read */
        if (sp_is(s->at[i].name, "config_file"))
            s->at[i].name[0] = '\0';
    return sp_read_flags(file->script,
                         swift ? sp_tells_swift
                         : own ? tells
                               : sp_names_yaml,
                         s) &&
           (own || here || s->n > before || sp_refuse_empty(file, NULL));
}

static bool says_fp32(const struct sp_launch *launch)
{
    bool wide = false;
    for (int i = 0; i < launch->options; i++)
        if (sp_is(launch->option[i].name, "precision"))
            wide = sp_is(launch->option[i].value, "fp32");
    return wide;
}

/* `accelerate launch --mixed_precision X` counts where the script's own arguments state no format.
 */
static bool take_launchers(struct sp_settings *s)
{
    const char *const said = sp_peek_setting(s, "mixed_precision"); /* the script follows */
    const bool own = sp_setting_on(s, "use_fsdp") || sp_setting(s, "config_file"),
               half = sp_has_setting(s, "bf16") || sp_has_setting(s, "fp16");
    if (!said || own || half)
        return true;
    return (strncmp(said, "bf16", 4) != 0 && strncmp(said, "fp16", 4) != 0) ||
           sp_add_setting(s, said[0] == 'b' ? "bf16" : "fp16", "true");
}

/* The DeepSpeed JSON that the arguments name, or those of `accelerate launch`; NULL: none does. */
static const char *find_deepspeed(struct sp_settings *s, char *out, size_t size)
{
    const char *const own = sp_setting_file(s, "deepspeed");
    return own ? own : sp_launcher_file(s, "deepspeed_config_file", out, size);
}

/* Weights that adapters leave as the model was loaded, where nothing states the format. */
static void note_frozen(struct sp_settings *s)
{
    static const char *const said[] = {"torch_dtype", "dtype", "load_in_4bit", "load_in_8bit"};
    bool told = !sp_has_setting(s, "bf16") && !sp_has_setting(s, "fp16");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        told = told || sp_has_setting(s, said[i]);
    if (!told)
        sp_launch_note(s, "no torch_dtype: frozen weights are counted in 16 bits; transformers "
                          "before 5 loads them in fp32");
}

/* The model by the Trainer's name for it, or by the names that users' own scripts give it. */
static const char *named_model(struct sp_settings *s)
{
    static const char *const keys[] = {"model_name_or_path", "model_name", "model",
                                       "model_id",           "model_path", "base_model_name"};
    const char *named = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !named; i++)
        named = sp_peek_setting(s, keys[i]);
    return named;
}

/* The processes that a launcher starts for a YAML, as open-r1's recipes say. */
static void read_processes(const struct sp_launch_file *file)
{
    const struct sp_settings *const s = &file->settings;
    const int64_t processes = sp_said_whole(s, "num_processes", 0);
    if (!file->script && processes > 0)
        sp_launch_devices(s->launch, sp_said_whole(s, "num_machines", 1), processes, 0);
}

static bool read(struct sp_launch_file *file)
{
    const struct sp_launch_words *const words = file->words[0];
    struct sp_settings *const s = &file->settings;
    const char *const idle = sp_idle_program(file->script);
    if (idle)
        return sp_fail_in(s, "it trains nothing: %s", idle);
    if (file->script && !read_script(file))
        return false;
    if (file->script)
        sp_doubt_launcher(file->script, s->command, s->launch);
    spell_names(s);
    if (sp_has_setting(s, "finetuning_type") && !sp_is_factory(s) && !sp_setting_on(s, "do_train"))
        return sp_fail_in(s, "it trains nothing: do_train is not set");
    read_processes(file);
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    const bool axolotl = sp_is_axolotl(s);
    if (!sp_spell_axolotl(s) || !take_launchers(s) || !sp_spell_factory(s, devices) ||
        (sp_is_swift(file) && !sp_spell_swift(s, devices)))
        return false;
    char by_launcher[sizeof s->at->value];
    const char *const named = find_deepspeed(s, by_launcher, sizeof by_launcher),
                      *json = named && named[0] ? named : NULL;
    sp_read_hub_model(s, named_model(s), file->sources);
    const bool adapted = sp_read_adapters(s);
    const char *const fsdp = sp_setting(s, "fsdp");
    struct sp_accelerate said = {0};
    const bool shared = json || (fsdp && fsdp[0]) || sp_setting(s, "zero_stage"),
               named_there = read_accelerate(file, shared, &said);
    json = said.deepspeed[0] ? said.deepspeed : json;
    const char *const kind = kind_of(file);
    const int64_t pairs = has_pairs(kind) ? 2 : 1;
    const bool filled = json && sp_read_trainer_json(file, json, pairs);
    if (filled && !says_fp32(s->launch)) { /* DeepSpeed casts what was loaded */
        sp_peek_setting(s, "torch_dtype");
        sp_peek_setting(s, "dtype");
    }
    if (!filled)
        read_batch(file, pairs);
    if (json && !filled)
        miss_file(s, "deepspeed", json);
    else if (!json && !named_there)
        read_sharding(s, adapted);
    else if (!json && said.tp > 0) /* its file is here */
        read_loaded(s, &said);
    read_habits(s, said.recomputes, is_trl(file));
    read_kind(s, kind, adapted);
    const bool own =
        sp_setting(s, "finetuning_type") || axolotl || sp_is_swift(file) || sp_is_factory(s);
    if (adapted && !own && !filled)
        note_frozen(s);
    if (!file->script && !file->started && !own && !shared)
        sp_launch_note(
            s, "its launcher is unknown: DDP is assumed; for FSDP or DeepSpeed give --zero");
    sp_read_rest(s);
    sp_note_rows(s);
    sp_note_unread(s, "", words->quiet);
    return true;
}

const struct sp_target sp_target_trainer = {
    .words = {"trainer", "deepspeed", "accelerate"},
    .format = "Trainer arguments",
    .detect = detect,
    .read = read,
};
