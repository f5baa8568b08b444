/* Megatron-LM: an argument list, alone or inside a shell script, as a plan. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/fields/deciding.h"
#include "launch/fields/unread.h"
#include "launch/bridge/bridge.h"
#include "launch/huggingface/adapters.h"
#include "launch/megatron/megatron.h"
#include "launch/shell/flags.h"

/* Replicas that the degrees leave of this many devices; 0 if they do not divide them, or the
 * machine is not known. */
static int64_t replicas_of(struct sp_settings *s, int64_t devices)
{
    static const char *const flags[] = {"--tensor-model-parallel-size",
                                        "--pipeline-model-parallel-size",
                                        "--context-parallel-size"};
    int64_t left = devices;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const int64_t degree = sp_setting_whole(s, flags[i], 1, 1);
        left = left % degree == 0 ? left / degree : 0;
    }
    return left;
}

static const char layout_flag[] = "--pipeline-model-parallel-layout";

/* Chunks of layers on a stage: given, or derived from their layers or letters; 0 if those do not
 * divide. */
static int64_t virtual_stages(struct sp_settings *s)
{
    const char *const layout = sp_setting(s, layout_flag);
    const int64_t chunks = layout ? sp_layout_chunks(layout) : 0;
    const int64_t per_chunk = sp_setting_whole(s, "--num-layers-per-virtual-pipeline-stage", 1, 0);
    const int64_t layers = sp_setting_whole(s, "--num-layers", 1, 0);
    const int64_t pp = sp_plan_whole(s, "pp");
    if (chunks > 0)
        return chunks % pp == 0 ? chunks / pp : 0;
    if (per_chunk == 0)
        return sp_plan_whole(s, "vpp");
    return layers > 0 && layers % (pp * per_chunk) == 0 ? layers / pp / per_chunk : 0;
}

/* Inside of experts Megatron splits matmuls as outside, if it is not told otherwise. */
static void read_experts(struct sp_settings *s)
{
    const int64_t tp = sp_plan_whole(s, "tp");
    const int64_t ep = sp_plan_whole(s, "ep");
    s->launch->etp_is_tp = !sp_setting(s, "--expert-tensor-parallel-size");
    if (sp_setting(s, "--num-experts") || ep > 1)
        sp_launch_whole(s, "etp", sp_setting_whole(s, "--expert-tensor-parallel-size", 1, tp));
}

/* The input table or the loss that counts as a layer leaves its stage with one layer fewer. Both
 * together are the usual split. */
static void read_counted_end(struct sp_settings *s)
{
    const bool table = sp_setting(s, "--account-for-embedding-in-pipeline-split") != NULL,
               loss = sp_setting(s, "--account-for-loss-in-pipeline-split") != NULL;
    const int64_t stages = sp_plan_whole(s, "pp"),
                  layers = sp_setting_whole(s, "--num-layers", 1, 0);
    if (table == loss || stages < 2)
        return;
    if (layers == 0 || (layers + 1) % stages != 0)
        sp_launch_note(s,
                       "--account-for-%s-in-pipeline-split: needs --num-layers that the stages "
                       "divide with it",
                       table ? "embedding" : "loss");
    else
        sp_launch_whole(s, table ? "first-layers" : "last-layers", (layers + 1) / stages - 1);
}

/* Layers of a chunk that do not divide those of a stage, which Megatron-LM refuses. */
static void doubt_chunks(struct sp_settings *s)
{
    static const char flag[] = "--num-layers-per-virtual-pipeline-stage";
    const int64_t layers = sp_setting_whole(s, "--num-layers", 1, 0), pp = sp_plan_whole(s, "pp");
    const long long each = (long long)sp_setting_whole(s, flag, 1, 0);
    char value[64];
    if (layers == 0)
        snprintf(value, sizeof value, "%lld without --num-layers", each);
    else
        snprintf(value, sizeof value, "%lld, which does not divide the layers of a stage, %.6g,",
                 each, (double)layers / (double)pp);
    sp_add_unread(s->launch, "vpp", flag, value, 0);
}

static void read_degrees(struct sp_settings *s)
{
    sp_read_plan_rows(s, true, "");
    read_counted_end(s);
    const char *const layout = sp_setting(s, layout_flag);
    if (layout)
        sp_launch_option(s, "stage-layers", "%s", layout);
    if (layout || sp_setting(s, "--num-layers-per-virtual-pipeline-stage")) {
        const int64_t vpp = virtual_stages(s);
        if (vpp > 0)
            sp_launch_whole(s, "vpp", vpp);
        else if (!layout &&
                 sp_plan_whole(s, "pp") > 1) /* letters are refused where they are read */
            doubt_chunks(s);
    }
    (void)sp_setting_whole(s, "--microbatch-group-size-per-virtual-pipeline-stage", 1, 1);
    /* Megatron runs these two only, whatever framework is typed. */
    if (sp_plan_whole(s, "pp") > 1)
        sp_launch_option(s, "schedule", "%s", virtual_stages(s) == 1 ? "1f1b" : "interleaved");
    read_experts(s);
    const bool apart = sp_plan_whole(s, "tp") > 1;
    sp_launch_option(s, "sp", "%s", sp_setting(s, "--sequence-parallel") && apart ? "on" : "off");
    if (sp_setting(s, "--seq-length"))
        sp_launch_whole(s, "seq", sp_setting_whole(s, "--seq-length", 1, 1));
}

/* The ZeRO stage of a strategy of Megatron's FSDP, or -1. */
static int stage_of(const struct sp_launch_words *words, const char *strategy)
{
    char stage[SP_ROW_WORD];
    sp_row_ours(sp_row_of(words, "--data-parallel-sharding-strategy"), strategy, stage);
    return stage[0] ? stage[0] - '0' : -1;
}

static void read_sharding(struct sp_settings *s, int64_t devices)
{
    const char *const strategy = sp_setting(s, "--data-parallel-sharding-strategy");
    const bool counts = sp_setting(s, "--use-megatron-fsdp") != NULL;
    const char *const optimizer = sp_setting(s, "--optimizer");
    const bool distributed = sp_setting(s, "--use-distributed-optimizer") ||
                             (optimizer && strncmp(optimizer, "dist_", 5) == 0);
    int zero = sp_setting(s, "--use-torch-fsdp2") || counts ? 3 : distributed ? 1 : 0;
    if (sp_setting(s, "--deepspeed") || sp_setting(s, "--zero-stage"))
        zero = (int)sp_setting_whole(s, "--zero-stage", 0, 1);
    if (zero > 3)
        sp_fail_in(s, "--zero-stage: %d: expected 0 to 3", zero);
    const int said = strategy ? stage_of(s->words, strategy) : 0;
    if (strategy && !counts)
        sp_launch_note(s, "--data-parallel-sharding-strategy needs --use-megatron-fsdp: ignored");
    if (strategy && said >= 0 && counts)
        zero = said;
    if (said < 0)
        sp_fail_in(s,
                   "--data-parallel-sharding-strategy: \"%s\": expected no_shard, optim, "
                   "optim_grads or optim_grads_params",
                   sp_safe(strategy));
    sp_launch_option(s, "zero", "%d", zero);
    const int64_t instances = sp_setting_whole(s, "--num-distributed-optimizer-instances", 1, 1);
    const int64_t model = sp_plan_whole(s, "tp") * sp_plan_whole(s, "pp");
    if (instances > 1 && devices > 0 && devices % model == 0 && devices / model % instances == 0)
        sp_launch_whole(s, "fsdp", (devices / model / instances));
    else if (instances > 1)
        sp_launch_note(s, "--num-distributed-optimizer-instances: does not divide the "
                          "replicas of this machine");
}

/* Arguments that tell Megatron's command from others of a script. */
static bool tells(const char *word)
{
    char name[SP_ROW_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "= "), word);
    return sp_is_quiet("--tensor-model-parallel-size --pipeline-model-parallel-size --num-layers "
                       "--hidden-size --num-attention-heads --micro-batch-size --global-batch-size "
                       "--model-parallel-size --seq-length --use-distributed-optimizer "
                       "--rollout-batch-size",
                       name);
}

/* Dotted words, like those after Megatron-Bridge's and NeMo's commands. */
static bool tells_pair(const char *word)
{
    char name[72];
    const size_t n = strcspn(word, "=");
    if (sp_starts_recipe(word))
        return true;
    if (word[n] != '=' || n >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    return sp_is_bridge_name(name) || (strchr(name, '.') && sp_is_megatron_name(name));
}

static enum sp_match detect(const struct sp_launch_file *file)
{
    if (file->script)
        return sp_count_telling(file->script, tells, false) > 0 ||
                       sp_count_telling(file->script, tells_pair, true) > 0
                   ? SP_CERTAIN
                   : SP_NO_MATCH;
    for (int i = 0; i < file->settings.n; i++)
        if (sp_is_megatron_name(file->settings.at[i].name))
            return SP_CERTAIN;
    return sp_is_bridge(&file->settings) ? SP_LIKELY : SP_NO_MATCH;
}

/* The last size of "0:384 200B:768 400B:1152"; 0: none. */
static int64_t last_of_schedule(struct sp_settings *s)
{
    const char *const schedule = sp_setting(s, "--step-batch-size-schedule");
    const char *const last = schedule ? strrchr(schedule, ':') : NULL;
    const long long size = last ? strtoll(last + 1, NULL, 10) : 0;
    return size > 0 && size <= 1000000000 ? size : 0;
}

/* The batch: given, or, as in Megatron, one micro-batch per replica. */
static void read_batch(struct sp_settings *s, int64_t devices)
{
    const int64_t micro = sp_setting_whole(s, "--micro-batch-size", 1, 0),
                  steps = last_of_schedule(s);
    const int64_t replicas = replicas_of(s, devices);
    const int64_t batch = steps > 0 ? steps : micro * replicas;
    const int64_t given = sp_setting_whole(s, "--global-batch-size", 1, batch);
    if (given > 0)
        sp_launch_option(s, "batch", "%lldx", (long long)given);
    if (sp_setting(s, "--rampup-batch-size") || steps > 0)
        sp_launch_note(s, "the batch grows in steps (%s): read as its last size",
                       steps > 0 ? "--step-batch-size-schedule" : "--rampup-batch-size");
}

/* A model by the class of its shape: NeMo 2's "Llama31Config8B" and Megatron-Bridge's
 * "Llama31ModelProvider8B" are "llama3.1-8b". */
static void spell_class(const char *class, char *out, size_t size)
{
    static const char *const kinds[] = {"ModelProvider", "Provider", "Config"};
    const char *const dot = strrchr(class, '.');
    class = dot ? dot + 1 : class;
    const char *kind = NULL, *rest = "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kind; i++)
        if ((kind = strstr(class, kinds[i])) != NULL)
            rest = kind + strlen(kinds[i]);
    size_t n = 0;
    for (const char *c = class; kind && c < kind && n + 4 < size; c++) {
        if (c > class && isdigit((unsigned char)c[-1]) && isdigit((unsigned char)*c))
            out[n++] = '.';
        out[n++] = (char)tolower((unsigned char)*c);
    }
    if (n > 0 && *rest)
        out[n++] = '-';
    for (; *rest && n + 1 < size; rest++)
        out[n++] = (char)tolower((unsigned char)*rest);
    out[n] = '\0';
}

/* The model of a file that names it and holds no shape (Primus, recipes). */
static void read_named_model(struct sp_launch_file *file)
{
    struct sp_model model;
    struct sp_error unknown = {0};
    struct sp_settings *const s = &file->settings;
    char name[96];
    const char *const given = sp_setting(s, "modules.pre_trainer.model"),
                      *const hub = sp_said(s, "model.from_hf_pretrained"),
                      *const config = sp_said(s, "model.config._target_"),
                      *const class = config ? config : sp_said(s, "model._target_");
    if (!s->launch->no_model[0] || !(given || hub || class))
        return;
    if (hub) {
        s->launch->no_model[0] = '\0';
        sp_read_hub_model(s, hub, file->sources);
        return;
    }
    if (given)
        sp_spell_model(given, name, sizeof name);
    else
        spell_class(class, name, sizeof name);
    if (sp_load_model(name, file->sources, &model, &unknown)) {
        s->launch->no_model[0] = '\0';
        sp_launch_option(s, "model", "%s", name);
        sp_launch_note(s, "model %s: read as %s; the file's changes to it are ignored",
                       sp_safe(given ? given : class), name);
    } else {
        sp_launch_no_model(s,
                           given ? "its model is in a separate file, %.60s" : "its model is %.60s",
                           sp_safe(given ? given : class));
    }
}

/* MindSpeed-LLM's adapters: of the modules that are listed, of rank 16 if none is said. */
static bool read_adapters(struct sp_settings *s)
{
    const char *const modules = sp_setting(s, "--lora-target-modules");
    const struct sp_adapters adapters = {
        .rank = sp_setting_whole(s, "--lora-r", 1, 16),
        .modules = modules,
        .usual_targets = "all-linear",
        .base = sp_setting(s, "--qlora") ? "nf4" : NULL,
    };
    if (modules)
        sp_launch_adapters(s, &adapters);
    return modules != NULL;
}

/* Reads the flags. */
static bool read_arguments(struct sp_launch_file *file, struct sp_settings *s)
{
    struct sp_settings *const assumed = &file->assumed;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    if (!sp_read_assumed_lines(file->text, assumed) || !sp_spell_rows(s) ||
        !sp_spell_preferences(file, s) || !sp_spell_slime(file, s, replicas_of(s, devices)))
        return false;
    sp_read_megatron_model(s);
    read_named_model(file);
    read_degrees(s);
    read_batch(s, devices);
    read_sharding(s, devices);
    const int64_t vpp = virtual_stages(s); /* 0: not known */
    sp_read_recompute(s, sp_plan_whole(s, "pp") * (vpp > 0 ? vpp : 1));
    sp_read_megatron_states(s);
    sp_read_execution(s);
    sp_read_preferences(file, s, read_adapters(s));
    sp_read_tp_overlap(s, assumed);
    if (!sp_setting(s, "--num-distributed-optimizer-instances"))
        sp_assume(assumed, "fsdp");
    sp_assume(assumed, "imbalance");
    sp_note_rules(&(struct sp_rules){.settings = s, .devices = devices});
    sp_note_unread(s, "--", s->words->quiet);
    return sp_refuse_gaps(s);
}

/* Whether a script says something; unknown words, which may say more, are refused if it says
 * nothing else, or runs a recipe, whose defaults would take their place. */
static bool is_told(const struct sp_script *script, struct sp_settings *s)
{
    const bool recipe = sp_count_telling(script, sp_starts_recipe, true) > 0,
               told = s->n > 0 || sp_count_telling(script, tells_pair, true) > 0;
    return (told && !recipe) || !sp_refuse_unknown_words(script, s);
}

/* Dotted names and values, of YAML or of a command. */
static bool read_pairs(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings, *const flags = sp_new_settings(s);
    const struct sp_script *const script = file->script;
    s->words = file->words[1];
    const bool ok = (!script || (sp_take_recipe_flags(script, s) && is_told(script, s) &&
                                 sp_read_pairs(script, tells_pair, s))) &&
                    sp_read_megatron_yaml(file->words, s, flags) && read_arguments(file, flags);
    flags->words = file->words[1];
    sp_note_rules(&(struct sp_rules){.settings = flags});
    s->launch->format = "Megatron-LM settings";
    if (sp_setting(s, "trainer.num_nodes") && sp_setting(s, "trainer.devices"))
        sp_launch_devices(s->launch, sp_setting_whole(s, "trainer.num_nodes", 1, 1), 0,
                          sp_setting_whole(s, "trainer.devices", -1, 0));
    if (sp_peek_setting(s, "model.optim.name"))
        sp_launch_note(s, "model.optim is not read: Megatron-LM's states are counted");
    free(flags);
    return ok;
}

static bool read(struct sp_launch_file *file)
{
    if (sp_is_megatron_swift(file))
        return sp_read_megatron_swift(file) && read_arguments(file, &file->settings);
    if (!file->script || sp_count_telling(file->script, tells, false) == 0)
        return read_pairs(file);
    return sp_read_flags(file->script, tells, &file->settings) &&
           read_arguments(file, &file->settings);
}

const struct sp_target sp_target_megatron = {
    .words = {"megatron", "bridge"},
    .write = sp_write_megatron,
    .format = "Megatron-LM arguments",
    .detect = detect,
    .read = read,
};
