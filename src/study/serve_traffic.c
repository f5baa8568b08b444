/* Requests of many lengths, run through an instance. */
#include "study/serve_traffic.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { MOST_AT_ONCE = 1 << 20, TURNS = 3 };

bool sp_simulate_instance(const struct sp_serve_instance *instance, struct sp_traffic *t,
                          struct sp_simulated *result)
{
    const bool closed = !isnan(t->requests.in_flight);
    const double room = sp_room_for_sequences(&instance->served);
    const double usual = closed ? t->requests.in_flight : 4 * fmin(room, MOST_AT_ONCE / 4.0) + 64;
    const size_t most = (size_t)ceil(fmax(1, usual)), n = t->counted;
    if (!(usual <= MOST_AT_ONCE))
        return false;
    /* a closed loop begins with all at once, an open one empty */
    t->skipped = t->arrivals ? 0 : closed ? TURNS * most : n / 10;
    struct sp_running *const running = sp_must(malloc(2 * most * sizeof *running));
    double *const times = sp_must(malloc((most + 3 * n) * sizeof *times));
    const struct sp_simulation_room of = {.running = running,
                                          .most = most,
                                          .sent = times,
                                          .ttft = times + most,
                                          .tpot = times + most + n,
                                          .e2e = times + most + 2 * n};
    sp_simulate_serving(&instance->pass, t, &of, result);
    free(running);
    free(times);
    return true;
}
