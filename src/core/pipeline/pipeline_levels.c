/* Memory of a simulated pipeline over time. */
#include <scaleplan/pipeline.h>

/* By time; at the same time releases precede acquisitions. Shell's sort. */
static void sort_levels(struct sp_in_flight_level *level, int64_t n)
{
    for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int64_t i = gap; i < n; i++) {
            const struct sp_in_flight_level moved = level[i];
            int64_t at = i;
            for (; at >= gap; at -= gap) {
                const struct sp_in_flight_level *const before = &level[at - gap];
                if (before->s < moved.s ||
                    (before->s == moved.s && before->microbatches <= moved.microbatches))
                    break;
                level[at] = *before;
            }
            level[at] = moved;
        }
}

int64_t sp_in_flight_levels(const struct sp_task *task, int64_t tasks, int64_t chunks,
                            int64_t stage, struct sp_in_flight_level *levels)
{
    int64_t n = 0;
    for (int64_t i = 0; i < tasks; i++) {
        const bool forward = task[i].kind == 'F';
        if (task[i].stage == stage && (forward || task[i].kind == 'B'))
            levels[n++] = (struct sp_in_flight_level){forward ? task[i].start_s : task[i].end_s,
                                                      forward ? 1 : -1};
    }
    sort_levels(levels, n);
    double in_flight = 0; /* in chunks, exact in floating point */
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        in_flight += levels[i].microbatches;
        if (i + 1 < n && levels[i + 1].s == levels[i].s)
            continue;
        levels[kept++] = (struct sp_in_flight_level){levels[i].s, in_flight / (double)chunks};
    }
    return kept;
}
