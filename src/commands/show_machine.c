/* show: a machine as a whole, its bisection and its switches. */
#include <math.h>
#include <string.h>

#include "commands/show.h"

static void put_shape(struct sp_report *report, const struct sp_hardware *hw)
{
    char shape[64], rings[64] = "", cloud[64];
    sp_shape_name(hw, shape, sizeof shape);
    sp_cloud_name(hw, cloud, sizeof cloud);
    sp_put_text(report, SP_Q_SHOW_SUM_SHAPE, "%s", shape);
    if (hw->network.kind != SP_TORUS)
        return;
    for (int i = 0; i < hw->network.axes; i++)
        snprintf(rings + strlen(rings), sizeof rings - strlen(rings), "%s%s", i ? ", " : "",
                 sp_axis_wraps(hw, i) ? "ring" : "line");
    sp_put_text(report, SP_Q_SHOW_SUM_RINGS, "%s", rings);
    if (cloud[0])
        sp_put_text(report, SP_Q_SHOW_SUM_CLOUD, "%s", cloud);
}

static void put_bisection(struct sp_report *report, const struct sp_hardware *hw,
                          const struct sp_aggregate *sum)
{
    const bool torus = hw->network.kind == SP_TORUS;
    if (torus)
        sp_put(report, SP_Q_SHOW_SUM_LINKS, sum->links);
    sp_put(report,
           torus            ? SP_Q_SHOW_SUM_BISECTION
           : sum->nodes > 1 ? SP_Q_SHOW_SUM_BISECTION_CLUSTER
                            : SP_Q_SHOW_SUM_BISECTION_NODE,
           sum->bisection_bytes_per_s);
    sp_put(report, SP_Q_SHOW_SUM_BISECTION_ONE_WAY, sum->bisection_one_way_bytes_per_s);
    if (torus)
        sp_put(report, SP_Q_SHOW_SUM_DCN, sum->egress_bytes_per_s);
    else
        sp_put(report, SP_Q_SHOW_SUM_NODE_EGRESS, sum->egress_bytes_per_s);
}

/* Sums under a scope, and in the text under a heading; NULL: in none. */
static void put_sums(struct sp_report *report, const char *scope, const char *heading,
                     const struct sp_hardware *hw)
{
    const struct sp_aggregate sum = sp_aggregate(hw);
    const size_t first = sp_report_size(report);
    const bool torus = hw->network.kind == SP_TORUS;
    sp_scope(report, scope);
    sp_symbol(report, "slices", (double)hw->slices, "slices", "pieces joined by the network");
    sp_symbol(report, "slice_chips", (double)hw->chips_per_slice, "chips", "chips of one piece");
    put_shape(report, hw);
    if (hw->slices > 1)
        sp_put(report, SP_Q_SHOW_SUM_SLICES, (double)hw->slices);
    sp_put(report, SP_Q_SHOW_SUM_CHIPS, sum.chips);
    sp_put(report, SP_Q_SHOW_SUM_HOSTS, sum.hosts);
    if (torus)
        sp_put(report, SP_Q_SHOW_SUM_CORES, sum.cores);
    else
        sp_put(report, SP_Q_SHOW_SUM_NODES, sum.nodes);
    sp_put(report, SP_Q_SHOW_SUM_FLOPS, sum.flops_per_s);
    sp_put(report, SP_Q_SHOW_SUM_HBM, sum.hbm_bytes);
    sp_put(report, SP_Q_SHOW_SUM_USABLE, sum.usable_bytes);
    sp_put(report, SP_Q_SHOW_SUM_HBM_BW, sum.hbm_bytes_per_s);
    put_bisection(report, hw, &sum);
    sp_put(report, SP_Q_SHOW_SUM_POWER, sum.power_w);
    sp_put(report, SP_Q_SHOW_SUM_PRICE, sum.price_usd_per_h);
    if (heading)
        sp_show_section(report, heading, first);
    sp_scope(report, "");
}

static void put_fabric(struct sp_report *report, const struct sp_network *net, double nodes)
{
    const struct sp_fabric_size size = sp_fabric_size(net, nodes);
    const size_t first = sp_report_size(report);
    if (isnan(size.spines))
        return;
    sp_scope(report, "fabric");
    sp_symbol(report, "nodes", nodes, "nodes", "scale-up domains");
    sp_symbol(report, "nodes_per_su", net->fabric.nodes_per_su, "nodes", "nodes of a unit");
    sp_symbol(report, "leafs_per_su", net->fabric.leafs_per_su, "", "leaf switches of a unit");
    sp_symbol(report, "links_per_node", net->fabric.links_per_node, "", "cables of a node");
    sp_symbol(report, "ports", net->fabric.switch_ports, "", "ports of a switch");
    sp_symbol(report, "down", size.spine_ports, "", "ports of a spine towards the leaves");
    sp_symbol(report, "link", net->fabric.link_bytes_per_s, "bytes/s", "one cable, one way");
    sp_put(report, SP_Q_SHOW_FABRIC_SUS, size.scalable_units);
    sp_put(report, SP_Q_SHOW_FABRIC_LEAFS, size.leafs);
    sp_put(report, SP_Q_SHOW_FABRIC_UPLINKS, size.uplinks);
    sp_put(report, SP_Q_SHOW_FABRIC_SPINES, size.spines);
    sp_put(report, size.cores > 0 ? SP_Q_SHOW_FABRIC_CORES : SP_Q_SHOW_FABRIC_NO_CORES, size.cores);
    sp_put(report, SP_Q_SHOW_FABRIC_NODE, size.node_bytes_per_s);
    sp_put(report, SP_Q_SHOW_FABRIC_INGRESS, size.su_ingress_bytes_per_s);
    sp_put(report, SP_Q_SHOW_FABRIC_SU_SPINE, size.su_spine_bytes_per_s);
    sp_put(report, SP_Q_SHOW_FABRIC_SPINE, size.spine_bytes_per_s);
    sp_put(report, SP_Q_SHOW_FABRIC_PER_NODE, size.spine_per_node_bytes_per_s);
    sp_show_section(report, "switches between the nodes", first);
    sp_scope(report, "");
}

/* Number, ports and bandwidth of the switches of each level. */
static void put_switches(struct sp_report *report, const struct sp_hardware *hw)
{
    static const char *const scopes[] = {"switches.node", "switches.leaf", "switches.spine",
                                         "switches.core"};
    static const char *const labels[] = {"in the nodes", "leaf", "spine", "core"};
    static const struct sp_column columns[] = {{NULL, "switches", true},
                                               {"count", "number", false},
                                               {"ports", "ports each", false},
                                               {"bytes_per_s", "all ports, one way", false}};
    const struct sp_switches all = sp_switches_of(hw);
    struct sp_row rows[SP_SWITCH_LEVELS] = {0};
    size_t n = 0;
    for (int i = 0; i < SP_SWITCH_LEVELS; i++) {
        const struct sp_switch_level *const level = &all.level[i];
        if (!(level->switches > 0))
            continue;
        snprintf(rows[n].label, sizeof rows[n].label, "%s", labels[i]);
        snprintf(rows[n++].prefix, sizeof rows[0].prefix, "%s", scopes[i]);
        sp_scope(report, scopes[i]);
        sp_symbol(report, "port", level->bytes_per_s / level->switches / level->ports, "bytes/s",
                  "one port, one way");
        sp_put(report, SP_Q_SHOW_SWITCHES, level->switches);
        sp_put(report, SP_Q_SHOW_SWITCH_PORTS, level->ports);
        sp_put(report, SP_Q_SHOW_SWITCH_BYTES, level->bytes_per_s);
    }
    sp_scope(report, "");
    if (n == 0)
        return;
    sp_line(report, " ");
    sp_table(report, columns, sizeof columns / sizeof *columns, rows, n);
}

void sp_show_machine(struct sp_report *report, const struct sp_hardware *hw)
{
    static char heading[96];
    snprintf(heading, sizeof heading, "%.60s, %lld chip%s", hw->name, (long long)sp_chips(hw),
             sp_chips(hw) == 1 ? "" : "s");
    put_sums(report, "machine", heading, hw);
    if (hw->network.kind == SP_SWITCHED)
        put_fabric(report, &hw->network, sp_aggregate(hw).nodes);
    if (hw->network.kind == SP_SWITCHED)
        put_switches(report, hw);
}

/* One whole pod or node; a machine that is one is not told twice. */
static void show_pod(struct sp_report *report, const struct sp_hardware *hw)
{
    static struct sp_hardware pod;
    const bool torus = hw->network.kind == SP_TORUS;
    if (!sp_whole_pod(hw, &pod))
        return;
    const struct sp_entry *const chips = sp_find(report, "machine.chips");
    const bool told = chips && chips->number == (double)sp_chips(&pod);
    put_sums(report, torus ? "pod" : "node",
             told    ? NULL
             : torus ? "one whole pod"
                     : "one whole node",
             &pod);
}

/* "slices on offer: 96, from 2x2x1 to 16x20x28" */
static void line_of_shapes(struct sp_report *report, const struct sp_shown *shown)
{
    const cJSON *shapes = sp_node_at(shown->root, "network.shapes");
    const int n = cJSON_GetArraySize(shapes);
    if (n == 0)
        return;
    sp_line(report, " ");
    sp_line(report, "slices on offer: {n_shapes}, from %s to %s (--get shapes lists them)",
            sp_text_at(cJSON_GetArrayItem(shapes, 0), ""),
            sp_text_at(cJSON_GetArrayItem(shapes, n - 1), ""));
}

void sp_show_hardware(struct sp_report *report, const struct sp_shown *shown)
{
    sp_show_chip(report, shown->base);
    show_pod(report, shown->base);
    line_of_shapes(report, shown);
}
