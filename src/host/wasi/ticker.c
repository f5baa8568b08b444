/* A page shows its own progress. */
#include "host/ticker.h"

void sp_start_ticker(void)
{
}

void sp_stop_ticker(void)
{
}
