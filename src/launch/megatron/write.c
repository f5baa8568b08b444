/* A plan as arguments of Megatron-LM. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/fields/stages.h"
#include "launch/megatron/megatron.h"

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void make_experts(const struct sp_model *m, struct sp_settings *made)
{
    if (sp_shared_d_ff(m) > 0)
        sp_make_setting(made, "--moe-shared-expert-intermediate-size", "%.0f",
                        (double)sp_shared_d_ff(m));
    if (m->moe.dense_layers > 0)
        sp_make_setting(made, "--moe-layer-freq", "'[0]*%lld+[1]*%lld'",
                        (long long)m->moe.dense_layers,
                        (long long)(m->layers - m->moe.dense_layers));
    else if (m->moe.every > 1)
        sp_make_whole(made, "--moe-layer-freq", m->moe.every);
    if (m->moe.score_correction_bias)
        sp_make_setting(made, "--moe-router-score-function", "sigmoid");
    sp_make_switch(made, "--moe-router-pre-softmax", m->moe.top_k == 1);
}

/* Arguments of the model that take more than a row. */
static void make_model(const struct sp_model *m, int64_t seq, struct sp_settings *made)
{
    const bool plain = !m->o_bias && !m->mlp_bias, learned = m->learned_positions > 0;
    if (m->kv_heads != m->heads && m->mla.kv_lora_rank == 0) {
        sp_make_switch(made, "--group-query-attention", true);
        sp_make_whole(made, "--num-query-groups", m->kv_heads);
    }
    sp_make_switch(made, "--disable-bias-linear", plain);
    sp_make_switch(made, "--add-qkv-bias", plain && m->qkv_bias);
    sp_make_switch(made, "--qk-layernorm", m->qk_norm == SP_QK_NORM_HEAD);
    sp_make_setting(made, "--position-embedding-type", learned ? "learned_absolute" : "rope");
    sp_make_whole(made, "--max-position-embeddings",
                  most(learned ? m->learned_positions : m->max_seq, seq));
    if (m->sliding_window > 0)
        sp_make_setting(made, "--window-size", "%lld,0", (long long)m->sliding_window - 1);
    if (m->sliding_window > 0 && m->global_first > 0)
        sp_make_setting(made, "--window-attn-skip-freq", "'[0]*%lld+[1]*%lld'",
                        (long long)m->global_first, (long long)(m->layers - m->global_first));
    else if (m->sliding_window > 0 && m->global_every > 0)
        sp_make_whole(made, "--window-attn-skip-freq", m->global_every);
    if (m->extra_attention_params_per_layer == m->heads)
        sp_make_setting(made, "--softmax-type", "learnable");
    if (m->moe.experts > 0)
        make_experts(m, made);
}

/* Its modules that can be offloaded are those of attention, norms and routed experts. */
static void lose_plan(const struct sp_launched *l)
{
    const struct sp_moe *const moe = &l->model->moe;
    const bool routed = moe->experts > 0;
    sp_lose_plan(
        l, (const struct sp_fact[]){{"dense", !routed || moe->dense_layers > 0 || moe->every > 1},
                                    {"all", l->plan->recompute.away == 0},
                                    {"hybrid", sp_is_hybrid(l->model)},
                                    {"shared", routed && sp_shared_d_ff(l->model) > 0},
                                    {"", 0}});
}

static void make_sharding(const struct sp_plan *p, struct sp_settings *made)
{
    static const char strategies[] = "--data-parallel-sharding-strategy";
    char stage[2] = {(char)('0' + p->zero), '\0'}, strategy[SP_ROW_WORD];
    sp_make_switch(made, "--use-distributed-optimizer", p->zero == 1);
    sp_make_switch(made, "--use-megatron-fsdp", p->zero > 1);
    if (p->zero > 1) {
        sp_row_theirs(sp_row_of(made->words, strategies), stage, strategy);
        sp_make_setting(made, strategies, "%s", strategy);
        sp_make_setting(made, "--ckpt-format", "fsdp_dtensor");
    }
    if (p->zero > 0 && p->shards < p->dp * p->cp)
        sp_make_whole(made, "--num-distributed-optimizer-instances", (p->dp * p->cp / p->shards));
    const enum sp_dp_overlap hides = sp_dp_overlap(p);
    sp_make_switch(made, "--overlap-grad-reduce", hides != SP_DP_OVERLAP_NONE);
    sp_make_switch(made, "--overlap-param-gather", p->zero > 0 && hides == SP_DP_OVERLAP_ALL);
}

/* Layers of a stage's chunk: all have the same, but the first stage has extra layers in its first
 * chunk, and others have extra or missing layers in the last, as memory counts them. After modules
 * for further tokens in a separate chunk, the last chunk has no layers. */
static int64_t layers_of_chunk(const struct sp_launched *l, int64_t all, int64_t stage,
                               int64_t chunk)
{
    const struct sp_plan *const p = l->plan;
    const int64_t chunks = p->pp * p->vpp, each = (2 * l->model->layers + chunks) / (2 * chunks);
    const int64_t before = chunk * each, rest = (p->vpp - 1) * each;
    if (p->own.modules_apart && stage == p->pp - 1)
        return chunk < p->vpp - 2 ? each : chunk == p->vpp - 2 ? all - (rest - each) : 0;
    if (stage == 0 && all > rest + each)
        return chunk == 0 ? all - rest : each;
    const int64_t left = all > before ? all - before : 0;
    return chunk < p->vpp - 1 && left > each ? each : left;
}

/* Whether table and head count as a layer each in equal chunks. */
static bool counts_ends(const struct sp_launched *l)
{
    const int64_t L = l->model->layers, chunks = l->plan->pp * l->plan->vpp;
    return l->plan->own.n + l->plan->first_layers + l->plan->last_layers == 0 &&
           l->model->mtp_layers == 0 && L % chunks != 0 && (L + 2) % chunks == 0;
}

/* Whether options for the ends determine the stages: chunks and the stages between share evenly. */
static bool says_ends(const struct sp_plan *p, int64_t layers)
{
    const int64_t first = p->first_layers, last = p->last_layers;
    const int64_t inner = p->pp - (first > 0) - (last > 0);
    return first % p->vpp == 0 && last % p->vpp == 0 &&
           (inner == 0 || (layers - first - last) % (inner * p->vpp) == 0);
}

/* Whether only a layout can express the stages: the plan sets its own, or a split has a remainder.
 */
static bool needs_layout(const struct sp_launched *l)
{
    const struct sp_plan *const p = l->plan;
    return p->pp > 1 && (p->own.n > 0 || !(counts_ends(l) || says_ends(p, l->model->layers)));
}

static void append_modules(const struct sp_launched *l, char *text, size_t size)
{
    const long long modules = l->model->mtp_layers;
    if (modules > 0)
        sp_append(text, size, modules > 1 ? "m*%lld" : "m", modules);
}

/* Stages in Megatron's letters, equal chunks as a group. */
static void make_layout(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const int64_t chunks = p->pp * p->vpp, last = chunks - 1,
                  modules_at = last - p->own.modules_apart;
    int64_t layers_of[SP_MAX_STAGES];
    sp_count_stages(l, layers_of);
    char text[200] = "'E";
    for (int64_t c = 0, next; c < chunks; c = next) {
        const long long layers = layers_of_chunk(l, layers_of[c % p->pp], c % p->pp, c / p->pp);
        for (next = c + 1; c > 0 && layers > 0 && next < modules_at; next++)
            if (layers_of_chunk(l, layers_of[next % p->pp], next % p->pp, next / p->pp) != layers)
                break;
        const bool group = next > c + 1;
        sp_append(text, sizeof text, group ? "(" : "");
        if (layers > 0)
            sp_append(text, sizeof text, layers > 1 ? "t*%lld" : "t", layers);
        if (c == modules_at)
            append_modules(l, text, sizeof text);
        sp_append(text, sizeof text, next < chunks ? "|" : "L'");
        if (group)
            sp_append(text, sizeof text, ")*%lld", (long long)(next - c));
    }
    if (strlen(text) + 1 < sizeof text)
        sp_make_setting(made, "--pipeline-model-parallel-layout", "%s", text);
    else
        sp_lose(l, "layers of every stage (--stage-layers): the layout has too many letters");
}

/* Arguments of the plan that take more than a row. */
static void make_plan(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const bool ends = counts_ends(l), narrow = l->precision->grad_bytes == 2;
    const int64_t group = sp_microbatch_group(sp_plan_microbatches(p), p->pp); /* pp by default */
    if (l->model->moe.experts > 0) /* without it Megatron would take tp */
        sp_make_whole(made, "--expert-tensor-parallel-size", p->etp);
    sp_make_switch(made, "--sequence-parallel", p->sequence_parallel);
    sp_make_switch(made, "--account-for-embedding-in-pipeline-split", ends);
    sp_make_switch(made, "--account-for-loss-in-pipeline-split", ends);
    sp_make_whole(made, "--global-batch-size", p->batch);
    sp_make_whole(made, "--seq-length", p->seq);
    if (p->pp > 1 && p->vpp > 1 && group > p->pp)
        sp_make_whole(made, "--microbatch-group-size-per-virtual-pipeline-stage", group);
    if (needs_layout(l))
        make_layout(l, made);
    make_sharding(p, made);
    sp_make_recompute(l, made);
    sp_make_switch(made, "--bf16", !sp_multiplies_in_fp32(p));
    if (p->dtype == SP_FP8)
        sp_make_setting(made, "--fp8-format", "hybrid");
    sp_make_execution(l, made);
    sp_make_switch(made, "--grad-reduce-in-bf16", narrow);
    sp_make_switch(made, "--accumulate-allreduce-grads-in-fp32", !narrow);
    if (sp_states_are(l, "muon"))
        sp_make_setting(made, "--optimizer", "muon");
    sp_make_switch(made, "--tp-comm-overlap", sp_overlaps_tp(l));
}

/* Settings given by the letters are not repeated, but refusals for stages of one chunk are: the
 * rules do not count letters. */
static void settle_layout(const struct sp_launched *l, struct sp_settings *s)
{
    static const char *const by_letters[] = {"--num-virtual-stages-per-pipeline-rank",
                                             "--decoder-first-pipeline-num-layers",
                                             "--decoder-last-pipeline-num-layers"};
    static const char overlap[] = "--overlap-moe-expert-parallel-comm";
    for (int i = 0; i < s->n; i++)
        for (size_t k = 0; k < sizeof by_letters / sizeof *by_letters; k++)
            if (strcmp(s->at[i].name, by_letters[k]) == 0)
                s->at[i].name[0] = '\0';
    if (l->plan->vpp == 1 && sp_peek_setting(s, overlap))
        sp_lose(l, "what Megatron-LM refuses: %s with one chunk per stage", overlap);
}

void sp_put_megatron(const struct sp_launched *l, struct sp_settings *s)
{
    struct sp_settings *const made = sp_settings_of(l);
    make_model(l->model, l->plan->seq, made);
    make_plan(l, made);
    lose_plan(l);
    static const bool known[SP_SCHEDULES] = {[SP_1F1B] = true, [SP_INTERLEAVED] = true};
    if (l->plan->pp > 1 && !known[l->plan->schedule] && !sp_says(l, "schedule"))
        sp_lose(l, "this pipeline schedule; 1F1B runs, interleaved with chunks");
    sp_lose_recompute(l);
    sp_put_rows(l, made, s);
    if (needs_layout(l))
        settle_layout(l, s);
    free(made);
}

/* Environment variables that its checks read. */
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
    sp_write_assumed(l, sp_overlaps_tp(l) ? "nemo" : "megatron", false, "# ", "\n", out);
    write_environment(l, out);
}

/* How the arguments are used: a file of them starts nothing itself. */
static void write_run(const struct sp_launched *l, FILE *out)
{
    const int64_t all = sp_plan_devices(l->plan), host = sp_chips_per_host(&l->hw->network),
                  each = host > 0 && all % host == 0 ? host : all;
    fprintf(out,
            "# run: torchrun --nnodes %lld --nproc-per-node %lld pretrain_gpt.py "
            "$(grep -v '^#' FILE)\n# add: data, tokenizer and learning rate%s\n",
            (long long)(all / each), (long long)each,
            l->model->learned_positions > 0 ? "" : "; --rotary-base, unless the model's is 10000");
}

void sp_write_megatron(const struct sp_launched *l, FILE *out)
{
    struct sp_settings *const s = sp_settings_of(l);
    sp_put_megatron(l, s);
    sp_lose_rules(l, &(struct sp_rules){.settings = s,
                                        .devices = sp_plan_devices(l->plan),
                                        .version = l->version});
    sp_spell_older(l, s);
    sp_write_head(l, l->words[0], " arguments", out);
    write_run(l, out);
    sp_write_megatron_comments(l, out);
    for (int i = 0; i < s->n; i++)
        if (s->at[i].name[0])
            fprintf(out, "%s%s%s\n", s->at[i].name, s->at[i].value[0] ? " " : "", s->at[i].value);
    free(s);
}
