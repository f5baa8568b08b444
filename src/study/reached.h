/* The rate that a collective reaches on a machine of switches, as in the estimate of a step. */
#ifndef SP_STUDY_REACHED_H
#define SP_STUDY_REACHED_H

#include "config/load.h"

/* A collective over n devices. */
struct sp_reached {
    double devices;
    double bound_s; /* throughput of the published rates */
    double time_s;  /* by the profile of the framework: rates and waits as measured */
};

/* Over one node, two, four, ... and the whole machine; `rows` has room for `room`. An all-reduce; a
 * gather or a reduction are half of one (a ring's two halves). Returns the number of rows, -1 with
 * an error. */
int sp_reached_over_nodes(const struct sp_hardware *hw, const char *framework,
                          const struct sp_sources *sources, enum sp_collective op, double bytes,
                          struct sp_reached *rows, int room, struct sp_error *error);

#endif
