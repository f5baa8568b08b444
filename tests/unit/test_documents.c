/* Packed documents: their attention against Megatron-LM's count with ragged lengths, their sizes
 * against moments in closed form, the busiest replica against drawn ones. */
#include "check.h"
#include "asked.h"

#include <scaleplan/flops.h>
#include <scaleplan/layer.h>
#include <scaleplan/lengths.h>
#include <scaleplan/step.h>

static const struct sp_model gqa = {.name = "gqa",
                                    .layers = 4,
                                    .d_model = 1024,
                                    .d_ff = 3072,
                                    .heads = 16,
                                    .kv_heads = 4,
                                    .head_dim = 96,
                                    .vocab = 5000,
                                    .gated_mlp = true,
                                    .norms_per_layer = 2};

static struct sp_documents pack(enum sp_lengths_kind kind, double a, double b, double row)
{
    struct sp_documents d;
    const struct sp_lengths l = {.kind = kind, .a = a, .b = b};
    assert_true(sp_pack_documents(&l, row, row, &d));
    return d;
}

static double attention(const struct sp_model *m, const struct sp_documents *d, double seq)
{
    struct sp_model packed = *m;
    packed.documents = d;
    return sp_forward_flops_per_token(&packed, seq, true, false).attention;
}

/* NVIDIA/Megatron-LM, training.py, num_floating_point_operations with seqlen_squared_sum_in_batch
 * s2 and total_real_tokens_in_batch s1, as its unit test has it: a layer's attention is 4 h p (h s1
 * + h (g / a) s1 + s2 / 2) with p = kv_channels a / h, its gated MLP 4 (f / h) 1.5 s1 h^2, the
 * logits 2 s1 h V; three times that. */
static void as_megatron(void **state)
{
    (void)state;
    enum { N = 300 };
    double sorted[N], s1 = 0, s2 = 0;
    uint64_t seed = 7;
    const struct sp_lengths any = {.kind = SP_LENGTHS_UNIFORM, .a = 16, .b = 8192};
    double least = 16;
    for (int i = 0; i < N; i++) { /* ragged and rising, as a trace has them */
        least += sp_draw_length(&any, &seed) / N;
        sorted[i] = floor(least);
        s1 += sorted[i];
        s2 += sorted[i] * sorted[i];
    }
    const struct sp_lengths trace = {.kind = SP_LENGTHS_TRACE, .sorted = sorted, .n = N};
    struct sp_documents d;
    assert_true(sp_pack_documents(&trace, 8192, 8192, &d));
    const double h = 1024, p = 96 * 16 / h, V = 5000;
    const double layer =
        4 * h * p * (h * s1 + h * (4.0 / 16) * s1 + s2 / 2) + 4 * (3072 / h) * 1.5 * s1 * h * h;
    struct sp_model packed = gqa;
    packed.documents = &d;
    assert_close(sp_model_flops(&packed, s1, 8192, SP_FLOPS_CAUSAL),
                 3 * (4 * layer + 2 * s1 * h * V), 1e-9);
}

/* Two documents of half the length have half the attention, whatever else the layer has. */
static void halves(void **state)
{
    (void)state;
    const struct sp_documents half = pack(SP_LENGTHS_FIXED, 4096, 0, 8192);
    const double whole = attention(&gqa, NULL, 8192);
    assert_true(2 * attention(&gqa, &half, 8192) == whole);
    assert_close(half.spread, 0, 0);
    struct sp_documents d;
    const struct sp_lengths long_ones = sp_fixed_length(10000);
    assert_false(sp_pack_documents(&long_ones, 8192, 8192, &d)); /* each fills a row */
}

/* Rows with room for 4,096 tokens that hold one document each, of 2,000 or 4,000: 3,000 on
 * average. A row has (2,000^2 + 4,000^2) / 2 squares, though documents are longer than the mean
 * row.
 */
static void room(void **state)
{
    (void)state;
    static const double two[] = {2000, 4000};
    const struct sp_lengths trace = {.kind = SP_LENGTHS_TRACE, .sorted = two, .n = 2};
    struct sp_documents d;
    assert_true(sp_pack_documents(&trace, 4096, 3000, &d));
    assert_close(3000 * attention(&gqa, &d, 3000),
                 (2000 * attention(&gqa, NULL, 2000) + 4000 * attention(&gqa, NULL, 4000)) / 2,
                 1e-12);
}

/* 1,000 and 3,000 tokens, as many of each: of four tokens three are in the long one. With a window
 * of 2,000 these attend to 2 x 2,000 - 2,000^2 / 3,000, and 1,000. */
static void windows(void **state)
{
    (void)state;
    static const double two[] = {1000, 3000};
    const struct sp_lengths trace = {.kind = SP_LENGTHS_TRACE, .sorted = two, .n = 2};
    struct sp_documents d;
    struct sp_model windowed = gqa;
    struct sp_scores scores[SP_MOST_SCORES];
    assert_true(sp_pack_documents(&trace, 8192, 8192, &d));
    assert_int_equal(d.n, 2);
    assert_close(d.reach, 2500, 1e-15);
    windowed.sliding_window = 2000;
    windowed.documents = &d;
    const double reach = 0.25 * 1000 + 0.75 * (4000 - 4e6 / 3000);
    assert_close(sp_attended_tokens(&windowed, 8192), reach, 1e-14);
    assert_int_equal(sp_list_scores(&windowed, 8192, true, scores), 1);
    assert_close(scores[0].tokens, reach, 1e-14);
    assert_close(4 * scores[0].flops, attention(&windowed, &d, 8192), 1e-14);
    windowed.global_every = 2;
    assert_close(sp_attended_tokens(&windowed, 8192), (reach + 2500) / 2, 1e-14);
    assert_int_equal(sp_list_scores(&windowed, 8192, true, scores), 2);
}

/* For squares and lengths: log-normal mean exp(sigma^2), exponential twice the mean. The sum of
 * squares of n exponential ones has the relative variance 2 / n about what their sum implies: the
 * second moment of x^2 - 2 m x is 24 - 24 + 8 m^4, over (2 m^2)^2. */
static void sizes(void **state)
{
    (void)state;
    const struct sp_documents n = pack(SP_LENGTHS_LOGNORMAL, 2000, 0.8, 1e7);
    assert_close(n.reach, 2000 * exp(0.64), 1e-9);
    const struct sp_documents e = pack(SP_LENGTHS_EXPONENTIAL, 2000, 0, 1e6);
    assert_close(e.reach, 4000, 1e-9);
    assert_close(e.spread, sqrt(2 / 500.0), 2e-3);
    double shares = 0, reach = 0;
    for (int i = 0; i < e.n; i++) {
        shares += e.of[i].share;
        reach += e.of[i].share * e.of[i].tokens;
        assert_true(i == 0 || e.of[i].tokens > e.of[i - 1].tokens);
    }
    assert_close(shares, 1, 1e-12);
    assert_close(reach, 4000, 1e-9);
}

/* For many rows the sums are normal: the greatest of two is 1 / sqrt(pi) deviations above the mean,
 * of three 1.5 times that. */
static void busiest(void **state)
{
    (void)state;
    const struct sp_documents e = pack(SP_LENGTHS_EXPONENTIAL, 2000, 0, 32768);
    const double rows = 1e8, deviation = e.spread / sqrt(rows);
    assert_close((sp_busiest_documents(&e, 2, rows) - 1) / deviation, 0.5641895835, 1e-3);
    assert_close((sp_busiest_documents(&e, 3, rows) - 1) / deviation, 0.8462843753, 1e-3);
    assert_close(sp_busiest_documents(&e, 1, 1), 1, 0);
    assert_true(sp_busiest_documents(&e, 1e6, 1) <= 32768 / e.reach);
}

/* Squares of rows that first fit fills with drawn documents, pool by pool, as Megatron-Bridge's
 * first_fit_shuffle does: a document goes to the first row that has room for all of it. */
enum { POOLS = 16, DOCUMENTS = 4000 };
static int first_fit(const struct sp_lengths *l, double row, double *squares)
{
    static double tokens[POOLS * DOCUMENTS];
    uint64_t seed = 3;
    int n = 0;
    for (int pool = 0; pool < POOLS; pool++) {
        const int first = n;
        for (int i = 0; i < DOCUMENTS; i++) {
            const double document = sp_draw_length(l, &seed);
            int at = first;
            while (at < n && tokens[at] + document > row)
                at++;
            if (at == n)
                tokens[n] = squares[n] = 0, n++;
            tokens[at] += document;
            squares[at] += document * document;
        }
    }
    return n;
}

/* The busiest replica over the mean, of such rows drawn again and again. */
static double busiest_of_drawn(const struct sp_lengths *l, double row, int replicas, int rows)
{
    enum { TIMES = 4000 };
    static double squares[POOLS * DOCUMENTS];
    const int n = first_fit(l, row, squares);
    uint64_t seed = 5;
    double sum_of_most = 0, sum = 0;
    for (int t = 0; t < TIMES; t++) {
        double most = 0;
        for (int r = 0; r < replicas; r++) {
            double mine = 0;
            for (int i = 0; i < rows; i++)
                mine += squares[(int)(sp_draw_share(&seed) * n)];
            sum += mine;
            most = fmax(most, mine);
        }
        sum_of_most += most;
    }
    return sum_of_most * replicas / sum;
}

/* From many documents in a row to fewer than two, with a row or several on each replica. */
static void drawn_replicas(void **state)
{
    (void)state;
    static const struct {
        enum sp_lengths_kind kind;
        double a, b, row;
    } cases[] = {{SP_LENGTHS_EXPONENTIAL, 2000, 0, 32768}, {SP_LENGTHS_LOGNORMAL, 2000, 0.8, 8192},
                 {SP_LENGTHS_LOGNORMAL, 2000, 1.5, 8192},  {SP_LENGTHS_EXPONENTIAL, 4000, 0, 8192},
                 {SP_LENGTHS_UNIFORM, 1000, 7000, 8192},   {SP_LENGTHS_LOGNORMAL, 500, 2, 8192},
                 {SP_LENGTHS_UNIFORM, 5000, 6000, 8192}};
    static const int on[][2] = {{8, 1}, {32, 1}, {8, 4}, {16, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_documents d = pack(cases[i].kind, cases[i].a, cases[i].b, cases[i].row);
        const struct sp_lengths l = {
            .kind = cases[i].kind, .a = cases[i].a, .b = cases[i].b, .most = cases[i].row};
        for (size_t k = 0; k < sizeof on / sizeof *on; k++)
            assert_close(sp_busiest_documents(&d, on[k][0], on[k][1]),
                         busiest_of_drawn(&l, cases[i].row, on[k][0], on[k][1]), 0.03);
    }
}

/* Megatron-LM's gpus_needed with 4,096 tokens per rank: 2^ceil(log2(length / 4096)). */
static void ranks(void **state)
{
    (void)state;
    static const double cases[][2] = {{3000, 1}, {4096, 1}, {5000, 2}, {9000, 4}, {15000, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_close(sp_document_ranks(cases[i][0], 8, 8 * 4096), cases[i][1], 0);
}

/* A dynamic ring of documents that all fit in a rank sends nothing, one of a single document is an
 * ordinary ring; replicas of equal documents wait for none. */
static void plans(void **state)
{
    (void)state;
#define PLAN "step --model llama3-8b --hw h100-64 --framework megatron --batch 64x131072 --cp 8 "
    assert_close(ask_for(PLAN "--cp-kind dynamic --documents 16384", "time.cp_comm_s"), 0, 0);
    assert_close(ask_for(PLAN "--cp-kind dynamic", "step_s"), ask_for(PLAN, "step_s"), 0);
    assert_close(ask_for(PLAN "--documents 131072", "step_s"), ask_for(PLAN, "step_s"), 0);
    assert_close(ask_for(PLAN "--documents 65536", "documents.imbalance"), 1, 0);
    /* half the scores; keys at the edge of the mask stay */
    const double half =
        ask_for(PLAN "--documents 65536", "time.attention_s") / ask_for(PLAN, "time.attention_s");
    assert_true(half >= 0.5 && half < 0.51);
    const double fixed = ask_for(PLAN "--documents 4096", "step_s"),
                 uneven = ask_for(PLAN "--documents uniform:1024:7168", "step_s");
    assert_true(uneven > fixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_megatron),    cmocka_unit_test(halves), cmocka_unit_test(room),
        cmocka_unit_test(windows),        cmocka_unit_test(sizes),  cmocka_unit_test(busiest),
        cmocka_unit_test(drawn_replicas), cmocka_unit_test(ranks),  cmocka_unit_test(plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
