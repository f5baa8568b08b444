/* sp_uneven_pipeline_s against simulated schedules, and by hand. */
#include "check.h"

#include <stdlib.h>

#include <scaleplan/pipeline.h>

static uint64_t state;

static double share(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 33) / 2147483648.0;
}

enum { MOST_TASKS = 1 << 16, MOST_STAGES = 32 };
static struct sp_task tasks[MOST_TASKS];

/* Stages one after the other. */
struct stages {
    double forward[MOST_STAGES], backward[MOST_STAGES];
    int64_t p;
};

static double played_s(enum sp_schedule schedule, const struct stages *of, int64_t m)
{
    static struct sp_played played;
    struct sp_stage_scale scale[MOST_STAGES];
    const struct sp_pipeline q = {.schedule = schedule,
                                  .stages = of->p,
                                  .microbatches = m,
                                  .chunks = 1,
                                  .forward_s = 1,
                                  .backward_s = 1};
    for (int64_t s = 0; s < of->p; s++)
        scale[s] = (struct sp_stage_scale){of->forward[s], of->backward[s], 1};
    assert_true(sp_tasks_of(&q) <= MOST_TASKS);
    assert_true(sp_play_pipeline(&q, scale, 0, tasks, &played));
    return played.makespan_s;
}

static double formula_s(enum sp_schedule schedule, const struct stages *of, int64_t m)
{
    return sp_uneven_pipeline_s(schedule, of->forward, of->backward, of->p, m);
}

/* Three stages, drawn on paper. With 2 micro-batches the middle stage runs both forward passes
 * first (1 to 7 s), so the first stage's backward passes of 3 s start at 8 s, although a
 * micro-batch had come back to the middle at 6 s: 14 s. With 4 the third backward pass of the first
 * stage waits for the middle stage's fourth forward pass, which waits for the first stage's (12 to
 * 14 s): the middle's run 2-5, 5-8, 9-12, 14-17 s, its backward passes 8-9, 12-13, 17-18, 19-20 s,
 * and the first stage's 9-12, 14-17, 18-21, 21-24 s: no stage works without a gap. */
static void by_hand(void **unused)
{
    (void)unused;
    const struct stages few = {{1, 3, 1}, {3, 1, 1}, 3}, more = {{2, 3, 1}, {3, 1, 1}, 3};
    assert_close(formula_s(SP_1F1B, &few, 2), 14, 0);
    assert_close(played_s(SP_1F1B, &few, 2), 14, 0);
    assert_close(formula_s(SP_1F1B, &more, 4), 24, 0);
    assert_close(played_s(SP_1F1B, &more, 4), 24, 0);
}

/* A stage's passes: equal but for a few, of any ratio, similar, or of any length. */
static void draw(struct stages *of, int kind)
{
    of->p = 1 + (int64_t)(share() * 16);
    for (int64_t s = 0; s < of->p; s++) {
        const bool other = share() < 0.3;
        of->forward[s] = kind == 0   ? 1 + other * 3 * share()
                         : kind == 1 ? 0.3 + 2 * share()
                         : kind == 2 ? 1 + 0.1 * share()
                                     : exp(3 * share());
        of->backward[s] = kind == 0   ? 2 + other * 5 * share()
                          : kind == 2 ? 2 * of->forward[s]
                                      : 0.3 + 8 * share() * share();
    }
}

/* Closed form and simulation agree for any stages and few micro-batches. */
static void any_stages(void **unused)
{
    (void)unused;
    state = 12;
    for (int i = 0; i < 30000; i++) {
        struct stages of = {0};
        draw(&of, i % 4);
        const int64_t m = 1 + (int64_t)(share() * 40);
        assert_close(formula_s(SP_GPIPE, &of, m), played_s(SP_GPIPE, &of, m), 1e-9);
        assert_close(formula_s(SP_1F1B, &of, m), played_s(SP_1F1B, &of, m), 1e-9);
    }
}

/* Equal stages: (m + p - 1)(F + B). */
static void equal_stages(void **unused)
{
    (void)unused;
    for (int64_t p = 1; p <= 16; p++)
        for (int64_t m = 1; m <= 32; m++) {
            struct stages of = {.p = p};
            for (int64_t s = 0; s < p; s++) {
                of.forward[s] = 1;
                of.backward[s] = 2;
            }
            const double expected = (double)(m + p - 1) * 3;
            assert_close(formula_s(SP_1F1B, &of, m), expected, 1e-12);
            assert_close(formula_s(SP_GPIPE, &of, m), expected, 1e-12);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(any_stages),
        cmocka_unit_test(equal_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
