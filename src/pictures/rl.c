/* Two steps of reinforcement learning as a timeline. */
#include "pictures/rl.h"

#include "answer/report.h"
#include "pictures/curves.h"
#include "pictures/pictures.h"

/* Parts in the order of a step. */
static const struct {
    const char *name;
    enum sp_look look;
    char letter;
} looks[SP_LOOP_PARTS] = {
    [SP_LOOP_GENERATION] = {"generation", SP_BLUE, 'g'},
    [SP_LOOP_LOGPROB] = {"log-probs", SP_SKY, 'l'},
    [SP_LOOP_REFERENCE] = {"reference", SP_YELLOW, 'r'},
    [SP_LOOP_CRITIC] = {"critic", SP_PURPLE, 'c'},
    [SP_LOOP_REWARD] = {"reward", SP_GREY, 'j'},
    [SP_LOOP_UPDATE] = {"update", SP_ORANGE, 'u'},
    [SP_LOOP_REST] = {"all else", SP_VERMILION, 'e'},
    [SP_LOOP_REFIT] = {"weights", SP_GREEN, 'w'},
    [SP_LOOP_WAKE] = {"sleep and wake", SP_BLACK, 's'},
};
enum { STEPS = 2 };

struct timeline {
    struct sp_panel *panel;
    struct sp_series *series[SP_LOOP_PARTS];
    const struct sp_loop *of;
};

static double add(struct timeline *t, int part, int row, double from, double seconds)
{
    if (t->series[part] && seconds > 0)
        sp_add_box(t->series[part], from, from + seconds, row + 0.1, row + 0.9);
    return from + seconds;
}

/* All passes of training, one after the other. */
static double add_training(struct timeline *t, double from)
{
    for (int part = SP_LOOP_LOGPROB; part <= SP_LOOP_REST; part++)
        from = add(t, part, 0, from, t->of->part_s[part]);
    return from;
}

static void add_in_turn(struct timeline *t, double from)
{
    const double *const s = t->of->part_s;
    from = add(t, SP_LOOP_WAKE, 0, from, s[SP_LOOP_WAKE] / 2);
    from = add(t, SP_LOOP_GENERATION, 0, from, s[SP_LOOP_GENERATION]);
    from = add(t, SP_LOOP_WAKE, 0, from, s[SP_LOOP_WAKE] / 2);
    add(t, SP_LOOP_REFIT, 0, add_training(t, from), s[SP_LOOP_REFIT]);
}

/* Unless generation is ahead, one side waits for the other. If it is, the batch to train on is
 * ready when the step begins, and the engines work for `work_s`. */
static void add_apart(struct timeline *t, double from)
{
    const struct sp_loop *const l = t->of;
    const double refit = l->part_s[SP_LOOP_REFIT];
    const double generation = l->ahead ? l->work_s : l->part_s[SP_LOOP_GENERATION];
    const double generated = add(t, SP_LOOP_GENERATION, 1, from, generation);
    add_training(t, l->ahead ? from : generated);
    for (int row = 0; row < 2; row++)
        add(t, SP_LOOP_REFIT, row, from + l->step_s - refit, refit);
}

struct sp_figure *sp_draw_loop(const struct sp_loop *l)
{
    struct sp_figure *const figure = sp_figure_new(
        "%d steps of reinforcement learning, %.40s on %.24s: %s each, %s", STEPS, l->model, l->hw,
        sp_human_text(l->step_s, SP_SECONDS), l->apart ? "apart" : "in turn");
    struct timeline t = {.of = l};
    t.panel =
        sp_add_panel(figure, sp_make_axis("time", "s", false), sp_make_axis("", "", false), "");
    for (int part = 0; part < SP_LOOP_PARTS; part++)
        if (l->part_s[part] > 0) {
            t.series[part] =
                sp_add_series(t.panel, SP_BOXES, looks[part].look, "%s", looks[part].name);
            t.series[part]->letter = looks[part].letter;
        }
    for (int step = 0; step < STEPS; step++)
        if (l->apart)
            add_apart(&t, step * l->step_s);
        else
            add_in_turn(&t, step * l->step_s);
    sp_add_tick(&t.panel->y, 0.5, l->apart ? "training" : "all devices");
    if (l->apart)
        sp_add_tick(&t.panel->y, 1.5, "engines");
    t.panel->y.min = 0;
    t.panel->y.max = l->apart ? 2 : 1;
    t.panel->x.min = 0;
    t.panel->x.max = STEPS * l->step_s;
    t.panel->key = SP_KEY_ABOVE;
    t.panel->height_px = l->apart ? 140 : 90;
    t.panel->rows = l->apart ? 8 : 5;
    return figure;
}
