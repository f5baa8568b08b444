/* Memory over a step. */
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "commands/step_course.h"

static const char *const mark_names[SP_MEMORY_MARKS] = {
    [SP_AT_START] = "start",
    [SP_AT_ACTIVATIONS] = "most activations",
    [SP_AT_BACKWARD] = "backward pass over",
    [SP_AT_UPDATE] = "optimizer",
    [SP_AT_END] = "end",
};

void sp_course_of(const struct sp_planned *p, const struct sp_estimate *e, struct course *course)
{
    const int64_t tasks = sp_tasks_of_plan(&p->plan);
    *course = (struct course){.n = 0};
    if (tasks == 0)
        return;
    struct sp_task *const task = calloc((size_t)tasks, sizeof *task);
    struct sp_played played;
    const int64_t of_stage = tasks / p->plan.pp;
    course->moments = calloc((size_t)sp_most_memory_moments(of_stage), sizeof *course->moments);
    if (!task || !course->moments)
        abort();
    if (sp_play_plan(&p->plan, e, task, &played)) {
        /* tasks stand in order of stages, each with as many */
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

static void put_marks(struct sp_report *r, const struct course *course)
{
    static const struct sp_column columns[] = {{"moment", "over a step", true},
                                               {"at_s", "after", false},
                                               {"activations_bytes", "activations", false},
                                               {"gradients_bytes", "gradients", false},
                                               {"first_bytes", "first step", false},
                                               {"later_bytes", "later steps", false}};
    struct sp_row rows[SP_MEMORY_MARKS] = {0};
    for (int i = 0; i < SP_MEMORY_MARKS; i++) {
        const struct sp_memory_moment *const m = &course->marks[i];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "moments.%d", i);
        sp_scope(r, rows[i].prefix);
        sp_put_text(r, SP_Q_STEP_O_MOMENT, "%s", mark_names[i]);
        sp_put(r, SP_Q_STEP_O_AT, m->s);
        sp_put(r, SP_Q_STEP_O_ACT, m->activations);
        sp_put(r, SP_Q_STEP_O_GRADS, m->gradients);
        sp_put(r, SP_Q_STEP_O_FIRST, m->first);
        sp_put(r, SP_Q_STEP_O_LATER, m->later);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, SP_MEMORY_MARKS);
}

void sp_put_course(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e)
{
    struct course course;
    sp_course_of(p, e, &course);
    if (course.n > 0) {
        const struct sp_memory_moment first = sp_fullest_moment(course.moments, course.n, true);
        const struct sp_memory_moment later = sp_fullest_moment(course.moments, course.n, false);
        sp_put(r, SP_Q_STEP_O_FIRST_PEAK, first.first);
        sp_put(r, SP_Q_STEP_O_FIRST_AT, first.s);
        sp_put(r, SP_Q_STEP_O_LATER_PEAK, later.later);
        sp_put(r, SP_Q_STEP_O_LATER_AT, later.s);
        put_marks(r, &course);
        sp_line(r, "first step at most {over_step.first_peak_bytes} after {over_step.first_peak_s}"
                   ", later ones {over_step.later_peak_bytes} after {over_step.later_peak_s}: "
                   "live, on the fullest stage ({memory.stage})");
    }
    free(course.moments);
}

void sp_draw_course(struct sp_figure *figure, const struct course *course, double capacity)
{
    if (course->n == 0)
        return;
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("time", "s", false), sp_make_axis("live", "B", false),
                     "Memory of the fullest device over a step");
    struct sp_series *const later =
        sp_add_series(panel, SP_LINE, sp_look_of(0), "after the first step");
    struct sp_series *const first = sp_add_series(panel, SP_LINE, sp_look_of(1), "first step");
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 200;
    panel->rows = 14;
    panel->x.min = 0;
    panel->x.max = course->moments[course->n - 1].s;
    first->dashed = true;
    for (int64_t i = 0; i < course->n; i++) {
        sp_add_point(later, course->moments[i].s, course->moments[i].later);
        sp_add_point(first, course->moments[i].s, course->moments[i].first);
    }
    sp_add_rule(panel, false, capacity, SP_VERMILION, "capacity %s",
                sp_human_text(capacity, SP_BYTES));
}
