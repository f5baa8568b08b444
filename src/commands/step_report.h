/* Parts of `step`'s report. */
#ifndef SP_STEP_REPORT_H
#define SP_STEP_REPORT_H

#include <scaleplan/estimate.h>

#include "cli/plan_options.h"
#include "cli/price.h"

struct sp_time_part {
    enum sp_quantity_id id;
    const char *name;
    size_t offset;
};
enum { SP_TIME_PARTS = 14 };
extern const struct sp_time_part sp_time_parts[SP_TIME_PARTS];

/* The i-th component of a step. s. */
double sp_time_part(const struct sp_step_time *time, size_t i);

/* All that the models say of the plan, its schedule played. */
void sp_estimate_planned(const struct sp_planned *planned, enum sp_flop_convention convention,
                         struct sp_estimate *estimate);

/* Everything about one plan under the current scope: degrees, memory of the fullest stage, time by
 * component, rates by the convention of the estimate, health, gradient buckets. */
void sp_put_step(struct sp_report *report, const struct sp_planned *planned,
                 const struct sp_estimate *estimate);

/* What a device multiplies in a layer. */
void sp_put_local_matmuls(struct sp_report *report, const struct sp_planned *planned);

/* Each gradient bucket in time, and the picture of the last backward pass. */
void sp_put_bucket_spans(struct sp_report *report, const struct sp_buckets *buckets);
struct sp_figure *sp_plot_buckets(const struct sp_report *report, struct sp_error *error);

/* Weak scaling of the plan up to its machine, and its picture. */
void sp_put_curve(struct sp_report *report, const struct sp_planned *planned);
struct sp_figure *sp_plot_curve(const struct sp_report *report);

/* A real run: NAN where it was not measured. Its speed is said as one of a step time, a rate, an
 * MFU or FLOP/s; sp_step_of_measured makes a step time of each. */
struct sp_measured_run {
    double step_s, memory_bytes;
    double tokens_per_s, tokens_per_s_per_device, mfu, tflops_per_device;
};

/* Parses "step=12.3s,mem=71GiB" or "tokens_per_s=4.1e5", "tokens_per_s_per_device=402", "mfu=41%",
 * "tflops=402" (a device); NULL: nothing measured. */
bool sp_read_measured(const char *text, struct sp_measured_run *measured, struct sp_error *error);

/* Fills the step time of a run that told another speed: the estimate's rates are inverse to its
 * step. MFU and TFLOP/s by the estimate's convention. */
void sp_step_of_measured(const struct sp_estimate *estimate, struct sp_measured_run *measured);

/* Days and cost of a token budget at a step time: steps x step, devices x time x price. NAN tokens
 * or price: null. */
void sp_put_budget(struct sp_report *report, const struct sp_planned *planned,
                   const struct sp_price *price, double step_s, double tokens);

/* Changes that make a plan fit, the fastest first. */
void sp_put_fixes(struct sp_report *report, const struct sp_planned *planned);

/* The gap between a real run and its estimate: over the components, as MFU, and the profile
 * constant that would explain it. */
void sp_reconcile(struct sp_report *report, const struct sp_planned *planned,
                  const struct sp_estimate *estimate, const struct sp_measured_run *measured);

#endif
