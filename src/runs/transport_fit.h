/* Fits the curve of a collective over a transport to measured times. */
#ifndef SP_TRANSPORT_FIT_H
#define SP_TRANSPORT_FIT_H

#include <stddef.h>

#include <scaleplan/network.h>

/* A measured collective. */
struct sp_transport_point {
    double bound_s; /* throughput bound of its slowest level */
    double nodes, time_s;
    int sweep; /* points of one sweep are left out together; no part of the fit */
};

/* A point from nccl-tests, whose size of an all-to-all is what one rank sends. The group lies on
 * the machine's domains and its scale-out network. */
struct sp_transport_point sp_transport_point(const struct sp_hardware *hw, enum sp_collective op,
                                             double ranks, double size_bytes, double time_s);

/* ln(curve / measured) of a point. */
double sp_transport_error(const struct sp_transport_curve *curve,
                          const struct sp_transport_point *point);

/* The most likely curve, with its rows and residual. Errors count by their logarithm, robustly;
 * priors decide whatever few points leave open. Deterministic. */
struct sp_transport_curve sp_fit_transport(const struct sp_transport_point *points, size_t n);

#endif
