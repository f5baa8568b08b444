/* Requests of many lengths, run through an instance. */
#ifndef SP_SERVE_TRAFFIC_H
#define SP_SERVE_TRAFFIC_H

#include <scaleplan/serve_simulation.h>

/* Simulates an instance that sp_prepare_instance estimated, with as many requests before those that
 * are measured as a steady state needs. False: more run or wait at once than are simulated. */
bool sp_simulate_instance(const struct sp_serve_instance *instance, struct sp_traffic *traffic,
                          struct sp_simulated *result);

#endif
