/* A plan as arguments of Megatron-LM. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/megatron/megatron.h"

static int64_t member(const void *base, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void write_model(const struct sp_model *m, int64_t seq, FILE *out)
{
    for (size_t i = 0; i < SP_SHAPE_FLAGS; i++)
        if (member(m, sp_shape_flags[i].offset) > 0)
            fprintf(out, "%s %lld\n", sp_shape_flags[i].flag,
                    (long long)member(m, sp_shape_flags[i].offset));
    if (m->kv_heads != m->heads && m->mla.kv_lora_rank == 0)
        fprintf(out, "--group-query-attention\n--num-query-groups %lld\n", (long long)m->kv_heads);
    fputs(m->gated_mlp ? "--swiglu\n" : "", out);
    fprintf(out, "--normalization %s\n", m->norm == SP_NORM_RMS ? "RMSNorm" : "LayerNorm");
    fputs(!m->o_bias && !m->mlp_bias ? "--disable-bias-linear\n" : "", out);
    fputs(!m->o_bias && !m->mlp_bias && m->qkv_bias ? "--add-qkv-bias\n" : "", out);
    fputs(m->qk_norm == SP_QK_NORM_HEAD ? "--qk-layernorm\n" : "", out);
    fputs(!m->tied_embeddings ? "--untie-embeddings-and-output-weights\n" : "", out);
    fprintf(out, "--position-embedding-type %s\n--max-position-embeddings %lld\n",
            m->learned_positions > 0 ? "learned_absolute" : "rope",
            (long long)most(m->learned_positions > 0 ? m->learned_positions : m->max_seq, seq));
    for (size_t i = 0; i < SP_MIXTURE_FLAGS && m->moe.experts > 0; i++)
        fprintf(out, "%s %lld\n", sp_mixture_flags[i].flag,
                (long long)member(m, sp_mixture_flags[i].offset));
    if (m->moe.experts > 0) {
        if (sp_shared_d_ff(m) > 0)
            fprintf(out, "--moe-shared-expert-intermediate-size %.0f\n", (double)sp_shared_d_ff(m));
        if (m->moe.dense_layers > 0)
            fprintf(out, "--moe-layer-freq '[0]*%lld+[1]*%lld'\n", (long long)m->moe.dense_layers,
                    (long long)(m->layers - m->moe.dense_layers));
        else if (m->moe.every > 1)
            fprintf(out, "--moe-layer-freq %lld\n", (long long)m->moe.every);
        fputs(m->moe.score_correction_bias ? "--moe-router-score-function "
                                             "sigmoid\n--moe-router-enable-expert-bias\n"
                                           : "",
              out);
        fputs(m->moe.top_k == 1 ? "--moe-router-pre-softmax\n" : "", out);
        fputs("--moe-grouped-gemm\n", out);
    }
    if (m->mla.kv_lora_rank > 0) /* whose norms on the latents are asked for */
        fputs("--multi-latent-attention\n--qk-layernorm\n", out);
    for (size_t i = 0; i < SP_LATENT_FLAGS && m->mla.kv_lora_rank > 0; i++)
        if (member(m, sp_latent_flags[i].offset) > 0)
            fprintf(out, "%s %lld\n", sp_latent_flags[i].flag,
                    (long long)member(m, sp_latent_flags[i].offset));
    fputs("--attention-dropout 0.0\n--hidden-dropout 0.0\n", out); /* 0.1 by default */
}

static void lose_model(const struct sp_model *m, int64_t seq, struct sp_written *lost)
{
    if (sp_is_hybrid(m))
        sp_lose(lost, "layers of other kinds than attention and an MLP or experts");
    if (m->learned_positions > 0 && m->learned_positions < seq)
        sp_lose(lost, "a table of %lld learned positions for %lld tokens",
                (long long)m->learned_positions, (long long)seq);
    if (m->sliding_window > 0 && m->sliding_window < seq)
        sp_lose(lost, "attention to the last %lld tokens alone", (long long)m->sliding_window);
    if (m->norms_per_layer != 2)
        sp_lose(lost, "%lld norms in a block", (long long)m->norms_per_layer);
    if (m->norm == SP_NORM_LAYER_NO_BIAS || m->norm == SP_NORM_NO_AFFINE)
        sp_lose(lost, "norms without shift or weights");
    if (m->parallel_attention)
        sp_lose(lost, "attention and MLP side by side");
    if (m->embedding_norm)
        sp_lose(lost, "a norm after the embedding");
    if (m->o_bias != m->mlp_bias || (m->o_bias && !m->qkv_bias))
        sp_lose(lost, "biases in some of the linear layers");
    if (m->qk_norm == SP_QK_NORM_FULL)
        sp_lose(lost, "norms over all heads of queries and keys");
    if (m->lm_head_bias)
        sp_lose(lost, "a bias on the output head");
    if (m->extra_attention_params_per_layer > 0)
        sp_lose(lost, "%lld further attention weights in a block (sinks, gates)",
                (long long)m->extra_attention_params_per_layer);
    if (m->moe.router_bias || m->moe.expert_bias)
        sp_lose(lost, "biases of router and experts");
    if (m->moe.dense_layers > 0 && m->moe.every > 1)
        sp_lose(lost, "leading dense layers and experts in one layer of %lld",
                (long long)m->moe.every);
}

/* Layers that are recomputed in each chunk of `of`; a share of all layers. */
static double recomputed(const struct sp_launched *l, double *of)
{
    const struct sp_plan *const p = l->plan;
    *of = (double)l->model->layers / (double)(p->pp * p->vpp);
    return p->recompute_layers > 0 ? ceil(p->recompute_layers * *of - 1e-9) : 0;
}

static bool overlaps_tp(const struct sp_launched *l)
{
    return l->plan->sequence_parallel && strcmp(l->framework, "nemo") == 0;
}

static bool runs_again(const struct sp_plan *p, enum sp_module module)
{
    return (p->recompute.modules >> module & 1) != 0;
}

/* Its modules that can be offloaded are those of attention, norms and routed experts. */
static void lose_offload(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const struct sp_moe *const moe = &l->model->moe;
    const bool dense = moe->experts == 0 || moe->dense_layers > 0 || moe->every > 1;
    if (!p->recompute.offload)
        return;
    if (strcmp(l->remat, "full") == 0)
        sp_lose(lost, "inputs of layers in the host's memory");
    else if (dense && !runs_again(p, SP_MODULE_MLP))
        sp_lose(lost, "activations of MLPs without experts in the host's memory");
    else if (moe->experts > 0 && sp_shared_d_ff(l->model) > 0 &&
             !runs_again(p, SP_MODULE_SHARED_EXPERTS) && !runs_again(p, SP_MODULE_MOE))
        sp_lose(lost, "activations of shared experts in the host's memory");
}

static void lose_plan(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const int64_t chunks = p->pp * p->vpp, L = l->model->layers;
    static const bool known[SP_SCHEDULES] = {[SP_1F1B] = true, [SP_INTERLEAVED] = true};
    if (p->pp > 1 && !known[p->schedule])
        sp_lose(lost, "this pipeline schedule; 1F1B runs, interleaved with chunks");
    double layers;
    const double some = recomputed(l, &layers);
    if (p->recompute_layers < 1 && strcmp(l->remat, "full") == 0 &&
        some * (double)chunks / (double)L != p->recompute_layers)
        sp_lose(lost, "recompute of a share of %g; %.0f of %g layers of a chunk stand for it",
                p->recompute_layers, some, layers);
    sp_lose_execution(l, lost);
    lose_offload(l, lost);
    if (p->stages_inside)
        sp_lose(lost, "stages as neighbours (--placement pp-inside)");
    if (strcmp(l->remat, "dots") == 0) /* whose activation functions run again too */
        sp_lose(lost, "recompute policy dots; attention and norms that run again stand for it");
    else if (strcmp(l->remat, "none") != 0 && strcmp(l->remat, "selective") != 0 &&
             strcmp(l->remat, "full") != 0)
        sp_lose(lost, "recompute policy %s", l->remat);
    if (p->recompute_layers < 1 && strcmp(l->remat, "full") != 0)
        sp_lose(lost, "a share of the layers for recompute policy %s", l->remat);
    if (!sp_recipe_is(l, "mixed16") && !sp_recipe_is(l, "mixed18") &&
        !sp_recipe_is(l, "fp8-mixed18") && !sp_recipe_is(l, "fp8-mixed16") &&
        !sp_recipe_is(l, "fp32") && !sp_recipe_is(l, "muon"))
        sp_lose(lost, "precision recipe %s; %s with fp32 states and gradients stands for it",
                sp_recipe_text(l), p->dtype == SP_FP8 ? "fp8" : "bf16");
}

static void write_recompute(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    double per_chunk;
    const double some = recomputed(l, &per_chunk);
    if (strcmp(l->remat, "dots") == 0 ||
        (p->recompute.modules != 0 && strcmp(l->remat, "full") != 0))
        sp_write_modules(l, out);
    else if (strcmp(l->remat, "selective") == 0)
        fputs("--recompute-granularity selective\n", out);
    else if (strcmp(l->remat, "full") == 0 && p->recompute_layers < 1)
        fprintf(out,
                "--recompute-granularity full\n--recompute-method block\n--recompute-num-layers "
                "%.0f\n",
                some);
    else if (strcmp(l->remat, "full") == 0)
        fputs("--recompute-granularity full\n--recompute-method uniform\n--recompute-num-layers "
              "1\n",
              out);
}

/* What can be offloaded of every layer; of experts there is more. */
const char sp_megatron_offloaded[] = "attn_norm qkv_linear core_attn attn_proj mlp_norm";

static void write_plan(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const int64_t L = l->model->layers, chunks = p->pp * p->vpp;
    for (size_t i = 0; i < SP_DEGREE_FLAGS; i++)
        if (sp_degree_flags[i].always || member(p, sp_degree_flags[i].offset) > 1)
            fprintf(out, "%s %lld\n", sp_degree_flags[i].flag,
                    (long long)member(p, sp_degree_flags[i].offset));
    if (l->model->moe.experts > 0) /* without it Megatron would take tp */
        fprintf(out, "--expert-tensor-parallel-size %lld\n", (long long)p->etp);
    fputs(p->sequence_parallel ? "--sequence-parallel\n" : "", out);
    if (L % chunks != 0 && (L + 2) % chunks == 0)
        fputs("--account-for-embedding-in-pipeline-split\n--account-for-loss-in-pipeline-split\n",
              out);
    fprintf(out, "--global-batch-size %lld\n--seq-length %lld\n", (long long)p->batch,
            (long long)p->seq);
    if (p->zero == 1)
        fputs("--use-distributed-optimizer\n", out);
    if (p->zero > 1)
        fprintf(out,
                "--use-megatron-fsdp\n--data-parallel-sharding-strategy %s\n--ckpt-format "
                "fsdp_dtensor\n",
                sp_strategies[p->zero]);
    if (p->zero > 0 && p->shards < p->dp * p->cp)
        fprintf(out, "--num-distributed-optimizer-instances %lld\n",
                (long long)(p->dp * p->cp / p->shards));
    write_recompute(l, out);
    if (p->recompute.offload)
        fprintf(out, "--fine-grained-activation-offloading\n--offload-modules %s%s\n",
                sp_megatron_offloaded,
                l->model->moe.experts > 0 && !runs_again(p, SP_MODULE_MOE) ? " expert_fc1 moe_act"
                                                                           : "");
    if (!sp_multiplies_in_fp32(p))
        fputs("--bf16\n", out);
    if (p->dtype == SP_FP8)
        fputs("--fp8-format hybrid\n", out);
    sp_write_execution(l, out);
    fputs(l->precision->grad_bytes == 2 ? "--grad-reduce-in-bf16\n"
                                        : "--accumulate-allreduce-grads-in-fp32\n",
          out);
    if (sp_states_are(l, "muon"))
        fputs("--optimizer muon\n", out);
    fputs("--overlap-grad-reduce\n", out);
    if (p->zero > 0)
        fputs("--overlap-param-gather\n", out);
    if (overlaps_tp(l))
        fputs("--tp-comm-overlap\n", out);
}

void sp_put_megatron(const struct sp_launched *l, struct sp_settings *s, struct sp_written *lost)
{
    char *text = NULL, *rest;
    size_t size;
    struct sp_error none = {0};
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        abort();
    lose_model(l->model, l->plan->seq, lost);
    lose_plan(l, lost);
    write_model(l->model, l->plan->seq, out);
    write_plan(l, out);
    fclose(out);
    rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && line[0];) {
        char *const name = strsep(&line, " ");
        sp_add_setting(s, name, line, &none);
    }
    free(text);
}

/* Variables of the environment that its checks look at. */
static void write_environment(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const bool orders = (p->tp > 1 || p->cp > 1) && p->zero < 2;
    if (orders || p->recompute.offload)
        fprintf(out, "# environment:%s%s\n", orders ? " CUDA_DEVICE_MAX_CONNECTIONS=1" : "",
                p->recompute.offload ? " NVTE_CPU_OFFLOAD_V1=1" : "");
    if (p->zero > 1)
        fputs("# environment: CUDA_DEVICE_MAX_CONNECTIONS is not 1\n", out);
}

void sp_write_megatron_comments(const struct sp_launched *l, FILE *out)
{
    sp_write_assumed(l, overlaps_tp(l) ? "nemo" : "megatron", false, "# ", "\n", out);
    write_environment(l, out);
}

void sp_write_megatron(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    struct sp_settings *const s = calloc(1, sizeof *s); /* too large for the stack */
    struct sp_refusals refused;
    char form[64];
    if (!s)
        abort();
    sp_put_megatron(l, s, lost);
    sp_check_megatron(s, (enum sp_core)l->version, sp_plan_devices(l->plan), &refused);
    sp_lose_refusals("Megatron-LM", &refused, lost);
    sp_spell_for_version(s, l->version, lost);
    snprintf(form, sizeof form, "Megatron-LM core %s arguments", sp_megatron_version(l->version));
    sp_write_head(l, form, lost, out);
    sp_write_megatron_comments(l, out);
    for (int i = 0; i < s->n; i++)
        if (s->at[i].name[0])
            fprintf(out, "%s%s%s\n", s->at[i].name, s->at[i].value[0] ? " " : "", s->at[i].value);
    free(s);
}
