/* step: one explicit plan: its memory by component and stage, its time by component. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/flops.h>

#include "cli/companions.h"
#include "cli/lines.h"
#include "cli/plan_fields.h"
#include "cli/price.h"
#include "cli/tuning.h"
#include "commands/neighbours.h"
#include "commands/plot_data.h"
#include "commands/step_launch.h"
#include "commands/step_rows.h"
#include "commands/utilisation.h"
#include "runs/gap.h"
#include "runs/measured_run.h"
#include "runs/run_estimate.h"
#include "study/course.h"

/* clang-format off */
static const struct sp_taken options[] = {
    SP_TAKE(from),
    SP_TAKE(set_var),
    SP_OPTIONS_PLANNED,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_OPTION_CONVENTION,
    SP_TAKE(measured),
    SP_OPTION_RUN_TOKENS,
    SP_OPTIONS_PRICE,
    SP_TAKE(matmuls),
    SP_TAKE(curve),
    SP_TAKE(buckets),
    SP_TAKE(check),
    SP_OPTION_PLOT,
};
/* clang-format on */

#define SP_ROWS "commands/step.def"
#define SP_ROWS_OF struct sp_step_rows
#define SP_PUT_ROWS put_lines
#include "answer/put_rows.h"

/* A stage. */
struct stage_rows {
    double layers;
    const struct sp_framework *f;
    const struct sp_stage_memory *m;
    const struct sp_stage_time *t;
};

#define SP_ROWS "commands/step_stage.def"
#define SP_ROWS_OF struct stage_rows
#define SP_PUT_ROWS put_stage
#include "answer/put_rows.h"

static void *room_for(size_t n, size_t size)
{
    void *const room = calloc(n + 1, size);
    if (!room)
        abort();
    return room;
}

static void put_stages(struct sp_report *r, const struct sp_step_rows *of)
{
    static const struct sp_column columns[] = {
        {NULL, "stage", true},
        {"layers", "layers", false},
        {"params_bytes", "weights", false},
        {"grads_bytes", "gradients", false},
        {"optimizer_bytes", "optimizer", false},
        {"activations_bytes", "activations", false},
        {"device_bytes", "device", false},
        {"forward_s", "forward", false},
        {"backward_s", "backward", false},
    };
    const struct sp_estimate *const e = of->e;
    const size_t stages = (size_t)e->map.stages;
    struct sp_row *const rows = room_for(stages, sizeof *rows);
    for (size_t i = 0; i < stages; i++) {
        const struct sp_layer_counts layers = e->map.kind[e->map.of[i]].layers;
        struct stage_rows s = {.f = of->f, .m = &e->stage[i], .t = &e->kind[e->map.of[i]]};
        for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
            s.layers += (double)layers.of[kind];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "stages.%zu", i);
        snprintf(rows[i].label, sizeof rows[i].label, "%zu", i);
        sp_scope(r, rows[i].prefix);
        put_stage(r, &s);
    }
    sp_scope(r, "");
    if (stages > 1) {
        sp_line(r, " ");
        sp_table(r, columns, sizeof columns / sizeof *columns, rows, stages);
    }
    free(rows);
}

/* What would be better: neighbours that fit and are faster (or fit at all). */
static void put_better(struct sp_report *r, const struct sp_planned *planned,
                       const struct sp_estimate *e)
{
    enum { SHOWN = 5 };
    static const struct sp_column columns[] = {{"change", "better", true},
                                               {"gain_pct", "gain %", false},
                                               {"tie", "tie", true},
                                               {"step_s", "step", false},
                                               {"device_bytes", "memory", false}};
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_row rows[SHOWN] = {0};
    const struct sp_step_inputs in = sp_inputs_of(planned);
    const struct sp_repertoire runs = sp_repertoire_of(planned, false);
    const size_t all = sp_find_neighbours(&in, &runs, near);
    size_t found = 0;
    for (size_t i = 0; i < all; i++) {
        if (!near[i].fits || (e->fits && near[i].step_s >= e->time.step))
            continue;
        if (found < SHOWN) {
            snprintf(rows[found].prefix, sizeof rows[found].prefix, "better.%zu", found);
            sp_scope(r, rows[found].prefix);
            sp_put_neighbour(r, &in, &near[i], e, NAN);
        }
        found++;
    }
    sp_scope(r, "");
    sp_put(r, SP_Q_STEP_LAUNCH_BETTER, (double)found);
    sp_line(r, " ");
    if (found > 0)
        sp_table(r, columns, sizeof columns / sizeof *columns, rows, found < SHOWN ? found : SHOWN);
    else
        sp_line(r, "better     no plan one change away fits and is faster");
    sp_line(r, "`scaleplan search` looks at all plans, `search --near` at all neighbours");
}

/* Changes that make a plan fit, the fastest first. */
static void put_fixes(struct sp_report *r, const struct sp_planned *planned)
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

static const char *const mark_names[SP_MEMORY_MARKS] = {
    [SP_AT_START] = "start",
    [SP_AT_ACTIVATIONS] = "most activations",
    [SP_AT_BACKWARD] = "backward pass over",
    [SP_AT_UPDATE] = "optimizer",
    [SP_AT_END] = "end",
};

static void put_marks(struct sp_report *r, const struct sp_course *course)
{
    static const struct sp_column columns[] = {{"moment", "over a step", true},
                                               {"at_s", "after", false},
                                               {"activations_bytes", "activations", false},
                                               {"gradients_bytes", "gradients", false},
                                               {"first_bytes", "first step", false},
                                               {"later_bytes", "later steps", false}};
    struct sp_row rows[SP_MEMORY_MARKS] = {0};
    for (int i = 0; i < SP_MEMORY_MARKS; i++) {
        const struct sp_memory_moment *const m = &course->marks[i];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "moments.%d", i);
        sp_scope(r, rows[i].prefix);
        sp_put_text(r, SP_Q_STEP_O_MOMENT, "%s", mark_names[i]);
        sp_put(r, SP_Q_STEP_O_AT, m->s);
        sp_put(r, SP_Q_STEP_O_ACT, m->activations);
        sp_put(r, SP_Q_STEP_O_GRADS, m->gradients);
        sp_put(r, SP_Q_STEP_O_FIRST, m->first);
        sp_put(r, SP_Q_STEP_O_LATER, m->later);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, SP_MEMORY_MARKS);
}

/* Peaks and named moments, and their lines. */
static void put_course(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e)
{
    struct sp_course course;
    sp_course_of(p, e, &course);
    if (course.n > 0) {
        const struct sp_memory_moment first = sp_fullest_moment(course.moments, course.n, true);
        const struct sp_memory_moment later = sp_fullest_moment(course.moments, course.n, false);
        sp_put(r, SP_Q_STEP_O_FIRST_PEAK, first.first);
        sp_put(r, SP_Q_STEP_O_FIRST_AT, first.s);
        sp_put(r, SP_Q_STEP_O_LATER_PEAK, later.later);
        sp_put(r, SP_Q_STEP_O_LATER_AT, later.s);
        put_marks(r, &course);
        sp_line(r, "first step at most {over_step.first_peak_bytes} after {over_step.first_peak_s}"
                   ", later ones {over_step.later_peak_bytes} after {over_step.later_peak_s}: "
                   "live, on the fullest stage ({memory.stage})");
    }
    free(course.moments);
}

/* Weak scaling of the plan up to its machine. */
static void put_curve(struct sp_report *r, const struct sp_planned *planned)
{
    static const struct sp_column columns[] = {
        {"devices", "devices", false},
        {"step_s", "step", false},
        {"efficiency", "efficiency", false},
        {"all_reduce_bytes_per_s", "all-reduce of 256 MB", false},
    };
    struct sp_scaled_step points[SP_MOST_CURVE_POINTS];
    struct sp_row rows[SP_MOST_CURVE_POINTS] = {0};
    const struct sp_step_inputs in = sp_inputs_of(planned);
    const int n = sp_scale_step(&in, points, SP_MOST_CURVE_POINTS);
    for (int i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "curve.%d", i);
        sp_scope(r, rows[i].prefix);
        sp_put(r, SP_Q_STEP_CURVE_DEVICES, (double)points[i].chips);
        sp_put(r, SP_Q_STEP_CURVE_STEP, points[i].step_s);
        sp_put(r, SP_Q_STEP_CURVE_EFFICIENCY, points[i].efficiency);
        sp_put(r, SP_Q_STEP_CURVE_RATE, points[i].all_reduce_bytes_per_s);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)n);
}

/* Each gradient bucket in time. */
static void put_bucket_spans(struct sp_report *r, const struct sp_buckets *b)
{
    enum { SHOWN_BUCKETS = 16 };
    static const struct sp_column columns[] = {
        {NULL, "bucket", true}, {"start_s", "sent", false}, {"end_s", "reduced", false}};
    struct sp_row rows[SHOWN_BUCKETS] = {0};
    if (!b->exist) {
        sp_note(r, "no gradient buckets: one replica, or ZeRO 3, which reduces a layer at a time");
        return;
    }
    const size_t n = b->count < SP_MOST_LISTED_BUCKETS ? (size_t)b->count : SP_MOST_LISTED_BUCKETS;
    for (size_t k = 0; k < n; k++) {
        const struct sp_bucket_span span = sp_bucket_span(b, (double)k);
        char prefix[64];
        snprintf(prefix, sizeof prefix, "sends.%zu", k);
        if (k < SHOWN_BUCKETS) {
            snprintf(rows[k].prefix, sizeof rows[k].prefix, "%s", prefix);
            snprintf(rows[k].label, sizeof rows[k].label, "%zu", k);
        }
        sp_scope(r, prefix);
        sp_put(r, SP_Q_STEP_B_START, span.start_s);
        sp_put(r, SP_Q_STEP_B_END, span.end_s);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows,
             n < SHOWN_BUCKETS ? n : SHOWN_BUCKETS);
    if ((double)n < b->count)
        sp_note(r, "the first %zu of %.0f buckets are listed", n, b->count);
}

#define SP_ROWS "commands/step_matmul.def"
#define SP_ROWS_OF struct sp_local_matmul
#define SP_PUT_ROWS put_matmul
#include "answer/put_rows.h"

/* What a device multiplies in a layer. */
static void put_local_matmuls(struct sp_report *r, const struct sp_planned *planned)
{
    static const struct sp_column columns[] = {{"name", "a layer's matmul", true},
                                               {"layers", "layers", false},
                                               {"count", "count", false},
                                               {"rows!", "rows", false},
                                               {"in!", "in", false},
                                               {"out!", "out", false},
                                               {"flops", "FLOPs", false},
                                               {"bytes", "bytes", false},
                                               {"intensity", "FLOPs/byte", false},
                                               {"bound", "bound by", true},
                                               {"lower_s", "at least", false}};
    const struct sp_step_inputs in = sp_inputs_of(planned);
    struct sp_local_matmul *const list = room_for(SP_MOST_LOCAL_MATMULS, sizeof *list);
    struct sp_row *const rows = room_for(SP_MOST_LOCAL_MATMULS, sizeof *rows);
    const int n = sp_matmuls_of_plan(&in, list);
    for (int i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "matmuls.%d", i);
        sp_scope(r, rows[i].prefix);
        put_matmul(r, &list[i]);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)n);
    free(rows);
    free(list);
}

/* A measured run beside its estimate. */
struct measured_rows {
    const struct sp_measured_run *run;
    const struct sp_estimate *e;
    const struct sp_profile *profile;
    struct sp_gap gap;
    enum sp_memory_level level; /* that the measured peak is nearest to */
    double level_bytes;
    bool has_memory, has_step, is_explained;
};

#define SP_ROWS "commands/step_measured.def"
#define SP_ROWS_OF struct measured_rows
#define SP_PUT_ROWS put_measured
#include "answer/put_rows.h"

/* A component of the time beside the gap. */
struct part_rows {
    double part_s, gap_s, step_s;
};

#define SP_ROWS "commands/step_part.def"
#define SP_ROWS_OF struct part_rows
#define SP_PUT_ROWS put_part
#include "answer/put_rows.h"

static void put_gap_by_component(struct sp_report *r, const struct measured_rows *s)
{
    static const struct sp_column columns[] = {{NULL, "component", true},
                                               {"estimated_s", "estimated", false},
                                               {"gap_s", "of the gap", false}};
    struct sp_row rows[SP_TIME_PARTS] = {0};
    size_t n = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        const struct part_rows part = {sp_time_part(&s->e->time, i), s->gap.gap_s, s->e->time.step};
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "measured.components.%s",
                 sp_time_parts[i].name);
        snprintf(rows[n].label, sizeof rows[n].label, "%s", sp_time_parts[i].name);
        sp_scope(r, rows[n].prefix);
        put_part(r, &part);
        n += part.part_s > 0;
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, n);
}

/* The gap between a real run and its estimate: over the components, as MFU, and the constant of the
 * profile that would explain it. */
static void reconcile(struct sp_report *r, const struct sp_planned *planned,
                      const struct sp_estimate *e, const struct sp_measured_run *run)
{
    const struct sp_step_inputs in = sp_inputs_of(planned);
    struct measured_rows s = {.run = run,
                              .e = e,
                              .profile = &planned->profile,
                              .has_memory = run->memory_bytes > 0,
                              .has_step = run->step_s > 0};
    s.level = sp_nearest_level(&e->memory, run->memory_bytes);
    s.level_bytes = sp_bytes_at_level(&e->memory, s.level);
    if (s.has_step)
        s.gap = sp_gap_of(&in, e, run->step_s);
    s.is_explained = s.has_step && s.gap.constant != SP_CONSTANTS;
    sp_line(r, " ");
    put_measured(r, &s);
    if (!s.has_step)
        return;
    sp_note_utilisation(r, "the measured MFU", s.gap.mfu * e->rates.tuned_mfu / e->rates.mfu,
                        e->rates.convention);
    put_gap_by_component(r, &s);
}

/* The price of --price, which is of no use without --tokens. */
static bool read_price(const struct sp_args *args, const struct sp_planned *planned,
                       struct sp_price *price, struct sp_error *error)
{
    const struct sp_hardware *const hw = &planned->hw;
    const char *const spec = args->value.hw;
    if (args->given.price && !args->given.tokens)
        return sp_fail(error, SP_USAGE, "--price is of a run: --tokens is needed");
    return sp_price_of(args, hw, spec, price, error) && sp_check_price(args, &hw, &spec, 1, error);
}

/* The parts of the answer behind its main rows. */
static void put_rest(struct sp_report *r, const struct sp_args *args, const struct sp_step_rows *s,
                     bool is_launch)
{
    const enum sp_flop_convention convention = s->rates->convention;
    sp_note_utilisation(r, "the MFU", s->rates->tuned_mfu, convention);
    sp_note_utilisation(r, "the HFU", s->rates->hfu, convention);
    put_stages(r, s);
    if (args->given.matmuls)
        put_local_matmuls(r, s->p);
    if (args->given.curve)
        put_curve(r, s->p);
    if (args->given.buckets)
        put_bucket_spans(r, s->b);
    put_course(r, s->p, s->e);
    if (!s->e->fits)
        put_fixes(r, s->p);
    if (is_launch)
        put_better(r, s->p, s->e);
}

static void put_cost(struct sp_report *r, const struct sp_step_rows *s,
                     const struct sp_price *price, double tokens)
{
    char words[160];
    if (!(tokens > 0))
        return;
    sp_price_text(price, words, sizeof words);
    sp_put_run(r, s->p, s->t->step, tokens, price->usd_per_h);
    sp_line(r,
            "run        {days} days, {cost_usd}, without failures (`train` counts them); a "
            "device-hour: %s",
            words);
}

static void put_notes(struct sp_report *r, const struct sp_planned *planned)
{
    sp_note_batch(r, planned);
    if (sp_plan_value(&planned->plan, &sp_plan_fields[SP_FIELD_REMAT]) == SP_REMAT_SELECTIVE)
        sp_note(r, "with fused attention, selective recomputation saves almost nothing");
    sp_note(r, "an estimate from calibrated efficiencies; `fit` and `batch` have the closed "
               "forms, and docs/accuracy.md says how right estimates are");
}

static bool run(const struct sp_args *typed, struct sp_report *report, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_launch launch = {0};
    struct sp_args args = {0};
    struct sp_measured_run measured;
    struct sp_price price = {0};
    struct sp_estimate e;
    struct sp_step_rows rows;
    if (!sp_take_launch(typed, &launch, &args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&args);
    if (!sp_read_measured(args.value.measured, &measured, error) ||
        !sp_plan_of(&args, &sources, &planned, error) ||
        !read_price(&args, &planned, &price, error))
        return false;
    sp_estimate_planned(&planned, (enum sp_flop_convention)args.value.convention, &e);
    if ((double)e.memory.live >= SP_MOST_BYTES)
        return sp_fail(error, SP_INPUT, "the plan needs more than %.0e bytes a device",
                       SP_MOST_BYTES);
    sp_read_step(&planned, &e, &rows);
    sp_put_step_rows(report, &rows);
    if (launch.format)
        sp_put_launch(report, &launch);
    put_lines(report, &rows);
    sp_put_tuning(report, &planned.model);
    sp_put_companions(report, &args, &planned.companions, &planned.plan, &e);
    put_cost(report, &rows, &price, args.value.tokens);
    put_rest(report, &args, &rows, launch.format != NULL);
    sp_step_of_measured(&e, &measured);
    if (measured.step_s > 0 || measured.memory_bytes > 0)
        reconcile(report, &planned, &e, &measured);
    put_notes(report, &planned);
    return true;
}

static const struct sp_example examples[] = {
    {"scaleplan step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192",
     "memory and time of one plan"},
    {"scaleplan step --model llama3-8b --hw h100-8 --zero 3 --batch 16x8192 --micro-batch 2 "
     "--get step_s,mfu,memory.device_bytes",
     "bare numbers for a script"},
    {"scaleplan step --model llama3-70b --hw h100-64 --tp 8 --pp 2 --batch 128x8192 --measured "
     "step=15.2s,memory=71GiB",
     "reconcile a real run"},
    {"scaleplan step --from pretrain.sh --hw h100-64", "audit a launch: fit, step, what is better"},
    {"scaleplan step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 "
     "--plot step.svg",
     "the step's components and each stage's memory, drawn"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_step = {
    .name = "step",
    .summary = "one explicit plan: memory and estimated step time, by component",
    .about = "Estimates what a plan needs on each device and how long its step takes, from "
             "operators, collectives and the pipeline's schedule with the calibrated efficiencies "
             "of a chip and a framework. What does not fit is estimated too, with the changes that "
             "would make it fit. Degrees must multiply to the devices; what is left out is "
             "inferred and said. `scaleplan step - [OPTION...]` reads plans as JSON lines, such as "
             "{\"tp\": 8, \"pp\": 2}, and answers each with a line of JSON.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "memory.fits",
    .compute_bound_key = "health.healthy",
    .bound_word = "healthy",
    .bare_check = "fits",
    .run = run,
    .plot = sp_plot_step,
    .streams = sp_reads_lines,
    .stream = sp_answer_lines,
};
