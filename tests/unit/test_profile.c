/* Expected constants, and those that stacks lend each other, by hand. */
#include "check.h"

#include <string.h>

#include <scaleplan/machine.h>
#include <scaleplan/profile.h>

static struct sp_hardware gpu(double peak, double watts)
{
    struct sp_hardware hw = {.chips_per_slice = 8, .slices = 1};
    hw.network.kind = SP_SWITCHED;
    for (int d = 0; d < SP_DTYPES; d++)
        hw.chip.peak_flops_per_s[d] = NAN;
    hw.chip.peak_flops_per_s[SP_BF16] = peak;
    hw.chip.tdp_w = watts;
    return hw;
}

/* 0.927 - 0.091 per TFLOP of a joule, between 0.5 and 0.86; in 8 bits 0.035 less, between 0.45 and
 * 0.8. Without power or peak, and on TPUs, the table. */
static void shares_by_power(void **state)
{
    (void)state;
    static const struct {
        double peak, watts, share, in_8_bits;
    } rows[] = {{1e15, 1000, 0.836, 0.8}, {2e15, 1000, 0.745, 0.71}, {3e15, 1000, 0.654, 0.619},
                {1e15, 500, 0.745, 0.71}, {0.5e15, 1000, 0.86, 0.8}, {4.6e15, 1000, 0.5084, 0.4734},
                {5e15, 1000, 0.5, 0.465}, {9e15, 1000, 0.5, 0.465},  {1e15, 0, 0.75, 0.62},
                {NAN, 1000, 0.75, 0.62}};
    const struct sp_framework none = {.name = "none"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_hardware hw = gpu(rows[i].peak, rows[i].watts);
        struct sp_profile p = {.determined = {[SP_C_MATMUL_16] = 1}};
        sp_expect_constants(&hw, &none, &p);
        assert_close(p.expected[SP_C_MATMUL_16], rows[i].share, 1e-12);
        assert_close(p.expected[SP_C_MATMUL_8], rows[i].in_8_bits, 1e-12);
        assert_close(p.value[SP_C_MATMUL_16], rows[i].share, 1e-12);
        assert_close(p.determined[SP_C_MATMUL_16], 0, 0);
        assert_close(p.machine_factor, 1, 0);
        hw.network.kind = SP_TORUS;
        sp_expect_constants(&hw, &none, &p);
        assert_close(p.expected[SP_C_MATMUL_16], 0.86, 1e-12);
        assert_close(p.expected[SP_C_MATMUL_8], 0.7, 1e-12);
        assert_close(p.expected[SP_C_SCALE_OUT], 0.65, 1e-12);
        assert_int_equal(p.kind, SP_TORUS);
    }
}

/* What was measured of the chip goes first: a gather among 8 ranks moves 7 parts over the links,
 * and its own part takes time, too. */
static void shares_by_kernels(void **state)
{
    (void)state;
    const struct sp_framework none = {.name = "none"};
    struct sp_hardware hw = gpu(1e15, 1000);
    struct sp_profile p = {.kind = 0};
    hw.chip.kernels.matmul[SP_KERNEL_BF16].share = 0.7;
    hw.chip.kernels.matmul[SP_KERNEL_FP8].share = 0.6;
    hw.chip.kernels.collective[SP_ALL_GATHER].share = 0.9;
    hw.chip.kernels.collective[SP_ALL_GATHER].own_share = 0.5;
    sp_expect_constants(&hw, &none, &p);
    assert_close(p.expected[SP_C_MATMUL_16], 0.7, 0);
    assert_close(p.expected[SP_C_MATMUL_8], 0.6, 0);
    assert_close(p.expected[SP_C_SCALE_UP], 0.9 * 7 / 7.5, 1e-12);
    hw.chip.kernels.collective[SP_ALL_GATHER].share = 0;
    sp_expect_constants(&hw, &none, &p);
    assert_close(p.expected[SP_C_SCALE_UP], 0.72, 0);
}

/* A kernel that was tuned for the A100's 312 TFLOP/s loses by the root of the rate on faster
 * chips, and wins nothing on slower ones. */
static void shares_by_framework(void **state)
{
    (void)state;
    struct sp_framework f = {.memory_passes = 1.5, .attention = 0.6};
    struct sp_hardware hw = gpu(4 * 312e12, 0);
    struct sp_profile p = {.kind = 0};
    sp_expect_constants(&hw, &f, &p);
    assert_close(p.expected[SP_C_MEMORY], 1.5, 0);
    assert_close(p.expected[SP_C_ATTENTION], 0.6, 0);
    f.ampere_attention = true;
    sp_expect_constants(&hw, &f, &p);
    assert_close(p.expected[SP_C_ATTENTION], 0.3, 1e-12);
    hw.chip.peak_flops_per_s[SP_BF16] = 156e12;
    sp_expect_constants(&hw, &f, &p);
    assert_close(p.expected[SP_C_ATTENTION], 0.6, 1e-12);
    f.memory_passes = f.attention = 0;
    sp_expect_constants(&hw, &f, &p);
    assert_close(p.expected[SP_C_MEMORY], 2, 0);
    assert_close(p.expected[SP_C_ATTENTION], 0.35, 0);
    f.memory_passes = 9; /* within the constant's bounds */
    sp_expect_constants(&hw, &f, &p);
    assert_close(p.expected[SP_C_MEMORY], 5, 0);
    assert_close(sp_constant_in_bounds(SP_C_MEMORY, 0.1), 0.7, 0);
    assert_close(sp_constant_in_bounds(SP_C_MEMORY, 3), 3, 0);
}

/* Constants whose growth makes a step longer; the others are rates. */
static bool is_time(int constant)
{
    return constant == SP_C_MEMORY || constant == SP_C_LAUNCH || constant == SP_C_CONTENTION ||
           constant == SP_C_STRAGGLER || constant == SP_C_TP_EXPOSED;
}

/* The bad end of an 80 % interval is 1.2816 standard deviations away, of what no run determines. */
static void bad_ends(void **state)
{
    (void)state;
    struct sp_profile p = {.kind = 0}, worst;
    for (int i = 0; i < SP_CONSTANTS; i++) {
        p.value[i] = sqrt(sp_constants[i].low * sp_constants[i].high);
        p.determined[i] = i % 2 ? 0.75 : 0;
    }
    sp_worsen_constants(&p, &worst);
    for (int i = 0; i < SP_CONSTANTS; i++) {
        const double away = exp(1.2816 * sp_constants[i].spread * (i % 2 ? 0.5 : 1));
        const double end = is_time(i) ? p.value[i] * away : p.value[i] / away;
        assert_close(worst.value[i], fmin(sp_constants[i].high, fmax(sp_constants[i].low, end)),
                     1e-12);
    }
}

/* A machine that is slower by a factor: times grow by it, rates fall, shares of other times stay.
 */
static void slower_machines(void **state)
{
    (void)state;
    struct sp_profile p = {.machine_factor = 1.25};
    for (int i = 0; i < SP_CONSTANTS; i++)
        p.value[i] = 1;
    sp_use_machine_factor(1.25, &p);
    sp_use_machine_factor(2, &p);
    for (int i = 0; i < SP_CONSTANTS; i++) {
        const bool share = i == SP_C_CONTENTION || i == SP_C_STRAGGLER || i == SP_C_TP_EXPOSED;
        assert_close(p.value[i], share ? 1 : is_time(i) ? 2.5 : 0.4, 1e-12);
    }
    assert_close(p.used_factor, 2.5, 1e-12);
    assert_close(p.machine_factor, 1, 0);
}

static struct sp_profile stack(const char *name, const char *chip, const char *software,
                               double ratio, double determined)
{
    struct sp_profile p = {.kind = SP_SWITCHED};
    snprintf(p.name, sizeof p.name, "%s", name);
    snprintf(p.chip_family, sizeof p.chip_family, "%s", chip);
    snprintf(p.software_family, sizeof p.software_family, "%s", software);
    snprintf(p.date, sizeof p.date, "2026-0%d-01", name[0] - 'a' + 1);
    for (int i = 0; i < SP_CONSTANTS; i++) {
        p.expected[i] = 0.5;
        p.value[i] = 0.5 * ratio;
        p.determined[i] = determined;
    }
    return p;
}

/* The geometric mean of a family's ratios to what was expected, weighted by what runs determine
 * (and a thousandth), where there is the family; else the mean of all families; never the stack
 * itself, or the other kind of network. */
static void lent_by_families(void **state)
{
    (void)state;
    struct sp_profile known[5] = {
        stack("a", "hopper", "nemo", 1.1, 0.5), stack("b", "hopper", "fsdp", 1.2, 0.25),
        stack("c", "ampere", "nemo", 0.9, 1), stack("d", "tpu", "nemo", 0.5, 1),
        stack("e", "hopper", "nemo", 0.5, 1)};
    struct sp_profile p = stack("e", "hopper", "nemo", 1, 0);
    p.date[0] = 0;
    known[3].kind = SP_TORUS; /* lends nothing here */
    sp_borrow_constants(known, 5, &p);
    const double hopper = (0.501 * log(1.1) + 0.251 * log(1.2)) / 0.752;
    const double nemo = (0.501 * log(1.1) + 1.001 * log(0.9)) / 1.502;
    assert_close(p.value[SP_C_MATMUL_16], 0.5 * exp(hopper), 1e-12);
    assert_close(p.value[SP_C_ATTENTION], 0.5 * exp(nemo), 1e-12);
    assert_close(p.determined[SP_C_MATMUL_16], 0.5, 0);
    assert_close(p.determined[SP_C_ATTENTION], 1, 0);
    assert_int_equal(p.known, SP_KNOWN_SOFTWARE);
    assert_string_equal(p.date, "2026-03-01");
    p = stack("f", "hopper", "maxtext", 1, 0); /* no software of its family: those of all */
    known[4].kind = SP_TORUS;
    sp_borrow_constants(known, 5, &p);
    const double fsdp = log(1.2); /* a family counts by what its first stack determines */
    assert_close(p.value[SP_C_ATTENTION], 0.5 * exp((0.501 * nemo + 0.251 * fsdp) / 0.752), 1e-12);
    assert_close(p.determined[SP_C_ATTENTION], 0, 0);
    assert_int_equal(p.known, SP_KNOWN_CHIP);
    p = stack("g", "blackwell", "maxtext", 1, 0);
    sp_borrow_constants(known, 5, &p);
    assert_int_equal(p.known, SP_KNOWN_NEITHER);
    assert_close(p.value[SP_C_MATMUL_16], 0.5 * exp((0.501 * hopper + 1.001 * log(0.9)) / 1.502),
                 1e-12);
    sp_borrow_constants(known, 0, &p); /* nobody lends: as expected */
    assert_close(p.value[SP_C_MATMUL_16], 0.5, 1e-12);
    known[0].value[SP_C_MATMUL_16] = 5; /* within the bounds */
    sp_borrow_constants(known, 1, &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.95, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_by_power),     cmocka_unit_test(shares_by_kernels),
        cmocka_unit_test(shares_by_framework), cmocka_unit_test(bad_ends),
        cmocka_unit_test(slower_machines),     cmocka_unit_test(lent_by_families),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
