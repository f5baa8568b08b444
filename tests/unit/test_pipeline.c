/* Pipeline schedules: closed forms by hand, and simulations against them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

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
    assert_true(sp_microbatches_for(&half, 0.9) == 16); /* 13.5, in groups of four */
    assert_true(sp_microbatches_for(&one, 0.9) == 1);
    const struct sp_pipeline naive = plan(SP_NAIVE, 8, 1, 1), h2 = plan(SP_ZB_H2, 4, 8, 1);
    assert_true(isinf(sp_microbatches_for(&naive, 0.9)));
    assert_true(sp_microbatches_for(&naive, 0.125) == 1);
    assert_true(sp_microbatches_for(&h2, 0.9) >= 1);
}

/* By trying all numbers: fewer do not reach the target. */
static void fewest_microbatches(void **state)
{
    (void)state;
    const double targets[] = {0.3, 0.5, 0.85, 0.9, 0.95};
    for (int schedule = SP_GPIPE; schedule < SP_SCHEDULES; schedule++)
        for (int64_t p = 1; p <= 16; p *= 2)
            for (int64_t v = 1; v <= 4; v++)
                for (int k = 0; k < 5; k++) {
                    struct sp_pipeline q = plan((enum sp_schedule)schedule, p, 1, v);
                    const double found = sp_microbatches_for(&q, targets[k]);
                    while (sp_useful_s(&q) <
                           (targets[k] - 1e-9) * (sp_useful_s(&q) + sp_bubble_s(&q)))
                        q.microbatches++;
                    assert_true(found == (double)q.microbatches);
                }
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
    const struct sp_pipeline naive = plan(SP_NAIVE, 4, 8, 1);
    assert_true(sp_in_flight(&naive, 0) == 1);
    assert_true(sp_in_flight(&deep, 0) == 5.5);
    assert_true(sp_in_flight(&afab, 0) == 8);
}

/* With equal stages every simulated schedule takes its closed form's time, and the first stage
 * holds its closed form's micro-batches, also with fewer micro-batches than stages. ZB-H2 takes up
 * to (p-1) F longer: see pipeline.h. */
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

/* Simulated interleaving needs m to be a multiple of p; with fewer, a group takes as long as a full
 * one less what it does not fill: p = 4, v = 2, m = 1 passes 8 chunks of 1/2 forward and back,
 * alone: 12 of F + B = 3, of which 3 work. m = 6: a full group of 4, then (2 x 4 + 2 - 1) / 2 of
 * two. */
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

/* A last stage of twice the time sets the pace of 1F1B: warm-up through 3 stages, 8 (F+B) twice as
 * long, and 3 backward passes after the last: 3 + 48 + 6 = 57 s. Sends of 0.5 s add 3 on the way
 * there and 3 back. */
static void unequal_stages(void **state)
{
    (void)state;
    struct sp_task *tasks = malloc(sizeof *tasks * 1024);
    static struct sp_played g;
    const struct sp_pipeline q = plan(SP_1F1B, 4, 8, 1);
    const struct sp_stage_scale scale[] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {2, 2, 2}};
    assert_true(sp_play_pipeline(&q, scale, 0, tasks, &g));
    assert_close(g.makespan_s, 57, 1e-12);
    assert_close(g.busy_s[3], 48, 1e-12);
    assert_true(sp_play_pipeline(&q, scale, 0.5, tasks, &g));
    assert_close(g.makespan_s, 60, 1e-12);
    free(tasks);
}

/* Tasks of a simulation by their kind; v chunks of each of p stages in a row are p v virtual
 * stages.
 */
struct timetable {
    const struct sp_task *of[3][8][4][64]; /* kind, stage, chunk, micro-batch */
};

static double end_s(const struct timetable *t, int kind, int64_t virtual_stage, int64_t p,
                    int64_t mb)
{
    return t->of[kind][virtual_stage % p][virtual_stage / p][mb]->end_s;
}

static int by_start(const void *a, const void *b)
{
    const struct sp_task *x = a, *y = b;
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* On stages of any speed every task runs once, for as long as it takes, after what it needs has
 * been done and sent, and no stage does two things at once. DualPipe's second half of micro-batches
 * passes the devices from the last to the first. */
static void tasks_wait_for_their_input(void **state)
{
    (void)state;
    static struct sp_task tasks[3 * 8 * 4 * 64];
    static struct timetable t;
    static struct sp_played g;
    int done = 0;
    srand(11);
    for (int i = 0; i < 3000; i++) {
        const enum sp_schedule schedule =
            (enum sp_schedule)(SP_GPIPE + rand() % (SP_CIRCULAR - SP_GPIPE + 1));
        const bool chunked = schedule == SP_INTERLEAVED || schedule == SP_CIRCULAR;
        const bool dual = schedule == SP_DUALPIPE;
        const bool thirds = dual || schedule == SP_ZB_H1 || schedule == SP_ZB_H2;
        const int64_t p = dual ? 2 + 2 * (rand() % 4) : 1 + rand() % 8;
        const int64_t v = chunked ? 1 + rand() % 4 : 1;
        const int64_t m = dual      ? 2 * p + 2 * (rand() % 8)
                          : chunked ? p * (1 + rand() % 6)
                                    : 1 + rand() % 24;
        struct sp_pipeline q = plan(schedule, p, m, v);
        const double unit = rand() % 2 ? 1 : 0.0625, hop = rand() % 2 ? 0 : unit / 8;
        const double length[] = {unit, thirds ? unit : 2 * unit, unit};
        q.forward_s *= unit;
        q.backward_s *= unit;
        q.weight_grad_s *= unit;
        struct sp_stage_scale scale[8];
        for (int s = 0; s < 8; s++)
            scale[s] = (struct sp_stage_scale){1 + (rand() % 5) / 4.0, 1.5 + (rand() % 5) / 4.0,
                                               1 + (rand() % 3) / 4.0};
        if (sp_tasks_of(&q) == 0)
            continue;
        assert_true(sp_play_pipeline(&q, scale, hop, tasks, &g));
        assert_true(g.tasks == p * v * m * (thirds ? 3 : 2));
        memset(&t, 0, sizeof t);
        double last_s = 0;
        for (int64_t k = 0; k < g.tasks; k++) {
            const struct sp_task *const task = &tasks[k];
            const int kind = (int)(strchr("FBW", task->kind) - "FBW");
            assert_null(t.of[kind][task->stage][task->chunk][task->microbatch]);
            t.of[kind][task->stage][task->chunk][task->microbatch] = task;
            const struct sp_stage_scale *const at = &scale[task->stage];
            const double scaled[] = {length[0] * at->forward,
                                     2 * unit * at->backward -
                                         (thirds ? unit * at->weight_grad : 0),
                                     length[2] * at->weight_grad};
            assert_close(task->end_s - task->start_s, scaled[kind] / (double)v, 1e-12);
            last_s = fmax(last_s, task->end_s);
        }
        assert_true(last_s == g.makespan_s);
        done++;
        for (int64_t k = 0; k < g.tasks; k++) {
            const struct sp_task *const task = &tasks[k];
            const bool from_the_end = dual && task->microbatch >= m / 2;
            const int64_t at = task->chunk * p + task->stage, n = p * v, mb = task->microbatch;
            const int64_t before = from_the_end ? at + 1 : at - 1,
                          after = from_the_end ? at - 1 : at + 1;
            double ready = 0;
            if (task->kind == 'F' && before >= 0 && before < n)
                ready = end_s(&t, 0, before, p, mb) + (p > 1 ? hop : 0);
            if (task->kind == 'B')
                ready = after >= 0 && after < n ? end_s(&t, 1, after, p, mb) + (p > 1 ? hop : 0)
                                                : end_s(&t, 0, at, p, mb);
            if (task->kind == 'W')
                ready = end_s(&t, 1, at, p, mb);
            if (task->start_s < ready - 1e-9)
                fail_msg("schedule %d, p %d, m %d, v %d: %c of micro-batch %d on stage %d starts "
                         "at %g, its input is there at %g",
                         schedule, (int)p, (int)m, (int)v, task->kind, (int)mb, (int)at,
                         task->start_s, ready);
        }
        const int64_t each = g.tasks / p;
        for (int64_t s = 0; s < p; s++) {
            struct sp_task mine[3 * 4 * 64];
            memcpy(mine, tasks + s * each, (size_t)each * sizeof *mine);
            qsort(mine, (size_t)each, sizeof *mine, by_start);
            for (int64_t k = 0; k < each; k++) {
                assert_int_equal(mine[k].stage, s);
                assert_true(k == 0 || mine[k].start_s >= mine[k - 1].end_s - 1e-9);
            }
        }
    }
    assert_true(done > 2500);
}

/* However fast the forward passes are, a zero-bubble stage holds no more than its schedule
 * promises: p - s micro-batches, or 2 (p - s) - 1. */
static void zero_bubble_holds_its_promise(void **state)
{
    (void)state;
    static struct sp_task tasks[3 * 8 * 64];
    static struct sp_played g;
    for (int64_t p = 1; p <= 8; p++)
        for (int h2 = 0; h2 < 2; h2++) {
            struct sp_pipeline q = plan(h2 ? SP_ZB_H2 : SP_ZB_H1, p, 40, 1);
            q.forward_s = 0.25;
            assert_true(sp_play_pipeline(&q, NULL, 0, tasks, &g));
            for (int64_t s = 0; s < p; s++)
                assert_true(g.peak_in_flight[s] <= (double)(h2 ? 2 * (p - s) - 1 : p - s));
            assert_true(g.peak_in_flight[0] == (double)(h2 ? 2 * p - 1 : p));
        }
}

/* Schedules that cannot be simulated are refused before anything is written. */
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
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(microbatches_for),
        cmocka_unit_test(fewest_microbatches),
        cmocka_unit_test(in_flight),
        cmocka_unit_test(played_is_closed),
        cmocka_unit_test(few_microbatches),
        cmocka_unit_test(unequal_stages),
        cmocka_unit_test(tasks_wait_for_their_input),
        cmocka_unit_test(zero_bubble_holds_its_promise),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
