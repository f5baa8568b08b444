/* Plays a pipeline schedule event by event. */
#include <math.h>
#include <stddef.h>

#include "pipeline_internal.h"

/* A play under way. Every task has a fixed slot, so that a dependency is an index away. */
struct play {
    const struct sp_pipeline *q;
    const double *scale;
    double hop_s;
    struct sp_task *tasks;
    int64_t p, m, v, kinds; /* kinds: 2 (F, B) or 3 (F, B, W) */
};

/* Where a stage stands. */
struct stage {
    double free_s;   /* end of its last task */
    int64_t done[3]; /* tasks of each kind done, in the stage's order */
    double in_flight;
};

enum { FORWARD, BACKWARD, WEIGHT };

static bool splits_weight(enum sp_schedule schedule)
{
    return schedule == SP_ZB_H1 || schedule == SP_ZB_H2;
}

int64_t sp_tasks_of(const struct sp_pipeline *q)
{
    const bool dual = q->schedule == SP_DUALPIPE;
    if (q->schedule == SP_NAIVE || q->stages > SP_MAX_STAGES || (dual && !sp_can_play_dual(q)))
        return 0;
    const bool chunked = q->schedule == SP_INTERLEAVED || q->schedule == SP_CIRCULAR;
    if (chunked && q->chunks > 1 && q->microbatches % q->stages != 0)
        return 0;
    const double tasks = (double)q->stages * (double)q->microbatches *
                         (double)(chunked ? q->chunks : 1) *
                         (dual || splits_weight(q->schedule) ? 3 : 2);
    return tasks > SP_MAX_PLAYED ? 0 : (int64_t)tasks;
}

static struct sp_task *slot(const struct play *g, int64_t stage, int64_t chunk, int64_t mb,
                            int kind)
{
    return &g->tasks[((stage * g->v + chunk) * g->m + mb) * g->kinds + kind];
}

/* Chunk and micro-batch of the k-th forward (or backward) task of any stage: groups of p
 * micro-batches go through all chunks, the last chunk first on the way back. */
static void virtual_task(const struct play *g, int64_t k, bool backward, int64_t *chunk,
                         int64_t *mb)
{
    const int64_t group = k / (g->p * g->v), within = k % (g->p * g->v);
    *chunk = g->v == 1 ? 0 : within / g->p;
    *mb = g->v == 1 ? k : group * g->p + within % g->p;
    if (backward)
        *chunk = g->v - 1 - *chunk;
}

/* Forward tasks that a stage runs before its first backward one. */
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

/* End of a task plus the send to its reader; infinite while it is not done. */
static double ready_after(const struct play *g, int64_t stage, int64_t chunk, int64_t mb, int kind,
                          bool sent)
{
    const struct sp_task *task = slot(g, stage, chunk, mb, kind);
    return task->end_s < 0 ? INFINITY : task->end_s + (sent ? g->hop_s : 0);
}

/* When the inputs of a task are there. */
static double inputs_ready_s(const struct play *g, int64_t s, int64_t chunk, int64_t mb, int kind)
{
    const int64_t last = g->p - 1;
    if (kind == WEIGHT)
        return ready_after(g, s, chunk, mb, BACKWARD, false);
    if (kind == FORWARD) {
        if (s > 0)
            return ready_after(g, s - 1, chunk, mb, FORWARD, true);
        return chunk > 0 ? ready_after(g, last, chunk - 1, mb, FORWARD, g->p > 1) : 0;
    }
    if (s < last)
        return ready_after(g, s + 1, chunk, mb, BACKWARD, true);
    if (chunk < g->v - 1)
        return ready_after(g, 0, chunk + 1, mb, BACKWARD, g->p > 1);
    return ready_after(g, s, chunk, mb, FORWARD, false);
}

/* The kind of the next task where the schedule fixes the order: warm-up, then one forward, one
 * backward. */
static int fixed_kind(const struct play *g, const struct stage *st, int64_t s)
{
    const int64_t all = g->m * g->v, warm = warm_up(g, s);
    if (st->done[FORWARD] < warm ||
        (st->done[FORWARD] < all && st->done[FORWARD] - warm <= st->done[BACKWARD]))
        return FORWARD;
    return BACKWARD;
}

/* Micro-batches a zero-bubble stage may hold. */
static int64_t zero_bubble_limit(const struct play *g, int64_t s)
{
    return g->q->schedule == SP_ZB_H2 ? 2 * (g->p - s) - 1 : g->p - s;
}

/* The earliest start of a stage's next task, its kind in *kind; infinite when nothing can run.
 * Zero-bubble schedules fill every gap: an input gradient first, then a forward, then a weight
 * gradient. */
static double next_start(const struct play *g, const struct stage *st, int64_t s, int *kind)
{
    static const int priority[] = {BACKWARD, FORWARD, WEIGHT};
    const int64_t all = g->m * g->v;
    double best = INFINITY;
    if (g->kinds == 2) {
        int64_t chunk, mb;
        *kind = fixed_kind(g, st, s);
        if (st->done[*kind] >= all)
            return INFINITY;
        virtual_task(g, st->done[*kind], *kind != FORWARD, &chunk, &mb);
        return fmax(st->free_s, inputs_ready_s(g, s, chunk, mb, *kind));
    }
    for (int i = 0; i < 3; i++) {
        const int k = priority[i];
        if (st->done[k] >= all)
            continue;
        if (k == FORWARD && st->done[FORWARD] - st->done[BACKWARD] >= zero_bubble_limit(g, s))
            continue;
        if (k == WEIGHT && st->done[WEIGHT] >= st->done[BACKWARD])
            continue;
        int64_t chunk, mb;
        virtual_task(g, st->done[k], k != FORWARD, &chunk, &mb);
        const double start = fmax(st->free_s, inputs_ready_s(g, s, chunk, mb, k));
        if (start < best) {
            best = start;
            *kind = k;
        }
    }
    return best;
}

static double duration_s(const struct play *g, int64_t s, int kind)
{
    const struct sp_pipeline *q = g->q;
    const double input_half = q->backward_s - (g->kinds == 3 ? q->weight_grad_s : 0);
    const double whole = kind == FORWARD  ? q->forward_s
                         : kind == WEIGHT ? q->weight_grad_s
                                          : input_half;
    return whole * (g->scale ? g->scale[s] : 1) / (double)g->v;
}

static void run_task(const struct play *g, struct stage *st, int64_t s, int kind, double start,
                     struct sp_played *played)
{
    int64_t chunk, mb;
    virtual_task(g, st->done[kind]++, kind != FORWARD, &chunk, &mb);
    struct sp_task *task = slot(g, s, chunk, mb, kind);
    const double length = duration_s(g, s, kind);
    *task = (struct sp_task){start,       start + length, (int32_t)s, (int32_t)chunk,
                             (int32_t)mb, "FBW"[kind],    false};
    st->free_s = task->end_s;
    played->busy_s[s] += length;
    if (task->end_s > played->makespan_s)
        played->makespan_s = task->end_s;
    if (kind == FORWARD)
        st->in_flight += 1 / (double)g->v;
    else if (kind == BACKWARD)
        st->in_flight -= 1 / (double)g->v;
    if (st->in_flight > played->peak_in_flight[s])
        played->peak_in_flight[s] = st->in_flight;
}

/* Schedules with a fixed order on each stage: whatever is ready runs, stage after stage, until
 * nothing is left; start times do not depend on the order of looking. False when the order waits
 * for itself. */
static bool play_fixed(const struct play *g, struct stage *stages, int64_t total,
                       struct sp_played *played)
{
    int64_t done = 0;
    for (int64_t before = -1; done < total && done > before;) {
        before = done;
        for (int64_t s = 0; s < g->p; s++)
            for (int kind; done < total; done++) {
                const double start = next_start(g, &stages[s], s, &kind);
                if (start == INFINITY)
                    break;
                run_task(g, &stages[s], s, kind, start, played);
            }
    }
    return done == total;
}

/* Zero-bubble schedules fill gaps as they come: the earliest start of all stages runs. A task
 * changes the next starts of its own stage and of its neighbours alone. */
static bool play_greedy(const struct play *g, struct stage *stages, int64_t total,
                        struct sp_played *played)
{
    double start[SP_MAX_STAGES] = {0};
    int kind[SP_MAX_STAGES] = {0};
    for (int64_t s = 0; s < g->p; s++)
        start[s] = next_start(g, &stages[s], s, &kind[s]);
    for (int64_t done = 0; done < total; done++) {
        int64_t at = 0;
        for (int64_t s = 1; s < g->p; s++)
            if (start[s] < start[at])
                at = s;
        if (start[at] == INFINITY)
            return false;
        run_task(g, &stages[at], at, kind[at], start[at], played);
        for (int64_t s = at > 0 ? at - 1 : 0; s <= at + 1 && s < g->p; s++)
            start[s] = next_start(g, &stages[s], s, &kind[s]);
    }
    return true;
}

bool sp_play_pipeline(const struct sp_pipeline *q, const double *scale, double hop_s,
                      struct sp_task *tasks, struct sp_played *played)
{
    struct stage stages[SP_MAX_STAGES] = {{0}};
    const int64_t total = sp_tasks_of(q);
    const bool chunked = q->schedule == SP_INTERLEAVED || q->schedule == SP_CIRCULAR;
    const struct play g = {q,
                           scale,
                           hop_s,
                           tasks,
                           q->stages,
                           q->microbatches,
                           chunked ? q->chunks : 1,
                           splits_weight(q->schedule) ? 3 : 2};
    if (total == 0)
        return false;
    played->makespan_s = 0;
    played->tasks = total;
    for (int64_t i = 0; i < total; i++)
        tasks[i].end_s = -1;
    for (int64_t s = 0; s < g.p; s++)
        played->busy_s[s] = played->peak_in_flight[s] = 0;
    if (q->schedule == SP_DUALPIPE)
        return sp_play_dual(q, scale, hop_s, tasks, played);
    return splits_weight(q->schedule) ? play_greedy(&g, stages, total, played)
                                      : play_fixed(&g, stages, total, played);
}
