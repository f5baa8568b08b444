/* step: one explicit plan: its memory by component and stage, its time by component. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/flops.h>

#include "base/memory.h"
#include "pictures/page.h"
#include "answer/utilisation.h"
#include "cli/against.h"
#include "cli/better.h"
#include "cli/companions.h"
#include "cli/expected.h"
#include "cli/launched.h"
#include "cli/lines.h"
#include "cli/plan_rows.h"
#include "cli/price.h"
#include "cli/tuning.h"
#include "pictures/step.h"
#include "runs/gap.h"
#include "runs/measured_run.h"
#include "runs/run_estimate.h"
#include "study/placement.h"
#include "study/course.h"

/* clang-format off */
static const struct sp_taken options[] = {
    SP_OPTIONS_FROM,
    SP_OPTIONS_PLANNED,
    SP_TAKE(documents),
    SP_TAKE(pack, .needs = SP_THESE(SP_O_documents)),
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_OPTION_CONVENTION,
    SP_TAKE(measured),
    SP_TAKE(against),
    SP_OPTION_RUN_TOKENS,
    SP_TAKE(price, .needs = SP_THESE(SP_O_tokens), .excludes = SP_THESE(SP_O_capex)),
    SP_OPTIONS_CAPEX,
    SP_TAKE(matmuls),
    SP_TAKE(curve),
    SP_TAKE(buckets),
    SP_TAKE(where, .needs = SP_THESE(SP_O_plot)),
    SP_TAKE(check),
    SP_TAKE(report),
    SP_OPTION_PLOT,
};
/* clang-format on */

#define SP_PART step
#define SP_PART_OF struct sp_step_rows
#include "answer/put_rows.h"

/* The values shown after the plan's own rows. */
struct step {
    const struct sp_options_given *given;
    const struct sp_step_rows *rows;
    const struct sp_planned *p;
    const struct sp_estimate *e;
    char price_text[160];
    double tokens;
    struct sp_measured_run measured;
    const char *mfu_above_peak, *hfu_above_peak, *full_above_peak;
    const struct sp_args *args;
    bool is_launch, wants_better; /* a line only of the short text */
};

/* A stage. */
struct stage_rows {
    double layers;
    char which[96], ranks[32];
    const struct sp_framework *f;
    const struct sp_stage_memory *m;
    const struct sp_stage_time *t;
};

#define SP_PART step_stage
#define SP_PART_OF struct stage_rows
#include "answer/put_rows.h"

static void put_stages(struct sp_report *r, const struct step *of)
{
    const struct sp_estimate *const e = of->e;
    for (int64_t i = 0; i < e->map.stages; i++) {
        const struct sp_layer_counts layers = e->map.kind[e->map.of[i]].layers;
        struct stage_rows s = {.f = of->rows->f, .m = &e->stage[i], .t = &e->kind[e->map.of[i]]};
        for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
            s.layers += (double)layers.of[kind];
        sp_name_stage_layers(&e->map, &of->p->plan, i, s.which, sizeof s.which);
        sp_name_stage_ranks(&e->map, (double)sp_chips(&of->p->hw), i, s.ranks, sizeof s.ranks);
        sp_begin_row(r, NULL, "stages.%lld", (long long)i);
        put_step_stage_rows(r, &s);
    }
    if (e->map.stages > 1)
        sp_list_table(r, "stages",
                      ": stage, layers, which, ranks, params_bytes, grads_bytes, optimizer_bytes, "
                      "activations_bytes, device_bytes, forward_s, backward_s");
    sp_scope(r, "");
}

static void put_better(struct sp_report *r, const struct step *s)
{
    sp_put_better(r, s->args, s->p, s->e);
}

static void say_better(struct sp_report *r, const struct step *s)
{
    sp_say_better(r, s->args, s->p, s->e);
}

static void put_fixes(struct sp_report *r, const struct step *s)
{
    sp_put_fixes(r, s->args, s->p);
}

/* A moment of the memory over a step. */
struct moment_rows {
    const char *name;
    const struct sp_memory_moment *m;
};

#define SP_PART step_moment
#define SP_PART_OF struct moment_rows
#include "answer/put_rows.h"

/* Peaks and named moments. */
struct course_rows {
    struct sp_course course;
    struct sp_memory_moment first, later;
};

static void put_marks(struct sp_report *r, const struct course_rows *s)
{
    static const char *const names[SP_MEMORY_MARKS] = {
        [SP_AT_START] = "start",
        [SP_AT_ACTIVATIONS] = "most activations",
        [SP_AT_BACKWARD] = "backward pass over",
        [SP_AT_UPDATE] = "optimizer",
        [SP_AT_END] = "end",
    };
    for (int i = 0; i < SP_MEMORY_MARKS; i++) {
        sp_begin_row(r, NULL, "moments.%d", i);
        put_step_moment_rows(r, &(struct moment_rows){names[i], &s->course.marks[i]});
    }
    sp_list_table(r, "moments",
                  "moment: over a step, at_s, activations_bytes, gradients_bytes, first_bytes, "
                  "later_bytes");
}

#define SP_PART step_course
#define SP_PART_OF struct course_rows
#include "answer/put_rows.h"

static void put_course(struct sp_report *r, const struct step *s)
{
    struct course_rows rows;
    struct sp_course *const c = &rows.course;
    sp_course_of(s->p, s->e, c);
    if (c->n > 0) {
        rows.first = sp_fullest_moment(c->moments, c->n, true);
        rows.later = sp_fullest_moment(c->moments, c->n, false);
        put_step_course_rows(r, &rows);
    }
    free(c->moments);
}

#define SP_PART step_curve
#define SP_PART_OF struct sp_scaled_step
#include "answer/put_rows.h"

/* Weak scaling of the plan up to its machine. */
static void put_curve(struct sp_report *r, const struct step *s)
{
    struct sp_scaled_step points[SP_MOST_CURVE_POINTS];
    const struct sp_step_inputs in = sp_inputs_of(s->p);
    const int n = sp_scale_step(&in, points, SP_MOST_CURVE_POINTS);
    for (int i = 0; i < n; i++) {
        sp_begin_row(r, NULL, "curve.%d", i);
        put_step_curve_rows(r, &points[i]);
    }
    sp_list_table(r, "curve",
                  "devices, step_s, efficiency, all_reduce_bytes_per_s, device_bytes, verdict");
}

/* Each gradient bucket in time; the table has the first of them. */
static void put_bucket_spans(struct sp_report *r, const struct step *s)
{
    enum { IN_TABLE = 16 };
    const struct sp_buckets *const b = s->rows->b;
    if (!b->exist) {
        sp_note(r, "no gradient buckets: one replica, or ZeRO 3, which reduces layer by layer");
        return;
    }
    const size_t n = b->count < SP_MOST_LISTED_BUCKETS ? (size_t)b->count : SP_MOST_LISTED_BUCKETS;
    for (size_t k = 0; k < n; k++) {
        const struct sp_bucket_span span = sp_bucket_span(b, (double)k);
        sp_begin_row(r, NULL, "sends.%zu", k);
        if (k >= IN_TABLE)
            sp_drop_row(r);
        sp_put(r, SP_Q_STEP_B_START, span.start_s);
        sp_put(r, SP_Q_STEP_B_END, span.end_s);
    }
    sp_list_table(r, "sends", ": bucket, start_s, end_s");
    if ((double)n < b->count)
        sp_note(r, "first %zu of %.0f buckets", n, b->count);
}

#define SP_PART step_matmul
#define SP_PART_OF struct sp_local_matmul
#include "answer/put_rows.h"

/* The matmuls of a device in a layer. */
static void put_local_matmuls(struct sp_report *r, const struct step *s)
{
    const struct sp_step_inputs in = sp_inputs_of(s->p);
    struct sp_local_matmul *const list = sp_must(calloc(SP_MOST_LOCAL_MATMULS, sizeof *list));
    const int n = sp_matmuls_of_plan(&in, list);
    for (int i = 0; i < n; i++) {
        sp_begin_row(r, NULL, "matmuls.%d", i);
        put_step_matmul_rows(r, &list[i]);
    }
    sp_list_table(r, "matmuls",
                  "name: a layer's matmul, layers, count, rows!, in!, out!, flops, bytes, "
                  "intensity, bound, lower_s");
    free(list);
}

/* A measured run alongside its estimate. */
struct measured_rows {
    const struct sp_measured_run *run;
    const struct sp_estimate *e;
    const struct sp_profile *profile;
    struct sp_gap gap;
    enum sp_memory_level level; /* the one nearest to the measured peak */
    double level_bytes;
    bool has_memory, has_step, is_explained;
};

#define SP_PART step_measured
#define SP_PART_OF struct measured_rows
#include "answer/put_rows.h"

/* A component of the time beside the gap. */
struct part_rows {
    double part_s, gap_s, step_s;
};

#define SP_PART step_part
#define SP_PART_OF struct part_rows
#include "answer/put_rows.h"

static void put_gap_by_component(struct sp_report *r, const struct measured_rows *s)
{
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        const struct part_rows part = {sp_time_part(&s->e->time, i), s->gap.gap_s, s->e->time.step};
        sp_begin_row(r, NULL, "measured.components.%s", sp_time_parts[i].name);
        put_step_part_rows(r, &part);
        if (!(part.part_s > 0))
            sp_drop_row(r);
    }
    sp_list_table(r, "measured.components", ": component, estimated_s, gap_s");
}

/* The gap between a real run and its estimate: over the components, as MFU, and the constant of the
 * profile that would explain it. */
static void reconcile(struct sp_report *r, const struct step *of)
{
    const struct sp_planned *const planned = of->p;
    const struct sp_estimate *const e = of->e;
    const struct sp_measured_run *const run = &of->measured;
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
    put_step_measured_rows(r, &s);
    if (!s.has_step)
        return;
    sp_note_utilisation(r, "the measured MFU", s.gap.mfu, e->rates.convention);
    sp_stand_in(r, SP_DETAILS);
    put_gap_by_component(r, &s);
}

static bool check_price(const struct sp_args *args, const struct sp_planned *planned,
                        struct sp_error *error)
{
    const struct sp_hardware *const hw = &planned->hw;
    return sp_check_price(args, &hw, &planned->problem.machine, 1, error);
}

static void note_plan(struct sp_report *r, const struct step *s)
{
    sp_note_batch(r, s->p);
    sp_note_refused(r, s->p);
}

static void put_all_resolved(struct sp_report *r, const struct step *s)
{
    sp_put_resolved(r, s->args, s->p);
}

static void put_run(struct sp_report *r, const struct step *s)
{
    sp_put_run(r, s->p, s->e->time.step, s->tokens, s->p->problem.price.usd_per_h);
}

#define SP_PART step_details
#define SP_PART_OF struct step
#include "answer/put_rows.h"

static bool write_page(const struct sp_args *args, const struct step *s, struct sp_report *report,
                       struct sp_error *error)
{
    static const enum sp_option_id not_passed_on[] = {SP_O_report, SP_O_get, SP_O_format,
                                                      SP_NO_OPTION};
    struct sp_words w = {0};
    char title[200], verdict[320];
    snprintf(title, sizeof title, "A step of %.60s on %.0f devices of %.60s", s->p->model.name,
             s->rows->devices, s->p->hw.name);
    snprintf(verdict, sizeof verdict, "%s: %s per step (80 %% range %s)",
             s->e->fits ? "The plan fits" : "The plan does not fit",
             sp_human_text(s->e->time.step, SP_SECONDS),
             sp_human_range(s->e->low_s, s->e->high_s, SP_SECONDS));
    sp_add_word(&w, "scaleplan");
    sp_add_word(&w, "step");
    sp_add_all(&w, args, not_passed_on);
    char *const command = sp_shell_line(&w);
    const struct sp_page page = {.title = title,
                                 .verdict = verdict,
                                 .yes = s->e->fits,
                                 .scope = "",
                                 .plan_title = "The plan",
                                 .price = s->price_text,
                                 .command = command,
                                 .facts = sp_plan_facts,
                                 .n_facts = sp_n_plan_facts,
                                 .has_time = true,
                                 .has_memory = true,
                                 .assumptions = sp_plan_assumptions,
                                 .n_assumptions = sp_n_plan_assumptions};
    const bool ok = sp_write_page(report, &page, args->value.report, error);
    sp_free_words(&w);
    free(command);
    return ok;
}

static bool takes_any(const struct sp_report *r, enum sp_quantity_id first,
                      enum sp_quantity_id last)
{
    while (first < last && !sp_takes(r, first))
        first++;
    return sp_takes(r, first);
}

/* The parts of the estimate that the rows show; a measured run is compared with the range and the
 * rates. */
static unsigned parts_for(const struct sp_report *r, bool is_measured)
{
    unsigned parts = is_measured ? SP_WITH_RANGE | SP_WITH_RATES : 0;
    if (sp_takes(r, SP_Q_STEP_T_PLAYED))
        parts |= SP_WITH_PLAYED;
    if (takes_any(r, SP_Q_STEP_T_LOW, SP_Q_STEP_T_HIGH))
        parts |= SP_WITH_RANGE;
    if (takes_any(r, SP_Q_STEP_T_IDEAL, SP_Q_STEP_MFU_FULL))
        parts |= SP_WITH_RATES;
    if (takes_any(r, SP_Q_STEP_B_COUNT, SP_Q_STEP_B_HIDDEN))
        parts |= SP_WITH_BUCKETS;
    if (sp_takes_scope(r, "stages"))
        parts |= SP_WITH_STAGES;
    return parts;
}

/* The degree that follows from the devices, and the other words of the plan's line. */
static void fill_words(struct sp_step_rows *rows)
{
    const struct sp_planned *const p = rows->p;
    const bool dp = p->origin[SP_FIELD_DP] == SP_ORIGIN_DEVICES;
    if (dp || p->origin[SP_FIELD_TP] == SP_ORIGIN_DEVICES)
        snprintf(rows->inferred, sizeof rows->inferred, "%s %lld", dp ? "dp" : "tp",
                 (long long)(dp ? p->plan.dp : p->plan.tp));
    sp_plan_rest(&p->plan, &p->model, rows->f, p->hw.slices, rows->rest, sizeof rows->rest);
    sp_chosen_words(p, rows->chosen);
    sp_say_losses(rows);
}

/* `launch` NULL: none was read. */
static bool answer(const struct sp_args *args, const struct sp_launch *launch,
                   struct sp_report *report, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_estimate e;
    struct sp_step_rows rows;
    struct step s = {.given = &args->given, .args = args, .rows = &rows, .p = &planned, .e = &e};
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_read_measured(args->value.measured, &s.measured, error) ||
        !sp_plan_of(args, &sources, &planned, error) || !check_price(args, &planned, error))
        return false;
    sp_estimate_planned(&planned, (enum sp_flop_convention)args->value.convention,
                        parts_for(report, args->value.measured), &e);
    if ((double)e.memory.live >= SP_MOST_BYTES)
        return sp_fail(error, SP_INPUT, "the plan needs more than %.0e bytes per device",
                       SP_MOST_BYTES);
    sp_read_step(&planned, &e, &rows);
    if (sp_takes_words(report))
        fill_words(&rows);
    sp_count_images(report, sp_takes_pictures(&planned.model));
    sp_put_step_rows(report, &rows);
    rows.is_measured = args->value.measured != NULL;
    rows.has_other = args->value.against != NULL;
    s.is_launch = launch != NULL;
    s.wants_better = e.fits && !launch && !rows.is_measured && !rows.has_other &&
                     sp_is_short_text(args) && sp_takes_words(report);
    if (launch)
        sp_put_launch(report, launch, &planned);
    put_step_rows(report, &rows);
    sp_put_length(report, &planned.model, (double)planned.plan.seq);
    sp_put_tuning(report, &planned.model);
    sp_put_companions(report, args, &planned.companions, &planned.plan, &e);
    s.tokens = args->value.tokens;
    if (s.tokens > 0)
        sp_price_text(&planned.problem.price, s.price_text, sizeof s.price_text);
    s.mfu_above_peak = sp_above_peak(e.rates.mfu, e.rates.convention);
    if (e.rates.convention != SP_FLOPS_FULL)
        s.full_above_peak = sp_above_peak(e.rates.mfu_by[SP_FLOPS_FULL], SP_FLOPS_FULL);
    s.hfu_above_peak = sp_above_peak(e.rates.hfu, e.rates.convention);
    sp_step_of_measured(&e, &s.measured);
    put_step_details_rows(report, &s);
    if (!e.fits && !launch && !rows.has_other && !(s.tokens > 0)) /* a run has its own lines */
        sp_say_search(report, args);
    return (!args->value.against || sp_report_against(report, args, &planned, &e, error)) &&
           (!args->value.report || write_page(args, &s, report, error));
}

static bool answer_launch(const struct sp_args *typed, struct sp_report *report,
                          struct sp_error *error)
{
    struct sp_launch launch = {0};
    struct sp_args args;
    return sp_take_launch(typed, &launch, &args, error) && answer(&args, &launch, report, error);
}

static bool run(const struct sp_args *typed, struct sp_report *report, struct sp_error *error)
{
    return typed->value.from || typed->given.set_var ? answer_launch(typed, report, error)
                                                     : answer(typed, NULL, report, error);
}

static struct sp_figure *plot(const struct sp_args *typed, const struct sp_report *report,
                              struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_launch launch = {0};
    struct sp_args args;
    struct sp_estimate e;
    struct sp_course course;
    if (typed->given.curve)
        return sp_draw_curve(report);
    if (typed->given.where)
        return sp_draw_placement(report, error);
    if (typed->given.buckets)
        return sp_draw_buckets(report, error);
    if (!sp_take_launch(typed, &launch, &args, error))
        return NULL;
    const struct sp_sources sources = sp_sources_of(&args);
    if (!sp_plan_of(&args, &sources, &planned, error))
        return NULL;
    sp_estimate_planned(&planned, SP_FLOPS_6P, SP_WITH_ALL, &e);
    sp_course_of(&planned, &e, &course);
    struct sp_figure *const figure =
        sp_draw_step(report, course.moments, course.n, e.capacity_bytes);
    free(course.moments);
    return figure;
}

static const struct sp_example examples[] = {
    {"step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192",
     "memory and time of one plan"},
    {"step --model llama3-8b --hw h100-8 --zero 3 --batch 16x8192 --micro-batch 2 --get "
     "step_s,mfu,memory.device_bytes",
     "numbers for a script"},
    {"step --model llama3-70b --hw h100-64 --tp 8 --pp 2 --batch 128x8192 --measured "
     "step=15.2s,memory=71GiB",
     "compare with a real run"},
    {"step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 --against "
     "tp=8,pp=4,vpp=5",
     "two plans side by side: differences, time, memory, and whether the lead is significant"},
    {"step --from pretrain.sh --hw h100-64", "check a launch: memory, step time, improvements"},
    {"step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 --plot step.svg",
     "plot the step's components and each stage's memory"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_step = {
    .name = "step",
    .summary = "memory and estimated step time of one plan, by component",
    .about = "Estimates memory per device and step time from operators, collectives and the "
             "pipeline schedule, with calibrated efficiencies of the chip and framework. A plan "
             "that does not fit gets the changes that would make it fit. Degrees must multiply to "
             "the devices; omitted ones are inferred and printed. `step - [OPTION...]` reads plans "
             "as JSON lines, such as {\"tp\": 8, \"pp\": 2}, and answers each with a line of JSON.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "memory.fits",
    .compute_bound_key = "health.healthy",
    .bound_word = "healthy",
    .bare_check = "fits",
    .run = run,
    .plot = plot,
    .streams = sp_reads_lines,
    .stream = SP_IN_SHELL(sp_answer_lines),
};
