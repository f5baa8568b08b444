/* DeepSpeed: its JSON configuration. Keys: deepspeed/runtime/constants.py and zero/config.py. The
 * model, its checkpoints and the sequence length are in the training script, not in this file. */
#include <math.h>
#include <string.h>

#include "launch_internal.h"

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

static bool is_on(const cJSON *root, const char *section)
{
    return cJSON_IsTrue(at(root, section, "enabled"));
}

/* The batch in sequences: given, or the product of its parts. */
static void read_batch(const cJSON *root, const char *origin, int64_t replicas,
                       struct sp_launch *launch, struct sp_error *error)
{
    static const char *const keys[] = {"train_batch_size", "train_micro_batch_size_per_gpu",
                                       "gradient_accumulation_steps"};
    int64_t given[3];
    for (int i = 0; i < 3; i++)
        given[i] = whole_at(root, NULL, keys[i], origin, NULL, error);
    const int64_t batch = given[0], micro = given[1], steps = given[2];
    if (micro > 0)
        sp_launch_option(launch, "micro-batch", "%lld", (long long)micro);
    if (batch > 0 && micro > 0 && steps > 0 && replicas > 0 &&
        (double)batch != (double)micro * (double)steps * (double)replicas)
        sp_fail(error, SP_INPUT,
                "%s: train_batch_size %lld is not train_micro_batch_size_per_gpu %lld x "
                "gradient_accumulation_steps %lld x %lld replicas",
                sp_safe(origin), (long long)batch, (long long)micro, (long long)steps,
                (long long)replicas);
    if (batch > 0)
        sp_launch_option(launch, "batch", "%lldx", (long long)batch);
    else if (micro > 0 && replicas > 0)
        sp_launch_option(launch, "batch", "%.0fx",
                         (double)micro * fmax(1, (double)steps) * (double)replicas);
    else
        sp_launch_note(launch, "the batch is not a number in it: give --batch");
}

static void read_zero(const cJSON *root, const char *origin, struct sp_launch *launch,
                      struct sp_error *error)
{
    static const char *const groups[] = {"mics_shard_size", "zero_hpz_partition_size"};
    const char *const zero = "zero_optimization";
    const int64_t stage = whole_at(root, zero, "stage", origin, launch, error);
    if (stage > 3)
        sp_fail(error, SP_INPUT, "%s: zero_optimization.stage: %lld: expected 0 to 3",
                sp_safe(origin), (long long)stage);
    sp_launch_option(launch, "zero", "%lld", (long long)stage);
    for (int i = 0; i < 2; i++) {
        const int64_t group = whole_at(root, zero, groups[i], origin, launch, error);
        if (group > 1 && stage == 3)
            sp_launch_option(launch, "fsdp", "%lld", (long long)group);
    }
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

bool sp_read_deepspeed(const cJSON *root, const char *origin, int64_t devices,
                       struct sp_launch *launch, struct sp_error *error)
{
    static const char *const keys[] = {"train_batch_size", "train_micro_batch_size_per_gpu",
                                       "zero_optimization", "gradient_accumulation_steps"};
    const int before = error->lines;
    bool known = false;
    launch->format = "DeepSpeed JSON";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        known = known || at(root, NULL, keys[i]);
    if (!known)
        return sp_fail(error, SP_INPUT,
                       "%s: no key of DeepSpeed in it, such as train_batch_size or "
                       "zero_optimization",
                       sp_safe(origin));
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
    sp_launch_option(launch, "precision", "%s",
                     is_on(root, "bf16") || is_on(root, "fp16") ? "mixed18" : "fp32");
    if (at(root, NULL, "activation_checkpointing"))
        sp_launch_option(launch, "remat", "full");
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
    if (p->sequence_parallel)
        sp_lose(lost, "sequence parallelism with TP");
    if (strcmp(l->remat, "full") != 0 && strcmp(l->remat, "none") != 0)
        sp_lose(lost, "recompute policy %s: the model's code decides", l->remat);
    if (strcmp(l->remat, "full") == 0)
        sp_lose(lost, "full recompute: the model's code must call "
                      "deepspeed.checkpointing.checkpoint");
    if (p->recompute_layers < 1)
        sp_lose(lost, "recompute of a share of the layers");
    if (p->batch % (p->dp * p->micro_batch) != 0)
        sp_lose(lost, "a batch that replicas and micro-batches do not divide");
    if (p->shards < p->dp * p->cp && p->zero != 3 && p->zero > 0)
        sp_lose(lost, "a smaller group of shards for ZeRO %d", p->zero);
    if (strcmp(l->precision, "mixed18") != 0 && strcmp(l->precision, "mixed16") != 0 &&
        strcmp(l->precision, "fp32") != 0)
        sp_lose(lost, "precision recipe %s", l->precision);
}

void sp_write_deepspeed(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    lose(l, lost);
    fputs("{\n  \"_comment\": [\n    \"", out);
    sp_write_title(l, out);
    fputs("\"", out);
    for (int i = 0; i < lost->n_lost; i++)
        fprintf(out, ",\n    \"cannot express: %s\"", lost->lost[i]);
    fprintf(out,
            "\n  ],\n"
            "  \"train_batch_size\": %lld,\n"
            "  \"train_micro_batch_size_per_gpu\": %lld,\n"
            "  \"gradient_accumulation_steps\": %lld,\n",
            (long long)p->batch, (long long)p->micro_batch, (long long)sp_plan_microbatches(p));
    if (strcmp(l->precision, "fp32") != 0)
        fputs("  \"bf16\": {\"enabled\": true},\n", out);
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
