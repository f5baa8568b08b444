/* A plan as options of MaxText. */
#include <stdlib.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/maxtext/maxtext.h"
#include "launch/fields/models.h"
#include "launch/formats/syntax.h"

/* Its name of what runs again and waits elsewhere, "" where it has none. */
static void name_policy(const struct sp_launched *l, char *name)
{
    char ours[SP_ROW_WORD];
    snprintf(ours, sizeof ours, "%s%s", l->remat, l->plan->recompute.offload ? "+offload" : "");
    sp_row_theirs(sp_row_of(l->words[0], "remat_policy"), ours, name);
}

/* Layers before those that a pipeline takes: the dense ones of a mixture. */
static int64_t dense_layers(const struct sp_model *m)
{
    return m->moe.experts > 0 ? m->moe.dense_layers : 0;
}

/* MaxText's name of the model; "" if no configuration of its has these dimensions, which are then
 * written by base_emb_dim and its like. */
static void name_model(const struct sp_launched *l, char *name)
{
    name[0] = '\0';
    if (sp_is_builtin_model(l->model))
        sp_model_theirs(l->words[0], l->model->name, name);
}

/* What a model of dimensions alone cannot be. */
static void lose_model(const struct sp_launched *l)
{
    const struct sp_model *const m = l->model;
    const struct {
        bool is;
        const char *what;
    } kinds[] = {
        {sp_is_hybrid(m), "layers of other kinds than attention and an MLP"},
        {m->moe.experts > 0, "a mixture of experts"},
        {m->mla.kv_lora_rank > 0, "multi-head latent attention"},
        {!m->gated_mlp, "an MLP without a gate"},
        {m->norm != SP_NORM_RMS || m->norms_per_layer != 2 || m->embedding_norm, "other norms"},
        {m->qk_norm == SP_QK_NORM_FULL, "norms over all heads of queries and keys"},
        {m->qkv_bias || m->o_bias || m->mlp_bias || m->lm_head_bias, "biases"},
        {m->parallel_attention, "attention and MLP side by side"},
        {m->learned_positions > 0, "learned positions"},
        {m->extra_attention_params_per_layer > 0, "further attention weights"},
        {m->sliding_window > 0, "sliding windows"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is)
            sp_lose(l, "%s: it has no configuration of this model, only of its dimensions",
                    kinds[i].what);
}

static void write_shape(const struct sp_launch_words *words, const struct sp_model *m, FILE *out)
{
    fprintf(out, "model_name: default\ndecoder_block: %s\n",
            m->qk_norm == SP_QK_NORM_HEAD ? "qwen3" : "llama2");
    for (const struct sp_launch_row *row = NULL; (row = sp_next_dimension(words, row));) {
        char value[SP_ROW_WORD];
        sp_format_field(sp_find_field(&sp_model_table, row->model), m, value, sizeof value);
        fprintf(out, "%s: %s\n", row->name, value);
    }
    fprintf(out, "mlp_activations: [silu, linear]\nlogits_via_embedding: %s\n",
            m->tied_embeddings ? "True" : "False");
    if (m->qk_norm == SP_QK_NORM_HEAD)
        fputs("use_qk_norm: True\n", out);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Every axis inside of slices (nodes of a switched machine) as far as it divides, then between. */
static void write_axes(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const int64_t jax = sp_jax_devices_of(l->hw);
    const bool torus = l->hw->network.kind == SP_TORUS;
    const int64_t ep = p->dp % p->ep == 0 ? p->ep : 1;
    const int64_t group = p->zero < 3                     ? 1
                          : p->shards % (p->cp * ep) == 0 ? p->shards / p->cp / ep
                                                          : p->dp / ep;
    const struct {
        const char *name;
        int64_t degree;
    } written[] = {{"tensor", p->tp},   {"context", p->cp},
                   {"expert", ep},      {"fsdp", p->zero < 3 ? 1 : group * jax},
                   {"pipeline", p->pp}, {"data", p->dp / ep / group * (p->zero < 3 ? jax : 1)}};
    int64_t inside = (torus ? l->hw->chips_per_slice : l->hw->network.domain) * jax;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const int64_t ici = gcd(inside, written[i].degree);
        inside /= ici;
        if (written[i].degree == 1 && i != 3)
            continue;
        fprintf(out, "ici_%s_parallelism: %lld\n", written[i].name, (long long)ici);
        fprintf(out, "dcn_%s_parallelism: %lld\n", written[i].name,
                (long long)(written[i].degree / ici));
    }
    if (p->dp / ep / group == 1)
        fputs("dcn_data_parallelism: 1\n", out);
}

/* The cloud's name of v5e slices; MaxText says v5e-256. */
static const char cloud_v5e[] = "v5litepod-";

static bool starts_as_v5e(const char *topology)
{
    return strncmp(topology, cloud_v5e, strlen(cloud_v5e)) == 0;
}

/* The options themselves. */
static void put_options(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    char topology[64], model[SP_ROW_WORD], policy[SP_ROW_WORD];
    name_model(l, model);
    name_policy(l, policy);
    if (model[0])
        fprintf(out, "model_name: %s\n", model);
    else
        write_shape(l->words[0], l->model, out);
    sp_cloud_name(l->hw, topology, sizeof topology);
    if (topology[0])
        fprintf(out, "compile_topology: %s%s\ncompile_topology_num_slices: %lld\n",
                starts_as_v5e(topology) ? "v5e-" : "",
                topology + (starts_as_v5e(topology) ? strlen(cloud_v5e) : 0),
                (long long)l->hw->slices);
    write_axes(l, out);
    const int64_t m = sp_plan_microbatches(p), steps = p->pp > 1 ? 1 : m;
    const double devices = (double)(sp_plan_devices(p) * sp_jax_devices_of(l->hw));
    fprintf(out, "per_device_batch_size: %.12g\n", (double)p->batch / (double)steps / devices);
    fprintf(out, "gradient_accumulation_steps: %lld\n", (long long)steps);
    fprintf(out, "max_target_length: %lld\n", (long long)p->seq);
    if (p->pp > 1)
        fprintf(out,
                "num_pipeline_microbatches: %lld\nnum_pipeline_repeats: %lld\n"
                "num_layers_per_pipeline_stage: %lld\n",
                (long long)m, (long long)p->vpp,
                (long long)((l->model->layers - dense_layers(l->model)) / (p->pp * p->vpp)));
    if (p->zero == 1)
        fputs("shard_optimizer_over_data: True\n", out);
    if (l->hw->network.kind != SP_TORUS)
        fputs("hardware: gpu\n", out);
    if (policy[0])
        fprintf(out, "remat_policy: %s\n", policy);
    fprintf(out, "dtype: %s\nweight_dtype: float32\n",
            sp_multiplies_in_fp32(p) ? "float32" : "bfloat16");
    if (p->dtype == SP_FP8)
        fputs("quantization: fp8\n", out);
}

void sp_write_maxtext(const struct sp_launched *l, FILE *out)
{
    struct sp_settings *s;
    char model[SP_ROW_WORD], policy[SP_ROW_WORD];
    char *const options = sp_written_yaml(l, put_options, &s);
    name_policy(l, policy);
    sp_lose_plan(l, (const struct sp_fact[]){{"unnamed", !policy[0]}, {"", 0}});
    name_model(l, model);
    if (!model[0])
        lose_model(l);
    sp_lose_rules(l, &(struct sp_rules){.settings = s, .model = l->model});
    sp_write_head(l, l->words[0], " options", out);
    sp_write_assumed(l, "maxtext", false, "# ", "\n", out);
    fputs(options, out);
    free(options);
    free(s);
}
