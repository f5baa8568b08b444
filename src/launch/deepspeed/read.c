/* DeepSpeed: its JSON configuration. Keys: deepspeed/runtime/constants.py and zero/config.py. The
 * model, its checkpoints and the sequence length are in the training script, not in this file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/deepspeed/deepspeed.h"

static bool is_auto(struct sp_settings *s, const char *name)
{
    return sp_setting_is(s, name, "auto");
}

static void note_auto(const struct sp_settings *s, const char *name)
{
    sp_launch_note(s, "%s is \"auto\": set by the options", name);
}

/* A whole number of the file; 0 when it is not given or "auto". */
static int64_t whole(struct sp_settings *s, const char *name)
{
    const char *const text = sp_setting(s, name);
    char *end;
    if (!text)
        return 0;
    if (is_auto(s, name)) {
        note_auto(s, name);
        return 0;
    }
    const double value = strtod(text, &end);
    if (text[0] && !*end && value >= 0 && value <= 1e9 && value == floor(value))
        return (int64_t)value;
    sp_fail_in(s, "%s: expected a whole number from 0 to 10^9, or \"auto\"", name);
    return 0;
}

/* A degree of the plan by its row, as an option of `step`. */
static int64_t read_degree(struct sp_settings *s, const char *plan)
{
    const int64_t said = whole(s, sp_row_of_plan(s->words, plan, NULL)->name),
                  degree = said > 0 ? said : 1;
    sp_launch_whole(s, plan, degree);
    return degree;
}

enum { BATCH, MICRO, STEPS, PARTS };
static const char *const batch_keys[PARTS] = {"train_batch_size", "train_micro_batch_size_per_gpu",
                                              "gradient_accumulation_steps"};

/* Whichever of batch, micro-batch and accumulation is left out follows from the rest, as
 * DeepSpeed's _set_batch_related_parameters has it. False when the parts do not make the batch.
 * train_batch_size counts the ranks of TP, because DeepSpeedConfig checks it before AutoTP
 * exists. */
static bool close_batch(double given[PARTS], double replicas)
{
    double *const batch = &given[BATCH], *const micro = &given[MICRO], *const steps = &given[STEPS];
    if (*batch > 0 && *micro > 0 && !(*steps > 0))
        *steps = *batch / *micro / replicas;
    else if (*batch > 0 && !(*micro > 0))
        *micro = *batch / fmax(1, *steps) / replicas;
    if (!(*steps > 0))
        *steps = 1;
    if (!(*batch > 0))
        *batch = *micro * *steps * replicas;
    return *steps == floor(*steps) && *micro == floor(*micro) &&
           *batch == *micro * *steps * replicas;
}

static void refuse_batch(struct sp_settings *s, const double given[PARTS], int64_t ranks)
{
    char parts[160] = "";
    for (int i = MICRO; i < PARTS; i++)
        if (sp_setting(s, batch_keys[i]))
            sp_append(parts, sizeof parts, "%s %.0f x ", batch_keys[i], given[i]);
    sp_fail_in(s, "train_batch_size %.0f is %s %s%lld ranks", given[BATCH],
               given[MICRO] > 0 && given[STEPS] > 0 ? "not" : "not a multiple of", parts,
               (long long)ranks);
}

/* The batch in sequences: given, or the product of its parts. "auto" is left to the trainer, so
 * nothing follows from its neighbours except a product. `ranks` excludes those of context
 * parallelism: DeepSpeedConfig has train_batch_size count each of the `tp` ranks that share a
 * sequence. */
static void read_batch(struct sp_settings *s, int64_t ranks, int64_t tp)
{
    const int before = s->error->lines;
    double said[PARTS], given[PARTS];
    for (int i = 0; i < PARTS; i++)
        said[i] = given[i] = is_auto(s, batch_keys[i]) ? 0 : (double)whole(s, batch_keys[i]);
    const bool automatic = is_auto(s, batch_keys[MICRO]) || is_auto(s, batch_keys[STEPS]);
    if (s->error->lines > before)
        return;
    const bool known = given[BATCH] > 0 || (given[MICRO] > 0 && ranks > 0);
    if (known && (automatic || ranks == 0)) {
        if (!(given[BATCH] > 0))
            given[BATCH] = given[MICRO] * fmax(1, given[STEPS]) * (double)ranks;
    } else if (known && !close_batch(given, (double)ranks)) {
        refuse_batch(s, said, ranks);
        return;
    }
    for (int i = MICRO; i < PARTS; i++)
        if (is_auto(s, batch_keys[i]) && given[BATCH] > 0)
            note_auto(s, batch_keys[i]);
    if (given[MICRO] > 0)
        sp_launch_option(s, "micro-batch", "%.0f", given[MICRO]);
    if (given[BATCH] > 0)
        sp_launch_option(s, "batch", "%.0fx", fmax(1, floor(given[BATCH] / (double)tp)));
    if (given[BATCH] > 0 && tp > 1)
        sp_launch_note(s, "train_batch_size counts each of the %lld tensor-parallel ranks",
                       (long long)tp);
}

/* Gradients are in the model's format if data_types names none (get_data_types of DeepSpeed's
 * engine.py). For "auto", Hugging Face's trainer fills in its own arguments: bf16 as a rule.
 * `bfloat16` is an older name of `bf16`. */
static void read_precision(struct sp_settings *s)
{
    static const char *const formats[] = {"bf16.enabled", "bfloat16.enabled", "fp16.enabled"};
    static const char grads[] = "data_types.grad_accum_dtype";
    bool half = false;
    for (int i = 0; i < 3; i++) {
        half = half || sp_setting_is(s, formats[i], "true");
        if (!half && is_auto(s, formats[i])) {
            half = true;
            sp_launch_note(s, "%s is \"auto\": read as true", formats[i]);
        }
    }
    const bool full = sp_setting_is(s, grads, "fp32") || sp_setting_is(s, grads, "float32");
    sp_launch_option(s, "precision", !half ? "fp32" : full ? "mixed18" : "mixed16");
}

static void read_zero(struct sp_settings *s)
{
    const int64_t stage = sp_setting_is(s, "zero_optimization",
                                        "true") /* the spelling of older versions */
                              ? 1
                              : whole(s, "zero_optimization.stage"),
                  group = whole(s, "zero_optimization.mics_shard_size");
    if (stage > 3)
        sp_fail_in(s, "zero_optimization.stage: %lld: expected 0 to 3", (long long)stage);
    sp_launch_whole(s, "zero", stage);
    if (group > 0 && stage == 3)
        sp_launch_whole(s, "fsdp", group);
    if (sp_setting_away(s, "zero_optimization.cpu_offload") ||
        sp_setting_away(s, "zero_optimization.offload_optimizer.device"))
        sp_launch_option(s, "optimizer-offload", "%.17g",
                         sp_setting_number(s, "zero_optimization.offload_optimizer.ratio", 1));
    if (sp_setting_away(s, "zero_optimization.cpu_offload_param") ||
        sp_setting_away(s, "zero_optimization.offload_param.device"))
        sp_launch_note(s, "not modelled: weights in host memory");
}

/* Whether the file is for this reader: every JSON file is. */
static enum sp_match detect(const struct sp_launch_file *file)
{
    return file->json ? SP_LIKELY : SP_NO_MATCH;
}

/* Whether there is a key that only DeepSpeed has: other tools also have accumulation. */
static bool is_own(const struct sp_launch_file *file)
{
    const cJSON *const root = file->json;
    return cJSON_HasObjectItem(root, "zero_optimization") ||
           cJSON_HasObjectItem(root, batch_keys[BATCH]) ||
           sp_has_setting(&file->settings, batch_keys[MICRO]) ||
           (cJSON_HasObjectItem(root, batch_keys[STEPS]) &&
            (cJSON_IsObject(cJSON_GetObjectItem(root, "bf16")) ||
             cJSON_IsObject(cJSON_GetObjectItem(root, "fp16"))));
}

/* Reads the comment of an export in addition to the options. */
static bool read_comments(struct sp_launch_file *file)
{
    const cJSON *const comments = cJSON_GetObjectItem(file->json, "_comment");
    for (const cJSON *line = comments ? comments->child : NULL; line; line = line->next)
        if (cJSON_IsString(line) && !sp_read_assumed(line->valuestring, &file->assumed))
            return false;
    return true;
}

static void read_recompute(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    if (!cJSON_HasObjectItem(file->json, "activation_checkpointing")) {
        sp_assume(&file->assumed, "remat");
        return;
    }
    sp_launch_option(s, "remat", "full");
    sp_launch_note(s, "activation_checkpointing: read as full recompute; if the model's code does "
                      "not request it, use --remat none");
}

bool sp_read_deepspeed(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    if (!is_own(file)) {
        s->launch->format = NULL;
        if (cJSON_HasObjectItem(file->json, "plans"))
            return sp_fail_in(s, "a report, not a launch: `export` takes the options of its "
                                 "plans.0.command");
        if (cJSON_HasObjectItem(file->json, "machine") && cJSON_HasObjectItem(file->json, "dp"))
            return sp_fail_in(s, "a plan of `search` or `step`, not a launch: `scaleplan step - < "
                                 "FILE` reads it; `export` takes the options of its \"command\"");
        return sp_fail_in(s, "no DeepSpeed key, such as train_batch_size or zero_optimization");
    }
    if (!read_comments(file))
        return false;
    const int64_t tp = read_degree(s, "tp"), cp = read_degree(s, "cp");
    sp_read_cp_kind(s, cp, "ulysses");
    sp_launch_option(s, "sp", "off");
    const bool divides = devices > 0 && tp <= devices && cp <= devices && devices % (tp * cp) == 0;
    read_batch(s, divides ? devices / cp : 0, tp);
    if (sp_setting_is(s, "expert_parallel.enabled", "true")) {
        read_degree(s, "ep");
        read_degree(s, "etp");
    }
    read_zero(s);
    if (!sp_setting(s, "zero_optimization.mics_shard_size"))
        sp_assume(&file->assumed, "fsdp");
    read_precision(s);
    const char *const optimizer = sp_setting(s, "optimizer.type");
    if (optimizer)
        sp_read_optimizer(s, "optimizer.type", optimizer,
                          sp_setting_number(s, "optimizer.params.momentum", 0));
    sp_read_rest(s);
    sp_note_deepspeed_keys(s, file->json);
    read_recompute(file);
    sp_assume(&file->assumed, "framework");
    sp_assume(&file->assumed, "imbalance");
    sp_assume(&file->assumed, "seq");
    if (sp_setting_is(s, "activation_checkpointing.cpu_checkpointing", "true"))
        sp_launch_option(s, "offload", "on");
    const bool staged = cJSON_HasObjectItem(file->json, "pipeline");
    sp_note_rules(&(struct sp_rules){.settings = s, .devices = staged ? 0 : devices});
    sp_launch_note(
        s, "the model and its checkpoints are in the training script; the rest is inferred");
    return true;
}

static bool read(struct sp_launch_file *file)
{
    sp_launch_no_model(&file->settings, "the model is in the training script");
    return sp_read_deepspeed(file);
}

const struct sp_target sp_target_deepspeed = {
    .words = {"deepspeed"},
    .write = sp_write_deepspeed,
    .suffix = ".json",
    .format = "DeepSpeed JSON",
    .detect = detect,
    .read = read,
};
