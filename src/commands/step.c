/* step: one explicit plan: its memory by component and stage, its time by component. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan_fields.h"
#include "cli/companions.h"
#include "cli/tuning.h"
#include "commands/neighbours.h"
#include "commands/plot_data.h"
#include "commands/step_course.h"
#include "commands/step_launch.h"
#include "commands/step_lines.h"
#include "commands/step_report.h"
#include "commands/utilisation.h"

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

static void put_stages(struct sp_report *r, const struct sp_estimate *e)
{
    const int64_t stages = e->map.stages;
    struct sp_row *const rows = calloc((size_t)stages, sizeof *rows);
    if (!rows)
        abort();
    for (int64_t s = 0; s < stages; s++) {
        const struct sp_stage_memory *const m = &e->stage[s];
        const struct sp_stage_time *const t = &e->kind[e->map.of[s]];
        const struct sp_layer_counts layers = e->map.kind[e->map.of[s]].layers;
        int64_t n = 0;
        for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
            n += layers.of[kind];
        snprintf(rows[s].prefix, sizeof rows[s].prefix, "stages.%lld", (long long)s);
        snprintf(rows[s].label, sizeof rows[s].label, "%lld", (long long)s);
        sp_scope(r, rows[s].prefix);
        sp_put(r, SP_Q_STEP_S_LAYERS, (double)n);
        sp_put(r, SP_Q_STEP_S_PARAMS, (double)m->params);
        sp_put(r, SP_Q_STEP_S_GRADS, (double)m->grads);
        sp_put(r, SP_Q_STEP_S_OPT, (double)m->optimizer);
        sp_put(r, SP_Q_STEP_S_ACT, (double)m->activations);
        sp_put(r, SP_Q_STEP_S_BUF, (double)m->buffers);
        sp_put(r, SP_Q_STEP_S_LIVE, (double)m->live);
        sp_put(r, SP_Q_STEP_S_RESERVED, (double)m->reserved);
        sp_put(r, SP_Q_STEP_S_DEVICE, (double)m->device);
        sp_put(r, SP_Q_STEP_S_FORWARD, t->forward);
        sp_put(r, SP_Q_STEP_S_BACKWARD, t->backward);
    }
    sp_scope(r, "");
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
    if (stages > 1) {
        sp_line(r, " ");
        sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)stages);
    }
    free(rows);
}

static void lay_out(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e,
                    enum sp_flop_convention convention)
{
    char rest[SP_PLAN_REST];
    static const char *const basis[SP_KNOWN] = {
        [SP_KNOWN_STACK] = "",
        [SP_KNOWN_SOFTWARE] = ", borrowed from this framework's runs on other chips",
        [SP_KNOWN_CHIP] = ", borrowed from other frameworks' runs on such chips",
        [SP_KNOWN_NEITHER] = ", borrowed: no run of this framework or chip is known"};
    sp_plan_rest(&p->plan, &p->framework.framework, p->hw.slices, rest, sizeof rest);
    sp_line(r, "{model} on {machine}, {devices} devices ({shape})");
    sp_line(r,
            "plan       dp {dp} tp {tp} pp {pp} vpp {vpp} cp {cp} ep {ep}%s, ZeRO {zero} over "
            "{shards}, {schedule}; micro-batch {micro_batch}, {microbatches} micro-batches; "
            "batch {batch_sequences} x {seq} = {batch_tokens} tokens%s%s",
            rest, p->inferred[0] ? "; inferred: " : "", p->inferred);
    sp_line(r,
            "assumed    {precision} ({dtype} matmuls), recompute {remat}%s, framework {framework}, "
            "profile {profile}%s (--precision --remat --framework --profile)",
            p->plan.recompute.modules != 0 ? " and {recompute_modules}" : "",
            basis[p->profile.known]);
    sp_line(r, " ");
    sp_line(r, "step       {time.step_s} (80 %% range {time.low_s} to {time.high_s}); "
               "{tokens_per_s}, {tokens_per_s_per_device} a device");
    sp_line(r,
            "  rates    {tflops_per_device} TFLOP/s a device, MFU {mfu}, HFU {hfu}, counting %s "
            "(--convention; MFU by 6p {mfu_6p}, causal {mfu_causal}, full {mfu_full})",
            sp_counted_flops[convention]);
    sp_line(r,
            "  work     matmuls {time.matmul_s}, attention {time.attention_s}, memory-bound "
            "{time.elementwise_s}, recompute {time.recompute_s}, launches {time.launch_s}, offload "
            "{time.offload_s}");
    sp_line(r, "  exposed  TP {time.tp_comm_s}, CP {time.cp_comm_s}, EP {time.ep_comm_s}, DP "
               "{time.dp_comm_s}, PP sends {time.pp_comm_s}, bubble {time.bubble_s}");
    sp_line(r, "  rest     optimizer {time.optimizer_s}, stragglers {time.straggler_s}; ideal "
               "{time.ideal_s}");
    sp_line(r, "  schedule the stages' own times through the schedule, simulated event by event: "
               "{time.pipeline_played_s} without sends");
    sp_line(r, "  buckets  {buckets.count} of {buckets.bytes}, the first sent "
               "{buckets.first_launch_s} into the last backward pass of {buckets.backward_s}; "
               "{buckets.tail_s} exposed, {buckets.naive_s} if all were reduced behind it");
    sp_line(r,
            "health     %s: communication {health.comm_share} of the step (%s "
            "{health.most_comm_share}), devices busy {health.busy_share} (%s "
            "{health.least_busy_share})",
            e->health.healthy ? "good" : "poor", e->health.comm_ok ? "below" : "not below",
            e->health.busy_ok ? "above" : "not above");
    sp_line(r, e->fits
                   ? "memory     fits: {memory.device_bytes} of {memory.capacity_bytes} on the "
                     "fullest stage ({memory.stage}); chance of running out "
                     "{memory.oom_probability}"
                   : "memory     does not fit: {memory.device_bytes} of {memory.capacity_bytes} on "
                     "the fullest stage ({memory.stage}), {memory.over_bytes} too much; chance of "
                     "running out {memory.oom_probability}");
    sp_line(r, "  live     {memory.live_bytes}: weights {memory.params_bytes}, gradients "
               "{memory.grads_bytes}, optimizer {memory.optimizer_bytes}, activations "
               "{memory.activations_bytes}, buffers {memory.buffers_bytes}; reserved "
               "{memory.reserved_bytes}");
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
            sp_put_neighbour(r, &in, &near[i], e);
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

static void put_run(struct sp_report *r, const struct sp_planned *planned,
                    const struct sp_price *price, double step_s, double tokens)
{
    char words[160];
    sp_price_text(price, words, sizeof words);
    sp_put_budget(r, planned, price, step_s, tokens);
    sp_line(r,
            "run        {days} days, {cost_usd}, without failures (`train` counts them); a "
            "device-hour: %s",
            words);
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

static bool run(const struct sp_args *typed, struct sp_report *report, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_launch launch = {0};
    struct sp_args args = {0};
    struct sp_measured_run measured;
    struct sp_price price;
    if (!sp_take_launch(typed, &launch, &args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&args);
    if (!sp_read_measured(args.value.measured, &measured, error) ||
        !sp_plan_of(&args, &sources, &planned, error) ||
        !read_price(&args, &planned, &price, error))
        return false;
    const enum sp_flop_convention convention = (enum sp_flop_convention)args.value.convention;
    struct sp_estimate e;
    sp_estimate_planned(&planned, convention, &e);
    if ((double)e.memory.live >= SP_MOST_BYTES)
        return sp_fail(error, SP_INPUT, "the plan needs more than %.0e bytes a device",
                       SP_MOST_BYTES);
    sp_put_step(report, &planned, &e);
    if (launch.format)
        sp_put_launch(report, &launch);
    lay_out(report, &planned, &e, convention);
    sp_put_tuning(report, &planned.model);
    sp_put_companions(report, &args, &planned.companions, &planned.plan, &e);
    const double tokens = args.value.tokens;
    if (tokens > 0)
        put_run(report, &planned, &price, e.time.step, tokens);
    sp_note_utilisation(report, "the MFU", e.rates.tuned_mfu, convention);
    sp_note_utilisation(report, "the HFU", e.rates.hfu, convention);
    put_stages(report, &e);
    if (args.given.matmuls)
        sp_put_local_matmuls(report, &planned);
    if (args.given.curve)
        sp_put_curve(report, &planned);
    if (args.given.buckets)
        sp_put_bucket_spans(report, &e.buckets);
    sp_put_course(report, &planned, &e);
    if (!e.fits)
        sp_put_fixes(report, &planned);
    if (launch.format)
        put_better(report, &planned, &e);
    sp_step_of_measured(&e, &measured);
    if (measured.step_s > 0 || measured.memory_bytes > 0)
        sp_reconcile(report, &planned, &e, &measured);
    sp_note_batch(report, &planned);
    if (sp_plan_value(&planned.plan, &sp_plan_fields[SP_FIELD_REMAT]) == SP_REMAT_SELECTIVE)
        sp_note(report, "with fused attention, selective recomputation saves almost nothing");
    sp_note(report, "an estimate from calibrated efficiencies; `fit` and `batch` have the closed "
                    "forms, and docs/accuracy.md says how right estimates are");
    return true;
}

static const struct sp_example examples[] = {
    {"scaleplan step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192",
     "memory and time of one plan"},
    {"scaleplan step --model llama3-8b --hw h100-8 --zero 3 --batch 16x8192 --micro-batch 2 "
     "--get time.step_s,mfu,memory.device_bytes",
     "bare numbers for a script"},
    {"scaleplan step --model llama3-70b --hw h100-64 --tp 8 --pp 2 --batch 128x8192 --measured "
     "step=15.2s,mem=71GiB",
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
    .streams = sp_step_streams,
    .stream = sp_step_lines,
};
