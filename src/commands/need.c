/* need: the changes of a machine that reach a goal, one figure at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/goal.h"
#include "cli/search_nearby.h"
#include "pictures/parts.h"

static const struct sp_taken options[] = {
    SP_TAKE(goal), SP_TAKE(vary), SP_OPTIONS_AIM, SP_TAKE(check), SP_OPTION_PLOT,
};

/* A figure and its needed value. */
struct figure_rows {
    char path[SP_FIGURE_PATH],
        next[SP_FIGURE_PATH]; /* next: what then limits the machine; "": nothing */
    enum sp_unit unit;
    struct sp_need need;
};

#define SP_PART need_figure
#define SP_PART_OF struct figure_rows
#include "answer/put_rows.h"

/* The limit of a machine that has the needed value. */
static void find_next(const struct sp_aim *aim, enum sp_machine_figure figure,
                      struct figure_rows *s)
{
    struct sp_hardware changed;
    enum sp_machine_figure next = SP_FIGURES;
    if (sp_with_figure(sp_machine_of_aim(aim), figure, s->need.needed, &changed))
        next = sp_find_binding(&aim->demand, &changed);
    if (next != SP_FIGURES)
        sp_figure_path(aim, next, s->next);
}

/* The answer in words, after the values. */
static void name_answer(const struct sp_need *need, const struct sp_aim_info *info, char *out,
                        size_t size)
{
    if (!need->reachable && !need->matters)
        snprintf(out, size, "no value is enough: it has no effect");
    else if (!need->reachable)
        snprintf(out, size, "no value is enough: the limit is %s",
                 sp_human_text(need->limit, info->unit));
    else if (isnan(need->needed))
        snprintf(out, size, "any value will do");
    else
        snprintf(out, size, "%s times", sp_human_text(need->factor, SP_NUMBER));
}

enum { NEVER = 512 };

/* `never` lists the figures for which no value suffices. Of a goal that is `met` the values are
 * those up to which it stays met. */
static void put_need(struct sp_report *r, const struct sp_aim *aim, double now, bool met,
                     enum sp_machine_figure figure, size_t at, char never[NEVER],
                     struct sp_chips_found *chips)
{
    char answer[64];
    const struct sp_hardware *const hw = sp_machine_of_aim(aim);
    struct figure_rows s = {.unit = sp_unit_of_figure(figure)};
    /* if there is no plan, no rate and no memory makes one possible */
    if (aim->of.is_empty && s.unit != SP_COUNT)
        s.need = (struct sp_need){
            .now = sp_figure_value(figure, hw), .needed = NAN, .factor = NAN, .limit = NAN};
    else
        s.need = sp_find_need(&aim->demand, hw, now, figure);
    if (figure == SP_FIGURE_CHIPS)
        sp_find_chips(&aim->of, aim->demand.target, &s.need, chips);
    sp_figure_path(aim, figure, s.path);
    find_next(aim, figure, &s);
    name_answer(&s.need, &sp_aims[aim->of.kind], answer, sizeof answer);
    sp_begin_row(r, answer, "need.%zu", at);
    put_need_figure_rows(r, &s);
    sp_stand_in(r, SP_BRIEF);
    /* the printed value must suffice when it is typed: all figures but the price are better when
     * they are larger */
    if (s.need.reachable)
        sp_line(
            r, "%s %s: %s%s%s", met ? "allowed   " : "need      ", s.path,
            isnan(s.need.needed)
                ? ""
                : sp_human_text(s.unit == SP_COUNT
                                    ? s.need.needed
                                    : sp_to_three_digits(s.need.needed, figure != SP_FIGURE_PRICE),
                                s.unit),
            isnan(s.need.needed) ? "" : ", ", answer);
    else
        sp_append(never, NEVER, "%s%s", *never ? ", " : "", s.path);
    sp_stand_in(r, SP_BOTH);
}

/* The verdict. */
struct need_rows {
    const struct sp_aim_info *info;
    bool met;
    char now[128], target[64];
    const char *constants;
};

#define SP_PART need
#define SP_PART_OF struct need_rows
#include "answer/put_rows.h"

static void put_verdict(struct sp_report *r, const struct sp_aim *aim, double now, bool met)
{
    const struct sp_aimed *const of = &aim->of;
    struct need_rows s = {
        .info = &sp_aims[of->kind],
        .met = met,
        .constants = of->kind == SP_AIM_COMPUTE_BOUND
                         ? "none: the book's rule, as the strategies of `fit --details`"
                     : sp_is_served(of->kind) ? "held"
                     : !of->power_prior && sp_follows_chip(of)
                         ? "borrowed, as expected of the chip that is tried"
                     : of->power_prior
                         ? "as the profile expects of the chip that is tried (--power-prior)"
                         : "unchanged (--power-prior adapts them to the chip)"};
    snprintf(s.now, sizeof s.now, "%s",
             isfinite(now) && now > 0 ? sp_human_text(now, s.info->unit)
             : of->is_empty           ? "not known, as there is no plan"
                                      : "not known, as the plan does not fit");
    sp_human(aim->demand.target, s.info->unit, s.target, sizeof s.target);
    put_need_rows(r, &s);
}

/* Another batch, or fewer devices, that come closer to a goal of time at no cost. If there is no
 * plan: batches and devices that have one, and the reason. */
static void put_nearby(struct sp_report *r, const struct sp_aim *aim, bool met)
{
    const enum sp_aim_kind kind = aim->of.kind;
    const bool of_time = kind != SP_AIM_COMPUTE_BOUND && kind != SP_AIM_FITS && !sp_is_served(kind);
    struct sp_close_by found;
    struct sp_emptied why;
    if (met || !(of_time || aim->of.is_empty) || aim->of.is_typed)
        return;
    sp_look_close_by_goal(&aim->of, &found, &why);
    if (aim->of.is_empty)
        sp_put_emptied(r, &aim->of.planned, &why);
    sp_put_close_by(&(struct sp_asked_near){.report = r,
                                            .args = aim->args,
                                            .command = "need",
                                            .devices = sp_chips(&aim->of.planned.hw),
                                            .named = ""},
                    &found);
    sp_free_close_by(&found);
}

static void put_needs(struct sp_report *report, struct sp_aim *aim, const bool vary[SP_FIGURES])
{
    size_t n = 0;
    char never[NEVER] = "";
    struct sp_chips_found chips = {0};
    const double now = aim->demand.value(sp_machine_of_aim(aim), &aim->of);
    const bool met = sp_is_met(&aim->demand, now);
    sp_put_aim(report, aim, now);
    put_verdict(report, aim, now, met);
    for (int f = 0; f < SP_FIGURES; f++)
        if (vary[f])
            put_need(report, aim, now, met, (enum sp_machine_figure)f, n++, never, &chips);
    sp_answer_is(report, "need");
    sp_stand_in(report, SP_BRIEF);
    if (*never)
        sp_line(report, "never      none of these alone suffices at any value: %s", never);
    sp_stand_in(report, SP_BOTH);
    put_nearby(report, aim, met);
    if (chips.fewer.at)
        sp_put_fewer_devices(report, aim->args, "need", "chips", &chips.fewer);
    sp_close_chips(&chips);
    sp_stand_in(report, SP_DETAILS);
    sp_list_table(report, "need",
                  met ? "path: alone, now, needed: allowed, : that is, binds_next: then binds"
                      : "path: alone, now, needed, : that is, binds_next: then binds");
    sp_put_aim_plan(report, aim);
    sp_note(
        report,
        "each figure is varied alone; to change several, fix all but one with --set hw.PATH=VALUE");
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_aim aim;
    bool vary[SP_FIGURES];
    const bool ok = sp_take_aim(args, true, &aim, error) && sp_read_figures(&aim, vary, error);
    if (ok)
        put_needs(report, &aim, vary);
    sp_close_aim(&aim);
    return ok;
}

static const struct sp_example examples[] = {
    {"need --model llama3-70b --hw h100-256 --batch 512x8192 --for step=8s",
     "which machine figure makes the step that short"},
    {"need --model llama2-13b --hw v5p-4096 --batch 3M --strategy fsdp --for compute-bound --get "
     "need.3.needed",
     "link bandwidth that hides FSDP"},
    {"need --model llama3-405b --hw h100-64 --zero 3 --for fits", "memory or chips needed"},
    {NULL, NULL},
};

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    (void)args;
    return sp_draw_need(report, error);
}

const struct sp_command sp_cmd_need = {
    .name = "need",
    .summary = "how much each hardware figure alone must change to reach a goal",
    .about =
        "For each machine figure (peak, memory and its bandwidth, links, size): the value that "
        "meets the goal with the others fixed, and what limits it then. The plan is yours, else "
        "the best of `search`, and stays fixed; --replan finds the best for every machine tried. "
        "compute-bound uses the closed forms of `fit`, other goals the estimate of `step`.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "met",
    .run = run,
    .plot = plot,
};
