/* DeepSpeed: its JSON configuration. Keys: deepspeed/runtime/constants.py and zero/config.py. The
 * model, its checkpoints and the sequence length are in the training script, not in this file. */
#include <math.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/deepspeed/deepspeed.h"

static const cJSON *at(const cJSON *root, const char *section, const char *key)
{
    const cJSON *const from = section ? cJSON_GetObjectItemCaseSensitive(root, section) : root;
    return from ? cJSON_GetObjectItemCaseSensitive(from, key) : NULL;
}

/* A whole number of the file; 0 when it is not given or "auto". */
static int64_t whole_at(const cJSON *root, const char *section, const char *key, const char *origin,
                        struct sp_launch *launch, struct sp_error *error)
{
    const cJSON *const value = at(root, section, key);
    const char *const dot = section ? "." : "";
    if (!value)
        return 0;
    if (cJSON_IsString(value) && strcmp(value->valuestring, "auto") == 0) {
        if (launch)
            sp_launch_note(launch, "%s%s%s is \"auto\": left to the options",
                           section ? section : "", dot, key);
        return 0;
    }
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= 1e9 &&
        value->valuedouble == floor(value->valuedouble))
        return (int64_t)value->valuedouble;
    sp_fail(error, SP_INPUT, "%s: %s%s%s: expected a whole number from 0 to 10^9, or \"auto\"",
            sp_safe(origin), section ? section : "", dot, key);
    return 0;
}

static bool is_auto(const cJSON *value)
{
    return value && cJSON_IsString(value) && strcmp(value->valuestring, "auto") == 0;
}

static const char *const batch_keys[] = {"train_batch_size", "train_micro_batch_size_per_gpu",
                                         "gradient_accumulation_steps"};

/* What is left out of batch, micro-batch and accumulation follows from the rest, as DeepSpeed's
 * _set_batch_related_parameters has it. False when the parts do not make the batch. */
static bool close_batch(double given[3], double replicas)
{
    double *const batch = &given[0], *const micro = &given[1], *const steps = &given[2];
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

/* The batch in sequences: given, or the product of its parts. "auto" is the trainer's to say, so
 * nothing follows from what stands beside it but a product. `ranks` are all but those of context
 * parallelism: DeepSpeedConfig has train_batch_size count each of the `tp` ranks that share a
 * sequence. */
static void read_batch(const cJSON *root, const char *origin, int64_t ranks, int64_t tp,
                       struct sp_launch *launch, struct sp_error *error)
{
    const int before = error->lines;
    double given[3];
    bool automatic = false;
    for (int i = 0; i < 3; i++) {
        given[i] = (double)whole_at(root, NULL, batch_keys[i], origin, NULL, error);
        automatic = automatic || (i > 0 && is_auto(at(root, NULL, batch_keys[i])));
    }
    if (error->lines > before)
        return;
    const double batch = given[0], micro = given[1], steps = given[2];
    if (!(batch > 0) && !(micro > 0 && ranks > 0)) {
        sp_launch_note(launch, "the batch is not a number in it: give --batch");
    } else if (automatic || ranks == 0) {
        given[0] = batch > 0 ? batch : micro * fmax(1, steps) * (double)ranks;
    } else if (!close_batch(given, (double)ranks)) {
        char parts[160] = "";
        for (int i = 1; i < 3; i++)
            if (at(root, NULL, batch_keys[i]))
                snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "%s %.0f x ",
                         batch_keys[i], i == 1 ? micro : steps);
        sp_fail(error, SP_INPUT, "%s: train_batch_size %.0f is %s %s%lld ranks", sp_safe(origin),
                batch, micro > 0 && steps > 0 ? "not" : "no multiple of", parts, (long long)ranks);
        return;
    }
    for (int i = 1; i < 3; i++)
        if (is_auto(at(root, NULL, batch_keys[i])) && given[0] > 0)
            sp_launch_note(launch, "%s is \"auto\": left to the options", batch_keys[i]);
    if (given[1] > 0)
        sp_launch_option(launch, "micro-batch", "%.0f", given[1]);
    if (given[0] > 0)
        sp_launch_option(launch, "batch", "%.0fx", fmax(1, floor(given[0] / (double)tp)));
    if (given[0] > 0 && tp > 1)
        sp_launch_note(launch, "train_batch_size counts each of the %lld tensor-parallel ranks",
                       (long long)tp);
}

static bool has_text(const cJSON *value, const char *text)
{
    return cJSON_IsString(value) && strcmp(value->valuestring, text) == 0;
}

/* Gradients are of the model's format where data_types names none (get_data_types of DeepSpeed's
 * engine.py). "auto" is what Hugging Face's trainer fills in from its own arguments: bf16 as a
 * rule. `bfloat16` is an older name of `bf16`. */
static void read_precision(const cJSON *root, struct sp_launch *launch)
{
    static const char *const formats[] = {"bf16", "bfloat16", "fp16"};
    const cJSON *const grads = at(root, "data_types", "grad_accum_dtype");
    bool half = false;
    for (int i = 0; i < 3; i++) {
        const cJSON *const enabled = at(root, formats[i], "enabled");
        half = half || cJSON_IsTrue(enabled);
        if (!half && is_auto(enabled)) {
            half = true;
            sp_launch_note(launch, "%s.enabled is \"auto\": read as true", formats[i]);
        }
    }
    const bool full_grads = has_text(grads, "fp32") || has_text(grads, "float32");
    sp_launch_option(launch, "precision", "%s",
                     !half        ? "fp32"
                     : full_grads ? "mixed18"
                                  : "mixed16");
}

static void read_experts(const cJSON *root, const char *origin, struct sp_launch *launch,
                         struct sp_error *error)
{
    const char *const section = "expert_parallel";
    if (!cJSON_IsTrue(at(root, section, "enabled")))
        return;
    const int64_t ep = whole_at(root, section, "autoep_size", origin, launch, error),
                  etp =
                      whole_at(root, section, "expert_tensor_parallel_size", origin, launch, error);
    sp_launch_option(launch, "ep", "%lld", (long long)(ep > 0 ? ep : 1));
    sp_launch_option(launch, "etp", "%lld", (long long)(etp > 0 ? etp : 1));
}

/* The optimizer, where the file has it and not the script. */
static void read_optimizer(const cJSON *root, const char *origin, struct sp_launch *launch,
                           struct sp_error *error)
{
    const cJSON *const type = at(root, "optimizer", "type");
    const cJSON *const parameters = at(root, "optimizer", "params");
    const cJSON *const momentum = parameters ? at(parameters, NULL, "momentum") : NULL;
    if (type && cJSON_IsString(type))
        sp_read_optimizer("optimizer.type", type->valuestring,
                          momentum && cJSON_IsNumber(momentum) ? momentum->valuedouble : 0, origin,
                          launch, error);
}

static void read_zero(const cJSON *root, const char *origin, struct sp_launch *launch,
                      struct sp_error *error)
{
    const char *const zero = "zero_optimization";
    const int64_t stage = cJSON_IsTrue(at(root, NULL, zero)) /* as it was written once */
                              ? 1
                              : whole_at(root, zero, "stage", origin, launch, error);
    if (stage > 3)
        sp_fail(error, SP_INPUT, "%s: zero_optimization.stage: %lld: expected 0 to 3",
                sp_safe(origin), (long long)stage);
    sp_launch_option(launch, "zero", "%lld", (long long)stage);
    const int64_t group = whole_at(root, zero, "mics_shard_size", origin, launch, error);
    if (group > 0 && stage == 3)
        sp_launch_option(launch, "fsdp", "%lld", (long long)group);
    const cJSON *const offload = at(root, zero, "offload_optimizer"), *const older =
                                                                          at(root, zero,
                                                                             "cpu_offload");
    if (!sp_is_off(older) || (offload && !sp_is_off(at(offload, NULL, "device"))))
        sp_launch_note(launch, "not modelled: the optimizer's states in the host's memory");
    if (!sp_is_off(at(root, zero, "cpu_offload_param")) ||
        !sp_is_off(at(at(root, zero, "offload_param"), NULL, "device")))
        sp_launch_note(launch, "not modelled: weights in the host's memory");
}

/* Whether it is for this reader: every JSON is. */
static enum sp_match detect(const struct sp_launch_file *file)
{
    return file->json ? SP_LIKELY : SP_NO_MATCH;
}

/* Whether a key is there that nobody else has: accumulation alone others have too. */
static bool is_own(const cJSON *root)
{
    static const char *const own[] = {"zero_optimization", "train_batch_size",
                                      "train_micro_batch_size_per_gpu"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (at(root, NULL, own[i]))
            return true;
    return at(root, NULL, "gradient_accumulation_steps") &&
           (cJSON_IsObject(at(root, NULL, "bf16")) || cJSON_IsObject(at(root, NULL, "fp16")));
}

bool sp_read_deepspeed(struct sp_launch_file *file, struct sp_launch *launch,
                       struct sp_error *error)
{
    const cJSON *const root = file->json;
    const char *const origin = file->origin;
    struct sp_settings *const assumed = &file->assumed;
    struct sp_refusals refused;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    const int before = error->lines;
    if (!is_own(root))
        return sp_fail(error, SP_INPUT,
                       "%s: no key of DeepSpeed in it, such as train_batch_size or "
                       "zero_optimization",
                       sp_safe(origin));
    const cJSON *const comments = at(root, NULL, "_comment");
    for (const cJSON *line = comments ? comments->child : NULL; line; line = line->next)
        if (cJSON_IsString(line) && !sp_read_assumed(line->valuestring, assumed, launch, error))
            return false;
    int64_t tp = whole_at(root, "tensor_parallel", "autotp_size", origin, launch, error);
    int64_t cp = whole_at(root, NULL, "sequence_parallel_size", origin, launch, error);
    tp = tp > 0 ? tp : 1;
    cp = cp > 0 ? cp : 1;
    sp_launch_option(launch, "tp", "%lld", (long long)tp);
    sp_launch_option(launch, "cp", "%lld", (long long)cp);
    sp_launch_option(launch, "sp", "off");
    const bool divides = devices > 0 && tp <= devices && cp <= devices && devices % (tp * cp) == 0;
    read_batch(root, origin, divides ? devices / cp : 0, tp, launch, error);
    read_experts(root, origin, launch, error);
    read_zero(root, origin, launch, error);
    if (!at(root, "zero_optimization", "mics_shard_size"))
        sp_assume(assumed, "fsdp", launch);
    read_precision(root, launch);
    read_optimizer(root, origin, launch, error);
    sp_note_deepspeed_keys(file->words[0], root, launch);
    if (at(root, NULL, "activation_checkpointing")) {
        sp_launch_option(launch, "remat", "full");
        sp_launch_note(launch, "activation_checkpointing: read as full recompute, which the "
                               "model's code must ask for; --remat none where it does not");
    } else {
        sp_assume(assumed, "remat", launch);
    }
    sp_assume(assumed, "framework", launch);
    sp_assume(assumed, "imbalance", launch);
    sp_assume(assumed, "seq", launch);
    if (cJSON_IsTrue(at(root, "activation_checkpointing", "cpu_checkpointing")))
        sp_launch_option(launch, "offload", "on");
    sp_check_deepspeed(root, at(root, NULL, "pipeline") ? 0 : devices, &refused);
    sp_note_refusals("DeepSpeed", &refused, launch);
    sp_launch_note(launch, "the model and its checkpoints are in the training script; what is not "
                           "given here is inferred");
    return error->lines == before;
}

const struct sp_target sp_target_deepspeed = {
    .words = {"deepspeed"},
    .write = sp_write_deepspeed,
    .format = "DeepSpeed JSON",
    .detect = detect,
    .read = sp_read_deepspeed,
};
