/* The rows of an estimated plan, for `step`, `search` and `merge`. */
#ifndef SP_PLAN_ROWS_H
#define SP_PLAN_ROWS_H

#include "cli/plan_fields.h"
#include "answer/time_parts.h"
#include "cli/plan_options.h"

/* A plan and its estimate, as the rows show them. */
struct sp_step_rows {
    const struct sp_planned *p;
    const struct sp_estimate *e;
    const struct sp_framework *f;
    const struct sp_stage_memory *m;
    const struct sp_step_time *t;
    const struct sp_rates *rates;
    const struct sp_buckets *b;
    double devices, batch_tokens, dispatch_bytes;
    struct sp_context_bytes context; /* of CP */
    double busiest, ranks;           /* documents: of sums of squares over the mean; of one, mean */
    bool is_measured, has_other;     /* --measured, --against: the short text is about them */
    bool goes_around;                /* keys, values or their gradients go around a ring */
    char inferred[40];       /* "dp 64", for the line of `step`; the caller fills this and the next
                                three */
    char rest[SP_PLAN_REST]; /* other words about the plan */
    char losses[160];        /* the three largest parts of the time beyond ideal arithmetic */
    char chosen[SP_PLAN_REST]; /* settings that were chosen, as options */
    const char *borrowed;      /* the source of the constants, if not runs of this stack */
};

/* Fills the losses: "matmuls below their peak 3.09 s, attention 1.24 s, ...". */
void sp_say_losses(struct sp_step_rows *rows);

/* Fills the rows, which point into both, and puts those that have a value under the current scope.
 */
void sp_read_step(const struct sp_planned *planned, const struct sp_estimate *estimate,
                  struct sp_step_rows *rows);
void sp_put_step_rows(struct sp_report *report, const struct sp_step_rows *rows);

/* Everything about one plan under the current scope: degrees, memory of the fullest stage, time by
 * component, rates by the convention of the estimate, health, gradient buckets. */
void sp_put_step(struct sp_report *report, const struct sp_planned *planned,
                 const struct sp_estimate *estimate);

/* Each value on which the plan rests, with its option and its source, as the list "resolved"; with
 * --details also a table. */
void sp_put_resolved(struct sp_report *report, const struct sp_args *args,
                     const struct sp_planned *planned);

/* Days and cost of a number of tokens; null where they or the price are NAN. */
void sp_put_run(struct sp_report *report, const struct sp_planned *planned, double step_s,
                double tokens, double usd_per_h);

/* Maximum number of curve points, and of gradient buckets, in the report. */
enum { SP_MOST_CURVE_POINTS = 32, SP_MOST_LISTED_BUCKETS = 1000 };

/* Puts a change under the current scope, with anything else to type ("": nothing), its step time
 * and gain over the plan, whether that is a tie, and its memory compared with the limit of a device
 * (NAN: not asked). */
void sp_put_neighbour(struct sp_report *report, const struct sp_step_inputs *in,
                      const struct sp_neighbour *neighbour, const char *with,
                      const struct sp_estimate *plan, double most_bytes);

#endif
