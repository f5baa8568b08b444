/* sensitivity: how strongly a goal depends on each figure of the machine. */
#include <math.h>
#include <stdio.h>

#include "cli/goal.h"
#include "pictures/tornado.h"
#include "study/elasticities.h"

static const struct sp_taken options[] = {
    SP_TAKE(goal, .fallback = "step"),
    SP_TAKE(delta, .fallback = "10%"),
    SP_TAKE(vary),
    SP_OPTIONS_AIM,
    SP_OPTION_PLOT,
};

/* A figure and its effect on the goal. */
struct figure_rows {
    const struct sp_elasticity *f;
    char path[SP_FIGURE_PATH];
};

#define SP_PART sensitivity_figure
#define SP_PART_OF struct figure_rows
#include "answer/put_rows.h"

struct sensitivity_rows {
    const struct sp_aim *aim;
    const struct sp_aim_info *info;
    double delta, times, rest; /* times: 1 + delta; rest: NAN if it means nothing */
    struct sp_elasticity found[SP_FIGURES];
    size_t n;
};

static void put_figures(struct sp_report *r, const struct sensitivity_rows *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct figure_rows row = {.f = &s->found[i]};
        const char *const span = sp_human_range(row.f->low, row.f->high, s->info->unit);
        sp_figure_path(s->aim, row.f->figure, row.path);
        sp_begin_row(r, span, "sensitivity.%zu", i);
        put_sensitivity_figure_rows(r, &row);
    }
    sp_list_table(r, "sensitivity",
                  "path, elasticity, %sreplanned, : goal if divided to multiplied",
                  s->aim->args->given.replan ? "" : "+");
}

#define SP_PART sensitivity
#define SP_PART_OF struct sensitivity_rows
#include "answer/put_rows.h"

static void put_sensitivities(struct sp_report *r, struct sp_aim *aim, const bool vary[SP_FIGURES])
{
    const struct sp_args *const args = aim->args;
    struct sensitivity_rows s = {.aim = aim,
                                 .info = &sp_aims[aim->of.kind],
                                 .delta = args->value.delta,
                                 .times = 1 + args->value.delta,
                                 .rest = NAN};
    s.n = sp_find_elasticities(&aim->of, &aim->demand, vary, s.delta, s.found);
    if (!args->given.vary && (s.info->unit == SP_SECONDS || s.info->unit == SP_DAYS))
        s.rest = sp_rest_of_time(s.found, s.n);
    const bool replan = aim->of.replan;
    aim->of.replan = false; /* the value belongs to the fixed plan */
    const double now = aim->demand.value(sp_machine_of_aim(aim), &aim->of);
    aim->of.replan = replan;
    sp_put_aim(r, aim, now);
    sp_answer_is(r, "sensitivity");
    put_sensitivity_rows(r, &s);
    sp_put_aim_plan(r, aim);
}

static bool run(const struct sp_args *args, struct sp_report *r, struct sp_error *error)
{
    struct sp_aim aim;
    bool vary[SP_FIGURES];
    const bool ok = sp_take_aim(args, false, &aim, error) && sp_read_figures(&aim, vary, error);
    if (ok)
        put_sensitivities(r, &aim, vary);
    sp_close_aim(&aim);
    return ok;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    (void)error;
    return sp_draw_tornado(report, args->value.delta);
}

static const struct sp_example examples[] = {
    {"sensitivity --model llama3-70b --hw h100-256 --tp 4 --pp 4 --batch 512x8192",
     "what determines the step time"},
    {"sensitivity --model llama3-70b --hw h100-256 --batch 512x8192 --replan --format csv",
     "the same, also with the best plan at both ends"},
    {"sensitivity --model llama3-70b --hw h100-256 --batch 512x8192 --plot tornado.svg",
     "a tornado chart"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_sensitivity = {
    .name = "sensitivity",
    .summary = "sensitivity of a step, run or cost to each figure of the machine",
    .about = "Elasticities: the per cent change of a goal per 1 % increase of a machine figure "
             "(peak, memory, a link, the size), measured between the figure divided and multiplied "
             "by 1 + --delta. Plan and constants stay fixed; --replan adds the elasticity with the "
             "best plan for each machine.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
