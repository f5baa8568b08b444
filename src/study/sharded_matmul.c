/* Times of a sharded array or matmul on a machine. */
#include "study/sharded_matmul.h"

#include <math.h>

#include <scaleplan/forms.h>

struct sp_device_group sp_group_along(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                                      unsigned axes)
{
    struct sp_device_group group = sp_group_on(hw);
    struct sp_torus_group *const g = &group.torus;
    struct sp_layout layout;
    group.nodes.devices = sp_axes_product(mesh, axes);
    const bool laid = !group.switched && hw->chips_per_slice > 1 &&
                      sp_lay_out(hw, mesh->length, mesh->n, &layout);
    if (laid)
        *g = sp_group_of(hw, &layout, axes);
    for (int i = 0; !laid && i < mesh->n && g->n < 3; i++) {
        if (!(axes >> i & 1))
            continue;
        bool wraps = hw->chips_per_slice == 1;
        for (int k = 0; k < SP_MAX_AXES; k++)
            wraps = wraps || (hw->shape.axis[k] == mesh->length[i] && sp_axis_wraps(hw, k));
        g->length[g->n] = mesh->length[i];
        g->wraps[g->n++] = wraps;
    }
    return group;
}

double sp_collective_along_s(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                             enum sp_collective op, double V, unsigned axes)
{
    if (!hw)
        return NAN;
    const struct sp_device_group group = sp_group_along(hw, mesh, axes);
    return sp_collective_s(op, V, &group);
}

bool sp_other_op(const struct sp_sharded_matmul *m, enum sp_collective *op)
{
    *op = m->kind == SP_CASE_REDUCE ? SP_REDUCE_SCATTER : SP_ALL_REDUCE;
    return m->kind == SP_CASE_REDUCE || m->can_reduce;
}

/* Finds how far the contracting dimension can be cut: cuts shrink the arithmetic but not the
 * reduction. */
static void add_cuts(const struct sp_hardware *hw, const struct sp_mesh *mesh,
                     const struct sp_sharded_matmul *m, struct sp_sharded_times *t)
{
    const struct sp_device_group group = sp_group_along(hw, mesh, m->move[0].over);
    t->cuts = sp_axes_product(mesh, m->move[0].over);
    t->cuts_max = sp_most_cuts(t->math_s * t->cuts, m->output_bytes, &group);
}

struct sp_sharded_times sp_time_sharded_matmul(const struct sp_hardware *hw,
                                               const struct sp_mesh *mesh,
                                               const struct sp_sharded *a,
                                               const struct sp_sharded_matmul *m)
{
    struct sp_sharded_times t = {{NAN, NAN}, 0, NAN, NAN, NAN, NAN, NAN};
    enum sp_collective other;
    for (int i = 0; i < m->moves; i++) {
        const struct sp_sharded_move *const move = &m->move[i];
        t.move_s[i] = sp_collective_along_s(
            hw, mesh, move->gathered < 0 ? SP_ALL_REDUCE : SP_ALL_GATHER, move->bytes, move->over);
        t.collectives_s += t.move_s[i];
    }
    if (sp_other_op(m, &other))
        t.other_s = sp_collective_along_s(hw, mesh, other, m->output_bytes, m->move[0].over);
    if (!hw)
        return t;
    t.C = hw->chip.peak_flops_per_s[sp_compute_dtype(&hw->chip, (enum sp_dtype)a->dtype)];
    t.math_s = sp_sharded_math_s(m->flops, m->replication, sp_axes_product(mesh, ~0u), t.C);
    if (m->kind == SP_CASE_REDUCE)
        add_cuts(hw, mesh, m, &t);
    return t;
}
