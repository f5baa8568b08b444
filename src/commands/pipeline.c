/* pipeline: bubbles, micro-batches in flight, sends, and a timeline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/plan_options.h"
#include "pictures/schedule.h"

static const struct sp_taken options[] = {
    SP_TAKE(pp, .alias = "stages"),
    SP_TAKE(microbatches),
    SP_TAKE(vpp, .fallback = "1", .alias = "chunks"),
    SP_TAKE(schedule),
    SP_TAKE(forward, .fallback = "1"),
    SP_TAKE(backward),
    SP_TAKE(weight_grad),
    SP_TAKE(efficiency, .fallback = "90%"),
    SP_TAKE(scale),
    SP_TAKE(send, .fallback = "0"),
    SP_OPTIONS_BATCH,
    SP_TAKE(d_model),
    SP_OPTIONS_MODEL,
    SP_OPTIONS_MACHINE,
    SP_TAKE(bandwidth),
    SP_TAKE(timeline),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"pipeline --pp 4 --microbatches 8", "bubble and efficiency of 1F1B"},
    {"pipeline --pp 4 --efficiency 90% --get microbatches_for", "27"},
    {"pipeline --pp 4 --microbatches 8 --vpp 2 --timeline", "draw the interleaved schedule"},
    {"pipeline --pp 4 --microbatches 8 --scale 1,1,1,1.3", "simulate a slower last stage"},
    {"pipeline --pp 4 --microbatches 8 --plot -", "draw timeline and memory"},
    {NULL, NULL},
};

/* The question, and the values shown by the rows of pipeline.def. */
struct pipe {
    struct sp_pipeline q;
    struct sp_schedule_traits traits;
    struct sp_stage_scale scale[SP_MAX_STAGES];
    double send_s, target;
    double p, m, v, m_useful, useful_s, bubble_s, in_flight;
    double enough; /* micro-batches for the target; INFINITY: no number suffices */
    bool sends;    /* the time of a send is known */
    bool unequal;  /* --scale: all figures are those of the simulated schedule */
    double batch, d_model, W;
    struct sp_task *task; /* of the simulated schedule; NULL: not simulated */
    bool is_drawn;        /* --timeline */
    struct sp_played played;
};

/* One stage of a played schedule. */
struct stage {
    double in_flight, busy_s, makespan_s;
};

#define SP_PART pipeline_stage
#define SP_PART_OF struct stage
#include "answer/put_rows.h"

static void put_stages(struct sp_report *r, const struct pipe *s)
{
    for (int64_t i = 0; i < s->q.stages; i++) {
        const struct stage stage = {s->played.peak_in_flight[i], s->played.busy_s[i],
                                    s->played.makespan_s};
        char label[24];
        snprintf(label, sizeof label, "%lld", (long long)i);
        sp_begin_row(r, label, "stage.%s", label);
        put_pipeline_stage_rows(r, &stage);
    }
    sp_scope(r, "");
}

#define SP_PART pipeline
#define SP_PART_OF struct pipe
#include "answer/put_rows.h"

static bool read_scale(const char *text, struct pipe *s, struct sp_error *error)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->q.stages; i++)
        s->scale[i] = (struct sp_stage_scale){1, 1, 1};
    char word[48];
    while (text && *text && sp_next_item(&text, word, sizeof word)) {
        double value;
        if (!sp_parse_number(word, &value) || value > 1e6 || n >= s->q.stages)
            return sp_fail(error, SP_INPUT,
                           "--scale: expected %lld numbers up to 10^6, one per stage",
                           (long long)s->q.stages);
        s->scale[n++] = (struct sp_stage_scale){value, value, value};
        s->unequal = s->unequal || value > 1 || value < 1;
    }
    if (n > 0 && n != s->q.stages)
        return sp_fail(error, SP_INPUT, "--scale: %lld numbers for %lld stages", (long long)n,
                       (long long)s->q.stages);
    return true;
}

static bool read_schedule(const struct sp_args *args, struct pipe *s, struct sp_error *error)
{
    struct sp_pipeline *const q = &s->q;
    const double stages = args->value.pp, m = args->value.microbatches;
    const double backward = args->value.backward, weight = args->value.weight_grad;
    const int schedule = args->value.schedule;
    if (isnan(stages))
        return sp_fail(error, SP_USAGE, "--pp P is needed");
    q->stages = (int64_t)stages;
    q->microbatches = isnan(m) ? q->stages : (int64_t)m;
    q->chunks = (int64_t)args->value.vpp;
    q->schedule = schedule >= 0 ? (enum sp_schedule)schedule : sp_usual_schedule(q->chunks);
    q->forward_s = args->value.forward;
    q->backward_s = isnan(backward) ? 2 * q->forward_s : backward;
    q->weight_grad_s = isnan(weight) ? q->backward_s / 2 : weight;
    s->send_s = args->value.send;
    if (q->weight_grad_s > q->backward_s)
        return sp_fail(error, SP_INPUT, "--weight-grad exceeds the backward pass");
    if (q->chunks > 1 && !sp_schedules[q->schedule].chunked)
        return sp_fail(error, SP_INPUT,
                       "--vpp: only interleaved and circular schedules have chunks");
    return read_scale(args->value.scale, s, error);
}

/* Mean busy time of the stages and length of the schedule of q->microbatches, without sends. */
struct course {
    double useful_s, total_s;
};

static bool course_of(const struct pipe *s, const struct sp_pipeline *q, struct course *course)
{
    const double most = 1e8; /* a second or so */
    struct sp_played played;
    const double cost = sp_play_cost(q);
    struct sp_task *const task =
        cost > 0 && cost <= most ? malloc((size_t)sp_tasks_of(q) * sizeof *task) : NULL;
    const bool ok = task && sp_play_pipeline(q, s->scale, 0, task, &played);
    free(task);
    if (ok)
        *course =
            (struct course){sp_busy_s(&played, q->stages) / (double)q->stages, played.makespan_s};
    return ok;
}

/* Fewest micro-batches with which unequal stages work for the target's share of the step. INFINITY
 * if no number suffices, because the slowest stage keeps the others idle; NAN if there are too many
 * to simulate. They increase in steps that the schedule accepts: rounds of chunks, pairs of
 * DualPipe. */
static double microbatches_of_unequal(const struct pipe *s)
{
    struct sp_pipeline q = s->q;
    struct course course;
    const int64_t unit = q.schedule == SP_INTERLEAVED ? q.stages
                         : q.schedule == SP_DUALPIPE  ? 2
                                                      : 1;
    const int64_t first = q.schedule == SP_DUALPIPE ? 2 * q.stages : unit;
    double mean = 0, slowest = 0;
    for (int64_t i = 0; i < q.stages; i++) {
        mean += s->scale[i].forward / (double)q.stages;
        slowest = fmax(slowest, s->scale[i].forward);
    }
    if (!sp_schedules[q.schedule].divided || s->target >= mean / slowest)
        return INFINITY;
    int64_t low = 0, high = 1; /* units beyond the first: too few, enough */
    for (;; high *= 2) {
        q.microbatches = first + (high - 1) * unit;
        if (!course_of(s, &q, &course))
            return NAN;
        if (course.useful_s >= (s->target - 1e-9) * course.total_s)
            break;
        low = high;
    }
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        q.microbatches = first + (middle - 1) * unit;
        if (!course_of(s, &q, &course))
            return NAN;
        if (course.useful_s >= (s->target - 1e-9) * course.total_s)
            high = middle;
        else
            low = middle;
    }
    return (double)(first + (high - 1) * unit);
}

/* The closed forms' figures for unequal stages. */
static void work_out_unequal(struct pipe *s)
{
    struct course course;
    if (!course_of(s, &s->q, &course))
        return;
    s->useful_s = course.useful_s;
    s->bubble_s = course.total_s - course.useful_s;
    s->enough = microbatches_of_unequal(s);
    s->in_flight = s->played.peak_in_flight[0];
}

static void work_out(struct pipe *s)
{
    const struct sp_pipeline *const q = &s->q;
    s->traits = sp_schedules[q->schedule];
    s->p = (double)q->stages;
    s->m = (double)q->microbatches;
    s->v = (double)q->chunks;
    s->m_useful = sp_useful_microbatches(q);
    s->useful_s = sp_useful_s(q);
    s->bubble_s = sp_bubble_s(q);
    s->enough = sp_microbatches_for(q, s->target);
    s->in_flight = sp_in_flight(q, 0);
    if (s->unequal)
        work_out_unequal(s);
}

static bool read_sends(const struct sp_args *args, struct pipe *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_model model = {0};
    struct sp_hardware hw;
    double seq;
    const char *origin;
    s->d_model = args->value.d_model;
    s->W = args->value.bandwidth;
    if ((args->value.model || args->value.shape) && !sp_model_of(args, &sources, &model, error))
        return false;
    if (isnan(s->d_model) && sp_model_has_shape(&model))
        s->d_model = (double)model.d_model;
    if (args->value.hw && isnan(s->W)) {
        if (!sp_hardware_of(args, &sources, &hw, error))
            return false;
        s->W = hw.network.kind == SP_TORUS ? sp_ring_rate(hw.network.link_bytes_per_s)
                                           : sp_node_bytes_per_s(&hw.network);
    }
    s->sends = !isnan(s->d_model) && !isnan(s->W);
    return !s->sends || sp_batch_of(args, &model, &s->batch, &seq, &origin, error);
}

/* Simulates the schedule if it was asked for, or if that is quick. */
static bool play(const struct sp_args *args, struct pipe *s, struct sp_error *error)
{
    const bool wants =
        args->given.scale || s->send_s > 0 || args->given.timeline || args->given.plot;
    const double quick = 1e6, most = 2e9;
    const double cost = sp_play_cost(&s->q);
    if (cost == 0 && wants)
        return sp_fail(error, SP_INPUT,
                       "this schedule cannot be simulated: naive has only a closed form, "
                       "interleaved needs micro-batches in multiples of the stages, DualPipe even "
                       "numbers and two micro-batches per stage; the limit is 4 Mi tasks");
    if (cost == 0 || (!wants && cost > quick))
        return true;
    if (cost > most)
        return sp_fail(error, SP_INPUT, "too many stages and micro-batches to draw");
    s->task = sp_must(malloc((size_t)sp_tasks_of(&s->q) * sizeof *s->task));
    if (sp_play_pipeline(&s->q, s->scale, s->send_s, s->task, &s->played))
        return true;
    free(s->task);
    s->task = NULL;
    return sp_fail(error, SP_INTERNAL, "the schedule deadlocks");
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct pipe s = {.target = args->value.efficiency, .is_drawn = args->given.timeline};
    if (!read_schedule(args, &s, error) || !read_sends(args, &s, error) || !play(args, &s, error))
        return false;
    work_out(&s);
    put_pipeline_rows(report, &s);
    if (s.task && args->given.timeline)
        sp_draw_schedule_lines(report, &s.q, s.task, &s.played);
    free(s.task);
    return true;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    struct pipe s = {0};
    (void)report;
    return read_schedule(args, &s, error) ? sp_plot_schedule(&s.q, s.scale, s.send_s, error) : NULL;
}

const struct sp_command sp_cmd_pipeline = {
    .name = "pipeline",
    .summary = "bubble, micro-batches in flight and timeline of a pipeline schedule",
    .about = "Computes a schedule's bubble as a share of the step and of the useful time, the "
             "micro-batches for a target efficiency, those in flight on each stage, and the send "
             "time; simulates it event by event, also with unequal stages.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
