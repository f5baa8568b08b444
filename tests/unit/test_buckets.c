/* Gradient buckets and health rules: timelines by hand, given shares of a step. */
#include "check.h"

#include <scaleplan/step.h>

/* 100 bytes in buckets of 25 over a backward pass of 4 s: one fills per second. */
static struct sp_buckets timeline(double gradients, double backward, double full, double last)
{
    const struct sp_bucket_times t = {.gradient_bytes = gradients,
                                      .bucket_bytes = 25,
                                      .backward_s = backward,
                                      .full_s = full,
                                      .last_s = last,
                                      .all_s = 4 * full};
    return sp_bucket_timeline(&t);
}

/* Reduction takes half of the filling time: only the last bucket is exposed. */
static void test_keeps_up(void **state)
{
    (void)state;
    const struct sp_buckets b = timeline(100, 4, 0.5, 0.5);
    assert_close(b.count, 4, 0);
    assert_close(b.last_bytes, 25, 0);
    assert_close(b.first_launch_s, 1, 0);
    assert_close(b.end_s, 4.5, 0);
    assert_close(b.tail_s, 0.5, 0);
    assert_close(b.naive_s, 2, 0);
    assert_close(b.hidden, 0.75, 1e-15);
}

/* Reduction takes twice the filling time: after the first bucket the network is always busy, 1 + 4
 * x 2 s. */
static void test_falls_behind(void **state)
{
    (void)state;
    const struct sp_buckets b = timeline(100, 4, 2, 2);
    assert_close(b.end_s, 9, 0);
    assert_close(b.tail_s, 5, 0);
    assert_close(b.hidden, 3. / 8, 1e-15);
}

/* Four buckets one after the other: full after 1, 2, 3 and 4 s; sent then, or when the network is
 * free. */
static void test_spans(void **state)
{
    (void)state;
    const struct sp_buckets quick = timeline(100, 4, 0.5, 0.5), slow = timeline(100, 4, 2, 2);
    const double sent[] = {1, 2, 3, 4}, waited[] = {1, 3, 5, 7};
    for (int k = 0; k < 4; k++) {
        assert_close(sp_bucket_span(&quick, k).start_s, sent[k], 0);
        assert_close(sp_bucket_span(&quick, k).end_s, sent[k] + 0.5, 0);
        assert_close(sp_bucket_span(&slow, k).start_s, waited[k], 0);
        assert_close(sp_bucket_span(&slow, k).end_s, waited[k] + 2, 0);
    }
}

/* 110 bytes: the fifth bucket has 10; the fourth is full after 4 s and reduced at 4.5 s, after the
 * end of the pass at 4.4 s. */
static void test_last_is_smaller(void **state)
{
    (void)state;
    const struct sp_buckets b = timeline(110, 4.4, 0.5, 0.2);
    assert_close(b.count, 5, 0);
    assert_close(b.last_bytes, 10, 0);
    assert_close(b.first_launch_s, 1, 1e-15);
    assert_close(b.end_s, 4.7, 1e-15);
}

/* One bucket: nothing is hidden. */
static void test_one_bucket(void **state)
{
    (void)state;
    const struct sp_buckets b = timeline(20, 4, 9, 1);
    assert_close(b.count, 1, 0);
    assert_close(b.bytes, 20, 0);
    assert_close(b.first_launch_s, 4, 0);
    assert_close(b.tail_s, 1, 0);
    assert_close(b.bucket_s, 1, 0);
    assert_close(b.hidden, 0, 0);
}

/* 29 s of 100 s in communication and 15 s idle are healthy; one second more of the first, or 5 of
 * the second, is not: both rules are strict. */
static void test_health(void **state)
{
    (void)state;
    struct sp_step_time t = {.matmul = 56,
                             .tp_comm = 9,
                             .cp_comm = 5,
                             .ep_comm = 5,
                             .dp_comm = 5,
                             .pp_comm = 5,
                             .bubble = 5,
                             .launch = 5,
                             .offload = 5,
                             .step = 100};
    struct sp_health h = sp_health_of(&t);
    assert_close(h.comm_share, 0.29, 1e-15);
    assert_close(h.busy_share, 0.85, 1e-15);
    assert_true(h.healthy && h.comm_ok && h.busy_ok);
    t.tp_comm = 10;
    h = sp_health_of(&t);
    assert_true(!h.comm_ok && h.busy_ok && !h.healthy);
    t.tp_comm = 9;
    t.bubble = 10;
    h = sp_health_of(&t);
    assert_true(h.comm_ok && !h.busy_ok && !h.healthy);
}

/* Only the last bucket waits for the end of the pass, if the others are reduced earlier. */
static void test_last_waits(void **state)
{
    (void)state;
    assert_close(timeline(110, 4.4, 0.1, 0.2).end_s, 4.6, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeps_up),        cmocka_unit_test(test_falls_behind),
        cmocka_unit_test(test_last_is_smaller), cmocka_unit_test(test_one_bucket),
        cmocka_unit_test(test_spans),           cmocka_unit_test(test_last_waits),
        cmocka_unit_test(test_health)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
