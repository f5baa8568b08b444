/* Random plans on a machine where nothing takes any time. */
#include "obvious.h"

struct sp_step_time estimate(const struct world *w)
{
    const struct sp_step_inputs in = {&w->m,       &w->hw, &w->precision, &w->f,
                                      &w->profile, &w->p,  NULL};
    return sp_estimate_step(&in);
}

double k(const struct world *w, enum sp_constant id)
{
    return w->profile.value[id];
}

double load_of(const struct sp_plan *p)
{
    return p->execution.capacity > 0 ? p->execution.capacity : p->imbalance;
}

double tokens_of(const struct world *w)
{
    return (double)(w->p.micro_batch * w->p.seq / w->p.cp);
}

struct sp_hardware free_machine(bool torus, int64_t chips)
{
    struct sp_hardware hw = {.slices = torus ? ANY(1, 2) : 1};
    for (int dtype = 0; dtype < SP_DTYPES; dtype++)
        hw.chip.peak_flops_per_s[dtype] = NAN;
    hw.chip.peak_flops_per_s[SP_BF16] = hw.chip.peak_flops_per_s[SP_FP8] = FREE;
    hw.chip.hbm_bytes = 8e10;
    hw.chip.hbm_bytes_per_s = hw.chip.pcie_bytes_per_s = FREE;
    hw.chips_per_slice = chips / hw.slices;
    hw.network = (struct sp_network){.kind = torus ? SP_TORUS : SP_SWITCHED,
                                     .axes = 2,
                                     .link_bytes_per_s = FREE,
                                     .wrap = SP_WRAP_ALWAYS,
                                     .chips_per_host = 4,
                                     .dcn_bytes_per_s_per_host = FREE,
                                     .domain = 8,
                                     .domain_bytes_per_s = FREE,
                                     .scaleout_bytes_per_s = FREE};
    const int64_t x = hw.chips_per_slice >= 8 ? 8 : hw.chips_per_slice;
    hw.shape = (struct sp_shape){{(int32_t)x, (int32_t)(x > 0 ? hw.chips_per_slice / x : 1), 1}};
    return hw;
}

/* Lays a TP group over a box of the torus, where it fits. */
static void lay_box(struct world *w)
{
    const int32_t x = (int32_t)ANY(1, 2, 4), y = (int32_t)w->p.tp / x;
    if (x * y != w->p.tp || w->hw.shape.axis[0] % x != 0 || w->hw.shape.axis[1] % y != 0)
        return;
    w->p.tp_axes[0] = x;
    w->p.tp_axes[1] = y;
    w->p.tp_axes[2] = 1;
}

double reach(const struct sp_model *m, int layer, int token)
{
    const int64_t later = layer - m->global_first + 1; /* 1: the first layer after the first ones */
    const bool global = later <= 0 || (m->global_every > 0 && later % m->global_every == 0);
    if (!global && m->attention_chunk > 0)
        return (double)(token % m->attention_chunk) + 0.5;
    return !global && m->sliding_window > 0 ? fmin((double)m->sliding_window, token + 0.5)
                                            : token + 0.5;
}

/* A plan on a free machine, with constants used only by the parts that they are named after; false
 * if it is not a plan. */
bool draw(struct world *w, bool torus, bool stages)
{
    *w = (struct world){.m = random_model()};
    w->m.sliding_window = ANY(0, 0, 100, 1000);
    w->m.attention_chunk = w->m.sliding_window > 0 ? 0 : ANY(0, 0, 60, 1000);
    w->m.global_every = ANY(0, 1, 2, 3);
    w->m.global_first = w->m.sliding_window + w->m.attention_chunk > 0 ? ANY(0, 0, 1, 2) : 0;
    w->p = random_plan(&w->m);
    w->p.execution.attention_kernel = SP_KERNEL_FLASH;
    w->p.execution.capacity = (double)ANY(0, 0, 1, 2);
    w->p.batch *= w->p.micro_batch;
    w->p.pp = stages ? w->p.pp : 1;
    if (w->m.moe.experts > 0 && rand() % 3 == 0)
        w->p.etp = w->p.tp;
    w->p.stages_inside = rand() % 2;
    w->p.dtype = rand() % 3 ? SP_BF16 : SP_FP8;
    w->hw = free_machine(torus, sp_plan_devices(&w->p));
    if (torus && w->p.tp > 1 && rand() % 2 && w->hw.chips_per_slice > 0)
        lay_box(w);
    w->f = (struct sp_framework){.overlaps_sends = rand() % 2,
                                 .stops_early = rand() % 2,
                                 .keeps_gathered = rand() % 2,
                                 .cp_gather = rand() % SP_CP_GATHERS,
                                 .ring_grad_bytes = (double)ANY(2, 4)};
    w->precision = (struct sp_precision){.weight_bytes = 2,
                                         .grad_bytes = (double)ANY(0, 2, 4),
                                         .master_bytes = 4,
                                         .optimizer_bytes = 8};
    for (int c = 0; c < SP_CONSTANTS; c++)
        w->profile.value[c] = sp_constants[c].gpu * (0.7 + 0.6 * rand() / RAND_MAX);
    w->profile.value[SP_C_LAUNCH] = w->profile.value[SP_C_STRAGGLER] = 0;
    return w->hw.chips_per_slice >= 2 &&
           w->hw.chips_per_slice * w->hw.slices == sp_plan_devices(&w->p) &&
           sp_check_plan(&w->m, &w->p, sp_plan_devices(&w->p), w->hw.slices) == SP_PLAN_OK;
}
