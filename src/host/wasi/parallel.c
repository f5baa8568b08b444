/* A module's single thread does all the work. */
#include "host/parallel.h"

struct sp_work {
    int64_t next, n, chunk;
};

bool sp_take(struct sp_share *share, int64_t *from, int64_t *to)
{
    struct sp_work *const w = share->work;
    *from = w->next;
    w->next += w->chunk;
    *to = w->next < w->n ? w->next : w->n;
    return *from < w->n;
}

const bool sp_makes_threads = false;

int sp_threads(int wanted)
{
    (void)wanted;
    return 1;
}

bool sp_has_stack(size_t bytes)
{
    (void)bytes;
    return true;
}

void sp_parallel(int threads, int64_t n, int64_t chunk,
                 void (*work)(struct sp_share *share, void *context), void *context)
{
    struct sp_work all = {0, n, chunk};
    (void)threads;
    work(&(struct sp_share){0, &all}, context);
}
