/* What a sharded array or matmul takes on a machine. */
#ifndef SP_SHARDED_MATMUL_H
#define SP_SHARDED_MATMUL_H

#include <scaleplan/machine.h>
#include <scaleplan/network.h>

/* The devices along some axes of the mesh. On a slice, an axis of the same length wraps as the
 * slice has it; a chip named without a size stands for whole rings. */
struct sp_device_group sp_group_along(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                                      unsigned axes);

/* Seconds of a collective over some axes of the mesh; NAN without a machine (hw NULL). */
double sp_collective_along_s(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                             enum sp_collective op, double V_bytes, unsigned axes);

/* Times of a sharded matmul. s; all NAN without a machine. */
struct sp_sharded_times {
    double move_s[2];     /* of its moves, in their order */
    double collectives_s; /* together */
    double C;             /* dense peak in the format of the first array; FLOP/s */
    double math_s;        /* of one device */
    double cuts;          /* parts of the contracting dimension; NAN unless the product is summed */
    double cuts_max;      /* parts beyond which its all-reduce binds; NAN as before */
    double other_s;       /* of the collective that could stand in for the first: see sp_other_op */
};
struct sp_sharded_times sp_time_sharded_matmul(const struct sp_hardware *hw,
                                               const struct sp_mesh *mesh,
                                               const struct sp_sharded *a,
                                               const struct sp_sharded_matmul *m);

/* What one collective alone could do instead: in case 2 reduce the product, in case 3 leave it cut.
 * False: there is no other way. */
bool sp_other_op(const struct sp_sharded_matmul *m, enum sp_collective *op);

#endif
