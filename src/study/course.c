/* Memory over the first step and later ones. */
#include "study/course.h"

#include <stdlib.h>

#include "base/memory.h"

void sp_course_of(const struct sp_planned *p, const struct sp_estimate *e, struct sp_course *course)
{
    const int64_t tasks = sp_tasks_of_plan(&p->plan);
    *course = (struct sp_course){.n = 0};
    if (tasks == 0)
        return;
    struct sp_task *const task = sp_must(calloc((size_t)tasks, sizeof *task));
    struct sp_played played;
    const int64_t of_stage = tasks / p->plan.pp;
    course->moments =
        sp_must(calloc((size_t)sp_most_memory_moments(of_stage), sizeof *course->moments));
    if (sp_play_plan(&p->plan, e, task, &played)) {
        /* tasks are ordered by stage, with equally many each */
        const struct sp_memory_course c = {.memory = &e->memory,
                                           .precision = &p->precision,
                                           .framework = &p->framework.framework,
                                           .task = task + e->fullest * of_stage,
                                           .tasks = of_stage,
                                           .stage = e->fullest,
                                           .chunks = p->plan.pp > 1 ? p->plan.vpp : 1,
                                           .update_s = e->time.optimizer};
        course->n = sp_memory_over_step(&c, course->moments, course->marks);
    }
    free(task);
}
