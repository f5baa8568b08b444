/* Collectives, sharded matmuls, rooflines and runs: values derived by hand. */
#include "check.h"

#include <math.h>

#include <scaleplan/scaleplan.h>

/* 1 GB on links of 45 GB/s. Ring of 16: V / 90e9. Line of 4: V (3/4) / 45e9. Both: V / (90e9 +
 * 60e9). */
static void torus(void **state)
{
    (void)state;
    const struct sp_torus_group ring = {1, {16, 1, 1}, {true, false, false}, 45e9, 1e-6};
    const struct sp_torus_group line = {1, {4, 1, 1}, {false, false, false}, 45e9, 1e-6};
    const struct sp_torus_group both = {2, {16, 4, 1}, {true, false, false}, 45e9, 1e-6};
    assert_close(sp_torus_bandwidth_s(SP_ALL_GATHER, 1e9, &ring), 1e9 / 90e9, 1e-15);
    assert_close(sp_torus_bandwidth_s(SP_ALL_REDUCE, 1e9, &ring), 2e9 / 90e9, 1e-15);
    assert_close(sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1e9, &ring), 1e9 / 360e9, 1e-15);
    assert_close(sp_torus_bandwidth_s(SP_REDUCE_SCATTER, 1e9, &line), 0.75e9 / 45e9, 1e-15);
    /* the middle link of 4 in a line: 2 x 2 pairs each way, V/16 each */
    assert_close(sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1e9, &line), 0.25e9 / 45e9, 1e-15);
    /* a chip at an end of its line has one link there, and takes in 63/64 beside the ring */
    const double corner = 90e9 + 45e9 * 64 / 63;
    assert_close(sp_torus_bandwidth_s(SP_ALL_GATHER, 1e9, &both), 1e9 / corner, 1e-15);
    assert_close(sp_torus_latency_s(SP_ALL_GATHER, &ring), 8e-6, 1e-15);
    assert_close(sp_torus_latency_s(SP_ALL_REDUCE, &line), 6e-6, 1e-15);
    assert_true(sp_corner_hops(&both) == 8 + 3);
    assert_true(sp_torus_bandwidth_s(SP_ALL_GATHER, 0, &ring) == 0);
}

/* 1 GB, nodes of 8 at 450 GB/s per device and 400 GB/s per node. */
static void switches(void **state)
{
    (void)state;
    const struct sp_switch_group node = {8, 8, 450e9, 400e9, 1}, unit = {256, 8, 450e9, 400e9, 1};
    const struct sp_switch_group inner = {256, 8, 450e9, 400e9, 64}, four = {4, 8, 450e9, 400e9, 1};
    assert_close(sp_switch_collective(SP_ALL_GATHER, 1e9, &node).node_s, 7e9 / (8 * 450e9), 1e-14);
    assert_true(sp_switch_collective(SP_ALL_GATHER, 1e9, &node).cross_s == 0);
    assert_close(sp_switch_collective(SP_ALL_GATHER, 1e9, &unit).cross_s, 31e9 / (32 * 400e9),
                 1e-14);
    assert_close(sp_switch_collective(SP_ALL_TO_ALL, 1e9, &node).node_s, 7e9 / (64 * 450e9), 1e-14);
    assert_close(sp_switch_collective(SP_ALL_TO_ALL, 1e9, &unit).cross_s, 31e9 / (1024 * 400e9),
                 1e-14);
    /* An inner axis of 64: an eighth of the node's part, eight times less across (8/64). */
    assert_close(sp_switch_collective(SP_ALL_GATHER, 1e9, &inner).cross_s, 31e9 / (32 * 400e9) / 8,
                 1e-14);
    assert_close(sp_switch_collective(SP_ALL_GATHER, 1e9, &inner).node_s, 7e9 / (8 * 450e9) / 8,
                 1e-14);
    assert_close(sp_switch_collective(SP_ALL_REDUCE, 1e9, &four).node_s, 1.5e9 / 450e9, 1e-14);
    assert_close(sp_ragged_share(8, 64), 0.125 * 63 / 64, 1e-15);
    assert_close(sp_ragged_share_exact(1, 64), 1.0 / 64 * 63 / 64, 1e-12);
}

/* 1 GB over 1024 devices in units of 32 nodes behind 12.8 TB/s: the scaling book's 514, 413 and
 * 17,100 GB/s per level. An exchange leaves 7/1024 of each device's 1/1024 inside its node, and
 * each of the 128 nodes sends 127/128 of its 1/128. */
static void units(void **state)
{
    (void)state;
    const struct sp_switch_group pod = {1024, 8, 450e9, 400e9, 1}, one = {8, 8, 450e9, 400e9, 1};
    const struct sp_switch_time gather = sp_unit_collective(SP_ALL_GATHER, 1e9, &pod, 256, 12.8e12);
    assert_close(gather.node_rate, 450e9 * 8 / 7, 1e-13);
    assert_close(gather.cross_rate, 400e9 * 32 / 31, 1e-13);
    assert_close(gather.spine_rate, 12.8e12 * 4 / 3, 1e-13);
    assert_close(sp_switch_bound_s(&gather), gather.cross_s, 0);
    const struct sp_switch_time all = sp_unit_collective(SP_ALL_TO_ALL, 1e9, &pod, 256, 12.8e12);
    assert_close(all.node_s, 7e9 / (1024.0 * 1024 * 450e9), 1e-13);
    assert_close(all.cross_s, 127e9 / (128.0 * 128 * 400e9), 1e-13);
    assert_close(all.spine_s, 3e9 / (16 * 12.8e12), 1e-13);
    const struct sp_switch_time flat = sp_unit_collective(SP_ALL_GATHER, 1e9, &pod, NAN, NAN);
    assert_true(flat.spine_s == 0 && isinf(flat.spine_rate));
    assert_close(flat.cross_s, 127e9 / (128 * 400e9), 1e-13);
    /* a unit and a half are two units: half of the array enters each */
    struct sp_switch_group half = pod;
    half.devices = 384;
    const struct sp_switch_time part = sp_unit_collective(SP_ALL_GATHER, 1e9, &half, 256, 12.8e12);
    assert_close(part.spine_s, 0.5e9 / 12.8e12, 1e-13);
    const struct sp_switch_time sum = sp_switch_collective(SP_ALL_REDUCE, 1e9, &one);
    assert_close(sp_in_network_all_reduce_s(sum.rough_s), 1e9 / 450e9, 1e-13);
    const struct sp_switch_time sums = sp_switch_collective(SP_ALL_REDUCE, 1e9, &pod);
    assert_close(sp_in_network_all_reduce_s(sums.rough_s), 1e9 / 400e9, 1e-13);
}

/* A single device sends nothing. */
static void alone(void **state)
{
    (void)state;
    const struct sp_switch_group one = {1, 8, 450e9, 400e9, 1};
    const struct sp_switch_time t = sp_switch_collective(SP_ALL_GATHER, 1e9, &one);
    assert_true(t.node_s == 0 && t.cross_s == 0 && t.rough_s == 0);
    struct sp_hardware hw = {.network = {.kind = SP_SWITCHED, .domain = 1}}, pod;
    assert_true(sp_whole_pod(&hw, &pod) && pod.chips_per_slice == 1 && pod.slices == 1);
    hw.network.domain = 0;
    assert_false(sp_whole_pod(&hw, &pod));
    /* hosts of 4 in a domain of 72: parts of a host, whole hosts, whole domains */
    const struct sp_network hosts = {.kind = SP_SWITCHED, .domain = 72, .devices_per_host = 4};
    assert_true(sp_offers_chips(&hosts, 2) && sp_offers_chips(&hosts, 8));
    assert_true(sp_offers_chips(&hosts, 144) && !sp_offers_chips(&hosts, 6));
    /* two nodes are a fabric: one unit of up to 32 */
    const struct sp_network rails = {.kind = SP_SWITCHED,
                                     .domain = 8,
                                     .fabric = {.nodes_per_su = 32,
                                                .leafs_per_su = 8,
                                                .links_per_node = 8,
                                                .switch_ports = 64,
                                                .link_bytes_per_s = 5e10}};
    assert_true(sp_fabric_size(&rails, 2).scalable_units == 1);
    assert_true(isnan(sp_fabric_size(&rails, 1).scalable_units));
}

/* Bytes into and out of the switch of a node of 8, for 1 byte: scaling book, "GPUs", 4.1, 4.2.
 */
static void switch_bytes(void **state)
{
    (void)state;
    const struct sp_switch_group unit = {256, 8, 450e9, 400e9, 1}, one = {8, 8, 450e9, 400e9, 1};
    struct sp_switch_bytes b = sp_node_switch_bytes(SP_ALL_GATHER, 1, &unit);
    assert_true(b.in == 1 && b.out == 8);
    b = sp_node_switch_bytes(SP_ALL_GATHER, 1, &one);
    assert_true(b.in == 1 && b.out == 7);
    b = sp_node_switch_bytes(SP_REDUCE_SCATTER, 1, &unit);
    assert_true(b.in == 8 && b.out == 1);
    b = sp_node_switch_bytes(SP_ALL_REDUCE, 1, &one);
    assert_true(b.in == 8 && b.out == 8);
    assert_true(isnan(sp_node_switch_bytes(SP_ALL_REDUCE, 1, &unit).in));
    b = sp_node_switch_bytes(SP_REDUCE_SCATTER, 1, &one);
    assert_true(b.in == 7 && b.out == 1);
    b = sp_node_switch_bytes(SP_ALL_TO_ALL, 1, &one);
    assert_close(b.in, 7.0 / 8, 1e-15);
    assert_true(b.out == b.in);
    b = sp_node_switch_bytes(SP_ALL_TO_ALL, 1, &unit);
    assert_true(isnan(b.in) && isnan(b.out));
}

/* Two slices of 4 chips with 5 GB/s each: 1 GB takes 1e9 / (4 x 5e9). */
static void between_slices(void **state)
{
    (void)state;
    assert_close(sp_dcn_s(SP_ALL_GATHER, 1e9, 2, 4, 5e9), 0.05, 1e-15);
    assert_close(sp_dcn_s(SP_ALL_REDUCE, 1e9, 2, 4, 5e9), 0.1, 1e-15);
    assert_close(sp_dcn_s(SP_ALL_TO_ALL, 1e9, 2, 4, 5e9), 0.025, 1e-15);
    assert_true(sp_dcn_s(SP_ALL_GATHER, 1e9, 1, 4, 5e9) == 0);
}

/* A 4 x 4 x 8 slice whose axes close: whole axes are rings, several of them together too, parts
 * are lines, and both parts of an axis together are the ring again. */
static void layouts(void **state)
{
    (void)state;
    const struct sp_hardware hw = {.network = {.kind = SP_TORUS, .axes = 3, .wrap = SP_WRAP_ALWAYS},
                                   .shape = {{4, 4, 8}},
                                   .chips_per_slice = 128,
                                   .slices = 1};
    const int64_t parts[] = {16, 4, 2}, whole[] = {8}, too_long[] = {64, 4}, odd[] = {3},
                  all[] = {128};
    struct sp_layout layout;
    assert_true(sp_lay_out(&hw, parts, 3, &layout)); /* 4 on one axis, 16 and 2 on the others */
    struct sp_torus_group g = sp_group_of(&hw, &layout, 2);
    assert_true(g.n == 1 && g.length[0] == 4 && g.wraps[0]);
    g = sp_group_of(&hw, &layout, 4);
    assert_true(g.n == 1 && g.length[0] == 2 && !g.wraps[0]);
    g = sp_group_of(&hw, &layout, 7);
    assert_true(g.n == 3 && g.wraps[0] && g.wraps[1] && g.wraps[2]);
    assert_true(sp_lay_out(&hw, whole, 1, &layout));
    g = sp_group_of(&hw, &layout, 1);
    assert_true(g.n == 1 && g.length[0] == 8 && g.wraps[0]);
    assert_true(sp_lay_out(&hw, all, 1, &layout) && sp_group_of(&hw, &layout, 1).n == 3);
    int64_t ones[SP_LAYOUT_AXES + 1];
    for (int i = 0; i <= SP_LAYOUT_AXES; i++)
        ones[i] = 1;
    assert_true(sp_lay_out(&hw, ones, SP_LAYOUT_AXES, &layout));
    assert_false(sp_lay_out(&hw, ones, SP_LAYOUT_AXES + 1, &layout));
    /* two whole rings of 4 before parts of the ring of 8 */
    const struct sp_hardware turned = {
        .network = hw.network, .shape = {{8, 4, 4}}, .chips_per_slice = 128, .slices = 1};
    const int64_t both[] = {16};
    assert_true(sp_lay_out(&turned, both, 1, &layout));
    g = sp_group_of(&turned, &layout, 1);
    assert_true(g.n == 2 && g.length[0] == 4 && g.length[1] == 4 && g.wraps[0] && g.wraps[1]);
    assert_true(!sp_lay_out(&hw, too_long, 2, &layout) && !sp_lay_out(&hw, odd, 1, &layout));
}

/* On rings of 4, 4 and 8 an all-to-all of 32 chips sends half a share over the busiest link of 4 x
 * 4 x 2, which any longer side would double; 16 of 16 x 16 sends one share as 4 x 4 lines and two
 * as a ring. */
static void exchange_boxes(void **state)
{
    (void)state;
    struct sp_hardware hw = {
        .network = {.kind = SP_TORUS, .axes = 3, .wrap = SP_WRAP_ALWAYS, .link_bytes_per_s = 1},
        .shape = {{4, 4, 8}},
        .chips_per_slice = 128,
        .slices = 1};
    struct sp_torus_group g = sp_exchange_box(&hw, 32);
    assert_true(g.n == 3 && g.length[0] == 4 && g.length[1] == 4 && g.length[2] == 2);
    assert_close(sp_torus_bandwidth_s(SP_ALL_TO_ALL, 32, &g), 0.5, 1e-15);
    hw.shape = (struct sp_shape){{16, 16, 1}};
    g = sp_exchange_box(&hw, 16);
    assert_close(sp_torus_bandwidth_s(SP_ALL_TO_ALL, 16, &g), 1, 1e-15);
    assert_true(sp_exchange_box(&hw, 3).n == 0 && sp_exchange_box(&hw, 512).n == 0);
}

/* A[I,J] x B[J,K] of 64 x 32 x 16, 2-byte elements, on a mesh X = 4, Y = 2. */
static void sharded_matmuls(void **state)
{
    (void)state;
    const struct sp_mesh mesh = {"XY", {4, 2}, 2};
    const unsigned X = 1, Y = 2;
    struct sp_sharded a = {2, "IJ", {64, 32}, {0, 0}, 0, 2, SP_BF16},
                      b = {2, "JK", {32, 16}, {0, 0}, 0, 2, SP_BF16};
    struct sp_sharded_matmul m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_NONE && m.replication == 8 && m.flops == 2.0 * 64 * 32 * 16);
    a.axes[1] = X; /* A[I,J_X]: gather A, 64 x 32 x 2 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_GATHER && m.move[0].gathered == 0 && m.move[0].over == X &&
                m.move[0].bytes == 4096);
    a.axes[0] = Y; /* A[I_Y,J_X]: the other axis halves what is gathered, and divides the work */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.move[0].bytes == 2048 && m.replication == 4);
    b.axes[0] = X; /* both shard J: reduce the product of 32 x 16 x 2 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_REDUCE && m.move[0].over == X && m.move[0].bytes == 1024 &&
                m.replication == 1);
    a.axes[0] = 0;
    b.axes[1] = Y; /* the product is [I,K_Y], of 64 x 16 / 2 x 2 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_REDUCE && m.move[0].over == X && m.move[0].bytes == 1024 &&
                m.replication == 1);
    a.axes[0] = Y;
    b.axes[0] = 0;
    a.axes[1] = 0;
    b.axes[1] = Y; /* A[I_Y,J] x B[J,K_Y]: the smaller one, B, is gathered: 1024 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_CLASH && m.move[0].gathered == 1 && m.move[0].bytes == 1024);
    a.axes[1] = b.axes[0] = X; /* A[I_Y,J_X] x B[J_X,K_Y]: then [I,K_Y] is summed over X */
    a.size[0] = 16; /* pieces are alike: B is gathered, 32 x 16 x 2 / 4 bytes; the sum is of
                       16 x 16 x 2 / 2 */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_CLASH && m.moves == 2 && m.replication == 1);
    assert_true(m.move[0].over == Y && m.move[0].bytes == 256);
    assert_true(m.move[1].kind == SP_CASE_REDUCE && m.move[1].over == X && m.move[1].bytes == 256);
    a.name[1] = 'Q';
    assert_true(sp_sharded_matmul(&mesh, &a, &b, 2).kind == SP_CASE_MISMATCH);
}

/* bf16, C/W = 240: B = (2DF/W) / (2DF/C - 2(D+F)/W) = 240 / (1 - 240 (D+F)/(DF)), so 240 / (1 -
 * 480/4096) for D = F = 4096, and never for D = F = 480. */
static void rooflines(void **state)
{
    (void)state;
    const struct sp_operands bf16 = {2, 2, 2};
    assert_close(sp_critical_rows(4096, 4096, bf16, 240, 1), 240 / (1 - 480.0 / 4096), 1e-12);
    assert_true(isinf(sp_critical_rows(480, 480, bf16, 240, 1)));
    assert_close(sp_matmul_work(2, 3, 5, bf16, false).bytes, 2 * (6 + 15 + 10), 1e-15);
    assert_close(sp_matmul_work(2, 3, 5, bf16, true).bytes, 2 * (6 + 30 + 10), 1e-15);
    assert_close(sp_critical_rows_small(1, 240, 1, 4), 480, 1e-15);
    assert_true(sp_padded(129, 128) == 256 && sp_padded(128, 128) == 128);
}

/* 6.3e24 / (18823 x 229.5e12) = 1458374.35 s. A checkpoint of 60 s on a machine that fails every 6
 * hours: Young sqrt(2 x 60 x 21600) = 1610.0 s. Daly, with x = 60 / 43200: 1609.97 (1 + sqrt(x)/3 +
 * x/9) - 60 = 1570.22 s. */
static void runs(void **state)
{
    (void)state;
    assert_close(sp_young_interval_s(60, 21600), 1609.9689437998, 1e-12);
    assert_close(sp_daly_interval_s(60, 21600), 1570.2172, 1e-6);
    assert_true(sp_daly_interval_s(100, 40) == 40);
    /* A failure an hour, checkpoints of 600 s: the best cycle is sqrt(2 x 3600 x 600) = 2078.46 s,
     * and there both losses are 600 / 2078.46 = 2078.46 / 7200 = 0.288675: goodput (1 -
     * 0.288675)^2. */
    const double best = sp_best_interval_s(600, 3600, 0);
    const struct sp_goodput dense = {600, best, 3600, 0};
    assert_close(best, 1478.4610, 1e-6);
    assert_close(sp_goodput(&dense), 0.71132487 * 0.71132487, 1e-7);
    assert_true(sp_best_interval_s(600, 100, 0) == 0);
    const struct sp_goodput free_run = {0, 1000, INFINITY, 300}, busy = {10, 90, 1000, 50};
    assert_true(sp_goodput(&free_run) == 1);
    assert_close(sp_goodput(&busy), 0.9 * (1 - 0.1), 1e-12); /* (50 + 50) / 1000 lost to failures */
    assert_close(sp_run_s(6.3e24, 18823, 459e12, 0.5), 1458374.35, 1e-8);
}

/* A v5p-like machine of 2 slices, 16 x 4: V = 1 GB over a ring of 16 at 2 x 45 GB/s and a line of 4
 * at 64/63 x 45 GB/s; between slices each of the 64 chips sends its 1/64 at 5 GB/s. 8 hops and 3.
 */
static void put_together_on_a_torus(void **state)
{
    struct sp_hardware hw = {.network = {.kind = SP_TORUS,
                                         .link_bytes_per_s = 45e9,
                                         .hop_latency_s = 1e-6,
                                         .chips_per_host = 4,
                                         .dcn_bytes_per_s_per_host = 20e9}};
    struct sp_device_group g = sp_group_on(&hw);
    (void)state;
    g.torus.n = 2;
    g.torus.length[0] = 16;
    g.torus.length[1] = 4;
    g.torus.wraps[0] = true;
    const double corner = 90e9 + 45e9 * 64 / 63;
    assert_close(sp_collective_s(SP_ALL_GATHER, 1e9, &g), 1e9 / corner, 1e-14);
    assert_close(sp_collective_s(SP_ALL_GATHER, 1e3, &g), 11e-6, 1e-14);
    assert_true(sp_group_devices(&g) == 64);
    g.slices = 2;
    const struct sp_collective_time t = sp_time_of_collective(SP_ALL_REDUCE, 1e9, &g);
    assert_close(t.ici_s, 2e9 / corner, 1e-14);
    assert_close(t.dcn_s, 2 * 1e9 / 64 / 5e9, 1e-14);
    assert_close(t.time_s, fmax(2e9 / corner, 2e9 / 320e9), 1e-14);
    assert_close(t.latency_s, 22e-6, 1e-14);
    assert_true(sp_group_devices(&g) == 128);
    g.torus.hop_latency_s = NAN; /* not known: only throughput */
    assert_true(isnan(sp_time_of_collective(SP_ALL_GATHER, 1, &g).latency_s));
    assert_close(sp_collective_s(SP_ALL_GATHER, 1, &g), 1 / corner, 1e-14);
}

/* X T_comms(X) = M, the arithmetic undivided, by hand with A = 2 V / w of a link. A ring of 2w
 * takes A/2 whatever its length: X = 2 M / A. A line takes A (X-1)/X: X = 1 + M / A, whichever X
 * was typed. Inside a node 2 V / W_gpu (X-1)/X, across nodes of 8 2 V / W_node (1 - 8/X). Hops of 1
 * us bind for small arrays: a line of more than 7 chips and up to 8 has 2 x 7 of them. */
static void contracting_cuts(void **state)
{
    struct sp_device_group line = {.torus = {.n = 1, .length = {4}, .link_bytes_per_s = 1e9},
                                   .slices = 1};
    struct sp_device_group node = {.switched = true,
                                   .nodes = {.devices = 2,
                                             .domain = 8,
                                             .domain_bytes_per_s = 450e9,
                                             .node_bytes_per_s = 100e9,
                                             .inner = 1}};
    const double A = 2 * 1e6 / 1e9;
    (void)state;
    for (int64_t typed = 2; typed <= 15; typed++) {
        line.torus.length[0] = typed;
        assert_close(sp_most_cuts(7.5 * A, 1e6, &line), 8.5, 1e-12);
        assert_close(sp_most_cuts(0.9375 * A, 1e6, &line), 1.9375, 1e-12);
    }
    line.torus.hop_latency_s = 1e-6;
    assert_close(sp_most_cuts(100e-6, 1, &line), 100.0 / 14, 1e-12);
    line.torus.wraps[0] = true;
    line.torus.hop_latency_s = 0;
    assert_close(sp_most_cuts(0.5 * A, 1e6, &line), 1, 1e-12);
    assert_close(sp_most_cuts(7.5 * A, 1e6, &line), 15, 1e-12);
    const double inside = 2 * 1e6 / 450e9, across = 2 * 1e6 / 100e9;
    for (double typed = 2; typed <= 64; typed *= 2) {
        node.nodes.devices = typed;
        assert_close(sp_most_cuts(5 * inside, 1e6, &node), 6, 1e-12);
        assert_close(sp_most_cuts(24 * across, 1e6, &node), 32, 1e-12);
    }
    assert_true(isinf(sp_most_cuts(1, 0, &node)));
}

/* A given length equals the length of whole axes, on any axes: 4 x 2 chips, the first axis
 * closed. */
static void all_reduce_over_whole_lengths(void **state)
{
    struct sp_device_group g = {.torus = {.n = 3,
                                          .length = {4, 2, 1},
                                          .wraps = {true, false, false},
                                          .link_bytes_per_s = 45e9,
                                          .hop_latency_s = 1e-6},
                                .slices = 1};
    (void)state;
    for (double V = 1; V < 1e10; V *= 100)
        assert_close(sp_all_reduce_over_s(8, V, &g), sp_collective_s(SP_ALL_REDUCE, V, &g), 1e-12);
}

/* 32 nodes of 8 devices at 450 GB/s, 400 GB/s per node: an all-gather of 1 GB takes 31/32 of it
 * over a node's 400 GB/s; a tree over 256 devices has 8 levels. Tokens that go to 4 of 256 devices
 * move a sixty-fourth of what goes to all. */
static void put_together_on_switches(void **state)
{
    struct sp_hardware hw = {.network = {.kind = SP_SWITCHED,
                                         .domain = 8,
                                         .domain_bytes_per_s = 450e9,
                                         .scaleout_bytes_per_s = 50e9,
                                         .hop_latency_s = NAN}};
    struct sp_device_group g = sp_group_on(&hw);
    (void)state;
    g.nodes.devices = 256;
    assert_close(sp_collective_s(SP_ALL_GATHER, 1e9, &g), 31e9 / 32 / 400e9, 1e-14);
    g.hop_latency_s = 2e-6;
    assert_close(sp_collective_s(SP_ALL_GATHER, 1e3, &g), 16e-6, 1e-14);
    assert_close(sp_collective_s(SP_ALL_REDUCE, 1e3, &g), 32e-6, 1e-14);
    g.nodes.inner = 8; /* 32 ends are left for the tree */
    assert_close(sp_collective_s(SP_ALL_GATHER, 1e3, &g), 10e-6, 1e-14);
    g.nodes.inner = 1;
    const double all = sp_collective_s(SP_ALL_TO_ALL, 1e12, &g);
    g.ragged_to = 4;
    assert_close(sp_collective_s(SP_ALL_TO_ALL, 1e12, &g), all / 64, 1e-14);
    assert_close(sp_time_of_collective(SP_ALL_TO_ALL, 1e12, &g).dense.cross_s, all, 1e-14);
    g.ragged_to = 1000; /* more than there are */
    assert_close(sp_collective_s(SP_ALL_TO_ALL, 1e12, &g), all, 1e-14);
    assert_true(sp_group_devices(&g) == 256);
}

/* A network that replaces the machine's own brings its latency if it has one. */
static void replaced_latency(void **state)
{
    struct sp_network net = {.domain = 8, .scaleout_latency_s = 5e-6};
    struct sp_scaleout ethernet = {.bytes_per_s = 1e9, .latency_s = NAN};
    (void)state;
    sp_use_scaleout(&net, &ethernet);
    assert_close(net.scaleout_latency_s, 5e-6, 1e-15);
    ethernet.latency_s = 3e-5;
    sp_use_scaleout(&net, &ethernet);
    assert_close(net.scaleout_latency_s, 3e-5, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus),
        cmocka_unit_test(switches),
        cmocka_unit_test(units),
        cmocka_unit_test(switch_bytes),
        cmocka_unit_test(alone),
        cmocka_unit_test(between_slices),
        cmocka_unit_test(layouts),
        cmocka_unit_test(exchange_boxes),
        cmocka_unit_test(sharded_matmuls),
        cmocka_unit_test(rooflines),
        cmocka_unit_test(runs),
        cmocka_unit_test(put_together_on_a_torus),
        cmocka_unit_test(contracting_cuts),
        cmocka_unit_test(all_reduce_over_whole_lengths),
        cmocka_unit_test(put_together_on_switches),
        cmocka_unit_test(replaced_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
