/* pipeline: bubbles, micro-batches in flight, sends, and a timeline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "commands/pipeline.h"
#include "commands/plot_data.h"

static const struct sp_taken options[] = {
    SP_TAKE(stages),
    SP_TAKE(microbatches),
    SP_TAKE(chunks, .fallback = "1"),
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
    {"scaleplan pipeline --stages 4 --microbatches 8", "bubble and efficiency of 1F1B"},
    {"scaleplan pipeline --stages 4 --efficiency 90% --get microbatches_for", "27"},
    {"scaleplan pipeline --stages 4 --microbatches 8 --chunks 2 --timeline", "interleaved, drawn"},
    {"scaleplan pipeline --stages 4 --microbatches 8 --scale 1,1,1,1.3",
     "a heavier last stage, simulated"},
    {"scaleplan pipeline --stages 4 --microbatches 8 --plot -", "timeline and memory, drawn"},
    {NULL, NULL},
};

static void put_closed_form(const struct pipe *f, double target)
{
    struct sp_report *r = f->report;
    const struct sp_pipeline *q = &f->q;
    const double useful = sp_useful_s(q), bubble = sp_bubble_s(q);
    sp_symbol(r, "p", (double)q->stages, "", "stages");
    sp_symbol(r, "m", (double)q->microbatches, "", "micro-batches");
    sp_symbol(r, "v", (double)q->chunks, "", "chunks of a stage");
    sp_symbol(r, "m_useful", sp_schedules[q->schedule].divided ? (double)q->microbatches : 1, "",
              "micro-batches; a naive pipeline has one");
    sp_symbol(r, "F", q->forward_s, "s", "forward time of a micro-batch on a stage");
    sp_symbol(r, "B", q->backward_s, "s", "backward time");
    sp_symbol(r, "target", target, "", "option --efficiency");
    sp_put_text(r, SP_Q_PIPELINE_SCHEDULE, "%s", sp_schedule_names[q->schedule]);
    sp_put(r, SP_Q_PIPELINE_STAGES, (double)q->stages);
    sp_put(r, SP_Q_PIPELINE_MICROBATCHES, (double)q->microbatches);
    sp_put(r, SP_Q_PIPELINE_CHUNKS, (double)q->chunks);
    sp_put(r, SP_Q_PIPELINE_USEFUL_S, useful);
    sp_put(r, SP_Q_PIPELINE_BUBBLE_S, bubble);
    sp_put(r, SP_Q_PIPELINE_TOTAL_S, useful + bubble);
    sp_put(r, SP_Q_PIPELINE_BUBBLE, bubble / (useful + bubble));
    sp_put(r, SP_Q_PIPELINE_BUBBLE_USEFUL, bubble / useful);
    sp_put(r, SP_Q_PIPELINE_EFFICIENCY, useful / (useful + bubble));
    sp_put(r, SP_Q_PIPELINE_TARGET, target);
    const double enough = sp_microbatches_for(q, target);
    if (isfinite(enough))
        sp_put(r, SP_Q_PIPELINE_FOR, enough);
    else
        sp_put_null(r, SP_Q_PIPELINE_FOR);
    sp_put(r, SP_Q_PIPELINE_IN_FLIGHT, sp_in_flight(q, 0));
    sp_line(r,
            "schedule     {schedule}: {stages} stages, {microbatches} micro-batches, {chunks} "
            "chunks a "
            "stage; F %s, B %s, W %s (--forward, --backward, --weight-grad)",
            sp_human_text(q->forward_s, SP_SECONDS), sp_human_text(q->backward_s, SP_SECONDS),
            sp_human_text(q->weight_grad_s, SP_SECONDS));
    sp_line(r, "bubble       {bubble_fraction} of the whole step; {bubble_over_useful} of the "
               "useful time");
    sp_line(r, isfinite(enough)
                   ? "efficiency   {efficiency}; {target_efficiency} takes {microbatches_for} "
                     "micro-batches"
                   : "efficiency   {efficiency}; no number of micro-batches makes it "
                     "{target_efficiency}");
    sp_line(r, "in flight    {in_flight} micro-batches on the first stage");
}

static void put_play(struct pipe *f)
{
    static const struct sp_column columns[] = {{NULL, "stage", true},
                                               {"micro_batches", "in flight", false},
                                               {"busy_s", "busy", false},
                                               {"idle_s", "idle", false}};
    struct sp_report *r = f->report;
    const struct sp_played *g = &f->played;
    struct sp_row rows[SP_MAX_STAGES] = {0};
    double busy = 0;
    for (int64_t s = 0; s < f->q.stages; s++)
        busy += g->busy_s[s];
    sp_put(r, SP_Q_PIPELINE_MAKESPAN, g->makespan_s);
    sp_put(r, SP_Q_PIPELINE_PLAYED_BUBBLE, 1 - busy / ((double)f->q.stages * g->makespan_s));
    sp_line(r, "simulated    {played.makespan_s} a step, {played.bubble_fraction} of it idle (mean "
               "of the stages)");
    for (int64_t s = 0; s < f->q.stages; s++) {
        snprintf(rows[s].label, sizeof rows[s].label, "%lld", (long long)s);
        snprintf(rows[s].prefix, sizeof rows[s].prefix, "stage.%lld", (long long)s);
        sp_scope(r, rows[s].prefix);
        sp_put(r, SP_Q_PIPELINE_IN_FLIGHT_STAGE, g->peak_in_flight[s]);
        sp_put(r, SP_Q_PIPELINE_BUSY, g->busy_s[s]);
        sp_put(r, SP_Q_PIPELINE_IDLE, g->makespan_s - g->busy_s[s]);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof columns[0], rows, (size_t)f->q.stages);
}

/* A row a stage: F, B and W where it works, a dot where it waits. */
static void put_timeline(struct pipe *f)
{
    enum { WIDTH = 100 };
    const double cell = f->played.makespan_s / WIDTH;
    char line[WIDTH + 1];
    sp_line(f->report, " ");
    for (int64_t s = 0; s < f->q.stages && s < 64; s++) {
        memset(line, '.', WIDTH);
        line[WIDTH] = '\0';
        for (int64_t i = 0; i < f->played.tasks; i++) {
            const struct sp_task *task = &f->tasks[i];
            if (task->stage != s)
                continue;
            int at = (int)(task->start_s / cell + 0.5), end = (int)(task->end_s / cell + 0.5);
            for (; at < end && at < WIDTH; at++)
                line[at] = task->kind;
        }
        sp_line(f->report, "%3lld %s", (long long)s, line);
    }
    sp_line(f->report, "    F forward, B backward%s, . idle; a character is %s",
            sp_schedules[f->q.schedule].splits_weight ? " (input half), W weight gradients" : "",
            sp_human_text(cell, SP_SECONDS));
}

static bool put_sends(const struct sp_args *args, struct pipe *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    double d_model = args->value.d_model, W = args->value.bandwidth, seq;
    struct sp_model model = {0};
    struct sp_hardware hw;
    double batch = NAN;
    const char *origin;
    if ((args->value.model || args->value.shape) && !sp_model_of(args, &sources, &model, error))
        return false;
    if (isnan(d_model) && sp_model_has_shape(&model))
        d_model = (double)model.d_model;
    if (args->value.hw && isnan(W)) {
        if (!sp_hardware_of(args, &sources, &hw, error))
            return false;
        W = hw.network.kind == SP_TORUS ? 2 * hw.network.link_bytes_per_s
                                        : sp_node_bytes_per_s(&hw.network);
    }
    if (isnan(d_model) || isnan(W))
        return true;
    if (!sp_batch_of(args, &model, &batch, &seq, &origin, error))
        return false;
    const double m = (double)f->q.microbatches, hop = sp_hop_s(batch, d_model, m, W);
    sp_symbol(f->report, "B_tokens", batch, "tokens", "batch that goes through the pipeline (%s)",
              origin);
    sp_symbol(f->report, "D", d_model, "", "d_model");
    sp_symbol(f->report, "W", W, "bytes/s", "link between stages");
    sp_put(f->report, SP_Q_PIPELINE_HOP, hop);
    sp_put(f->report, SP_Q_PIPELINE_HOPS, sp_hops_s(hop, m, (double)f->q.stages));
    sp_line(f->report,
            "sends        {hop_s} each, {hops_s} in a forward pass (batch of %s tokens, --batch)",
            sp_human_text(batch, SP_TOKENS));
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct pipe f = {.report = report};
    if (!sp_read_pipeline(args, &f, error))
        return false;
    const bool unequal = args->given.scale || f.send_s > 0;
    const bool wants_play = unequal || args->given.timeline || args->given.plot;
    const int64_t tasks = sp_tasks_of(&f.q);
    put_closed_form(&f, args->value.efficiency);
    if (!put_sends(args, &f, error))
        return false;
    if (tasks == 0 && wants_play)
        return sp_fail(
            error, SP_INPUT,
            "this schedule cannot be simulated: a naive one has a closed form only, interleaving "
            "needs "
            "micro-batches in multiples of the stages, DualPipe even numbers and two micro-batches "
            "a stage, and at most 4 Mi tasks are simulated");
    const double cost = (double)tasks * (double)f.q.stages;
    if (tasks == 0 || (!wants_play && cost > 1e6))
        return true;
    if (cost > 2e9)
        return sp_fail(error, SP_INPUT, "too many stages and micro-batches to play");
    f.tasks = malloc((size_t)tasks * sizeof *f.tasks);
    if (!f.tasks)
        return sp_fail(error, SP_INTERNAL, "out of memory");
    bool ok = sp_play_pipeline(&f.q, f.scale, f.send_s, f.tasks, &f.played);
    if (!ok)
        sp_fail(error, SP_INTERNAL, "the schedule waits for itself");
    if (ok)
        put_play(&f);
    if (ok && args->given.timeline)
        put_timeline(&f);
    free(f.tasks);
    return ok;
}

const struct sp_command sp_cmd_pipeline = {
    .name = "pipeline",
    .summary = "bubble, micro-batches in flight and timeline of a schedule",
    .about =
        "Idle time of a pipeline schedule as a share of the whole step and of the useful time, the "
        "micro-batches that a target efficiency takes, those in flight on each stage, the time of "
        "the "
        "sends, and the schedule simulated event by event, with unequal stages too.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = sp_plot_pipeline,
};
