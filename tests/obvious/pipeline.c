/* Pipelines played task by task, and micro-batches counted at every instant. */
#include "obvious.h"

static void pipelines(void **state)
{
    (void)state;
    static struct sp_task tasks[4096];
    static struct sp_played of;
    srand(4);
    for (int i = 0; i < 4000; i++) {
        const int p = 1 + rand() % 8, m = 1 + rand() % 24;
        const bool gpipe = rand() % 2;
        struct sp_stage_scale scale[16];
        double forward[16], backward[16];
        for (int s = 0; s < p; s++) {
            forward[s] = 1 + (rand() % 16) / 8.0;
            backward[s] = 1 + (rand() % 32) / 8.0;
            scale[s] = (struct sp_stage_scale){forward[s], backward[s] / 2, 1};
        }
        const struct sp_pipeline pipeline = {.schedule = gpipe ? SP_GPIPE : SP_1F1B,
                                             .stages = p,
                                             .microbatches = m,
                                             .chunks = 1,
                                             .forward_s = 1,
                                             .backward_s = 2,
                                             .weight_grad_s = 1};
        assert_true(sp_tasks_of(&pipeline) <= 4096);
        assert_true(sp_play_pipeline(&pipeline, scale, 0, tasks, &of));
        const double right = played(gpipe, p, m, forward, backward);
        assert_close(of.makespan_s, right, 1e-12);
        assert_close(sp_uneven_pipeline_s(pipeline.schedule, forward, backward, p, m), right,
                     1e-12);
    }
}

/* Micro-batches in flight: at each instant those that went forward and have not come back. */
static void in_flight_over_time(void **state)
{
    (void)state;
    static struct sp_task tasks[4096];
    static struct sp_in_flight_level levels[4096];
    static struct sp_played of;
    static const enum sp_schedule schedules[] = {SP_GPIPE, SP_1F1B, SP_INTERLEAVED, SP_ZB_H1};
    srand(9);
    for (int i = 0; i < 300; i++) {
        const int p = 1 + rand() % 4, v = 2;
        const enum sp_schedule schedule = schedules[rand() % 4];
        const struct sp_pipeline pipeline = {.schedule = schedule,
                                             .stages = p,
                                             .microbatches = p * (1 + rand() % 4),
                                             .chunks = schedule == SP_INTERLEAVED ? v : 1,
                                             .forward_s = 1,
                                             .backward_s = 2,
                                             .weight_grad_s = 1};
        const int64_t n = sp_tasks_of(&pipeline), stage = rand() % p;
        double most = 0;
        if (n == 0 || n > 4096 || !sp_play_pipeline(&pipeline, NULL, 0, tasks, &of))
            continue;
        const int64_t count = sp_in_flight_levels(tasks, n, pipeline.chunks, stage, levels);
        for (int64_t k = 0; k < count; k++) {
            double held = 0;
            for (int64_t t = 0; t < n; t++) {
                if (tasks[t].stage != stage)
                    continue;
                held += tasks[t].kind == 'F' && tasks[t].start_s <= levels[k].s;
                held -= tasks[t].kind == 'B' && tasks[t].end_s <= levels[k].s;
            }
            assert_close(levels[k].microbatches, held / (double)pipeline.chunks, 0);
            assert_true(k == 0 || levels[k].s > levels[k - 1].s);
            most = fmax(most, levels[k].microbatches);
        }
        assert_close(most, of.peak_in_flight[stage], 0);
        assert_close(levels[count - 1].microbatches, 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelines),
        cmocka_unit_test(in_flight_over_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
