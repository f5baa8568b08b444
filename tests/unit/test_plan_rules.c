/* Small rules of a plan, by counting: micro-batches, rounds of chunks, shards, rounded batches. */
#include "check.h"

#include <scaleplan/plan.h>

/* One micro-batch after the other until the replicas' sequences are used up. */
static void microbatches_by_counting(void **state)
{
    (void)state;
    for (int64_t dp = 1; dp <= 4; dp++)
        for (int64_t micro = 1; micro <= 4; micro++)
            for (int64_t batch = 1; batch <= 40; batch++) {
                const struct sp_plan p = {.dp = dp, .micro_batch = micro, .batch = batch};
                int64_t n = 0;
                for (int64_t left = batch; left > 0; left -= dp * micro)
                    n++;
                assert_int_equal(sp_plan_microbatches(&p), n);
            }
}

/* Any number; whole rounds of as many micro-batches as stages (Megatron-LM); or, as in PyTorch's
 * ScheduleInterleaved1F1B, as many equal rounds as have at least the stages each. */
static bool takes(enum sp_rounds rounds, int64_t m, int64_t stages)
{
    int64_t n = 1;
    if (rounds == SP_ROUNDS_ANY)
        return true;
    if (rounds == SP_ROUNDS_OF_STAGES || rounds == SP_ROUNDS_OF_GROUPS) {
        while (m > 0)
            m -= stages;
        return m == 0;
    }
    while ((n + 1) * stages <= m)
        n++;
    return m % n == 0;
}

static void rounds_of_chunks(void **state)
{
    (void)state;
    for (int rounds = 0; rounds < SP_ROUNDS; rounds++)
        for (int64_t stages = 1; stages <= 8; stages++)
            for (int64_t m = 1; m <= 40; m++) {
                struct sp_plan p = {.dp = 2, .micro_batch = 1, .batch = 2 * m, .pp = stages};
                const bool want = takes((enum sp_rounds)rounds, m, stages);
                assert_int_equal(sp_takes_rounds((enum sp_rounds)rounds, m, stages), want);
                p.vpp = 1; /* without chunks there are no rounds */
                assert_true(sp_may_interleave((enum sp_rounds)rounds, &p));
                p.vpp = 2;
                assert_int_equal(sp_may_interleave((enum sp_rounds)rounds, &p), want);
            }
}

/* An exchange hides behind another micro-batch, where the framework lets it: with its dispatcher,
 * and, if asked, several chunks of a stage or no pipeline. */
static void exchanges_that_hide(void **state)
{
    (void)state;
    for (int bits = 0; bits < 256; bits++) {
        const bool asks = bits & 1, several = bits & 2, refuses = bits & 4, in_chunks = bits & 8,
                   pipeline = bits & 16, chunks = bits & 32, dual = bits & 64, ep = bits & 128;
        struct sp_plan p = {.dp = 1, .micro_batch = 1, .batch = several ? 2 : 1, .tp = 1, .cp = 1};
        struct sp_overlap_limits limits = {.in_chunks = in_chunks};
        p.pp = pipeline ? 2 : 1;
        p.vpp = chunks ? 2 : 1;
        p.ep = ep ? 2 : 1;
        p.schedule = dual ? SP_DUALPIPE : SP_1F1B;
        p.execution.moe_overlap = asks;
        limits.refuses[p.execution.dispatch] = refuses;
        const bool has_chunks = !pipeline || chunks || dual;
        assert_int_equal(sp_has_chunks(p.pp, p.vpp, p.schedule), has_chunks);
        assert_int_equal(sp_overlaps_exchange(&p), asks && several);
        assert_int_equal(sp_may_overlap(&limits, &p),
                         !ep || !asks || !several || (!refuses && (!in_chunks || has_chunks)));
    }
}

/* Shards are all replicas and CP ranks, of one slice where replicas lie in several. */
static void shards_and_shares(void **state)
{
    (void)state;
    for (int64_t dp = 1; dp <= 12; dp++)
        for (int64_t cp = 1; cp <= 4; cp++)
            for (int64_t slices = 1; slices <= 4; slices++) {
                const struct sp_plan p = {.dp = dp, .cp = cp, .tp = 3, .pp = 5};
                assert_int_equal(sp_default_shards(&p, slices),
                                 dp % slices == 0 ? dp / slices * cp : dp * cp);
                assert_int_equal(sp_plan_devices(&p), 15 * dp * cp);
            }
    const struct sp_model model = {.layers = 32};
    struct sp_plan p = {.pp = 4, .offload_layers = 0};
    assert_close(sp_offloaded_share(&model, &p), 0, 0);
    p.recompute.offload = true;
    assert_close(sp_offloaded_share(&model, &p), 1, 0);
    p.offload_layers = 2; /* of each of four stages: 8 of 32 */
    assert_close(sp_offloaded_share(&model, &p), 0.25, 0);
    p.offload_layers = 9;
    assert_close(sp_offloaded_share(&model, &p), 1, 0);
    p.imbalance = 1.5;
    assert_close(sp_expert_load(&p), 1.5, 0);
    p.execution.capacity = 1.25;
    assert_close(sp_expert_load(&p), 1.25, 0);
}

/* The nearest power of two within 5 %, else five binary digits; then a multiple of what runs at
 * once. */
static void rounded_batches(void **state)
{
    (void)state;
    static const struct {
        double sequences;
        int64_t at_once, batch;
    } rows[] = {{500, 1, 512}, {487, 1, 480},  {489, 1, 512},    {1000, 8, 1024}, {700, 1, 704},
                {725, 1, 736}, {31, 1, 32},    {29, 1, 29},      {1, 1, 1},       {1, 8, 8},
                {100, 24, 96}, {500, 24, 504}, {1023, 64, 1024}, {47, 1, 48},     {95, 1, 96}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sp_round_batch(rows[i].sequences, rows[i].at_once), rows[i].batch);
}

/* Megatron-LM's check (schedules.py): a group from PP to M whose last one is whole or at least PP.
 */
static void groups_of_microbatches(void **state)
{
    (void)state;
    for (int64_t stages = 1; stages <= 8; stages++)
        for (int64_t m = 1; m <= 60; m++) {
            int64_t least = 0;
            for (int64_t g = m; g >= stages; g--)
                if (!(0 < m % g && m % g < stages))
                    least = g;
            assert_int_equal(sp_microbatch_group(m, stages), least);
        }
}

/* The greatest common divisor by trying all, and what is left without twos. */
static void divisors(void **state)
{
    (void)state;
    for (int64_t a = 1; a <= 60; a++)
        for (int64_t b = 1; b <= 60; b++) {
            int64_t best = 1;
            for (int64_t d = 2; d <= a; d++)
                if (a % d == 0 && b % d == 0)
                    best = d;
            assert_int_equal(sp_common_divisor(a, b), best);
            assert_int_equal(sp_common_divisor(a, 0), a);
        }
    for (int64_t n = 1; n <= 200; n++) {
        int64_t odd = n;
        while ((odd & 1) == 0)
            odd >>= 1;
        assert_int_equal(sp_odd_part(n), odd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(microbatches_by_counting), cmocka_unit_test(rounds_of_chunks),
        cmocka_unit_test(exchanges_that_hide),      cmocka_unit_test(shards_and_shares),
        cmocka_unit_test(rounded_batches),          cmocka_unit_test(divisors),
        cmocka_unit_test(groups_of_microbatches),
    };
    return cmocka_run_group_tests_name("plan_rules", tests, NULL, NULL);
}
