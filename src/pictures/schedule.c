/* A pipeline's timeline by stage, with the memory of stages below. */
#include "pictures/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>
#include <scaleplan/names.h>

#include "answer/quantity.h"
#include "pictures/pictures.h"

enum { MOST_TASKS = 20000, MOST_CURVES = 4 };

/* The task or span being drawn. */
struct schedule {
    struct sp_pipeline q;
    struct sp_task *task;
    struct sp_played played;
};

/* Every second chunk of a stage is hatched, as are weight gradients, whose green is as dark as the
 * blue. */
static const struct sp_kind whole[] = {{"forward", SP_BLUE, false, 'F'},
                                       {"backward", SP_ORANGE, false, 'B'}};
static const struct sp_kind halves[] = {{"forward", SP_BLUE, false, 'F'},
                                        {"backward (inputs)", SP_ORANGE, false, 'B'},
                                        {"weight gradients", SP_GREEN, true, 'W'}};
static const struct sp_kind chunked[] = {{"forward", SP_BLUE, false, 'F'},
                                         {"backward", SP_ORANGE, false, 'B'},
                                         {"forward, even chunks", SP_BLUE, true, 'f'},
                                         {"backward, even chunks", SP_ORANGE, true, 'b'}};

static size_t kind_of(const struct sp_task *task)
{
    return task->kind == 'W' ? 2 : (task->kind == 'B') + 2 * (size_t)(task->chunk % 2);
}

/* Numbers every n-th micro-batch: returns 1 if a backward box has room, else the next round n that
 * does. */
static int64_t numbered(const struct schedule *f)
{
    static const int64_t round[] = {1, 5, 10, 20, 50, 100, 200, 500, 1000};
    char longest[24];
    double backward = f->played.makespan_s;
    size_t i = 0;
    for (int64_t k = 0; k < f->played.tasks; k++)
        if (f->task[k].kind == 'B')
            backward = fmin(backward, f->task[k].end_s - f->task[k].start_s);
    const int wide = snprintf(longest, sizeof longest, f->q.chunks > 1 ? "%lld.%lld" : "%lld",
                              (long long)f->q.microbatches, (long long)f->q.chunks);
    const double px = backward / f->played.makespan_s * SP_TIMELINE_PX;
    while (i + 1 < sizeof round / sizeof *round &&
           px * (double)round[i] <= SP_DIGIT_PX * (double)wide - 1)
        i++;
    return round[i];
}

static const char *title_of(const struct schedule *f, int64_t every, char *out, size_t size)
{
    const char *const what = f->q.chunks > 1 ? "micro-batch.chunk" : "micro-batch";
    if (every == 1)
        snprintf(out, size, "Timeline (a box: %s)", what);
    else
        snprintf(out, size,
                 "Timeline (a box: %s; the first and every %lldth backward are numbered)", what,
                 (long long)every);
    return out;
}

static void draw_schedule(struct sp_figure *figure, const struct schedule *f, struct sp_span *spans)
{
    const bool splits = sp_schedules[f->q.schedule].splits_weight;
    const int64_t every = numbered(f);
    char title[96];
    for (int64_t i = 0; i < f->played.tasks; i++) {
        const struct sp_task *const task = &f->task[i];
        spans[i] = (struct sp_span){.start = task->start_s,
                                    .end = task->end_s,
                                    .row = (size_t)task->stage,
                                    .kind = kind_of(task),
                                    .spills = every > 1 && task->kind == 'B'};
        if (every == 1 ||
            (task->kind != 'W' && (task->microbatch == 0 || (task->microbatch + 1) % every == 0)))
            snprintf(spans[i].text, sizeof spans[i].text, f->q.chunks > 1 ? "%d.%d" : "%d",
                     (int)task->microbatch + 1, (int)task->chunk + 1);
    }
    sp_draw_timeline(figure, &(struct sp_timeline){.title = title_of(f, every, title, sizeof title),
                                                   .row_name = "stage",
                                                   .kinds = splits            ? halves
                                                            : f->q.chunks > 1 ? chunked
                                                                              : whole,
                                                   .n_kinds = splits            ? 3
                                                              : f->q.chunks > 1 ? 4
                                                                                : 2,
                                                   .rows = (size_t)f->q.stages,
                                                   .spans = spans,
                                                   .n_spans = (size_t)f->played.tasks,
                                                   .end = f->played.makespan_s,
                                                   .idle = "idle (bubble)"});
}

/* Draws the first and last stage and two between. */
static void draw_memory(struct sp_figure *figure, const struct schedule *f,
                        struct sp_in_flight_level *levels)
{
    struct sp_panel *const panel = sp_add_panel(
        figure, sp_make_axis("time", "s", false), sp_make_axis("micro-batches", "", false),
        "Memory: micro-batches whose activations a stage holds");
    const int64_t p = f->q.stages, curves = p < MOST_CURVES ? p : MOST_CURVES;
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 170;
    panel->rows = 12;
    panel->y.whole = true;
    panel->x.min = 0;
    panel->x.max = f->played.makespan_s;
    for (int64_t i = 0; i < curves; i++) {
        const int64_t stage = curves > 1 ? i * (p - 1) / (curves - 1) : 0;
        const int64_t n = sp_in_flight_levels(f->task, f->played.tasks, f->q.chunks, stage, levels);
        struct sp_series *const curve =
            sp_add_series(panel, SP_STEPS, sp_look_of((size_t)i), "stage %lld", (long long)stage);
        curve->dashed = true;
        sp_add_point(curve, 0, 0);
        for (int64_t k = 0; k < n; k++)
            sp_add_point(curve, levels[k].s, levels[k].microbatches);
        sp_add_point(curve, f->played.makespan_s, 0);
    }
}

struct sp_figure *sp_plot_schedule(const struct sp_pipeline *q, const struct sp_stage_scale *scale,
                                   double send_s, struct sp_error *error)
{
    struct schedule f = {.q = *q};
    const int64_t n = sp_tasks_of(q);
    if (n == 0 || n > MOST_TASKS) {
        sp_fail(error, SP_INPUT,
                n == 0 ? "--plot: this schedule cannot be simulated, so it cannot be drawn"
                       : "--plot: more than %d tasks to draw; fewer --microbatches show the same",
                MOST_TASKS);
        return NULL;
    }
    f.task = calloc((size_t)n, sizeof *f.task);
    struct sp_span *const spans = calloc((size_t)n, sizeof *spans);
    struct sp_in_flight_level *const levels = calloc((size_t)n, sizeof *levels);
    struct sp_figure *figure = NULL;
    if (f.task && spans && levels && sp_play_pipeline(q, scale, send_s, f.task, &f.played)) {
        const double idle = sp_played_bubble(sp_busy_s(&f.played, q->stages), (double)q->stages,
                                             f.played.makespan_s);
        figure = sp_figure_new(
            "Pipeline %s: %lld stages, %lld micro-batches, step %s, idle %s",
            sp_schedule_names[q->schedule], (long long)q->stages, (long long)q->microbatches,
            sp_human_text(f.played.makespan_s, SP_SECONDS), sp_human_text(idle, SP_FRACTION));
        draw_schedule(figure, &f, spans);
        draw_memory(figure, &f, levels);
    } else {
        sp_fail(error, SP_INTERNAL, "--plot: the schedule could not be played");
    }
    free(levels);
    free(spans);
    free(f.task);
    return figure;
}

void sp_draw_schedule_lines(struct sp_report *report, const struct sp_pipeline *q,
                            const struct sp_task *tasks, const struct sp_played *played)
{
    enum { WIDTH = 76 }; /* 80 columns with the number of a stage */
    const double cell = played->makespan_s / WIDTH;
    char line[WIDTH + 1];
    sp_line(report, " ");
    for (int64_t s = 0; s < q->stages && s < 64; s++) {
        memset(line, '.', WIDTH);
        line[WIDTH] = '\0';
        for (int64_t i = 0; i < played->tasks; i++) {
            const struct sp_task *const task = &tasks[i];
            if (task->stage != s)
                continue;
            int at = (int)(task->start_s / cell + 0.5), end = (int)(task->end_s / cell + 0.5);
            for (; at < end && at < WIDTH; at++)
                line[at] = task->kind;
        }
        sp_line(report, "%3lld %s", (long long)s, line);
    }
    sp_line(report, "    F forward, B backward%s, . idle; a character is %s",
            sp_schedules[q->schedule].splits_weight ? " (input half), W weight gradients" : "",
            sp_human_text(cell, SP_SECONDS));
}
