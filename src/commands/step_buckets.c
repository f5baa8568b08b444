/* `step --buckets`: the gradient buckets of the last backward pass in time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/plot_data.h"
#include "commands/step_report.h"

enum { MOST_LISTED = 1000, SHOWN = 16 };

void sp_put_bucket_spans(struct sp_report *r, const struct sp_buckets *b)
{
    static const struct sp_column columns[] = {
        {NULL, "bucket", true}, {"start_s", "sent", false}, {"end_s", "reduced", false}};
    struct sp_row rows[SHOWN] = {0};
    if (!b->exist) {
        sp_note(r, "no gradient buckets: one replica, or ZeRO 3, which reduces a layer at a time");
        return;
    }
    const size_t n = b->count < MOST_LISTED ? (size_t)b->count : MOST_LISTED;
    for (size_t k = 0; k < n; k++) {
        const struct sp_bucket_span span = sp_bucket_span(b, (double)k);
        char prefix[64];
        snprintf(prefix, sizeof prefix, "sends.%zu", k);
        if (k < SHOWN) {
            snprintf(rows[k].prefix, sizeof rows[k].prefix, "%s", prefix);
            snprintf(rows[k].label, sizeof rows[k].label, "%zu", k);
        }
        sp_scope(r, prefix);
        sp_put(r, SP_Q_STEP_B_START, span.start_s);
        sp_put(r, SP_Q_STEP_B_END, span.end_s);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, n < SHOWN ? n : SHOWN);
    if ((double)n < b->count)
        sp_note(r, "the first %zu of %.0f buckets are listed", n, b->count);
}

static void add_row(struct sp_panel *panel, double y, const char *name)
{
    sp_add_tick(&panel->y, y, "%s", name);
}

struct sp_figure *sp_plot_buckets(const struct sp_report *r, struct sp_error *error)
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
    for (size_t k = 0; k < MOST_LISTED; k++) {
        const double start = sp_listed_number(r, "sends", k, SP_Q_STEP_B_START);
        if (isnan(start))
            break;
        sp_add_box(sends, start, sp_listed_number(r, "sends", k, SP_Q_STEP_B_END), 1.1, 1.9);
    }
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
