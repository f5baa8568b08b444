/* Random problems for the agreement of commands: model, machine, batch and plan as words of command
 * lines. */
#ifndef SP_TEST_AGREEMENT_PROBLEM_H
#define SP_TEST_AGREEMENT_PROBLEM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"

enum { MAX_PARTS = 60, PART_LENGTH = 400 };

/* A named part of a command line: {model} for "--model llama3-8b". */
struct part {
    char name[16], text[PART_LENGTH];
};

struct problem {
    struct sp_model model;
    struct sp_hardware hw;
    int64_t dp, tp, pp, vpp, cp, ep, zero, micro, batch, seq;
    struct part part[MAX_PARTS];
    int parts;
    char traits[300]; /* words with spaces around: " dense torus pipeline " */
};

/* All traits, for statistics. */
static const char *const trait_names[] = {
    "named",     "defaults", "fp8",       "fp32",     "shaped", "dense",    "moe",      "tied",
    "window",    "mla",      "positions", "plain",    "torus",  "switched", "rings",    "node",
    "slices",    "single",   "tp",        "pp",       "vpp",    "cp",       "ep",       "zero3",
    "unsharded", "ragged",   "long",      "kvcopies", "early",  "padded",   "gathers2", "own",
    "vision",    "frozen",   "adapters",  "offload",  "sought"};

static uint64_t random_state = 8;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int64_t random_below(int64_t n)
{
    return (int64_t)(random_bits() % (uint64_t)n);
}

/* A power of two up to `most` that divides each of two numbers; small ones are likelier. */
static int64_t random_degree(int64_t most, int64_t a, int64_t b)
{
    int64_t degree = 1;
    while (degree * 2 <= most && a % (degree * 2) == 0 && b % (degree * 2) == 0 &&
           random_below(2) == 0)
        degree *= 2;
    return degree;
}

static const char *one_of(const char *const *words, size_t n)
{
    return words[random_below((int64_t)n)];
}
#define ONE_OF(words) one_of(words, sizeof words / sizeof *words)

__attribute__((format(printf, 3, 4))) static void set_part(struct problem *p, const char *name,
                                                           const char *format, ...)
{
    struct part *const part = &p->part[p->parts++];
    assert_true(p->parts <= MAX_PARTS);
    snprintf(part->name, sizeof part->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(part->text, sizeof part->text, format, arguments);
    va_end(arguments);
}

static void add_trait(struct problem *p, bool holds, const char *word)
{
    const size_t used = strlen(p->traits);
    if (holds)
        snprintf(p->traits + used, sizeof p->traits - used, "%s ", word);
}

static const char *random_model(void)
{
    for (;;) {
        const struct sp_builtin *const config = &sp_builtins[random_below((int64_t)sp_n_builtins)];
        if (config->kind == SP_MODELS)
            return config->name;
    }
}

static void draw_machine(struct problem *p)
{
    static const char *const machines[] = {
        "h100-8",    "h100-16",   "h100-64",  "h100-256",  "h100-1024",  "h200-32",
        "a100-8",    "a100-64",   "a100-512", "b200-64",   "b200-512",   "gb200-72",
        "mi300x-8",  "h800-128",  "v5p-8",    "v5p-64",    "v5p-512",    "v5p-4096",
        "v4-64",     "v4-1024",   "v5e-16",   "v5e-256",   "v6e-64",     "v6e-256",
        "v5p-512x2", "v5e-256x4", "h100-1",   "v5p:2x2x1", "v5p-8960x2", "a100-40gb-16"};
    struct sp_error error = {0};
    const char *const name = ONE_OF(machines);
    if (!sp_load_hardware(name, &(struct sp_sources){0}, &p->hw, &error))
        fail_msg("%s: %s", name, error.text);
    set_part(p, "hw", "--hw %s", name);
    set_part(p, "chips", "%lld", (long long)sp_chips(&p->hw));
    if (p->hw.network.kind == SP_TORUS && p->hw.shape.axis[0] > 1)
        set_part(p, "axis", "%lld", (long long)p->hw.shape.axis[0]);
}

static void draw_named_model(struct problem *p)
{
    struct sp_error error = {0};
    const char *const name = random_model();
    if (!sp_load_model(name, &(struct sp_sources){0}, &p->model, &error))
        fail_msg("%s: %s", name, error.text);
    set_part(p, "model", "--model %s", name);
}

/* A model of its own shape: dense, with experts, or behind a tower for images. */
static void draw_shape(struct problem *p)
{
    struct sp_error error = {0};
    char shape[PART_LENGTH], more[200] = "";
    const long long heads = 8ll << random_below(4), kv = heads >> random_below(4),
                    width = heads * (random_below(2) ? 128 : 64),
                    layers = 12 + 4 * random_below(16);
    const int64_t kind = random_below(3);
    if (kind == 1)
        snprintf(more, sizeof more, ",moe.experts=%d,moe.top_k=%d,moe.d_ff_expert=%lld%s",
                 8 << random_below(4), 1 + (int)random_below(4), width / 2,
                 random_below(2) ? ",moe.shared_experts=1" : "");
    if (kind == 2)
        snprintf(more, sizeof more,
                 ",encoder.layers=24,encoder.d_model=1024,encoder.d_ff=4096,encoder.heads=16,"
                 "encoder.tokens=%d",
                 256 << random_below(3));
    snprintf(shape, sizeof shape,
             "layers=%lld,d_model=%lld,heads=%lld,kv_heads=%lld,d_ff=%lld,vocab=%d%s%s%s", layers,
             width, heads, kv, 3 * width, random_below(2) ? 128256 : 50257,
             random_below(3) ? "" : ",tied_embeddings=true",
             random_below(3) ? "" : ",gated_mlp=false", more);
    if (!sp_model_from_shape(shape, &(struct sp_sources){0}, &p->model, &error))
        fail_msg("%s: %s", shape, error.text);
    set_part(p, "model", "--shape %s", shape);
    add_trait(p, true, "own");
}

static void draw_model(struct problem *p)
{
    if (random_below(5) == 0)
        draw_shape(p);
    else
        draw_named_model(p);
}

/* Degrees that usually form a plan, sometimes an invalid one. */
static void draw_plan(struct problem *p)
{
    const struct sp_model *const m = &p->model;
    const bool shaped = sp_model_has_shape(m);
    const int64_t N = sp_chips(&p->hw), slice = p->hw.chips_per_slice;
    static const int64_t lengths[] = {1024, 2048, 4096, 8192, 8192, 16384, 65536, 131072, 3000};
    p->tp = shaped ? random_degree(16, slice, m->heads) : 1;
    p->pp = shaped ? random_degree(16, N / p->tp, m->layers) : 1;
    p->vpp = p->pp > 1 && random_below(2) ? random_degree(4, m->layers / p->pp, 64) : 1;
    p->seq = lengths[random_below(sizeof lengths / sizeof *lengths)];
    p->cp = shaped ? random_degree(4, N / (p->tp * p->pp), p->seq) : 1;
    p->dp = N / (p->tp * p->pp * p->cp);
    p->ep = shaped && m->moe.experts > 0 ? random_degree(32, m->moe.experts, p->dp) : 1;
    p->zero = random_below(4);
    p->micro = random_degree(4, 64, 64);
    p->batch = p->dp * p->micro * p->pp * random_degree(16, 64, 64);
    if (random_below(20) == 0)
        p->batch += 1 + random_below(3);
}

static void set_plan_parts(struct problem *p)
{
    const long long dp = p->dp, tp = p->tp, pp = p->pp, vpp = p->vpp, cp = p->cp, ep = p->ep,
                    zero = p->zero, micro = p->micro;
    /* the default: that of TP if each rank has all experts and TP divides their width */
    const bool divides = p->model.moe.experts > 0 && ep == 1 && p->model.moe.d_ff_expert % tp == 0;
    const long long etp = divides ? tp : 1;
    static const char *const kinds[] = {"ring", "allgather", "ulysses"};
    const char *const kind = ONE_OF(kinds), *const offload = random_below(8) ? "off" : "on";
    set_part(p, "batch", "--batch %lldx%lld", (long long)p->batch, (long long)p->seq);
    set_part(p, "plan",
             "--dp %lld --tp %lld --pp %lld --vpp %lld --cp %lld --ep %lld --zero %lld "
             "--micro-batch %lld --cp-kind %s --placement dp-inside --dispatch alltoall "
             "--moe-overlap off --offload %s",
             dp, tp, pp, vpp, cp, ep, zero, micro, kind, offload);
    set_part(p, "offload", "%s", offload);
    add_trait(p, strcmp(offload, "on") == 0, "offload");
    set_part(p, "degrees",
             "dp=%lld,tp=%lld,pp=%lld,vpp=%lld,cp=%lld,ep=%lld,etp=%lld,zero=%lld,micro-batch=%lld,"
             "cp-kind=%s",
             dp, tp, pp, vpp, cp, ep, etp, zero, micro, kind);
    const int64_t chips = sp_chips(&p->hw);
    set_part(p, "one pass", p->batch % chips == 0 ? "--micro-batch %lld" : "%.0lld",
             (long long)(p->batch % chips == 0 ? p->batch / chips : 0));
    set_part(p, "mesh", "--dp %lld --tp %lld --pp %lld --vpp %lld --cp %lld --ep %lld --zero %lld",
             dp, tp, pp, vpp, cp, ep, zero);
    set_part(p, "fixed mesh", "dp=%lld,tp=%lld,pp=%lld,vpp=%lld,cp=%lld,ep=%lld,etp=%lld,zero=%lld",
             dp, tp, pp, vpp, cp, ep, etp, zero);
    set_part(p, "spread",
             "--dp %lld --tp %lld --pp %lld --cp %lld --ep %lld --zero %lld --micro-batch %lld", dp,
             tp, pp, cp, ep, zero, micro);
    set_part(p, "cp-kind", "%s", kind);
    set_part(p, "dp", "%lld", dp);
    set_part(p, "pp", "%lld", pp);
    set_part(p, "vpp", "%lld", vpp);
    set_part(p, "micro", "%lld", micro);
    set_part(p, "tokens", "1e12");
}

/* Half of the problems name precision, policy and framework; the others use defaults. */
static void draw_choices(struct problem *p)
{
    static const char *const precisions[] = {"adam10", "adam12", "mixed16", "mixed18", "mixed20",
                                             "jax12",  "fp32",   "fp8",     "muon",    "nvfp4"};
    static const char *const policies[] = {"none", "selective", "mlp", "dots", "full"};
    static const char *const gpu[] = {"nemo", "megatron", "torchtitan", "nanotron", "llm-foundry"};
    const bool named = random_below(2) == 0, torus = p->hw.network.kind == SP_TORUS;
    set_part(p, "closed", named ? "%.0s" : "--remat %s", random_below(2) ? "none" : "full");
    set_part(p, "precision", named ? "--precision %s" : "%.0s", ONE_OF(precisions));
    set_part(p, "remat", named ? "--remat %s" : "%.0s", ONE_OF(policies));
    set_part(p, "framework", named ? "--framework %s" : "%.0s", torus ? "maxtext" : ONE_OF(gpu));
    const char *const framework = p->part[p->parts - 1].text;
    add_trait(p,
              torus || (named ? !strstr(framework, "nemo") && !strstr(framework, "megatron")
                              : p->zero == 3),
              "early");
    const bool fsdp = strstr(framework, "torchtitan") || strstr(framework, "llm-foundry");
    add_trait(p, named && fsdp && p->zero == 2, "gathers2");
    add_trait(p, named, "named");
    add_trait(p, !named, "defaults");
    add_trait(p, strstr(p->part[p->parts - 3].text, "fp8") != NULL, "fp8");
    add_trait(p, strstr(p->part[p->parts - 3].text, "fp32") != NULL, "fp32");
}

/* What is trained: in a third of the problems a part, or adapters, or nothing. */
static void draw_trained(struct problem *p)
{
    static const char *const parts[] = {"--trainable lora",
                                        "--trainable lora --base-format nf4",
                                        "--lora-rank 64 --lora-targets attention",
                                        "--trainable last:2",
                                        "--trainable none",
                                        "--trainable norms",
                                        "--trainable attention"};
    const bool frozen = random_below(3) == 0;
    set_part(p, "trained", frozen ? "%s" : "%.0s", ONE_OF(parts));
    add_trait(p, frozen, "frozen");
    add_trait(p, strstr(p->part[p->parts - 1].text, "lora") != NULL, "adapters");
    add_trait(p, strstr(p->part[p->parts - 1].text, "none") != NULL, "forward");
}

/* Some small problems also ask for something: the best plan, the fewest devices. */
static void draw_sought(struct problem *p)
{
    const int64_t devices = sp_chips(&p->hw);
    const bool small = p->model.moe.experts == 0 && devices <= 256 && p->hw.slices == 1 &&
                       sp_model_has_shape(&p->model) && sp_count_params(&p->model).total < 15e9 &&
                       random_below(4) == 0;
    add_trait(p, small, "sought");
    if (!small)
        return;
    set_part(p, "sought", "%s", p->hw.name);
    set_part(p, "only sought", "%s", "");
}

/* A model that a runs file can express. */
static bool is_plain(const struct sp_model *m)
{
    const bool biases = m->qkv_bias || m->o_bias || m->mlp_bias || m->lm_head_bias ||
                        m->moe.router_bias || m->moe.score_correction_bias || m->moe.expert_bias;
    return !biases && !m->tied_embeddings && !m->embedding_norm && !m->parallel_attention &&
           m->norm == SP_NORM_RMS && m->qk_norm == SP_QK_NORM_NONE && m->norms_per_layer == 2 &&
           m->learned_positions == 0 && m->extra_attention_params_per_layer == 0 &&
           m->sliding_window == 0 && m->attention_chunk == 0;
}

static void draw_traits(struct problem *p)
{
    const struct sp_model *const m = &p->model;
    const bool torus = p->hw.network.kind == SP_TORUS, shaped = sp_model_has_shape(m);
    int rings = 0;
    for (int i = 0; i < SP_MAX_AXES && torus; i++)
        rings += p->hw.shape.axis[i] > 1 && sp_axis_wraps(&p->hw, i);
    add_trait(p, shaped, "shaped");
    add_trait(p, m->moe.experts == 0, "dense");
    add_trait(p, m->moe.experts > 0, "moe");
    add_trait(p, m->tied_embeddings, "tied");
    add_trait(p, m->sliding_window > 0 || m->attention_chunk > 0, "window");
    add_trait(p, m->mla.kv_lora_rank > 0, "mla");
    add_trait(p, m->learned_positions > 0, "positions");
    add_trait(p, m->encoder.layers > 0, "vision");
    add_trait(p, torus, "torus");
    add_trait(p, !torus, "switched");
    const bool closed = torus && rings == p->hw.network.axes;
    add_trait(p, closed, "rings");
    add_trait(p, closed && rings == 2, "rings2");
    add_trait(p, closed && rings == 3, "rings3");
    add_trait(p, !torus && sp_chips(&p->hw) <= p->hw.network.domain, "node");
    add_trait(p, p->hw.slices > 1, "slices");
    add_trait(p, sp_chips(&p->hw) == 1, "single");
    add_trait(p, p->tp > 1, "tp");
    add_trait(p, p->pp > 1, "pp");
    add_trait(p, p->vpp > 1, "vpp");
    add_trait(p, p->cp > 1, "cp");
    add_trait(p, p->ep > 1, "ep");
    add_trait(p, p->zero == 3, "zero3");
    add_trait(p, p->dp * p->cp == 1 && p->zero > 0, "unsharded");
    add_trait(p, p->batch % (p->dp * p->micro) != 0, "ragged");
    add_trait(p, p->seq > 16384, "long");
    add_trait(p, m->vocab % 128 != 0, "padded");
    add_trait(p, is_plain(m) && !strstr(p->traits, " own "), "plain");
    add_trait(p, p->tp > m->kv_heads && m->mla.kv_lora_rank == 0, "kvcopies");
}

static void draw_problem(struct problem *p)
{
    *p = (struct problem){.traits = " "};
    draw_machine(p);
    draw_model(p);
    draw_plan(p);
    set_plan_parts(p);
    draw_choices(p);
    draw_trained(p);
    draw_sought(p);
    draw_traits(p);
}

/* Whether the problem has all words up to the end or a "|", and none marked "!". */
static bool has_all(const struct problem *p, const char *when)
{
    while (*when && *when != '|') {
        char trait[40];
        const size_t n = strcspn(when, " |");
        const bool absent = *when == '!';
        snprintf(trait, sizeof trait, " %.*s ", (int)(n - absent), when + absent);
        if (n > 0 && (strstr(p->traits, trait) != NULL) == absent)
            return false;
        when += n + (when[n] == ' ');
    }
    return true;
}

/* Whether that holds for some part between "|". */
static bool has_traits(const struct problem *p, const char *when)
{
    for (;; when++) {
        if (has_all(p, when + (*when == ' ')))
            return true;
        when += strcspn(when, "|");
        if (!*when)
            return false;
    }
}

#endif
