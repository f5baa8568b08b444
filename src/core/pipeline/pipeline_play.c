/* Simulates a pipeline schedule event by event. */
#include <math.h>
#include <stddef.h>

#include "core/pipeline/pipeline_internal.h"

/* State of a simulation. Every task has a fixed slot, so dependencies are found by index. */
struct play {
    const struct sp_pipeline *q;
    const struct sp_stage_scale *scale;
    double hop_s;
    struct sp_task *tasks;
    int64_t p, m, v, kinds; /* kinds: 2 (F, B) or 3 (F, B, W) */
    double share;           /* of a micro-batch per chunk, 1/v */
};

enum { FORWARD, BACKWARD, WEIGHT };

/* Progress of a stage. */
struct stage {
    double length_s[3]; /* duration of its tasks by kind */
    int64_t warm_up;    /* forward tasks before its first backward one */
    double free_s;      /* end of its last task */
    int64_t done[3];    /* tasks done by kind, in the stage's order */
    double in_flight;
};

/* A candidate task and its start. */
struct next {
    double start_s; /* infinite: none */
    int kind;
    int64_t chunk, mb;
};

int64_t sp_tasks_of(const struct sp_pipeline *q)
{
    const struct sp_schedule_traits *const traits = &sp_schedules[q->schedule];
    const bool dual = q->schedule == SP_DUALPIPE;
    if (!traits->divided || q->stages > SP_MAX_STAGES || (dual && !sp_can_play_dual(q)))
        return 0;
    if (traits->chunked && q->chunks > 1 && q->microbatches % q->stages != 0)
        return 0;
    const double tasks = (double)q->stages * (double)q->microbatches *
                         (double)(traits->chunked ? q->chunks : 1) *
                         (traits->splits_weight ? 3 : 2);
    return tasks > SP_MAX_PLAYED ? 0 : (int64_t)tasks;
}

double sp_play_cost(const struct sp_pipeline *q)
{
    return (double)sp_tasks_of(q) * (double)q->stages;
}

static struct sp_task *slot(const struct play *g, int64_t stage, int64_t chunk, int64_t mb,
                            int kind)
{
    return &g->tasks[((stage * g->v + chunk) * g->m + mb) * g->kinds + kind];
}

/* The k-th task of a kind on any stage: groups of p micro-batches pass all chunks, in reverse order
 * in the backward pass. */
static struct next task_at(const struct play *g, int64_t k, int kind)
{
    if (g->v == 1)
        return (struct next){INFINITY, kind, 0, k};
    const int64_t group = k / (g->p * g->v), within = k % (g->p * g->v), chunk = within / g->p;
    return (struct next){INFINITY, kind, kind == FORWARD ? chunk : g->v - 1 - chunk,
                         group * g->p + within % g->p};
}

/* Forward tasks before a stage's first backward task. */
static int64_t warm_up(const struct play *g, int64_t stage)
{
    const int64_t all = g->m * g->v, ahead = g->p - stage - 1;
    switch (g->q->schedule) {
    case SP_1F1B:
        return ahead < all ? ahead : all;
    case SP_INTERLEAVED: {
        const int64_t warm = g->v == 1 ? ahead : 2 * ahead + (g->v - 1) * g->p;
        return warm < all ? warm : all;
    }
    default:
        return all;
    }
}

/* End of a task plus the send to its consumer; infinite if not done. */
static double ready_after(const struct play *g, int64_t stage, int64_t chunk, int64_t mb, int kind,
                          bool sent)
{
    const struct sp_task *task = slot(g, stage, chunk, mb, kind);
    return task->end_s < 0 ? INFINITY : task->end_s + (sent ? g->hop_s : 0);
}

/* When the inputs of a task are ready. */
static double inputs_ready_s(const struct play *g, int64_t s, const struct next *t)
{
    const int64_t last = g->p - 1;
    if (t->kind == WEIGHT)
        return ready_after(g, s, t->chunk, t->mb, BACKWARD, false);
    if (t->kind == FORWARD) {
        if (s > 0)
            return ready_after(g, s - 1, t->chunk, t->mb, FORWARD, true);
        return t->chunk > 0 ? ready_after(g, last, t->chunk - 1, t->mb, FORWARD, g->p > 1) : 0;
    }
    if (s < last)
        return ready_after(g, s + 1, t->chunk, t->mb, BACKWARD, true);
    if (t->chunk < g->v - 1)
        return ready_after(g, 0, t->chunk + 1, t->mb, BACKWARD, g->p > 1);
    return ready_after(g, s, t->chunk, t->mb, FORWARD, false);
}

/* The next task of a kind, started as soon as the stage is free and its inputs are there. */
static struct next next_of(const struct play *g, const struct stage *st, int64_t s, int kind)
{
    struct next next = task_at(g, st->done[kind], kind);
    const double ready_s = inputs_ready_s(g, s, &next);
    next.start_s = ready_s > st->free_s ? ready_s : st->free_s;
    return next;
}

/* The next task in a fixed order: warm-up, then alternating forward and backward tasks. */
static struct next next_fixed(const struct play *g, const struct stage *st, int64_t s)
{
    const int64_t all = g->m * g->v;
    const bool forward =
        st->done[FORWARD] < st->warm_up ||
        (st->done[FORWARD] < all && st->done[FORWARD] - st->warm_up <= st->done[BACKWARD]);
    if (!forward && st->done[BACKWARD] >= all)
        return (struct next){.start_s = INFINITY};
    return next_of(g, st, s, forward ? FORWARD : BACKWARD);
}

/* Most micro-batches that a zero-bubble stage holds. */
static int64_t zero_bubble_limit(const struct play *g, int64_t s)
{
    return g->q->schedule == SP_ZB_H2 ? 2 * (g->p - s) - 1 : g->p - s;
}

/* The task that can start first; ties prefer input gradients, then forward tasks, then weight
 * gradients. */
static struct next next_greedy(const struct play *g, const struct stage *st, int64_t s)
{
    static const int priority[] = {BACKWARD, FORWARD, WEIGHT};
    const int64_t all = g->m * g->v;
    struct next best = {.start_s = INFINITY};
    for (int i = 0; i < 3; i++) {
        const int k = priority[i];
        if (st->done[k] >= all)
            continue;
        if (k == FORWARD && st->done[FORWARD] - st->done[BACKWARD] >= zero_bubble_limit(g, s))
            continue;
        if (k == WEIGHT && st->done[WEIGHT] >= st->done[BACKWARD])
            continue;
        const struct next next = next_of(g, st, s, k);
        if (next.start_s < best.start_s)
            best = next;
    }
    return best;
}

static double duration_s(const struct play *g, int64_t s, int kind)
{
    const struct sp_passes of = sp_passes_at(g->q, g->scale, s);
    const double input_half = of.backward - (g->kinds == 3 ? of.weight_grad : 0);
    const double whole = kind == FORWARD  ? of.forward
                         : kind == WEIGHT ? of.weight_grad
                                          : input_half;
    return whole / (double)g->v;
}

static void run_task(const struct play *g, struct stage *st, int64_t s, const struct next *next,
                     struct sp_played *played)
{
    const int kind = next->kind;
    const double length = st->length_s[kind];
    struct sp_task *task = slot(g, s, next->chunk, next->mb, kind);
    *task = (struct sp_task){next->start_s,
                             next->start_s + length,
                             (int32_t)s,
                             (int32_t)next->chunk,
                             (int32_t)next->mb,
                             "FBW"[kind],
                             false};
    st->done[kind]++;
    st->free_s = task->end_s;
    played->busy_s[s] += length;
    if (task->end_s > played->makespan_s)
        played->makespan_s = task->end_s;
    if (kind == FORWARD)
        st->in_flight += g->share;
    else if (kind == BACKWARD)
        st->in_flight -= g->share;
    if (st->in_flight > played->peak_in_flight[s])
        played->peak_in_flight[s] = st->in_flight;
}

/* Runs ready tasks stage after stage until none is left; start times do not depend on that order.
 * False if the order deadlocks. */
static bool play_fixed(const struct play *g, struct stage *stages, int64_t total,
                       struct sp_played *played)
{
    int64_t done = 0;
    for (int64_t before = -1; done < total && done > before;) {
        before = done;
        for (int64_t s = 0; s < g->p; s++)
            for (; done < total; done++) {
                const struct next next = next_fixed(g, &stages[s], s);
                if (next.start_s == INFINITY)
                    break;
                run_task(g, &stages[s], s, &next, played);
            }
    }
    return done == total;
}

/* Zero-bubble schedules: always runs the task with the earliest start of all stages. It changes
 * only the candidates of its own stage and the neighbours. */
static bool play_greedy(const struct play *g, struct stage *stages, int64_t total,
                        struct sp_played *played)
{
    struct next next[SP_MAX_STAGES];
    for (int64_t s = 0; s < g->p; s++)
        next[s] = next_greedy(g, &stages[s], s);
    for (int64_t done = 0; done < total; done++) {
        int64_t at = 0;
        for (int64_t s = 1; s < g->p; s++)
            if (next[s].start_s < next[at].start_s)
                at = s;
        if (next[at].start_s == INFINITY)
            return false;
        run_task(g, &stages[at], at, &next[at], played);
        for (int64_t s = at > 0 ? at - 1 : 0; s <= at + 1 && s < g->p; s++)
            next[s] = next_greedy(g, &stages[s], s);
    }
    return true;
}

/* With equal stages the result equals the closed form of GPipe, 1F1B, interleaved, ZB-H1 and
 * circular. ZB-H2 takes (p-1) F longer because stages start one after the other; its authors let
 * each stage's optimizer step start on its own. */
bool sp_play_pipeline(const struct sp_pipeline *q, const struct sp_stage_scale *scale, double hop_s,
                      struct sp_task *tasks, struct sp_played *played)
{
    struct stage stages[SP_MAX_STAGES];
    const int64_t total = sp_tasks_of(q);
    const struct sp_schedule_traits *const traits = &sp_schedules[q->schedule];
    const int64_t v = traits->chunked ? q->chunks : 1;
    const struct play g = {q,
                           scale,
                           hop_s,
                           tasks,
                           q->stages,
                           q->microbatches,
                           v,
                           traits->splits_weight ? 3 : 2,
                           1 / (double)v};
    if (total == 0 || g.p < 1)
        return false;
    played->makespan_s = 0;
    played->tasks = total;
    for (int64_t i = 0; i < total; i++)
        tasks[i].end_s = -1;
    for (int64_t s = 0; s < g.p; s++) {
        played->busy_s[s] = played->peak_in_flight[s] = 0;
        stages[s] = (struct stage){.warm_up = warm_up(&g, s)};
        for (int kind = 0; kind < g.kinds; kind++)
            stages[s].length_s[kind] = duration_s(&g, s, kind);
    }
    if (q->schedule == SP_DUALPIPE)
        return sp_play_dual(q, scale, hop_s, tasks, played);
    return traits->splits_weight ? play_greedy(&g, stages, total, played)
                                 : play_fixed(&g, stages, total, played);
}
