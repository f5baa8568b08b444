/* Numbers of devices that a machine of switches has, and jobs on a part of each node, by counting
 * the devices of every node. */
#include "check.h"

#include <scaleplan/machine.h>

static struct sp_hardware box(int64_t domain, int64_t host, int64_t part)
{
    struct sp_hardware hw = {.chips_per_slice = 1, .slices = 1};
    hw.network = (struct sp_network){
        .kind = SP_SWITCHED, .domain = domain, .devices_per_host = host, .domain_part = part};
    return hw;
}

/* Whole domains, as many parts of domains (64 of 72), whole hosts of a domain, or a part of a host
 * that divides it. */
static bool is_offered(int64_t domain, int64_t host, int64_t part, int64_t chips)
{
    const int64_t of_host = host > 0 ? host : domain;
    if (chips >= domain)
        return chips % domain == 0 || (part > 0 && part < domain && chips % part == 0);
    return chips > 0 && (chips % of_host == 0 || of_host % chips == 0);
}

static const int64_t boxes[][3] = {{8, 0, 0},   {8, 8, 0},  {8, 4, 0},   {1, 0, 0}, {16, 8, 0},
                                   {72, 4, 64}, {72, 4, 0}, {72, 8, 72}, {12, 4, 6}};
enum { BOXES = sizeof boxes / sizeof *boxes };

static void offered_by_counting(void **state)
{
    (void)state;
    for (int b = 0; b < BOXES; b++) {
        const int64_t domain = boxes[b][0], host = boxes[b][1], part = boxes[b][2];
        const struct sp_hardware hw = box(domain, host, part);
        for (int64_t chips = -1; chips <= 300; chips++) {
            const bool offered = is_offered(domain, host, part, chips);
            const bool few = chips > 0 && chips < (host > 0 ? host : domain);
            int64_t up = chips < 1 ? 1 : chips, down = chips;
            while (!is_offered(domain, host, part, up))
                up++;
            while (down >= 1 && !is_offered(domain, host, part, down))
                down--;
            assert_int_equal(sp_offers_chips(&hw.network, chips), offered);
            assert_int_equal(sp_has_chips(&hw.network, chips), offered || few);
            if (chips >= 1) {
                assert_int_equal(sp_nearest_chips(&hw.network, chips, true), up);
                assert_int_equal(sp_nearest_chips(&hw.network, chips, false), down < 1 ? 0 : down);
            }
        }
    }
}

/* A job on more than a domain that does not fill whole ones uses the same part of each. */
static void slices_taken(void **state)
{
    (void)state;
    for (int b = 0; b < BOXES; b++)
        for (int64_t chips = 1; chips <= 300; chips++) {
            const int64_t domain = boxes[b][0], part = boxes[b][2];
            struct sp_hardware hw = box(domain, boxes[b][1], part);
            const bool has = sp_has_chips(&hw.network, chips);
            const bool parts = part > 0 && part < domain && chips > domain && chips % domain != 0 &&
                               chips % part == 0;
            assert_int_equal(sp_take_slice(&hw, chips), has);
            if (!has)
                continue;
            assert_int_equal(hw.chips_per_slice, chips);
            assert_int_equal(hw.network.domain, parts ? part : domain);
        }
}

/* Some devices of each of several nodes: h100-6x2 has two nodes of 6. */
static void parts_of_nodes(void **state)
{
    (void)state;
    for (int64_t devices = 1; devices <= 10; devices++)
        for (int64_t nodes = 1; nodes <= 3; nodes++) {
            struct sp_hardware hw = box(8, 8, 0);
            assert_int_equal(sp_take_nodes(&hw, devices, nodes), devices <= 8);
            if (devices > 8)
                continue;
            assert_int_equal(hw.chips_per_slice, devices * nodes);
            assert_int_equal(hw.network.domain, devices);
            assert_int_equal(hw.network.devices_per_host, devices);
        }
    struct sp_hardware hosts = box(16, 4, 0); /* a host is smaller than its part of the domain */
    assert_true(sp_take_nodes(&hosts, 8, 2));
    assert_int_equal(hosts.network.devices_per_host, 4);
    assert_int_equal(hosts.network.domain, 8);
    assert_false(sp_take_nodes(&hosts, 6, 2));
    hosts.network.kind = SP_TORUS;
    assert_false(sp_take_nodes(&hosts, 4, 2));
}

/* Which axes of a slice close: all of one of whole cubes, those of 16 chips, those of the whole
 * pod, all, or none. */
static void axes_that_wrap(void **state)
{
    (void)state;
    static const struct {
        int wrap;
        struct sp_shape shape;
        bool wraps[3];
    } rows[] = {{SP_WRAP_CUBE, {{4, 4, 8}}, {true, true, true}},
                {SP_WRAP_CUBE, {{2, 4, 8}}, {false, false, false}},
                {SP_WRAP_CUBE, {{4, 4, 6}}, {false, false, false}},
                {SP_WRAP_AXIS16, {{16, 8, 16}}, {true, false, true}},
                {SP_WRAP_FULL_POD, {{8, 8, 4}}, {true, true, true}},
                {SP_WRAP_FULL_POD, {{8, 4, 4}}, {false, false, false}},
                {SP_WRAP_ALWAYS, {{2, 3, 1}}, {true, true, true}},
                {SP_WRAP_NEVER, {{16, 16, 16}}, {false, false, false}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_hardware hw = {.slices = 1, .shape = rows[i].shape};
        hw.chips_per_slice = sp_shape_chips(&hw.shape);
        hw.network = (struct sp_network){
            .kind = SP_TORUS, .axes = 3, .wrap = rows[i].wrap, .pod_shape = {{8, 8, 4}}};
        for (int axis = 0; axis < 3; axis++)
            assert_int_equal(sp_axis_wraps(&hw, axis), rows[i].wraps[axis]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offered_by_counting),
        cmocka_unit_test(slices_taken),
        cmocka_unit_test(parts_of_nodes),
        cmocka_unit_test(axes_that_wrap),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
