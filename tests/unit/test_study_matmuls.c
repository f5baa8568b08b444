/* The matmuls of every model against its FLOPs, and totals of operations summed one by one. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/layer.h>

#include "config/load.h"
#include "study/model_matmuls.h"
#include "study/training_flops.h"

struct seen {
    int models;
};

/* Of each model the matmuls' FLOPs of all tokens are those of a forward pass without attention;
 * their bytes are read and written once, and no two rows have one shape. */
static void check(const char *name, void *context)
{
    struct seen *const seen = context;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_model *const m = sp_load_config(SP_MODELS, name, &sources, &error);
    static struct sp_operation_row rows[SP_MOST_OPERATIONS];
    if (m && sp_model_has_shape(m) && m->encoder.layers == 0) {
        const double tokens = 8192, seq = 4096;
        const struct sp_operands bytes = {2, 1, 4};
        const size_t n = sp_model_matmuls(m, tokens, seq, bytes, rows);
        const struct sp_flops f = sp_forward_flops_per_token(m, seq, false, false);
        double flops = 0;
        assert_true(n > 0 && n < SP_MOST_OPERATIONS);
        for (size_t i = 0; i < n; i++) {
            flops += rows[i].count * rows[i].work.flops;
            assert_true(rows[i].count >= 1 && rows[i].work.bytes > 0);
            for (size_t k = 0; k < i; k++)
                assert_false(strcmp(rows[i].name, rows[k].name) == 0 &&
                             rows[i].work.flops == rows[k].work.flops &&
                             rows[i].work.bytes == rows[k].work.bytes &&
                             rows[i].count == rows[k].count);
        }
        assert_close(flops / tokens, f.total - f.attention, 1e-9);
        seen->models++;
    }
    free(m);
}

static void all_models(void **state)
{
    (void)state;
    const struct sp_sources sources = {0};
    struct seen seen = {0};
    sp_each_config(SP_MODELS, &sources, check, &seen);
    assert_true(seen.models > 50);
}

/* Llama 3 8B, 32 layers on 100 tokens: in x out weights of a byte each, 100 rows in of 2 bytes and
 * out of 4. */
static void llama_by_hand(void **state)
{
    (void)state;
    static const double shapes[][3] = {{32, 4096, 6144},   /* queries, keys and values */
                                       {32, 4096, 4096},   /* output */
                                       {32, 4096, 28672},  /* gate and up */
                                       {32, 14336, 4096},  /* down */
                                       {1, 4096, 128256}}; /* head */
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_model *const m = sp_load_config(SP_MODELS, "llama3-8b", &sources, &error);
    static struct sp_operation_row rows[SP_MOST_OPERATIONS];
    assert_non_null(m);
    const size_t n = sp_model_matmuls(m, 100, 4096, (struct sp_operands){2, 1, 4}, rows);
    double flops = 0, bytes = 0, want_flops = 0, want_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        flops += rows[i].count * rows[i].work.flops;
        bytes += rows[i].count * rows[i].work.bytes;
    }
    for (int i = 0; i < 5; i++) {
        const double in = shapes[i][1], out = shapes[i][2];
        want_flops += shapes[i][0] * 2 * 100 * in * out;
        want_bytes += shapes[i][0] * (in * out + 200 * in + 400 * out);
    }
    assert_close(flops, want_flops, 1e-12);
    assert_int_equal(n, 5);
    assert_close(bytes, want_bytes, 1e-12);
    free(m);
}

/* Each operation takes the longer of arithmetic and transfer, one after the other; what can hide is
 * the sum of the shorter ones. */
static void totals_one_by_one(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct sp_operation_row rows[6];
        const size_t n = draw(7);
        double flops = 0, bytes = 0, longer = 0, shorter = 0;
        for (size_t k = 0; k < n; k++) {
            rows[k].count = (double)(1 + draw(9));
            rows[k].work = (struct sp_work){spread(1e6, 1e12), spread(1e3, 1e9)};
            for (int c = 0; c < (int)rows[k].count; c++) {
                const double math = rows[k].work.flops / 1e15, moves = rows[k].work.bytes / 3e12;
                flops += rows[k].work.flops;
                bytes += rows[k].work.bytes;
                longer += math > moves ? math : moves;
                shorter += math > moves ? moves : math;
            }
        }
        const struct sp_operation_total t = sp_total_of(rows, n, 1e15, 3e12);
        assert_close(t.work.flops, flops, 1e-12);
        assert_close(t.work.bytes, bytes, 1e-12);
        assert_close(t.lower_s, longer, 1e-12);
        assert_close(t.shorter_s, shorter, 1e-12);
    }
}

/* A dense model: 6 P of all parameters; with scores three forward passes; full recomputation
 * repeats the layers' forward pass; adapters spare gradients of frozen weights. */
static void training_by_hand(void **state)
{
    (void)state;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_model *const m = sp_load_config(SP_MODELS, "llama3-8b", &sources, &error);
    const double P = 8030261248, table = 128256 * 4096.0;
    /* 4 x 32 layers x 4096 wide x 8192 positions of scores and values; half of them causal */
    const double scores = 4 * 32 * 4096.0 * 8192;
    for (int causal = 0; causal < 2; causal++)
        for (int embedding = 0; embedding < 2; embedding++) {
            const struct sp_flops_question q = {.model = m,
                                                .seq = 8192,
                                                .scores = causal ? SP_FLOPS_CAUSAL : SP_FLOPS_FULL,
                                                .remat = SP_REMAT_FULL,
                                                .count_embedding = embedding};
            const struct sp_training_flops f = sp_count_training_flops(&q);
            const double attention = causal ? scores / 2 : scores;
            const double norms = (2 * 32 + 1) * 4096.0;
            const double matmuls = 2 * (P - table - norms) + (embedding ? 2 * table : 0);
            assert_true(f.plain);
            assert_close(f.computed, 6 * P, 1e-12);
            assert_close(f.forward.total, matmuls + attention, 1e-9);
            assert_close(f.computed_with_scores, 3 * (matmuls + attention), 1e-9);
            assert_close(f.recomputed, 2 * (P - 2 * table - norms) + attention, 1e-9);
            assert_close(f.executed, fmax(6 * P, 3 * (matmuls + attention)), 1e-9);
            assert_close(f.hardware, f.executed + f.recomputed, 1e-12);
        }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_models),
        cmocka_unit_test(llama_by_hand),
        cmocka_unit_test(totals_one_by_one),
        cmocka_unit_test(training_by_hand),
    };
    return cmocka_run_group_tests_name("study_matmuls", tests, NULL, NULL);
}
