/* step: what would make a plan fit, and a real run against its estimate. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "commands/neighbours.h"
#include "commands/step_report.h"
#include "commands/utilisation.h"
#include "runs/gap.h"
#include "runs/run_estimate.h"

/* What --measured takes, under the name that it has there and in the report. */
static const struct {
    const char *name;
    size_t offset;
    bool speed;
} measurements[] = {
    {"step", offsetof(struct sp_measured_run, step_s), true},
    {"mem", offsetof(struct sp_measured_run, memory_bytes), false},
    {"tokens_per_s", offsetof(struct sp_measured_run, tokens_per_s), true},
    {"tokens_per_s_per_device", offsetof(struct sp_measured_run, tokens_per_s_per_device), true},
    {"mfu", offsetof(struct sp_measured_run, mfu), true},
    {"tflops", offsetof(struct sp_measured_run, tflops_per_device), true},
};

bool sp_read_measured(const char *text, struct sp_measured_run *m, struct sp_error *error)
{
    enum { N = sizeof measurements / sizeof *measurements };
    *m = (struct sp_measured_run){NAN, NAN, NAN, NAN, NAN, NAN};
    char part[256];
    int speeds = 0;
    while (text && sp_next_item(&text, part, sizeof part)) {
        char *const value = sp_cut_pair(part);
        size_t i = 0;
        while (i < N && strcmp(measurements[i].name, part) != 0)
            i++;
        double *const into = i < N ? (double *)(void *)((char *)m + measurements[i].offset) : NULL;
        if (!into || !value || !sp_parse_number(value, into) || !(*into > 0 && *into < 1e18))
            return sp_fail(error, SP_INPUT,
                           "--measured: \"%s%s%s\" is not step=SECONDS, tokens_per_s=, "
                           "tokens_per_s_per_device=, mfu=, tflops= or mem=BYTES, such as "
                           "step=12.3s,mem=71GiB",
                           sp_safe(part), value ? "=" : "", value ? sp_safe(value) : "");
        speeds += measurements[i].speed;
    }
    return speeds <= 1 || sp_fail(error, SP_INPUT,
                                  "--measured: more than one speed; say step, tokens_per_s, "
                                  "tokens_per_s_per_device, mfu or tflops");
}

void sp_step_of_measured(const struct sp_estimate *e, struct sp_measured_run *m)
{
    const double given[] = {m->tokens_per_s, m->tokens_per_s_per_device, m->mfu,
                            m->tflops_per_device};
    const double estimated[] = {e->rates.tokens_per_s, e->rates.tokens_per_s_per_device,
                                e->rates.mfu, e->rates.flops_per_s_per_device / 1e12};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i] > 0)
            m->step_s = e->time.step * estimated[i] / given[i];
}

void sp_put_budget(struct sp_report *r, const struct sp_planned *p, const struct sp_price *price,
                   double step_s, double tokens)
{
    const double steps = tokens / ((double)p->plan.batch * (double)p->plan.seq);
    const double cost = (double)sp_chips(&p->hw) * step_s / 3600 * price->usd_per_h;
    sp_symbol(r, "tokens", tokens, "tokens", "of the run (--tokens)");
    sp_symbol(r, "price", price->usd_per_h, "USD", "of a device-hour (--price)");
    sp_put(r, SP_Q_STEP_COST, cost);
    sp_put(r, SP_Q_STEP_DAYS, steps * step_s / 86400);
    sp_put(r, SP_Q_STEP_RUN_COST, steps * cost);
}

void sp_put_fixes(struct sp_report *r, const struct sp_planned *planned)
{
    static const struct sp_column columns[] = {
        {"change", "to fit", true}, {"step_s", "step", false}, {"device_bytes", "device", false}};
    struct sp_neighbour fix[SP_MAX_FIXES];
    struct sp_row rows[SP_MAX_FIXES] = {0};
    const struct sp_step_inputs in = sp_inputs_of(planned);
    const struct sp_repertoire runs = sp_repertoire_of(planned, false);
    const size_t n = sp_find_fixes(&in, &runs, fix);
    for (size_t i = 0; i < n; i++) {
        char change[64];
        sp_change_text(&fix[i], "--", change, sizeof change);
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "fixes.%zu", i);
        sp_scope(r, rows[i].prefix);
        sp_put_text(r, SP_Q_STEP_FIX, "%s", change);
        sp_put(r, SP_Q_STEP_FIX_STEP, fix[i].step_s);
        sp_put(r, SP_Q_STEP_FIX_DEVICE, fix[i].device_bytes);
    }
    sp_scope(r, "");
    if (n == 0) {
        sp_note(r,
                "no single change of recomputation, ZeRO stage, micro-batch, tp, pp or cp that "
                "%s runs makes it fit",
                planned->framework.framework.name);
        return;
    }
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, n);
}

static void explain_gap(struct sp_report *r, const struct sp_planned *planned,
                        const struct sp_gap *gap)
{
    if (gap->constant == SP_CONSTANTS) {
        sp_put_null(r, SP_Q_STEP_R_CONSTANT);
        sp_line(r,
                "           no single constant of the profile explains the gap within its bounds: "
                "look for something the plan does not say");
        return;
    }
    sp_put_text(r, SP_Q_STEP_R_CONSTANT, "%s", sp_constants[gap->constant].key);
    sp_put(r, SP_Q_STEP_R_VALUE, gap->value);
    sp_put(r, SP_Q_STEP_R_STRAIN, gap->strain);
    sp_line(r,
            "           {measured.constant} at {measured.constant_value} in place of %.3g would "
            "explain it, {measured.constant_strain} times the spread between stacks (%s)",
            planned->profile.value[gap->constant], sp_constants[gap->constant].meaning);
}

static void put_gap_by_component(struct sp_report *r, const struct sp_estimate *e,
                                 const struct sp_gap *gap)
{
    struct sp_row rows[SP_TIME_PARTS] = {0};
    static const struct sp_column columns[] = {{NULL, "component", true},
                                               {"estimated_s", "estimated", false},
                                               {"gap_s", "of the gap", false}};
    size_t n = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        const double part = sp_time_part(&e->time, i);
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "measured.components.%s",
                 sp_time_parts[i].name);
        snprintf(rows[n].label, sizeof rows[n].label, "%s", sp_time_parts[i].name);
        sp_scope(r, rows[n].prefix);
        sp_put(r, SP_Q_STEP_R_PART, part);
        sp_put(r, SP_Q_STEP_R_SHARE, sp_gap_share_s(gap, e, part));
        n += part > 0;
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, n);
}

/* The peak belongs to the level that it is nearest to. */
static void reconcile_memory(struct sp_report *r, const struct sp_stage_memory *m, double measured)
{
    enum sp_memory_level nearest = SP_LIVE;
    for (enum sp_memory_level i = SP_RESERVED; i <= SP_DEVICE; i++)
        if (fabs(sp_bytes_at_level(m, i) - measured) <
            fabs(sp_bytes_at_level(m, nearest) - measured))
            nearest = i;
    sp_put(r, SP_Q_STEP_R_MEMORY, measured);
    sp_put_text(r, SP_Q_STEP_R_LEVEL, "%s", sp_memory_level_names[nearest]);
    sp_put(r, SP_Q_STEP_R_MEMORY_GAP, measured - sp_bytes_at_level(m, nearest));
    sp_line(r, "measured   {measured.memory_bytes}, {measured.memory_gap_bytes} from the estimated "
               "{measured.memory_level} bytes");
}

void sp_reconcile(struct sp_report *r, const struct sp_planned *planned,
                  const struct sp_estimate *e, const struct sp_measured_run *measured)
{
    sp_line(r, " ");
    if (measured->memory_bytes > 0)
        reconcile_memory(r, &e->memory, measured->memory_bytes);
    if (!(measured->step_s > 0))
        return;
    const struct sp_step_inputs in = sp_inputs_of(planned);
    const struct sp_gap gap = sp_gap_of(&in, e, measured->step_s);
    sp_put(r, SP_Q_STEP_R_STEP, measured->step_s);
    sp_put(r, SP_Q_STEP_R_GAP, gap.gap_s);
    sp_put_bool(r, SP_Q_STEP_R_INSIDE, gap.in_range);
    sp_put(r, SP_Q_STEP_R_MFU, gap.mfu);
    sp_line(r,
            "measured   {measured.step_s}, {measured.gap_s} from the estimate, MFU "
            "{measured.mfu}: %s",
            gap.in_range    ? "ordinary for this class of run, inside the 80 % range"
            : gap.gap_s > 0 ? "slow for this class of run"
                            : "fast for this class of run; check that the plan is the run's");
    sp_note_utilisation(r, "the measured MFU", gap.mfu * e->rates.tuned_mfu / e->rates.mfu,
                        e->rates.convention);
    explain_gap(r, planned, &gap);
    put_gap_by_component(r, e, &gap);
}
