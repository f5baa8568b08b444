/* Slices, available sizes, and bandwidths from links. */
#include <math.h>
#include <string.h>

#include <scaleplan/forms.h>
#include <scaleplan/machine.h>

#include "core/smooth.h"

int64_t sp_shape_chips(const struct sp_shape *shape)
{
    int64_t chips = 1;
    for (int i = 0; i < SP_MAX_AXES; i++)
        chips *= shape->axis[i];
    return chips;
}

int64_t sp_chips(const struct sp_hardware *hw)
{
    return hw->chips_per_slice * hw->slices;
}

/* A missing peak falls back to the next wider format, which the caller reports. */
enum sp_dtype sp_compute_dtype(const struct sp_chip *chip, enum sp_dtype wanted)
{
    enum sp_dtype dtype = wanted;
    for (int tries = 0; tries < SP_DTYPES; tries++) {
        if (!isnan(chip->peak_flops_per_s[dtype]))
            return dtype;
        dtype = sp_dtypes[dtype].fallback;
    }
    return SP_DTYPES;
}

enum sp_dtype sp_math_of_stored(const struct sp_chip *chip, enum sp_storage stored_as)
{
    const enum sp_dtype math = sp_storages[stored_as].matmul;
    return math == SP_FP4 && isnan(chip->peak_flops_per_s[SP_FP4]) ? SP_BF16 : math;
}

bool sp_axis_wraps(const struct sp_hardware *hw, int axis)
{
    const struct sp_network *net = &hw->network;
    switch (net->wrap) {
    case SP_WRAP_CUBE:
        for (int i = 0; i < net->axes; i++)
            if (hw->shape.axis[i] % 4 != 0)
                return false;
        return true;
    case SP_WRAP_AXIS16:
        return hw->shape.axis[axis] == 16;
    case SP_WRAP_FULL_POD:
        return sp_shape_chips(&hw->shape) == sp_shape_chips(&net->pod_shape);
    case SP_WRAP_ALWAYS:
        return true;
    default:
        return false;
    }
}

double sp_axis_rate(double link_bytes_per_s, double X, bool wraps)
{
    return wraps ? 2 * link_bytes_per_s : link_bytes_per_s * X / (X - 1);
}

double sp_axis_bytes_per_s(double link_bytes_per_s, int64_t length, bool wraps)
{
    return length <= 1 ? 0 : sp_axis_rate(link_bytes_per_s, (double)length, wraps);
}

double sp_axes_bytes_per_s(double link_bytes_per_s, int n, const int64_t length[],
                           const bool wraps[])
{
    double N = 1, rate = 0;
    for (int i = 0; i < n; i++)
        N *= (double)length[i];
    for (int i = 0; i < n; i++)
        rate += length[i] > 1 ? sp_axis_rate(link_bytes_per_s, N, wraps[i]) : 0;
    return rate;
}

double sp_slice_axes_bytes_per_s(const struct sp_hardware *hw, unsigned axes)
{
    int64_t length[SP_MAX_AXES];
    bool wraps[SP_MAX_AXES];
    for (int i = 0; i < SP_MAX_AXES; i++) {
        length[i] = axes >> i & 1 ? hw->shape.axis[i] : 1;
        wraps[i] = sp_axis_wraps(hw, i);
    }
    return sp_axes_bytes_per_s(hw->network.link_bytes_per_s, SP_MAX_AXES, length, wraps);
}

double sp_domain_bytes_per_s(const struct sp_network *network, double ranks)
{
    const double links = (double)network->domain_links;
    const double share = links > 0 ? sp_smaller((ranks - 1) / links, 1) : 1;
    return network->domain_bytes_per_s * share;
}

double sp_dcn_bytes_per_s_per_chip(const struct sp_network *network)
{
    return sp_share_of_host(network->dcn_bytes_per_s_per_host, (double)network->chips_per_host);
}

double sp_node_bytes_per_s(const struct sp_network *network)
{
    return sp_domain_egress((double)network->domain, network->scaleout_bytes_per_s);
}

double sp_scaleout_bytes_per_s_per_device(const struct sp_scaleout *scaleout, int64_t devices)
{
    return sp_share_of_line(scaleout->bytes_per_s, scaleout->per_node ? (double)devices : 1);
}

/* A named network has unknown switches, so fabric and third level are dropped. */
void sp_use_scaleout(struct sp_network *network, const struct sp_scaleout *scaleout)
{
    network->scaleout_bytes_per_s = sp_scaleout_bytes_per_s_per_device(scaleout, network->domain);
    if (!isnan(scaleout->latency_s))
        network->scaleout_latency_s = scaleout->latency_s;
    memcpy(network->scaleout_name, scaleout->name, sizeof network->scaleout_name);
    network->fabric = (struct sp_fabric){NAN, NAN, NAN, NAN, NAN};
    network->transport = scaleout->transport;
}

/* Every device gets its own link, even if the network is per node. NCCL rates measured on NVLink no
 * longer apply. */
void sp_use_everywhere(struct sp_hardware *hw, const struct sp_scaleout *scaleout)
{
    struct sp_network *const net = &hw->network;
    sp_use_scaleout(net, scaleout);
    net->scaleout_bytes_per_s = net->domain_bytes_per_s = scaleout->bytes_per_s;
    if (!isnan(scaleout->latency_s))
        net->domain_latency_s = scaleout->latency_s;
    net->domain_switches = net->domain_switch_ports = NAN;
    net->domain_links = 0;
    net->transport = (struct sp_transport_curves){0};
    sp_clear_collectives(&hw->chip.kernels);
}

static bool same_shape_in_any_order(const struct sp_shape *a, const struct sp_shape *b)
{
    bool used[SP_MAX_AXES] = {false};
    for (int i = 0; i < SP_MAX_AXES; i++) {
        int j = 0;
        while (j < SP_MAX_AXES && (used[j] || a->axis[i] != b->axis[j]))
            j++;
        if (j == SP_MAX_AXES)
            return false;
        used[j] = true;
    }
    return true;
}

static int64_t longest_axis(const struct sp_shape *shape)
{
    int64_t longest = 0;
    for (int i = 0; i < SP_MAX_AXES; i++)
        if (shape->axis[i] > longest)
            longest = shape->axis[i];
    return longest;
}

bool sp_find_shape(const struct sp_network *network, int64_t chips, struct sp_shape *found)
{
    bool any = false;
    if (chips == 1) {
        *found = (struct sp_shape){{1, 1, 1}};
        return true;
    }
    for (int i = 0; i < network->n_shapes; i++) {
        const struct sp_shape *shape = &network->shapes[i];
        if (sp_shape_chips(shape) != chips)
            continue;
        if (!any || longest_axis(shape) < longest_axis(found))
            *found = *shape;
        any = true;
    }
    return any;
}

bool sp_offers_shape(const struct sp_network *network, const struct sp_shape *wanted,
                     struct sp_shape *found)
{
    if (sp_shape_chips(wanted) == 1) {
        *found = *wanted;
        return true;
    }
    for (int i = 0; i < network->n_shapes; i++) {
        if (same_shape_in_any_order(&network->shapes[i], wanted)) {
            *found = network->shapes[i];
            return true;
        }
    }
    return false;
}

/* Axes of at least this many chips. */
static int axes_from(const struct sp_shape *shape, int32_t chips)
{
    int n = 0;
    for (int i = 0; i < SP_MAX_AXES; i++)
        n += shape->axis[i] >= chips;
    return n;
}

bool sp_pod_holds_shape(const struct sp_network *network, const struct sp_shape *wanted)
{
    bool holds = true;
    for (int i = 0; i < SP_MAX_AXES; i++)
        holds = holds && axes_from(wanted, wanted->axis[i]) <=
                             axes_from(&network->pod_shape, wanted->axis[i]);
    return holds;
}

/* Whether a job uses the same part of each domain. */
static bool fills_parts(const struct sp_network *network, int64_t chips)
{
    return network->kind == SP_SWITCHED && network->domain_part > 0 &&
           network->domain_part < network->domain && chips % network->domain_part == 0;
}

/* Jobs that do not fill racks of 72 use 64 devices of each, as measured runs on 128, 256 and 512
 * GB200 did. */
void sp_use_domains(struct sp_network *network, int64_t chips)
{
    if (fills_parts(network, chips) && chips > network->domain && chips % network->domain != 0)
        network->domain = network->domain_part;
}

static int64_t host_of(const struct sp_network *network)
{
    return network->devices_per_host > 0 ? network->devices_per_host : network->domain;
}

bool sp_offers_chips(const struct sp_network *network, int64_t chips)
{
    if (chips < 1)
        return false;
    if (network->kind == SP_TORUS) {
        struct sp_shape shape;
        return sp_find_shape(network, chips, &shape);
    }
    const int64_t domain = network->domain, host = host_of(network);
    if (chips >= domain)
        return chips % domain == 0 || fills_parts(network, chips);
    return host % chips == 0 || chips % host == 0;
}

bool sp_has_chips(const struct sp_network *network, int64_t chips)
{
    return sp_offers_chips(network, chips) ||
           (network->kind == SP_SWITCHED && chips > 0 && chips < host_of(network));
}

static int64_t nearest_multiple(int64_t of, int64_t chips, bool up)
{
    const int64_t down = chips - chips % of;
    return up && down < chips ? down + of : down;
}

bool sp_take_slice(struct sp_hardware *hw, int64_t chips)
{
    if (!sp_has_chips(&hw->network, chips))
        return false;
    hw->chips_per_slice = chips;
    sp_use_domains(&hw->network, chips);
    return hw->network.kind != SP_TORUS || sp_find_shape(&hw->network, chips, &hw->shape);
}

bool sp_take_nodes(struct sp_hardware *hw, int64_t devices, int64_t nodes)
{
    struct sp_network *const net = &hw->network;
    if (net->kind != SP_SWITCHED || devices > net->domain || !sp_has_chips(net, devices))
        return false;
    net->domain = devices;
    if (net->devices_per_host > devices)
        net->devices_per_host = devices;
    hw->chips_per_slice = devices * nodes;
    return true;
}

int64_t sp_nearest_chips(const struct sp_network *network, int64_t chips, bool up)
{
    if (network->kind == SP_SWITCHED) {
        if (chips >= network->domain) {
            const int64_t whole = nearest_multiple(network->domain, chips, up);
            const int64_t part = network->domain_part > 0
                                     ? nearest_multiple(network->domain_part, chips, up)
                                     : whole;
            return (up ? part < whole : part > whole) ? part : whole;
        }
        while (chips >= 1 && !sp_offers_chips(network, chips))
            chips += up ? 1 : -1;
        return chips < 1 ? 0 : chips;
    }
    int64_t nearest = 0;
    for (int i = -1; i < network->n_shapes; i++) {
        const int64_t offered = i < 0 ? 1 : sp_shape_chips(&network->shapes[i]);
        if (up ? offered < chips : offered > chips)
            continue;
        if (nearest == 0 || (up ? offered < nearest : offered > nearest))
            nearest = offered;
    }
    return nearest;
}

double sp_smallest_slice(const struct sp_network *network, double chips)
{
    const double whole = ceil(chips * (1 - 1e-12)); /* absorb rounding */
    const int64_t slice = whole <= 1e9 ? sp_nearest_chips(network, (int64_t)whole, true) : 0;
    return slice > 0 ? (double)slice : NAN;
}
