/* Units of a chip, totals of a machine, switches of a fabric. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/machine.h>

double sp_host_bytes_per_s(const struct sp_chip *chip)
{
    return chip->c2c_bytes_per_s > 0 ? chip->c2c_bytes_per_s : chip->pcie_bytes_per_s;
}

struct sp_gpu_units sp_gpu_units(const struct sp_chip *chip)
{
    const double lanes = sp_total_of_sms(chip->sms, chip->cuda_cores_per_sm);
    const double tensor_cores = sp_total_of_sms(chip->sms, chip->tensor_cores_per_sm);
    const double C = sp_peak16_flops_per_s(chip);
    const double boost = sp_vector_peak(lanes, chip->boost_clock_hz);
    const double f_tensor =
        isnan(chip->tensor_clock_hz) ? chip->boost_clock_hz : chip->tensor_clock_hz;
    const double smem = sp_total_of_sms(chip->sms, chip->smem_bytes_per_sm);
    const double registers = sp_total_of_sms(chip->sms, chip->register_bytes_per_sm);
    return (struct sp_gpu_units){
        .cuda_cores = lanes,
        .tensor_cores = tensor_cores,
        .vector_base_flops_per_s = sp_vector_peak(lanes, chip->clock_hz),
        .vector_boost_flops_per_s = boost,
        .fma_base_flops_per_s = sp_fma_peak(lanes, chip->clock_hz),
        .fma_boost_flops_per_s = sp_fma_peak(lanes, chip->boost_clock_hz),
        .tensor_over_vector = sp_matrix_over_vector(C, boost),
        .implied_clock_hz = sp_fma_clock(chip->peak_flops_per_s[SP_FP32], lanes),
        .tensor_clock_hz = f_tensor,
        .flops_per_cycle_per_tensor_core = sp_flops_per_unit_cycle(C, tensor_cores, f_tensor),
        .smem_bytes = smem,
        .register_bytes = registers,
        .on_chip_bytes = sp_on_chip_memory(smem, registers),
        .nvlink_egress_bytes_per_s =
            sp_nvlink_egress(chip->nvlink_ports, chip->nvlink_port_bytes_per_s),
    };
}

struct sp_tpu_units sp_tpu_units(const struct sp_chip *chip)
{
    const double lanes = chip->vpu_lanes, sublanes = chip->vpu_sublanes, alus = chip->vpu_alus;
    const double mxus = sp_total_of_cores(chip->cores, chip->mxus_per_core);
    const double all_alus = sp_vpu_alus(chip->cores, lanes, sublanes, alus);
    const double vector = sp_vector_peak(all_alus, chip->clock_hz);
    return (struct sp_tpu_units){
        .mxus = mxus,
        .mxu_flops_per_cycle = sp_mxu_flops_per_cycle(chip->mxu_dim),
        .mxu_flops_per_s = sp_mxu_peak(1, chip->mxu_dim, chip->clock_hz),
        .mxus_flops_per_s = sp_mxu_peak(mxus, chip->mxu_dim, chip->clock_hz),
        .vpu_alus = all_alus,
        .vpu_core_ops_per_s = sp_vpu_core_peak(lanes, sublanes, alus, chip->clock_hz),
        .vpu_ops_per_s = vector,
        .matrix_over_vector = sp_matrix_over_vector(sp_peak16_flops_per_s(chip), vector),
    };
}

/* GPU: the fp32 peak (half without FMA). TPU: one operation per cycle and ALU. */
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
    return sp_ridge_point(chip->peak_flops_per_s[dtype], bytes_per_s);
}

struct sp_chip_networks sp_chip_networks(const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const struct sp_chip *chip = &hw->chip;
    const bool torus = net->kind == SP_TORUS;
    const double C = sp_peak16_flops_per_s(chip), W_hbm = chip->hbm_bytes_per_s;
    const double w = torus ? net->link_bytes_per_s : NAN, W_ici = sp_ring_rate(w);
    const double W_dcn = torus ? sp_dcn_bytes_per_s_per_chip(net) : NAN;
    const double W_gpu = torus ? NAN : net->domain_bytes_per_s;
    const double W_node = torus ? NAN : sp_node_bytes_per_s(net);
    const double scaleout = torus ? NAN : net->scaleout_bytes_per_s;
    return (struct sp_chip_networks){
        .axis_bytes_per_s = W_ici,
        .egress_bytes_per_s = sp_torus_egress((double)net->axes, w),
        .dcn_bytes_per_s = W_dcn,
        .alpha_axis = sp_ridge_point(C, W_ici),
        .alpha_dcn = sp_ridge_point(C, W_dcn),
        .hbm_over_link = sp_bandwidth_ratio(W_hbm, w),
        .hbm_over_axis = sp_bandwidth_ratio(W_hbm, W_ici),
        .hbm_over_dcn = sp_bandwidth_ratio(W_hbm, W_dcn),
        .alpha_node = sp_ridge_point(C, W_gpu),
        .alpha_cross = sp_ridge_point(C, W_node),
        .hbm_over_node = sp_bandwidth_ratio(W_hbm, W_gpu),
        .hbm_over_scaleout = sp_bandwidth_ratio(W_hbm, scaleout),
        .hbm_over_pcie = sp_bandwidth_ratio(W_hbm, chip->pcie_bytes_per_s),
        .vmem_over_hbm = sp_bandwidth_ratio(chip->vmem_bytes_per_s, W_hbm),
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

/* Both directions summed: each cut link carries w each way; on switches each device of one half
 * sends W and receives as much. */
static double bisection_bytes_per_s(const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const double chips = (double)hw->chips_per_slice, domain = (double)net->domain;
    if (net->kind == SP_TORUS)
        return sp_torus_bisection(sp_bisection_links(hw), net->link_bytes_per_s);
    if (chips < 2)
        return NAN;
    return sp_switched_bisection(chips, chips <= domain ? net->domain_bytes_per_s
                                                        : net->scaleout_bytes_per_s);
}

struct sp_aggregate sp_aggregate(const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const struct sp_chip *chip = &hw->chip;
    const bool torus = net->kind == SP_TORUS;
    const double chips = (double)sp_chips(hw), both_ways = bisection_bytes_per_s(hw);
    const double hosts = sp_hosts_of_slices((double)hw->slices, (double)hw->chips_per_slice,
                                            (double)sp_chips_per_host(net));
    return (struct sp_aggregate){
        .chips = chips,
        .hosts = hosts,
        .nodes = torus ? NAN : sp_domains_of_chips(chips, (double)net->domain),
        .cores = sp_total_of_chips(chip->cores, chips),
        .flops_per_s = sp_total_of_chips(sp_peak16_flops_per_s(chip), chips),
        .hbm_bytes = sp_total_of_chips(chip->hbm_bytes, chips),
        .usable_bytes = sp_total_of_chips(sp_capacity_bytes(chip), chips),
        .hbm_bytes_per_s = sp_total_of_chips(chip->hbm_bytes_per_s, chips),
        .links = torus ? sp_bisection_links(hw) : NAN,
        .bisection_bytes_per_s = both_ways,
        .bisection_one_way_bytes_per_s = sp_one_way(both_ways),
        .egress_bytes_per_s = torus ? sp_hosts_egress(hosts, net->dcn_bytes_per_s_per_host)
                                    : sp_node_bytes_per_s(net),
        .power_w = sp_total_of_chips(chip->tdp_w, chips),
        .price_usd_per_h = sp_total_of_chips(chip->price_usd_per_h, chips),
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
    const struct sp_fabric *const fabric = &network->fabric;
    if (!(nodes >= 2))
        nodes = NAN;
    const double sus = sp_scalable_units(nodes, fabric->nodes_per_su);
    const double leafs = sp_leaf_switches(sus, fabric->leafs_per_su), ports = fabric->switch_ports;
    const double uplinks = sp_node_cables(nodes, fabric->links_per_node);
    const double link = fabric->link_bytes_per_s;
    /* A spine reaches every leaf only if it has a port for each; with more leaves it gives half of
     * its ports to a core layer. */
    const bool cores = leafs > ports;
    const double down = cores ? ports / 2 : ports;
    const double spines = isnan(sus) ? NAN : sp_switches_for_cables(uplinks, down);
    const double spine = sp_switch_ports_rate(spines, down, link);
    return (struct sp_fabric_size){
        .scalable_units = sus,
        .leafs = leafs,
        .uplinks = isnan(sus) ? NAN : uplinks,
        .spine_ports = down,
        .spines = spines,
        .cores = isnan(sus) ? NAN
                 : cores    ? sp_switches_for_cables(uplinks, ports)
                            : 0,
        .node_bytes_per_s = sp_node_to_leaf(fabric->links_per_node, link),
        .su_ingress_bytes_per_s =
            isnan(sus) ? NAN
                       : sp_unit_ingress(nodes, fabric->nodes_per_su, fabric->links_per_node, link),
        .su_spine_bytes_per_s =
            isnan(sus) ? NAN : sp_unit_to_spine(fabric->leafs_per_su, ports, link),
        .spine_bytes_per_s = spine,
        .spine_per_node_bytes_per_s = sp_spine_share_of_node(spine, nodes),
    };
}

static struct sp_switch_level level_of(double switches, double ports, double port_bytes_per_s)
{
    return (struct sp_switch_level){switches, ports, port_bytes_per_s,
                                    sp_switch_ports_rate(switches, ports, port_bytes_per_s)};
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
