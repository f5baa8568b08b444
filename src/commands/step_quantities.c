/* The quantities of one estimated plan, for `step` and `search`. */
#include <math.h>
#include <stdlib.h>

#include "commands/step_report.h"

const char *const sp_flop_conventions[] = {"full", "causal", "6p", NULL};

/* A component of the time: its quantity and where it stands in struct sp_step_time. */
const struct sp_time_part sp_time_parts[] = {
    {SP_Q_STEP_T_MATMUL, "matmul", offsetof(struct sp_step_time, matmul)},
    {SP_Q_STEP_T_ATTENTION, "attention", offsetof(struct sp_step_time, attention)},
    {SP_Q_STEP_T_ELEMENTWISE, "elementwise", offsetof(struct sp_step_time, elementwise)},
    {SP_Q_STEP_T_RECOMPUTE, "recompute", offsetof(struct sp_step_time, recompute)},
    {SP_Q_STEP_T_LAUNCH, "launch", offsetof(struct sp_step_time, launch)},
    {SP_Q_STEP_T_OFFLOAD, "offload", offsetof(struct sp_step_time, offload)},
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
    sp_put_bool(r, SP_Q_STEP_OFFLOAD, plan->recompute.offload);
    sp_put_text(r, SP_Q_STEP_PLACEMENT, "%s", sp_placement_names[plan->stages_inside]);
    if (plan->tp_axes[0] > 0)
        sp_put_text(r, SP_Q_STEP_TP_AXES, "%dx%dx%d", plan->tp_axes[0], plan->tp_axes[1],
                    plan->tp_axes[2]);
    else
        sp_put_null(r, SP_Q_STEP_TP_AXES);
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
                                         .weight_grad_s = first.weight_grad};
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
    static const double scores_counted[] = {1, 0.5, 0}; /* by sp_flop_conventions */
    const double again = sp_step_recomputed_flops(&p->model, plan, &p->framework.framework,
                                                  scores_counted[convention]);
    sp_symbol(r, "model_flops", model, "FLOPs", "of a step, convention %s",
              sp_flop_conventions[convention]);
    sp_symbol(r, "recomputed_flops", again, "FLOPs", "run again in the backward pass");
    sp_symbol(r, "C", C, "FLOP/s", "%s peak of the chip", sp_dtype_names[dtype]);
    sp_symbol(r, "P_active", active, "parameters", "that one token passes");
    sp_put(r, SP_Q_STEP_T_IDEAL, 6 * active * tokens / (N * C));
    sp_put(r, SP_Q_STEP_TOKENS_S, tokens / step);
    sp_put(r, SP_Q_STEP_TOKENS_DEVICE, tokens / step / N);
    sp_put_text(r, SP_Q_STEP_CONVENTION, "%s", sp_flop_conventions[convention]);
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

void sp_put_step(struct sp_report *r, const struct sp_planned *p, const struct sp_step_time *time,
                 const struct sp_stage_memory *memory, int64_t stage, int convention)
{
    put_plan(r, p);
    put_memory(r, p, memory, stage);
    put_time(r, p, time);
    put_rates(r, p, convention, time->step);
}
