/* A step's time as a waterfall, and under it the memory of each stage. */
#include "plot_data.h"

#include <stdlib.h>
#include <string.h>

#include "step_report.h"

static void draw_time(struct sp_figure *figure, const struct sp_report *r)
{
    struct sp_part parts[32];
    char ideal[64];
    size_t n = 0;
    for (size_t i = 0; i < sp_n_time_parts && n < sizeof parts / sizeof *parts; i++) {
        const struct sp_quantity_info *const q = &sp_quantities[sp_time_parts[i].id];
        const double value = sp_report_number(r, "%s", q->key);
        if (!(value > 0))
            continue;
        parts[n] = (struct sp_part){.value = value};
        snprintf(parts[n].label, sizeof parts[n].label, "%s", q->label);
        snprintf(parts[n].note, sizeof parts[n].note, "%s", sp_human_text(value, SP_SECONDS));
        n++;
    }
    struct sp_waterfall w = {.title = "Time of a step by component; the line in the sum is the "
                                      "80 % range",
                             .label = "time",
                             .unit = "s",
                             .parts = parts,
                             .n_parts = n,
                             .sum = {.label = "step", .value = sp_report_number(r, "time.step_s")},
                             .low = sp_report_number(r, "time.low_s"),
                             .high = sp_report_number(r, "time.high_s"),
                             .mark = sp_report_number(r, "time.ideal_s"),
                             .mark_text = ideal};
    snprintf(w.sum.note, sizeof w.sum.note, "%s", sp_human_text(w.sum.value, SP_SECONDS));
    snprintf(ideal, sizeof ideal, "ideal (6 P B at full peak) %s",
             sp_human_text(w.mark, SP_SECONDS));
    sp_draw_waterfall(figure, &w);
}

/* A bar a stage; of many stages, evenly spaced ones. */
static bool draw_memory(struct sp_figure *figure, const struct sp_report *r, struct sp_error *error)
{
    static const char *const names[] = {"weights",     "gradients", "optimizer",
                                        "activations", "buffers",   "allocator and runtime"};
    static const char *const keys[] = {"params", "grads", "optimizer", "activations", "buffers"};
    enum { KEYS = sizeof keys / sizeof *keys, MOST = 32 };
    const size_t stages = (size_t)sp_report_number(r, "pp"), every = (stages + MOST - 1) / MOST;
    struct sp_bar bars[MOST] = {0};
    char limit[64], title[96];
    size_t n = 0;
    for (size_t s = 0; s < stages && n < MOST; s += every, n++) {
        const double device = sp_report_number(r, "stages.%zu.device_bytes", s);
        for (size_t k = 0; k < KEYS; k++)
            bars[n].parts[k] = sp_report_number(r, "stages.%zu.%s_bytes", s, keys[k]);
        bars[n].parts[KEYS] = device - sp_report_number(r, "stages.%zu.live_bytes", s);
        snprintf(bars[n].label, sizeof bars[n].label, "stage %zu", s);
        snprintf(bars[n].note, sizeof bars[n].note, "%s", sp_human_text(device, SP_BYTES));
    }
    if (n == 0)
        return sp_fail(error, SP_INTERNAL, "--plot: no stages in the report");
    const double capacity = sp_report_number(r, "memory.capacity_bytes");
    snprintf(limit, sizeof limit, "capacity %s", sp_human_text(capacity, SP_BYTES));
    snprintf(title, sizeof title,
             every > 1 ? "Memory of a device, every %zuth stage" : "Memory of a device by stage",
             every);
    sp_draw_bars(figure, &(struct sp_bars){.title = title,
                                           .label = "memory of a device",
                                           .unit = "B",
                                           .names = names,
                                           .n_parts = KEYS + 1,
                                           .bars = bars,
                                           .n_bars = n,
                                           .limit = capacity,
                                           .limit_text = limit});
    return true;
}

SP_PLOT_OF(step)
{
    (void)args;
    struct sp_figure *const figure =
        sp_figure_new("%.40s on %s x %.40s: dp %.0f tp %.0f pp %.0f cp %.0f ep %.0f, MFU %s",
                      sp_report_text(report, "model"),
                      sp_human_text(sp_report_number(report, "devices"), SP_COUNT),
                      sp_report_text(report, "machine"), sp_report_number(report, "dp"),
                      sp_report_number(report, "tp"), sp_report_number(report, "pp"),
                      sp_report_number(report, "cp"), sp_report_number(report, "ep"),
                      sp_human_text(sp_report_number(report, "mfu"), SP_FRACTION));
    draw_time(figure, report);
    if (draw_memory(figure, report, error))
        return figure;
    sp_figure_free(figure);
    return NULL;
}
