/* Layers that share weights, keys or values, and side streams. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

/* Zamba 2 in small. A shared block: queries, keys and values 16 x 16 each, 16 x 8 back, an MLP of
 * 3 x 8 x 16, norms of 16 and 8: 1304, once. Each of the two uses: 8 x 8 after it and an adapter of
 * 8 x 2 + 2 x 32: 144. Each state space: 8 x 42 in, 24 x 5 taps and biases, 6, a norm of 16,
 * 16 x 8 out, a norm of 8: 614. A table of 80 and a last norm of 8. */
static const struct sp_model zamba = {
    .layers = 4,
    .d_model = 8,
    .d_ff = 16,
    .heads = 2,
    .kv_heads = 2,
    .head_dim = 8,
    .vocab = 10,
    .gated_mlp = true,
    .tied_embeddings = true,
    .norms_per_layer = 2,
    .pattern = "SM",
    .state_space = {.inner = 16,
                    .heads = 2,
                    .groups = 1,
                    .state = 4,
                    .conv = 4,
                    .conv_bias = true,
                    .norm = true},
    .shared = {.sets = 1, .streams = 2, .rank = 2, .output = true}};

enum { BLOCK = 1304, USE = 144, STATE = 614, ENDS = 88 };

static void shared_blocks(void **state)
{
    struct sp_model m = zamba;
    const struct sp_params p = sp_count_params(&m);
    const struct sp_flops f = sp_forward_flops_per_token(&m, 16, false, false);
    (void)state;
    assert_close(p.total, BLOCK + 2 * USE + 2 * STATE + ENDS, 0);
    assert_close(p.active, 2 * BLOCK + 2 * USE + 2 * STATE + ENDS, 0);
    assert_close(f.mlp, 2 * 2 * (3 * 8 * 16 + 64 + 80), 0);
    assert_close(f.projections, 2 * 2 * (3 * 256 + 128 + 336 + 128), 0);
    assert_close(sp_kv_bytes_per_token(&m, 2), 2 * 2 * 2 * 2 * 8, 0);
    assert_close(sp_carried_width(&m), 16, 0);
    m.shared.sets = 2;
    assert_close(sp_count_params(&m).total, p.total + BLOCK, 0);
    m.shared.attention_rank = 3; /* beside queries, keys and values of 16 x 16, for each use */
    assert_close(sp_count_params(&m).total, p.total + BLOCK + 2 * 3 * (16 * 3 + 3 * 16), 0);
}

/* A device holds a shared block once, and each stage of a pipeline that has a use of it. */
static void blocks_on_devices(void **state)
{
    const struct sp_precision precision = {
        .weight_bytes = 2, .grad_bytes = 2, .master_bytes = 4, .optimizer_bytes = 8};
    const struct sp_framework framework = {.logit_bytes = 4};
    struct sp_plan plan = {
        .dp = 1, .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .seq = 16};
    struct sp_model m = zamba;
    (void)state;
    m.vocab = 128; /* no rows beside it */
    plan.shards = plan.micro_batch = plan.batch = 1;
    assert_int_equal(sp_memory_of_stage(&m, &precision, &plan, &framework, 0).params,
                     2 * (BLOCK + 2 * USE + 2 * STATE + 8 * 128 + 8));
    plan.pp = 2;
    assert_int_equal(sp_memory_of_stage(&m, &precision, &plan, &framework, 0).params,
                     2 * (BLOCK + USE + STATE + 8 * 128));
}

/* Gemma 3n in small. A layer: attention of 64 + 64 + 64 with norms of 4 for queries and keys, an
 * MLP of 384, four norms of 8; 8 x 3 and back with a norm for its own table; a router of 8 x 2,
 * coefficients of 2 x 4 and 2 x 2, a norm and a scale for two streams; 8 x 2 and back with a norm
 * past attention. Ends: a table of 80, one of 5 x 6 and what leads into its width (8 x 6, a norm of
 * 3), the second stream's 64 before and 64 after, a last norm. */
static const struct sp_model gemma = {
    .layers = 2,
    .d_model = 8,
    .d_ff = 16,
    .heads = 2,
    .kv_heads = 1,
    .head_dim = 4,
    .vocab = 10,
    .gated_mlp = true,
    .tied_embeddings = true,
    .norms_per_layer = 4,
    .qk_norm = SP_QK_NORM_HEAD,
    .side = {.per_layer = 3, .per_layer_vocab = 5, .altup = 2, .laurel_rank = 2}};

enum {
    LAYER = 192 + 8 + 384 + 32 + (24 + 24 + 8) + (16 + 12 + 16) + (16 + 16 + 8),
    GEMMA = 2 * LAYER + 80 + 30 + 48 + 3 + 64 + 64 + 8
};

static void side_streams(void **state)
{
    struct sp_model m = gemma;
    const struct sp_params p = sp_count_params(&m);
    const struct sp_flops f = sp_forward_flops_per_token(&m, 16, false, false);
    (void)state;
    assert_close(p.total, GEMMA, 0);
    assert_close(p.active, GEMMA - 30, 0); /* a token reads a row of the layers' table */
    assert_close(p.lookup, 30, 0);
    assert_close(f.mlp, 2 * 2 * (384 + 48 + 16), 0);
    assert_close(f.projections, 2 * 2 * (192 + 32), 0);
    assert_close(f.unembedding, 2 * (80 + 48 + 64 + 64), 0);
    assert_close(sp_carried_width(&m), 16, 0);
    m.side = (struct sp_side_streams){0};
    assert_close(sp_count_params(&m).total, 2 * (192 + 8 + 384 + 32) + 88, 0);
}

/* The second layer takes the first one's keys and values: 2 x 8 x 4 weights and a norm of 4 less,
 * and nothing kept for generation. */
static void reused_keys(void **state)
{
    struct sp_model m = gemma;
    (void)state;
    assert_close(sp_kv_bytes_per_token(&m, 2), 2 * 2 * 8, 0);
    strcpy(m.pattern, "Aa");
    assert_close(sp_count_params(&m).total, GEMMA - 64 - 4, 0);
    assert_close(sp_kv_bytes_per_token(&m, 2), 2 * 8, 0);
    m.reused.d_ff = 32;
    assert_close(sp_count_params(&m).total, GEMMA - 64 - 4 + 384, 0);
    m.reused = (struct sp_reused_keys){.projections = true};
    assert_close(sp_count_params(&m).total, GEMMA, 0);
    assert_close(sp_kv_bytes_per_token(&m, 2), 2 * 8, 0);
    m.keys_are_values = true; /* no projection of values, 8 x 4 in each layer */
    assert_close(sp_count_params(&m).total, GEMMA - 2 * 32, 0);
    assert_close(sp_kv_bytes_per_token(&m, 2), 2 * 8, 0);
}

/* DeepSeek-V4-Flash: sizes of deepseek_v4_flash in torchtitan, which are those of the released
 * config. */
static const struct sp_model v4 = {
    .layers = 43,
    .d_model = 4096,
    .d_ff = 2048,
    .heads = 64,
    .kv_heads = 1,
    .head_dim = 512,
    .vocab = 129280,
    .gated_mlp = true,
    .norms_per_layer = 2,
    .sliding_window = 128,
    .moe = {.experts = 256, .top_k = 6, .shared_experts = 1, .d_ff_expert = 2048},
    .sparse = {.top_k = 512, .index_heads = 64, .index_head_dim = 128},
    .compressed =
        {.ratio = 4, .far_ratio = 128, .query_rank = 1024, .output_groups = 8, .output_rank = 1024},
    .side = {.hyper = 4},
    .mtp_layers = 1,
    .pattern = "WWALALALALALALALALALALALALALALALALALALALALA"};

/* torchtitan's test of DeepSeek-V4 (pull request 4441): all parameters, and training FLOPs per
 * token at 4,096 by its convention: 6 per active weight, norms and the head of the further token
 * among them, which weighs what the table does; scores of a window as if it were always full, of
 * all entries, and of an indexer's without the weights of its heads. */
static void deepseek_v4(void **state)
{
    const struct sp_params p = sp_count_params(&v4);
    const double heads = 6. * 64 * (512 + 512), index = 6. * 64 * 128;
    const double scores =
        44 * heads * 128 + 21 * (index * 1024 + heads * 512) + 20 * heads * (4096. / 128);
    (void)state;
    assert_close(p.total, 290942278866, 0);
    assert_close(6 * p.active + scores, 92762352876, 0);
    struct sp_model m = v4;
    m.mtp_layers = 0; /* published: 284 B */
    assert_close(sp_count_params(&m).total, 284332230231, 0);
    assert_close(sp_carried_width(&m), 4 * 4096, 0);
}

/* Pairs counted one by one, for the 16,384 tokens of a sequence: a window of 128, every entry that
 * is complete, at most 512 of those that the indexer picks, which scores all. The closed forms take
 * an entry as complete when half of it is. */
static void entries(void **state)
{
    enum { SEQ = 16384, COUNTED = 3 };
    const struct {
        const char *pattern;
        int ratio, most, index;
    } kinds[COUNTED] = {{"W", 0, 0, 0}, {"A", 4, 512, 64 * (128 + 1)}, {"L", 128, SEQ, 0}};
    (void)state;
    for (int kind = 0; kind < COUNTED; kind++) {
        struct sp_model m = v4;
        double products = 0;
        m.mtp_layers = 0;
        m.side.hyper = 1;
        strcpy(m.pattern, kinds[kind].pattern);
        for (int token = 1; token <= SEQ; token++) {
            const int all = kinds[kind].ratio > 0 ? token / kinds[kind].ratio : 0;
            const int read = all < kinds[kind].most ? all : kinds[kind].most;
            products += 64. * 1024 * ((token < 128 ? token : 128) + read);
            products += (double)kinds[kind].index * all;
        }
        assert_close(sp_forward_flops_per_token(&m, SEQ, true, false).attention,
                     43 * 2 * products / SEQ, 0.003);
    }
}

/* What a sequence keeps for generation: in a window 512 numbers per token, and per entry 512 and
 * the index key; what grows an entry, in 4 bytes: values and shares of the tokens of one entry, of
 * two where they overlap and a token has columns for each. One more token reads 512 of the picked
 * entries and all index keys. */
static void cache_of_entries(void **state)
{
    struct sp_model m = v4;
    (void)state;
    m.layers = 3;
    m.mtp_layers = 0;
    strcpy(m.pattern, "WAL");
    const double window = 3 * 128 * 512., seq = 65536;
    assert_close(sp_kv_bytes_of_sequence(&m, seq, 2),
                 2 * (window + seq / 4 * (512 + 128) + seq / 128 * 512), 0);
    assert_close(sp_kv_bytes_read(&m, seq, 2),
                 2 * (window + 512 * 512 + seq / 4 * 128 + seq / 128 * 512), 0);
    assert_close(sp_state_bytes_of_sequence(&m), 4. * 2 * (8 * 1024 + 8 * 256 + 128 * 512), 0);
    struct sp_plan plan = {.dp = 1,
                           .tp = 1,
                           .pp = 1,
                           .vpp = 1,
                           .cp = 2,
                           .ep = 1,
                           .etp = 1,
                           .shards = 1,
                           .micro_batch = 1,
                           .batch = 1,
                           .seq = 4096};
    assert_int_equal(sp_check_plan(&m, &plan, 2, 1), SP_PLAN_CP_ENTRIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_blocks),    cmocka_unit_test(blocks_on_devices),
        cmocka_unit_test(side_streams),     cmocka_unit_test(reused_keys),
        cmocka_unit_test(deepseek_v4),      cmocka_unit_test(entries),
        cmocka_unit_test(cache_of_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
