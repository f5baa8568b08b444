/* A page shows by itself that it works. */
#include "host/ticker.h"

void sp_start_ticker(void)
{
}

void sp_stop_ticker(void)
{
}
