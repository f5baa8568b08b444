/* T_math and T_comms over the batch per chip, and where they cross. */
#include "pictures/batch.h"

#include <math.h>
#include <stdio.h>

#include <scaleplan/forms.h>

#include "pictures/report_data.h"

/* Networks whose critical batch the report may have. */
static const struct {
    const char *key, *name;
} networks[] = {
    {"critical.dp.1", "FSDP, 1 axis"},          {"critical.dp.2", "FSDP, 2 axes"},
    {"critical.dp.3", "FSDP, 3 axes"},          {"critical.dp.node", "FSDP in a node"},
    {"critical.dp.cross", "FSDP across nodes"},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

struct curves {
    struct sp_panel *panel, *ratio; /* of times, and of T_comms over T_math */
    double P, C;                    /* active parameters; FLOP/s */
    double from, to;
    size_t n;
};

static enum sp_look add_curve(struct curves *c, const char *name, double left, double right)
{
    const enum sp_look look = sp_look_of(c->n++);
    struct sp_series *const s = sp_add_series(c->panel, SP_LINE, look, "%s", name);
    struct sp_series *const over = sp_add_series(c->ratio, SP_LINE, look, "%s", "");
    s->dashed = over->dashed = true;
    sp_add_point(s, c->from, left);
    sp_add_point(s, c->to, right);
    sp_add_point(over, c->from, sp_times_of(left, sp_chip_math_s(c->P, c->from, c->C)));
    sp_add_point(over, c->to, sp_times_of(right, sp_chip_math_s(c->P, c->to, c->C)));
    return look;
}

/* The critical batch is where the curves cross. */
static void mark_crossing(struct curves *c, enum sp_look look, double critical)
{
    struct sp_series *const mark = sp_add_series(c->panel, SP_MARKS, look, "%s", "");
    const double y = sp_chip_math_s(c->P, critical, c->C);
    mark->letter = 'o';
    sp_add_point(mark, critical, y);
    struct sp_label *const label =
        sp_add_label(c->panel, critical, y, SP_RIGHT, "%s", sp_human_text(critical, SP_TOKENS));
    label->beside = true;
}

/* Sets the range of the x axis. */
static void find_range(struct curves *c, const struct sp_report *r)
{
    const double seen[] = {sp_report_number(r, SP_Q_BATCH_MIXED),
                           sp_report_number(r, SP_Q_BATCH_TOKENS_CHIP)};
    c->from = INFINITY;
    c->to = 0;
    for (size_t i = 0; i < NETWORKS + 2; i++) {
        const double x = i < NETWORKS ? sp_keyed_number(r, networks[i].key) : seen[i - NETWORKS];
        if (!(x > 0))
            continue;
        c->from = fmin(c->from, x);
        c->to = fmax(c->to, x);
    }
    c->from /= 5;
    c->to *= 5;
}

static void draw_curves(struct curves *c, const struct sp_report *r, double tp)
{
    const double mixed = sp_report_number(r, SP_Q_BATCH_MIXED),
                 largest = sp_report_number(r, SP_Q_BATCH_TP_MAX);
    struct sp_series *const math = sp_add_series(c->panel, SP_LINE, SP_BLACK, "T_math");
    sp_add_point(math, c->from, sp_chip_math_s(c->P, c->from, c->C));
    sp_add_point(math, c->to, sp_chip_math_s(c->P, c->to, c->C));
    for (size_t i = 0; i < NETWORKS; i++) {
        const double critical = sp_keyed_number(r, networks[i].key);
        /* traffic of DP and FSDP is independent of the batch: equal to the arithmetic at the
         * critical one */
        const double s = sp_chip_math_s(c->P, critical, c->C);
        char name[64];
        snprintf(name, sizeof name, "T_comms: %s", networks[i].name);
        if (critical > 0)
            mark_crossing(c, add_curve(c, name, s, s), critical);
    }
    if (mixed > 0)
        mark_crossing(c,
                      add_curve(c, "T_comms: best FSDP x TP",
                                sp_chip_mixed_comms_s(c->P, c->from, mixed, c->C),
                                sp_chip_mixed_comms_s(c->P, c->to, mixed, c->C)),
                      mixed);
    if (!isnan(tp) && largest > 0) {
        char name[64];
        snprintf(name, sizeof name, "T_comms: TP of %s", sp_human_text(tp, SP_COUNT));
        add_curve(c, name, sp_chip_tp_comms_s(c->P, c->from, c->C, tp, largest),
                  sp_chip_tp_comms_s(c->P, c->to, c->C, tp, largest));
    }
}

struct sp_figure *sp_draw_batch(const struct sp_report *report, const char *machine,
                                const char *model, double params, double tp)
{
    struct curves c = {.P = params, .C = sp_report_number(report, SP_Q_BATCH_PEAK)};
    struct sp_figure *const figure = sp_figure_new(
        "Arithmetic and communication of a step on a chip of %.40s: %.50s", machine, model);
    c.panel = sp_add_panel(
        figure, sp_make_axis("batch per chip", "tokens", true),
        sp_make_axis("time of a step", "s", true),
        "DP needs 2/3 of FSDP's T_comms and has 2/3 of T_math to hide it: the same batch");
    c.ratio = sp_add_panel(figure, sp_make_axis("batch per chip", "tokens", true),
                           sp_make_axis("T_comms / T_math; below 1: compute-bound", "", true), "");
    find_range(&c, report);
    draw_curves(&c, report, tp);
    const double asked = sp_report_number(report, SP_Q_BATCH_TOKENS_CHIP);
    if (asked > 0)
        sp_add_rule(c.panel, true, asked, SP_BLACK, "this batch: %s",
                    sp_human_text(asked, SP_TOKENS));
    sp_add_rule(c.ratio, false, 1, SP_BLACK, "%s", "");
    c.panel->x.min = c.ratio->x.min = c.from;
    c.panel->x.max = c.ratio->x.max = c.to;
    for (int power = -3; power <= 4; power++)
        sp_add_tick(&c.ratio->y, pow(10, power), "%g", pow(10, power));
    c.ratio->key = SP_KEY_RIGHT; /* as wide as the panel above */
    c.ratio->height_px = 220;
    c.ratio->rows = 12;
    c.panel->key = SP_KEY_RIGHT;
    c.panel->height_px = 420;
    c.panel->rows = 26;
    return figure;
}
