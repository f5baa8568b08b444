/* Goals of `need` and `sensitivity`: their texts, and the figures that may vary. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/names.h>

#include "base/list.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/goal.h"
#include "cli/plan_rows.h"

static void mesh_words(const struct sp_strategy *s, char *out, size_t size)
{
    snprintf(out, size, "%s: dp %lld fsdp %lld tp %lld pp %lld", sp_strategy_names[s->kind],
             (long long)s->dp, (long long)s->fsdp, (long long)s->tp, (long long)s->pp);
}

static void instance_words(const struct serve *f, char *out, size_t size)
{
    snprintf(out, size, "%.0f instance%s of %.0f chip%s, %.4g sequence%s each, by `serve`",
             f->replicas, f->replicas == 1 ? "" : "s", f->service.chips,
             f->service.chips == 1 ? "" : "s", f->B, f->B == 1 ? "" : "s");
}

static void plan_words(const struct sp_plan *p, char *out, size_t size)
{
    snprintf(out, size, "dp %lld tp %lld pp %lld vpp %lld cp %lld ep %lld, ZeRO %d",
             (long long)p->dp, (long long)p->tp, (long long)p->pp, (long long)p->vpp,
             (long long)p->cp, (long long)p->ep, p->zero);
}

void sp_aim_words(const struct sp_aim *aim, char *out, size_t size)
{
    const bool anew = aim->of.replan && aim->inverse;
    if (aim->of.is_empty) {
        snprintf(out, size, "none; searched anew on every machine tried");
        return;
    }
    if (aim->of.strategy) {
        snprintf(out, size, "%s, by the closed forms of `fit`", sp_strategy_names[aim->fit.only]);
        return;
    }
    if (aim->of.kind == SP_AIM_COMPUTE_BOUND)
        mesh_words(&aim->of.mesh, out, size);
    else if (sp_is_served(aim->of.kind))
        instance_words(&aim->serve, out, size);
    else
        plan_words(&aim->of.planned.plan, out, size);
    sp_append(out, size, "%s%s",
              anew                                   ? ""
              : aim->of.kind == SP_AIM_COMPUTE_BOUND ? ", the best of `fit`"
              : aim->of.searched                     ? ", the best of `search`"
                                                     : "",
              anew             ? "; re-planned on every machine tried (--replan)"
              : aim->of.replan ? ", fixed; re-planned: the best on every machine tried"
                               : ", fixed (--replan searches again)");
}

void sp_figure_path(const struct sp_aim *aim, enum sp_machine_figure figure,
                    char path[SP_FIGURE_PATH])
{
    const bool peak = figure < SP_FIGURE_HBM_RATE;
    snprintf(path, SP_FIGURE_PATH, "%s%s%s", sp_figure_key(figure, sp_machine_of_aim(aim)),
             peak ? "." : "", peak ? sp_dtype_names[figure - SP_FIGURE_PEAK] : "");
}

/* Whether a figure of the machine affects the goal. */
static bool is_of_goal(const struct sp_aim *aim, enum sp_machine_figure figure)
{
    if (figure < SP_FIGURE_HBM_RATE)
        return aim->demand.peaks[figure - SP_FIGURE_PEAK];
    if (figure == SP_FIGURE_PRICE && aim->of.kind != SP_AIM_COST &&
        aim->of.kind != SP_AIM_SERVED_COST)
        return false;
    return !isnan(sp_figure_value(figure, sp_machine_of_aim(aim)));
}

static enum sp_machine_figure find_figure(const struct sp_aim *aim, const char *wanted)
{
    char path[SP_FIGURE_PATH];
    int f = 0;
    for (; f < SP_FIGURES; f++) {
        sp_figure_path(aim, (enum sp_machine_figure)f, path);
        if (strcmp(path, wanted) == 0 &&
            !isnan(sp_figure_value((enum sp_machine_figure)f, sp_machine_of_aim(aim))))
            break;
    }
    return (enum sp_machine_figure)f;
}

/* Names the figures that affect the goal, and the nearest one. */
static bool refuse_figure(const struct sp_aim *aim, const char *item, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = item};
    char paths[SP_FIGURES][SP_FIGURE_PATH], all[SP_FIGURES * SP_FIGURE_PATH] = "";
    for (int f = 0; f < SP_FIGURES; f++) {
        sp_figure_path(aim, (enum sp_machine_figure)f, paths[f]);
        if (!is_of_goal(aim, (enum sp_machine_figure)f))
            continue;
        sp_nearest_offer(&nearest, paths[f]);
        sp_append(all, sizeof all, "%s%s", all[0] ? ", " : "", paths[f]);
    }
    return sp_fail(error, SP_INPUT, "--vary: \"%s\" is not a variable figure of %s%s: %s",
                   sp_safe(item), sp_machine_of_aim(aim)->name, sp_nearest_hint(&nearest), all);
}

bool sp_read_figures(const struct sp_aim *aim, bool vary[SP_FIGURES], struct sp_error *error)
{
    const char *list = aim->args->value.vary;
    char item[SP_FIGURE_PATH];
    for (int f = 0; f < SP_FIGURES; f++)
        vary[f] = !list && is_of_goal(aim, (enum sp_machine_figure)f);
    while (list && sp_next_item(&list, item, sizeof item)) {
        const enum sp_machine_figure figure = find_figure(aim, item);
        if (figure == SP_FIGURES)
            return refuse_figure(aim, item, error);
        vary[figure] = true;
    }
    return true;
}

struct aim_rows {
    const struct sp_aim *aim;
    const struct sp_aim_info *info;
    const struct sp_hardware *hw;
    const char *model;
    const char *verdict; /* on the memory of a training plan; NULL: none */
    char plan[256];
    double now;
    bool has_target;
};

#define SP_PART need_aim
#define SP_PART_OF struct aim_rows
#include "answer/put_rows.h"

void sp_put_aim(struct sp_report *r, const struct sp_aim *aim, double now)
{
    const char *const goal = aim->args->value.goal;
    const bool served = sp_is_served(aim->of.kind);
    struct aim_rows s = {.aim = aim,
                         .info = &sp_aims[aim->of.kind],
                         .hw = sp_machine_of_aim(aim),
                         .model = aim->of.kind == SP_AIM_COMPUTE_BOUND ? aim->fit.model.name
                                  : served                             ? aim->serve.model.name
                                                                       : aim->of.planned.model.name,
                         .now = now,
                         .has_target = goal && strchr(goal, '=')};
    const bool planned = !served && aim->of.kind != SP_AIM_COMPUTE_BOUND && !aim->of.is_empty;
    struct sp_estimate e;
    if (planned) {
        const struct sp_step_inputs in = sp_inputs_of(&aim->of.planned);
        sp_estimate(&in, aim->of.convention, NULL, &e);
        s.verdict = sp_verdict_names[e.verdict];
    }
    sp_aim_words(aim, s.plan, sizeof s.plan);
    put_need_aim_rows(r, &s);
    if (served)
        sp_note_service(r, aim);
    else if (planned && aim->of.kind != SP_AIM_FITS)
        sp_note_memory(r, &e);
}

void sp_put_aim_plan(struct sp_report *r, const struct sp_aim *aim)
{
    if (aim->of.planned.problem.machine && !aim->of.searched && !aim->of.is_empty)
        sp_put_resolved(r, aim->args, &aim->of.planned);
}
