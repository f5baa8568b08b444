/* Hugging Face accelerate: its YAML. The model, the batch and the sequence length are in the
 * training script. Names: accelerate/commands/config and utils/dataclasses.py. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/huggingface/accelerate.h"
#include "launch/fields/assumed.h"
#include "launch/fields/named_files.h"
#include "launch/fields/deciding.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/formats/syntax.h"

static enum sp_match detect(const struct sp_launch_file *file)
{
    bool sections = false; /* which others have too */
    for (int i = 0; i < file->settings.n && !file->script && !file->json; i++) {
        const char *const name = file->settings.at[i].name;
        if (sp_is(name, "distributed_type"))
            return SP_CERTAIN;
        sections = sections || strncmp(name, "fsdp_config.", 12) == 0 ||
                   strncmp(name, "deepspeed_config.", 17) == 0;
    }
    return sections ? SP_LIKELY : SP_NO_MATCH;
}

/* A degree of parallelism_config; its names may contain that of the section. */
static int64_t degree(struct sp_settings *s, const char *name)
{
    char full[72];
    snprintf(full, sizeof full, "parallelism_config.parallelism_config_%s_size", name);
    if (!sp_peek_setting(s, full))
        snprintf(full, sizeof full, "parallelism_config.%s_size", name);
    return sp_setting_whole(s, full, 1, 1);
}

/* Weights and states in fp32, matmuls in the requested format: FSDP's, and DDP's, which
 * casts weights on use. */
static void read_states(struct sp_settings *s)
{
    sp_launch_option(s, "precision", "fp32");
    if (sp_setting_on(s, "mixed_precision")) /* "no" is a name there, and false without quotes */
        sp_launch_option(s, "dtype", "bf16");
}

/* FULL_SHARD and its kin by name or number, or fsdp_reshard_after_forward of version 2. */
static void read_fsdp(struct sp_settings *s, double devices)
{
    static const char strategy[] = "fsdp_config.fsdp_sharding_strategy";
    const char *const name = sp_setting(s, strategy);
    char stage[SP_ROW_WORD] = "3";
    if (sp_setting_off(s, "fsdp_config.fsdp_reshard_after_forward"))
        stage[0] = '2';
    if (name)
        sp_row_ours(sp_row_of(s->words, strategy), name, stage);
    if (strchr(stage, '~'))
        sp_launch_note(s, "%s: shards inside a node; give --fsdp with its size",
                       stage[0] == '3' ? "HYBRID_SHARD" : "HYBRID_SHARD_ZERO2");
    if (!stage[0])
        sp_fail_in(s, "fsdp_sharding_strategy: \"%s\" is not an FSDP strategy", sp_safe(name));
    sp_launch_option(s, "zero", "%.1s", stage[0] ? stage : "3");
    const int64_t copies = degree(s, "dp_replicate");
    const double model = (double)(degree(s, "tp") * degree(s, "cp"));
    const double replicas = devices / ((double)degree(s, "tp") * (double)copies);
    if (copies > 1 && devices > 0 && replicas >= 1 && model > 0)
        sp_launch_option(s, "fsdp", "%.0f", replicas);
    if (sp_setting_on(s, "fsdp_config.fsdp_offload_params"))
        sp_launch_note(s, "not modelled: fsdp_offload_params, weights and states in host memory");
    read_states(s);
}

/* Whether it names a DeepSpeed JSON, which then has the rest. */
static const char deepspeed_file[] = "deepspeed_config.deepspeed_config_file";

/* Reads shards and formats from the JSON; without it neither is known. "auto" means the
 * mixed_precision given here. */
static void read_json(const struct sp_launch_file *file, struct sp_settings *s, const char *name,
                      bool half)
{
    static const char *const formats[] = {"bf16.enabled", "fp16.enabled"};
    const struct sp_typed_names none = {0};
    char said[96];
    size_t length;
    char *const text = sp_read_named(file, name, &length);
    if (!text) {
        snprintf(said, sizeof said, "%.48s (not here)", name);
        sp_add_unread(s->launch, "zero", deepspeed_file, said, 0);
        return;
    }
    struct sp_settings *const json = sp_new_settings(s);
    json->origin = name;
    sp_read_json(text, &none, json);
    for (int i = 0; i < 2; i++)
        half = sp_setting_is(json, formats[i], "true") || half;
    sp_launch_whole(s, "zero", sp_setting_whole(json, "zero_optimization.stage", 0, 0));
    sp_launch_option(s, "precision", "%s",
                     !half                                                        ? "fp32"
                     : sp_setting_is(json, "data_types.grad_accum_dtype", "fp32") ? "mixed18"
                                                                                  : "mixed16");
    if (sp_setting_away(json, "zero_optimization.offload_optimizer.device"))
        sp_launch_option(s, "optimizer-offload", "1");
    if (sp_setting_away(json, "zero_optimization.offload_param.device"))
        sp_launch_note(s, "not modelled: weights in host memory");
    free(json);
    free(text);
}

static void read_deepspeed(struct sp_settings *s)
{
    const bool half =
        sp_setting_is(s, "mixed_precision", "bf16") || sp_setting_is(s, "mixed_precision", "fp16");
    if (!sp_peek_setting(s, deepspeed_file)) {
        sp_launch_whole(s, "zero", sp_setting_whole(s, "deepspeed_config.zero_stage", 0, 2));
        sp_launch_option(s, "precision", "%s", half ? "mixed16" : "fp32");
    }
    if (sp_setting_away(s, "deepspeed_config.offload_optimizer_device"))
        sp_launch_option(s, "optimizer-offload", "1");
    if (sp_setting_away(s, "deepspeed_config.offload_param_device"))
        sp_launch_note(s, "not modelled: weights in host memory");
    if (sp_peek_setting(s, "deepspeed_config.gradient_accumulation_steps"))
        sp_launch_note(s,
                       "gradient_accumulation_steps %s multiplies the script's micro-batch: give "
                       "--batch and --micro-batch",
                       sp_safe(sp_peek_setting(s, "deepspeed_config.gradient_accumulation_steps")));
}

/* DDP: weights and states whole on each device. */
static void read_plain(struct sp_settings *s)
{
    sp_launch_option(s, "zero", "0");
    read_states(s);
}

/* The ranks over which weights and states are sharded, by the kind of training. */
static void read_type(struct sp_settings *s, double devices)
{
    const char *const type = sp_setting(s, "distributed_type");
    if (sp_setting_is(s, "distributed_type", "FSDP"))
        read_fsdp(s, devices);
    else if (sp_setting_is(s, "distributed_type", "DEEPSPEED"))
        read_deepspeed(s);
    else if (sp_setting_is(s, "distributed_type", "MULTI_GPU") ||
             sp_setting_off(s, "distributed_type"))
        read_plain(s);
    else
        sp_fail_in(s, "distributed_type: \"%s\": expected FSDP, DEEPSPEED, MULTI_GPU or NO",
                   type ? sp_safe(type) : "");
    if (sp_setting_is(s, "mixed_precision", "fp8"))
        sp_launch_note(s, "not modelled: mixed_precision fp8; counted in 16 bits");
}

/* Settings that accelerate refuses, and those left unread. */
static bool note_rest(struct sp_settings *s)
{
    sp_note_rules(&(struct sp_rules){.settings = s});
    sp_read_rest(s);
    sp_note_unread(s, "", s->words->quiet);
    return sp_refuse_gaps(s);
}

static void read_beside(struct sp_settings *s, double devices, struct sp_accelerate *said)
{
    said->processes = sp_setting_whole(s, "num_processes", 1, 0);
    said->tp = degree(s, "tp");
    said->cp = degree(s, "cp");
    degree(s, "dp_shard");
    read_type(s, devices);
    if (sp_setting_is(s, "distributed_type", "FSDP"))
        sp_launch_option(s, "framework", "torchtitan");
    if (sp_setting_is(s, "distributed_type", "DEEPSPEED") && sp_peek_setting(s, deepspeed_file))
        snprintf(said->deepspeed, sizeof said->deepspeed, "%s", sp_peek_setting(s, deepspeed_file));
    said->recomputes = sp_setting_on(s, "fsdp_config.fsdp_activation_checkpointing");
    said->casts =
        sp_setting_is(s, "distributed_type", "DEEPSPEED") ||
        (sp_setting_is(s, "distributed_type", "FSDP") && sp_setting_on(s, "mixed_precision"));
    note_rest(s);
}

bool sp_read_accelerate_flags(struct sp_settings *flags, const struct sp_launch_file *file,
                              const char *half, struct sp_accelerate *said)
{
    static const char prefix[] = "fsdp_config.";
    if (!sp_setting_on(flags, "use_fsdp"))
        return false;
    struct sp_settings *const s = sp_new_settings(flags);
    s->words = file->words[2];
    bool ok = sp_add_setting(s, "distributed_type", "FSDP");
    for (int i = 0; i < flags->n && ok; i++) {
        char name[sizeof s->at->name + sizeof prefix];
        const bool of_fsdp = strncmp(flags->at[i].name, "fsdp_", 5) == 0;
        if (!of_fsdp && !sp_is(flags->at[i].name, "mixed_precision"))
            continue;
        snprintf(name, sizeof name, "%s%s", of_fsdp ? prefix : "", flags->at[i].name);
        ok = sp_add_setting(s, name, sp_setting(flags, flags->at[i].name));
    }
    ok = ok && (!half || sp_add_setting(s, "mixed_precision", half));
    if (ok)
        read_beside(s, file->hw ? (double)sp_chips(file->hw) : 0, said);
    free(s);
    return true;
}

bool sp_read_accelerate_beside(const struct sp_launch_file *file, const char *name,
                               const char *half, struct sp_accelerate *said)
{
    const struct sp_typed_names none = {0};
    size_t length;
    char *const text = sp_read_named(file, name, &length);
    struct sp_settings *const s = sp_new_settings(&file->settings);
    s->words = file->words[2];
    s->origin = name;
    if (text && sp_read_yaml(text, &none, s, NULL) &&
        (!half || sp_add_setting(s, "mixed_precision", half)))
        read_beside(s, file->hw ? (double)sp_chips(file->hw) : 0, said);
    free(s);
    free(text);
    return text != NULL;
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const double devices = file->hw ? (double)sp_chips(file->hw) : 0;
    const int64_t processes = sp_setting_whole(s, "num_processes", 1, 0);
    sp_launch_whole(s, "tp", degree(s, "tp"));
    sp_launch_whole(s, "cp", degree(s, "cp"));
    sp_read_cp_kind(s, degree(s, "cp"), "allgather");
    degree(s, "dp_shard");
    sp_launch_option(s, "sp", "off");
    const char *const json = sp_peek_setting(s, deepspeed_file);
    read_type(s, devices);
    if (sp_setting_is(s, "distributed_type", "DEEPSPEED") && json)
        read_json(file, s, json,
                  sp_setting_is(s, "mixed_precision", "bf16") ||
                      sp_setting_is(s, "mixed_precision", "fp16"));
    if (!sp_setting_is(s, "distributed_type", "DEEPSPEED"))
        sp_launch_option(s, "remat", "%s",
                         sp_setting_on(s, "fsdp_config.fsdp_activation_checkpointing") ? "full"
                                                                                       : "none");
    sp_launch_devices(s->launch, sp_setting_whole(s, "num_machines", 1, 1), processes, 0);
    sp_launch_no_model(s, "the model is in the training script");
    if (!sp_take_assumed(file, "torchtitan", "imbalance,fsdp,seq,remat,micro-batch,batch"))
        return false;
    return note_rest(s);
}

const struct sp_target sp_target_accelerate = {
    .words = {"accelerate"},
    .write = sp_write_accelerate,
    .suffix = ".yaml",
    .format = "accelerate settings",
    .detect = detect,
    .read = read,
};
