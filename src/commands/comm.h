/* What the files of `comm` share. */
#ifndef SP_CMD_COMM_H
#define SP_CMD_COMM_H

#include "cli/command.h"

/* --op: enum sp_collective, and a send between two chips. */
enum { SP_COMM_SEND = SP_COLLECTIVES, SP_COMM_OPS };

struct sp_comm {
    struct sp_hardware hw;
    struct sp_mesh mesh; /* of --mesh; no axes without */
    unsigned axes;       /* of the mesh that the group runs on */
    int op;
    double V; /* bytes, after division by other axes */
    const struct sp_args *args;
    struct sp_report *report;
};

/* One collective or send on a machine of switches, and the time that it takes. s. */
bool sp_comm_switched(const struct sp_comm *f, double *time_s, struct sp_error *error);

#endif
