/* Sharded arrays on a mesh, and the communication of a sharded matmul. */
#ifndef SCALEPLAN_SHARDING_H
#define SCALEPLAN_SHARDING_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/collective.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { SP_MESH_AXES = 8, SP_SHARD_DIMS = 8 };

/* A mesh: named axes and their lengths. */
struct sp_mesh {
    char name[SP_MESH_AXES];
    int64_t length[SP_MESH_AXES];
    int n;
};

/* An array of n dimensions; axes[i] is the set of mesh axes (bits) that shard dimension i, partial
 * the set over which it is an unreduced sum. */
struct sp_sharded {
    int n;
    char name[SP_SHARD_DIMS];
    double size[SP_SHARD_DIMS];
    unsigned axes[SP_SHARD_DIMS];
    unsigned partial;
    double element_bytes;
};

/* Product of the lengths of a set of axes. */
double sp_axes_product(const struct sp_mesh *mesh, unsigned axes);

/* Every axis that shards a dimension of the array. */
unsigned sp_sharding_axes(const struct sp_sharded *array);

/* Bytes of the whole array, and of the piece that one device holds. */
double sp_whole_bytes(const struct sp_sharded *array);
double sp_local_bytes(const struct sp_mesh *mesh, const struct sp_sharded *array);

/* Size of a dimension (0-based) on one device. */
double sp_local_dim(const struct sp_mesh *mesh, const struct sp_sharded *array, int dimension);

/* The four cases of a sharded matmul. Scaling book, "Sharding": (1) the contracting dimension is
 * whole in both; (2) one input shards it: gather that input; (3) both shard it on the same axes:
 * the product is a partial sum, reduce it; (4) an axis shards an output dimension of both inputs:
 * gather one of them first. */
enum sp_matmul_case {
    SP_CASE_NONE = 1,
    SP_CASE_GATHER,
    SP_CASE_REDUCE,
    SP_CASE_CLASH,
    SP_CASE_MISMATCH
};

/* One collective of a sharded matmul. */
struct sp_sharded_move {
    enum sp_matmul_case kind; /* what it is for */
    int gathered;             /* 0 or 1: which input is gathered; -1: the product is reduced */
    unsigned over;            /* axes of the collective */
    double bytes;             /* V: the array of the collective, divided by its other axes */
};

struct sp_sharded_matmul {
    enum sp_matmul_case kind;       /* of the first move */
    struct sp_sharded_move move[2]; /* in their order: what case 4 leaves may be case 2 or 3 */
    int moves;
    bool can_reduce;    /* whether, in case 2, the product can be reduced instead of the gather */
    double flops;       /* of the whole product, done once */
    double replication; /* factor by which all devices together do more: axes that shard nothing of
                           it */
    double
        output_bytes; /* of the product, divided by the axes that shard it; for the alternative */
};

/* What multiplying a by b over their common dimension takes. Both need exactly one name in common,
 * sharded alike or in one of them only. Of case 4 the input is gathered whose piece is smaller.
 * Where an axis that cuts the contracting dimension of one input cuts the output dimension of the
 * other, each device has other rows of the product, whose partial sums nobody could add: there is
 * no other way than the gather. */
struct sp_sharded_matmul sp_sharded_matmul(const struct sp_mesh *mesh, const struct sp_sharded *a,
                                           const struct sp_sharded *b, double out_element_bytes);

/* Parts into which a contracting dimension can be cut before the all-reduce of the product takes
 * longer than the arithmetic: the largest real X with X sp_all_reduce_over_s(X) <= whole_math_s,
 * the arithmetic of a device if nothing were cut (s); V bytes is the product, which the cut leaves
 * as it is, and the group says on what kind of axes or levels. K W / (2 C) on a ring of W in bf16,
 * one more on lines and inside a node. INFINITY where nothing is summed. Scaling book, "Sharding".
 */
double sp_most_cuts(double whole_math_s, double V_bytes, const struct sp_device_group *group);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
