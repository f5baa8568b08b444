/* Expected and borrowed constants of a stack, by hand. */
#include "check.h"

#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/scaleplan.h>

static struct sp_hardware gpu(double peak, double watts)
{
    struct sp_hardware hw = {.slices = 1, .chips_per_slice = 8};
    for (int dtype = 0; dtype < SP_DTYPES; dtype++)
        hw.chip.peak_flops_per_s[dtype] = NAN;
    hw.chip.peak_flops_per_s[SP_BF16] = peak;
    hw.chip.tdp_w = watts;
    hw.network.kind = SP_SWITCHED;
    return hw;
}

/* An A100 has 312e12 / 400 = 0.78 TFLOP/J: 0.927 - 0.091 x 0.78 = 0.85602. An H100 989e12 / 700 =
 * 1.412857: 0.79843. 8 bits are 0.035 below. Attention falls with the square root of the peak
 * beyond the A100's where the kernel was written for it. The shares end at 0.5 and 0.86. A chip's
 * measured rates take precedence over the line, and a framework's own passes and operations over
 * the list: 3 x 40 operations of 18 us are 2.16 ms. */
static void expectations(void **state)
{
    (void)state;
    struct sp_profile p = {.name = ""};
    const struct sp_framework plain = {.attention = 0.6},
                              ampere = {.attention = 0.42, .ampere_attention = true};
    struct sp_hardware a100 = gpu(312e12, 400), h100 = gpu(989e12, 700), hot = gpu(1e15, 200),
                       cool = gpu(1e14, 400);
    sp_expect_constants(&a100, &ampere, &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.85602, 1e-12);
    assert_close(p.value[SP_C_MATMUL_8], 0.8, 1e-12); /* 0.82102 is above the most */
    assert_close(p.value[SP_C_ATTENTION], 0.42, 1e-12);
    sp_expect_constants(&h100, &ampere, &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.927 - 0.091 * 989.0 / 700, 1e-12);
    assert_close(p.value[SP_C_MATMUL_8], 0.892 - 0.091 * 989.0 / 700, 1e-12);
    assert_close(p.value[SP_C_ATTENTION], 0.42 * sqrt(312.0 / 989), 1e-12);
    sp_expect_constants(&h100, &plain, &p);
    assert_close(p.value[SP_C_ATTENTION], 0.6, 1e-12);
    sp_expect_constants(&hot, &plain, &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.5, 1e-12);
    assert_close(p.value[SP_C_MATMUL_8], 0.465, 1e-12);
    sp_expect_constants(&cool, &plain, &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.86, 1e-12);
    assert_close(p.value[SP_C_MATMUL_8], 0.8, 1e-12);
    h100.chip.kernels.matmul[SP_KERNEL_BF16].share = 0.793;
    h100.chip.kernels.collective[SP_ALL_GATHER] =
        (struct sp_collective_curve){.share = 0.8, .own_share = 0.5};
    sp_expect_constants(&h100, &(struct sp_framework){.memory_passes = 1.6, .layer_operations = 40},
                        &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.793, 1e-12);
    assert_close(p.value[SP_C_SCALE_UP], 0.8 * 7 / 7.5, 1e-12);
    assert_close(p.value[SP_C_MEMORY], 1.6, 1e-12);
    assert_close(p.value[SP_C_LAUNCH], 20e-6, 1e-12);
    /* Without a power figure, and on a torus, the list's values. */
    struct sp_hardware unknown = gpu(989e12, NAN), torus = gpu(459e12, 300);
    sp_expect_constants(&unknown, &plain, &p);
    assert_close(p.value[SP_C_MATMUL_16], 0.75, 1e-12);
    torus.network.kind = SP_TORUS;
    sp_expect_constants(&torus, &(struct sp_framework){.attention = 0}, &p);
    assert_int_equal(p.kind, SP_TORUS);
    assert_close(p.value[SP_C_MATMUL_16], 0.86, 1e-12);
    assert_close(p.value[SP_C_ATTENTION], 0.35, 1e-12);
    for (int i = 0; i < SP_CONSTANTS; i++) {
        assert_close(p.value[i], p.expected[i], 0);
        assert_close(p.determined[i], 0, 0);
        assert_true(p.value[i] >= sp_constants[i].low && p.value[i] <= sp_constants[i].high);
    }
}

static struct sp_profile stack(const char *name, const char *chip, const char *software,
                               double ratio, double determined)
{
    const struct sp_hardware hw = gpu(312e12, 400);
    struct sp_profile p = {.name = ""};
    sp_expect_constants(&hw, &(struct sp_framework){.attention = 0}, &p);
    snprintf(p.name, sizeof p.name, "%s", name);
    snprintf(p.chip_family, sizeof p.chip_family, "%s", chip);
    snprintf(p.software_family, sizeof p.software_family, "%s", software);
    for (int i = 0; i < SP_CONSTANTS; i++) {
        p.value[i] = ratio * p.expected[i];
        p.determined[i] = determined;
    }
    return p;
}

/* Constants of the chip are borrowed within the chip's family, those of the software within its
 * family; without relatives, from all families. */
static void siblings(void **state)
{
    (void)state;
    const enum sp_known knows[] = {SP_KNOWN_NEITHER, SP_KNOWN_CHIP, SP_KNOWN_SOFTWARE,
                                   SP_KNOWN_SOFTWARE};
    for (int relation = 0; relation < 4; relation++) {
        const bool chip = relation & 1, software = relation & 2;
        const struct sp_profile known[] = {
            stack("lender", chip ? "a" : "x", software ? "b" : "y", 1.1, 0.7),
            stack("other", "far", "away", 0.9, 0.7)};
        struct sp_profile mine = stack("mine", "a", "b", 1, 0);
        sp_borrow_constants(known, 2, &mine);
        assert_int_equal(mine.known, knows[relation]);
        for (int i = 0; i < SP_CONSTANTS; i++) {
            const bool family =
                sp_constants[i].of == SP_OF_CHIP ? chip : software; /* overlap too */
            const double ratio = family ? 1.1 : sqrt(1.1 * 0.9);
            assert_close(mine.value[i], fmin(sp_constants[i].high, ratio * mine.expected[i]),
                         1e-12);
            assert_close(mine.determined[i], family ? 0.7 : 0,
                         0); /* the family's, which it shares */
        }
    }
    /* Two lenders of a family: the mean of their logarithms, weighted by `determined`. */
    const struct sp_profile two[] = {stack("one", "a", "y", 1.2, 1),
                                     stack("two", "a", "z", 0.9, 0.5)};
    struct sp_profile mine = stack("mine", "a", "b", 1, 0);
    sp_borrow_constants(two, 2, &mine);
    const double w1 = 1.001, w2 = 0.501;
    assert_close(mine.value[SP_C_SCALE_UP],
                 mine.expected[SP_C_SCALE_UP] * exp((w1 * log(1.2) + w2 * log(0.9)) / (w1 + w2)),
                 1e-12);
    /* A profile of the same name, another kind of machine, or one without expectations lends
     * nothing. */
    struct sp_profile others[] = {stack("mine", "a", "b", 1.3, 1), stack("tpu", "a", "b", 1.3, 1),
                                  stack("bare", "a", "b", 1.3, 1)};
    others[1].kind = SP_TORUS;
    memset(others[2].expected, 0, sizeof others[2].expected);
    mine = stack("mine", "a", "b", 1, 0);
    sp_borrow_constants(others, 3, &mine);
    for (int i = 0; i < SP_CONSTANTS; i++)
        assert_close(mine.value[i], mine.expected[i], 0);
}

static void factors(void **state)
{
    (void)state;
    struct sp_framework f = {.reserved_factor = 1.2};
    sp_use_memory_factor(1.1, &f);
    assert_close(f.reserved_factor, 1.32, 1e-12);
    sp_use_memory_factor(0.5, &f); /* an allocator never reserves less than what is live */
    assert_close(f.reserved_factor, 1, 0);
    assert_close(sp_range_log(&(struct sp_profile){.residual = 0.1}, SP_TIER_EXPERTS), 0.12816,
                 1e-12);
}

/* The logarithm of scale_out is known up to 0.15 sqrt(1 - 0.64) = 0.09: 1.2816 of that are
 * e^-0.115344. Memory traffic lengthens the step: 0.25 unknown are e^0.3204. What is determined
 * stays; bounds hold. */
static void bad_ends(void **state)
{
    struct sp_profile p = {.name = ""}, worst;
    (void)state;
    for (int i = 0; i < SP_CONSTANTS; i++) {
        p.value[i] = sp_constants[i].gpu;
        p.determined[i] = 1;
    }
    p.determined[SP_C_SCALE_OUT] = 0.64;
    p.determined[SP_C_MEMORY] = 0;
    p.determined[SP_C_LAUNCH] = 0;
    p.value[SP_C_LAUNCH] = 95e-6;
    sp_worsen_constants(&p, &worst);
    assert_close(worst.value[SP_C_SCALE_OUT], 0.8 * 0.891060, 1e-6);
    assert_close(worst.value[SP_C_MEMORY], 2 * 1.377679, 1e-5);
    assert_close(worst.value[SP_C_LAUNCH], 1e-4, 1e-12); /* the most */
    assert_close(worst.value[SP_C_EXCHANGE], 0.5, 1e-12);
}

/* 80 % of a normal distribution are above its mean less 0.8416 deviations, and within 1.2816 of it:
 * two ranges of 0.3 and 0.4 make 0.5 x 0.8416 / 1.2816. A tie is one from both sides. Two plans of
 * one stack share errors, which cancel, so that a smaller lead suffices than between two with such
 * ranges that share none: sqrt(2) x 0.8416 / 1.2816 = 0.92868 of it. */
static void leads(void **state)
{
    (void)state;
    assert_close(sp_machines_lead_log(0.3, 0.4), 0.32834, 1e-5);
    assert_close(sp_machines_lead_log(0, 0), 0, 0);
    assert_true(sp_is_tie(1, 1.04, 0.05) && sp_is_tie(1.04, 1, 0.05));
    assert_false(sp_is_tie(1, 1.06, 0.05) || sp_is_tie(1.06, 1, 0.05));
    for (int t = 0; t < SP_TIERS; t++) {
        const struct sp_profile known = {.known = SP_KNOWN_STACK};
        assert_true(sp_lead_log((enum sp_tier)t) > 0);
        assert_true(sp_lead_log((enum sp_tier)t) <=
                    0.92868 * sp_range_log(&known, (enum sp_tier)t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expectations), cmocka_unit_test(bad_ends), cmocka_unit_test(leads),
        cmocka_unit_test(siblings),     cmocka_unit_test(factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
