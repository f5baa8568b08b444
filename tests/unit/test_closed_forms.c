/* Closed forms against numbers worked by hand or printed in their source. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

/* The closed-form rows of the bundled runs: Korthikanti et al. 2022, figure 1, as digitised by
 * others. Not measurements: the formulas of `memory` must reproduce them. 18 bytes per parameter
 * over t p, and all layers of the first stage: sbhL times the policy's bytes, times 1 + (p-1)/(pv)
 * micro-batches if interleaved. */
static const struct {
    const char *id;
    double params, layers, h, a, micro_batch, t, p, v;
    bool selective; /* with sequence parallelism */
    double gb;      /* as printed in the data */
} rows[] = {
    {"pap-009", 22.058e9, 48, 6144, 64, 4, 8, 1, 1, false, 112.542},
    {"pap-010", 22.058e9, 48, 6144, 64, 4, 8, 1, 1, true, 59.190},
    {"pap-011", 174.575e9, 96, 12288, 96, 1, 8, 8, 3, false, 120.695},
    {"pap-012", 174.575e9, 96, 12288, 96, 1, 8, 8, 3, true, 62.185},
    {"pap-013", 529.531e9, 105, 20480, 128, 1, 8, 35, 3, false, 156.406},
    {"pap-014", 529.531e9, 105, 20480, 128, 1, 8, 35, 3, true, 58.752},
    {"pap-015", 1007.944e9, 128, 25600, 160, 1, 8, 64, 1, false, 176.318},
    {"pap-016", 1007.944e9, 128, 25600, 160, 1, 8, 64, 1, true, 63.911},
};

static void figure_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double layer =
            sp_gpt_activation_bytes(rows[i].selective ? SP_GPT_SELECTIVE : SP_GPT_TP, 2048,
                                    rows[i].micro_batch, rows[i].h, rows[i].a, rows[i].t);
        const struct sp_pipeline q = {.schedule = rows[i].v > 1 ? SP_INTERLEAVED : SP_1F1B,
                                      .stages = (int64_t)rows[i].p,
                                      .microbatches = 4096 * (int64_t)rows[i].p,
                                      .chunks = (int64_t)rows[i].v};
        const double in_flight =
            rows[i].p > 1 ? rows[i].p * (1 + (rows[i].p - 1) / (rows[i].p * rows[i].v)) : 1;
        const double kept = layer * rows[i].layers / rows[i].p *
                            (rows[i].v > 1 || rows[i].p == 1 ? in_flight : rows[i].p);
        const double states = 18 * rows[i].params / (rows[i].t * rows[i].p);
        /* read off a figure: within 1.5 % */
        assert_close((kept + states) / 1e9, rows[i].gb, 0.015);
        /* and the schedule's own count of micro-batches in flight agrees */
        if (rows[i].v > 1)
            assert_close(sp_in_flight(&q, 0), in_flight, 0.02);
    }
}

/* The book's TPU v5e: 197e12 FLOP/s in bf16, 8.2e11 bytes/s of memory, 4.5e10 of a link. */
static void one_operation(void **state)
{
    (void)state;
    assert_close(sp_attainable_flops_per_s(100, 197e12, 8.2e11), 8.2e13, 1e-15);
    assert_close(sp_attainable_flops_per_s(1000, 197e12, 8.2e11), 197e12, 1e-15);
    const struct sp_work dot = sp_dot_work(1024, 2), add = sp_add_work(1024, 1, 2),
                         axpy = sp_add_work(1024, 2, 4);
    assert_true(dot.flops == 2047 && dot.bytes == 2048 + 2048 + 2);
    assert_true(add.flops == 1024 && add.bytes == 3 * 2048);
    assert_true(axpy.flops == 2048 && axpy.bytes == 3 * 4096);
    /* one query of one head on S keys does 4 S H FLOPs on 4 S H bytes; the whole square S/2 */
    assert_close(sp_attention_intensity(1, 1e9, 1), 1, 1e-8);
    assert_close(sp_attention_intensity(2048, 2048, 1), 1024, 1e-15);
    assert_close(sp_attention_intensity(1, 1000, 8), 8000.0 / 1008, 1e-15);
    assert_close(sp_attention_ridge_tokens(240, 1), 480, 1e-15);
    assert_close(sp_attention_ridge_tokens(240, 8), 270, 1e-15);
    assert_close(sp_min_contracting_dim(197e12, 4.5e10), 8755.56, 1e-6); /* the book: D > 8755 */
}

/* C / W = 2550 columns of an MLP for each degree of TP: a TPU v5p over two axes. */
static void critical_degrees(void **state)
{
    (void)state;
    assert_close(sp_min_d_ff_for_tp(8, 4.59e14, 1.8e11), 20400, 1e-15);
    assert_true(sp_practical_tp(28672, 1.8e11, 4.59e14, 256) == 8); /* 11.2 */
    assert_true(sp_practical_tp(28672, 1.8e11, 4.59e14, 4) == 4);
    assert_true(sp_practical_tp(1000, 1.8e11, 4.59e14, 8) == 0.25); /* 0.39 */
    assert_true(sp_min_d_ff_for_ep(1, 1, 8, 100, 1, 1) == 0);
    assert_close(sp_min_d_ff_for_ep(8, 1, 8, 100, 2, 1), 50 * 7 / 8.0, 1e-15);
    assert_close(sp_min_d_ff_for_ep(4, 16, 8, 100, 2, 1), 50 * 3 / 16.0, 1e-15);
    const struct sp_torus_group box = {
        .n = 2, .length = {8, 4}, .wraps = {true, false}, .link_bytes_per_s = 2};
    const double exchange = sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1, &box);
    assert_close(sp_min_d_ff_for_ep_torus(4, 100, 32, exchange), 100 / 2.0 * 4 / 4, 1e-15);
    assert_close(sp_min_d_ff_for_ep_torus(64, 100, 32, exchange), 100 / 2.0 * 4 / 4 / 2, 1e-15);
    assert_close(sp_min_d_ff_for_ep(32, 1, 8, 100, 1, 1), 100 * 24 * 0.25, 1e-15);
    assert_close(sp_min_d_ff_for_ep(32, 8, 8, 100, 1, 1), 100 * 24 / 8.0, 1e-15);
    assert_true(sp_model_parallel_nodes(8, 4, 8) == 4);
    assert_true(sp_model_parallel_nodes(16, 4, 8) == 8);
    assert_true(sp_model_parallel_nodes(4, 4, 8) == 4);
    assert_true(sp_nearest_pow2(1.41) == 1 && sp_nearest_pow2(1.42) == 2 &&
                sp_nearest_pow2(3) == 4);
    assert_true(sp_layer_bytes_dp(3, 5) == 120 && sp_layer_bytes_fsdp(3, 5) == 180 &&
                sp_layer_bytes_tp(2, 3) == 48 && sp_layer_bytes_fsdp_tp(2, 3, 5, 2, 5) == 60);
    assert_true(sp_stationary_min_chips(1, 4) == 72);
    assert_close(sp_stationary_x(64, 1, 4), 2.8284271247461903, 1e-15);
}

/* 12 chips split 12 x 1, 6 x 2, 3 x 4 (8 does not divide): with C = W_X = W_Y = B = 1 and F = 2 the
 * loads are X r and Y / 2, so 12, 6 and 3 + 1 | 2 of r = 1; r = 1/4 leaves 3, 1.5 | 1 and .75 | 2.
 */
static void splits(void **state)
{
    (void)state;
    struct sp_split best = sp_best_pow2_split(1, 12, 2, 1, 1, 1, 1, SP_OVERLAP_AXES);
    assert_true(best.fsdp == 3 && best.tp == 4 && best.comms_over_math == 3);
    assert_true(best.fsdp_load == 3 && best.tp_load == 2);
    best = sp_best_pow2_split(1, 12, 2, 1, 1, 1, 1, SP_OVERLAP_NONE);
    assert_true(best.fsdp == 3 && best.comms_over_math == 5);
    best = sp_best_pow2_split(1, 12, 2, 1, 1, 1, 0.25, SP_OVERLAP_AXES);
    assert_true(best.fsdp == 6 && best.tp == 2 && best.comms_over_math == 1.5);
    /* without TP nothing is sent for TP */
    best = sp_best_pow2_split(1, 7, 2, 1, 1, 1, 1, SP_OVERLAP_AXES);
    assert_true(best.fsdp == 7 && best.tp == 1 && best.tp_load == 0);
}

/* 6 P b / C of a 70e9 model with 850 tokens a chip of 459e12: 0.778 s; at the critical batch the
 * traffic takes as long as the arithmetic, at a quarter of it the best split half as long as it. */
static void one_chip(void **state)
{
    (void)state;
    const double math = 6 * 70e9 * 850 / 459e12;
    assert_close(math, 0.7777777777777778, 1e-12);
    assert_close(sp_chip_math_s(70e9, 850, 459e12), math, 1e-15);
    assert_close(sp_chip_mixed_comms_s(70e9, 850, 850, 459e12), math, 1e-15);
    assert_close(sp_chip_mixed_comms_s(70e9, 850, 212.5, 459e12), math / 2, 1e-15);
    assert_close(sp_chip_tp_comms_s(70e9, 850, 459e12, 8, 16), math / 2, 1e-15);
}

/* A PF-day is 8.64e19 FLOPs; GPT-3 took 3.14e23 (its paper's table of training compute). Llama 2
 * 13B caches 2 bytes x 40 layers x 2 x 5120 for a token, DeepSeek-V3 61 x (512 + 64) elements:
 * 70.272 kB (its hardware paper). ZeRO's table: 16 bytes per parameter, 64 devices of 32 GB, 128e9.
 */
static void conventions(void **state)
{
    (void)state;
    assert_true(sp_pf_days(8.64e19) == 1);
    assert_close(sp_training_flops(174.6e9, 300e9), 3.14e23, 1e-3);
    assert_close(sp_mfu(1e9, 1000, 10, 1.2e12), 0.5, 1e-15);
    const struct sp_model llama = {
        .layers = 40, .d_model = 5120, .heads = 40, .kv_heads = 40, .head_dim = 128};
    assert_true(sp_kv_bytes_per_token(&llama, 2) == 819200);
    const struct sp_model deepseek = {.layers = 61,
                                      .heads = 128,
                                      .kv_heads = 128,
                                      .head_dim = 128,
                                      .mla = {.kv_lora_rank = 512, .qk_rope_head_dim = 64}};
    assert_true(sp_kv_bytes_per_token(&deepseek, 2) == 70272);
    assert_close(sp_max_params(32e9, 64, 16), 128e9, 1e-15);
    assert_true(sp_checkpoint_bytes(4, 1000, 512, 10, 1) == 2.0 * 4 * 1000 * 512 * 10);
    /* GPT-2's 50257 words as Megatron pads them for 1 and 8 ranks, and Llama's 32000 for 8 */
    const struct sp_plan alone = {.tp = 1}, eight = {.tp = 8};
    const struct sp_model gpt2 = {.vocab = 50257}, llama_words = {.vocab = 32000};
    assert_true(sp_padded_vocab(&gpt2, &alone) == 50304);
    assert_true(sp_padded_vocab(&gpt2, &eight) == 51200);
    assert_true(sp_padded_vocab(&llama_words, &eight) == 32768);
    /* Llama 3's machine of 16384 GPUs stopped 419 times unexpectedly in 54 days */
    assert_close(sp_machine_mtbf_s(54 * 86400.0 / 419 * 16384, 16384), 11135, 1e-4);
}

/* Gemma 3 27B: 10 of 62 layers attend to all of 131072 tokens, the others to a window of 1024, in
 * which the first 1024 tokens see half of it on average: twice the mean is 2048 - 1024^2/131072 =
 * 2040. The inverse: with only windows of 4096, no length attends to 524288 tokens. */
static void windows(void **state)
{
    (void)state;
    const struct sp_model gemma = {
        .layers = 62, .head_dim = 128, .sliding_window = 1024, .global_every = 6};
    const struct sp_model mistral = {.layers = 32, .head_dim = 128, .sliding_window = 4096};
    const double mean = (10 * 131072.0 + 52 * 2040.0) / 62;
    assert_close(sp_attended_tokens(&gemma, 131072), mean, 1e-15);
    assert_close(sp_attended_tokens(&gemma, 1000), 1000, 0);
    assert_close(sp_attended_tokens(&gemma, 1024), 1024, 1e-15);
    assert_close(sp_attended_tokens(&mistral, 8192), 2 * 4096 - 2048, 1e-15);
    assert_close(sp_seq_of_attended_tokens(&gemma, mean), 131072, 1e-12);
    assert_close(sp_seq_of_attended_tokens(&mistral, 6144), 8192, 1e-12);
    assert_close(sp_seq_of_attended_tokens(&mistral, 1000), 1000, 0);
    assert_true(isinf(sp_seq_of_attended_tokens(&mistral, 524288)));
    /* Llama 4 Scout: 12 of 48 layers attend to all, the others within chunks of 8192. Half a chunk
     * more: (8192^2 + 4096^2) / 12288 tokens of them. MaxText's test has 16 layers, chunks of 1024
     * and 4096 tokens: 4 chunks whole. */
    const struct sp_model scout = {
        .layers = 48, .head_dim = 128, .attention_chunk = 8192, .global_every = 4};
    const struct sp_model small = {.layers = 16, .head_dim = 128, .attention_chunk = 1024};
    assert_close(sp_attended_tokens(&scout, 131072), (12 * 131072.0 + 36 * 8192) / 48, 1e-15);
    assert_close(sp_attended_tokens(&scout, 12288),
                 (12 * 12288.0 + 36 * (8192.0 * 8192 + 4096.0 * 4096) / 12288) / 48, 1e-15);
    assert_close(sp_attended_tokens(&small, 4096), 1024, 1e-15);
    assert_close(sp_seq_of_attended_tokens(&scout, (12 * 131072.0 + 36 * 8192) / 48), 131072,
                 1e-12);
    assert_true(isinf(sp_seq_of_attended_tokens(&small, 1025)));
    /* Qwen2: the first 24 of 36 layers attend to all, the others to a window of 32768 */
    const struct sp_model qwen = {
        .layers = 36, .head_dim = 128, .sliding_window = 32768, .global_first = 24};
    assert_close(sp_attended_tokens(&qwen, 131072),
                 (24 * 131072.0 + 12 * (2 * 32768 - 32768.0 / 4)) / 36, 1e-15);
    /* MLPs and projections of a layer against the scores of a windowed one: where they are equal */
    struct sp_model m = {.layers = 2,
                         .d_model = 64,
                         .d_ff = 64,
                         .heads = 4,
                         .kv_heads = 4,
                         .head_dim = 16,
                         .vocab = 100,
                         .sliding_window = 64,
                         .global_every = 2};
    const double T = sp_attention_crossover_tokens(&m, false);
    const struct sp_flops f = sp_forward_flops_per_token(&m, T, false, false);
    assert_close(f.attention, f.mlp + f.projections, 1e-12);
}

/* The book's latency example: 4.5e10 bytes/s and 1 us make 45 kB; a ring of 16 is 8 hops across. */
static void messages(void **state)
{
    (void)state;
    assert_close(sp_latency_threshold_bytes(4.5e10, 1e-6), 45e3, 1e-15);
    assert_close(sp_send_s(9e9, 2, 4.5e10), 0.1, 1e-15);
    assert_close(sp_derated_s(1, 1000, 1000), 2, 1e-15);
    assert_close(sp_derated_s(1, 1000, 250), 1.25, 1e-15);
    const struct sp_torus_group ring = {.n = 1, .length = {16}, .wraps = {true}};
    const struct sp_torus_group both = {.n = 2, .length = {4, 5}, .wraps = {false, true}};
    assert_true(sp_torus_hops(SP_ALL_GATHER, &ring) == 8);
    assert_true(sp_torus_hops(SP_ALL_REDUCE, &ring) == 16);
    assert_true(sp_torus_hops(SP_REDUCE_SCATTER, &both) == 3 + 3);
    assert_close(sp_hop_s(1024, 512, 4, 1e9), 2.0 * 1024 * 512 / 4e9, 1e-15);
    assert_close(sp_hops_s(3, 8, 4), 30, 1e-15);
}

/* What each policy recomputes. `alternate` repeats every second matmul of a layer in the order q,
 * k, v, out, gate, up, down: k, out and up; k counts a quarter of q, k and v, between the third of
 * multi-head attention and the small share with grouped queries. */
static void policies(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct sp_recompute repeated;
    } expected[SP_POLICIES] = {
        {"none", {.qkv = 0}},
        {"selective", {.core = 1}},
        {"mlp", {.qkv = 1, .core = 1, .out = 1, .norms = 1}},
        {"dots", {.core = 1, .norms = 1}},
        {"full", {.qkv = 1, .core = 1, .out = 1, .up = 1, .down = 1, .norms = 1}},
        {"alternate", {.qkv = 0.25, .out = 1, .up = 0.5, .norms = 1, .spare = 1}},
        {"qkv", {.core = 1, .out = 1, .up = 1, .norms = 1}},
        {"attention", {.core = 1, .up = 1, .norms = 1}},
    };
    for (int i = 0; i < SP_POLICIES; i++) {
        const struct sp_recompute *a = &sp_policies[i].recompute, *b = &expected[i].repeated;
        assert_string_equal(sp_policy_names[i], expected[i].name);
        assert_true(a->qkv == b->qkv && a->core == b->core && a->out == b->out && a->up == b->up);
        assert_true(a->down == b->down && a->norms == b->norms && a->spare == b->spare);
        assert_true(a->offload == b->offload);
    }
}

/* 16 chips in two slices. The replicas span the slices, or the stages do; a TP group of 16 cannot,
 * nor can an EP group of 8 where a slice has 4 ranks of a stage. */
static void slices(void **state)
{
    (void)state;
    struct sp_model m = {.layers = 4,
                         .d_model = 64,
                         .d_ff = 64,
                         .heads = 16,
                         .kv_heads = 16,
                         .head_dim = 4,
                         .vocab = 100};
    struct sp_plan p = {.dp = 2,
                        .shards = 2,
                        .tp = 4,
                        .pp = 2,
                        .vpp = 1,
                        .cp = 1,
                        .ep = 1,
                        .etp = 1,
                        .micro_batch = 1,
                        .batch = 8,
                        .seq = 64,
                        .schedule = SP_1F1B};
    assert_int_equal(sp_check_plan(&m, &p, 16, 2), SP_PLAN_OK);
    p.dp = p.shards = 1;
    p.tp = 8;
    assert_int_equal(sp_check_plan(&m, &p, 16, 2), SP_PLAN_OK);
    p.tp = 16;
    p.pp = 1;
    assert_int_equal(sp_check_plan(&m, &p, 16, 2), SP_PLAN_SLICES);
    assert_int_equal(sp_check_plan(&m, &p, 16, 1), SP_PLAN_OK);
    m.moe = (struct sp_moe){.experts = 8, .top_k = 1, .d_ff_expert = 64};
    p.dp = p.shards = 4;
    p.tp = p.pp = 2;
    p.ep = 4;
    assert_int_equal(sp_check_plan(&m, &p, 16, 2), SP_PLAN_OK);
    p.ep = 8;
    assert_int_equal(sp_check_plan(&m, &p, 16, 2), SP_PLAN_SLICES);
    assert_int_equal(sp_check_plan(&m, &p, 16, 1), SP_PLAN_OK);
    p.dp = p.cp = 2;
    p.ep = 4;
    assert_int_equal(sp_check_plan(&m, &p, 16, 2), SP_PLAN_OK);
    p = (struct sp_plan){.dp = 6,
                         .shards = 2,
                         .tp = 2,
                         .pp = 1,
                         .vpp = 1,
                         .cp = 1,
                         .ep = 4,
                         .etp = 1,
                         .micro_batch = 1,
                         .batch = 6,
                         .seq = 64,
                         .schedule = SP_1F1B};
    assert_int_equal(sp_check_plan(&m, &p, 12, 1), SP_PLAN_OK); /* each expert once in a group */
    p.shards = 3;
    assert_int_equal(sp_check_plan(&m, &p, 12, 1), SP_PLAN_SHARDS); /* once or twice */
    const struct sp_plan four = {.dp = 4, .cp = 2}, three = {.dp = 3, .cp = 2};
    assert_int_equal(sp_default_shards(&four, 2), 4);
    assert_int_equal(sp_default_shards(&four, 1), 8);
    assert_int_equal(sp_default_shards(&three, 2), 6);
    assert_true(sp_groups_of_rank(16, 8) == 2 && sp_groups_of_rank(16, 32) == 1);
}

/* Recomputation with 10 FLOPs in MLPs, 20 in projections, 30 in scores, 40 in the head and 50 in a
 * counted table: full recomputation repeats the layers' 60. */
static void recomputed(void **state)
{
    (void)state;
    const struct sp_flops f = {.mlp = 10,
                               .projections = 20,
                               .attention = 30,
                               .unembedding = 40,
                               .embedding = 50,
                               .total = 150};
    assert_true(sp_recomputed_flops_per_token(&f, SP_REMAT_NONE) == 0);
    assert_true(sp_recomputed_flops_per_token(&f, SP_REMAT_SELECTIVE) == 30);
    assert_true(sp_recomputed_flops_per_token(&f, SP_REMAT_DOTS) == 30);
    assert_true(sp_recomputed_flops_per_token(&f, SP_REMAT_MLP) == 50);
    assert_true(sp_recomputed_flops_per_token(&f, SP_REMAT_FULL) == 60);
}

/* A head of 162 x 4 weights is 4.05 layers of 4 x 16 + 3 x 32 = 160: 12.05 in all, and the first of
 * two stages closes with the layer that passes 6.025, the seventh. */
static void stages_by_cost(void **state)
{
    (void)state;
    const struct sp_model m = {.layers = 8,
                               .d_model = 4,
                               .d_ff = 8,
                               .heads = 1,
                               .kv_heads = 1,
                               .head_dim = 4,
                               .vocab = 162,
                               .gated_mlp = true};
    assert_int_equal(
        sp_layers_of_stage(&m, &(struct sp_stage_split){.stages = 2, .balance = SP_BALANCE_COST}, 0)
            .of[SP_LAYER_DENSE],
        7);
    assert_int_equal(
        sp_layers_of_stage(&m, &(struct sp_stage_split){.stages = 2, .balance = SP_BALANCE_COST}, 1)
            .of[SP_LAYER_DENSE],
        1);
    assert_int_equal(
        sp_layers_of_stage(&m, &(struct sp_stage_split){.stages = 2, .balance = SP_BALANCE_EVEN}, 0)
            .of[SP_LAYER_DENSE],
        4);
    struct sp_model plain = m; /* layers of 128, a head of 520: 12.06, half of it 6.03 */
    plain.gated_mlp = false;
    plain.vocab = 130;
    assert_int_equal(
        sp_layers_of_stage(&plain,
                           &(struct sp_stage_split){.stages = 2, .balance = SP_BALANCE_COST}, 0)
            .of[SP_LAYER_DENSE],
        7);
    struct sp_plan p = {.dp = 2,
                        .shards = 2,
                        .tp = 1,
                        .pp = 1,
                        .vpp = 1,
                        .cp = 1,
                        .ep = 2,
                        .etp = 1,
                        .micro_batch = 1,
                        .batch = 8,
                        .seq = 64,
                        .schedule = SP_1F1B};
    assert_int_equal(sp_check_plan(&m, &p, 2, 1), SP_PLAN_EP_EXPERTS); /* there are none */
}

/* C = 100 and F = 1000: 10 ranks over links of 1, 100 over links of 10, of which a domain has 8. */
static void usable_degrees(void **state)
{
    (void)state;
    struct sp_fit_terms t = {.C = 100, .F = 1000, .W = 1, .W_domain = 10};
    assert_int_equal(sp_usable_tp_degree(&t, 8), 10);
    t.W = 0.5;
    assert_int_equal(sp_usable_tp_degree(&t, 8), 8);
    t.W_domain = NAN;
    assert_int_equal(sp_usable_tp_degree(&t, 8), 5);
}

/* Between slices each chip sends its share of the gradients, 2 P / (chips of a slice) bytes,
 * through its part of the host's link; at the critical batch that takes as long as the 4 P b FLOPs
 * of its backward pass. */
static void slices_wait_for_the_data_centre(void **unused)
{
    const double P = 70e9, C = 459e12, W = 6.25e9, M = 4096;
    const struct sp_fit_terms two = {.S = 2, .M = M, .C = C, .W_dcn = W, .r = 1}, one = {.S = 1};
    const double b = sp_critical_dcn(&two);
    (void)unused;
    assert_close(2 * 2 * P / M / W, 4 * P * b / C, 1e-12); /* a reduction sends and receives */
    assert_true(sp_critical_dcn(&one) == 0);
    assert_true(sp_critical_across_slices(235, 18, SP_OVERLAP_AXES) == 235);
    assert_true(sp_critical_across_slices(18, 235, SP_OVERLAP_AXES) == 235);
    assert_true(sp_critical_across_slices(940, 0, SP_OVERLAP_NONE) == 940);
    for (double ici = 1; ici < 1e5; ici *= 3)
        for (double dcn = 1; dcn < 1e5; dcn *= 7) {
            /* 1 is the sum of two equal loads that fall with the root, and of one that falls with x
             */
            const double x = sp_critical_across_slices(ici, dcn, SP_OVERLAP_NONE);
            assert_close(2 * sqrt(ici / 4 / x) + dcn / x, 1, 1e-12);
        }
}

/* One byte an element halves the traffic, and with it the batch that hides it. */
static void wires_of_one_byte(void **unused)
{
    const double C = 1979e12, W = 450e9, r = 8;
    (void)unused;
    for (double wire = 0.5; wire <= 4; wire *= 2)
        assert_close(sp_critical_tokens_per_chip(sp_peak_of_wire(C, wire), W, r),
                     r * C * wire / (2 * W), 1e-15);
}

/* A batch four times as large: four times the rate by the linear rule, twice by the root. A loss is
 * its floor and its two parts. */
static void rates_and_losses(void **unused)
{
    const struct sp_scaling_law law = {
        .form = SP_FORM_SUM, .E = 1.69, .A = 400, .B = 410, .alpha = 0.5, .beta = 0.25};
    (void)unused;
    assert_close(sp_scaled_lr(SP_LR_LINEAR, 3e-4, 4e6, 1e6), 12e-4, 1e-15);
    assert_close(sp_scaled_lr(SP_LR_SQRT, 3e-4, 4e6, 1e6), 6e-4, 1e-15);
    assert_close(sp_scaled_lr(SP_LR_FIXED, 3e-4, 4e6, NAN), 3e-4, 1e-15);
    assert_close(sp_loss_of_params(1e6, law.A, law.alpha), 0.4, 1e-15);
    assert_close(sp_loss_of_tokens(1e8, law.B, law.beta), 4.1, 1e-15);
    assert_close(sp_law_loss(&law, 1e6, 1e8), 1.69 + 0.4 + 4.1, 1e-15);
}

/* Korthikanti's table 2 has six cases: the one that a policy, TP and sequence parallelism select. 8
 * layers of 1 kB on 4 stages with 3 micro-batches in flight keep 6 kB. */
static void activations_of_a_stage(void **unused)
{
    const struct sp_spread spread = {
        .dp = 1, .tp = 2, .pp = 4, .cp = 5, .microbatches_in_flight = 3};
    const struct sp_model m = {
        .layers = 8, .d_model = 64, .d_ff = 256, .heads = 1, .kv_heads = 1, .head_dim = 64};
    (void)unused;
    for (int sp = 0; sp < 2; sp++) {
        assert_int_equal(sp_gpt_rule(SP_REMAT_NONE, 1, sp), SP_GPT_NONE);
        assert_int_equal(sp_gpt_rule(SP_REMAT_NONE, 8, sp), sp ? SP_GPT_TP_SP : SP_GPT_TP);
        assert_int_equal(sp_gpt_rule(SP_REMAT_SELECTIVE, 1, sp), SP_GPT_SELECTIVE);
        assert_int_equal(sp_gpt_rule(SP_REMAT_SELECTIVE, 8, sp),
                         sp ? SP_GPT_SELECTIVE : SP_GPT_TP_SELECTIVE);
        assert_int_equal(sp_gpt_rule(SP_REMAT_FULL, 8, sp), SP_GPT_FULL);
    }
    assert_close(sp_stage_activation_bytes(8, 1000, &spread), 6000, 1e-15);
    /* block inputs alone: 2 bytes x 64 per token and layer, shared by 2 x 5 ranks */
    assert_close(sp_activation_footprint(&m, SP_REMAT_FULL, 1000, &spread),
                 8. / 4 * 3 * 2 * 64 * 1000 / 10, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_1),
        cmocka_unit_test(one_operation),
        cmocka_unit_test(critical_degrees),
        cmocka_unit_test(splits),
        cmocka_unit_test(one_chip),
        cmocka_unit_test(conventions),
        cmocka_unit_test(messages),
        cmocka_unit_test(windows),
        cmocka_unit_test(policies),
        cmocka_unit_test(stages_by_cost),
        cmocka_unit_test(usable_degrees),
        cmocka_unit_test(slices),
        cmocka_unit_test(recomputed),
        cmocka_unit_test(slices_wait_for_the_data_centre),
        cmocka_unit_test(wires_of_one_byte),
        cmocka_unit_test(rates_and_losses),
        cmocka_unit_test(activations_of_a_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
