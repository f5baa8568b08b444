/* Sharded arrays on a mesh. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/network.h>

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
    return sp_shard_bytes(sp_whole_bytes(array), sp_axes_product(mesh, sp_sharding_axes(array)));
}

double sp_local_dim(const struct sp_mesh *mesh, const struct sp_sharded *array, int dimension)
{
    return sp_local_size(array->size[dimension], sp_axes_product(mesh, array->axes[dimension]));
}

/* Index of the dimension that both arrays share by name; -1 unless there is exactly one. */
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

/* Adds the gather of an input over some axes, if any. */
static void gather(struct sp_sharded_matmul *m, const struct sp_mesh *mesh,
                   const struct sp_sharded *input, int which, unsigned over,
                   enum sp_matmul_case kind)
{
    if (over == 0)
        return;
    const double others = sp_axes_product(mesh, sp_sharding_axes(input) & ~over);
    m->move[m->moves++] =
        (struct sp_sharded_move){kind, which, over, sp_whole_bytes(input) / others};
}

/* Adds the moves: gather clashing axes and those that cut the contracting dimension of one input
 * only (in one gather if the same input); reduce over those that cut it in both. */
static void add_moves(struct sp_sharded_matmul *m, const struct sp_mesh *mesh,
                      const struct sp_sharded *const input[2], unsigned clash,
                      const unsigned shared[2])
{
    const int smaller = sp_local_bytes(mesh, input[0]) < sp_local_bytes(mesh, input[1]) ? 0 : 1;
    const int cut = shared[0] ? 0 : 1;
    const unsigned alone = shared[0] == shared[1] ? 0 : shared[cut];
    const bool together = clash && alone && smaller == cut;
    gather(m, mesh, input[smaller], smaller, clash | (together ? alone : 0), SP_CASE_CLASH);
    gather(m, mesh, input[cut], cut, together ? 0 : alone, SP_CASE_GATHER);
    if (shared[0] && shared[0] == shared[1])
        m->move[m->moves++] =
            (struct sp_sharded_move){SP_CASE_REDUCE, -1, shared[0], m->output_bytes};
    m->kind = m->moves > 0 ? m->move[0].kind : SP_CASE_NONE;
}

struct sp_sharded_matmul sp_sharded_matmul(const struct sp_mesh *mesh, const struct sp_sharded *a,
                                           const struct sp_sharded *b, double out_element_bytes)
{
    int k_b = 0;
    const int k_a = common_dim(a, b, &k_b);
    struct sp_sharded_matmul m = {.kind = SP_CASE_MISMATCH};
    if (k_a < 0)
        return m;
    const struct sp_sharded *const input[2] = {a, b};
    const unsigned shared[2] = {a->axes[k_a], b->axes[k_b]};
    const unsigned outer_a = outer_axes(a, k_a), outer_b = outer_axes(b, k_b);
    if (shared[0] && shared[1] && shared[0] != shared[1])
        return m;
    m.flops = 2 * outer_size(a, k_a) * outer_size(b, k_b) * a->size[k_a];
    m.output_bytes = out_element_bytes * outer_size(a, k_a) * outer_size(b, k_b) /
                     sp_axes_product(mesh, outer_a | outer_b);
    m.replication = sp_axes_product(mesh, ~(outer_a | outer_b | (shared[0] & shared[1])));
    add_moves(&m, mesh, input, outer_a & outer_b, shared);
    m.can_reduce = m.kind == SP_CASE_GATHER && ((shared[0] | shared[1]) & (outer_a | outer_b)) == 0;
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
