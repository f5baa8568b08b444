/* DeepSpeed: a plan as its JSON configuration. DeepSpeedConfig compares train_batch_size with
 * micro-batch x accumulation x world size: it counts each rank of tensor parallelism as a
 * replica. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/deepspeed/deepspeed.h"

/* Lines of text as strings of a JSON array. */
static void put_strings(FILE *out, char *lines)
{
    const char *before = "\n    ";
    for (char *line; (line = strsep(&lines, "\n")) != NULL;) {
        if (line[0] == '\0')
            continue;
        cJSON *const string = cJSON_CreateString(line);
        char *const quoted = sp_must(cJSON_PrintUnformatted(sp_must(string)));
        fprintf(out, "%s%s", before, quoted);
        before = ",\n    ";
        cJSON_free(quoted);
        cJSON_Delete(string);
    }
}

static void put_comments(FILE *out, const struct sp_launched *l)
{
    char *text = NULL;
    size_t length;
    FILE *const lines = sp_must(open_memstream(&text, &length));
    fputs("plan: ",
          lines); /* a model's name may contain anything, even the mark of sp_read_assumed */
    sp_write_title(l, lines);
    sp_put_lost(l->written, "\n", "", lines);
    sp_write_assumed(l, NULL, true, "\n", "", lines);
    fclose(lines);
    put_strings(out, text);
    free(text);
}

/* Settings of the plan that take more than a row. */
static void make(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const bool half = !sp_multiplies_in_fp32(p), full = sp_is(l->remat, "full");
    sp_make_whole(made, "train_batch_size", (p->batch * p->tp));
    sp_make_whole(made, "gradient_accumulation_steps", sp_plan_microbatches(p));
    if (half)
        sp_make_setting(made, "bf16.enabled", "true");
    if (half && p->zero > 0)
        sp_make_setting(made, "data_types.grad_accum_dtype",
                        sp_recipe_is(l, "mixed16") ? "bf16" : "fp32");
    if (p->zero == 3 && p->shards < p->dp * p->cp)
        sp_make_whole(made, "zero_optimization.mics_shard_size", p->shards);
    if (p->ep > 1 || p->etp > 1) {
        sp_make_setting(made, "expert_parallel.enabled", "true");
        sp_make_whole(made, "expert_parallel.autoep_size", p->ep);
        sp_make_whole(made, "expert_parallel.expert_tensor_parallel_size", p->etp);
    }
    if (full) {
        sp_make_setting(made, "activation_checkpointing.partition_activations", "false");
        sp_make_setting(made, "activation_checkpointing.cpu_checkpointing",
                        p->recompute.offload ? "true" : "false");
    }
}

/* Settings as members of objects; those of a section are consecutive. */
static void put_members(const struct sp_settings *s, FILE *out)
{
    const char *section = "";
    size_t n = 0; /* of the section's name and dot */
    for (int i = 0; i < s->n; i++) {
        const char *const name = s->at[i].name, *const dot = strchr(name, '.'),
                          *const quote = sp_quote_of(s, name);
        const bool same = n > 0 && strncmp(name, section, n) == 0;
        fputs(same ? ", " : n > 0 ? "},\n  " : i > 0 ? ",\n  " : "  ", out);
        section = name;
        n = dot ? (size_t)(dot + 1 - name) : 0;
        if (n > 0 && !same)
            fprintf(out, "\"%.*s\": {", (int)n - 1, name);
        fprintf(out, "\"%s\": %s%s%s", name + n, quote, s->at[i].value, quote);
    }
    fputs(n > 0 ? "}\n}\n" : "\n}\n", out);
}

void sp_write_deepspeed(const struct sp_launched *l, FILE *out)
{
    struct sp_settings *const made = sp_settings_of(l), *const s = sp_settings_of(l);
    make(l, made);
    sp_put_rows(l, made, s);
    sp_lose_plan(l, NULL);
    sp_lose_rules(l,
                  &(struct sp_rules){.settings = s,
                                     .devices = l->plan->pp == 1 ? sp_plan_devices(l->plan) : 0});
    fputs("{\n  \"_comment\": [", out);
    put_comments(out, l);
    fputs("\n  ],\n", out);
    put_members(s, out);
    free(made);
    free(s);
}
