/* search: all plans of one machine, with progress on a terminal. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "commands/search.h"

/* When a search began, and when its bar was last drawn. */
struct clock {
    struct timespec start, last;
};

static double seconds(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

/* A bar on a terminal, once the search takes longer than people wait without one. */
static void show_progress(double share, void *context)
{
    struct clock *const clock = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds(&clock->start, &now) < 0.5 || seconds(&clock->last, &now) < 0.1)
        return;
    clock->last = now;
    fprintf(stderr, "\rsearching  [%-40.*s] %3.0f %%", (int)(40 * share),
            "########################################", 100 * share);
}

void sp_look(struct sp_searching *s, int machine)
{
    struct sp_candidate *const m = s->of.machine[machine];
    struct clock clock = {0};
    clock_gettime(CLOCK_MONOTONIC, &clock.start);
    s->of.run.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
    s->of.run.context = &clock;
    sp_run_search(&m->space, &s->of.run, &m->result);
    if (s->of.run.progress)
        fprintf(stderr, "\r%60s\r", "");
    s->of.run.progress = NULL;
}
