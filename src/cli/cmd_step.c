/* step: one explicit plan: its memory by component and stage, its time by component. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot_data.h"
#include "step_report.h"

static const char *const conventions[] = {"full", "causal", "6p", NULL};

static const struct sp_option options[] = {
    SP_OPTION_MODEL,
    SP_OPTION_SHAPE,
    SP_OPTION_HW,
    SP_OPTION_NETWORK,
    SP_OPTION_BATCH,
    SP_OPTION_SEQ,
    SP_PLAN_OPTIONS,
    SP_OPTION_PRECISION(NULL),
    {"profile", "NAME|FILE", SP_TEXT, 0, 0, NULL, NULL,
     "calibrated constants (default: the chip's and framework's, or borrowed from siblings)"},
    {"convention", "NAME", SP_CHOICE, 0, 0, conventions, "full",
     "model FLOPs: full (6 per matmul weight and all scores), causal (half the scores), 6p (6 P)"},
    {"measured", "step=S,mem=B", SP_TEXT, 0, 0, NULL, NULL,
     "a real run's step time and peak memory, to reconcile with the estimate"},
    {"check", "fits", SP_MAYBE, 0, 0, NULL, NULL, "exit code 1 when the plan does not fit"},
    SP_OPTION_PLOT,
};

/* A component of the time: its quantity and where it stands in struct sp_step_time. */
const struct sp_time_part sp_time_parts[] = {
    {SP_Q_STEP_T_MATMUL, "matmul", offsetof(struct sp_step_time, matmul)},
    {SP_Q_STEP_T_ATTENTION, "attention", offsetof(struct sp_step_time, attention)},
    {SP_Q_STEP_T_ELEMENTWISE, "elementwise", offsetof(struct sp_step_time, elementwise)},
    {SP_Q_STEP_T_RECOMPUTE, "recompute", offsetof(struct sp_step_time, recompute)},
    {SP_Q_STEP_T_LAUNCH, "launch", offsetof(struct sp_step_time, launch)},
    {SP_Q_STEP_T_TP, "tp_comm", offsetof(struct sp_step_time, tp_comm)},
    {SP_Q_STEP_T_CP, "cp_comm", offsetof(struct sp_step_time, cp_comm)},
    {SP_Q_STEP_T_EP, "ep_comm", offsetof(struct sp_step_time, ep_comm)},
    {SP_Q_STEP_T_DP, "dp_comm", offsetof(struct sp_step_time, dp_comm)},
    {SP_Q_STEP_T_PP, "pp_comm", offsetof(struct sp_step_time, pp_comm)},
    {SP_Q_STEP_T_BUBBLE, "bubble", offsetof(struct sp_step_time, bubble)},
    {SP_Q_STEP_T_OPTIMIZER, "optimizer", offsetof(struct sp_step_time, optimizer)},
    {SP_Q_STEP_T_STRAGGLER, "straggler", offsetof(struct sp_step_time, straggler)},
};
const size_t sp_n_time_parts = sizeof sp_time_parts / sizeof *sp_time_parts;

double sp_time_part(const struct sp_step_time *time, size_t i)
{
    return *(const double *)(const void *)((const char *)time + sp_time_parts[i].offset);
}

static void put_plan(struct sp_report *r, const struct sp_planned *p)
{
    const struct sp_plan *const plan = &p->plan;
    char shape[96];
    sp_shape_name(&p->hw, shape, sizeof shape);
    sp_put_text(r, SP_Q_STEP_MODEL, "%s", p->model.name);
    sp_put_text(r, SP_Q_STEP_MACHINE, "%s", p->hw.name);
    sp_put_text(r, SP_Q_STEP_SHAPE, "%s", shape);
    sp_put(r, SP_Q_STEP_DEVICES, (double)sp_chips(&p->hw));
    sp_put_text(r, SP_Q_STEP_FRAMEWORK, "%s", p->framework.framework.name);
    sp_put_text(r, SP_Q_STEP_PROFILE, "%s", p->profile.name);
    sp_put_bool(r, SP_Q_STEP_OWN, p->own_profile);
    sp_put_text(r, SP_Q_STEP_PRECISION, "%s", p->precision.name);
    sp_put_text(r, SP_Q_STEP_DTYPE, "%s",
                sp_dtype_names[sp_compute_dtype(&p->hw.chip, plan->dtype)]);
    sp_put_text(r, SP_Q_STEP_REMAT, "%s", p->remat);
    sp_put_text(r, SP_Q_STEP_SCHEDULE, "%s", sp_schedule_names[plan->schedule]);
    const struct {
        enum sp_quantity_id id;
        int64_t value;
    } degrees[] = {
        {SP_Q_STEP_DP, plan->dp},
        {SP_Q_STEP_TP, plan->tp},
        {SP_Q_STEP_PP, plan->pp},
        {SP_Q_STEP_VPP, plan->vpp},
        {SP_Q_STEP_CP, plan->cp},
        {SP_Q_STEP_EP, plan->ep},
        {SP_Q_STEP_ETP, plan->etp},
        {SP_Q_STEP_ZERO, plan->zero},
        {SP_Q_STEP_SHARDS, plan->shards},
        {SP_Q_STEP_MICRO, plan->micro_batch},
        {SP_Q_STEP_SEQ, plan->seq},
        {SP_Q_STEP_BATCH, plan->batch},
        {SP_Q_STEP_MICROBATCHES, sp_plan_microbatches(plan)},
    };
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        sp_put(r, degrees[i].id, (double)degrees[i].value);
    sp_put_bool(r, SP_Q_STEP_SP, plan->sequence_parallel);
    sp_put(r, SP_Q_STEP_TOKENS, (double)plan->batch * (double)plan->seq);
}

/* Normal distribution function. */
static double probability_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static void put_memory(struct sp_report *r, const struct sp_planned *p,
                       const struct sp_stage_memory *m, int64_t stage)
{
    const struct sp_framework *const f = &p->framework.framework;
    const double capacity = sp_capacity_bytes(&p->hw.chip), device = (double)m->device;
    sp_symbol(r, "reserved_factor", f->reserved_factor, "", "reserved over live, %s", f->name);
    sp_symbol(r, "context", f->context_bytes, "bytes", "runtime and communicators, %s", f->name);
    sp_put(r, SP_Q_STEP_M_PARAMS, (double)m->params);
    sp_put(r, SP_Q_STEP_M_GRADS, (double)m->grads);
    sp_put(r, SP_Q_STEP_M_OPT, (double)m->optimizer);
    sp_put(r, SP_Q_STEP_M_ACT, (double)m->activations);
    sp_put(r, SP_Q_STEP_M_BUF, (double)m->buffers);
    sp_put(r, SP_Q_STEP_M_TOTAL, (double)m->live);
    sp_put(r, SP_Q_STEP_M_LIVE, (double)m->live);
    sp_put(r, SP_Q_STEP_M_RESERVED, (double)m->reserved);
    sp_put(r, SP_Q_STEP_M_DEVICE, device);
    sp_put(r, SP_Q_STEP_M_CAPACITY, capacity);
    sp_put_bool(r, SP_Q_STEP_M_FITS, device <= capacity);
    sp_put(r, SP_Q_STEP_M_OVER, device - capacity);
    const double odds = f->memory_residual > 0
                            ? probability_below(log(device / capacity) / f->memory_residual)
                            : (device > capacity ? 1 : 0);
    sp_put(r, SP_Q_STEP_M_OOM, odds < 1e-6 ? 0 : odds);
    sp_put(r, SP_Q_STEP_M_STAGE, (double)stage);
}

static void put_stages(struct sp_report *r, const struct sp_planned *p)
{
    const struct sp_step_inputs in = sp_inputs_of(p);
    const struct sp_prepared prepared = sp_prepare_step(&in);
    const int64_t stages = p->plan.pp;
    struct sp_row *const rows = calloc((size_t)stages, sizeof *rows);
    if (!rows)
        abort();
    for (int64_t s = 0; s < stages; s++) {
        const struct sp_stage_memory m =
            sp_memory_of_stage(&p->model, &p->precision, &p->plan, &p->framework.framework, s);
        const struct sp_stage_time t = sp_time_of_stage(&in, &prepared, s);
        const struct sp_stage_layers layers = sp_layers_of_stage(
            &p->model, stages, s, (enum sp_balance)p->framework.framework.balance);
        snprintf(rows[s].prefix, sizeof rows[s].prefix, "stages.%lld", (long long)s);
        snprintf(rows[s].label, sizeof rows[s].label, "%lld", (long long)s);
        sp_scope(r, rows[s].prefix);
        sp_put(r, SP_Q_STEP_S_LAYERS, (double)(layers.dense + layers.moe));
        sp_put(r, SP_Q_STEP_S_PARAMS, (double)m.params);
        sp_put(r, SP_Q_STEP_S_GRADS, (double)m.grads);
        sp_put(r, SP_Q_STEP_S_OPT, (double)m.optimizer);
        sp_put(r, SP_Q_STEP_S_ACT, (double)m.activations);
        sp_put(r, SP_Q_STEP_S_BUF, (double)m.buffers);
        sp_put(r, SP_Q_STEP_S_LIVE, (double)m.live);
        sp_put(r, SP_Q_STEP_S_RESERVED, (double)m.reserved);
        sp_put(r, SP_Q_STEP_S_DEVICE, (double)m.device);
        sp_put(r, SP_Q_STEP_S_FORWARD, t.forward);
        sp_put(r, SP_Q_STEP_S_BACKWARD, t.backward);
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

/* The stages' own times through the schedule, event by event; NAN when it cannot be played. */
static double played_s(const struct sp_planned *p)
{
    const struct sp_step_inputs in = sp_inputs_of(p);
    const struct sp_prepared prepared = sp_prepare_step(&in);
    static double scale[SP_MAX_STAGES];
    static struct sp_played played;
    struct sp_stage_time first = {0};
    for (int64_t s = 0; s < p->plan.pp; s++) {
        const struct sp_stage_time t = sp_time_of_stage(&in, &prepared, s);
        if (s == 0)
            first = t;
        scale[s] = (t.forward + t.backward) / (first.forward + first.backward);
    }
    const struct sp_pipeline pipeline = {.schedule = p->plan.schedule,
                                         .stages = p->plan.pp,
                                         .microbatches = sp_plan_microbatches(&p->plan),
                                         .chunks = p->plan.vpp,
                                         .forward_s = first.forward,
                                         .backward_s = first.backward,
                                         .weight_grad_s = first.matmul / 3};
    const int64_t n = sp_tasks_of(&pipeline);
    if (p->plan.pp < 2 || n == 0 || n > 200000)
        return NAN;
    struct sp_task *const tasks = calloc((size_t)n, sizeof *tasks);
    if (!tasks)
        abort();
    const bool ok = sp_play_pipeline(&pipeline, scale, 0, tasks, &played);
    free(tasks);
    return ok ? played.makespan_s : NAN;
}

/* Model FLOPs of the step by the convention, and those that are run again. */
static void put_rates(struct sp_report *r, const struct sp_planned *p, int convention, double step)
{
    const struct sp_plan *const plan = &p->plan;
    const double tokens = (double)plan->batch * (double)plan->seq, N = (double)sp_chips(&p->hw);
    const struct sp_flops f =
        sp_forward_flops_per_token(&p->model, (double)plan->seq, convention == 1, false);
    const double active = sp_count_params(&p->model).active;
    const double model = convention == 2 ? sp_training_flops(active, tokens) : 3 * f.total * tokens;
    const enum sp_dtype dtype = sp_compute_dtype(&p->hw.chip, plan->dtype);
    const double C = p->hw.chip.peak_flops_per_s[dtype];
    const double again = sp_step_recomputed_flops(&p->model, plan);
    sp_symbol(r, "model_flops", model, "FLOPs", "of a step, convention %s",
              conventions[convention]);
    sp_symbol(r, "recomputed_flops", again, "FLOPs", "run again in the backward pass");
    sp_symbol(r, "C", C, "FLOP/s", "%s peak of the chip", sp_dtype_names[dtype]);
    sp_symbol(r, "P_active", active, "parameters", "that one token passes");
    sp_put(r, SP_Q_STEP_T_IDEAL, 6 * active * tokens / (N * C));
    sp_put(r, SP_Q_STEP_TOKENS_S, tokens / step);
    sp_put(r, SP_Q_STEP_TOKENS_DEVICE, tokens / step / N);
    sp_put_text(r, SP_Q_STEP_CONVENTION, "%s", conventions[convention]);
    sp_put(r, SP_Q_STEP_TFLOPS, model / step / N / 1e12);
    sp_put(r, SP_Q_STEP_MFU, model / (step * N * C));
    sp_put(r, SP_Q_STEP_HFU, (model + again) / (step * N * C));
}

static void put_time(struct sp_report *r, const struct sp_planned *p, const struct sp_step_time *t)
{
    const double range = sp_range_log(&p->profile);
    for (size_t i = 0; i < sp_n_time_parts; i++)
        sp_put(r, sp_time_parts[i].id, sp_time_part(t, i));
    sp_put(r, SP_Q_STEP_T_COMPUTE, t->matmul + t->attention + t->elementwise + t->recompute);
    sp_put(r, SP_Q_STEP_T_STEP, t->step);
    sp_put(r, SP_Q_STEP_T_LOW, t->step * exp(-range));
    sp_put(r, SP_Q_STEP_T_HIGH, t->step * exp(range));
    sp_put(r, SP_Q_STEP_T_PLAYED, played_s(p));
}

static void lay_out(struct sp_report *r, const struct sp_planned *p)
{
    sp_line(r, "{model} on {machine}, {devices} devices ({shape})");
    sp_line(r,
            "plan       dp {dp} tp {tp} pp {pp} vpp {vpp} cp {cp} ep {ep}, ZeRO {zero} over "
            "{shards}, {schedule}; micro-batch {micro_batch}, {microbatches} micro-batches; "
            "batch {batch_tokens!} tokens of {seq}%s%s",
            p->inferred[0] ? "; inferred: " : "", p->inferred);
    sp_line(r,
            "assumed    {precision} ({dtype} matmuls), recompute {remat}, framework {framework}, "
            "profile {profile}%s (--precision --remat --framework --profile)",
            p->own_profile ? "" : ", borrowed from its siblings: no run of this stack is known");
    sp_line(r, " ");
    sp_line(r, "step       {time.step_s} (80 %% range {time.low_s} to {time.high_s}); "
               "{tokens_per_s}, {tokens_per_s_per_device} a device; {tflops_per_device} TFLOP/s a "
               "device, MFU {mfu}, HFU {hfu} (FLOPs counted: {flops_convention})");
    sp_line(r, "  work     matmuls {time.matmul_s}, attention {time.attention_s}, memory-bound "
               "{time.elementwise_s}, recompute {time.recompute_s}, launches {time.launch_s}");
    sp_line(r, "  exposed  TP {time.tp_comm_s}, CP {time.cp_comm_s}, EP {time.ep_comm_s}, DP "
               "{time.dp_comm_s}, PP sends {time.pp_comm_s}, bubble {time.bubble_s}");
    sp_line(r, "  rest     optimizer {time.optimizer_s}, stragglers {time.straggler_s}; ideal "
               "{time.ideal_s}");
    sp_line(r, "  played   the stages' own times through the schedule, event by event: "
               "{time.pipeline_played_s} without sends");
    sp_line(r,
            "memory     %s: {memory.device_bytes} of {memory.capacity_bytes} on the fullest "
            "stage ({memory.stage}); chance of running out {memory.oom_probability}",
            sp_find(r, "memory.fits")->number != 0 ? "fits" : "does not fit");
    sp_line(r, "  live     {memory.live_bytes}: weights {memory.params_bytes}, gradients "
               "{memory.grads_bytes}, optimizer {memory.optimizer_bytes}, activations "
               "{memory.activations_bytes}, buffers {memory.buffers_bytes}; reserved "
               "{memory.reserved_bytes}");
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    static struct sp_planned planned;
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_measured_run measured;
    if (!sp_read_measured(sp_text_of(args, "measured"), &measured, error) ||
        !sp_plan_of(args, &sources, &planned, error))
        return false;
    struct sp_stage_memory memory;
    const int64_t stage = sp_fullest_stage(&planned.model, &planned.precision, &planned.plan,
                                           &planned.framework.framework, &memory);
    if ((double)memory.live >= SP_MOST_BYTES)
        return sp_fail(error, SP_INPUT, "the plan needs more than %.0e bytes a device",
                       SP_MOST_BYTES);
    const struct sp_step_inputs in = sp_inputs_of(&planned);
    const struct sp_step_time time = sp_estimate_step(&in);
    put_plan(report, &planned);
    put_memory(report, &planned, &memory, stage);
    put_time(report, &planned, &time);
    put_rates(report, &planned, sp_choice_of(args, "convention"), time.step);
    lay_out(report, &planned);
    put_stages(report, &planned);
    if ((double)memory.device > sp_capacity_bytes(&planned.hw.chip))
        sp_put_fixes(report, &planned);
    if (measured.step_s > 0 || measured.memory_bytes > 0)
        sp_reconcile(report, &planned, &time, &memory, &measured);
    if (planned.remat == sp_policies[1].name)
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
             "inferred and said.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = examples,
    .fits_key = "memory.fits",
    .run = run,
    .plot = sp_plot_step,
};
