/* Pipeline schedules: closed forms by hand, and the player against them. */
#include "check.h"

#include <stdlib.h>

#include <scaleplan/pipeline.h>

static struct sp_pipeline plan(enum sp_schedule schedule, int64_t p, int64_t m, int64_t v)
{
    return (struct sp_pipeline){schedule, p, m, v, 1, 2, 1}; /* F = 1 s, B = 2 s of which W = 1 s */
}

/* p = 4, m = 8: idle (p-1)(F+B) = 9 s, useful 24 s. Interleaving by 3 leaves 3 s. */
static void closed_forms(void **state)
{
    (void)state;
    const struct sp_pipeline gpipe = plan(SP_GPIPE, 4, 8, 1), deep = plan(SP_INTERLEAVED, 4, 8, 3);
    const struct sp_pipeline h1 = plan(SP_ZB_H1, 4, 8, 1), h2 = plan(SP_ZB_H2, 4, 8, 1);
    const struct sp_pipeline dual = plan(SP_DUALPIPE, 8, 16, 1), naive = plan(SP_NAIVE, 8, 99, 1);
    assert_close(sp_bubble_s(&gpipe), 9, 1e-15);
    assert_close(sp_useful_s(&gpipe), 24, 1e-15);
    assert_close(sp_bubble_s(&deep), 3, 1e-15);
    assert_close(sp_bubble_s(&h1), 3, 1e-15);   /* 3 (1 + 2 - 2) */
    assert_true(sp_bubble_s(&h2) == 0);         /* 3 (1 + 2 - 3) */
    assert_close(sp_bubble_s(&dual), 6, 1e-15); /* (8/2 - 1) (1 + 2 x 2 - 3) */
    assert_close(sp_bubble_s(&naive) / sp_useful_s(&naive), 7, 1e-15); /* p - 1 */
}

/* m = e idle / ((1-e)(F+B)): 0.9 x 9 / (0.1 x 3) = 27, which floating point would make 28. */
static void microbatches_for(void **state)
{
    (void)state;
    const struct sp_pipeline p4 = plan(SP_1F1B, 4, 1, 1), p8 = plan(SP_1F1B, 8, 1, 1);
    const struct sp_pipeline half = plan(SP_INTERLEAVED, 4, 4, 2), one = plan(SP_1F1B, 1, 1, 1);
    assert_true(sp_microbatches_for(&p4, 0.9) == 27);
    assert_true(sp_microbatches_for(&p8, 0.5) == 7);
    assert_true(sp_microbatches_for(&half, 0.9) == 14); /* 13.5 */
    assert_true(sp_microbatches_for(&one, 0.9) == 0);
}

/* 1F1B: min(m, p - r). Interleaved, p = 4, v = 2, m = 8: (2 x 3 + 1 x 4 + 1) / 2 = 5.5 on the first
 * stage. */
static void in_flight(void **state)
{
    (void)state;
    const struct sp_pipeline f = plan(SP_1F1B, 4, 8, 1), few = plan(SP_1F1B, 8, 3, 1);
    const struct sp_pipeline deep = plan(SP_INTERLEAVED, 4, 8, 2), afab = plan(SP_GPIPE, 4, 8, 1);
    assert_true(sp_in_flight(&f, 0) == 4 && sp_in_flight(&f, 3) == 1);
    assert_true(sp_in_flight(&few, 0) == 3);
    assert_true(sp_in_flight(&deep, 0) == 5.5);
    assert_true(sp_in_flight(&afab, 0) == 8);
}

/* For equal stages every played schedule takes its closed form's time, and the first stage holds
 * its closed form's micro-batches, with fewer micro-batches than stages too. ZB-H2 takes up to
 * (p-1) F longer: see pipeline.h. */
static void played_is_closed(void **state)
{
    (void)state;
    struct sp_task *tasks = malloc(sizeof *tasks * 65536);
    static struct sp_played g;
    int played = 0;
    for (int schedule = SP_GPIPE; schedule <= SP_CIRCULAR; schedule++) {
        const bool chunked = schedule == SP_INTERLEAVED || schedule == SP_CIRCULAR;
        for (int64_t p = 1; p <= 16; p *= 2) {
            for (int64_t m = chunked ? p : 1; m <= 64; m = m < 8 && !chunked ? m + 1 : 2 * m) {
                for (int64_t v = 1; v <= (chunked ? 4 : 1); v++) {
                    const struct sp_pipeline q = plan((enum sp_schedule)schedule, p, m, v);
                    if (!sp_play_pipeline(&q, NULL, 0, tasks, &g))
                        continue;
                    const double fill =
                        schedule == SP_ZB_H2 ? fmin(fmax((double)(m - p), 0), (double)(p - 1)) : 0;
                    assert_close(g.makespan_s, sp_useful_s(&q) + sp_bubble_s(&q) + fill, 1e-12);
                    assert_close(g.busy_s[p - 1], sp_useful_s(&q), 1e-12);
                    assert_close(g.peak_in_flight[0], sp_in_flight(&q, 0), 1e-12);
                    played++;
                }
            }
        }
    }
    free(tasks);
    assert_true(played > 200);
}

/* A last stage of twice the time sets the pace of 1F1B: warm-up through 3 stages, 8 (F+B) twice as
 * long, and 3 backward passes after the last: 3 + 48 + 6 = 57 s. Sends of 0.5 s add 3 on the way
 * there and 3 back. */
/* Interleaving needs m in multiples of p to play; with fewer, a group takes as long as a full one
 * less what it does not fill: p = 4, v = 2, m = 1 passes 8 chunks of 1/2 forward and back, alone:
 * 12 of F + B = 3, of which 3 work. m = 6: a full group of 4, then (2 x 4 + 2 - 1) / 2 of two. */
static void few_microbatches(void **state)
{
    (void)state;
    const struct sp_pipeline one = plan(SP_INTERLEAVED, 4, 1, 2), six = plan(SP_CIRCULAR, 4, 6, 2);
    const struct sp_pipeline dual = plan(SP_DUALPIPE, 8, 2, 1), many = plan(SP_DUALPIPE, 8, 64, 1);
    assert_close(sp_useful_s(&one) + sp_bubble_s(&one), 12, 1e-15);
    assert_close(sp_useful_s(&six) + sp_bubble_s(&six), (4 + 4.5) * 3, 1e-15);
    /* one micro-batch from either end passes 8 stages: 8 (F + B - W) + W = 17, 6 of which work */
    assert_close(sp_bubble_s(&dual), 17 - 6, 1e-15);
    assert_close(sp_bubble_s(&many), 6, 1e-15);
}

static void unequal_stages(void **state)
{
    (void)state;
    struct sp_task *tasks = malloc(sizeof *tasks * 1024);
    static struct sp_played g;
    const struct sp_pipeline q = plan(SP_1F1B, 4, 8, 1);
    const double scale[] = {1, 1, 1, 2};
    assert_true(sp_play_pipeline(&q, scale, 0, tasks, &g));
    assert_close(g.makespan_s, 57, 1e-12);
    assert_close(g.busy_s[3], 48, 1e-12);
    assert_true(sp_play_pipeline(&q, scale, 0.5, tasks, &g));
    assert_close(g.makespan_s, 60, 1e-12);
    free(tasks);
}

/* What cannot be played says so before anything is written. */
static void refusals(void **state)
{
    (void)state;
    const struct sp_pipeline naive = plan(SP_NAIVE, 4, 1, 1), dual = plan(SP_DUALPIPE, 4, 6, 1);
    const struct sp_pipeline odd = plan(SP_INTERLEAVED, 4, 6, 2),
                             huge = plan(SP_1F1B, 1000, 1000000, 1);
    assert_true(sp_tasks_of(&naive) == 0 && sp_tasks_of(&dual) == 0);
    const struct sp_pipeline uneven = plan(SP_DUALPIPE, 5, 20, 1);
    assert_true(sp_tasks_of(&odd) == 0 && sp_tasks_of(&huge) == 0 && sp_tasks_of(&uneven) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),     cmocka_unit_test(microbatches_for),
        cmocka_unit_test(in_flight),        cmocka_unit_test(played_is_closed),
        cmocka_unit_test(few_microbatches), cmocka_unit_test(unequal_stages),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
