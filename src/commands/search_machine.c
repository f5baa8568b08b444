/* search: all plans of one machine, with progress on a terminal. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "commands/search_report.h"

/* A bar on a terminal, once the search takes longer than people wait without one. */
static void show_progress(double share, void *context)
{
    static struct timespec last;
    const struct timespec *const start = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double since =
        (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
    const double again =
        (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
    if (since < 0.5 || again < 0.1)
        return;
    last = now;
    fprintf(stderr, "\rsearching  [%-40.*s] %3.0f %%", (int)(40 * share),
            "########################################", 100 * share);
}

void sp_search_machine(struct sp_searching *s, int machine)
{
    struct sp_candidate *const m = s->machine[machine];
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    s->run.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
    s->run.context = &start;
    sp_run_search(&m->space, &s->run, &m->result);
    if (s->run.progress)
        fprintf(stderr, "\r%60s\r", "");
}
