/* Units of a chip, sums over a machine, switches of a fabric: arithmetic on published figures. */
#include <math.h>

#include <scaleplan/machine.h>

struct sp_gpu_units sp_gpu_units(const struct sp_chip *chip)
{
    const double cores = chip->sms * chip->cuda_cores_per_sm;
    const double tensor_cores = chip->sms * chip->tensor_cores_per_sm;
    const double C = sp_peak16_flops_per_s(chip);
    const double f_tensor =
        isnan(chip->tensor_clock_hz) ? chip->boost_clock_hz : chip->tensor_clock_hz;
    return (struct sp_gpu_units){
        .cuda_cores = cores,
        .tensor_cores = tensor_cores,
        .vector_base_flops_per_s = cores * chip->clock_hz,
        .vector_boost_flops_per_s = cores * chip->boost_clock_hz,
        .fma_base_flops_per_s = 2 * cores * chip->clock_hz,
        .fma_boost_flops_per_s = 2 * cores * chip->boost_clock_hz,
        .tensor_over_vector = C / (cores * chip->boost_clock_hz),
        .implied_clock_hz = chip->peak_flops_per_s[SP_FP32] / (2 * cores),
        .tensor_clock_hz = f_tensor,
        .flops_per_cycle_per_tensor_core = C / (tensor_cores * f_tensor),
        .smem_bytes = chip->sms * chip->smem_bytes_per_sm,
        .register_bytes = chip->sms * chip->register_bytes_per_sm,
        .on_chip_bytes =
            chip->sms * chip->smem_bytes_per_sm + chip->sms * chip->register_bytes_per_sm,
        .nvlink_egress_bytes_per_s = chip->nvlink_ports * chip->nvlink_port_bytes_per_s,
    };
}

struct sp_tpu_units sp_tpu_units(const struct sp_chip *chip)
{
    const double mxus = chip->cores * chip->mxus_per_core;
    const double per_cycle = 2 * chip->mxu_dim * chip->mxu_dim;
    const double core_alus = chip->vpu_lanes * chip->vpu_sublanes * chip->vpu_alus;
    return (struct sp_tpu_units){
        .mxus = mxus,
        .mxu_flops_per_cycle = per_cycle,
        .mxu_flops_per_s = per_cycle * chip->clock_hz,
        .mxus_flops_per_s = mxus * per_cycle * chip->clock_hz,
        .vpu_alus = chip->cores * core_alus,
        .vpu_core_ops_per_s = core_alus * chip->clock_hz,
        .vpu_ops_per_s = chip->cores * core_alus * chip->clock_hz,
        .matrix_over_vector =
            sp_peak16_flops_per_s(chip) / (chip->cores * core_alus * chip->clock_hz),
    };
}

double sp_vector_flops_per_s(const struct sp_chip *chip, bool fused)
{
    if (!isnan(chip->cores))
        return sp_tpu_units(chip).vpu_ops_per_s;
    return chip->peak_flops_per_s[SP_FP32] / (fused ? 1 : 2);
}

enum sp_dtype sp_dtype16(const struct sp_chip *chip)
{
    return isnan(chip->peak_flops_per_s[SP_BF16]) ? SP_FP16 : SP_BF16;
}

double sp_peak16_flops_per_s(const struct sp_chip *chip)
{
    return chip->peak_flops_per_s[sp_dtype16(chip)];
}

double sp_ridge(const struct sp_chip *chip, enum sp_dtype dtype, double bytes_per_s)
{
    return chip->peak_flops_per_s[dtype] / bytes_per_s;
}

struct sp_chip_networks sp_chip_networks(const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const struct sp_chip *chip = &hw->chip;
    const bool torus = net->kind == SP_TORUS;
    const double C = sp_peak16_flops_per_s(chip), W_hbm = chip->hbm_bytes_per_s;
    const double w = torus ? net->link_bytes_per_s : NAN, W_ici = 2 * w;
    const double W_dcn = torus ? sp_dcn_bytes_per_s_per_chip(net) : NAN;
    const double W_gpu = torus ? NAN : net->domain_bytes_per_s;
    return (struct sp_chip_networks){
        .axis_bytes_per_s = W_ici,
        .egress_bytes_per_s = 2 * (double)net->axes * w,
        .dcn_bytes_per_s = W_dcn,
        .alpha_axis = C / W_ici,
        .alpha_dcn = C / W_dcn,
        .hbm_over_link = W_hbm / w,
        .hbm_over_axis = W_hbm / W_ici,
        .hbm_over_dcn = W_hbm / W_dcn,
        .alpha_node = C / W_gpu,
        .alpha_cross = torus ? NAN : C / sp_node_bytes_per_s(net),
        .hbm_over_node = W_hbm / W_gpu,
        .hbm_over_scaleout = torus ? NAN : W_hbm / net->scaleout_bytes_per_s,
        .hbm_over_pcie = W_hbm / chip->pcie_bytes_per_s,
        .vmem_over_hbm = chip->vmem_bytes_per_s / W_hbm,
    };
}

int64_t sp_chips_per_host(const struct sp_network *network)
{
    if (network->kind == SP_TORUS)
        return network->chips_per_host;
    return network->devices_per_host > 0 ? network->devices_per_host : network->domain;
}

double sp_bisection_links(const struct sp_hardware *hw)
{
    const double chips = (double)sp_shape_chips(&hw->shape);
    double fewest = NAN;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        const double length = hw->shape.axis[i];
        if (length < 2)
            continue;
        const double links = chips / length * (sp_axis_wraps(hw, i) ? 2 : 1);
        fewest = fmin(fewest, links); /* fmin ignores the NAN at the start */
    }
    return fewest;
}

/* Both directions together: each of the cut links carries w each way, or each device of one half
 * sends W to the other while as much comes back. */
static double bisection_bytes_per_s(const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const double chips = (double)hw->chips_per_slice, domain = (double)net->domain;
    if (net->kind == SP_TORUS)
        return 2 * sp_bisection_links(hw) * net->link_bytes_per_s;
    if (chips < 2)
        return NAN;
    return chips <= domain ? chips * net->domain_bytes_per_s : chips * net->scaleout_bytes_per_s;
}

struct sp_aggregate sp_aggregate(const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const struct sp_chip *chip = &hw->chip;
    const bool torus = net->kind == SP_TORUS;
    const double chips = (double)sp_chips(hw), slice = (double)hw->chips_per_slice;
    const double slices = (double)hw->slices;
    const double hosts = slices * ceil(slice / (double)sp_chips_per_host(net));
    return (struct sp_aggregate){
        .chips = chips,
        .hosts = hosts,
        .nodes = torus ? NAN : ceil(chips / (double)net->domain),
        .cores = chips * chip->cores,
        .flops_per_s = chips * sp_peak16_flops_per_s(chip),
        .hbm_bytes = chips * chip->hbm_bytes,
        .usable_bytes = chips * sp_capacity_bytes(chip),
        .hbm_bytes_per_s = chips * chip->hbm_bytes_per_s,
        .links = torus ? sp_bisection_links(hw) : NAN,
        .bisection_bytes_per_s = bisection_bytes_per_s(hw),
        .bisection_one_way_bytes_per_s = bisection_bytes_per_s(hw) / 2,
        .egress_bytes_per_s =
            torus ? hosts * net->dcn_bytes_per_s_per_host : sp_node_bytes_per_s(net),
        .power_w = chips * chip->tdp_w,
        .price_usd_per_h = chips * chip->price_usd_per_h,
    };
}

bool sp_whole_pod(const struct sp_hardware *hw, struct sp_hardware *pod)
{
    *pod = *hw;
    pod->slices = 1;
    pod->chips_per_slice = hw->network.domain;
    if (hw->network.kind == SP_TORUS) {
        pod->shape = hw->network.pod_shape;
        pod->chips_per_slice = sp_shape_chips(&pod->shape);
    }
    return pod->chips_per_slice >= 1;
}

struct sp_fabric_size sp_fabric_size(const struct sp_network *network, double nodes)
{
    const struct sp_fabric *fabric = &network->fabric;
    const double sus = nodes >= 2 ? ceil(nodes / fabric->nodes_per_su) : NAN;
    const double leafs = sus * fabric->leafs_per_su, ports = fabric->switch_ports;
    const double uplinks = nodes * fabric->links_per_node;
    const double link = fabric->link_bytes_per_s;
    /* A spine reaches every leaf only while there are no more leaves than it has ports; beyond, it
     * gives half of its ports to a core layer. */
    const bool cores = leafs > ports;
    const double down = cores ? ports / 2 : ports;
    const double spines = isnan(sus) ? NAN : ceil(uplinks / down);
    return (struct sp_fabric_size){
        .scalable_units = sus,
        .leafs = leafs,
        .uplinks = isnan(sus) ? NAN : uplinks,
        .spine_ports = down,
        .spines = spines,
        .cores = isnan(sus) ? NAN
                 : cores    ? ceil(uplinks / ports)
                            : 0,
        .node_bytes_per_s = fabric->links_per_node * link,
        .su_ingress_bytes_per_s =
            isnan(sus) ? NAN : fmin(nodes, fabric->nodes_per_su) * fabric->links_per_node * link,
        .su_spine_bytes_per_s = isnan(sus) ? NAN : fabric->leafs_per_su * ports / 2 * link,
        .spine_bytes_per_s = spines * down * link,
        .spine_per_node_bytes_per_s = spines * down * link / nodes,
    };
}

static struct sp_switch_level level_of(double switches, double ports, double port_bytes_per_s)
{
    return (struct sp_switch_level){switches, ports, switches * ports * port_bytes_per_s};
}

struct sp_switches sp_switches_of(const struct sp_hardware *hw)
{
    const struct sp_network *const net = &hw->network;
    const double nodes = sp_aggregate(hw).nodes, ports = net->fabric.switch_ports;
    const struct sp_fabric_size size = sp_fabric_size(net, nodes);
    const double link = net->fabric.link_bytes_per_s;
    return (struct sp_switches){{
        [SP_SWITCHES_DOMAIN] = level_of(nodes * net->domain_switches, net->domain_switch_ports,
                                        hw->chip.nvlink_port_bytes_per_s),
        [SP_SWITCHES_LEAF] = level_of(size.leafs, ports, link),
        [SP_SWITCHES_SPINE] = level_of(size.spines, ports, link),
        [SP_SWITCHES_CORE] = level_of(size.cores, ports, link),
    }};
}
