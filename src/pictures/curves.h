/* Curves over one quantity: rates, scaling, losses, schedules, trends. */
#ifndef SP_CURVES_H
#define SP_CURVES_H

#include <scaleplan/laws.h>
#include <scaleplan/training.h>

#include "answer/report.h"
#include "pictures/plot.h"

/* A line with marks through the rows of a list of the report: the keys `x` and `y` of each. Returns
 * the number of its points. */
int sp_add_listed(struct sp_panel *panel, const struct sp_report *report, const char *list,
                  const char *x, const char *y, enum sp_look look, const char *name);

/* The i-th of n values from `from` to `to`, equally far on a logarithmic axis. */
double sp_spread(double from, double to, int i, int n);

/* A message with its bytes, and its time on the devices of one node and on all; NAN: none. */
struct sp_message {
    double bytes, node, node_s, whole, whole_s;
};

/* The bandwidth of a collective over the devices of the list `sizes`, which may be empty, and over
 * the size of the message. */
struct sp_figure *sp_draw_bandwidth(const struct sp_report *report, const char *title,
                                    const struct sp_message *messages, int n);

/* Strong scaling: the list `curve` of `train`, and what its run takes and costs on each size. */
struct sp_figure *sp_draw_strong_scaling(const struct sp_report *report, const char *title);

/* Cost over days: the ways of `train` to a loss. */
struct sp_figure *sp_draw_ways(const struct sp_report *report, struct sp_error *error);

/* Loss over size for budgets around that of the run, with their minima, and the loss over the
 * budget where the law is followed. */
struct sp_figure *sp_draw_losses(const struct sp_scaling_law *law,
                                 const struct sp_scaling_run *run);

/* A schedule over the steps; `step` is marked unless NAN. */
struct sp_figure *sp_draw_lr(const struct sp_lr_schedule *schedule, double step);

/* The points of a trend, and its growth from the middle of them. */
struct sp_figure *sp_draw_trend(const struct sp_trend *trend);

#endif
