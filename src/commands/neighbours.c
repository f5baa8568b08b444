/* Changes a plan by one step in each dimension and estimates the result. */
#include "commands/neighbours.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

struct neighbours {
    const struct sp_planned *from;
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    size_t n;
};

__attribute__((format(printf, 3, 4))) static void
add(struct neighbours *all, const struct sp_planned *changed, const char *format, ...)
{
    if (sp_check_plan(&changed->model, &changed->plan, sp_chips(&changed->hw),
                      changed->hw.slices) != SP_PLAN_OK ||
        all->n == sizeof all->near / sizeof *all->near)
        return;
    struct sp_neighbour *const near = &all->near[all->n++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(near->change, sizeof near->change, format, arguments);
    va_end(arguments);
    struct sp_estimate e;
    const struct sp_step_inputs in = sp_inputs_of(changed);
    sp_estimate(&in, SP_FLOPS_FULL, NULL, &e);
    near->step_s = e.time.step;
    near->bytes = (double)e.memory.device;
}

/* States stay shared by as large a part of the replicas as before. */
static void share_again(const struct sp_plan *from, struct sp_plan *plan)
{
    const int64_t before = from->dp * from->cp, now = plan->dp * plan->cp;
    plan->shards = from->shards == before || now % from->shards != 0 ? now : from->shards;
    plan->sequence_parallel = plan->tp > 1 && (from->sequence_parallel || from->tp == 1);
}

/* A factor of two from one degree to another. */
static void move_degrees(struct neighbours *all)
{
    static const struct {
        const char *name;
        size_t offset;
    } degrees[] = {{"dp", offsetof(struct sp_plan, dp)},
                   {"tp", offsetof(struct sp_plan, tp)},
                   {"pp", offsetof(struct sp_plan, pp)},
                   {"cp", offsetof(struct sp_plan, cp)}};
    static struct sp_planned changed;
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            changed = *all->from;
            struct sp_plan *const plan = &changed.plan;
            int64_t *const less = (int64_t *)(void *)((char *)plan + degrees[from].offset);
            int64_t *const more = (int64_t *)(void *)((char *)plan + degrees[to].offset);
            if (from == to || *less % 2 != 0)
                continue;
            *less /= 2;
            *more *= 2;
            if (plan->pp == 1) {
                plan->schedule = sp_usual_schedule(1);
                plan->vpp = 1;
            }
            share_again(&all->from->plan, plan);
            add(all, &changed, "%s %lld, %s %lld", degrees[from].name, (long long)*less,
                degrees[to].name, (long long)*more);
        }
}

/* Twice and half of a number. */
static void scale_number(struct neighbours *all, const char *name, size_t offset, int64_t most)
{
    static struct sp_planned changed;
    for (int half = 0; half < 2; half++) {
        changed = *all->from;
        int64_t *const value = (int64_t *)(void *)((char *)&changed.plan + offset);
        if (half && *value % 2 != 0)
            continue;
        *value = half ? *value / 2 : *value * 2;
        if (*value > most)
            continue;
        if (offset == offsetof(struct sp_plan, vpp))
            changed.plan.schedule = *value > 1 && all->from->plan.vpp > 1
                                        ? all->from->plan.schedule
                                        : sp_usual_schedule(*value);
        add(all, &changed, "%s %lld", name, (long long)*value);
    }
}

static void change_names(struct neighbours *all)
{
    static struct sp_planned changed;
    const struct sp_plan *const plan = &all->from->plan;
    for (int i = 0; i < SP_POLICIES; i++) {
        changed = *all->from;
        sp_use_policy(&changed, sp_policy_names[i]);
        changed.plan.recompute.offload = plan->recompute.offload;
        if (changed.remat != all->from->remat)
            add(all, &changed, "remat %s", sp_policy_names[i]);
    }
    for (int zero = 0; zero < 4; zero++) {
        changed = *all->from;
        changed.plan.zero = zero;
        if (zero != plan->zero && plan->dp * plan->cp > 1)
            add(all, &changed, "zero %d", zero);
    }
    for (int i = 0; i < SP_SCHEDULES && plan->pp > 1; i++) {
        changed = *all->from;
        changed.plan.schedule = (enum sp_schedule)i;
        if (changed.plan.schedule != plan->schedule && sp_schedules[i].divided)
            add(all, &changed, "schedule %s", sp_schedule_names[i]);
    }
    changed = *all->from;
    changed.plan.sequence_parallel = !plan->sequence_parallel;
    if (plan->tp > 1)
        add(all, &changed, "sp %s", sp_off_on[changed.plan.sequence_parallel]);
    changed = *all->from;
    changed.plan.stages_inside = !plan->stages_inside;
    if (plan->pp > 1)
        add(all, &changed, "placement %s", sp_placement_names[changed.plan.stages_inside]);
    changed = *all->from;
    changed.plan.recompute.offload = !plan->recompute.offload;
    if (changed.hw.chip.pcie_bytes_per_s > 0)
        add(all, &changed, "offload %s", sp_off_on[changed.plan.recompute.offload]);
}

static int faster(const void *a, const void *b)
{
    const double x = ((const struct sp_neighbour *)a)->step_s,
                 y = ((const struct sp_neighbour *)b)->step_s;
    return (x > y) - (x < y);
}

size_t sp_find_neighbours(const struct sp_planned *planned, struct sp_neighbour *out)
{
    static struct neighbours all;
    all = (struct neighbours){.from = planned};
    move_degrees(&all);
    scale_number(&all, "vpp", offsetof(struct sp_plan, vpp), planned->plan.pp > 1 ? 1024 : 1);
    scale_number(&all, "micro-batch", offsetof(struct sp_plan, micro_batch), INT32_MAX);
    scale_number(&all, "ep", offsetof(struct sp_plan, ep), INT32_MAX);
    scale_number(&all, "fsdp", offsetof(struct sp_plan, shards),
                 planned->plan.zero > 0 ? INT32_MAX : 0);
    change_names(&all);
    qsort(all.near, all.n, sizeof *all.near, faster);
    memcpy(out, all.near, all.n * sizeof *out);
    return all.n;
}
