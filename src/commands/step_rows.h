/* The rows of an estimated plan, for `step`, `search` and `merge`. */
#ifndef SP_STEP_ROWS_H
#define SP_STEP_ROWS_H

#include "cli/plan_fields.h"
#include "cli/plan_options.h"

/* A component of a step: its row, and where it stands in struct sp_step_time. */
struct sp_time_part {
    enum sp_quantity_id id;
    const char *name;
    size_t offset;
};
enum { SP_TIME_PARTS = 14 };
extern const struct sp_time_part sp_time_parts[SP_TIME_PARTS];

/* The i-th component of a step. s. */
double sp_time_part(const struct sp_step_time *time, size_t i);

/* A plan and its estimate, as the rows show them. */
struct sp_step_rows {
    const struct sp_planned *p;
    const struct sp_estimate *e;
    const struct sp_framework *f;
    const struct sp_stage_memory *m;
    const struct sp_step_time *t;
    const struct sp_rates *rates;
    const struct sp_buckets *b;
    double devices, batch_tokens, dispatch_bytes, ideal_flops;
    char shape[96];
    char rest[SP_PLAN_REST]; /* of the plan's words, for the line of `step`; its caller fills it */
    const char *borrowed;    /* where the constants come from, if not from runs of this stack */
};

/* Fills the rows, which point into both, and puts those that have a value under the current scope.
 */
void sp_read_step(const struct sp_planned *planned, const struct sp_estimate *estimate,
                  struct sp_step_rows *rows);
void sp_put_step_rows(struct sp_report *report, const struct sp_step_rows *rows);

/* Everything about one plan under the current scope: degrees, memory of the fullest stage, time by
 * component, rates by the convention of the estimate, health, gradient buckets. */
void sp_put_step(struct sp_report *report, const struct sp_planned *planned,
                 const struct sp_estimate *estimate);

/* Days and cost of so many tokens; null where they or the price are NAN. */
void sp_put_run(struct sp_report *report, const struct sp_planned *planned, double step_s,
                double tokens, double usd_per_h);

/* Of the curve and of the gradient buckets so many are in the report. */
enum { SP_MOST_CURVE_POINTS = 32, SP_MOST_LISTED_BUCKETS = 1000 };

#endif
