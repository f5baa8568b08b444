/* Built-in facts: the scaling book's tables under --constants textbook, published peaks, parameter
 * totals of every model, all slices of every torus, and derived figures. */
#include "check.h"

#include "config/fields.h"
#include "config/load.h"

#include <stdlib.h>

#include <scaleplan/scaleplan.h>

static struct sp_hardware load(const char *spec, bool textbook)
{
    const struct sp_sources sources = {.textbook = textbook};
    struct sp_hardware hw;
    struct sp_error error = {0};
    if (!sp_load_hardware(spec, &sources, &hw, &error))
        fail_msg("%s", error.text);
    return hw;
}

/* Scaling book, "TPUs", table of chips, and what it derives from it in "Roofline" and "Training":
 * alpha = C/2w, ridge = C/W_hbm. 0: not in the table. */
static void tpus_of_the_textbook(void **state)
{
    static const struct {
        const char *name;
        double pod, hbm, W_hbm, bf16, int8, link, dcn_per_chip, cores, alpha, ridge;
    } rows[] = {
        {"v3", 1024, 32e9, 9.0e11, 1.4e14, 1.4e14, 1e11, 6.25e9, 2, 0, 0},
        {"v4p", 4096, 32e9, 1.2e12, 2.75e14, 2.75e14, 4.5e10, 6.25e9, 2, 3056, 229},
        {"v5p", 8960, 96e9, 2.8e12, 4.59e14, 9.18e14, 9e10, 6.25e9, 2, 2550, 164},
        {"v5e", 256, 16e9, 8.1e11, 1.97e14, 3.94e14, 4.5e10, 3.125e9, 1, 2189, 243},
        {"v6e", 256, 32e9, 1.6e12, 9.2e14, 1.84e15, 9e10, 1.25e10, 1, 5111, 575},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sp_hardware hw = load(rows[i].name, true);
        const struct sp_chip *chip = &hw.chip;
        const struct sp_chip_networks networks = sp_chip_networks(&hw);
        print_message("%s\n", rows[i].name);
        assert_close((double)sp_shape_chips(&hw.network.pod_shape), rows[i].pod, 0);
        assert_close(chip->hbm_bytes, rows[i].hbm, 0);
        assert_close(sp_capacity_bytes(chip), rows[i].hbm, 0);
        assert_close(chip->hbm_bytes_per_s, rows[i].W_hbm, 0);
        assert_close(chip->peak_flops_per_s[SP_BF16], rows[i].bf16, 0);
        assert_close(chip->peak_flops_per_s[SP_INT8], rows[i].int8, 0);
        assert_close(hw.network.link_bytes_per_s, rows[i].link, 0);
        assert_close(networks.dcn_bytes_per_s, rows[i].dcn_per_chip, 0);
        assert_close(chip->cores, rows[i].cores, 0);
        assert_close(chip->vmem_bytes_per_s, 22 * rows[i].W_hbm, 1e-12);
        if (rows[i].alpha > 0) {
            assert_close(networks.alpha_axis, rows[i].alpha, 0.5 / rows[i].alpha);
            assert_close(sp_ridge(chip, SP_BF16, chip->hbm_bytes_per_s), rows[i].ridge,
                         0.5 / rows[i].ridge);
        }
    }
}

/* Scaling book, "GPUs", tables of memory, compute and networks; the A100's node egress is eight HDR
 * ports. 0: not in the tables. */
static void gpus_of_the_textbook(void **state)
{
    static const struct {
        const char *name;
        double sms, hbm, W_hbm, bf16, fp8, fp4, nvlink, domain, node_egress;
    } rows[] = {
        {"v100", 80, 32e9, 9.0e11, 0, 0, 0, 1.5e11, 8, 0},
        {"a100", 108, 80e9, 2.0e12, 3.1e14, 0, 0, 3e11, 8, 2e11},
        {"h100", 132, 80e9, 3.35e12, 9.9e14, 2.0e15, 0, 4.5e11, 8, 4e11},
        {"h200", 132, 141e9, 4.8e12, 9.9e14, 2.0e15, 0, 4.5e11, 8, 4e11},
        {"h800", 132, 80e9, 3.35e12, 9.9e14, 1.513e15, 0, 3e11, 8, 4e11},
        {"b200", 148, 192e9, 8.0e12, 2.25e15, 4.5e15, 9e15, 9e11, 8, 4e11},
        {"gb200", 148, 192e9, 8.0e12, 2.25e15, 4.5e15, 9e15, 9e11, 72, 3.6e12},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sp_hardware hw = load(rows[i].name, true);
        const struct sp_chip *chip = &hw.chip;
        print_message("%s\n", rows[i].name);
        assert_close(chip->sms, rows[i].sms, 0);
        assert_close(chip->hbm_bytes, rows[i].hbm, 0);
        assert_close(chip->hbm_bytes_per_s, rows[i].W_hbm, 0);
        if (rows[i].bf16 > 0)
            assert_close(chip->peak_flops_per_s[SP_BF16], rows[i].bf16, 0);
        if (rows[i].fp8 > 0)
            assert_close(chip->peak_flops_per_s[SP_FP8], rows[i].fp8, 0);
        if (rows[i].fp4 > 0)
            assert_close(chip->peak_flops_per_s[SP_FP4], rows[i].fp4, 0);
        assert_close(hw.network.domain_bytes_per_s, rows[i].nvlink, 0);
        assert_close((double)hw.network.domain, rows[i].domain, 0);
        if (rows[i].node_egress > 0)
            assert_close(sp_node_bytes_per_s(&hw.network), rows[i].node_egress, 1e-12);
    }
}

/* MI300X: one 64 GB/s link to each of seven others, so a pair of devices uses one link and eight
 * devices use all; through switches any pair uses all. */
static void links_to_each_peer(void **state)
{
    (void)state;
    const struct sp_hardware mesh = load("mi300x", false), switched = load("h100", false);
    for (int n = 2; n <= 8; n++) {
        assert_close(sp_domain_bytes_per_s(&mesh.network, n), (n - 1) * 64e9, 1e-15);
        assert_close(sp_domain_bytes_per_s(&switched.network, n), 450e9, 0);
    }
}

/* Dense peaks, where data sheets print the sparse ones; and H100's thresholds that follow:
 * 989.4/0.45 = 2198.7 inside a node, 989.4/0.4 = 2473.5 beyond. */
static void published_peaks(void **state)
{
    (void)state;
    const struct sp_hardware h100 = load("h100", false);
    assert_close(h100.chip.peak_flops_per_s[SP_BF16], 989.4e12, 0);
    assert_close(h100.chip.peak_flops_per_s[SP_TF32], 494.7e12, 0);
    assert_close(sp_chip_networks(&h100).alpha_node, 989.4e12 / 450e9, 1e-12);
    assert_close(sp_chip_networks(&h100).alpha_cross, 989.4e12 / 400e9, 1e-12);
    assert_close(load("v6e", false).chip.peak_flops_per_s[SP_BF16], 918e12, 0);
    assert_close(load("a100", false).chip.peak_flops_per_s[SP_BF16], 312e12, 0);
    assert_close(load("b200", false).chip.hbm_bytes, 180e9, 0);
    assert_close(load("gb200", false).chip.hbm_bytes, 186e9, 0);
}

struct totals {
    int checked, rounded, loose;
};

static void check_total(const char *name, void *context)
{
    static const struct sp_sources sources = {0};
    struct totals *totals = context;
    struct sp_model model;
    struct sp_error error = {0};
    if (!sp_load_model(name, &sources, &model, &error))
        fail_msg("%s", error.text);
    if (!(model.published_params > 0))
        return;
    const double off = fabs(sp_off_published(&model));
    totals->checked++;
    totals->rounded += model.published_rounded;
    totals->loose += off > 1e-3;
    if (off > (model.published_rounded ? 0.03 : 1e-3))
        fail_msg("%s: %.17g parameters counted, %.17g published", name,
                 sp_count_params(&model).total, model.published_params);
}

/* Published counts are met to 0.1 %, rounded ones such as "1.7B" to 3 %, of which there are few. */
static void parameter_totals(void **state)
{
    (void)state;
    static const struct sp_sources sources = {0};
    struct totals totals = {0};
    sp_each_config(SP_MODELS, &sources, check_total, &totals);
    assert_true(totals.checked >= 85);
    assert_true(totals.checked - totals.rounded >= 50);
    assert_true(totals.loose <= 15);
}

static void check_slices(const char *name, void *context)
{
    int *const slices = context;
    const struct sp_hardware chip = load(name, false);
    const struct sp_network *net = &chip.network;
    for (int i = 0; net->kind == SP_TORUS && i < net->n_shapes; i++) {
        char spec[128];
        const int32_t *axis = net->shapes[i].axis;
        const int64_t chips = sp_shape_chips(&net->shapes[i]);
        snprintf(spec, sizeof spec, "%s:%dx%dx%d", name, (int)axis[0], (int)axis[1], (int)axis[2]);
        const struct sp_hardware by_shape = load(spec, false);
        assert_memory_equal(&by_shape.shape, &net->shapes[i], sizeof by_shape.shape);
        assert_int_equal(sp_chips(&by_shape), chips);
        snprintf(spec, sizeof spec, "%s-%lld", name, (long long)chips);
        const struct sp_hardware by_chips = load(spec, false);
        assert_int_equal(sp_chips(&by_chips), chips);
        ++*slices;
    }
}

static void every_slice_resolves(void **state)
{
    (void)state;
    static const struct sp_sources sources = {0};
    int slices = 0;
    sp_each_config(SP_HARDWARE, &sources, check_slices, &slices);
    assert_true(slices >= 230); /* 96 of v5p, 99 of v7, 13 of v4, 8 each of v5e and v6e, v2, v3 */
}

/* Scaling book, "GPUs", quiz 1: 132 SMs x 128 lanes; 16896 x 1.59e9 and 1.98e9; 132 x 256 KiB;
 * 18 ports of 25 GB/s; B200: 80e12 / (2 x 18944). "TPUs": 2 x 128^2 x 1.5e9; v5p: 2 x 8 x 128 x 4.
 */
static void units(void **state)
{
    (void)state;
    const struct sp_hardware h100 = load("h100", true), b200 = load("b200", true);
    const struct sp_hardware a100 = load("a100", true), v5e = load("v5e", true),
                             v5p = load("v5p", true);
    const struct sp_gpu_units h = sp_gpu_units(&h100.chip), b = sp_gpu_units(&b200.chip);
    assert_close(h.cuda_cores, 16896, 0);
    assert_close(b.cuda_cores, 18944, 0);
    assert_close(h.vector_base_flops_per_s, 26.86464e12, 1e-12);
    assert_close(h.vector_boost_flops_per_s, 33.45408e12, 1e-12);
    assert_close(h.fma_boost_flops_per_s, 66.90816e12, 1e-12);
    assert_close(h.tensor_over_vector, 990 / 33.45408, 1e-12);
    assert_close(h.smem_bytes, 33. * 1024 * 1024, 0);
    assert_close(h.on_chip_bytes, 66. * 1024 * 1024, 0);
    assert_close(h.nvlink_egress_bytes_per_s, 450e9, 0);
    assert_close(h.flops_per_cycle_per_tensor_core, 990e12 / (528 * 1.76e9), 1e-12);
    assert_close(b.implied_clock_hz, 80e12 / 37888, 1e-12);
    assert_close(b.nvlink_egress_bytes_per_s, 900e9, 0);
    assert_close(sp_gpu_units(&a100.chip).nvlink_egress_bytes_per_s, 300e9, 0);
    assert_close(sp_tpu_units(&v5e.chip).mxu_flops_per_s, 49.152e12, 0);
    assert_close(sp_tpu_units(&v5e.chip).mxus_flops_per_s, 196.608e12, 0);
    assert_close(sp_tpu_units(&v5p.chip).vpu_alus, 8192, 0);
    assert_close(sp_tpu_units(&v5p.chip).vpu_core_ops_per_s, 4096 * 1.75e9, 0);
    assert_close(sp_chip_networks(&v5p).egress_bytes_per_s, 540e9, 0);
    assert_close(sp_chip_networks(&v5p).hbm_over_link, 2.8e12 / 90e9, 1e-12);
}

/* Units and clock give the published peak up to rounding. */
static void units_give_the_peak(void **state)
{
    static const char *const names[] = {"v3", "v4", "v5e", "v5p"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct sp_hardware hw = load(names[i], false);
        assert_close(sp_tpu_units(&hw.chip).mxus_flops_per_s, sp_peak16_flops_per_s(&hw.chip),
                     0.003);
    }
}

/* 16x16x16: a plane cuts 256 rings, 512 links of 90 GB/s each way. 8x16 of v5e: across the ring 8 x
 * 2 links, across the line 16. 2x2x1: no rings, 2 links. Eight GPUs: four send 450 GB/s each way.
 */
static void sums_and_bisection(void **state)
{
    (void)state;
    struct sp_hardware hw = load("v5p-4096", true), pod;
    struct sp_aggregate sum = sp_aggregate(&hw);
    assert_close(sum.hbm_bytes, 393.216e12, 0);
    assert_close(sum.hosts, 1024, 0);
    assert_close(sum.links, 512, 0);
    assert_close(sum.bisection_bytes_per_s, 92.16e12, 1e-12);
    assert_close(sum.bisection_one_way_bytes_per_s, 46.08e12, 1e-12);
    assert_true(sp_whole_pod(&hw, &pod));
    sum = sp_aggregate(&pod);
    assert_close(sum.chips, 8960, 0);
    assert_close(sum.hosts, 2240, 0);
    assert_close(sum.cores, 17920, 0);
    assert_close(sum.flops_per_s, 4.11264e18, 1e-12);
    assert_close(sum.hbm_bytes, 860.16e12, 1e-12);
    assert_close(sum.links, 640, 0); /* across the axis of 28 */
    hw = load("v5e:8x16", true);
    assert_close(sp_bisection_links(&hw), 16, 0);
    hw = load("v5p:2x2x1", true);
    assert_close(sp_bisection_links(&hw), 2, 0);
    hw = load("v5p", true);
    assert_true(isnan(sp_bisection_links(&hw)));
    hw = load("v5p-8960x2", true);
    sum = sp_aggregate(&hw);
    assert_close(sum.chips, 17920, 0);
    assert_close(sum.egress_bytes_per_s, 4480 * 25e9, 1e-12);
    hw = load("h100-8", true);
    assert_close(sp_aggregate(&hw).bisection_bytes_per_s, 3.6e12, 1e-12);
    hw = load("h100-16000", true);
    assert_close(sp_aggregate(&hw).power_w, 11.2e6, 1e-12);
}

/* Spine and core switches that NVIDIA's DGX SuperPOD reference architecture prints by number of
 * scalable units of 32 nodes; book quiz 3: 1024 GPUs are 4 units, 2048 are 8. */
static void fabric(void **state)
{
    static const struct {
        double units, spines, cores;
    } rows[] = {{2, 8, 0}, {4, 16, 0}, {8, 32, 0}, {16, 128, 64}, {32, 256, 128}, {64, 512, 256}};
    (void)state;
    const struct sp_hardware hw = load("h100", false), other = load("mi300x", false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sp_fabric_size size = sp_fabric_size(&hw.network, 32 * rows[i].units);
        assert_close(size.scalable_units, rows[i].units, 0);
        assert_close(size.leafs, 8 * rows[i].units, 0);
        assert_close(size.spines, rows[i].spines, 0);
        assert_close(size.cores, rows[i].cores, 0);
        assert_close(size.spine_per_node_bytes_per_s, 400e9, 1e-12);
    }
    const struct sp_fabric_size four = sp_fabric_size(&hw.network, 128);
    assert_close(four.node_bytes_per_s, 400e9, 0);
    assert_close(four.su_ingress_bytes_per_s, 12.8e12, 1e-12);
    assert_close(four.su_spine_bytes_per_s, 12.8e12, 1e-12);
    assert_close(four.spine_bytes_per_s, 51.2e12, 1e-12);
    assert_true(isnan(sp_fabric_size(&hw.network, 1).spines));
    assert_true(isnan(sp_fabric_size(&other.network, 64).spines));
}

/* Built-in configs are not checked at run time (sp_is_builtin), so here: chips have plausible
 * figures with either set of constants, and models state their kind of MLP. */
static void what_is_brought_raises_no_doubt(void **state)
{
    static const struct sp_sources plain;
    int chips = 0, models = 0;
    (void)state;
    for (size_t i = 0; i < sp_n_builtins; i++) {
        const char *const name = sp_builtins[i].name;
        if (sp_builtins[i].kind == SP_HARDWARE) {
            for (int textbook = 0; textbook < 2; textbook++) {
                const struct sp_hardware hw = load(name, textbook);
                for (const struct sp_likely *l = sp_likely_hardware; l->key; l++) {
                    const double value =
                        sp_field_number(sp_find_field(&sp_hardware_table, l->key), &hw);
                    if (value < l->min || value > l->max)
                        fail_msg("%s: %s is %g", name, l->key, value);
                }
            }
            chips++;
        } else if (sp_builtins[i].kind == SP_MODELS) {
            struct sp_config config;
            struct sp_error error = {0};
            assert_true(sp_open_config(SP_MODELS, name, &plain, &config, &error));
            if (cJSON_GetObjectItemCaseSensitive(config.json.root, "layers") &&
                !cJSON_GetObjectItemCaseSensitive(config.json.root, "convolution") &&
                !cJSON_GetObjectItemCaseSensitive(config.json.root, "gated_mlp"))
                fail_msg("%s does not say gated_mlp", name);
            sp_config_free(&config);
            models++;
        }
        assert_true(sp_is_builtin(sp_builtins[i].kind, name, &plain));
    }
    assert_true(chips >= 29 && models >= 88);
    assert_false(sp_is_builtin(SP_HARDWARE, "./h100.json", &plain));
    assert_false(sp_is_builtin(SP_HARDWARE, "no such chip", &plain));
}

/* Every place of measured runs has at least one token, and lies outside its machine's domain by the
 * ratio of its TP to the domain; no file has one of a third kind of network. */
static void places_of_runs(void **state)
{
    const struct sp_sources sources = {.textbook = false};
    struct sp_error error = {0};
    (void)state;
    for (int kind = SP_TORUS; kind <= SP_SWITCHED + 1; kind++) {
        size_t n = 77;
        struct sp_place *const places =
            sp_load_places((enum sp_network_kind)kind, &sources, &n, &error);
        assert_int_equal(error.lines, 0);
        assert_true(kind > SP_SWITCHED ? n == 0 : n > 10);
        for (size_t i = 0; i < n; i++) {
            const double *const octaves = places[i].octaves;
            assert_true(octaves[SP_GROUND_TOKENS] > 0);
            assert_true(octaves[SP_GROUND_OUTSIDE] >= 0);
            assert_true(octaves[SP_GROUND_OUTSIDE] <= octaves[SP_GROUND_TP]);
        }
        free(places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tpus_of_the_textbook),
        cmocka_unit_test(gpus_of_the_textbook),
        cmocka_unit_test(links_to_each_peer),
        cmocka_unit_test(published_peaks),
        cmocka_unit_test(parameter_totals),
        cmocka_unit_test(every_slice_resolves),
        cmocka_unit_test(units),
        cmocka_unit_test(units_give_the_peak),
        cmocka_unit_test(sums_and_bisection),
        cmocka_unit_test(fabric),
        cmocka_unit_test(what_is_brought_raises_no_doubt),
        cmocka_unit_test(places_of_runs),
    };
    return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
