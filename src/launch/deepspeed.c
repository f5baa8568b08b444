/* DeepSpeed: its JSON configuration. Keys: deepspeed/runtime/constants.py and zero/config.py. The
 * model, its checkpoints and the sequence length are in the training script, not in this file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launch/assumed.h"

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
 * nothing follows from what stands beside it but a product. */
static void read_batch(const cJSON *root, const char *origin, int64_t replicas,
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
    if (!(batch > 0) && !(micro > 0 && replicas > 0)) {
        sp_launch_note(launch, "the batch is not a number in it: give --batch");
    } else if (automatic || replicas == 0) {
        given[0] = batch > 0 ? batch : micro * fmax(1, steps) * (double)replicas;
    } else if (!close_batch(given, (double)replicas)) {
        char parts[160] = "";
        for (int i = 1; i < 3; i++)
            if (at(root, NULL, batch_keys[i]))
                snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "%s %.0f x ",
                         batch_keys[i], i == 1 ? micro : steps);
        sp_fail(error, SP_INPUT, "%s: train_batch_size %.0f is %s %s%lld replicas", sp_safe(origin),
                batch, micro > 0 && steps > 0 ? "not" : "no multiple of", parts,
                (long long)replicas);
        return;
    }
    for (int i = 1; i < 3; i++)
        if (is_auto(at(root, NULL, batch_keys[i])) && given[0] > 0)
            sp_launch_note(launch, "%s is \"auto\": left to the options", batch_keys[i]);
    if (given[1] > 0)
        sp_launch_option(launch, "micro-batch", "%.0f", given[1]);
    if (given[0] > 0)
        sp_launch_option(launch, "batch", "%.0fx", given[0]);
}

/* "auto" is what Hugging Face's trainer fills in from its own arguments: bf16 as a rule. */
static void read_precision(const cJSON *root, struct sp_launch *launch)
{
    static const char *const formats[] = {"bf16", "fp16"};
    const cJSON *const grads = at(root, "data_types", "grad_accum_dtype");
    bool half = false;
    for (int i = 0; i < 2; i++) {
        const cJSON *const enabled = at(root, formats[i], "enabled");
        half = half || cJSON_IsTrue(enabled);
        if (!half && is_auto(enabled)) {
            half = true;
            sp_launch_note(launch, "%s.enabled is \"auto\": read as true", formats[i]);
        }
    }
    const bool half_grads =
        grads && cJSON_IsString(grads) &&
        (strcmp(grads->valuestring, "bf16") == 0 || strcmp(grads->valuestring, "fp16") == 0);
    sp_launch_option(launch, "precision", "%s",
                     !half        ? "fp32"
                     : half_grads ? "mixed16"
                                  : "mixed18");
}

static void read_zero(const cJSON *root, const char *origin, struct sp_launch *launch,
                      struct sp_error *error)
{
    const char *const zero = "zero_optimization";
    const int64_t stage = whole_at(root, zero, "stage", origin, launch, error);
    if (stage > 3)
        sp_fail(error, SP_INPUT, "%s: zero_optimization.stage: %lld: expected 0 to 3",
                sp_safe(origin), (long long)stage);
    sp_launch_option(launch, "zero", "%lld", (long long)stage);
    const int64_t group = whole_at(root, zero, "mics_shard_size", origin, launch, error);
    if (group > 0 && stage == 3)
        sp_launch_option(launch, "fsdp", "%lld", (long long)group);
    /* ZeRO++ shards the states over all devices all the same, and keeps 16-bit weights twice. */
    if (whole_at(root, zero, "zero_hpz_partition_size", origin, launch, error) > 1)
        sp_launch_note(launch, "not modelled: zero_optimization.zero_hpz_partition_size, a second "
                               "copy of the weights in each group");
    static const struct {
        const char *key, *what;
    } quantised[] = {{"zero_quantized_weights", "8-bit weights in gathers (ZeRO++ qwZ)"},
                     {"zero_quantized_gradients", "4-bit gradients in reductions (ZeRO++ qgZ)"}};
    for (int i = 0; i < 2; i++)
        if (cJSON_IsTrue(at(root, zero, quantised[i].key)))
            sp_launch_note(launch, "not modelled: zero_optimization.%s, %s", quantised[i].key,
                           quantised[i].what);
    static const char *const offloads[] = {"offload_optimizer", "offload_param"};
    for (int i = 0; i < 2; i++) {
        const cJSON *const section = at(root, zero, offloads[i]);
        const cJSON *const device = section ? at(section, NULL, "device") : NULL;
        const bool none =
            device && cJSON_IsString(device) && strcmp(device->valuestring, "none") == 0;
        if (section && !none)
            sp_launch_note(launch, "not modelled: zero_optimization.%s", offloads[i]);
    }
}

/* Whether it is for this reader: every JSON is. */
static enum sp_match detect(const struct sp_launch_file *file)
{
    return file->json ? SP_CERTAIN : SP_NO_MATCH;
}

static bool read(struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    const cJSON *const root = file->json;
    const char *const origin = file->origin;
    struct sp_settings *const assumed = &file->assumed;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    const int before = error->lines;
    bool known = at(root, NULL, "zero_optimization");
    for (int i = 0; i < 3; i++)
        known = known || at(root, NULL, batch_keys[i]);
    if (!known)
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
    read_batch(root, origin, divides ? devices / (tp * cp) : 0, launch, error);
    read_zero(root, origin, launch, error);
    if (!at(root, "zero_optimization", "mics_shard_size"))
        sp_assume(assumed, "fsdp", launch);
    read_precision(root, launch);
    if (at(root, NULL, "activation_checkpointing"))
        sp_launch_option(launch, "remat", "full");
    else
        sp_assume(assumed, "remat", launch);
    sp_assume(assumed, "framework", launch);
    sp_assume(assumed, "imbalance", launch);
    sp_assume(assumed, "seq", launch);
    if (cJSON_IsTrue(at(root, "activation_checkpointing", "cpu_checkpointing")))
        sp_launch_option(launch, "offload", "on");
    sp_launch_note(launch, "the model and its checkpoints are in the training script; what is not "
                           "given here is inferred");
    return error->lines == before;
}

static void lose(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    if (p->pp > 1)
        sp_lose(lost,
                "pipeline stages: PipelineModule(num_stages=%lld) in the code, with ZeRO 0 "
                "or 1",
                (long long)p->pp);
    if (p->vpp > 1)
        sp_lose(lost, "chunks of layers on a stage");
    if (p->ep > 1)
        sp_lose(lost, "expert parallelism: ep_size=%lld of the MoE layers in the code",
                (long long)p->ep);
    if (p->etp > 1)
        sp_lose(lost, "tensor parallelism inside experts: the MoE layers in the code");
    if (p->sequence_parallel)
        sp_lose(lost, "sequence parallelism with TP");
    if (strcmp(l->remat, "full") != 0 && strcmp(l->remat, "none") != 0)
        sp_lose(lost, "recompute policy %s: the model's code decides", l->remat);
    if (strcmp(l->remat, "full") == 0)
        sp_lose(lost, "full recompute: the model's code must call "
                      "deepspeed.checkpointing.checkpoint");
    if (p->recompute_layers < 1)
        sp_lose(lost, "recompute of a share of the layers");
    if (p->recompute.offload && strcmp(l->remat, "full") != 0)
        sp_lose(lost, "activations in the host's memory without full recompute");
    if (p->shards < p->dp * p->cp && p->zero != 3 && p->zero > 0)
        sp_lose(lost, "a smaller group of shards for ZeRO %d", p->zero);
    if (!sp_recipe_is(l, "mixed18") && !sp_recipe_is(l, "mixed16") && !sp_recipe_is(l, "fp32"))
        sp_lose(lost, "precision recipe %s; bf16 with fp32 states and gradients stands for it",
                sp_recipe_text(l));
}

/* Lines of text as strings of a JSON array. */
static void put_strings(FILE *out, char *lines)
{
    const char *before = "\n    ";
    for (char *line; (line = strsep(&lines, "\n")) != NULL;) {
        if (line[0] == '\0')
            continue;
        cJSON *const string = cJSON_CreateString(line);
        char *const quoted = string ? cJSON_PrintUnformatted(string) : NULL;
        if (!quoted)
            abort();
        fprintf(out, "%s%s", before, quoted);
        before = ",\n    ";
        cJSON_free(quoted);
        cJSON_Delete(string);
    }
}

static void put_comments(FILE *out, const struct sp_launched *l, const struct sp_written *lost)
{
    char *text = NULL;
    size_t length;
    FILE *const lines = open_memstream(&text, &length);
    if (!lines)
        abort();
    fputs("plan: ", lines); /* a model's name may be anything, the mark of sp_read_assumed too */
    sp_write_title(l, lines);
    for (int i = 0; i < lost->n_lost; i++)
        fprintf(lines, "\ncannot express: %s", lost->lost[i]);
    sp_write_assumed(l, NULL, true, "\n", "", lines);
    fclose(lines);
    put_strings(out, text);
    free(text);
}

static void write(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    lose(l, lost);
    fputs("{\n  \"_comment\": [", out);
    put_comments(out, l, lost);
    fprintf(out,
            "\n  ],\n"
            "  \"train_batch_size\": %lld,\n"
            "  \"train_micro_batch_size_per_gpu\": %lld,\n"
            "  \"gradient_accumulation_steps\": %lld,\n",
            (long long)p->batch, (long long)p->micro_batch, (long long)sp_plan_microbatches(p));
    if (!sp_multiplies_in_fp32(p))
        fprintf(out,
                "  \"bf16\": {\"enabled\": true},\n  \"data_types\": {\"grad_accum_dtype\": "
                "\"%s\"},\n",
                sp_recipe_is(l, "mixed16") ? "bf16" : "fp32");
    fprintf(out, "  \"zero_optimization\": {\"stage\": %d, \"overlap_comm\": true", p->zero);
    if (p->zero == 3 && p->shards < p->dp * p->cp)
        fprintf(out, ", \"mics_shard_size\": %lld", (long long)p->shards);
    fputs("}", out);
    if (p->tp > 1)
        fprintf(out, ",\n  \"tensor_parallel\": {\"autotp_size\": %lld}", (long long)p->tp);
    if (p->cp > 1)
        fprintf(out, ",\n  \"sequence_parallel_size\": %lld", (long long)p->cp);
    if (strcmp(l->remat, "full") == 0)
        fprintf(out,
                ",\n  \"activation_checkpointing\": {\"partition_activations\": false, "
                "\"cpu_checkpointing\": %s}",
                p->recompute.offload ? "true" : "false");
    fputs("\n}\n", out);
}

const struct sp_target sp_target_deepspeed = {
    .write = write,
    .format = "DeepSpeed JSON",
    .detect = detect,
    .read = read,
};
