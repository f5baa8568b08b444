/* The flag that Ctrl-C sets. */
#include "host/interrupt.h"

#include <signal.h>
#include <time.h>

static volatile int interrupted; /* an int, not sig_atomic_t, because searches read it as one */
const volatile int *const sp_interrupt_flag = &interrupted;

static struct timespec first;
static struct sigaction before;
static bool caught;

/* `timeout` sends its signal to the program and to its group: two signals within a fifth of a
 * second are one interrupt. */
static void on_interrupt(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double since =
        (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
    if (!interrupted) {
        first = now;
        interrupted = 1;
    } else if (since > 0.2) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void sp_catch_interrupt(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    if (!interrupted)
        sigaction(SIGINT, &action, caught ? NULL : &before);
    caught = true;
}

void sp_release_interrupt(void)
{
    if (caught)
        sigaction(SIGINT, &before, NULL);
    caught = false;
    interrupted = 0;
}

bool sp_was_interrupted(void)
{
    return interrupted != 0;
}
