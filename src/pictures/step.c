/* A step's time as a waterfall, under it the memory of each stage, and of the fullest over time. */
#include "pictures/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "answer/time_parts.h"
#include "pictures/curves.h"
#include "pictures/pictures.h"
#include "pictures/report_data.h"

static void draw_time(struct sp_figure *figure, const struct sp_report *r)
{
    struct sp_part parts[32];
    char ideal[64];
    size_t n = 0;
    for (size_t i = 0; i < SP_TIME_PARTS && n < sizeof parts / sizeof *parts; i++) {
        const struct sp_quantity_info q = sp_quantity(sp_time_parts[i].id);
        const double value = sp_report_number(r, sp_time_parts[i].id);
        if (!(value > 0))
            continue;
        parts[n] = (struct sp_part){.value = value};
        snprintf(parts[n].label, sizeof parts[n].label, "%s", q.label);
        snprintf(parts[n].note, sizeof parts[n].note, "%s", sp_human_text(value, SP_SECONDS));
        n++;
    }
    struct sp_waterfall w = {
        .title = "Time of a step by component; the line in the sum is the "
                 "80 % range",
        .label = "time",
        .unit = "s",
        .parts = parts,
        .n_parts = n,
        .sum = {.label = "step", .value = sp_report_number(r, SP_Q_STEP_T_STEP)},
        .low = sp_report_number(r, SP_Q_STEP_T_LOW),
        .high = sp_report_number(r, SP_Q_STEP_T_HIGH),
        .mark = sp_report_number(r, SP_Q_STEP_T_IDEAL),
        .mark_text = ideal};
    snprintf(w.sum.note, sizeof w.sum.note, "%s", sp_human_text(w.sum.value, SP_SECONDS));
    snprintf(ideal, sizeof ideal, "ideal (6PB at peak) %s", sp_human_text(w.mark, SP_SECONDS));
    sp_draw_waterfall(figure, &w);
}

static const char *const part_names[] = {"weights",     "gradients", "optimizer",
                                         "activations", "buffers",   "allocator and runtime"};
static const enum sp_quantity_id part_ids[] = {SP_Q_STEP_S_PARAMS, SP_Q_STEP_S_GRADS,
                                               SP_Q_STEP_S_OPT, SP_Q_STEP_S_ACT, SP_Q_STEP_S_BUF};
enum { PARTS = sizeof part_ids / sizeof *part_ids, MOST_STAGES = 32 };

static void read_stage(const struct sp_report *r, size_t stage, struct sp_bar *bar)
{
    const double device = sp_listed_number(r, "stages", stage, SP_Q_STEP_S_DEVICE);
    for (size_t k = 0; k < PARTS; k++)
        bar->parts[k] = sp_listed_number(r, "stages", stage, part_ids[k]);
    bar->parts[PARTS] = device - sp_listed_number(r, "stages", stage, SP_Q_STEP_S_LIVE);
    snprintf(bar->label, sizeof bar->label, "stage %zu", stage);
    snprintf(bar->note, sizeof bar->note, "%s", sp_human_text(device, SP_BYTES));
}

/* A bar a stage; of many stages, evenly spaced ones with the first and the last. */
static void draw_memory(struct sp_figure *figure, const struct sp_report *r)
{
    const size_t stages = (size_t)sp_report_number(r, SP_Q_STEP_PP);
    const size_t n = stages < MOST_STAGES ? stages : MOST_STAGES;
    const double capacity = sp_report_number(r, SP_Q_STEP_M_CAPACITY);
    struct sp_bar bars[MOST_STAGES] = {0};
    char limit[64], title[96] = "Memory of a device by stage";
    for (size_t i = 0; i < n; i++)
        read_stage(r, n > 1 ? i * (stages - 1) / (n - 1) : 0, &bars[i]);
    if (n < stages)
        snprintf(title, sizeof title, "Memory of a device on %zu of the %zu stages", n, stages);
    snprintf(limit, sizeof limit, "capacity %s", sp_human_text(capacity, SP_BYTES));
    sp_draw_bars(figure, &(struct sp_bars){.title = title,
                                           .label = "memory of a device",
                                           .unit = "B",
                                           .names = part_names,
                                           .n_parts = PARTS + 1,
                                           .bars = bars,
                                           .n_bars = n,
                                           .limit = capacity,
                                           .limit_text = limit});
}

/* " dp 16 tp 4 pp 4": replicas, and the degrees that are used. */
static void name_degrees(const struct sp_report *r, char *out, size_t size)
{
    static const enum sp_quantity_id degrees[] = {SP_Q_STEP_DP,  SP_Q_STEP_TP, SP_Q_STEP_PP,
                                                  SP_Q_STEP_VPP, SP_Q_STEP_CP, SP_Q_STEP_EP};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        const double degree = sp_report_number(r, degrees[i]);
        if (i == 0 || degree > 1)
            sp_append(out, size, " %s %.0f", sp_quantity(degrees[i]).key, degree);
    }
}

/* The panel of the memory over the step. */
static void draw_course(struct sp_figure *figure, const struct sp_memory_moment *moments, int64_t n,
                        double capacity)
{
    if (n == 0)
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
    panel->x.max = moments[n - 1].s;
    first->dashed = true;
    for (int64_t i = 0; i < n; i++) {
        sp_add_point(later, moments[i].s, moments[i].later);
        sp_add_point(first, moments[i].s, moments[i].first);
    }
    sp_add_rule(panel, false, capacity, SP_VERMILION, "capacity %s",
                sp_human_text(capacity, SP_BYTES));
}

static void draw_line(struct sp_figure *figure, const struct sp_report *r, const char *label,
                      const char *unit, enum sp_quantity_id id)
{
    struct sp_panel *const panel = sp_add_panel(figure, sp_make_axis("devices", "", true),
                                                sp_make_axis(label, unit, false), "");
    sp_add_listed(panel, r, "curve", sp_quantity(SP_Q_STEP_CURVE_DEVICES).key, sp_quantity(id).key,
                  SP_BLUE, "");
    panel->y.min = 0;
    panel->height_px = 220;
    panel->rows = 12;
}

struct sp_figure *sp_draw_curve(const struct sp_report *report)
{
    struct sp_figure *const figure = sp_figure_new(
        "Weak scaling of %.40s on %.24s: more replicas, each with its batch",
        sp_report_text(report, SP_Q_STEP_MODEL), sp_report_text(report, SP_Q_STEP_MACHINE));
    draw_line(figure, report, "efficiency", "", SP_Q_STEP_CURVE_EFFICIENCY);
    draw_line(figure, report, "all-reduce of 256 MB", "B/s", SP_Q_STEP_CURVE_RATE);
    return figure;
}

static void add_row(struct sp_panel *panel, double y, const char *name)
{
    sp_add_tick(&panel->y, y, "%s", name);
}

struct sp_figure *sp_draw_buckets(const struct sp_report *r, struct sp_error *error)
{
    const double backward = sp_report_number(r, SP_Q_STEP_B_BACKWARD),
                 naive = sp_report_number(r, SP_Q_STEP_B_NAIVE);
    if (isnan(backward)) {
        sp_fail(error, SP_INPUT, "--plot: the plan has no gradient buckets");
        return NULL;
    }
    struct sp_figure *const figure = sp_figure_new(
        "Gradients of %.40s on %.24s: %s buckets of %s, %s exposed, %s if reduced at once",
        sp_report_text(r, SP_Q_STEP_MODEL), sp_report_text(r, SP_Q_STEP_MACHINE),
        sp_human_text(sp_report_number(r, SP_Q_STEP_B_COUNT), SP_COUNT),
        sp_human_text(sp_report_number(r, SP_Q_STEP_B_BYTES), SP_BYTES),
        sp_human_text(sp_report_number(r, SP_Q_STEP_B_TAIL), SP_SECONDS),
        sp_human_text(naive, SP_SECONDS));
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("time since the last backward pass began", "s", false),
                     sp_make_axis("", "", false), "");
    struct sp_series *const work = sp_add_series(panel, SP_BOXES, SP_BLUE, "backward pass");
    struct sp_series *const sends = sp_add_series(panel, SP_BOXES, SP_ORANGE, "reduction");
    work->letter = 'B';
    sends->letter = 'r';
    sp_add_box(work, 0, backward, 2.1, 2.9);
    double start;
    for (size_t k = 0; !isnan(start = sp_listed_number(r, "sends", k, SP_Q_STEP_B_START)); k++)
        sp_add_box(sends, start, sp_listed_number(r, "sends", k, SP_Q_STEP_B_END), 1.1, 1.9);
    sp_add_box(sends, backward, backward + naive, 0.1, 0.9);
    add_row(panel, 2.5, "backward");
    add_row(panel, 1.5, "in buckets");
    add_row(panel, 0.5, "at once");
    panel->y.min = 0;
    panel->y.max = 3;
    panel->x.min = 0;
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 160;
    panel->rows = 9;
    return figure;
}

/* The boxes of "1-4, 17-20", a colour for each chunk; returns the last layer. */
static long add_layers(struct sp_panel *panel, const char *which, double y)
{
    long first, last = 0;
    for (size_t chunk = 0; *which; chunk++) {
        char *end;
        first = last = strtol(which, &end, 10);
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (end == which)
            break;
        if (chunk == panel->n_series && chunk < SP_MAX_SERIES)
            sp_add_series(panel, SP_BOXES, sp_look_of(chunk), "chunk %zu", chunk + 1)->letter =
                (char)('1' + chunk % 9);
        if (chunk >= panel->n_series)
            break;
        sp_add_box(&panel->series[chunk], (double)first - 0.5, (double)last + 0.5, y - 0.38,
                   y + 0.38);
        struct sp_label *const label = sp_add_label(panel, (double)(first + last) / 2, y, SP_CENTRE,
                                                    first == last ? "%ld" : "%ld-%ld", first, last);
        label->yields = true;
        label->light = panel->series[chunk].look == SP_BLUE;
        which = end + strspn(end, ", ");
    }
    return last;
}

struct sp_figure *sp_draw_placement(const struct sp_report *r, struct sp_error *error)
{
    char degrees[96] = "";
    const char *which;
    long layers = 0;
    size_t n = 0;
    name_degrees(r, degrees, sizeof degrees);
    struct sp_figure *const figure = sp_figure_new(
        "Where the layers of %.40s lie on %s x %.24s:%s", sp_report_text(r, SP_Q_STEP_MODEL),
        sp_human_text(sp_report_number(r, SP_Q_STEP_DEVICES), SP_COUNT),
        sp_report_text(r, SP_Q_STEP_MACHINE), degrees);
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("layer", "", false), sp_make_axis("", "", false), "");
    for (; *(which = sp_rows_text(r, "stages", n, "which")); n++) {
        const long last = add_layers(panel, which, -(double)n);
        layers = last > layers ? last : layers;
        sp_add_tick(&panel->y, -(double)n, "stage %zu, ranks %s", n,
                    sp_rows_text(r, "stages", n, "ranks"));
    }
    panel->x.floating = panel->x.whole = panel->y.floating = true;
    panel->x.min = 0.5;
    panel->x.max = (double)layers + 0.5;
    panel->y.min = 0.25 - (double)n;
    panel->y.max = 0.75;
    panel->key = panel->n_series > 1 ? SP_KEY_ABOVE : SP_NO_KEY;
    panel->height_px = 34 * (double)n + 20;
    panel->rows = 2 * (int)n + 2;
    if (n >= 1 && n <= MOST_STAGES)
        return figure;
    sp_figure_free(figure);
    sp_fail(error, SP_INPUT, "--where: up to %d stages are drawn", MOST_STAGES);
    return NULL;
}

struct sp_figure *sp_draw_step(const struct sp_report *report,
                               const struct sp_memory_moment *moments, int64_t n,
                               double capacity_bytes)
{
    char degrees[96] = "";
    name_degrees(report, degrees, sizeof degrees);
    struct sp_figure *const figure = sp_figure_new(
        "%.40s on %s x %.24s:%s, ZeRO %.0f, batch %.0fx%.0f, MFU %s (%s FLOPs)",
        sp_report_text(report, SP_Q_STEP_MODEL),
        sp_human_text(sp_report_number(report, SP_Q_STEP_DEVICES), SP_COUNT),
        sp_report_text(report, SP_Q_STEP_MACHINE), degrees,
        sp_report_number(report, SP_Q_STEP_ZERO), sp_report_number(report, SP_Q_STEP_BATCH),
        sp_report_number(report, SP_Q_STEP_SEQ),
        sp_human_text(sp_report_number(report, SP_Q_STEP_MFU), SP_FRACTION),
        sp_report_text(report, SP_Q_STEP_CONVENTION));
    draw_time(figure, report);
    draw_memory(figure, report);
    draw_course(figure, moments, n, capacity_bytes);
    return figure;
}
