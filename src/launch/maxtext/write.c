/* A plan as options of MaxText. */
#include <stdlib.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/maxtext/maxtext.h"
#include "launch/fields/models.h"
#include "launch/formats/syntax.h"

/* Its name for what is recomputed and offloaded, "" if it has none. */
static void name_policy(const struct sp_launched *l, char *name)
{
    char ours[SP_ROW_WORD];
    if (l->plan->recompute.away != 0) {
        snprintf(name, SP_ROW_WORD, "custom");
        return;
    }
    snprintf(ours, sizeof ours, "%s%s", l->remat, l->plan->recompute.offload ? "+offload" : "");
    sp_row_theirs(sp_row_of(l->words[0], "remat_policy"), ours, name);
    if (!name[0] && sp_custom_names(l))
        snprintf(name, SP_ROW_WORD, "custom");
}

/* Layers before those that a pipeline takes: the dense ones of a mixture. */
static int64_t dense_layers(const struct sp_model *m)
{
    return m->moe.experts > 0 ? m->moe.dense_layers : 0;
}

/* MaxText's name of the model; "" if none of its configurations has these dimensions, which are
 * then written as base_emb_dim and the like. */
static void name_model(const struct sp_launched *l, char *name)
{
    name[0] = '\0';
    if (sp_ships_model(l))
        sp_model_theirs(l->words[0], l->model->name, name);
}

/* Models that dimensions alone cannot describe. */
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
        {m->qk_norm == SP_QK_NORM_FULL, "q and k norms over all heads"},
        {m->qkv_bias || m->o_bias || m->mlp_bias || m->lm_head_bias, "biases"},
        {m->parallel_attention, "attention and MLP in parallel"},
        {m->learned_positions > 0, "learned positions"},
        {m->extra_attention_params_per_layer > 0, "further attention weights"},
        {m->sliding_window > 0, "sliding windows"},
        {m->attention_chunk > 0, "attention in chunks"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is)
            sp_lose(l, "%s: no configuration of this model, only its dimensions", kinds[i].what);
}

static void make_shape(const struct sp_model *m, struct sp_settings *s)
{
    const bool normed = m->qk_norm == SP_QK_NORM_HEAD;
    sp_make_setting(s, "model_name", "default");
    sp_make_setting(s, "decoder_block", normed ? "qwen3" : "llama2");
    for (const struct sp_launch_row *row = NULL; (row = sp_next_dimension(s->words, row));) {
        char value[SP_ROW_WORD];
        sp_format_field(sp_find_field(&sp_model_table, row->model), m, value, sizeof value);
        sp_make_setting(s, row->name, "%s", value);
    }
    sp_make_setting(s, "mlp_activations", "[silu, linear]");
    sp_make_setting(s, "logits_via_embedding", m->tied_embeddings ? "True" : "False");
    if (normed)
        sp_make_setting(s, "use_qk_norm", "True");
}

/* Every axis inside of slices (nodes of a switched machine) as far as it divides, then between. */
static void make_axes(const struct sp_launched *l, struct sp_settings *s)
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
        const int64_t ici = sp_common_divisor(inside, written[i].degree);
        inside /= ici;
        if (written[i].degree == 1 && i != 3)
            continue;
        for (int between = 0; between < 2; between++) {
            char name[48];
            snprintf(name, sizeof name, "%s_%s_parallelism", between ? "dcn" : "ici",
                     written[i].name);
            sp_make_whole(s, name, between ? written[i].degree / ici : ici);
        }
    }
    if (p->dp / ep / group == 1)
        sp_make_whole(s, "dcn_data_parallelism", 1);
}

/* The kind of CP. On TPUs ring and Ulysses use Tokamax's kernel; Ulysses leaves ranks even work
 * in the tokens' own order. */
static void make_context(const struct sp_launched *l, struct sp_settings *s)
{
    const enum sp_cp_kind kind = l->plan->execution.cp_kind;
    sp_make_cp_kind(l, s);
    if (l->plan->cp == 1 || kind == SP_CP_ALLGATHER)
        return;
    if (kind == SP_CP_ULYSSES)
        sp_make_setting(s, "context_parallel_load_balance", "False");
    if (l->hw->network.kind != SP_TORUS)
        return;
    sp_make_setting(s, "attention", "flash");
    sp_make_setting(s, "use_tokamax_splash", "True");
}

/* The cloud's name of v5e slices; MaxText says v5e-256. */
static const char cloud_v5e[] = "v5litepod-";

static bool starts_as_v5e(const char *topology)
{
    return strncmp(topology, cloud_v5e, strlen(cloud_v5e)) == 0;
}

/* The options themselves. `model` and `policy`: names, "" if it has none. */
static void make_options(const struct sp_launched *l, const char *model, const char *policy,
                         struct sp_settings *s)
{
    const struct sp_plan *const p = l->plan;
    char topology[64];
    const int64_t m = sp_plan_microbatches(p), steps = p->pp > 1 ? 1 : m;
    const double devices = (double)(sp_plan_devices(p) * sp_jax_devices_of(l->hw));
    if (model[0])
        sp_make_setting(s, "model_name", "%s", model);
    else
        make_shape(l->model, s);
    sp_cloud_name(l->hw, topology, sizeof topology);
    if (topology[0]) {
        const bool v5e = starts_as_v5e(topology);
        sp_make_setting(s, "compile_topology", "%s%s", v5e ? "v5e-" : "",
                        topology + (v5e ? strlen(cloud_v5e) : 0));
        sp_make_whole(s, "compile_topology_num_slices", l->hw->slices);
    }
    make_axes(l, s);
    make_context(l, s);
    sp_make_setting(s, "per_device_batch_size", "%.12g",
                    (double)p->batch / (double)steps / devices);
    sp_make_whole(s, "gradient_accumulation_steps", steps);
    sp_make_whole(s, "max_target_length", p->seq);
    if (p->pp > 1) {
        sp_make_whole(s, "num_pipeline_microbatches", m);
        sp_make_whole(s, "num_pipeline_repeats", p->vpp);
        sp_make_whole(s, "num_layers_per_pipeline_stage",
                      (l->model->layers - dense_layers(l->model)) / (p->pp * p->vpp));
    }
    if (p->zero == 1)
        sp_make_setting(s, "shard_optimizer_over_data", "True");
    if (l->hw->network.kind != SP_TORUS)
        sp_make_setting(s, "hardware", "gpu");
    if (sp_is(policy, "custom"))
        sp_make_custom(l, s);
    else if (policy[0])
        sp_make_setting(s, "remat_policy", "%s", policy);
    sp_make_setting(s, "dtype", sp_multiplies_in_fp32(p) ? "float32" : "bfloat16");
    sp_make_setting(s, "weight_dtype", "float32");
    if (p->dtype == SP_FP8)
        sp_make_setting(s, "quantization", "fp8");
}

void sp_write_maxtext(const struct sp_launched *l, FILE *out)
{
    struct sp_settings *const s = sp_settings_of(l);
    char model[SP_ROW_WORD], policy[SP_ROW_WORD];
    name_policy(l, policy);
    sp_lose_plan(l, (const struct sp_fact[]){
                        {"unnamed", !policy[0] || (sp_is(policy, "custom") && !sp_custom_names(l))},
                        {"", 0}});
    name_model(l, model);
    make_options(l, model, policy, s);
    if (!model[0])
        lose_model(l);
    sp_lose_rules(l, &(struct sp_rules){.settings = s, .model = l->model});
    sp_write_head(l, l->words[0], " options", out);
    sp_write_assumed(l, "maxtext", false, "# ", "\n", out);
    sp_put_yaml(s, out);
    free(s);
}
