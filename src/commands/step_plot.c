/* A step's time as a waterfall, under it the memory of each stage, and of the fullest over time. */
#include "commands/plot_data.h"

#include <stdlib.h>
#include <string.h>

#include "commands/step_course.h"
#include "commands/step_launch.h"

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
    snprintf(ideal, sizeof ideal, "ideal (6 P B at full peak) %s",
             sp_human_text(w.mark, SP_SECONDS));
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
        const size_t used = strlen(out);
        if (i == 0 || degree > 1)
            snprintf(out + used, size - used, " %s %.0f", sp_quantity(degrees[i]).key, degree);
    }
}

static void draw_over_time(struct sp_figure *figure, const struct sp_planned *planned)
{
    struct sp_estimate e;
    struct course course;
    sp_estimate_planned(planned, SP_FLOPS_6P, &e);
    sp_course_of(planned, &e, &course);
    sp_draw_course(figure, &course, e.capacity_bytes);
    free(course.moments);
}

struct sp_figure *sp_plot_step(const struct sp_args *args, const struct sp_report *report,
                               struct sp_error *error)
{
    if (args->given.curve)
        return sp_plot_curve(report);
    if (args->given.buckets)
        return sp_plot_buckets(report, error);
    char degrees[96] = "";
    struct sp_planned planned;
    struct sp_launch launch = {0};
    struct sp_args plan_args = {0};
    if (!sp_take_launch(args, &launch, &plan_args, error))
        return NULL;
    const struct sp_sources sources = sp_sources_of(&plan_args);
    if (!sp_plan_of(&plan_args, &sources, &planned, error))
        return NULL;
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
    draw_over_time(figure, &planned);
    return figure;
}
