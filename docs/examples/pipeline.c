/* A pipeline played event by event against its closed form: 1F1B, 8 stages, 32 micro-batches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <scaleplan/pipeline.h>

int main(void)
{
    const struct sp_pipeline pipeline = {.schedule = SP_1F1B,
                                         .stages = 8,
                                         .microbatches = 32,
                                         .chunks = 1,
                                         .forward_s = 0.010,
                                         .backward_s = 0.020,
                                         .weight_grad_s = 0.010};
    static struct sp_played played;
    struct sp_task *const tasks = calloc((size_t)sp_tasks_of(&pipeline), sizeof *tasks);
    if (!tasks || !sp_play_pipeline(&pipeline, NULL, 0, tasks, &played))
        return 1;
    const double closed_s = sp_useful_s(&pipeline) + sp_bubble_s(&pipeline);
    printf("closed form %.3f s, played %.3f s; stage 0 holds up to %.0f micro-batches\n", closed_s,
           played.makespan_s, played.peak_in_flight[0]);
    free(tasks);
    return fabs(closed_s - played.makespan_s) < 1e-9 ? 0 : 1;
}
