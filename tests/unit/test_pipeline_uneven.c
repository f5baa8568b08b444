/* sp_uneven_pipeline_s against the schedules played event by event. */
#include "check.h"

#include <stdlib.h>

#include <scaleplan/pipeline.h>

static uint64_t state;

static double share(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 33) / 2147483648.0;
}

enum { MOST_TASKS = 1 << 16 };
static struct sp_task tasks[MOST_TASKS];

/* Plays stages that take scale[s] times F and B; -1 when it does not fit. */
static double played_s(enum sp_schedule schedule, int64_t p, int64_t m, double F, double B,
                       const double *scale)
{
    static struct sp_played played;
    const struct sp_pipeline q = {.schedule = schedule,
                                  .stages = p,
                                  .microbatches = m,
                                  .chunks = 1,
                                  .forward_s = F,
                                  .backward_s = B};
    if (sp_tasks_of(&q) > MOST_TASKS || !sp_play_pipeline(&q, scale, 0, tasks, &played))
        return -1;
    return played.makespan_s;
}

static double formula_s(enum sp_schedule schedule, int64_t p, int64_t m, double F, double B,
                        const double *scale)
{
    double forward[SP_MAX_STAGES], backward[SP_MAX_STAGES];
    for (int64_t s = 0; s < p; s++) {
        forward[s] = F * scale[s];
        backward[s] = B * scale[s];
    }
    return sp_uneven_pipeline_s(schedule, forward, backward, p, m);
}

/* Equal inner stages; the first and the last heavier, lighter or alike. */
static void usual_shapes(void **unused)
{
    (void)unused;
    state = 11;
    for (int i = 0; i < 20000; i++) {
        const int64_t p = 2 + (int64_t)(share() * 15), m = 1 + (int64_t)(share() * 40);
        const double F = 0.2 + share(), B = F * (1 + 2 * share());
        double scale[32];
        for (int64_t s = 0; s < p; s++)
            scale[s] = 1;
        switch (i % 3) {
        case 0:
            scale[p - 1] = 0.3 + 2 * share();
            break;
        case 1:
            scale[0] = 0.3 + 2 * share();
            break;
        default:
            scale[0] = 1 + share();
            scale[p - 1] = 1 + share();
        }
        assert_close(formula_s(SP_1F1B, p, m, F, B, scale), played_s(SP_1F1B, p, m, F, B, scale),
                     1e-9);
    }
}

/* GPipe is exact for any stages; 1F1B is never above the played time. */
static void any_shapes(void **unused)
{
    (void)unused;
    state = 12;
    for (int i = 0; i < 5000; i++) {
        const int64_t p = 1 + (int64_t)(share() * 12), m = 1 + (int64_t)(share() * 30);
        const double F = 0.2 + share(), B = F * (1 + 2 * share());
        double scale[32];
        for (int64_t s = 0; s < p; s++)
            scale[s] = 0.3 + 2 * share();
        assert_close(formula_s(SP_GPIPE, p, m, F, B, scale), played_s(SP_GPIPE, p, m, F, B, scale),
                     1e-9);
        assert_true(formula_s(SP_1F1B, p, m, F, B, scale) <=
                    played_s(SP_1F1B, p, m, F, B, scale) * (1 + 1e-9));
    }
}

/* Equal stages: (m + p - 1)(F + B). */
static void equal_stages(void **unused)
{
    (void)unused;
    for (int64_t p = 1; p <= 16; p++)
        for (int64_t m = 1; m <= 32; m++) {
            double scale[16];
            for (int64_t s = 0; s < p; s++)
                scale[s] = 1;
            const double expected = (double)(m + p - 1) * 3;
            assert_close(formula_s(SP_1F1B, p, m, 1, 2, scale), expected, 1e-12);
            assert_close(formula_s(SP_GPIPE, p, m, 1, 2, scale), expected, 1e-12);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_shapes),
        cmocka_unit_test(any_shapes),
        cmocka_unit_test(equal_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
