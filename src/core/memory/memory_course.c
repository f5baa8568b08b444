/* Memory of a device over a step. */
#include <scaleplan/memory.h>

#include <math.h>

#include "core/require.h"

/* Events where slopes or levels change. In an event `activations` and `gradients` are changes of
 * slope (share of the whole per s), and `first` is the change in running backward passes. */
typedef struct sp_memory_moment event;

/* By time; at the same time ends precede starts. Shell's sort. */
static void sort_events(event *e, int64_t n)
{
    for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int64_t i = gap; i < n; i++) {
            const event moved = e[i];
            int64_t at = i;
            for (; at >= gap; at -= gap) {
                const event *const before = &e[at - gap];
                if (before->s < moved.s || (before->s == moved.s && before->first <= moved.first))
                    break;
                e[at] = *before;
            }
            e[at] = moved;
        }
}

/* Whether this is the first task of its kind for a chunk; tasks are ordered by micro-batch. */
static bool is_first(const struct sp_task *task, char kind, int64_t *chunk)
{
    if (task->kind != kind || task->chunk == *chunk)
        return false;
    *chunk = task->chunk;
    return true;
}

/* Writes two events per task; returns their number. */
static int64_t collect(const struct sp_memory_course *c, event *e)
{
    const double share = 1 / (double)c->chunks;
    int64_t n = 0, chunk = -1;
    char gradients = 'B';
    for (int64_t i = 0; i < c->tasks; i++)
        if (c->task[i].kind == 'W')
            gradients = 'W';
    for (int64_t i = 0; i < c->tasks; i++) {
        const struct sp_task *const t = &c->task[i];
        if (t->stage != c->stage || !(t->end_s > t->start_s))
            continue;
        const double slope = share / (t->end_s - t->start_s), back = t->kind == 'B';
        const event start = {.s = t->start_s,
                             .activations = t->kind == 'F' ? slope : -slope * back,
                             .gradients = is_first(t, gradients, &chunk) ? slope : 0,
                             .first = back};
        e[n++] = start;
        e[n++] = (event){t->end_s, -start.activations, -start.gradients, -back, 0};
    }
    sort_events(e, n);
    return n;
}

/* Current shares of a stage's memory. */
struct held {
    double in_flight, gradients; /* micro-batches; share of all gradients */
    bool backward, updated;
};

static struct sp_memory_moment bytes_at(const struct sp_memory_course *c, double s,
                                        double most_in_flight, const struct held *h)
{
    const struct sp_stage_memory *const m = c->memory;
    const struct sp_framework *const f = c->framework;
    const double states = c->precision->master_bytes + c->precision->optimizer_bytes;
    const double moments =
        states > 0 ? (double)m->optimizer * c->precision->optimizer_bytes / states : 0;
    const double kept = (double)(m->activations - m->transient) / most_in_flight;
    struct sp_memory_moment at = {
        .s = s,
        .activations = fmax(0, h->in_flight) * kept + (h->backward ? (double)m->transient : 0),
        .gradients = (double)m->grads * (f->keeps_gradients ? 1 : fmin(h->gradients, 1))};
    at.later = (double)(m->params + m->optimizer + m->buffers) + at.activations + at.gradients;
    at.first = at.later - (h->updated || f->early_optimizer ? 0 : moments);
    return at;
}

/* Most micro-batches in flight according to the events. */
static double most_in_flight(const event *e, int64_t n)
{
    double level = 0, slope = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        level += i > 0 ? slope * (e[i].s - e[i - 1].s) : 0;
        slope += e[i].activations;
        most = fmax(most, level);
    }
    return most;
}

struct sp_memory_moment sp_fullest_moment(const struct sp_memory_moment *m, int64_t n,
                                          bool first_step)
{
    sp_require(n >= 1, "the count must be at least 1");
    struct sp_memory_moment fullest = m[0];
    for (int64_t i = 1; i < n; i++)
        if (first_step ? m[i].first > fullest.first : m[i].later > fullest.later)
            fullest = m[i];
    return fullest;
}

int64_t sp_most_memory_moments(int64_t tasks)
{
    return 4 * tasks + 4;
}

int64_t sp_memory_over_step(const struct sp_memory_course *c, struct sp_memory_moment *moments,
                            struct sp_memory_moment marks[SP_MEMORY_MARKS])
{
    /* events are stored in the upper half, which moments overwrite only after they are read */
    event *const e = moments + 2 * c->tasks + 4;
    const int64_t n = collect(c, e);
    const double most = most_in_flight(e, n);
    struct held h = {.in_flight = 0};
    double slope = 0, rise = 0, under_way = 0, s = 0;
    int64_t k = 0;
    moments[k++] = marks[SP_AT_START] = marks[SP_AT_ACTIVATIONS] = bytes_at(c, 0, most, &h);
    for (int64_t i = 0; i < n; i++) {
        const event at = e[i];
        h.in_flight += slope * (at.s - s);
        h.gradients += rise * (at.s - s);
        moments[k++] = bytes_at(c, s = at.s, most, &h);
        slope += at.activations;
        rise += at.gradients;
        under_way += at.first;
        h.backward = under_way > 0.5;
        const struct sp_memory_moment after = moments[k++] = bytes_at(c, s, most, &h);
        if (after.later > marks[SP_AT_ACTIVATIONS].later &&
            after.activations >= marks[SP_AT_ACTIVATIONS].activations * (1 - 1e-12))
            marks[SP_AT_ACTIVATIONS] = after;
    }
    h = (struct held){.gradients = 1};
    marks[SP_AT_BACKWARD] = bytes_at(c, s, most, &h);
    h.updated = true;
    moments[k++] = marks[SP_AT_UPDATE] = bytes_at(c, s, most, &h);
    moments[k++] = bytes_at(c, s + c->update_s, most, &h);
    h.gradients = 0;
    moments[k++] = marks[SP_AT_END] = bytes_at(c, s + c->update_s, most, &h);
    return k;
}
