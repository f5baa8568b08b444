/* The step: stages, schedule, optimizer, stragglers. */
#include <math.h>

#include <scaleplan/flops.h>

#include "step_internal.h"

static double constant(const struct sp_step_inputs *in, enum sp_constant id)
{
    return in->profile->value[id];
}

/* One kind of layer on the stage. */
struct layer_pass {
    double matmul, attention, elementwise, recompute, launch;
    double tp_forward, tp_backward, cp_forward, cp_backward, ep;
};

static struct layer_pass pass_layer(const struct sp_step_inputs *in, bool moe)
{
    const struct sp_layer_time f = sp_time_of_layer(in, moe);
    const struct sp_recompute *r = &in->plan->recompute;
    const double redone = in->plan->recompute_layers;
    const double down = in->framework->stops_early ? 0 : r->down;
    struct layer_pass p = {
        .matmul = 3 * (f.qkv + f.out + f.up + f.down),
        .attention = 3.5 * f.core,
        .elementwise = 3 * f.norms,
        .recompute = redone * (r->qkv * f.qkv + r->core * f.core + r->out * f.out + r->up * f.up +
                               down * f.down + r->norms * f.norms),
        .tp_forward = sp_tp_layer_s(in, moe, false),
        .tp_backward = sp_tp_layer_s(in, moe, true),
        .cp_forward = sp_cp_layer_s(in, false),
        .cp_backward = sp_cp_layer_s(in, true),
        .ep = moe ? sp_ep_layer_s(in) : 0,
    };
    if (r->qkv * redone > 0)
        p.tp_backward += redone * p.tp_forward * (r->out + r->down) / 2;
    const double busy = p.matmul + p.attention + p.elementwise + p.recompute;
    const double least = constant(in, SP_C_LAUNCH) * (1 + redone * r->qkv / 3);
    p.launch = sp_smooth_max(busy, least) - busy;
    return p;
}

static void add_layers(struct sp_stage_time *s, const struct sp_step_inputs *in, double layers,
                       bool moe)
{
    if (layers <= 0)
        return;
    const struct layer_pass p = pass_layer(in, moe);
    const double cp_hidden = p.attention; /* passing keys on hides behind attention */
    const double cp = p.cp_forward + p.cp_backward;
    const double cp_exposed =
        cp > 0 ? sp_smooth_max(cp_hidden, cp) - cp_hidden + constant(in, SP_C_CONTENTION) * cp : 0;
    s->matmul += layers * p.matmul;
    s->attention += layers * p.attention;
    s->elementwise += layers * p.elementwise;
    s->recompute += layers * p.recompute;
    s->launch += layers * p.launch;
    s->tp_comm += layers * (p.tp_forward + p.tp_backward);
    s->cp_comm += layers * cp_exposed;
    s->ep_comm += layers * 2 * p.ep;
}

struct sp_stage_time sp_time_of_stage(const struct sp_step_inputs *in, int64_t stage)
{
    const struct sp_stage_layers layers =
        sp_layers_of_stage(in->model, in->plan->pp, stage, (enum sp_balance)in->framework->balance);
    struct sp_stage_time s = {0};
    add_layers(&s, in, (double)layers.dense, false);
    add_layers(&s, in, (double)layers.moe, true);
    const struct sp_ends_time ends = sp_time_of_ends(in);
    if (stage == 0)
        s.elementwise += 3 * ends.embedding;
    if (stage == in->plan->pp - 1) {
        s.matmul += 3 * ends.head;
        s.elementwise += 3 * ends.loss;
    }
    const double busy = s.matmul + s.attention + s.elementwise + s.recompute + s.launch +
                        s.tp_comm + s.cp_comm + s.ep_comm;
    if (in->plan->zero >= 3) {
        /* weights are gathered for each pass, gradients reduced: twice 2 bytes and 4 */
        const struct sp_stage_weights w =
            sp_weights_of_stage(in->model, in->plan, in->framework, stage);
        const double comm = sp_shards_s(in, (w.dense + w.experts) * (2 + 2 + 2));
        s.fsdp_comm = sp_smooth_max(busy, comm) - busy + constant(in, SP_C_CONTENTION) * comm;
    }
    const double all = busy + s.fsdp_comm;
    s.forward = (all - s.recompute) / 3;
    s.backward = all - s.forward;
    return s;
}

/* The stage that takes longest, and the sum over stages. */
static struct sp_stage_time slowest_stage(const struct sp_step_inputs *in, double *sum)
{
    struct sp_stage_time slowest = {0};
    *sum = 0;
    for (int64_t stage = 0; stage < in->plan->pp; stage++) {
        const struct sp_stage_time s = sp_time_of_stage(in, stage);
        *sum += s.forward + s.backward;
        if (s.forward + s.backward > slowest.forward + slowest.backward)
            slowest = s;
    }
    return slowest;
}

static double bubble_of(const struct sp_step_inputs *in, const struct sp_stage_time *slowest,
                        double sum)
{
    const struct sp_plan *p = in->plan;
    if (p->pp <= 1)
        return 0;
    const double worst = slowest->forward + slowest->backward;
    const struct sp_pipeline pipeline = {.schedule = p->schedule,
                                         .stages = p->pp,
                                         .microbatches = sp_plan_microbatches(p),
                                         .chunks = p->vpp,
                                         .forward_s = slowest->forward,
                                         .backward_s = slowest->backward,
                                         .weight_grad_s = slowest->matmul / 3};
    const double equal = sp_bubble_s(&pipeline);
    /* filling and draining pass through all other stages, which may be lighter */
    const double others = (sum - worst) / (worst * (double)(p->pp - 1));
    return equal * others;
}

/* Once a step: gradients and weights of ZeRO 0 to 2, slices, HSDP. */
static double dp_comm_of(const struct sp_step_inputs *in, const struct sp_stage_time *slowest)
{
    const struct sp_plan *p = in->plan;
    const struct sp_stage_weights w = sp_weights_of_stage(in->model, p, in->framework, 0);
    const double held = w.dense + w.experts;
    double comm = 0;
    if (p->zero < 3)
        comm += sp_shards_s(in, held * (in->precision->grad_bytes + in->precision->weight_bytes));
    comm += sp_replicas_s(in, 2 * held / (p->zero >= 3 ? (double)p->shards : 1));
    if (comm <= 0)
        return 0;
    const double hides = slowest->forward + slowest->backward;
    return sp_smooth_max(hides, comm) - hides + constant(in, SP_C_CONTENTION) * comm;
}

static double optimizer_of(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const struct sp_stage_weights w = sp_weights_of_stage(in->model, p, in->framework, 0);
    const double mine = (w.dense + w.experts) / (p->zero >= 1 ? (double)p->shards : 1);
    const double bytes = 2 * (in->precision->master_bytes + in->precision->optimizer_bytes) +
                         in->precision->weight_bytes + in->precision->grad_bytes;
    return constant(in, SP_C_MEMORY) * mine * bytes / in->hw->chip.hbm_bytes_per_s;
}

struct sp_step_time sp_estimate_step(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    double sum;
    const struct sp_stage_time s = slowest_stage(in, &sum);
    const double m = (double)sp_plan_microbatches(p);
    struct sp_step_time t = {
        .matmul = m * s.matmul,
        .attention = m * s.attention,
        .elementwise = m * s.elementwise,
        .recompute = m * s.recompute,
        .launch = m * s.launch,
        .tp_comm = m * s.tp_comm,
        .cp_comm = m * s.cp_comm,
        .ep_comm = m * s.ep_comm,
        .dp_comm = m * s.fsdp_comm + dp_comm_of(in, &s),
        .pp_comm =
            p->pp > 1 ? 2 * (m + (double)p->pp - 1) * (double)p->vpp * sp_stage_hop_s(in) : 0,
        .bubble = bubble_of(in, &s, sum),
        .optimizer = optimizer_of(in),
    };
    t.step = t.matmul + t.attention + t.elementwise + t.recompute + t.launch + t.tp_comm +
             t.cp_comm + t.ep_comm + t.dp_comm + t.pp_comm + t.bubble + t.optimizer;
    const double nodes = (double)sp_chips(in->hw) / 8;
    t.straggler = t.step * constant(in, SP_C_STRAGGLER) * log2(1 + nodes);
    t.step += t.straggler;
    return t;
}
