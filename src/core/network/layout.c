/* Logical meshes on the physical axes of a slice. */
#include <math.h>

#include <scaleplan/network.h>
#include <scaleplan/plan.h>

/* Takes one whole unused physical axis of that length, preferring the same axis number. */
static bool take_axis(const struct sp_shape *shape, int64_t left[], int64_t length, int number,
                      int64_t part[])
{
    for (int k = 0; k < SP_MAX_AXES; k++) {
        const int i = (number + k) % SP_MAX_AXES;
        if (left[i] != shape->axis[i] || shape->axis[i] != length)
            continue;
        part[i] = length;
        left[i] = 1;
        return true;
    }
    return false;
}

/* Takes several whole unused physical axes whose product is that length. */
static bool take_axes(const struct sp_shape *shape, int64_t left[], int64_t length, int64_t part[])
{
    for (unsigned set = 1; set < 1u << SP_MAX_AXES; set++) {
        int64_t product = 1;
        for (int i = 0; i < SP_MAX_AXES; i++)
            if (set >> i & 1)
                product *= left[i] == shape->axis[i] ? shape->axis[i] : 0;
        if (product != length)
            continue;
        for (int i = 0; i < SP_MAX_AXES; i++) {
            if (!(set >> i & 1))
                continue;
            part[i] = shape->axis[i];
            left[i] = 1;
        }
        return true;
    }
    return false;
}

/* Takes parts of the remaining axes, of a single one if possible. */
static bool take_parts(int64_t left[], int64_t length, int64_t part[])
{
    for (int i = 0; i < SP_MAX_AXES; i++) {
        if (left[i] % length != 0)
            continue;
        part[i] = length;
        left[i] /= length;
        return true;
    }
    for (int i = 0; i < SP_MAX_AXES; i++) {
        part[i] = sp_common_divisor(length, left[i]);
        length /= part[i];
        left[i] /= part[i];
    }
    return length == 1;
}

bool sp_lay_out(const struct sp_hardware *hw, const int64_t *lengths, int n,
                struct sp_layout *layout)
{
    int64_t left[SP_MAX_AXES];
    bool laid[SP_LAYOUT_AXES] = {false};
    if (n < 0 || n > SP_LAYOUT_AXES)
        return false;
    layout->n = n;
    for (int i = 0; i < SP_MAX_AXES; i++)
        left[i] = hw->shape.axis[i];
    for (int a = 0; a < n; a++) {
        if (lengths[a] < 1)
            return false;
        for (int i = 0; i < SP_MAX_AXES; i++)
            layout->part[a][i] = 1;
        laid[a] = lengths[a] == 1;
    }
    for (int a = 0; a < n; a++)
        if (!laid[a])
            laid[a] = take_axis(&hw->shape, left, lengths[a], a % SP_MAX_AXES, layout->part[a]);
    for (int a = 0; a < n; a++)
        if (!laid[a])
            laid[a] = take_axes(&hw->shape, left, lengths[a], layout->part[a]);
    for (int a = 0; a < n; a++)
        if (!laid[a] && !take_parts(left, lengths[a], layout->part[a]))
            return false;
    return true;
}

struct sp_torus_group sp_group_of(const struct sp_hardware *hw, const struct sp_layout *layout,
                                  unsigned axes)
{
    struct sp_torus_group group = {.link_bytes_per_s = hw->network.link_bytes_per_s,
                                   .hop_latency_s = hw->network.hop_latency_s};
    for (int i = 0; i < SP_MAX_AXES; i++) {
        int64_t length = 1;
        for (int a = 0; a < layout->n; a++)
            if (axes >> a & 1)
                length *= layout->part[a][i];
        if (length == 1)
            continue;
        group.length[group.n] = length;
        group.wraps[group.n++] = length == hw->shape.axis[i] && sp_axis_wraps(hw, i);
    }
    return group;
}

/* The box with the least traffic whose sides divide the axes; ranks can be placed freely. All
 * estimates use this rule. */
struct sp_torus_group sp_exchange_box(const struct sp_hardware *hw, int64_t chips)
{
    const int32_t *const axis = hw->shape.axis;
    struct sp_torus_group best = {0};
    double least = INFINITY;
    for (int64_t a = 1; a <= axis[0]; a++) {
        for (int64_t b = 1; axis[0] % a == 0 && b <= axis[1]; b++) {
            const struct sp_layout box = {1, {{a, b, chips / (a * b)}}};
            if (axis[1] % b != 0 || chips % (a * b) != 0 || axis[2] % box.part[0][2] != 0)
                continue;
            const struct sp_torus_group group = sp_group_of(hw, &box, 1);
            const double s = sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1, &group);
            if (s < least) {
                best = group;
                least = s;
            }
        }
    }
    return best;
}
