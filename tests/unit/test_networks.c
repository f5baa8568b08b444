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
    assert_close(sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1e9, &line), 0.375e9 / 45e9, 1e-15);
    assert_close(sp_torus_bandwidth_s(SP_ALL_GATHER, 1e9, &both), 1e9 / 150e9, 1e-15);
    assert_close(sp_torus_latency_s(SP_ALL_GATHER, &ring), 8e-6, 1e-15);
    assert_close(sp_torus_latency_s(SP_ALL_REDUCE, &line), 6e-6, 1e-15);
    assert_true(sp_corner_hops(&both) == 8 + 3);
    assert_true(sp_torus_bandwidth_s(SP_ALL_GATHER, 0, &ring) == 0);
}

/* 1 GB, nodes of 8 at 450 GB/s a device and 400 GB/s a node. */
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

/* A[I,J] x B[J,K] of 64 x 32 x 16, 2-byte elements, on a mesh X = 4, Y = 2. */
static void sharded_matmuls(void **state)
{
    (void)state;
    const struct sp_mesh mesh = {"XY", {4, 2}, 2};
    const unsigned X = 1, Y = 2;
    struct sp_sharded a = {2, "IJ", {64, 32}, {0, 0}, 0, 2}, b = {2, "JK", {32, 16}, {0, 0}, 0, 2};
    struct sp_sharded_matmul m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_NONE && m.replication == 8 && m.flops == 2.0 * 64 * 32 * 16);
    a.axes[1] = X; /* A[I,J_X]: gather A, 64 x 32 x 2 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_GATHER && m.gathered == 0 && m.over == X && m.bytes == 4096);
    a.axes[0] = Y; /* A[I_Y,J_X]: the other axis halves what is gathered, and divides the work */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.bytes == 2048 && m.replication == 4);
    b.axes[0] = X; /* both shard J: reduce the product of 32 x 16 x 2 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_REDUCE && m.over == X && m.bytes == 1024 && m.replication == 1);
    b.axes[0] = 0;
    a.axes[1] = 0;
    b.axes[1] = Y; /* A[I_Y,J] x B[J,K_Y]: the smaller one, B, is gathered: 1024 bytes */
    m = sp_sharded_matmul(&mesh, &a, &b, 2);
    assert_true(m.kind == SP_CASE_CLASH && m.gathered == 1 && m.bytes == 1024);
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
    const struct sp_goodput free_run = {0, 1000, INFINITY, 300}, busy = {10, 90, 1000, 50};
    assert_true(sp_goodput(&free_run) == 1);
    assert_close(sp_goodput(&busy), 0.9 * (1 - 0.1), 1e-12); /* (50 + 50) / 1000 lost to failures */
    assert_close(sp_run_s(6.3e24, 18823, 459e12, 0.5), 1458374.35, 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus),     cmocka_unit_test(switches), cmocka_unit_test(sharded_matmuls),
        cmocka_unit_test(rooflines), cmocka_unit_test(runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
