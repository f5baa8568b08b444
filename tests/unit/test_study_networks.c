/* Critical batches, collectives on growing machines, and failures, by hand: machines of round
 * numbers, and searches that look at everything. */
#include "asked.h"

#include "study/critical_batches.h"
#include "study/failures.h"
#include "study/group_time.h"
#include "study/reached.h"

/* Nodes of 8 devices: 400 GB/s each inside, 50 GB/s each beyond, so 400 GB/s of a node. */
static struct sp_hardware switched(int64_t devices)
{
    struct sp_hardware hw = {.name = "box", .chips_per_slice = devices, .slices = 1};
    hw.network = (struct sp_network){.kind = SP_SWITCHED,
                                     .domain = 8,
                                     .devices_per_host = 8,
                                     .domain_bytes_per_s = 400e9,
                                     .scaleout_bytes_per_s = 50e9,
                                     .hop_latency_s = NAN,
                                     .fabric = {.nodes_per_su = NAN}};
    return hw;
}

static struct sp_critical_batches on_switches(int64_t devices)
{
    return (struct sp_critical_batches){.hw = switched(devices),
                                        .C = 1e15,
                                        .C_wire = 1e15,
                                        .N = (double)devices,
                                        .S = 1,
                                        .B = 1048576,
                                        .T = 4096,
                                        .D = 8192,
                                        .F = 28672,
                                        .r = 1,
                                        .b = 2,
                                        .tp = NAN,
                                        .pp = 1,
                                        .fsdp = NAN,
                                        .experts = NAN,
                                        .ep = 1,
                                        .top_k = 1,
                                        .d_expert = NAN,
                                        .capacity = 1,
                                        .has_batch = true};
}

/* The answer, again for a question that was changed. */
static void solve(struct sp_critical_batches *s)
{
    s->n_levels = 0;
    s->has_split = s->has_box = false;
    sp_find_critical_batches(s);
}

/* A gather of V over D of a node and M nodes takes V (D-1) / (D W_gpu) inside and V (M-1) / (M
 * W_node) across: rates W_gpu D / (D-1) and W_node M / (M-1). */
static void switches_by_hand(void **state)
{
    (void)state;
    struct sp_critical_batches s = on_switches(32);
    solve(&s);
    assert_int_equal(s.n_levels, 2);
    assert_close(s.levels[0].W, 400e9, 1e-14);
    assert_close(s.levels[0].critical, 2500, 1e-14);
    assert_close(s.levels[0].tp_max, 11.4688, 1e-14); /* F W / C */
    assert_close(s.levels[1].critical, 2500, 1e-14);
    assert_false(s.levels[0].tp_is_split);
    assert_close(s.W_1, 400e9, 0);
    assert_close(s.domain, 8, 0);
    assert_close(s.W_machine_node, 400e9 * 8 / 7, 1e-14);
    assert_close(s.W_machine_cross, 400e9 * 4 / 3, 1e-14);
    assert_close(s.W_machine, 400e9 * 8 / 7, 1e-14); /* the slower */
    assert_close(s.critical_machine, 1e15 / (400e9 * 8 / 7), 1e-14);
    assert_close(s.exact_tp, 16, 0); /* two nodes, unless TP is given */
    assert_close(s.tp_nodes, 2, 0);
    assert_close(s.W_tp, 400e9 * 8 / 7, 1e-14); /* across two: 800e9 */
    assert_close(s.exact_tp_max, 28672 * (400e9 * 8 / 7) / 1e15, 1e-14);
    assert_close(s.mp_nodes, 1, 0);
    assert_close(s.critical_replica, 2500, 1e-14);
    assert_close(s.tokens_per_chip, 32768, 0);
    assert_close(s.tokens_per_slice, 1048576, 0);
    assert_close(s.sequences, 256, 0);
    assert_close(s.X, 32, 0);
    assert_close(s.Y, 1, 0);
    assert_close(s.stationary_x, sqrt(32 * 8192 / (2 * 28672.0)), 1e-14);
    assert_true(s.has_widths);
    assert_close(s.slice, 32, 0);
}

/* Inside a node nothing crosses; a device alone gathers nothing. TP 12 is on two nodes, whose
 * slower level is inside, and PP 2 x TP 16 takes four nodes. */
static void switches_with_other_degrees(void **state)
{
    (void)state;
    struct sp_critical_batches s = on_switches(8);
    solve(&s);
    assert_true(isnan(s.W_machine_cross));
    assert_close(s.W_machine, 400e9 * 8 / 7, 1e-14);
    s = on_switches(1);
    solve(&s);
    assert_true(isnan(s.critical_machine));
    s = on_switches(64);
    s.tp = 16;
    s.pp = 2;
    solve(&s);
    assert_true(s.levels[0].tp_is_split && s.levels[1].tp_is_split);
    assert_close(s.mp_nodes, 4, 0);
    assert_close(s.critical_replica, 625, 1e-14);
    assert_close(s.Y, 16, 0);
    assert_close(s.X, 4, 0);
    s = on_switches(64);
    s.tp = 8;
    s.fsdp = 4;
    solve(&s);
    assert_false(s.levels[0].tp_is_split);
    assert_close(s.exact_tp, 8, 0);
    assert_close(s.tp_nodes, 1, 0);
    assert_close(s.X, 4, 0);
    s = on_switches(64);
    s.fsdp = 4;
    s.F = NAN; /* without a width and a degree TP has no group */
    solve(&s);
    assert_close(s.Y, 16, 0);
    assert_true(isnan(s.exact_tp));
    assert_false(s.has_widths);
    s = on_switches(64);
    s.tp = 2;
    s.F = NAN;
    solve(&s);
    assert_close(s.exact_tp, 2, 0);
    assert_close(s.W_tp, 800e9, 1e-14);
}

/* The experts' width that hides EP over Z devices with k experts of a token: max(C / W_gpu (min(Z,
 * 8) - 1) / k min(k / Z, 1), C / W_node max(Z - 8, 0) / k min(8 k / Z, 1)). */
static void experts_on_switches(void **state)
{
    (void)state;
    struct sp_critical_batches s = on_switches(64);
    s.ep = 32;
    s.top_k = 2;
    solve(&s);
    assert_close(s.d_ff_switched, 2500.0 * 24 / 2 * 0.5, 1e-14); /* inside: 2500 x 7 / 2 / 16 */
    s.ep = 8;
    solve(&s);
    assert_close(s.d_ff_switched, 2500.0 * 7 / 2 * 0.25, 1e-14);
}

/* A torus of 4 x 4 x 8 rings of 50 GB/s links each way, 8 chips to a host of 25 GB/s. */
static struct sp_critical_batches on_torus(void)
{
    struct sp_critical_batches s = on_switches(128);
    s.hw = (struct sp_hardware){
        .name = "torus", .chips_per_slice = 128, .slices = 1, .shape = {{4, 4, 8}}};
    s.hw.network = (struct sp_network){.kind = SP_TORUS,
                                       .axes = 3,
                                       .link_bytes_per_s = 50e9,
                                       .wrap = SP_WRAP_ALWAYS,
                                       .chips_per_host = 8,
                                       .dcn_bytes_per_s_per_host = 25e9,
                                       .pod_shape = {{8, 8, 8}}};
    return s;
}

/* n rings carry 2 n w; FSDP over two axes with TP over one: C^2 / (W_X W_Y F). */
static void torus_by_hand(void **state)
{
    (void)state;
    struct sp_critical_batches s = on_torus();
    s.overlap = SP_OVERLAP_AXES;
    solve(&s);
    assert_int_equal(s.n_levels, 3);
    for (int n = 1; n <= 3; n++) {
        assert_close(s.levels[n - 1].W, n * 100e9, 1e-14);
        assert_close(s.levels[n - 1].critical, 10000.0 / n, 1e-14);
        assert_close(s.levels[n - 1].tp_max, 2.8672 * n, 1e-14);
        assert_int_equal(s.levels[n - 1].key[0], '0' + n);
        assert_false(s.levels[n - 1].tp_is_split);
    }
    assert_close(s.W_1, 100e9, 1e-14);
    assert_close(s.W_X, 200e9, 1e-14);
    assert_close(s.W_Y, 100e9, 1e-14);
    assert_close(s.critical_mixed, 1e30 / (2e22 * 28672), 1e-14);
    assert_true(s.has_split);
    assert_close(s.x_opt, sqrt(1048576.0 * 128 * 2 / 28672), 1e-14); /* 96.8 */
    assert_close(s.x_pow2, 128, 0);
    assert_close(s.W_slice, 300e9, 1e-14);
    assert_close(s.critical_slice, 1e15 / 300e9, 1e-14);
    assert_true(s.closes);
    assert_close(s.W_dcn, 3.125e9, 1e-14);
    assert_close(s.critical_dcn, 320000, 1e-14);
    assert_false(s.has_experts);
    s.overlap = SP_OVERLAP_NONE; /* 4 times as many where collectives take turns */
    solve(&s);
    assert_close(s.critical_mixed, 4e30 / (2e22 * 28672), 1e-14);
}

/* The split with the least of the larger of C X / (W_X B) and C Y / (W_Y F), over all powers of
 * two. */
static void the_split_is_the_best(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct sp_critical_batches s = on_torus();
        double best = INFINITY;
        s.overlap = SP_OVERLAP_AXES;
        s.B = floor(spread(1e4, 1e8));
        s.F = floor(spread(1e3, 1e5));
        solve(&s);
        for (double Y = 1; Y <= 128; Y *= 2)
            best = fmin(
                best, fmax(1e15 * (128 / Y) / (200e9 * s.B), Y > 1 ? 1e15 * Y / (100e9 * s.F) : 0));
        assert_close(s.split.comms_over_math, best, 1e-12);
        assert_close(s.split.fsdp * s.split.tp, 128, 0);
    }
}

/* Lines of cubes that are no multiple of 4, an axis of one chip, and one axis alone. */
static void other_tori(void **state)
{
    (void)state;
    struct sp_critical_batches s = on_torus();
    s.hw.network.wrap = SP_WRAP_CUBE;
    solve(&s);
    assert_true(s.closes);
    s.hw.shape = (struct sp_shape){{2, 4, 4}};
    s.hw.chips_per_slice = 32;
    solve(&s);
    assert_false(s.closes);
    s.hw.network.wrap = SP_WRAP_AXIS16;
    s.hw.network.axes = 2;
    s.hw.shape = (struct sp_shape){{16, 1, 1}};
    s.hw.chips_per_slice = 16;
    solve(&s);
    assert_true(s.closes);
    s.hw.shape = (struct sp_shape){{16, 8, 1}};
    s.hw.chips_per_slice = 128;
    solve(&s);
    assert_false(s.closes);
    assert_int_equal(s.n_levels, 2);
    assert_close(s.W_X, 100e9, 1e-14);
    s.has_split = false;
    s.F = NAN;
    solve(&s);
    assert_true(isnan(s.critical_mixed) && !s.has_split);
    s.F = 28672;
    s.has_batch = false;
    solve(&s);
    assert_true(isfinite(s.critical_mixed) && !s.has_split);
    s.hw.network.axes = 1;
    s.hw.shape = (struct sp_shape){{16, 1, 1}};
    s.hw.chips_per_slice = 16;
    s.has_batch = true;
    solve(&s);
    assert_true(isnan(s.critical_mixed) && !s.has_split);
    s.hw.shape = (struct sp_shape){{1, 1, 1}};
    s.hw.chips_per_slice = 1;
    solve(&s);
    assert_true(isnan(s.W_slice) && isnan(s.critical_slice));
}

/* Experts on 16 chips, 4 x 4: an all-to-all takes V x (4/8) / (16 w), and its width C Z exchange
 * min(Z / k, 1). Of 5 chips there is no box. */
static void experts_on_a_torus(void **state)
{
    (void)state;
    struct sp_critical_batches s = on_torus();
    s.ep = 16;
    s.top_k = 2;
    solve(&s);
    assert_true(s.has_experts && s.has_box);
    assert_close(s.exchange, 0.5 / (16 * 50e9), 1e-14);
    assert_close(s.d_ff_torus, 1e15 * 16 * 0.5 / (16 * 50e9), 1e-14);
    s.ep = 5;
    solve(&s);
    assert_true(s.has_experts && !s.has_box);
    s.ep = 2;
    s.top_k = 4; /* half of them */
    solve(&s);
    assert_close(s.d_ff_torus, 1e15 * 2 * s.exchange / 2, 1e-14);
}

/* One node, two, four, ... and all devices, each with the bound of a ring's two halves and the time
 * that the estimate of an all-reduce gives a machine of that size. */
static void growing_machines(void **state)
{
    (void)state;
    static const struct {
        const char *hw;
        int rows;
        double devices[6];
    } cases[] = {{"h100-8", 1, {8}},
                 {"h100-4", 1, {4}},
                 {"h100-16", 2, {8, 16}},
                 {"h100-24", 3, {8, 16, 24}},
                 {"h100-40", 4, {8, 16, 32, 40}},
                 {"h100-128", 5, {8, 16, 32, 64, 128}}};
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_hardware hw;
        struct sp_reached all[6], half[6];
        assert_true(sp_load_hardware(cases[i].hw, &sources, &hw, &error));
        hw.network.transport = (struct sp_transport_curves){0};
        const int n =
            sp_reached_over_nodes(&hw, "nemo", &sources, SP_ALL_REDUCE, 1e9, all, 6, &error);
        assert_int_equal(n, cases[i].rows);
        assert_int_equal(
            sp_reached_over_nodes(&hw, "nemo", &sources, SP_REDUCE_SCATTER, 1e9, half, 6, &error),
            n);
        for (int k = 0; k < n; k++) {
            const double N = cases[i].devices[k], D = fmin(N, 8), M = N / D;
            const double inside = 1e9 * (D - 1) / D / hw.network.domain_bytes_per_s;
            const double across = 1e9 * (M - 1) / M / (8 * hw.network.scaleout_bytes_per_s);
            assert_close(all[k].devices, N, 0);
            assert_close(all[k].bound_s, 2 * fmax(inside, across), 1e-12);
            assert_close(half[k].bound_s, fmax(inside, across), 1e-12);
            assert_close(half[k].time_s, all[k].time_s / 2, 1e-12);
            assert_true(all[k].time_s > all[k].bound_s);
        }
        assert_int_equal(
            sp_reached_over_nodes(&hw, "nemo", &sources, SP_ALL_REDUCE, 1e9, all, 1, &error), 1);
    }
}

/* A send of V takes V over the links of the axes in use, and the hops to the far corner. */
static void sends_on_a_torus(void **state)
{
    (void)state;
    struct sp_group_question q = {.sends = true, .V = 6e6, .hops = NAN, .ports = NAN, .top_k = NAN};
    struct sp_group_answer a;
    q.group.slices = 1;
    q.group.torus = (struct sp_torus_group){.n = 3,
                                            .length = {4, 8, 1},
                                            .wraps = {true, false, false},
                                            .link_bytes_per_s = 50e9,
                                            .hop_latency_s = 1e-6};
    sp_time_on_group(&q, &a);
    assert_close(a.hops, 2 + 7, 0);
    assert_close(a.ports, 2, 0);
    assert_close(a.t.throughput_s, 60e-6, 1e-14);
    assert_close(a.t.latency_s, 9e-6, 1e-14);
    assert_close(a.t.time_s, 69e-6, 1e-14);
    assert_string_equal(a.bound, "throughput");
    q.hops = 100;
    q.ports = 3;
    sp_time_on_group(&q, &a);
    assert_close(a.t.throughput_s, 40e-6, 1e-14);
    assert_close(a.t.time_s, 140e-6, 1e-14);
    assert_string_equal(a.bound, "latency");
    q.group.torus.length[0] = q.group.torus.length[1] = 1;
    q.ports = NAN;
    sp_time_on_group(&q, &a);
    assert_close(a.ports, 1, 0);
}

static void sends_on_switches(void **state)
{
    (void)state;
    struct sp_group_question q = {.sends = true, .V = 4e9, .hops = NAN, .ports = NAN, .top_k = NAN};
    const struct sp_hardware hw = switched(64);
    struct sp_group_answer a;
    q.group = sp_machine_group(&hw);
    q.group.nodes.devices = 8;
    sp_time_on_group(&q, &a);
    assert_false(a.is_far);
    assert_close(a.t.time_s, 0.01, 1e-14); /* 400 GB/s */
    assert_string_equal(a.bound, "node");
    q.group.nodes.devices = 9;
    sp_time_on_group(&q, &a);
    assert_true(a.is_far);
    assert_close(a.t.time_s, 0.08, 1e-14); /* a device's share of its node's: 50 GB/s */
    assert_string_equal(a.bound, "cross");
}

/* The level that binds: 2 of 8 in each of 8 nodes would be faster across, units slower still. */
static void levels_of_switches(void **state)
{
    (void)state;
    struct sp_group_question q = {
        .op = SP_ALL_GATHER, .V = 8e9, .hops = NAN, .ports = NAN, .top_k = NAN};
    struct sp_hardware hw = switched(64);
    struct sp_group_answer a;
    q.group = sp_machine_group(&hw);
    sp_time_on_group(&q, &a);
    assert_close(a.t.levels.node_s, 8e9 * 7 / 8 / 400e9, 1e-14);
    assert_close(a.t.levels.cross_s, 8e9 * 7 / 8 / 400e9, 1e-14);
    assert_string_equal(a.bound, "node"); /* equal */
    assert_close(a.nodes, 8, 0);
    assert_close(a.over_nodes, 8, 0);
    assert_close(a.in_node, 8, 0);
    assert_close(a.inner, 1, 0);
    assert_close(a.gain, 0, 0);
    hw.network.scaleout_bytes_per_s = 25e9;
    q.group = sp_machine_group(&hw);
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "cross");
    assert_close(a.t.time_s, 8e9 * 7 / 8 / 200e9, 1e-14);
    sp_set_units(&q.group, 2, 100e9); /* four units of two nodes, each with 100 GB/s */
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "spine");
    assert_close(a.t.time_s, 8e9 * 3 / 4 / 100e9, 1e-14);
    sp_set_units(&q.group, 2, 32e9); /* slower than either */
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "spine");
    q.group.nodes.domain_bytes_per_s = 100e9; /* 70 ms inside, 20 ms across, 30 ms above */
    sp_set_units(&q.group, 2, 200e9);
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "node");
    q.group.nodes.domain_bytes_per_s = 1600e9; /* 4.4 ms, 20 ms, 15 ms */
    sp_set_units(&q.group, 2, 400e9);
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "cross");
    q.group.nodes.domain_bytes_per_s = 400e9;
    sp_set_units(&q.group, 2, 1000e9);
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "cross"); /* one of two nodes of a unit */
    assert_close(a.t.time_s, 8e9 / 2 / 200e9, 1e-14);
    hw.network.scaleout_bytes_per_s = 50e9;
    q.group = sp_machine_group(&hw);
    q.group.nodes.devices = 8;
    sp_time_on_group(&q, &a);
    assert_true(isnan(a.nodes));
    assert_close(a.over_nodes, 1, 0);
    q.group.nodes.inner = 16;
    sp_time_on_group(&q, &a);
    assert_close(a.inner, 8, 0);
    assert_true(isnan(a.traffic.in));
    q.group.hop_latency_s = 1; /* log2 of 8 hops, of 64 devices 6 */
    q.group.nodes.inner = 1;
    q.group.nodes.devices = 64;
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "latency");
    assert_close(a.t.time_s, 6, 1e-14);
}

/* Two slices of 4 chips in a ring: the slower of the axes, the other network and the hops. */
static void levels_of_slices(void **state)
{
    (void)state;
    struct sp_group_question q = {
        .op = SP_ALL_REDUCE, .V = 8e9, .hops = NAN, .ports = NAN, .top_k = NAN};
    struct sp_group_answer a;
    q.group.slices = 2;
    q.group.dcn_bytes_per_s = 5e9;
    q.group.torus = (struct sp_torus_group){
        .n = 1, .length = {4}, .wraps = {true}, .link_bytes_per_s = 50e9, .hop_latency_s = 1e-6};
    sp_time_on_group(&q, &a);
    assert_close(a.t.ici_s, 2 * 8e9 / 100e9, 1e-14);
    assert_close(a.t.dcn_s, 2 * 8e9 / 20e9, 1e-14);
    assert_string_equal(a.bound, "dcn");
    assert_close(a.devices, 8, 0);
    assert_close(a.one_way_share, 2, 0);
    assert_close(a.on.chips, 4, 0);
    assert_close(a.on.byte_s, 2 / 20e9, 1e-14);
    q.group.dcn_bytes_per_s = 25e9;
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "throughput"); /* equal */
    q.group.torus.hop_latency_s = 1;
    sp_time_on_group(&q, &a);
    assert_string_equal(a.bound, "latency");
}

/* A line of 4 carries w 4/3, a ring 2 w; an all-to-all moves 4/4 of a share on a line's middle link
 * and 4/8 on a ring's. */
static void lines_beside_rings(void **state)
{
    (void)state;
    struct sp_device_group g = {.slices = 1};
    g.torus = (struct sp_torus_group){
        .n = 1, .length = {4}, .wraps = {false}, .link_bytes_per_s = 50e9, .hop_latency_s = NAN};
    for (int wraps = 0; wraps < 2; wraps++) {
        g.torus.wraps[0] = wraps;
        const struct sp_torus_bounds b = sp_torus_bounds(SP_ALL_TO_ALL, 4e9, &g);
        assert_close(b.rings.pairs, 0.5, 1e-14);
        assert_close(b.lines.pairs, 1, 1e-14);
        assert_close(b.rings.bytes_per_s, 100e9, 1e-14);
        assert_close(b.lines.bytes_per_s, 50e9 * 4 / 3, 1e-14);
        assert_close(b.rings.gather_s, 0.04, 1e-14);
        assert_close(b.lines.gather_s, 0.06, 1e-14);
        assert_close(b.rings.time_s, 0.01, 1e-14); /* V / (N w) x 1/2 */
        assert_close(b.lines.time_s, 0.02, 1e-14);
        assert_close(b.own.time_s, wraps ? 0.01 : 0.02, 1e-14);
        assert_close(b.byte_s, b.own.time_s / 4e9, 1e-14);
    }
    g.torus.length[0] = 1; /* nothing moves */
    assert_true(isnan(sp_torus_bounds(SP_ALL_GATHER, 4e9, &g).own.time_s));
    g.torus.n = 0;
    assert_true(isnan(sp_torus_bounds(SP_ALL_GATHER, 4e9, &g).own.pairs));
}

/* A run of 10 days on 1,000 devices that fail every 10,000 days each: one failure in 10 days. */
static void failures_by_hand(void **state)
{
    (void)state;
    struct sp_failing_run run = {.seconds = 864000,
                                 .devices = 1000,
                                 .write_s = 0,
                                 .failures_per_day = NAN,
                                 .device_mtbf_s = NAN,
                                 .restart_s = 300,
                                 .first_step_s = 60,
                                 .interval_s = NAN};
    struct sp_failures f = sp_failures_of(&run); /* nothing fails or is written */
    assert_false(f.fails || f.writes);
    assert_close(f.goodput, 1, 0);
    assert_close(f.checkpoints, 0, 0);
    assert_close(f.cycle.restart_s, 0, 0);
    assert_close(f.wall_s, 864060, 1e-14);
    run.write_s = 100; /* without failures only a given interval counts */
    f = sp_failures_of(&run);
    assert_false(f.writes);
    assert_close(f.goodput, 1, 0);
    run.interval_s = 900;
    f = sp_failures_of(&run);
    assert_true(f.writes && !f.fails && !f.is_free);
    assert_close(f.goodput, 0.9, 1e-14);
    assert_close(f.checkpoints, 960, 1e-14);
    assert_close(f.wall_s, 60 + 960000, 1e-14);
    run.write_s = 0; /* free ones do not count */
    f = sp_failures_of(&run);
    assert_false(f.writes || f.is_free);
    run.interval_s = 0;
    f = sp_failures_of(&run);
    assert_true(f.is_free);
    run.interval_s = 900;
    run.write_s = 100;
    run.device_mtbf_s = 1e4 * 86400;
    f = sp_failures_of(&run);
    assert_true(f.fails);
    assert_close(f.cycle.mtbf_s, 864000, 1e-14);
    assert_close(f.cycle.restart_s, 300, 0);
    run.failures_per_day = 2; /* has precedence */
    f = sp_failures_of(&run);
    assert_close(f.cycle.mtbf_s, 43200, 1e-14);
    run.interval_s = NAN; /* the best: no other gives more, by trying */
    f = sp_failures_of(&run);
    for (double tau = 10; tau < 1e5; tau *= 1.01) {
        const struct sp_goodput other = {100, tau, 43200, 300};
        assert_true(sp_goodput(&other) <= f.goodput + 1e-12);
    }
}

/* Days on a number of devices: work divided by them, and a loss that grows with them. */
struct course {
    double work, loss;
};

static double wall_days(double devices, void *context)
{
    const struct course *const c = context;
    const double share = 1 - c->loss * devices;
    return share > 0 ? c->work / devices / share : INFINITY;
}

static void devices_by_trying_all(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct course c = {spread(10, 1e4), draw(3) ? spread(1e-6, 1e-3) : 0};
        const double days = spread(1, 100);
        double want = NAN;
        for (int n = 1; n <= 20000 && isnan(want); n++)
            if (wall_days(n, &c) <= days)
                want = n;
        if (isnan(want) || c.work / days < 1)
            continue;
        assert_close(sp_devices_for_days(days, c.work / days, wall_days, &c), want, 0);
    }
    struct course never = {1e4, 1e-2}; /* at most 1/4 of 100 devices' work counts */
    assert_true(isnan(sp_devices_for_days(1, 1e4, wall_days, &never)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_by_hand),      cmocka_unit_test(switches_with_other_degrees),
        cmocka_unit_test(experts_on_switches),   cmocka_unit_test(torus_by_hand),
        cmocka_unit_test(the_split_is_the_best), cmocka_unit_test(other_tori),
        cmocka_unit_test(experts_on_a_torus),    cmocka_unit_test(growing_machines),
        cmocka_unit_test(sends_on_a_torus),      cmocka_unit_test(sends_on_switches),
        cmocka_unit_test(levels_of_switches),    cmocka_unit_test(levels_of_slices),
        cmocka_unit_test(lines_beside_rings),    cmocka_unit_test(failures_by_hand),
        cmocka_unit_test(devices_by_trying_all),
    };
    return cmocka_run_group_tests_name("study_networks", tests, NULL, NULL);
}
