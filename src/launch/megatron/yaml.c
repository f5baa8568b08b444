/* Megatron-LM's arguments as YAML or as dotted "name=value" words: "--flag: value", and the names
 * of its config classes (Megatron-Bridge, Primus, FlagScale) and of NeMo. */
#include <string.h>

#include "launch/bridge/bridge.h"
#include "launch/megatron/megatron.h"

/* The name behind the last dot of a path. */
static const char *leaf(const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

bool sp_is_megatron_name(const char *name)
{
    static const char *const own[] = {
        "tensor_model_parallel_size",   "pipeline_model_parallel_size",
        "--tensor-model-parallel-size", "--num-layers",
        "--micro-batch-size",           "--pipeline-model-parallel-size"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(leaf(name), own[i]) == 0)
            return true;
    return false;
}

/* Whether a name stands in a part of the file that is about something else. */
static bool is_elsewhere(const char *name)
{
    static const char parts[] = "trainer exp_manager s3_checkpointing nsys_profile sched scheduler "
                                "logger logging checkpoint "
                                "profiling tokenizer data dataset env ENV_VARS METRICS rng dist "
                                "experiment defaults inference "
                                "tensor_inspect hydra wandb lr_scheduler peft";
    const char *const last = leaf(name);
    if (strcmp(last, "vocab_size") == 0)
        return false;
    for (const char *at = name; at < last; at = strchr(at, '.') + 1) {
        char part[32];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(at, "."), at);
        if (sp_is_quiet(parts, part))
            return true;
    }
    return false;
}

/* Names that stand for other flags: with this value (NULL: any that is on), for `flag` with `gives`
 * (NULL: the same value). "False" alone stands for a value that is off. */
static const struct {
    const char *name, *value, *flag, *gives;
} meanings[] = {
    {"bias", "False", "--disable-bias-linear", ""},
    {"activation", "swiglu", "--swiglu", ""},
    {"activation", "fast-swiglu", "--swiglu", ""},
    {"activation", "geglu", "--swiglu", ""},
    {"activation", "fast-geglu", "--swiglu", ""},
    {"num_query_groups", NULL, "--group-query-attention", ""},
    {"fsdp", NULL, "--use-torch-fsdp2", ""},
};

static bool is_off(const char *value)
{
    return strcasecmp(value, "false") == 0;
}

static bool add(const struct sp_setting *from, const char *name, const char *value,
                struct sp_settings *to, struct sp_error *error)
{
    if (!sp_add_setting(to, name, value, error))
        return false;
    struct sp_setting *const setting = &to->at[to->n - 1];
    setting->line = from->line;
    setting->gap_line = from->gap_line;
    if (value == from->value)
        memcpy(setting->gap, from->gap, sizeof setting->gap);
    return true;
}

/* A name of a class as a flag: "num_layers" is "--num-layers". */
static void spell(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s%s", name[0] == '-' ? "" : "--", name);
    for (char *c = out; *c && name[0] != '-'; c++)
        *c = *c == '_' ? '-' : *c;
}

/* Whether a row is of the field alone, which for the model NeMo and others have elsewhere. */
static bool is_of_model(const struct sp_bridge_path *row, const char *name)
{
    static const char model[] = "model.";
    return strncmp(row->path, model, sizeof model - 1) == 0 && name[0] != '-' &&
           strcmp(row->path + sizeof model - 1, leaf(name)) == 0;
}

/* The row of Megatron-Bridge's table that a name stands at: the whole path, else the model's field
 * of that name. */
static const struct sp_bridge_path *row_of(const char *name)
{
    const struct sp_bridge_path *field = NULL;
    for (size_t i = 0; i < sp_bridge_path_count; i++) {
        const struct sp_bridge_path *const row = &sp_bridge_paths[i];
        if (row->is_read && strcmp(row->path, name) == 0)
            return row;
        if (row->is_read && !field && is_of_model(row, name))
            field = row;
    }
    return field;
}

/* Takes a setting as the rows of its path have it. */
static bool take_rows(const struct sp_setting *from, const struct sp_bridge_path *row,
                      struct sp_settings *to, struct sp_error *error)
{
    bool ok = true;
    for (const struct sp_bridge_path *at = row; at < sp_bridge_paths + sp_bridge_path_count; at++) {
        if (!at->is_read || strcmp(at->path, row->path) != 0)
            continue;
        const bool valued = !at->gives || at->gives[0] == '[';
        if (valued || strcasecmp(at->gives, from->value) == 0)
            ok = ok && add(from, at->flag, valued ? from->value : "", to, error);
    }
    return ok;
}

/* What a setting stands for; a flag that is off is not given. */
static bool take(const struct sp_setting *from, struct sp_settings *to, struct sp_error *error)
{
    char name[sizeof from->name + 2];
    const char *const last = leaf(from->name);
    const bool off = is_off(from->value), on = strcasecmp(from->value, "true") == 0;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const char *const value = meanings[i].value;
        const bool same = strcmp(meanings[i].name, last) == 0 &&
                          (value ? strcasecmp(value, from->value) == 0 : !off);
        const char *const gives = meanings[i].gives ? meanings[i].gives : from->value;
        if (same && !add(from, meanings[i].flag, gives, to, error))
            return false;
    }
    const struct sp_bridge_path *const row = row_of(from->name);
    if (row)
        return take_rows(from, row, to, error);
    spell(last, name, sizeof name);
    return off || add(from, name, on ? "" : from->value, to, error);
}

/* NeMo: the precision is the trainer's, and the optimizer's name says whether it is sharded. */
static bool take_nemo(struct sp_settings *from, struct sp_settings *to, struct sp_error *error)
{
    const char *const precision = sp_setting(from, "trainer.precision"),
                      *const optimizer = sp_setting(from, "model.optim.name");
    const bool bf16 = precision && strncmp(precision, "bf16", 4) == 0,
               fp16 = precision && strncmp(precision, "16", 2) == 0;
    const struct sp_setting none = {0};
    if ((bf16 && !add(&none, "--bf16", "", to, error)) ||
        (fp16 && !add(&none, "--fp16", "", to, error)))
        return false;
    return !optimizer || strcmp(optimizer, "distributed_fused_adam") != 0 ||
           add(&none, "--use-distributed-optimizer", "", to, error);
}

/* Primus: what its own trainer_base.yaml has for what is left out. */
static bool take_primus(struct sp_settings *from, struct sp_settings *to, struct sp_error *error)
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
            !add(&none, defaults[i][0], defaults[i][1], to, error))
            return false;
    return true;
}

bool sp_read_megatron_yaml(struct sp_settings *from, struct sp_settings *to,
                           struct sp_launch *launch, struct sp_error *error)
{
    const bool spelled = sp_spell_bridge(from), bridge = sp_is_bridge(from) || spelled;
    const char *const offloading = sp_peek_setting(from, "model.cpu_offloading");
    to->origin = from->origin;
    for (int i = 0; i < from->n; i++) {
        const struct sp_setting *const setting = &from->at[i];
        if (offloading && is_off(offloading) && strstr(setting->name, "cpu_offloading_"))
            continue;
        const struct sp_bridge_path *const row = row_of(setting->name);
        const bool counts = (bridge && row && strcmp(row->path, setting->name) == 0) ||
                            (!is_elsewhere(setting->name) && leaf(setting->name)[0] != '_' &&
                             strncmp(setting->name, "model.optim.", 12) != 0);
        if (counts && !take(setting, to, error))
            return false;
    }
    if (sp_peek_setting(from, "trainer.plugins"))
        sp_launch_note(launch, "not read: trainer.plugins, which may hold another precision");
    if (bridge)
        return sp_take_bridge(from, to, launch, error);
    return take_nemo(from, to, error) && take_primus(from, to, error);
}
