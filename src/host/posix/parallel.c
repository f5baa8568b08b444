/* Threads that take chunks of work from a common counter. */
#include "base/memory.h"
#include "host/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

struct sp_work {
    atomic_int_fast64_t next;
    int64_t n, chunk;
    void (*run)(struct sp_share *share, void *context);
    void *context;
    struct sp_share share[SP_MAX_THREADS];
    pthread_t thread[SP_MAX_THREADS];
};

bool sp_take(struct sp_share *share, int64_t *from, int64_t *to)
{
    struct sp_work *const w = share->work;
    *from = atomic_fetch_add(&w->next, w->chunk);
    *to = *from + w->chunk < w->n ? *from + w->chunk : w->n;
    return *from < w->n;
}

const bool sp_makes_threads = true;

int sp_threads(int wanted)
{
    const char *const given = getenv("OMP_NUM_THREADS");
    cpu_set_t cores;
    if (wanted <= 0 && given)
        wanted = atoi(given);
    if (wanted <= 0 && sched_getaffinity(0, sizeof cores, &cores) == 0)
        wanted = CPU_COUNT(&cores);
    return wanted < 1 ? 1 : wanted < SP_MAX_THREADS ? wanted : SP_MAX_THREADS;
}

static void *run(void *context)
{
    struct sp_share *const share = context;
    share->work->run(share, share->work->context);
    return NULL;
}

/* Starts threads until the system refuses; returns their number. */
static int start(struct sp_work *w, int threads)
{
    pthread_attr_t attributes;
    int made = 0;
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_setstacksize(&attributes, SP_STACK_BYTES);
    for (; made < threads && made < SP_MAX_THREADS; made++) {
        w->share[made] = (struct sp_share){made, w};
        if (pthread_create(&w->thread[made], &attributes, run, &w->share[made]) != 0)
            break;
    }
    pthread_attr_destroy(&attributes);
    return made;
}

/* Not OpenMP: its library costs every command a tenth of its start-up, and its threads spin while
 * they wait, which hurts on shared cores. */
void sp_parallel(int threads, int64_t n, int64_t chunk,
                 void (*work)(struct sp_share *share, void *context), void *context)
{
    struct sp_work *const w = sp_must(calloc(1, sizeof *w));
    w->n = n;
    w->chunk = chunk;
    w->run = work;
    w->context = context;
    const int made = start(w, threads);
    if (made == 0)
        work(&(struct sp_share){0, w}, context);
    for (int i = 0; i < made; i++)
        pthread_join(w->thread[i], NULL);
    free(w);
}

/* A listed model takes 130 kB of stack and commands nest several, so threads, the program and the
 * web module have 4 MiB. */
bool sp_has_stack(size_t bytes)
{
    struct rlimit stack;
    return getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= bytes;
}
