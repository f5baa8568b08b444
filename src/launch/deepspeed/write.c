/* DeepSpeed: a plan as its JSON configuration. train_batch_size is what DeepSpeedConfig holds
 * against micro-batch x accumulation x world size: it counts each rank of tensor parallelism as a
 * replica. */
#include <stdlib.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/deepspeed/deepspeed.h"

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
    if (p->zero == 0 && sp_recipe_is(l, "mixed18"))
        sp_lose(lost, "gradients in fp32 at ZeRO 0");
    if (p->cp > 1)
        sp_lose(lost, "context parallelism: the code registers DeepSpeed-Ulysses; "
                      "sequence_parallel_size changes the batch alone");
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
    if (p->shards < p->dp * p->cp && p->zero == 3)
        sp_lose(lost,
                "shard groups: deepspeed.zero.MiCS_Init(config_dict_or_path=...) in the code");
    if (p->shards < p->dp * p->cp && p->zero != 3 && p->zero > 0)
        sp_lose(lost, "a smaller group of shards for ZeRO %d", p->zero);
    if (!sp_recipe_is(l, "mixed18") && !sp_recipe_is(l, "mixed16") && !sp_recipe_is(l, "fp32"))
        sp_lose(lost, "precision recipe %s; bf16 with fp32 states and gradients stands for it",
                l->recipe);
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

/* The options themselves, behind the opening brace. */
static void put_options(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const long long train_batch = p->batch * p->tp;
    fprintf(out,
            "  \"train_batch_size\": %lld,\n"
            "  \"train_micro_batch_size_per_gpu\": %lld,\n"
            "  \"gradient_accumulation_steps\": %lld,\n",
            train_batch, (long long)p->micro_batch, (long long)sp_plan_microbatches(p));
    if (!sp_multiplies_in_fp32(p))
        fputs("  \"bf16\": {\"enabled\": true},\n", out);
    if (!sp_multiplies_in_fp32(p) && p->zero > 0)
        fprintf(out, "  \"data_types\": {\"grad_accum_dtype\": \"%s\"},\n",
                sp_recipe_is(l, "mixed16") ? "bf16" : "fp32");
    fprintf(out, "  \"zero_optimization\": {\"stage\": %d, \"overlap_comm\": true", p->zero);
    if (p->zero == 3 && p->shards < p->dp * p->cp)
        fprintf(out, ", \"mics_shard_size\": %lld", (long long)p->shards);
    fputs("}", out);
    if (p->tp > 1)
        fprintf(out, ",\n  \"tensor_parallel\": {\"autotp_size\": %lld}", (long long)p->tp);
    if (p->ep > 1 || p->etp > 1)
        fprintf(out,
                ",\n  \"expert_parallel\": {\"enabled\": true, \"autoep_size\": %lld, "
                "\"expert_tensor_parallel_size\": %lld}",
                (long long)p->ep, (long long)p->etp);
    if (p->cp > 1)
        fprintf(out, ",\n  \"sequence_parallel_size\": %lld", (long long)p->cp);
    if (strcmp(l->remat, "full") == 0)
        fprintf(out,
                ",\n  \"activation_checkpointing\": {\"partition_activations\": false, "
                "\"cpu_checkpointing\": %s}",
                p->recompute.offload ? "true" : "false");
    fputs("\n}\n", out);
}

/* What DeepSpeed refuses of the options. */
static void lose_refused(const struct sp_launched *l, const char *options, struct sp_written *lost)
{
    struct sp_refusals refused;
    cJSON *const root = cJSON_Parse(options);
    if (!root)
        abort();
    sp_check_deepspeed(root, l->plan->pp == 1 ? sp_plan_devices(l->plan) : 0, &refused);
    sp_lose_refusals("DeepSpeed", &refused, lost);
    cJSON_Delete(root);
}

void sp_write_deepspeed(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    char *options = NULL;
    size_t length;
    FILE *const body = open_memstream(&options, &length);
    if (!body)
        abort();
    fputs("{\n", body);
    put_options(l, body);
    fclose(body);
    lose(l, lost);
    lose_refused(l, options, lost);
    fputs("{\n  \"_comment\": [", out);
    put_comments(out, l, lost);
    fprintf(out, "\n  ],\n%s", options + 2);
    free(options);
}
