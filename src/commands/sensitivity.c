/* sensitivity: how much a goal follows each figure of the machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/aim.h"
#include "pictures/tornado.h"

static const struct sp_taken options[] = {
    SP_TAKE(goal, .fallback = "step"),
    SP_TAKE(delta, .fallback = "10%"),
    SP_TAKE(vary),
    SP_OPTIONS_AIM,
    SP_OPTION_PLOT,
};

/* A figure and what the goal makes of it. */
struct follow {
    enum sp_machine_figure figure;
    char path[SP_FIGURE_PATH];
    double delta, elasticity, low, high;
    double replanned; /* with the best plan of both machines; NAN: not asked */
};

#define SP_ROWS "commands/sensitivity_figure.def"
#define SP_ROWS_OF struct follow
#define SP_PUT_ROWS put_figure
#include "answer/put_rows.h"

struct sensitivity_rows {
    const struct sp_aim_info *info;
    double delta;
};

#define SP_ROWS "commands/sensitivity.def"
#define SP_ROWS_OF struct sensitivity_rows
#define SP_PUT_ROWS put_rows
#include "answer/put_rows.h"

static int by_size(const void *a, const void *b)
{
    const struct follow *const x = a, *const y = b;
    const double dx = fabs(x->elasticity), dy = fabs(y->elasticity);
    return dx != dy ? (dx < dy) - (dx > dy) : (int)x->figure - (int)y->figure;
}

/* Figures that a step's time is made of: all but sizes and the price. */
static bool is_rate(enum sp_machine_figure figure)
{
    const enum sp_unit unit = sp_unit_of_figure(figure);
    return unit == SP_FLOPS_PER_S || unit == SP_BYTES_PER_S;
}

static void put_follow(struct sp_report *r, const struct sp_aim *aim, const struct follow *f,
                       size_t at)
{
    char span[64];
    snprintf(span, sizeof span, "%s to %s", sp_human_text(f->low, sp_aims[aim->of.kind].unit),
             sp_human_text(f->high, sp_aims[aim->of.kind].unit));
    sp_begin_row(r, span, "sensitivity.%zu", at);
    put_figure(r, f);
}

/* The elasticities of all figures that vary, the largest first. Returns how many. */
static size_t follow_figures(struct sp_aim *aim, const bool vary[SP_FIGURES],
                             struct follow follows[SP_FIGURES])
{
    const struct sp_hardware *const hw = sp_machine_of_aim(aim);
    const double delta = aim->args->value.delta;
    const bool replan = aim->of.replan;
    double low, high;
    size_t n = 0;
    for (int i = 0; i < SP_FIGURES; i++) {
        struct follow *const f = &follows[n];
        if (!vary[i] || sp_unit_of_figure((enum sp_machine_figure)i) == SP_COUNT)
            continue;
        *f = (struct follow){.figure = (enum sp_machine_figure)i, .delta = delta, .replanned = NAN};
        sp_figure_path(aim, f->figure, f->path);
        if (replan)
            f->replanned = sp_elasticity_of(&aim->demand, hw, f->figure, delta, &low, &high);
        aim->of.replan = false;
        f->elasticity = sp_elasticity_of(&aim->demand, hw, f->figure, delta, &f->low, &f->high);
        aim->of.replan = replan;
        n++;
    }
    qsort(follows, n, sizeof *follows, by_size);
    return n;
}

/* What is left of a goal that is a time when all rates are taken out. */
static void put_rest(struct sp_report *r, const struct sp_aim *aim, const struct follow *follows,
                     size_t n)
{
    const enum sp_unit unit = sp_aims[aim->of.kind].unit;
    const bool is_time = unit == SP_SECONDS || unit == SP_DAYS;
    double rest = aim->args->given.vary || !is_time ? NAN : 1;
    for (size_t i = 0; i < n; i++)
        rest += is_rate(follows[i].figure) ? follows[i].elasticity : 0;
    sp_put(r, SP_Q_SENSITIVITY_FIXED, rest);
    if (!isnan(rest))
        sp_line(r, "the rest, %s of the %s, is latencies, launches and waits that no rate shortens",
                sp_human_text(fabs(rest) < 1e-6 ? 0 : rest, SP_FRACTION),
                aim->of.kind == SP_AIM_STEP ? "step" : "time");
}

static bool run(const struct sp_args *args, struct sp_report *r, struct sp_error *error)
{
    struct sp_aim aim;
    struct follow follows[SP_FIGURES];
    bool vary[SP_FIGURES];
    if (!sp_take_aim(args, false, &aim, error) || !sp_read_figures(&aim, vary, error))
        return false;
    const double delta = args->value.delta;
    const size_t n = follow_figures(&aim, vary, follows);
    const bool replan = aim.of.replan;
    aim.of.replan = false; /* the value is of the plan that is held */
    const double now = aim.demand.value(sp_machine_of_aim(&aim), &aim.of);
    aim.of.replan = replan;
    sp_put_aim(r, &aim, now);
    put_rows(r, &(struct sensitivity_rows){&sp_aims[aim.of.kind], delta});
    for (size_t i = 0; i < n; i++)
        put_follow(r, &aim, &follows[i], i);
    sp_answer_is(r, "sensitivity");
    sp_end_table(r, "sensitivity", "path, elasticity, replanned, : less of it to more");
    put_rest(r, &aim, follows, n);
    sp_note(r, "elasticities are local: a figure that is doubled changes what binds (`need`)");
    return true;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    (void)error;
    return sp_draw_tornado(report, args->value.delta);
}

static const struct sp_example examples[] = {
    {"scaleplan sensitivity --model llama3-70b --hw h100-256 --tp 4 --pp 4 --batch 512x8192",
     "what a step's time hangs on"},
    {"scaleplan sensitivity --model llama3-70b --hw h100-256 --batch 512x8192 --replan --format "
     "csv",
     "the same, and with the best plan looked for anew at both ends"},
    {"scaleplan sensitivity --model llama3-70b --hw h100-256 --batch 512x8192 --plot tornado.svg",
     "a tornado of bars"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_sensitivity = {
    .name = "sensitivity",
    .summary = "how much a step, a run or its cost follows each figure of the machine",
    .about =
        "Varies each figure of the machine alone, up and down by --delta, and prints the "
        "elasticity "
        "of the goal: per cent that it changes for one per cent more of the figure. The plan and "
        "the "
        "constants are held, so that no policy flips in between; --replan adds the elasticity with "
        "the best plan looked for anew.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
