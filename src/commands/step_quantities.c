/* The quantities of one estimated plan, for `step` and `search`. */
#include <stdlib.h>

#include "cli/plan_fields.h"
#include "commands/step_report.h"

/* A component of the time: its quantity and where it stands in struct sp_step_time. */
const struct sp_time_part sp_time_parts[SP_TIME_PARTS] = {
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

double sp_time_part(const struct sp_step_time *time, size_t i)
{
    return *(const double *)(const void *)((const char *)time + sp_time_parts[i].offset);
}

static void put_plan(struct sp_report *r, const struct sp_planned *p)
{
    char shape[96];
    sp_shape_name(&p->hw, shape, sizeof shape);
    sp_put_text(r, SP_Q_STEP_MODEL, "%s", p->model.name);
    sp_put_text(r, SP_Q_STEP_HW, "%s", p->hw_spec);
    sp_put_text(r, SP_Q_STEP_MACHINE, "%s", p->hw.name);
    sp_put_text(r, SP_Q_STEP_SHAPE, "%s", shape);
    sp_put(r, SP_Q_STEP_DEVICES, (double)sp_chips(&p->hw));
    sp_put_text(r, SP_Q_STEP_FRAMEWORK, "%s", p->framework.framework.name);
    sp_put_text(r, SP_Q_STEP_PROFILE, "%s", p->profile.name);
    sp_put_bool(r, SP_Q_STEP_OWN, p->own_profile);
    sp_put_text(r, SP_Q_STEP_PRECISION, "%s", p->precision.name);
    struct sp_plan plan = p->plan;
    plan.dtype = sp_compute_dtype(&p->hw.chip, plan.dtype);
    sp_put_fields(r, &plan);
    sp_put(r, SP_Q_STEP_DISPATCH_BYTES, sp_dispatch_bytes(&plan, &p->framework.framework));
    sp_put(r, SP_Q_STEP_COMBINE_BYTES, sp_combine_bytes());
    sp_put(r, SP_Q_STEP_SEQ, (double)plan.seq);
    sp_put(r, SP_Q_STEP_BATCH, (double)plan.batch);
    sp_put(r, SP_Q_STEP_MICROBATCHES, (double)sp_plan_microbatches(&plan));
    sp_put(r, SP_Q_STEP_TOKENS, (double)plan.batch * (double)plan.seq);
}

static void put_memory(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e)
{
    const struct sp_framework *const f = &p->framework.framework;
    const struct sp_stage_memory *const m = &e->memory;
    sp_symbol(r, "reserved_factor", f->reserved_factor, "", "reserved over live, %s", f->name);
    sp_symbol(r, "context", f->context_bytes, "bytes", "runtime and communicators, %s", f->name);
    sp_put(r, SP_Q_STEP_M_PARAMS, (double)m->params);
    sp_put(r, SP_Q_STEP_M_GRADS, (double)m->grads);
    sp_put(r, SP_Q_STEP_M_OPT, (double)m->optimizer);
    sp_put(r, SP_Q_STEP_M_ACT, (double)m->activations);
    sp_put(r, SP_Q_STEP_M_BUF, (double)m->buffers);
    if (p->model.tuning.trainable != SP_TRAIN_ALL || p->model.tuning.companions)
        sp_put(r, SP_Q_TUNING_MFU, e->rates.tuned_mfu);
    if (p->model.tuning.trainable != SP_TRAIN_ALL) {
        sp_put(r, SP_Q_TUNING_BASE, (double)m->frozen);
        sp_put(r, SP_Q_TUNING_ADAPTER_BYTES,
               (double)(m->params - m->frozen + m->grads + m->optimizer));
    }
    sp_put(r, SP_Q_STEP_M_TOTAL, (double)m->live);
    sp_put(r, SP_Q_STEP_M_LIVE, (double)m->live);
    sp_put(r, SP_Q_STEP_M_RESERVED, (double)m->reserved);
    sp_put(r, SP_Q_STEP_M_DEVICE, (double)m->device);
    sp_put(r, SP_Q_STEP_M_CAPACITY, e->capacity_bytes);
    sp_put_bool(r, SP_Q_STEP_M_FITS, e->fits);
    sp_put(r, SP_Q_STEP_M_OVER, e->over_bytes);
    sp_put(r, SP_Q_STEP_M_OOM, e->oom_odds);
    sp_put(r, SP_Q_STEP_M_STAGE, (double)e->fullest);
}

static void put_time(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e)
{
    const bool tuned = p->model.tuning.trainable != SP_TRAIN_ALL;
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        sp_put(r, sp_time_parts[i].id, sp_time_part(&e->time, i));
    sp_put(r, SP_Q_STEP_T_COMPUTE, e->compute_s);
    sp_symbol(r, "beside",
              e->companions.forward_s[SP_REFERENCE] + e->companions.forward_s[SP_TEACHER], "s",
              "forward passes of a reference and a teacher");
    sp_put(r, p->model.tuning.companions ? SP_Q_STEP_T_STEP_COMPANIONS : SP_Q_STEP_T_STEP,
           e->time.step);
    sp_symbol(
        r, "spread", e->high_s / e->time.step, "",
        "exp of the half-width of docs/accuracy.md, by tier and by what is known of the stack");
    sp_put(r, SP_Q_STEP_T_LOW, e->low_s);
    sp_put(r, SP_Q_STEP_T_HIGH, e->high_s);
    sp_put(r, SP_Q_STEP_T_PLAYED, e->played_s);
    if (tuned) {
        sp_symbol(r, "tuned",
                  sp_tuned_flops(&p->model, 1, (double)p->plan.seq, SP_FLOPS_6P) / e->rates.active,
                  "FLOPs", "a parameter and token, where some are frozen");
    }
    sp_put(r, tuned ? SP_Q_STEP_T_IDEAL_TUNED : SP_Q_STEP_T_IDEAL, e->ideal_s);
}

static void put_rates(struct sp_report *r, const struct sp_planned *p, const struct sp_rates *rates)
{
    const char *const convention = sp_flop_conventions[rates->convention];
    const enum sp_dtype dtype = sp_compute_dtype(&p->hw.chip, p->plan.dtype);
    sp_symbol(r, "model_flops", rates->model_flops, "FLOPs", "of a step, convention %s",
              convention);
    sp_symbol(r, "executed_flops", rates->executed_flops, "FLOPs",
              "that devices compute: %s scores, and what the backward pass runs again",
              rates->convention == SP_FLOPS_FULL ? "all" : "causal");
    sp_symbol(r, "C", rates->peak_flops_per_s, "FLOP/s", "%s peak of the chip",
              sp_dtype_names[dtype]);
    sp_symbol(r, "P_active", rates->active, "parameters", "that one token passes%s",
              p->model.encoder.layers > 0 ? ", those of an encoder by its own tokens" : "");
    sp_put(r, SP_Q_STEP_TOKENS_S, rates->tokens_per_s);
    sp_put(r, SP_Q_STEP_TOKENS_DEVICE, rates->tokens_per_s_per_device);
    sp_put_text(r, SP_Q_STEP_CONVENTION, "%s", convention);
    sp_put(r, SP_Q_STEP_TFLOPS, rates->flops_per_s_per_device / 1e12);
    sp_put(r, SP_Q_STEP_MFU, rates->mfu);
    sp_put(r, SP_Q_STEP_HFU, rates->hfu);
    sp_put(r, SP_Q_STEP_MFU_6P, rates->mfu_by[SP_FLOPS_6P]);
    sp_symbol(r, "causal_flops", rates->flops_by[SP_FLOPS_CAUSAL], "FLOPs",
              "of a step, with half of the scores");
    sp_symbol(r, "full_flops", rates->flops_by[SP_FLOPS_FULL], "FLOPs",
              "of a step, with all scores");
    sp_put(r, SP_Q_STEP_MFU_CAUSAL, rates->mfu_by[SP_FLOPS_CAUSAL]);
    sp_put(r, SP_Q_STEP_MFU_FULL, rates->mfu_by[SP_FLOPS_FULL]);
}

static void put_health(struct sp_report *r, const struct sp_health *h)
{
    sp_symbol(r, "most_comm", sp_healthy_comm_share, "", "rule of thumb for communication");
    sp_symbol(r, "least_busy", sp_healthy_busy_share, "", "rule of thumb for utilisation");
    sp_put(r, SP_Q_STEP_H_COMM, h->comm_share);
    sp_put(r, SP_Q_STEP_H_BUSY, h->busy_share);
    sp_put(r, SP_Q_STEP_H_MOST, sp_healthy_comm_share);
    sp_put(r, SP_Q_STEP_H_LEAST, sp_healthy_busy_share);
    sp_put_bool(r, SP_Q_STEP_H_HEALTHY, h->healthy);
}

static void put_buckets(struct sp_report *r, const struct sp_buckets *b,
                        const struct sp_framework *framework)
{
    if (!b->exist)
        return;
    sp_symbol(r, "gradient_bytes", (b->count - 1) * b->bytes + b->last_bytes, "bytes",
              "of a device of the first stage");
    sp_symbol(r, "bucket", framework->bucket_bytes, "bytes", "framework.bucket_bytes of %s",
              framework->name);
    sp_put(r, SP_Q_STEP_B_COUNT, b->count);
    sp_put(r, SP_Q_STEP_B_BYTES, b->bytes);
    sp_put(r, SP_Q_STEP_B_LAST, b->last_bytes);
    sp_put(r, SP_Q_STEP_B_BACKWARD, b->backward_s);
    sp_put(r, SP_Q_STEP_B_EACH, b->bucket_s);
    sp_put(r, SP_Q_STEP_B_FIRST, b->first_launch_s);
    sp_put(r, SP_Q_STEP_B_TAIL, b->tail_s);
    sp_put(r, SP_Q_STEP_B_NAIVE, b->naive_s);
    sp_put(r, SP_Q_STEP_B_HIDDEN, b->hidden);
}

void sp_estimate_planned(const struct sp_planned *p, enum sp_flop_convention convention,
                         struct sp_estimate *e)
{
    const struct sp_step_inputs in = sp_inputs_of(p);
    const int64_t n = sp_tasks_of_plan(&p->plan);
    struct sp_task *const tasks = n > 0 ? calloc((size_t)n, sizeof *tasks) : NULL;
    if (n > 0 && !tasks)
        abort();
    sp_estimate(&in, convention, tasks, e);
    free(tasks);
}

void sp_put_step(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e)
{
    put_plan(r, p);
    put_memory(r, p, e);
    put_time(r, p, e);
    put_rates(r, p, &e->rates);
    put_health(r, &e->health);
    put_buckets(r, &e->buckets, &p->framework.framework);
}
