/* Hugging Face accelerate: its YAML. The model, the batch and the sequence length are in the
 * training script. Names: accelerate/commands/config and utils/dataclasses.py. */
#include <stdlib.h>
#include <string.h>

#include "launch/huggingface/accelerate.h"
#include "launch/fields/assumed.h"
#include "launch/fields/beside.h"
#include "launch/fields/rows.h"
#include "launch/formats/syntax.h"

static enum sp_match detect(const struct sp_launch_file *file)
{
    bool sections = false; /* which others have too */
    for (int i = 0; i < file->settings.n && !file->script && !file->json; i++) {
        const char *const name = file->settings.at[i].name;
        if (strcmp(name, "distributed_type") == 0)
            return SP_CERTAIN;
        sections = sections || strncmp(name, "fsdp_config.", 12) == 0 ||
                   strncmp(name, "deepspeed_config.", 17) == 0;
    }
    return sections ? SP_LIKELY : SP_NO_MATCH;
}

/* A degree of parallelism_config; its names carry that of the section, or do not. */
static int64_t degree(struct sp_settings *s, const char *name, struct sp_error *error)
{
    char full[72];
    snprintf(full, sizeof full, "parallelism_config.parallelism_config_%s_size", name);
    if (!sp_peek_setting(s, full))
        snprintf(full, sizeof full, "parallelism_config.%s_size", name);
    return sp_setting_whole(s, full, 1, 1, error);
}

/* Weights and states in fp32, matmuls in the format that is asked for: FSDP's, and DDP's, which
 * casts weights on use. */
static void read_states(struct sp_settings *s, struct sp_launch *launch)
{
    sp_launch_option(launch, "precision", "fp32");
    if (sp_setting_on(s, "mixed_precision")) /* "no" is a name there, and false without quotes */
        sp_launch_option(launch, "dtype", "bf16");
}

/* FULL_SHARD and its kin by name or number, or fsdp_reshard_after_forward of version 2. */
static void read_fsdp(const struct sp_launch_words *words, struct sp_settings *s, double devices,
                      struct sp_launch *launch, struct sp_error *error)
{
    static const char strategy[] = "fsdp_config.fsdp_sharding_strategy";
    const char *const name = sp_setting(s, strategy);
    char stage[SP_ROW_WORD] = "3";
    if (sp_setting_off(s, "fsdp_config.fsdp_reshard_after_forward"))
        stage[0] = '2';
    if (name)
        sp_row_ours(sp_row_of(words, strategy), name, stage);
    if (strchr(stage, '~'))
        sp_launch_note(launch, "%s: shards inside of a node; give --fsdp with its size",
                       stage[0] == '3' ? "HYBRID_SHARD" : "HYBRID_SHARD_ZERO2");
    if (!stage[0])
        sp_fail(error, SP_INPUT, "%s: fsdp_sharding_strategy: \"%s\": no strategy of FSDP",
                sp_safe(s->origin), sp_safe(name));
    sp_launch_option(launch, "zero", "%.1s", stage[0] ? stage : "3");
    const int64_t copies = degree(s, "dp_replicate", error);
    const double model = (double)(degree(s, "tp", error) * degree(s, "cp", error));
    const double replicas = devices / ((double)degree(s, "tp", error) * (double)copies);
    if (copies > 1 && devices > 0 && replicas >= 1 && model > 0)
        sp_launch_option(launch, "fsdp", "%.0f", replicas);
    if (sp_setting_on(s, "fsdp_config.fsdp_offload_params"))
        sp_launch_note(launch,
                       "not modelled: fsdp_offload_params, weights and states in the host's "
                       "memory");
    read_states(s, launch);
}

/* Where it names a DeepSpeed JSON, which has the rest then. */
static const char deepspeed_file[] = "deepspeed_config.deepspeed_config_file";

static void read_deepspeed(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    static const char *const offloads[] = {"deepspeed_config.offload_optimizer_device",
                                           "deepspeed_config.offload_param_device"};
    const bool half =
        sp_setting_is(s, "mixed_precision", "bf16") || sp_setting_is(s, "mixed_precision", "fp16");
    if (!sp_peek_setting(s, deepspeed_file)) {
        sp_launch_option(
            launch, "zero", "%lld",
            (long long)sp_setting_whole(s, "deepspeed_config.zero_stage", 0, 2, error));
        sp_launch_option(launch, "precision", "%s", half ? "mixed16" : "fp32");
    }
    for (int i = 0; i < 2; i++)
        if (sp_setting(s, offloads[i]) && !sp_setting_is(s, offloads[i], "none"))
            sp_launch_note(launch, "not modelled: %s", offloads[i]);
    if (sp_peek_setting(s, "deepspeed_config.gradient_accumulation_steps"))
        sp_launch_note(launch,
                       "gradient_accumulation_steps %s: counts with the script's "
                       "micro-batch; give --batch and --micro-batch",
                       sp_safe(sp_peek_setting(s, "deepspeed_config.gradient_accumulation_steps")));
}

/* What the comment of an export says beside the options. */
static bool read_assumed(struct sp_launch_file *file, struct sp_launch *launch,
                         struct sp_error *error)
{
    static const char *const carried[] = {"imbalance", "fsdp",        "seq",
                                          "remat",     "micro-batch", "batch"};
    struct sp_settings *const assumed = &file->assumed;
    if (!sp_read_assumed_lines(file->text, assumed, launch, error))
        return false;
    const char *const framework = sp_setting(assumed, "framework");
    sp_launch_option(launch, "framework", "%s", framework ? framework : "torchtitan");
    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++)
        sp_assume(assumed, carried[i], launch);
    if (!sp_peek_setting(assumed, "batch"))
        sp_launch_note(launch, "the batch is in the training script: give --batch and --seq");
    return true;
}

/* DDP: weights and states whole on each device. */
static void read_plain(struct sp_settings *s, struct sp_launch *launch)
{
    sp_launch_option(launch, "zero", "0");
    read_states(s, launch);
}

/* What weights and states are shared over, by the kind of training. */
static void read_type(const struct sp_launch_words *words, struct sp_settings *s, double devices,
                      struct sp_launch *launch, struct sp_error *error)
{
    const char *const type = sp_setting(s, "distributed_type");
    if (sp_setting_is(s, "distributed_type", "FSDP"))
        read_fsdp(words, s, devices, launch, error);
    else if (sp_setting_is(s, "distributed_type", "DEEPSPEED"))
        read_deepspeed(s, launch, error);
    else if (sp_setting_is(s, "distributed_type", "MULTI_GPU") ||
             sp_setting_off(s, "distributed_type"))
        read_plain(s, launch);
    else
        sp_fail(error, SP_INPUT,
                "%s: distributed_type: \"%s\": expected FSDP, DEEPSPEED, MULTI_GPU or NO",
                sp_safe(s->origin), type ? sp_safe(type) : "");
    if (sp_setting_is(s, "mixed_precision", "fp8"))
        sp_launch_note(launch, "not modelled: mixed_precision fp8; counted in 16 bits");
}

/* What accelerate refuses, and what nothing read. */
static bool note_rest(const struct sp_launch_words *words, struct sp_settings *s,
                      struct sp_launch *launch, struct sp_error *error)
{
    struct sp_refusals refused;
    sp_check_accelerate(s, &refused);
    sp_note_refusals("accelerate", &refused, launch);
    sp_note_unread(s, "", words->quiet, launch);
    return sp_refuse_gaps(s, error);
}

static void read_beside(const struct sp_launch_words *words, struct sp_settings *s, double devices,
                        struct sp_accelerate *said, struct sp_launch *launch,
                        struct sp_error *error)
{
    said->processes = sp_setting_whole(s, "num_processes", 1, 0, error);
    said->tp = degree(s, "tp", error);
    said->cp = degree(s, "cp", error);
    degree(s, "dp_shard", error);
    read_type(words, s, devices, launch, error);
    if (sp_setting_is(s, "distributed_type", "FSDP"))
        sp_launch_option(launch, "framework", "torchtitan");
    if (sp_setting_is(s, "distributed_type", "DEEPSPEED") && sp_peek_setting(s, deepspeed_file))
        snprintf(said->deepspeed, sizeof said->deepspeed, "%s", sp_peek_setting(s, deepspeed_file));
    said->recomputes = sp_setting_on(s, "fsdp_config.fsdp_activation_checkpointing");
    note_rest(words, s, launch, error);
}

bool sp_read_accelerate_flags(struct sp_settings *flags, const struct sp_launch_file *file,
                              bool bf16, struct sp_accelerate *said, struct sp_launch *launch,
                              struct sp_error *error)
{
    static const char prefix[] = "fsdp_config.";
    if (!sp_setting_on(flags, "use_fsdp"))
        return false;
    struct sp_settings *const s = calloc(1, sizeof *s); /* too large for the stack */
    if (!s)
        abort();
    s->origin = file->origin;
    bool ok = sp_add_setting(s, "distributed_type", "FSDP", error);
    for (int i = 0; i < flags->n && ok; i++) {
        char name[sizeof s->at->name + sizeof prefix];
        const bool of_fsdp = strncmp(flags->at[i].name, "fsdp_", 5) == 0;
        if (!of_fsdp && strcmp(flags->at[i].name, "mixed_precision") != 0)
            continue;
        snprintf(name, sizeof name, "%s%s", of_fsdp ? prefix : "", flags->at[i].name);
        ok = sp_add_setting(s, name, sp_setting(flags, flags->at[i].name), error);
    }
    ok = ok && (!bf16 || sp_add_setting(s, "mixed_precision", "bf16", error));
    if (ok)
        read_beside(file->words[2], s, file->hw ? (double)sp_chips(file->hw) : 0, said, launch,
                    error);
    free(s);
    return true;
}

bool sp_read_accelerate_beside(const struct sp_launch_file *file, const char *name, bool bf16,
                               struct sp_accelerate *said, struct sp_launch *launch,
                               struct sp_error *error)
{
    const struct sp_typed_names none = {0};
    char path[1024];
    size_t length;
    char *const text = sp_read_beside(file->origin, name, path, sizeof path, &length);
    struct sp_settings *const s = calloc(1, sizeof *s); /* too large for the stack */
    if (!s)
        abort();
    s->origin = name;
    if (text && sp_read_yaml(text, &none, s, NULL, error) &&
        (!bf16 || sp_add_setting(s, "mixed_precision", "bf16", error)))
        read_beside(file->words[2], s, file->hw ? (double)sp_chips(file->hw) : 0, said, launch,
                    error);
    free(s);
    free(text);
    return text != NULL;
}

static bool read(struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    struct sp_settings *const s = &file->settings;
    const int before = error->lines;
    const double devices = file->hw ? (double)sp_chips(file->hw) : 0;
    const int64_t processes = sp_setting_whole(s, "num_processes", 1, 0, error);
    sp_launch_option(launch, "tp", "%lld", (long long)degree(s, "tp", error));
    sp_launch_option(launch, "cp", "%lld", (long long)degree(s, "cp", error));
    degree(s, "dp_shard", error);
    sp_launch_option(launch, "sp", "off");
    const char *const json = sp_peek_setting(s, deepspeed_file);
    read_type(file->words[0], s, devices, launch, error);
    if (sp_setting_is(s, "distributed_type", "DEEPSPEED") && json)
        sp_launch_note(launch, "%.80s is not opened: read it with --from", sp_safe(json));
    if (!sp_setting_is(s, "distributed_type", "DEEPSPEED"))
        sp_launch_option(launch, "remat", "%s",
                         sp_setting_on(s, "fsdp_config.fsdp_activation_checkpointing") ? "full"
                                                                                       : "none");
    launch->devices = processes;
    snprintf(launch->no_model, sizeof launch->no_model,
             "the model is in the training script: give --model");
    return read_assumed(file, launch, error) && note_rest(file->words[0], s, launch, error) &&
           error->lines == before;
}

const struct sp_target sp_target_accelerate = {
    .words = {"accelerate"},
    .write = sp_write_accelerate,
    .format = "accelerate settings",
    .detect = detect,
    .read = read,
};
