/* Curves of measured kernels: by hand, against measurements, and for monotonicity. */
#include "check.h"

#include <string.h>

#include "config/load.h"

#include <scaleplan/scaleplan.h>

static struct sp_hardware load(const char *name)
{
    static const struct sp_sources sources = {0};
    struct sp_hardware hw;
    struct sp_error error = {0};
    if (!sp_load_chip(name, &sources, &hw, &error))
        fail_msg("%s", error.text);
    return hw;
}

static const char *const measured[] = {"a100", "h100", "b200", "b300", "gb200", "gb300"};
enum { CHIPS = sizeof measured / sizeof *measured };

/* C = 1e12, W = 1e12: 2 x 1000^3 FLOPs at half the peak are 4 ms; 3 x 2e6 bytes at half the
 * bandwidth 12 us, which the fourth root of fourth powers drowns; a launch of 1 ms; 2 bytes cast of
 * 1e6 elements 2 us. */
static void matmul_by_hand(void **state)
{
    (void)state;
    struct sp_hardware hw = {.chip = {.hbm_bytes_per_s = 1e12}};
    struct sp_matmul_curve *const c = &hw.chip.kernels.matmul[SP_KERNEL_BF16];
    hw.chip.peak_flops_per_s[SP_BF16] = 1e12;
    assert_true(isnan(sp_matmul_kernel_s(&hw.chip, SP_KERNEL_BF16, 1, 1, 1)));
    *c = (struct sp_matmul_curve){
        .share = 0.5, .memory_share = 0.5, .launch_s = 1e-3, .cast_bytes = 2};
    assert_close(sp_matmul_kernel_s(&hw.chip, SP_KERNEL_BF16, 1e3, 1e3, 1e3), 5.002e-3, 1e-9);
    /* sides of 900 and half a tile of 100: the same work */
    c->half_tile = 100;
    c->cast_bytes = 0;
    assert_close(sp_matmul_kernel_s(&hw.chip, SP_KERNEL_BF16, 900, 900, 900), 5e-3, 1e-9);
    /* [1, 1e4] x [1e4, 1e4]: 2e8 + 2e4 + 2e4 bytes at 5e11 take 0.40008 ms, as long as 2e8 FLOPs at
     * 5e11: the smooth maximum is 2^(1/4) of the longer */
    c->half_tile = 0;
    assert_close(sp_matmul_kernel_s(&hw.chip, SP_KERNEL_BF16, 1, 1e4, 1e4),
                 1e-3 + 4.0008e-4 * pow(1 + pow(1 / 1.0002, 4), 0.25), 1e-9);
    /* 8-bit weights and inputs, 16-bit outputs: 1e8 + 1e4 + 2e4 bytes */
    hw.chip.peak_flops_per_s[SP_FP8] = 1e30;
    hw.chip.kernels.matmul[SP_KERNEL_FP8] = *c;
    assert_close(sp_matmul_kernel_s(&hw.chip, SP_KERNEL_FP8, 1, 1e4, 1e4), 1e-3 + 1.0003e8 / 5e11,
                 1e-9);
    /* a format without a peak on this chip */
    hw.chip.kernels.matmul[SP_KERNEL_NVFP4] = *c;
    hw.chip.peak_flops_per_s[SP_FP4] = NAN;
    assert_true(isnan(sp_matmul_kernel_s(&hw.chip, SP_KERNEL_NVFP4, 1, 1, 1)));
}

/* 2 heads of 64, 1000 tokens, C = 1e12 at half: 4 x 64 x 1000 x 2 x 500 = 2.56e8 FLOPs, 0.512 ms;
 * 100 keys more for each query 0.1024 ms, 10 queries alone 256e4 FLOPs, 5.12 us. */
static void attention_by_hand(void **state)
{
    (void)state;
    struct sp_hardware hw = {.slices = 1};
    struct sp_attention_curve *const c = &hw.chip.kernels.attention[SP_KERNEL_BF16];
    hw.chip.peak_flops_per_s[SP_BF16] = 1e12;
    assert_true(isnan(sp_attention_kernel_s(&hw.chip, SP_KERNEL_BF16, 2, 64, 1000)));
    *c = (struct sp_attention_curve){.share = 0.5, .launch_s = 1e-3};
    assert_close(sp_attention_kernel_s(&hw.chip, SP_KERNEL_BF16, 2, 64, 1000), 1.512e-3, 1e-12);
    c->edge_keys = 100;
    c->fill_queries = 10;
    assert_close(sp_attention_kernel_s(&hw.chip, SP_KERNEL_BF16, 2, 64, 1000), 1.61952e-3, 1e-12);
}

/* A forward pass at .65 of the peak and a backward pass of 2.5 times the work at .85 of its rate:
 * .65 x 3.5 / (1 + 2.5 / .85) = .577239. The A100's kernel, .608, on 989 TFLOP/s: .608 x .888060 x
 * sqrt(312 / 989) = .303267; on 2250, as fast as on 989: .133302; on an A100 its own. */
static void attention_of_both_passes(void **state)
{
    (void)state;
    struct sp_chip chip = {.hbm_bytes_per_s = 1e12};
    struct sp_attention_curve *const c = &chip.kernels.attention[SP_KERNEL_BF16];
    chip.peak_flops_per_s[SP_BF16] = 989e12;
    assert_true(isnan(sp_trained_attention_share(&chip, false)));
    c->share = 0.65;
    assert_close(sp_trained_attention_share(&chip, false), 0.577239, 1e-6);
    assert_close(sp_trained_attention_share(&chip, true), 0.303267, 1e-5);
    chip.peak_flops_per_s[SP_BF16] = 2250e12;
    assert_close(sp_trained_attention_share(&chip, true), 0.133302, 1e-5);
    chip.peak_flops_per_s[SP_BF16] = 312e12;
    c->share = 0.608;
    assert_close(sp_trained_attention_share(&chip, true), 0.608 * 0.888060, 1e-6);
}

/* 4 ranks, 8e6 bytes, 1e9 bytes/s: 6e6 move in 6 ms, at half the rate 12 ms; a copy of the own part
 * at half the time of another's is 1 ms, 2 ms more. An all-reduce moves twice as much. */
static void collectives_by_hand(void **state)
{
    (void)state;
    struct sp_kernels k;
    const struct sp_network net = {.domain_bytes_per_s = 1e9};
    sp_clear_kernels(&k);
    for (int op = 0; op < SP_COLLECTIVES; op++) {
        assert_true(isnan(sp_collective_kernel_s(&k, &net, (enum sp_collective)op, 4, 8e6)));
        k.collective[op] = (struct sp_collective_curve){.share = 0.5, .low_share = NAN};
    }
    assert_close(sp_collective_kernel_s(&k, &net, SP_ALL_GATHER, 4, 8e6), 12e-3, 1e-12);
    assert_close(sp_collective_kernel_s(&k, &net, SP_ALL_REDUCE, 4, 8e6), 24e-3, 1e-12);
    k.collective[SP_ALL_TO_ALL] = (struct sp_collective_curve){.share = 0.5,
                                                               .low_share = NAN,
                                                               .own_share = 0.5,
                                                               .latency_s = 1e-3,
                                                               .rank_latency_s = 1e-4};
    assert_close(sp_collective_kernel_s(&k, &net, SP_ALL_TO_ALL, 4, 8e6), 15.3e-3, 1e-12);
    /* a floor of 1 s a rank is not reached while the other protocol, at a tenth, is faster */
    k.collective[SP_ALL_GATHER].low_share = 0.1;
    k.collective[SP_ALL_GATHER].floor_s = 1;
    assert_close(sp_collective_kernel_s(&k, &net, SP_ALL_GATHER, 4, 8e6), 60e-3, 1e-12);
    assert_close(sp_collective_kernel_s(&k, &net, SP_ALL_GATHER, 4, 8e8), 4, 1e-2);
}

/* Its own kernels, its family's, or none. */
static void of_a_chip(void **state)
{
    (void)state;
    assert_string_equal(load("gb200").chip.kernels.name, "gb200");
    assert_string_equal(load("h100").chip.kernels.name, "h100");
    assert_string_equal(load("h800").chip.kernels.name, "h100");
    const struct sp_hardware tpu = load("v5p");
    assert_string_equal(tpu.chip.kernels.name, "");
    assert_true(isnan(tpu.chip.kernels.matmul[SP_KERNEL_BF16].share));
    assert_true(isnan(sp_matmul_kernel_s(&tpu.chip, SP_KERNEL_BF16, 4096, 4096, 4096)));
    assert_true(isnan(load("a100").chip.kernels.matmul[SP_KERNEL_FP8].share));
}

static void check_share(double share, double rows, double residual)
{
    if (isnan(share))
        return;
    assert_true(share > 0 && share <= 1);
    assert_true(rows >= 40);
    assert_true(residual > 0 && residual < 0.2);
}

static void shares(void **state)
{
    (void)state;
    for (int i = 0; i < CHIPS; i++) {
        const struct sp_kernels k = load(measured[i]).chip.kernels;
        for (int f = 0; f < SP_KERNEL_FORMATS; f++) {
            check_share(k.matmul[f].share, k.matmul[f].rows, k.matmul[f].residual);
            assert_true(isnan(k.matmul[f].share) || k.matmul[f].memory_share <= 1);
        }
        for (int f = 0; f < SP_KERNEL_ATTENTION_FORMATS; f++)
            check_share(k.attention[f].share, k.attention[f].rows, k.attention[f].residual);
        for (int op = 0; op < SP_COLLECTIVES; op++) {
            const struct sp_collective_curve *const c = &k.collective[op];
            check_share(c->share, c->rows, c->residual);
            assert_true(c->low_share < c->share && c->own_share <= 1);
        }
        assert_true(!isnan(k.matmul[SP_KERNEL_BF16].share));
        assert_true(!isnan(k.attention[SP_KERNEL_BF16].share));
        assert_true(!isnan(k.collective[SP_ALL_TO_ALL].share));
    }
}

/* Prompts reach three quarters of the kernel's share of the peak; without a kernel, what is usual.
 */
static void prompts_of_a_kernel(void **state)
{
    (void)state;
    struct sp_hardware hw = load("h100");
    struct sp_profile profile = {0};
    hw.chip.kernels.attention[SP_KERNEL_BF16].share = 0.8;
    sp_expect_serving(&hw, &profile);
    assert_close(profile.value[SP_V_PROMPT], 0.6, 1e-12);
    hw.chip.kernels.attention[SP_KERNEL_BF16].share = 0;
    sp_expect_serving(&hw, &profile);
    assert_close(profile.value[SP_V_PROMPT], sp_serving_constants[SP_V_PROMPT].gpu, 0);
}

/* More of any size takes longer. */
static void monotone(void **state)
{
    (void)state;
    for (int i = 0; i < CHIPS; i++) {
        const struct sp_hardware hw = load(measured[i]);
        const struct sp_chip *const chip = &hw.chip;
        for (double x = 1; x < 1e6; x *= 1.7) {
            const double y = x * 1.7;
            for (int f = 0; f < SP_KERNEL_FORMATS; f++) {
                const enum sp_kernel_format format = (enum sp_kernel_format)f;
                if (isnan(chip->kernels.matmul[f].share))
                    continue;
                assert_true(sp_matmul_kernel_s(chip, format, x, 512, 4096) <
                            sp_matmul_kernel_s(chip, format, y, 512, 4096));
                assert_true(sp_matmul_kernel_s(chip, format, 64, x, 4096) <
                            sp_matmul_kernel_s(chip, format, 64, y, 4096));
                assert_true(sp_matmul_kernel_s(chip, format, 8192, 512, x) <
                            sp_matmul_kernel_s(chip, format, 8192, 512, y));
            }
            assert_true(sp_attention_kernel_s(chip, SP_KERNEL_BF16, x, 128, 4096) <
                        sp_attention_kernel_s(chip, SP_KERNEL_BF16, y, 128, 4096));
            assert_true(sp_attention_kernel_s(chip, SP_KERNEL_BF16, 8, 128, x) <
                        sp_attention_kernel_s(chip, SP_KERNEL_BF16, 8, 128, y));
        }
        for (int op = 0; op < SP_COLLECTIVES; op++)
            for (double bytes = 512; bytes < 4e9; bytes *= 1.7)
                for (double ranks = 2; ranks < 72; ranks += 1) {
                    const enum sp_collective o = (enum sp_collective)op;
                    const double here =
                        sp_collective_kernel_s(&chip->kernels, &hw.network, o, ranks, bytes);
                    assert_true(here < sp_collective_kernel_s(&chip->kernels, &hw.network, o, ranks,
                                                              bytes * 1.7));
                    assert_true(here <= sp_collective_kernel_s(&chip->kernels, &hw.network, o,
                                                               ranks + 1, bytes));
                }
    }
}

/* A chip at least as good in every figure is not slower on kernels of a training step. The H200
 * uses the H100's curves. */
static void better_is_not_slower(void **state)
{
    (void)state;
    static const struct {
        const char *worse, *better;
        double slack;
    } pairs[] = {{"a100", "h100", 0},  {"h100", "h200", 0}, {"h200", "b200", 0},
                 {"b200", "gb200", 0}, {"b200", "b300", 0}, {"gb200", "gb300", 0},
                 {"b300", "gb300", 0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct sp_hardware worse = load(pairs[i].worse), better = load(pairs[i].better);
        const double most = 1 + pairs[i].slack;
        for (double side = 1024; side <= 16384; side *= 2) {
            assert_true(sp_matmul_kernel_s(&better.chip, SP_KERNEL_BF16, 8192, side, 8192) <=
                        most * sp_matmul_kernel_s(&worse.chip, SP_KERNEL_BF16, 8192, side, 8192));
            if (side >= 4096)
                assert_true(sp_attention_kernel_s(&better.chip, SP_KERNEL_BF16, 32, 128, side) <=
                            most *
                                sp_attention_kernel_s(&worse.chip, SP_KERNEL_BF16, 32, 128, side));
        }
    }
}

/* Rows of op-gemm.csv: the median of trtllm, vllm and sglang, its line in the file. */
static void matmuls_as_measured(void **state)
{
    (void)state;
    static const struct {
        const char *chip;
        enum sp_kernel_format format;
        double m, n, k, ms, within;
    } cases[] = {
        {"a100", SP_KERNEL_BF16, 4096, 4096, 4096, 0.539480, 0.05},  /* line 644 */
        {"a100", SP_KERNEL_BF16, 8192, 8192, 8192, 4.188501, 0.05},  /* line 493 */
        {"h100", SP_KERNEL_BF16, 4096, 4096, 4096, 0.174285, 0.05},  /* line 7913 */
        {"h100", SP_KERNEL_BF16, 8192, 7168, 2048, 0.311660, 0.05},  /* line 7542 */
        {"h100", SP_KERNEL_BF16, 1, 8192, 8192, 0.049184, 0.05},     /* line 7681 */
        {"h100", SP_KERNEL_FP8, 8192, 8192, 8192, 0.884912, 0.05},   /* line 7682 */
        {"h100", SP_KERNEL_FP8, 8192, 7168, 2048, 0.227771, 0.06},   /* line 7832 */
        {"gb300", SP_KERNEL_BF16, 8192, 8192, 8192, 0.570814, 0.05}, /* line 6029 */
        {"gb300", SP_KERNEL_FP8, 8192, 7168, 2048, 0.096181, 0.1},   /* line 6462 */
        {"gb300", SP_KERNEL_NVFP4, 8192, 8192, 8192, 0.211115, 0.1}, /* line 6737 */
        {"b200", SP_KERNEL_BF16, 8192, 8192, 8192, 0.699700, 0.05},  /* line 1089 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_hardware hw = load(cases[i].chip);
        print_message("%s %d\n", cases[i].chip, (int)cases[i].m);
        assert_close(
            sp_matmul_kernel_s(&hw.chip, cases[i].format, cases[i].m, cases[i].n, cases[i].k),
            cases[i].ms / 1e3, cases[i].within);
    }
}

/* Rows of op-prefill-attention.csv, 32 heads of 128 and 8 KV heads, bf16: the median of three. */
static void attention_as_measured(void **state)
{
    (void)state;
    static const struct {
        const char *chip;
        double seq, ms;
    } cases[] = {{"a100", 16384, 12.505157},  /* line 139 */
                 {"h100", 8192, 0.950494},    /* line 2649 */
                 {"h100", 16384, 3.557938},   /* line 2647 */
                 {"b200", 16384, 1.768219},   /* line 637 */
                 {"gb200", 16384, 1.589568}}; /* line 1917 */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_hardware hw = load(cases[i].chip);
        print_message("%s %d\n", cases[i].chip, (int)cases[i].seq);
        assert_close(sp_attention_kernel_s(&hw.chip, SP_KERNEL_BF16, 32, 128, cases[i].seq),
                     cases[i].ms / 1e3, 0.05);
    }
}

/* Rows of op-collectives.csv, NCCL, half: 128 MiB and 512 MiB. */
static void collectives_as_measured(void **state)
{
    (void)state;
    static const struct {
        const char *chip;
        enum sp_collective op;
        double ranks, mebibytes, ms;
    } cases[] = {
        {"a100", SP_ALL_GATHER, 8, 512, 2.2880},     /* line 358 */
        {"a100", SP_REDUCE_SCATTER, 8, 128, 0.6240}, /* line 440 */
        {"h100", SP_ALL_GATHER, 8, 512, 1.4015},     /* line 4106 */
        {"h100", SP_ALL_GATHER, 4, 128, 0.35031},    /* line 3936 */
        {"h100", SP_REDUCE_SCATTER, 8, 512, 1.3994}, /* line 4190 */
        {"h100", SP_ALL_TO_ALL, 8, 128, 0.40242},    /* line 4146 */
        {"gb200", SP_ALL_GATHER, 4, 512, 0.71445},   /* line 2806 */
        {"gb200", SP_ALL_TO_ALL, 4, 512, 0.82537},   /* line 2848 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_hardware hw = load(cases[i].chip);
        print_message("%s %d\n", cases[i].chip, (int)cases[i].op);
        assert_close(sp_collective_kernel_s(&hw.chip.kernels, &hw.network, cases[i].op,
                                            cases[i].ranks, cases[i].mebibytes * 1048576),
                     cases[i].ms / 1e3, 0.1);
    }
}

/* Rows of collectives.csv, by the network's file; the worst is an all-to-all over 64 of B300, whose
 * times over 2 to 32 nodes are not even. */
static void transports_as_measured(void **state)
{
    (void)state;
    static const struct {
        const char *chip, *network;
        enum sp_collective op;
        double ranks, bytes, seconds, tolerance;
    } cases[] = {
        {"a100", "efa-v1", SP_ALL_REDUCE, 16, 2147483648, 0.051406, 0.05},
        {"h100", "efa-v2", SP_ALL_REDUCE, 16, 2147483648, 0.0091975, 0.1},
        {"h200", "efa-v3", SP_ALL_REDUCE, 128, 17179869184, 0.092173, 0.05},
        {"b200", "efa-v4", SP_ALL_REDUCE, 32, 17179869184, 0.0871818, 0.05},
        {"b300", "efa-v4-b300", SP_ALL_TO_ALL, 64, 64 * 58720256.0, 0.0007811, 0.1},
        {"b300", "efa-v4-b300", SP_ALL_TO_ALL, 256, 256 * 58720256.0, 0.0010693, 0.1},
        {"h100", "ib-ndr-sharp", SP_ALL_REDUCE, 96, 8589934592, 0.04398, 0.05},
        {"gb200", "nvl72-ib", SP_ALL_REDUCE, 72, 8589934592, 0.020299, 0.05},
        {"gb200", "nvl72-ib", SP_ALL_REDUCE, 1440, 17179869184, 0.084625, 0.02},
        {"gb200", "nvl72-ib", SP_ALL_REDUCE, 1440, 536870912, 0.0071084, 0.02},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const struct sp_sources sources = {0};
        struct sp_hardware hw = load(cases[i].chip);
        struct sp_scaleout network;
        struct sp_error error = {0};
        if (!sp_load_scaleout(cases[i].network, &sources, &network, &error))
            fail_msg("%s", error.text);
        print_message("%s %d\n", cases[i].network, (int)cases[i].op);
        sp_use_scaleout(&hw.network, &network);
        struct sp_device_group g = sp_group_on(&hw);
        g.nodes.devices = cases[i].ranks;
        assert_close(sp_collective_s(cases[i].op, cases[i].bytes, &g), cases[i].seconds,
                     cases[i].tolerance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_by_hand),
        cmocka_unit_test(attention_by_hand),
        cmocka_unit_test(attention_of_both_passes),
        cmocka_unit_test(collectives_by_hand),
        cmocka_unit_test(of_a_chip),
        cmocka_unit_test(shares),
        cmocka_unit_test(prompts_of_a_kernel),
        cmocka_unit_test(monotone),
        cmocka_unit_test(better_is_not_slower),
        cmocka_unit_test(matmuls_as_measured),
        cmocka_unit_test(attention_as_measured),
        cmocka_unit_test(collectives_as_measured),
        cmocka_unit_test(transports_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
