/* Megatron-LM's arguments as YAML or as dotted "name=value" words: "--flag: value", and the names
 * of its config classes (Megatron-Bridge, Primus, FlagScale) and of NeMo. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/truth.h"
#include "launch/bridge/bridge.h"
#include "launch/fields/deciding.h"
#include "launch/megatron/megatron.h"

/* The name after the last dot of a path. */
static const char *leaf(const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

bool sp_is_megatron_name(const char *name)
{
    return sp_is_quiet("tensor_model_parallel_size pipeline_model_parallel_size "
                       "--tensor-model-parallel-size --num-layers --micro-batch-size "
                       "--pipeline-model-parallel-size",
                       leaf(name));
}

/* Whether NeMo 2 gives a setting of training there: its strategy, and the batches of its data. */
static bool is_nemo2(const char *name)
{
    return sp_starts_with(name, "trainer.strategy.") ||
           sp_is_quiet("data.micro_batch_size data.global_batch_size data.seq_length", name);
}

/* Whether a name is in a part of the file that is about something else. */
static bool is_elsewhere(const char *name)
{
    static const char parts[] = "trainer exp_manager s3_checkpointing nsys_profile sched scheduler "
                                "logger logging checkpoint "
                                "profiling tokenizer data dataset env ENV_VARS METRICS rng dist "
                                "experiment defaults inference "
                                "tensor_inspect hydra wandb lr_scheduler peft";
    const char *const last = leaf(name);
    if (sp_is(last, "vocab_size") || is_nemo2(name))
        return false;
    for (const char *at = name; at < last; at = strchr(at, '.') + 1) {
        char part[32];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(at, "."), at);
        if (sp_is_quiet(parts, part))
            return true;
    }
    return false;
}

static bool add(const struct sp_setting *from, const char *name, const char *value,
                struct sp_settings *to)
{
    if (!sp_add_setting(to, name, value))
        return false;
    struct sp_setting *const setting = &to->at[to->n - 1];
    setting->line = from->line;
    setting->gap_line = from->gap_line;
    memcpy(setting->gap, from->gap, sizeof setting->gap); /* of a switch too: it may be off */
    return true;
}

/* A name of a class as a flag: "num_layers" is "--num-layers". */
static void spell(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s%s", name[0] == '-' ? "" : "--", name);
    for (char *c = out; *c && name[0] != '-'; c++)
        *c = *c == '_' ? '-' : *c;
}

/* The row of Megatron-Bridge's file for a name: the whole path, else the model's field of that
 * name, which NeMo and others have elsewhere. */
static const struct sp_launch_row *row_of(const struct sp_launch_words *bridge, const char *name)
{
    char field[SP_ROW_NAME];
    const struct sp_launch_row *const row = strchr(name, '.') ? sp_row_of(bridge, name) : NULL;
    snprintf(field, sizeof field, "model.%s", leaf(name));
    return row || name[0] == '-' ? row : sp_row_of(bridge, field);
}

/* Reads a setting by its row; a switch that is off sets nothing, except by a separate option. */
static bool take_row(const struct sp_setting *from, const struct sp_launch_row *row,
                     const struct sp_launch_words *flags, struct sp_settings *to)
{
    bool ok = true;
    struct sp_spelling as;
    const char *list = row->as;
    while (ok && sp_next_spelling(&list, &as)) {
        const struct sp_launch_row *const flag = sp_row_of(flags, as.option);
        const bool none = as.when[0] || (flag && flag->takes_none);
        if (as.when[0] ? strcasecmp(as.when, from->value) == 0
                       : !none || sp_yaml_truth(from->value) != 0)
            ok = add(from, as.option, none ? "" : from->value, to);
    }
    return ok;
}

/* The arguments of a setting: by its last name, and by its path or else by that name as a flag; a
 * flag that is off is omitted. */
static bool take(const struct sp_setting *from, struct sp_launch_words *const words[],
                 struct sp_settings *to)
{
    char name[sizeof from->name + 2];
    const char *const last = leaf(from->name);
    const int truth = sp_yaml_truth(from->value); /* 0 is a number here */
    const struct sp_launch_row *const short_name = sp_row_of(words[1], last);
    const struct sp_launch_row *const row = sp_row_of(words[1], from->name);
    if (short_name && !take_row(from, short_name, words[0], to))
        return false;
    if (row && row->as[0])
        return take_row(from, row, words[0], to);
    spell(last, name, sizeof name);
    return truth == 0 || add(from, name, truth == 1 ? "" : from->value, to);
}

/* NeMo: the precision is the trainer's, and the optimizer's name says whether it is sharded. That
 * optimizer, Apex's, overlaps gradients by default, and weights only if overlap_param_sync is set.
 */
static bool take_nemo(struct sp_settings *from, struct sp_settings *to)
{
    const char *const precision = sp_setting(from, "trainer.precision"),
                      *const optimizer = sp_setting(from, "model.optim.name");
    const bool bf16 = precision && strncmp(precision, "bf16", 4) == 0,
               fp16 = precision && strncmp(precision, "16", 2) == 0;
    const struct sp_setting none = {0};
    if ((bf16 && !add(&none, "--bf16", "", to)) || (fp16 && !add(&none, "--fp16", "", to)))
        return false;
    if (!sp_is(optimizer, "distributed_fused_adam"))
        return true;
    const char *const grads = sp_setting(from, "model.optim.overlap_grad_sync"),
                      *const weights = sp_setting(from, "model.optim.overlap_param_sync");
    return add(&none, "--use-distributed-optimizer", "", to) &&
           ((grads && sp_yaml_truth(grads) == 0) || add(&none, "--overlap-grad-reduce", "", to)) &&
           (!weights || sp_yaml_truth(weights) != 1 ||
            add(&none, "--overlap-param-gather", "", to));
}

/* Primus: the defaults of its own trainer_base.yaml. */
static bool take_primus(struct sp_settings *from, struct sp_settings *to)
{
    static const char *const defaults[][2] = {{"--bf16", ""},
                                              {"--micro-batch-size", "2"},
                                              {"--global-batch-size", "128"},
                                              {"--seq-length", "4096"}};
    const struct sp_setting none = {0};
    if (!sp_peek_setting(from, "modules.pre_trainer.framework"))
        return true;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!sp_peek_setting(to, defaults[i][0]) && !(i == 0 && sp_peek_setting(to, "--fp16")) &&
            !add(&none, defaults[i][0], defaults[i][1], to))
            return false;
    return true;
}

/* Megatron-LM's tests of NeMo have the words of its command in a section: as if they stood alone;
 * whether they are NeMo 2's, where a recipe has what they leave out. */
static bool take_section(struct sp_settings *from)
{
    static const char section[] = "MODEL_ARGS.";
    bool nemo2 = false;
    for (int i = 0; i < from->n; i++) {
        char *const name = from->at[i].name, *const rest = name + sizeof section - 1;
        if (!sp_starts_with(name, section) || !strchr(rest, '.'))
            continue;
        memmove(name, rest, strlen(rest) + 1);
        nemo2 = nemo2 || is_nemo2(name);
        if (sp_is(from->at[i].value, "null"))
            snprintf(from->at[i].value, sizeof from->at[i].value, "None");
    }
    return nemo2;
}

bool sp_read_megatron_yaml(struct sp_launch_words *const words[], struct sp_settings *from,
                           struct sp_settings *to)
{
    const char *const plugin = sp_said(from, "trainer.plugins._target_");
    if (plugin && !strstr(plugin, "ixed")) /* a function, bf16_mixed, or MegatronMixedPrecision */
        sp_add_unread(from->launch, "precision", "trainer.plugins", plugin, 0);
    if (take_section(from) && !sp_peek_setting(from, "trainer.precision") && !plugin)
        sp_add_unread(from->launch, "precision", "trainer.plugins", "(left out)", 0);
    const bool spelled = sp_spell_bridge(from), bridge = sp_is_bridge(from) || spelled;
    const char *const offloading = sp_peek_setting(from, "model.cpu_offloading"),
                      *const fp8 = sp_peek_setting(from, "model.fp8");
    to->origin = from->origin;
    for (int i = 0; i < from->n; i++) {
        const struct sp_setting *const setting = &from->at[i];
        if (offloading && sp_yaml_truth(offloading) == 0 &&
            strstr(setting->name, "cpu_offloading_"))
            continue;
        if (fp8 && sp_yaml_truth(fp8) == 0 && strncmp(setting->name, "model.fp8", 9) == 0)
            continue; /* NeMo 1: the others count only with it */
        const struct sp_launch_row *const row = row_of(words[1], setting->name);
        const bool counts = (bridge && row && sp_is(row->name, setting->name)) ||
                            (!is_elsewhere(setting->name) && leaf(setting->name)[0] != '_' &&
                             strncmp(setting->name, "model.optim.", 12) != 0);
        if (counts && !sp_is(setting->name, "model.from_hf_pretrained") &&
            !sp_is(sp_said(from, setting->name), "None") && !take(setting, words, to))
            return false;
    }
    if (sp_peek_setting(from, "trainer.plugins"))
        sp_add_unread(from->launch, "precision", "trainer.plugins", "", 0);
    if (bridge)
        return sp_take_bridge(from, to);
    return take_nemo(from, to) && take_primus(from, to);
}
