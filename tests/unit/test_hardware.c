/* Slices, rings, nearest sizes and bandwidths. */
#include "check.h"

#include <string.h>

#include "config/load.h"

static const struct sp_sources sources;

static struct sp_hardware machine(const char *spec)
{
    struct sp_hardware hw;
    struct sp_error error = {0};
    if (!sp_load_hardware(spec, &sources, &hw, &error))
        fail_msg("%s", error.text);
    return hw;
}

static void refused(const char *spec, const char *part)
{
    struct sp_hardware hw;
    struct sp_error error = {0};
    if (sp_load_hardware(spec, &sources, &hw, &error))
        fail_msg("%s was accepted", spec);
    assert_int_equal(error.code, SP_INPUT);
    assert_int_equal(error.lines, 1);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" lacks \"%s\"", error.text, part);
}

static void specs(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t chips, slices;
        const char *shape, *cloud;
    } rows[] = {
        {"v5p", 1, 1, "1x1x1", "v5p-2"},
        {"v5p-4096", 4096, 1, "16x16x16", "v5p-8192"},
        {"gcp:v5p-8192", 4096, 1, "16x16x16", "v5p-8192"},
        {"v5p:16x16x16", 4096, 1, "16x16x16", "v5p-8192"},
        {"v5p:28x16x20", 8960, 1, "16x20x28", "v5p-17920"},
        {"v5p-8960x4", 35840, 4, "4 slices of 16x20x28", "v5p-17920"},
        {"v5p-8960x1", 8960, 1, "16x20x28", "v5p-17920"},
        {"v5p-64", 64, 1, "4x4x4", "v5p-128"},
        {"trillium-256", 256, 1, "16x16", "v6e-256"},
        {"v5e:4x8", 32, 1, "4x8", "v5litepod-32"},
        {"h100-512", 512, 1, "64 nodes of 8", ""},
        {"h100-8", 8, 1, "1 node of 8", ""},
        {"h100-4", 4, 1, "1 node of 4", ""},
        {"a100-40gb", 1, 1, "1 node of 1", ""},
        {"a100-40gb-8", 8, 1, "1 node of 8", ""},
        {"gb200-72", 72, 1, "1 node of 72", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sp_hardware hw = machine(rows[i].spec);
        char shape[96], cloud[96];
        sp_shape_name(&hw, shape, sizeof shape);
        sp_cloud_name(&hw, cloud, sizeof cloud);
        assert_int_equal(sp_chips(&hw), rows[i].chips);
        assert_int_equal(hw.slices, rows[i].slices);
        assert_string_equal(shape, rows[i].shape);
        assert_string_equal(cloud, rows[i].cloud);
    }
}

static void refusals(void **state)
{
    (void)state;
    refused("v5p-4097", "v5p-4096 (16x16x16) and v5p-41");
    refused("v5p-100", "v5p-64 (4x4x4) and v5p-128");
    refused("v5e:3x5", "v5e-8 (2x4) and v5e-16 (4x4)");
    refused("h100-12", "h100-8 and h100-16");
    refused("h100-0", "range");
    refused("v5p-0", "range");
    refused("v5p-9999999999999999", "range");
    refused("v5p-8960x0", "range");
    refused("v5p:0x4x4", "axis");
    refused("v5p:4x4x4x4", "shape");
    refused("v5p:", "shape");
    refused("h100:2x4", "only a torus has a shape");
    refused("h100-9x2", "8 chips at most");
    refused("gcp:v5p-8191", "multiple");
    refused("v5x-256", "did you mean \"v5");
    refused("", "no such machine");
    refused("gcp:", "no such machine");
    refused("-5", "-5");
}

/* Sets a machine's shape, which need not be available. */
static struct sp_hardware with_shape(const char *spec, int32_t x, int32_t y, int32_t z)
{
    struct sp_hardware hw = machine(spec);
    hw.shape = (struct sp_shape){{x, y, z}};
    hw.chips_per_slice = sp_shape_chips(&hw.shape);
    return hw;
}

/* v5p and v4: rings only in slices made of whole 4x4x4 cubes. v5e and v6e: only axes of 16. */
static void rings(void **state)
{
    (void)state;
    struct sp_hardware hw = with_shape("v5p", 4, 4, 4);
    assert_true(sp_axis_wraps(&hw, 0) && sp_axis_wraps(&hw, 1) && sp_axis_wraps(&hw, 2));
    hw = with_shape("v5p", 2, 4, 4);
    assert_false(sp_axis_wraps(&hw, 0) || sp_axis_wraps(&hw, 1) || sp_axis_wraps(&hw, 2));
    hw = with_shape("v5p", 16, 20, 28);
    assert_true(sp_axis_wraps(&hw, 0) && sp_axis_wraps(&hw, 2));
    hw = with_shape("v5e", 8, 16, 1);
    assert_false(sp_axis_wraps(&hw, 0));
    assert_true(sp_axis_wraps(&hw, 1));
    hw = with_shape("v6e", 16, 16, 1);
    assert_true(sp_axis_wraps(&hw, 0) && sp_axis_wraps(&hw, 1));
    hw = with_shape("v6e", 8, 8, 1);
    assert_false(sp_axis_wraps(&hw, 0) || sp_axis_wraps(&hw, 1));
}

/* A ring moves 2w; on a line of X chips, every chip gets V (X-1)/X over one link. */
static void axis_bandwidth(void **state)
{
    (void)state;
    assert_close(sp_axis_bytes_per_s(9e10, 16, true), 1.8e11, 0);
    assert_close(sp_axis_bytes_per_s(9e10, 16, false), 9.6e10, 1e-15);
    assert_close(sp_axis_bytes_per_s(9e10, 4, false), 1.2e11, 1e-15);
    assert_close(sp_axis_bytes_per_s(9e10, 2, false), 1.8e11, 0);
    assert_close(sp_axis_bytes_per_s(9e10, 1, true), 0, 0);
}

/* A corner of a mesh has one link on each axis, and takes in (N-1)/N of the array: of 2 x 2 chips
 * 3/4 over two links, of 4 x 4 15/16 over two, of 2 x 2 x 2 7/8 over three. Rings beside lines keep
 * 2w; an axis of 1 does not count. */
static void axes_bandwidth(void **state)
{
    (void)state;
    static const bool lines[] = {false, false, false}, mixed[] = {false, true, true};
    assert_close(sp_axes_bytes_per_s(9e10, 2, (int64_t[]){2, 2}, lines), 2 * 9e10 * 4 / 3, 1e-15);
    assert_close(sp_axes_bytes_per_s(9e10, 3, (int64_t[]){4, 1, 4}, lines), 2 * 9e10 * 16 / 15,
                 1e-15);
    assert_close(sp_axes_bytes_per_s(9e10, 3, (int64_t[]){2, 2, 2}, lines), 3 * 9e10 * 8 / 7,
                 1e-15);
    assert_close(sp_axes_bytes_per_s(9e10, 1, (int64_t[]){4}, lines), 1.2e11, 1e-15);
    assert_close(sp_axes_bytes_per_s(4.5e10, 2, (int64_t[]){8, 16}, mixed),
                 9e10 + 4.5e10 * 128 / 127, 1e-15);
    const struct sp_hardware hw = with_shape("v5e", 4, 4, 1);
    assert_close(sp_slice_axes_bytes_per_s(&hw, 7), 9.6e10, 1e-15);
    assert_close(sp_slice_axes_bytes_per_s(&hw, 2), 6e10, 1e-15);
    assert_close(sp_slice_axes_bytes_per_s(&hw, 4), 0, 0);
}

/* A host of 4 v5p chips shares 2.5e10 bytes/s; 8 H100 of 5e10 each make 4e11; ib-hdr has 200 Gb/s a
 * device, 10gbe 10 Gb/s per node. */
static void beyond(void **state)
{
    (void)state;
    struct sp_hardware hw = machine("v5p");
    assert_close(sp_dcn_bytes_per_s_per_chip(&hw.network), 6.25e9, 0);
    hw = machine("h100-16");
    assert_close(sp_node_bytes_per_s(&hw.network), 4e11, 0);
    struct sp_scaleout scaleout;
    struct sp_error error = {0};
    assert_true(sp_load_scaleout("ib-hdr", &sources, &scaleout, &error));
    sp_use_scaleout(&hw.network, &scaleout);
    assert_close(sp_node_bytes_per_s(&hw.network), 2e11, 1e-15);
    assert_true(sp_load_scaleout("10gbe", &sources, &scaleout, &error));
    sp_use_scaleout(&hw.network, &scaleout);
    assert_close(sp_node_bytes_per_s(&hw.network), 1.25e9, 1e-15);
}

/* Racks of 72: jobs of 32 and 64 are in one, of 128 to 512 in two to eight parts of 64, and whole
 * racks where these are filled. */
static void racks(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        int64_t chips, domain;
    } jobs[] = {{"32", 32, 72},   {"64", 64, 72},   {"72", 72, 72},   {"128", 128, 64},
                {"144", 144, 72}, {"256", 256, 64}, {"512", 512, 64}, {"576", 576, 72}};
    static const char *const chips[] = {"gb200", "gb300"};
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s-%s", chips[c], jobs[i].size);
            const struct sp_hardware hw = machine(name);
            assert_int_equal(sp_chips(&hw), jobs[i].chips);
            assert_int_equal(hw.network.domain, jobs[i].domain);
        }
}

/* The nearest size is available, on the requested side, and no other is nearer. */
static void nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"v5p", "v5e", "v4", "h100", "gb200", "v100", "trainium2"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const struct sp_hardware hw = machine(names[k]);
        const struct sp_network *net = &hw.network;
        for (int64_t chips = 1; chips <= 300; chips++) {
            const int64_t up = sp_nearest_chips(net, chips, true);
            const int64_t down = sp_nearest_chips(net, chips, false);
            assert_true(up == 0 || (up >= chips && sp_offers_chips(net, up)));
            assert_true(down == 0 || (down <= chips && sp_offers_chips(net, down)));
            for (int64_t at = chips; up > 0 && at < up; at++)
                assert_false(sp_offers_chips(net, at));
            for (int64_t at = chips; at > down; at--)
                assert_false(sp_offers_chips(net, at));
        }
    }
    const struct sp_hardware v5p = machine("v5p");
    assert_int_equal(sp_nearest_chips(&v5p.network, 8961, true), 0);
    assert_int_equal(sp_nearest_chips(&v5p.network, 1000000000, false), 8960);
    const struct sp_hardware h100 = machine("h100");
    assert_int_equal(sp_nearest_chips(&h100.network, 1000000000001, true), 1000000000008);
}

/* The most cubic of several shapes: 4096 chips are 16x16x16 and not 8x16x32. */
static void cubes(void **state)
{
    (void)state;
    const struct sp_hardware v5p = machine("v5p");
    for (int i = 0; i < v5p.network.n_shapes; i++) {
        const struct sp_shape *const offered = &v5p.network.shapes[i];
        struct sp_shape found, turned = {{offered->axis[2], offered->axis[0], offered->axis[1]}};
        assert_true(sp_find_shape(&v5p.network, sp_shape_chips(offered), &found));
        assert_true(found.axis[0] <= offered->axis[2] || found.axis[2] <= offered->axis[2]);
        assert_true(sp_offers_shape(&v5p.network, &turned, &found));
        assert_memory_equal(&found, offered, sizeof found);
    }
}

/* A dtype without a published peak falls back: v4 runs fp8 in bf16, V100 bf16 in fp16. */
static void dtypes(void **state)
{
    (void)state;
    const struct sp_hardware v4 = machine("v4"), v100 = machine("v100"), h100 = machine("h100"),
                             b200 = machine("b200");
    assert_int_equal(sp_compute_dtype(&v4.chip, SP_FP8), SP_BF16);
    assert_int_equal(sp_compute_dtype(&v100.chip, SP_BF16), SP_FP16);
    assert_int_equal(sp_compute_dtype(&h100.chip, SP_FP8), SP_FP8);
    assert_int_equal(sp_compute_dtype(&h100.chip, SP_FP4), SP_FP8);
    /* engines widen 4-bit floats to 16 bits where the chip has no arithmetic in them */
    assert_int_equal(sp_math_of_stored(&h100.chip, SP_STORED_MXFP4), SP_BF16);
    assert_int_equal(sp_math_of_stored(&h100.chip, SP_STORED_FP8), SP_FP8);
    assert_int_equal(sp_math_of_stored(&b200.chip, SP_STORED_NVFP4), SP_FP4);
    struct sp_chip none = h100.chip;
    for (int i = 0; i < SP_DTYPES; i++)
        none.peak_flops_per_s[i] = NAN;
    assert_int_equal(sp_compute_dtype(&none, SP_FP8), SP_DTYPES);
    assert_close(sp_capacity_bytes(&h100.chip), h100.chip.hbm_bytes, 0);
}

/* The smallest part of nodes of 8 that has this many chips, or a fraction more: 9 or 8.5 take two
 * nodes, and what rounding added to 8 takes one. */
static void smallest_parts(void **state)
{
    (void)state;
    const struct sp_network nodes = {.kind = SP_SWITCHED, .domain = 8};
    static const double all[][2] = {{1, 1},    {1.5, 2}, {2.5, 4},   {8, 8}, {8 * (1 + 1e-15), 8},
                                    {8.5, 16}, {9, 16},  {16.25, 24}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_close(sp_smallest_slice(&nodes, all[i][0]), all[i][1], 0);
    assert_true(isnan(sp_smallest_slice(&nodes, 2e9)));
}

/* 4 drives of 10 bytes that read 2 and write 1 byte/s hold 3 devices' 13 bytes, 39 in all, and
 * not 14. They write these in 39 / 4 s and read them in half of it. Data of 40 bytes fit, of 41 do
 * not. */
static void rooms_of_drives(void **state)
{
    (void)state;
    const struct sp_drive drive = {.capacity_bytes = 10,
                                   .read_bytes_per_s = 2,
                                   .write_bytes_per_s = 1,
                                   .endurance_bytes = 100};
    for (int bytes = 13; bytes <= 14; bytes++) {
        const struct sp_drive_tier tier = sp_drive_tier(&drive, 4, 3, bytes);
        assert_true(tier.holds == (bytes == 13));
        assert_close(tier.transfer_s, 3 * bytes / 4.0 + 3 * bytes / 8.0, 1e-15);
        assert_close(tier.steps, 400.0 / (3 * bytes), 1e-15);
    }
    for (int tokens = 39; tokens <= 41; tokens++) {
        const struct sp_data_need need = {
            .tokens_per_s = 4, .bytes_per_token = 1, .tokens = tokens};
        const struct sp_data_source source = {
            .drives = 4, .drive = &drive, .loader_bytes_per_s = INFINITY};
        const struct sp_data_flow flow = sp_data_flow(&need, &source);
        assert_true(flow.holds == (tokens <= 40));
        assert_close(flow.share, 0.5, 1e-15); /* 4 of 8 bytes/s */
        assert_false(flow.bound);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs),           cmocka_unit_test(refusals),
        cmocka_unit_test(rings),           cmocka_unit_test(beyond),
        cmocka_unit_test(axis_bandwidth),  cmocka_unit_test(axes_bandwidth),
        cmocka_unit_test(racks),           cmocka_unit_test(nearest),
        cmocka_unit_test(cubes),           cmocka_unit_test(smallest_parts),
        cmocka_unit_test(rooms_of_drives), cmocka_unit_test(dtypes),
    };
    return cmocka_run_group_tests_name("hardware", tests, NULL, NULL);
}
