/* The lists of a model, and a layer of an unknown kind written as a list by hand. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

/* Layers 0 and 1 are dense by `dense_layers`; of the five after them the 2nd and the 4th have
 * experts. */
static void kinds(void **state)
{
    const struct sp_model m = {.layers = 7,
                               .moe = {.experts = 8, .top_k = 2, .dense_layers = 2, .every = 2}};
    static const int64_t moe_until[] = {0, 0, 0, 0, 1, 1, 2, 2};
    (void)state;
    for (int64_t n = 0; n <= 7; n++) {
        struct sp_layer_counts counts;
        sp_count_layers(&m, 0, n, &counts);
        assert_int_equal(counts.of[SP_LAYER_MOE], moe_until[n]);
        assert_int_equal(counts.of[SP_LAYER_DENSE], n - moe_until[n]);
    }
}

static const struct sp_matmul *find(const struct sp_layer *layer, const char *name)
{
    for (int i = 0; i < layer->matmuls; i++)
        if (strcmp(layer->matmul[i].name, name) == 0)
            return &layer->matmul[i];
    fail_msg("no %s", name);
    return NULL;
}

/* DeepSeek-V3 (its report, section 4.2): 128 heads, query latent 1536, key-value latent 512, 128 +
 * 64 and 128 wide; 256 experts of 2048, 8 of them passed, one shared; three dense layers of 18432.
 */
static const struct sp_model deepseek_v3 = {
    .layers = 61,
    .d_model = 7168,
    .heads = 128,
    .kv_heads = 128,
    .vocab = 129280,
    .gated_mlp = true,
    .norms_per_layer = 2,
    .moe = {256, 8, 1, 2048, 3, 1, 18432, .score_correction_bias = true},
    .mla = {1536, 512, 128, 64, 128}};

static void deepseek(void **state)
{
    struct sp_layers l;
    (void)state;
    sp_list_model(&deepseek_v3, &l);
    assert_true(l.count[SP_LAYER_DENSE] == 3 && l.count[SP_LAYER_MOE] == 58);
    const struct sp_layer *moe = &l.list[SP_LAYER_MOE];
    assert_true(find(moe, "queries")->in == 1536 && find(moe, "queries")->out == 128 * 192);
    assert_true(find(moe, "key-value latent")->out == 576);
    assert_true(find(moe, "keys and values")->out == 128 * 256);
    assert_true(find(moe, "latent output projection")->in == 128 * 128);
    assert_true(find(moe, "expert up and gate")->count == 256);
    assert_true(find(moe, "expert up and gate")->passed == 8);
    assert_true(find(moe, "expert up and gate")->out == 2 * 2048);
    assert_true(find(moe, "shared expert down")->in == 2048);
    assert_true(find(&l.list[SP_LAYER_DENSE], "down")->in == 18432);
    assert_true(moe->picks == 8);
    assert_true(moe->mixer.cache == 576);
    /* 2 (128 (192 + 128)) per token attended to */
    assert_close(sp_mixer_flops(&moe->mixer, 1000, 1), 2 * 1000 * 128 * 320., 0);
    assert_close(l.params.total, 671026419200., 0);
}

/* Mamba-2 130M as its config says: width 768, inner 1536, 24 heads of 64, state 128, one group, a
 * convolution of 4. A token updates and reads 24 states of 64 x 128: 4 multiply-adds an element. */
static void list_mamba(struct sp_layer *l)
{
    *l = (struct sp_layer){.width = 768, .mixer = {.heads = 24, .scan = 4. * 24 * 64 * 128}};
    l->matmul[l->matmuls++] = (struct sp_matmul){.name = "in projection",
                                                 .part = SP_PART_ATTENTION,
                                                 .op = SP_OP_QKV,
                                                 .split = SP_TP_COLUMNS,
                                                 .in = 768,
                                                 .out = 2 * 1536 + 2 * 128 + 24,
                                                 .count = 1,
                                                 .passed = 1,
                                                 .groups = 1,
                                                 .group_out = 2 * 128};
    l->matmul[l->matmuls++] = (struct sp_matmul){.name = "out projection",
                                                 .part = SP_PART_ATTENTION,
                                                 .op = SP_OP_OUT,
                                                 .split = SP_TP_ROWS,
                                                 .in = 1536,
                                                 .out = 768,
                                                 .count = 1,
                                                 .passed = 1};
    l->tensor[l->tensors++] =
        (struct sp_tensor){.weights = (1536 + 2 * 128) * (4 + 1) + 3 * 24 + 1536,
                           .part = SP_PART_ATTENTION,
                           .split = SP_TP_STORED};
    l->tensor[l->tensors++] =
        (struct sp_tensor){.weights = 768, .part = SP_PART_NORM, .split = SP_TP_WHOLE};
    l->kept[l->n_kept++] = (struct sp_kept){.width = 768, .by = SP_OPERATORS};
    l->kept[l->n_kept++] = (struct sp_kept){.width = 3352, .by = SP_OP_QKV};
}

/* The published 128,989,632 parameters, the table of 50288 once: only the list describes the
 * layer. Two TP ranks both hold the group's 256 columns. */
static void made_up(void **state)
{
    const struct sp_model m = {
        .layers = 24, .d_model = 768, .heads = 24, .vocab = 50288, .tied_embeddings = true};
    const struct sp_framework framework = {.name = "none"};
    struct sp_plan plan = {.dp = 1,
                           .shards = 1,
                           .tp = 1,
                           .pp = 1,
                           .cp = 1,
                           .ep = 1,
                           .etp = 1,
                           .micro_batch = 1,
                           .seq = 2048,
                           .imbalance = 1};
    struct sp_layers layers;
    (void)state;
    sp_list_model(&m, &layers);
    list_mamba(&layers.list[SP_LAYER_DENSE]);
    struct sp_rank_layers mine;
    sp_layers_on_rank(&layers, &plan, &framework, &mine);
    const struct sp_list_weights *of = mine.weights.of;
    assert_close(of[SP_LAYER_DENSE].dense.held, 3765320, 0);
    assert_close(24 * of[SP_LAYER_DENSE].dense.held + of[SP_LAYER_INPUT].dense.gathered +
                     of[SP_LAYER_OUTPUT].dense.held,
                 128989632, 0);
    struct sp_prepared_memory memory;
    sp_prepare_memory(&mine, &plan, &framework, &memory);
    assert_close(memory.kept[SP_LAYER_DENSE], 2 * 2048. * (768 + 3352), 0);
    plan.tp = 2;
    sp_layers_on_rank(&layers, &plan, &framework, &mine);
    assert_close(mine.weights.of[SP_LAYER_DENSE].dense.held,
                 768. * (3096 / 2 + 256) + 1536. * 768 / 2 + (1792 * 5 + 72 + 1536) / 2. + 768, 0);
    /* a scan's work does not grow with the sequence */
    const struct sp_mixer *mixer = &layers.list[SP_LAYER_DENSE].mixer;
    assert_close(sp_mixer_flops(mixer, 2048, 0.5), 2 * 4. * 24 * 64 * 128, 0);
    assert_close(sp_mixer_flops(mixer, 1 << 20, 1), 2 * 4. * 24 * 64 * 128, 0);
}

/* Bytes that a token keeps in a layer of that kind if some modules are recomputed. */
static double kept_bytes(const struct sp_layers *layers, enum sp_layer_kind kind, unsigned modules)
{
    const struct sp_framework framework = {.reserved_factor = 1};
    const struct sp_plan plan = {.dp = 1,
                                 .shards = 1,
                                 .tp = 1,
                                 .pp = 1,
                                 .vpp = 1,
                                 .cp = 1,
                                 .ep = 1,
                                 .etp = 1,
                                 .micro_batch = 1,
                                 .batch = 1,
                                 .seq = 1,
                                 .recompute = {.modules = modules},
                                 .recompute_layers = 1,
                                 .imbalance = 1};
    struct sp_rank_layers mine;
    struct sp_prepared_memory memory;
    sp_layers_on_rank(layers, &plan, &framework, &mine);
    sp_prepare_memory(&mine, &plan, &framework, &memory);
    return memory.kept[kind];
}

/* DeepSeek-V3's shapes by hand, 2 bytes an element. Megatron-Core's words: mla_up_proj drops the
 * latents after their norms, queries and keys of 128 heads of 192 and values of 128; a dense MLP
 * gate, up (18432 each) and their product; moe_act the product of 8 experts of 2048; layernorm two
 * inputs of 7168; shared_experts three times 2048; moe those and the experts' 3 x 8 x 2048, their 8
 * inputs and what the router reads. */
static void modules_drop_what_they_make(void **state)
{
    static const struct {
        enum sp_layer_kind kind;
        unsigned modules;
        double elements;
    } known[] = {
        {SP_LAYER_DENSE, 1 << SP_MODULE_MLA_UP_PROJ, 1536 + 512 + 128 * (192 + 192 + 128)},
        {SP_LAYER_DENSE, 1 << SP_MODULE_MLP, 3 * 18432},
        {SP_LAYER_DENSE, 1 << SP_MODULE_MOE, 0},
        {SP_LAYER_DENSE, 1 << SP_MODULE_LAYERNORM, 2 * 7168},
        {SP_LAYER_DENSE, 1 << SP_MODULE_CORE_ATTN, 2 * 128}, /* log-sum-exp, 4 bytes per head */
        {SP_LAYER_DENSE, 1 << SP_MODULE_MLP | 1 << SP_MODULE_LAYERNORM, 3 * 18432 + 2 * 7168},
        {SP_LAYER_MOE, 1 << SP_MODULE_MLP, 0},
        {SP_LAYER_MOE, 1 << SP_MODULE_MOE_ACT, 8 * 2048},
        {SP_LAYER_MOE, 1 << SP_MODULE_SHARED_EXPERTS, 3 * 2048},
        {SP_LAYER_MOE, 1 << SP_MODULE_MOE, 3 * 9 * 2048 + 8 * 7168 + 7168},
    };
    struct sp_layers layers;
    (void)state;
    sp_list_model(&deepseek_v3, &layers);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_close(kept_bytes(&layers, known[i].kind, 0) -
                         kept_bytes(&layers, known[i].kind, known[i].modules),
                     2 * known[i].elements, 1e-12);
}

/* DeepSeek-V3's module for a further token: 11.5 B separate weights, as published, besides the
 * table and the head, which it shares; a layer, two more norms and a last one, a projection of two
 * streams. On 16 stages, 61 layers and the module: 4 on each, 1 and the module on the last. A last
 * stage holds the table too. */
static void further_tokens(void **state)
{
    struct sp_model m = deepseek_v3;
    (void)state;
    m.vocab = 129280;
    const struct sp_params before = sp_count_params(&m);
    const struct sp_flops one = sp_forward_flops_per_token(&m, 4096, true, false);
    m.mtp_layers = 1;
    const double D = 7168, latents = D * 1536 + 1536 + 1536. * 128 * 192 + D * 576 + 512 +
                                     512. * 128 * 256 + 128. * 128 * D;
    const double added = latents + 257. * 3 * D * 2048 + D * 256 + 256 + 2 * D + 2 * D * D + 3 * D;
    assert_close(sp_count_params(&m).total - before.total, added, 0);
    assert_close(added, 11.5e9, 0.01);
    const struct sp_flops two = sp_forward_flops_per_token(&m, 4096, true, false);
    assert_close(two.unembedding, 2 * one.unembedding, 0);
    assert_close(two.attention / one.attention, 62. / 61, 1e-12);
    const struct sp_stage_split split = {.stages = 16, .balance = SP_BALANCE_EVEN};
    for (int stage = 0; stage < 16; stage++) {
        const struct sp_layer_counts of = sp_layers_of_stage(&m, &split, stage);
        assert_int_equal(of.of[SP_LAYER_DENSE] + of.of[SP_LAYER_MOE], stage < 15 ? 4 : 1);
        assert_int_equal(of.of[SP_LAYER_MTP], stage == 15);
    }
    m.layers = 64; /* divides: the module comes on top */
    assert_int_equal(sp_layers_of_stage(&m, &split, 15).of[SP_LAYER_MOE], 4);
    m.layers = 61;
    const struct sp_plan plan = {.dp = 1,
                                 .shards = 1,
                                 .tp = 1,
                                 .pp = 16,
                                 .vpp = 1,
                                 .cp = 1,
                                 .ep = 1,
                                 .etp = 1,
                                 .micro_batch = 1,
                                 .seq = 4096,
                                 .imbalance = 1};
    const struct sp_framework framework = {.reserved_factor = 1};
    struct sp_layers layers;
    struct sp_rank_layers mine;
    sp_list_model(&m, &layers);
    sp_layers_on_rank(&layers, &plan, &framework, &mine);
    struct sp_prepared_memory prepared;
    sp_prepare_memory(&mine, &plan, &framework, &prepared);
    const struct sp_stage_weights held =
        sp_kind_memory_of_stage(&mine, &prepared, &plan, &framework, 15).weights.held;
    assert_close(held.dense + held.experts,
                 added + (added - 2 * D * D - 3 * D) + 2 * 129280 * D + D, 1e-12);
}

/* Letters: attention alone, the other mixer alone, an MLP, experts; blocks of two, of which the 2nd
 * and the 4th have experts by `every`; the pattern of six is repeated. */
static void patterns(void **state)
{
    const struct sp_model m = {
        .layers = 10, .moe = {.experts = 8, .top_k = 2, .every = 2}, .pattern = "ALM*-E"};
    static const int64_t known[SP_LAYER_KINDS] = {
        [SP_LAYER_DENSE] = 2,     [SP_LAYER_OTHER_MOE] = 2, [SP_LAYER_OTHER] = 2,
        [SP_LAYER_ATTENTION] = 2, [SP_LAYER_MLP] = 1,       [SP_LAYER_EXPERTS] = 1};
    struct sp_layer_counts counts;
    (void)state;
    sp_count_layers(&m, 0, 10, &counts);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        assert_int_equal(counts.of[kind], known[kind]);
    assert_int_equal(sp_moe_layers(&m), 3);
    sp_count_layers(&m, 1, 2, &counts);
    assert_int_equal(counts.of[SP_LAYER_OTHER_MOE], 1);
    assert_int_equal(counts.of[SP_LAYER_DENSE], 0);
}

/* Qwen3-Next-80B-A3B, its published config: of four layers three have 32 value heads and 16 key
 * heads of 128 under the gated delta rule, one has 16 heads of 256 with a gate; each has 512
 * experts of 512, 10 of them passed, and a shared one with a gate. */
static const struct sp_model qwen3_next = {
    .layers = 48,
    .d_model = 2048,
    .d_ff = 5120,
    .heads = 16,
    .kv_heads = 2,
    .head_dim = 256,
    .vocab = 151936,
    .gated_mlp = true,
    .norms_per_layer = 2,
    .qk_norm = SP_QK_NORM_HEAD,
    .attention_gate = true,
    .pattern = "LLLA",
    .linear = {.heads = 32, .key_heads = 16, .key_dim = 128, .value_dim = 128, .conv = 4},
    .moe = {512, 10, 1, 512, .every = 1, .shared_gate = true}};

static void delta_rule(void **state)
{
    struct sp_layers l;
    (void)state;
    sp_list_model(&qwen3_next, &l);
    assert_true(l.count[SP_LAYER_OTHER_MOE] == 36 && l.count[SP_LAYER_MOE] == 12);
    /* tensors of transformers' modeling_qwen3_next.py */
    const double experts = 512 * 3. * 2048 * 512, rest = 2048 * 512 + 3. * 2048 * 512 + 2048;
    const double delta = 2048. * (12288 + 64) + 4 * 8192 + 2 * 32 + 128 + 4096. * 2048;
    const double gated = 2048. * (2 * 16 + 2 + 2) * 256 + 4096. * 2048 + 2 * 256;
    assert_close(l.params.attention, 36 * delta + 12 * gated, 0);
    assert_close(l.params.total,
                 48 * (experts + rest + 4096) + 36 * delta + 12 * gated + 2 * 151936. * 2048 + 2048,
                 0);
    assert_close(l.params.total, 79674391296., 0);
    assert_close(l.params.active, 3874929408., 0);
    /* a chunk of 64: by keys, queries, and through the triangle; three products with the state */
    const struct sp_mixer *mixer = &l.list[SP_LAYER_OTHER_MOE].mixer;
    const double head = 64 * (3 * 128 + 2 * 128) + 64 * 64 / 6. + 3 * 128 * 128;
    assert_close(sp_mixer_flops(mixer, 4096, 0.5), 2 * (32 * head + 4 * 8192), 1e-15);
    assert_close(sp_mixer_flops(mixer, 1 << 20, 1), 2 * (32 * head + 4 * 8192), 1e-15);
    /* a sequence keeps 32 states of 128 x 128 in 4 bytes and three tokens of the convolution */
    assert_close(sp_state_bytes_of_sequence(&qwen3_next),
                 36 * (4. * 32 * 128 * 128 + 2. * 3 * 8192), 0);
    assert_close(sp_kv_bytes_of_sequence(&qwen3_next, 1000, 2), 12 * 1000 * 2. * 2 * 512, 0);
    /* 12 of 48 layers have scores of 16 heads of 256 + 256, and all ten experts of 512 and a shared
     * one */
    const double scores = 12 * 16 * 512., scans = 36 * (32 * head + 4 * 8192);
    const double mlp = 48 * (11 * 3. * 2048 * 512 + 2048 * 512);
    assert_close(sp_attention_overtakes_mlp_tokens(&qwen3_next, 4096, false),
                 (mlp - scans) / scores, 1e-9);
    /* scores of one head of 1 + 1 in one layer of 48, and experts of 4096: 6.6e9 tokens */
    struct sp_model few = qwen3_next;
    few.heads = few.kv_heads = few.head_dim = 1;
    few.moe.d_ff_expert = 4096;
    memset(few.pattern, 'L', 47);
    few.pattern[47] = 'A';
    const double wide = 48 * (11 * 3. * 2048 * 4096 + 2048 * 512);
    assert_close(sp_attention_overtakes_mlp_tokens(&few, 4096, false),
                 (wide - 47 * (32 * head + 4 * 8192)) / 2, 1e-9);
    /* no window: attention's own tokens, whatever is between its layers */
    assert_close(sp_attended_tokens(&qwen3_next, 1000), 1000, 0);
}

/* DeepSeek-V3.2 is DeepSeek-V3 with an indexer: 64 heads of 128 from the query latent, a key with
 * its LayerNorm, a weight for each head. 671,877,944,064 parameters. Of 32768 tokens a token
 * attends to 2048 at most, in latents of 576 and 512; of 4096 to all, in 192 and 128. */
static void indexer(void **state)
{
    struct sp_model m = deepseek_v3;
    struct sp_layers l;
    (void)state;
    m.sparse = (struct sp_sparse_attention){2048, 64, 128, false, false};
    sp_list_model(&m, &l);
    assert_close(l.params.total, 671026419200. + 61 * (1536 * 8192. + 7168 * 128 + 256 + 7168 * 64),
                 0);
    assert_close(l.params.total, 671877944064., 0);
    assert_close(l.params.active, 38403822336., 0);
    const struct sp_mixer *mixer = &l.list[SP_LAYER_MOE].mixer;
    const double picked = 2 * 2048 - 2048. * 2048 / 32768;
    assert_close(sp_mixer_flops(mixer, 32768, 0.5), 64 * 129. * 32768 + 128 * (576 + 512) * picked,
                 1e-15);
    assert_close(sp_mixer_flops(mixer, 4096, 0.5), 64 * 129. * 4096 + 128 * 320. * 4096, 1e-15);
    /* everything is kept; a step reads the indexer's keys and the latents of the picked tokens */
    assert_close(sp_kv_bytes_of_sequence(&m, 1e5, 1), 61 * 1e5 * (576 + 128), 0);
    assert_close(sp_kv_bytes_read(&m, 1e5, 1), 61 * (1e5 * 128 + 2048. * 576), 1e-15);
    assert_close(sp_kv_bytes_read(&m, 1000, 1), sp_kv_bytes_of_sequence(&m, 1000, 1), 0);
}

/* Mamba-130M (state-spaces/mamba-130m-hf): 1536 channels of 16, steps of rank 48; 129,135,360
 * parameters. Mamba-2 130M as above, by its fields. */
static void state_spaces(void **state)
{
    struct sp_model m = {
        .layers = 24,
        .d_model = 768,
        .heads = 1,
        .vocab = 50280,
        .tied_embeddings = true,
        .norms_per_layer = 2,
        .pattern = "M",
        .state_space = {.inner = 1536, .state = 16, .conv = 4, .dt_rank = 48, .conv_bias = true}};
    struct sp_layers l;
    (void)state;
    sp_list_model(&m, &l);
    assert_close(l.params.total, 129135360, 0);
    assert_close(sp_state_bytes_of_sequence(&m), 24 * (4. * 1536 * 16 + 2. * 3 * 1536), 0);
    m.vocab = 50288;
    m.state_space = (struct sp_state_space){.inner = 1536,
                                            .heads = 24,
                                            .groups = 1,
                                            .state = 128,
                                            .conv = 4,
                                            .conv_bias = true,
                                            .norm = true};
    sp_list_model(&m, &l);
    assert_close(l.params.total, 128989632, 0);
    /* chunks of 256: products of C and B, of these and the channels, the state's update and read;
     * the taps */
    assert_close(sp_mixer_flops(&l.list[SP_LAYER_OTHER].mixer, 4096, 0.5),
                 2 * (256 * 128. + 1536 * (256 + 2 * 128.) + 4 * 1792), 0);
}

/* Nemotron-3-Nano-30B-A3B by its published config: 52 blocks, 23 of Mamba-2, 23 of experts without
 * a gate, 6 of attention; 31,577,940,288 parameters, 3,580,076,352 of them active. */
static void blocks_alone(void **state)
{
    const struct sp_model m = {
        .layers = 52,
        .d_model = 2688,
        .d_ff = 1856,
        .heads = 32,
        .kv_heads = 2,
        .head_dim = 128,
        .vocab = 131072,
        .norms_per_layer = 2,
        .pattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
        .state_space = {4096, 64, 8, 128, 4, .chunk = 128, .conv_bias = true, .norm = true},
        .moe = {128, 6, 1, 1856, .every = 1, .d_ff_shared = 3712, .score_correction_bias = true}};
    struct sp_layers l;
    (void)state;
    sp_list_model(&m, &l);
    assert_true(l.count[SP_LAYER_OTHER] == 23 && l.count[SP_LAYER_EXPERTS] == 23);
    assert_true(l.count[SP_LAYER_ATTENTION] == 6);
    assert_close(l.params.total, 31577940288., 0);
    assert_close(l.params.active, 3580076352., 0);
}

/* Two decoder layers with cross-attention to an encoder of three layers and 6 tokens per sequence,
 * by hand. */
static void encoder_and_decoder(void **state)
{
    struct sp_model m = {.layers = 2,
                         .d_model = 8,
                         .d_ff = 16,
                         .heads = 2,
                         .kv_heads = 2,
                         .head_dim = 4,
                         .vocab = 10,
                         .tied_embeddings = true,
                         .norms_per_layer = 3,
                         .cross_attention = true,
                         .encoder = {.layers = 3,
                                     .d_model = 8,
                                     .d_ff = 32,
                                     .heads = 2,
                                     .kv_heads = 2,
                                     .head_dim = 4,
                                     .norms_per_layer = 2,
                                     .tokens = 6}};
    (void)state;
    const struct sp_params p = sp_count_params(&m);
    /* a layer: 4 x 64 of either attention, 2 x 128, 3 norms; the encoder's: 4 x 64, 2 x 256, 2 */
    assert_close(p.encoder, 3 * (256 + 512 + 16), 0);
    assert_close(p.total, 2 * (512 + 256 + 24) + 8 + 80 + p.encoder, 0);
    assert_close(p.active, p.total, 0);
    /* of 12 tokens each has half a token of the encoder */
    assert_close(sp_worked_params(&m, &p, 12).active, p.total - p.encoder / 2, 0);
    const double encoder = 3 * (2 * (256 + 512) + 2 * 2 * 8 * 6) * 0.5;
    const double decoder = 2 * (2 * (256 + 64 + 128 * 0.5 + 64 + 256) + 2 * 2 * 8 * 6);
    const double scores = 2 * (2 * 2 * 8 * 12), head = 2 * 8 * 10;
    assert_close(sp_forward_flops_per_token(&m, 12, false, false).total,
                 encoder + decoder + scores + head, 1e-15);
    /* a causal mask halves only the decoder's own scores */
    assert_close(sp_forward_flops_per_token(&m, 12, true, false).total,
                 encoder + decoder + scores / 2 + head, 1e-15);
    m.encoder.frozen = true;
    assert_close(sp_model_flops(&m, 12, 12, SP_FLOPS_FULL),
                 12 * (encoder + 3 * (decoder + scores + head)), 1e-15);
}

/* A window around each of 16 tokens: 4 of them, less what the ends cut off. */
static void windows_around(void **state)
{
    const struct sp_mixer mixer = {.heads = 1, .qk = 1, .v = 1, .window = 4, .bidirectional = true};
    (void)state;
    assert_close(sp_mixer_tokens(&mixer, 16), 4 - 16.0 / 64, 0);
    assert_close(sp_mixer_flops(&mixer, 16, 0.5), 2 * 2 * 3.75, 0);
    assert_close(sp_mixer_tokens(&mixer, 3), 3, 0);
}

/* 16 tokens in blocks of 4: those of the first attend to 4, of the last to 16, 10 on average. */
static void blocks_denoised(void **state)
{
    const struct sp_mixer mixer = {.heads = 1, .qk = 1, .v = 1, .block = 4};
    (void)state;
    assert_close(sp_mixer_flops(&mixer, 16, 0.5), 2 * 2 * 10, 0);
    assert_close(sp_mixer_flops(&mixer, 4, 0.5), 2 * 2 * 4, 0);
    assert_close(sp_mixer_flops(&mixer, 2, 0.5), 2 * 2 * 2, 0);
    assert_close(sp_mixer_flops(&mixer, 16, 1), 2 * 2 * 16, 0);
}

/* A frozen tower has weights and nothing else, and only forward passes. */
static void frozen_towers(void **state)
{
    struct sp_model m = {.layers = 4,
                         .d_model = 64,
                         .d_ff = 128,
                         .heads = 4,
                         .kv_heads = 4,
                         .head_dim = 16,
                         .vocab = 128,
                         .norms_per_layer = 2,
                         .encoder = {.layers = 2,
                                     .d_model = 32,
                                     .d_ff = 64,
                                     .heads = 2,
                                     .kv_heads = 2,
                                     .head_dim = 16,
                                     .norms_per_layer = 2,
                                     .tokens = 64}};
    const struct sp_plan plan = {.dp = 1,
                                 .tp = 1,
                                 .pp = 1,
                                 .vpp = 1,
                                 .cp = 1,
                                 .ep = 1,
                                 .etp = 1,
                                 .batch = 1,
                                 .micro_batch = 1,
                                 .seq = 64,
                                 .shards = 1,
                                 .imbalance = 1};
    const struct sp_precision precision = {
        .weight_bytes = 2, .grad_bytes = 2, .master_bytes = 4, .optimizer_bytes = 8};
    const struct sp_framework framework = {.reserved_factor = 1};
    (void)state;
    const struct sp_params p = sp_count_params(&m);
    const struct sp_stage_memory trained = sp_memory_of_stage(&m, &precision, &plan, &framework, 0);
    m.encoder.frozen = true;
    const struct sp_stage_memory frozen = sp_memory_of_stage(&m, &precision, &plan, &framework, 0);
    assert_int_equal(trained.params, 2 * (int64_t)p.total);
    assert_int_equal(frozen.params, trained.params);
    assert_int_equal(frozen.grads, 2 * (int64_t)(p.total - p.encoder));
    assert_int_equal(frozen.optimizer, 12 * (int64_t)(p.total - p.encoder));
    assert_true(frozen.activations < trained.activations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoder_and_decoder),
        cmocka_unit_test(blocks_denoised),
        cmocka_unit_test(windows_around),
        cmocka_unit_test(frozen_towers),
        cmocka_unit_test(kinds),
        cmocka_unit_test(deepseek),
        cmocka_unit_test(further_tokens),
        cmocka_unit_test(made_up),
        cmocka_unit_test(modules_drop_what_they_make),
        cmocka_unit_test(patterns),
        cmocka_unit_test(delta_rule),
        cmocka_unit_test(indexer),
        cmocka_unit_test(state_spaces),
        cmocka_unit_test(blocks_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
