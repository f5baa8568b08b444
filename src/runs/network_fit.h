/* A network's curves from the times of collectives, and the text of its file. */
#ifndef SP_NETWORK_FIT_H
#define SP_NETWORK_FIT_H

#include <stdio.h>

#include "runs/nccl_tests.h"
#include "runs/transport_fit.h"

/* A collective inside a domain or between several, fitted. */
struct sp_fitted_curve {
    enum sp_collective op;
    bool inside;
    struct sp_transport_curve curve;
    double least_nodes, most_nodes;
};

struct sp_network_fit {
    struct sp_scaleout network; /* the machine's scale-out line, with the curves */
    struct sp_fitted_curve of[2 * SP_COLLECTIVES];
    int n;
};

/* Fits times on a switched machine. Fails if ranks do not fill its domains. */
bool sp_fit_network(const struct sp_hardware *hw, const struct sp_nccl_times *times,
                    struct sp_network_fit *fit, struct sp_error *error);

/* The curves as members of a network's file, each with a comma after it. */
void sp_put_network_curves(FILE *out, const struct sp_transport_curves *curves);

/* The network's JSON text; free() it. */
char *sp_network_text(const struct sp_scaleout *network, const char *source);

#endif
