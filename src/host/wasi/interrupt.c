/* A WebAssembly module is not interrupted; the page discards it. */
#include "host/interrupt.h"

static const volatile int never;
const volatile int *const sp_interrupt_flag = &never;

void sp_catch_interrupt(void)
{
}

void sp_release_interrupt(void)
{
}

bool sp_was_interrupted(void)
{
    return false;
}
