/* Simulates DualPipe: half of the micro-batches enter at each end, and each device holds one stage
 * per direction. A device's tasks follow DeepSeek's order, in eight parts. */
#include <math.h>
#include <stddef.h>

#include "core/pipeline/pipeline_internal.h"

/* A device's next task: passes of one phase (0: the direction that enters at its end of the
 * pipeline), an overlapped pair of a forward pass of `phase` and a backward pass of the other, or a
 * postponed weight gradient. */
enum action { FORWARD, BACKWARD, BACKWARD_INPUT, PAIR, WEIGHT };
struct op {
    enum action action;
    int phase;
};

/* Progress of a device. */
struct device {
    double free_s, in_flight;
    int64_t part, within;                /* part of the order, and index within it */
    int64_t forward[2], backward[2];     /* micro-batches done, by direction */
    int64_t first_put_off, last_put_off; /* postponed weight gradients: micro-batches in a linked
                                            list through their tasks */
};

struct dual {
    const struct sp_pipeline *q;
    const struct sp_stage_scale *scale;
    double hop_s;
    struct sp_task *tasks;
    struct sp_played *played;
    int64_t p, m;
};

enum { PARTS = 8, KINDS = 3 };

bool sp_can_play_dual(const struct sp_pipeline *q)
{
    return q->stages >= 2 && q->stages % 2 == 0 && q->microbatches % 2 == 0 &&
           q->microbatches >= 2 * q->stages;
}

/* Distance from the nearer end. */
static int64_t half_rank(const struct dual *g, int64_t d)
{
    return d < g->p - 1 - d ? d : g->p - 1 - d;
}

/* Number of tasks in a part of a device's order. */
static int64_t length_of(const struct dual *g, int64_t half, int64_t part)
{
    const int64_t inner = g->p / 2 - half - 1; /* devices between this one and the middle */
    const int64_t pairs = g->m / 2 - g->p + half + 1;
    const int64_t lengths[PARTS] = {
        2 * inner, 2 * (half + 1), 3 * inner, pairs > 0 ? 2 * pairs + (inner == 0) : 0,
        2 * inner, 2 * (half + 1), 2 * inner, half + 1};
    return lengths[part];
}

/* The task at a position of the order. */
static struct op op_at(const struct dual *g, int64_t half, int64_t part, int64_t i)
{
    const bool middle = g->p / 2 - half - 1 == 0;
    const int64_t late = (half + 1) / 2; /* weight gradients are postponed from here on */
    switch (part) {
    case 0:
        return (struct op){FORWARD, 0};
    case 1:
        return (struct op){FORWARD, (int)(i % 2)};
    case 2:
        return i % 3 == 0   ? (struct op){BACKWARD_INPUT, 1}
               : i % 3 == 1 ? (struct op){WEIGHT, 0}
                            : (struct op){FORWARD, 1};
    case 3: /* the middle devices cannot overlap their first pair */
        if (middle && i < 2)
            return i == 0 ? (struct op){FORWARD, 0} : (struct op){BACKWARD, 1};
        return (struct op){PAIR, (int)((i - middle) % 2)};
    case 4:
        return i % 2 == 0 ? (struct op){BACKWARD, 1} : (struct op){PAIR, 1};
    case 5: {
        const int64_t from = 2 * late + (half % 2 == 0); /* odd: starts with the first of that
                                                            pair */
        return (struct op){i >= from ? BACKWARD_INPUT : BACKWARD, (int)(1 - i % 2)};
    }
    case 6:
        return i % 2 == 0 ? (struct op){WEIGHT, 0} : (struct op){BACKWARD_INPUT, 0};
    default:
        return (struct op){WEIGHT, 0};
    }
}

static int direction_of(const struct dual *g, int64_t d, int phase)
{
    return d < g->p / 2 ? phase : 1 - phase;
}

static struct sp_task *task_at(const struct dual *g, int64_t d, int direction, int64_t i, int kind)
{
    return &g->tasks[(d * g->m + direction * (g->m / 2) + i) * KINDS + kind];
}

/* When other devices see a pass as done: at the end of its pair, or of a weight gradient run with
 * it. */
static double seen_s(const struct dual *g, int64_t d, int direction, int64_t i, bool backward)
{
    const struct sp_task *const task = task_at(g, d, direction, i, backward);
    const struct sp_passes of = sp_passes_at(g->q, g->scale, d);
    if (task->end_s < 0)
        return INFINITY;
    return task->end_s + (task->joined ? (backward ? of.weight_grad : of.backward) : 0);
}

/* When the input of a device's next pass is ready; infinite if not computed yet. */
static double ready_s(const struct dual *g, const struct device *at, int64_t d, int direction,
                      bool backward)
{
    const int64_t i = backward ? at->backward[direction] : at->forward[direction];
    const bool down = (direction == 0) != backward; /* comes from the device before */
    const int64_t from = down ? d - 1 : d + 1;
    if (i >= g->m / 2)
        return INFINITY;
    if (from < 0 || from >= g->p)
        return backward ? seen_s(g, d, direction, i, false) : 0;
    return seen_s(g, from, direction, i, backward) + g->hop_s;
}

/* Records a task. */
static void record(const struct dual *g, struct device *at, int64_t d, int direction, int64_t i,
                   int kind, double start, double length, bool joined)
{
    struct sp_task *const task = task_at(g, d, direction, i, kind);
    struct sp_played *const played = g->played;
    *task = (struct sp_task){
        start,       start + length, (int32_t)d, 0, (int32_t)(direction * (g->m / 2) + i),
        "FBW"[kind], joined};
    at->free_s = start + length;
    played->busy_s[d] += length;
    if (at->free_s > played->makespan_s)
        played->makespan_s = at->free_s;
    if (kind < 2)
        at->in_flight += kind == 0 ? 1 : -1;
    if (at->in_flight > played->peak_in_flight[d])
        played->peak_in_flight[d] = at->in_flight;
}

/* Postpones a weight gradient. */
static void put_off(const struct dual *g, struct device *at, int64_t d, int64_t microbatch)
{
    if (at->first_put_off < 0)
        at->first_put_off = microbatch;
    else
        g->tasks[(d * g->m + at->last_put_off) * KINDS + 2].microbatch = (int32_t)microbatch;
    at->last_put_off = microbatch;
}

static bool run_weight(const struct dual *g, struct device *at, int64_t d, double W)
{
    const int64_t mb = at->first_put_off;
    if (mb < 0)
        return false;
    at->first_put_off =
        mb == at->last_put_off ? -1 : g->tasks[(d * g->m + mb) * KINDS + 2].microbatch;
    record(g, at, d, (int)(mb / (g->m / 2)), mb % (g->m / 2), 2, at->free_s, W, false);
    return true;
}

/* Runs a backward pass with or without its weight gradient. */
static void run_backward(const struct dual *g, struct device *at, int64_t d, int direction,
                         double start, bool whole, double B, double W)
{
    const int64_t i = at->backward[direction]++;
    record(g, at, d, direction, i, 1, start, B - W, whole);
    if (whole)
        record(g, at, d, direction, i, 2, at->free_s, W, false);
    else
        put_off(g, at, d, direction * (g->m / 2) + i);
}

/* Runs the device's next task if its inputs are ready. */
static bool run_next(const struct dual *g, struct device *at, int64_t d, struct op op)
{
    const struct sp_passes of = sp_passes_at(g->q, g->scale, d);
    const double F = of.forward, B = of.backward, W = of.weight_grad;
    if (op.action == WEIGHT)
        return run_weight(g, at, d, W);
    const int own = direction_of(g, d, op.phase), other = 1 - own;
    const bool forward = op.action == FORWARD || op.action == PAIR;
    const bool backward = op.action != FORWARD;
    const int back = op.action == PAIR ? other : own;
    double start = at->free_s;
    if (forward)
        start = fmax(start, ready_s(g, at, d, own, false));
    if (backward)
        start = fmax(start, ready_s(g, at, d, back, true));
    if (start == INFINITY)
        return false;
    if (forward) { /* other devices see a pair as a whole */
        record(g, at, d, own, at->forward[own], 0, start, F, op.action == PAIR);
        at->forward[own]++;
    }
    if (backward)
        run_backward(g, at, d, back, forward ? at->free_s : start, op.action != BACKWARD_INPUT, B,
                     W);
    return true;
}

bool sp_play_dual(const struct sp_pipeline *q, const struct sp_stage_scale *scale, double hop_s,
                  struct sp_task *tasks, struct sp_played *played)
{
    struct device at[SP_MAX_STAGES] = {{0}};
    const struct dual g = {q, scale, hop_s, tasks, played, q->stages, q->microbatches};
    int64_t done = 0;
    for (int64_t d = 0; d < g.p; d++)
        at[d].first_put_off = at[d].last_put_off = -1;
    for (int64_t before = -1; done > before;) {
        before = done;
        for (int64_t d = 0; d < g.p; d++) {
            const int64_t half = half_rank(&g, d);
            while (at[d].part < PARTS) {
                if (at[d].within == length_of(&g, half, at[d].part)) {
                    at[d].part++;
                    at[d].within = 0;
                    continue;
                }
                if (!run_next(&g, &at[d], d, op_at(&g, half, at[d].part, at[d].within)))
                    break;
                at[d].within++;
                done++;
            }
        }
    }
    for (int64_t d = 0; d < g.p; d++)
        if (at[d].part < PARTS)
            return false;
    return true;
}
