/* Sharded arrays on a mesh. */
#include <math.h>

#include <scaleplan/sharding.h>

double sp_axes_product(const struct sp_mesh *mesh, unsigned axes)
{
    double product = 1;
    for (int i = 0; i < mesh->n; i++)
        if (axes >> i & 1)
            product *= (double)mesh->length[i];
    return product;
}

unsigned sp_sharding_axes(const struct sp_sharded *array)
{
    unsigned axes = 0;
    for (int i = 0; i < array->n; i++)
        axes |= array->axes[i];
    return axes;
}

double sp_whole_bytes(const struct sp_sharded *array)
{
    double bytes = array->element_bytes;
    for (int i = 0; i < array->n; i++)
        bytes *= array->size[i];
    return bytes;
}

double sp_local_bytes(const struct sp_mesh *mesh, const struct sp_sharded *array)
{
    return sp_whole_bytes(array) / sp_axes_product(mesh, sp_sharding_axes(array));
}

double sp_replicas(const struct sp_mesh *mesh, const struct sp_sharded *array)
{
    return sp_axes_product(mesh, ~sp_sharding_axes(array));
}

/* Position of the dimension that both arrays have, by name; -1 when it is not exactly one. */
static int common_dim(const struct sp_sharded *a, const struct sp_sharded *b, int *in_b)
{
    int found = -1;
    for (int i = 0; i < a->n; i++) {
        for (int k = 0; k < b->n; k++) {
            if (a->name[i] != b->name[k])
                continue;
            if (found >= 0)
                return -1;
            found = i;
            *in_b = k;
        }
    }
    return found;
}

/* Axes that shard the other dimensions. */
static unsigned outer_axes(const struct sp_sharded *array, int contracted)
{
    unsigned axes = 0;
    for (int i = 0; i < array->n; i++)
        if (i != contracted)
            axes |= array->axes[i];
    return axes;
}

static double outer_size(const struct sp_sharded *array, int contracted)
{
    double size = 1;
    for (int i = 0; i < array->n; i++)
        if (i != contracted)
            size *= array->size[i];
    return size;
}

/* Sets up the gather of one input over `over`. */
static void gather(struct sp_sharded_matmul *m, const struct sp_mesh *mesh,
                   const struct sp_sharded *input, int which, unsigned over)
{
    m->gathered = which;
    m->over = over;
    m->bytes = sp_whole_bytes(input) / sp_axes_product(mesh, sp_sharding_axes(input) & ~over);
}

struct sp_sharded_matmul sp_sharded_matmul(const struct sp_mesh *mesh, const struct sp_sharded *a,
                                           const struct sp_sharded *b, double out_element_bytes)
{
    int k_b = 0;
    const int k_a = common_dim(a, b, &k_b);
    struct sp_sharded_matmul m = {.kind = SP_CASE_MISMATCH, .gathered = -1};
    if (k_a < 0)
        return m;
    const unsigned shared_a = a->axes[k_a], shared_b = b->axes[k_b];
    const unsigned outer_a = outer_axes(a, k_a), outer_b = outer_axes(b, k_b),
                   clash = outer_a & outer_b;
    const double out = out_element_bytes * outer_size(a, k_a) * outer_size(b, k_b);
    m.flops = 2 * outer_size(a, k_a) * outer_size(b, k_b) * a->size[k_a];
    m.output_bytes = out / sp_axes_product(mesh, outer_a | outer_b);
    unsigned working = outer_a | outer_b | (shared_a & shared_b);
    if (clash) {
        const bool smaller_a = sp_local_bytes(mesh, a) < sp_local_bytes(mesh, b);
        m.kind = SP_CASE_CLASH;
        gather(&m, mesh, smaller_a ? a : b, smaller_a ? 0 : 1, clash);
    } else if (shared_a && shared_a == shared_b) {
        m.kind = SP_CASE_REDUCE;
        m.over = shared_a;
        m.bytes = m.output_bytes;
    } else if (shared_a && shared_b) {
        return (struct sp_sharded_matmul){.kind = SP_CASE_MISMATCH, .gathered = -1};
    } else if (shared_a || shared_b) {
        m.kind = SP_CASE_GATHER;
        gather(&m, mesh, shared_a ? a : b, shared_a ? 0 : 1, shared_a | shared_b);
    } else {
        m.kind = SP_CASE_NONE;
    }
    m.replication = sp_axes_product(mesh, ~working);
    return m;
}

double sp_most_cuts(double whole_math_s, double V_bytes, const struct sp_device_group *group)
{
    double most = 1e-9, beyond = 1;
    while (beyond <= 1e18 && beyond * sp_all_reduce_over_s(beyond, V_bytes, group) <= whole_math_s)
        beyond *= 2;
    if (beyond > 1e18)
        return INFINITY;
    for (int i = 0; i < 200; i++) {
        const double X = (most + beyond) / 2;
        if (X * sp_all_reduce_over_s(X, V_bytes, group) <= whole_math_s)
            most = X;
        else
            beyond = X;
    }
    return most;
}
