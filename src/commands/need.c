/* need: what a machine would have to be for a goal, a figure at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/aim.h"

static const struct sp_taken options[] = {
    SP_TAKE(goal),
    SP_TAKE(vary),
    SP_OPTIONS_AIM,
    SP_TAKE(check),
};

/* The rows of a figure's value, now and needed, by its unit. */
static const struct {
    enum sp_quantity_id now, needed;
} figure_rows[SP_UNITS] = {
    [SP_FLOPS_PER_S] = {SP_Q_NEED_NOW_FLOPS, SP_Q_NEED_NEEDED_FLOPS},
    [SP_BYTES_PER_S] = {SP_Q_NEED_NOW_RATE, SP_Q_NEED_NEEDED_RATE},
    [SP_BYTES] = {SP_Q_NEED_NOW_BYTES, SP_Q_NEED_NEEDED_BYTES},
    [SP_USD] = {SP_Q_NEED_NOW_USD, SP_Q_NEED_NEEDED_USD},
    [SP_COUNT] = {SP_Q_NEED_NOW_COUNT, SP_Q_NEED_NEEDED_COUNT},
};

/* What binds the machine that has the needed value. */
static void put_next(struct sp_report *r, const struct sp_aim *aim, enum sp_machine_figure figure,
                     const struct sp_need *need)
{
    struct sp_hardware changed;
    char path[SP_FIGURE_PATH];
    enum sp_machine_figure next = SP_FIGURES;
    if (sp_with_figure(sp_machine_of_aim(aim), figure, need->needed, &changed))
        next = sp_find_binding(&aim->demand, &changed);
    if (next == SP_FIGURES) {
        sp_put_null(r, SP_Q_NEED_BINDS_NEXT);
        return;
    }
    sp_figure_path(aim, next, path);
    sp_put_text(r, SP_Q_NEED_BINDS_NEXT, "%s", path);
}

/* The answer in words, behind the values. */
static void name_answer(const struct sp_need *need, double now, enum sp_unit unit,
                        struct sp_row *row)
{
    const bool moves = need->limit != now && !(fabs(need->limit / now - 1) < 1e-9);
    if (!need->reachable && !moves)
        snprintf(row->label, sizeof row->label, "no value is enough: it does not matter");
    else if (!need->reachable)
        snprintf(row->label, sizeof row->label, "no value is enough: it comes to %s",
                 sp_human_text(need->limit, unit));
    else if (isnan(need->needed))
        snprintf(row->label, sizeof row->label, "any value will do");
    else
        snprintf(row->label, sizeof row->label, "%s times", sp_human_text(need->factor, SP_NUMBER));
}

static void put_need(struct sp_report *r, const struct sp_aim *aim, double now,
                     enum sp_machine_figure figure, struct sp_row *row)
{
    const struct sp_hardware *const hw = sp_machine_of_aim(aim);
    const struct sp_need need = sp_find_need(&aim->demand, hw, now, figure);
    char path[SP_FIGURE_PATH];
    sp_figure_path(aim, figure, path);
    sp_scope(r, row->prefix);
    sp_put_text(r, SP_Q_NEED_PATH, "%s", path);
    sp_put(r, figure_rows[sp_unit_of_figure(figure)].now, need.now);
    sp_put(r, figure_rows[sp_unit_of_figure(figure)].needed, need.needed);
    sp_put(r, SP_Q_NEED_FACTOR, need.factor);
    sp_put_bool(r, SP_Q_NEED_REACHABLE, need.reachable);
    sp_put(r, SP_Q_NEED_LIMIT, need.limit);
    put_next(r, aim, figure, &need);
    name_answer(&need, now, sp_aims[aim->kind].unit, row);
    sp_scope(r, "");
}

static void put_verdict(struct sp_report *r, const struct sp_aim *aim, double now, bool met)
{
    const struct sp_aim_info *const info = &sp_aims[aim->kind];
    const bool is_had = isfinite(now) && now > 0;
    sp_put_bool(r, SP_Q_NEED_MET, met);
    sp_line(r, "%s: %s %s, at %s %s asked", met ? "met" : "not met", info->what,
            is_had ? sp_human_text(now, info->unit) : "cannot be had, for the plan does not fit",
            info->at_least ? "least" : "most", sp_human_text(aim->demand.target, info->unit));
    sp_line(r, " ");
    sp_line(r, "model      {model}");
    sp_line(r, "hardware   {hw}: {chips} chips");
    sp_line(r, "plan       {plan}");
    sp_line(r, "constants  %s",
            aim->kind == SP_AIM_COMPUTE_BOUND ? "none: throughput alone"
            : sp_is_served(aim)               ? "held"
            : aim->power_prior ? "as the profile expects of the chip that is tried (--power-prior)"
                               : "held (--power-prior lets them follow the chip)");
    sp_line(r, " ");
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    static const struct sp_column columns[] = {{"path", "alone", true},
                                               {"now", "now", false},
                                               {"needed", "needed", false},
                                               {NULL, "that is", true},
                                               {"binds_next", "then binds", true}};
    struct sp_aim aim;
    struct sp_row rows[SP_FIGURES] = {0};
    bool vary[SP_FIGURES];
    size_t n = 0;
    if (!sp_take_aim(args, true, &aim, error) || !sp_read_figures(&aim, vary, error))
        return false;
    const double now = aim.demand.value(sp_machine_of_aim(&aim), &aim);
    const bool met = sp_is_met(&aim.demand, now);
    sp_put_aim(report, &aim, now);
    put_verdict(report, &aim, now, met);
    for (int f = 0; f < SP_FIGURES; f++) {
        if (!vary[f])
            continue;
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "need.%zu", n);
        put_need(report, &aim, now, (enum sp_machine_figure)f, &rows[n++]);
    }
    sp_answer_is(report, "need");
    sp_table(report, columns, sizeof columns / sizeof *columns, rows, n);
    sp_note(report,
            "each figure alone, all others as they are; what a machine would have to be for "
            "several at once is `--set hw.PATH=VALUE` and this again");
    return true;
}

static const struct sp_example examples[] = {
    {"scaleplan need --model llama3-70b --hw h100-256 --batch 512x8192 --for step=8s",
     "which figure of the machine makes the step that short"},
    {"scaleplan need --model llama2-13b --hw v5p-4096 --batch 3M --strategy fsdp --for "
     "compute-bound --get need.3.needed",
     "bandwidth of a link that hides FSDP"},
    {"scaleplan need --model llama3-405b --hw h100-64 --zero 3 --for fits",
     "memory, or chips, that it takes"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_need = {
    .name = "need",
    .summary = "what the machine would have to be: each figure alone, for a goal",
    .about =
        "For each figure of the machine (peak, memory and its bandwidth, links, size), the value "
        "at "
        "which a goal is met while all others stay, what binds then, and whether no value is "
        "enough. The plan is the one that is typed, else the best of `search`, and is held; "
        "--replan looks for the best plan on every machine that is tried. compute-bound is judged "
        "by the closed forms of `fit`, all else by the estimate of `step`.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "met",
    .run = run,
};
