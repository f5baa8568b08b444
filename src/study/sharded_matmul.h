/* Times of a sharded array or matmul on a machine. */
#ifndef SP_SHARDED_MATMUL_H
#define SP_SHARDED_MATMUL_H

#include <scaleplan/machine.h>
#include <scaleplan/network.h>

/* The devices along axes of the mesh. On a slice, an axis of equal length wraps as there; a chip
 * without a size gets rings. */
struct sp_device_group sp_group_along(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                                      unsigned axes);

/* Time (s) of a collective over axes of the mesh; NAN without a machine (hw NULL). */
double sp_collective_along_s(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                             enum sp_collective op, double V_bytes, unsigned axes);

/* Times of a sharded matmul. s; all NAN without a machine. */
struct sp_sharded_times {
    double move_s[2];     /* of its moves, in order */
    double collectives_s; /* their sum */
    double C;             /* dense peak in the format of the first array, FLOP/s */
    double math_s;        /* per device */
    double cuts;          /* parts of the contracting dimension; NAN unless the product is
                             reduced */
    double cuts_max;      /* parts beyond which the all-reduce binds; NAN likewise */
    double other_s;       /* alternative collective: see sp_other_op */
};
struct sp_sharded_times sp_time_sharded_matmul(const struct sp_hardware *hw,
                                               const struct sp_mesh *mesh,
                                               const struct sp_sharded *a,
                                               const struct sp_sharded_matmul *m);

/* The alternative to the first move: case 2 can reduce the product, case 3 can leave it sharded.
 * False if there is none. */
bool sp_other_op(const struct sp_sharded_matmul *m, enum sp_collective *op);

#endif
