#include "interrupt.h"

#include <signal.h>

static volatile int
    interrupted; /* an int, not sig_atomic_t, because that is what a search looks at */
const volatile int *const sp_interrupt_flag = &interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void sp_catch_interrupt(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    if (!interrupted)
        sigaction(SIGINT, &action, NULL);
}

bool sp_was_interrupted(void)
{
    return interrupted != 0;
}
