/* The machines and batches that a problem allows, by looking at every one of them. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include "study/problem.h"

/* The largest number that divides both, by trying each. */
static int64_t common(int64_t a, int64_t b)
{
    int64_t best = 1;
    for (int64_t d = 2; d <= a && d <= b; d++)
        if (a % d == 0 && b % d == 0)
            best = d;
    return best;
}

static void a_batch_is_free_with_a_tilde_or_a_rest(void **state)
{
    (void)state;
    for (int about = 0; about < 2; about++)
        for (int counted = 0; counted < 2; counted++)
            for (int rest = -1; rest <= 1; rest++) {
                struct sp_asked_batch batch = {.tokens = 64 * 2048 + rest,
                                               .seq = 2048,
                                               .is_typed = true,
                                               .counts_sequences = counted,
                                               .is_about = about};
                assert_int_equal(sp_is_free_batch(&batch), about || (!counted && rest != 0));
                batch.is_typed = false; /* nobody asked for it */
                assert_int_equal(sp_is_free_batch(&batch), about || !counted);
            }
}

/* Within 5 %, both ends included. */
static void about_ends_at_a_twentieth(void **state)
{
    (void)state;
    for (int asked = 20; asked <= 2000; asked += 20)
        for (int batch = 1; batch <= 2 * asked; batch++)
            assert_int_equal(sp_is_about(batch, asked), 20 * abs(batch - asked) <= asked);
}

/* The tighter of two limits: 2 s, and D days of a run of T tokens in batches of B: D 86400 B / T.
 */
static void the_longest_step_is_the_tighter_limit(void **state)
{
    (void)state;
    struct sp_problem p = {.tokens = 1e12, .days = NAN, .max_step_s = NAN};
    assert_true(isinf(sp_longest_step_s(&p, 4e6)));
    p.max_step_s = 2;
    assert_close(sp_longest_step_s(&p, 4e6), 2, 0);
    p.days = 5; /* 432,000 s for 250,000 steps */
    assert_close(sp_longest_step_s(&p, 4e6), 1.728, 1e-14);
    p.days = 10;
    assert_close(sp_longest_step_s(&p, 4e6), 2, 0);
    p.max_step_s = NAN;
    assert_close(sp_longest_step_s(&p, 4e6), 3.456, 1e-14);
}

/* What replicas times micro-batches divide: micro-batches of 3, 5, 6 and 7 count where devices have
 * less than a sequence each. */
static int64_t most(int64_t devices, int64_t batch)
{
    return (batch < devices ? 840 : 8) * devices;
}

/* The odd part of the devices without what replicas can share of the batch, and the most replicas
 * times sequences of a micro-batch, of up to 8. */
static void shares_and_rests(void **state)
{
    (void)state;
    for (int64_t devices = 1; devices <= 130; devices++)
        for (int64_t batch = 1; batch <= 90; batch++) {
            int64_t odd = devices;
            while (odd % 2 == 0)
                odd /= 2;
            assert_int_equal(sp_odd_rest(devices, batch), odd / common(odd, batch));
            assert_int_equal(sp_batch_shares(devices, batch), common(batch, most(devices, batch)));
        }
}

/* Whether some micro-batches or stages, as many as k, share a replica's part of a batch, but not
 * the other batch. */
static bool is_new(int64_t devices, int64_t batch, int64_t than, int64_t dp)
{
    for (int64_t k = 1; k <= batch / dp; k++)
        if (batch / dp % k == 0 && most(devices / dp, batch / dp) % k == 0 && than % (dp * k) != 0)
            return true;
    return false;
}

static void new_replicas_by_trying_all(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        const int64_t devices = 1 + (int64_t)draw(64), batch = 1 + (int64_t)draw(64);
        const int64_t than = 1 + (int64_t)draw(128), listed = (int64_t)draw(4);
        int64_t found[80], want[80];
        int n = 0;
        for (int64_t dp = 1; dp <= devices && dp <= batch; dp++)
            if (devices % dp == 0 && batch % dp == 0 && is_new(devices, batch, than, dp))
                want[n++] = dp;
        memset(found, 0, sizeof found);
        assert_int_equal(sp_list_new_replicas(devices, batch, than, found, (int)listed), n);
        for (int k = 0; k < 80; k++)
            assert_int_equal(found[k], k < n && k < listed ? want[k] : 0);
        assert_int_equal(sp_list_new_replicas(devices, batch, than, found, 80), n);
        assert_memory_equal(found, want, (size_t)n * sizeof *want);
    }
}

static struct sp_hardware nodes_of_8(int64_t devices)
{
    struct sp_hardware hw = {.name = "box", .chips_per_slice = devices, .slices = 1};
    hw.network = (struct sp_network){.kind = SP_SWITCHED, .domain = 8, .devices_per_host = 8};
    return hw;
}

/* Batches within 5 %: of those with the same shares the nearest (then the smaller), and only where
 * no other's shares are a multiple, the requested one's neither. If whole rounds of 8 sequences on
 * each device fit within 5 %, the nearest number of those stands for all. */
static int list_batches(int64_t devices, int64_t asked, int64_t *found)
{
    int64_t shares[1000], low = asked;
    int n = 0;
    const int64_t own = common(asked, most(devices, asked));
    while (low > 1 && 20 * (asked - low + 1) <= asked)
        low--;
    const int64_t high = asked + (asked - low);
    assert_true(high - low < 1000 && high - low < 8 * devices);
    for (int64_t b = low; b <= high; b++)
        shares[b - low] = common(b, most(devices, b));
    for (int64_t b = low; b <= high; b++) {
        bool keeps = own % shares[b - low] != 0;
        for (int64_t other = low; keeps && other <= high; other++) {
            const int64_t s = shares[other - low];
            if (s == shares[b - low])
                keeps = labs(b - asked) < labs(other - asked) ||
                        (labs(b - asked) == labs(other - asked) && b <= other);
            else
                keeps = s % shares[b - low] != 0;
        }
        if (keeps)
            found[n++] = b;
    }
    return n;
}

static void batches_by_trying_all(void **state)
{
    (void)state;
    int others = 0;
    for (int i = 0; i < 600; i++) {
        const int64_t devices = 8 * (1 + (int64_t)draw(24)), asked = 20 + (int64_t)draw(500);
        const int64_t span = 2 * (asked / 20);
        if (span >= 8 * devices)
            continue;
        const struct sp_hardware hw = nodes_of_8(devices);
        const struct sp_tolerance t = {
            .least = devices, .batch = asked, .asked = (double)asked, .batches = true};
        struct sp_variant list[SP_MAX_VARIANTS];
        int64_t want[1000];
        const int n = sp_list_variants(&hw, &t, list), wanted = list_batches(devices, asked, want);
        assert_int_equal(n, wanted + 1);
        assert_int_equal(list[0].batch, asked);
        for (int k = 1; k < n; k++) {
            bool any = false;
            for (int m = 0; m < wanted; m++)
                any = any || want[m] == list[k].batch;
            assert_int_equal(list[k].devices, devices);
            assert_true(any);
        }
        others += wanted;
    }
    assert_true(others > 100);
}

/* On 2 nodes a round is 128 sequences: within 5 % of 3000 are 2850 to 3150, and 2944 = 23 x 128 is
 * nearer than 3072. Of 1279 sequences 1216 to 1342 are too few for a round's width, and 1280 among
 * them is the only multiple of 128. */
static void whole_rounds_stand_for_all(void **state)
{
    (void)state;
    const struct sp_hardware hw = nodes_of_8(16);
    struct sp_variant list[SP_MAX_VARIANTS];
    struct sp_tolerance t = {.least = 16, .batch = 3000, .asked = 3000, .batches = true};
    assert_int_equal(sp_list_variants(&hw, &t, list), 2);
    assert_int_equal(list[1].batch, 2944);
    t.batch = 1279;
    t.asked = 1279;
    assert_int_equal(sp_list_variants(&hw, &t, list), 2);
    assert_int_equal(list[1].batch, 1280);
}

/* Of the devices below, the next 11 numbers are all looked at, and then those with fewer odd
 * factors left, more twos, more numbers of stages, or more replicas than every larger one. */
static void rounder_than_all_larger(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        const int64_t nodes = 20 + (int64_t)draw(60), batch = 1 + (int64_t)draw(600);
        const bool rounder = draw(2);
        const struct sp_model model = {.layers = 2 * (1 + (int64_t)draw(20))};
        const struct sp_hardware hw = nodes_of_8(8 * nodes);
        const struct sp_tolerance t = {.least = 8,
                                       .batch = batch,
                                       .asked = (double)batch,
                                       .model = &model,
                                       .only_rounder = rounder};
        struct sp_variant list[SP_MAX_VARIANTS];
        int64_t rest[90], twos[90], stages[90], shares[90];
        int n = 0, kept = 0;
        const int found = sp_list_variants(&hw, &t, list);
        for (int64_t d = 8 * nodes; d >= 8; d -= 8) {
            const int at = n++;
            bool covered = false;
            for (twos[at] = 1; d % (2 * twos[at]) == 0;)
                twos[at] *= 2;
            rest[at] = d / twos[at] / common(d / twos[at], batch);
            stages[at] = 0;
            shares[at] = common(8 * d, batch);
            for (int64_t s = 2; s <= model.layers; s++) /* without embedding and head, or with */
                stages[at] += d % s == 0 && (model.layers % s == 0 || (model.layers + 2) % s == 0);
            for (int k = 0; k < at; k++)
                covered = covered || (rest[k] <= rest[at] && twos[k] >= twos[at] &&
                                      stages[k] >= stages[at] && shares[k] >= shares[at]);
            const bool looked_at = at == 0 || !covered || (at < 12 && !rounder);
            const bool listed = kept < found && list[kept].devices == d;
            if (listed != looked_at)
                fail_msg("%d of %d: %d on batch %d, %d layers", (int)d, (int)(8 * nodes),
                         (int)looked_at, (int)batch, (int)model.layers);
            kept += listed;
        }
        assert_int_equal(kept, found);
    }
}

/* Slices are taken whole, if there are several; else a part of one. */
static void other_numbers_of_devices(void **state)
{
    (void)state;
    struct sp_hardware hw = nodes_of_8(32);
    hw.slices = 4;
    assert_int_equal(sp_fewer_devices(&hw, 128), 96);
    assert_int_equal(sp_fewer_devices(&hw, 100), 96);
    assert_int_equal(sp_fewer_devices(&hw, 64), 32);
    assert_int_equal(sp_fewer_devices(&hw, 33), 32);
    assert_int_equal(sp_fewer_devices(&hw, 32), 24);
    assert_int_equal(sp_fewer_devices(&hw, 2), 1);
    assert_int_equal(sp_fewer_devices(&hw, 1), 0);
    assert_false(sp_take_devices(&hw, 0));
    assert_true(sp_take_devices(&hw, 96));
    assert_int_equal(hw.slices, 3);
    assert_int_equal(hw.chips_per_slice, 32);
    struct sp_hardware two = hw;
    two.slices = 2;
    assert_true(sp_take_devices(&two, 32));
    assert_int_equal(two.slices * two.chips_per_slice, 32);
    two.slices = 2;
    assert_true(sp_take_devices(&two, 32));
    assert_int_equal(two.slices, 1);
    assert_true(sp_take_devices(&hw, 16));
    assert_int_equal(hw.slices, 1);
    assert_int_equal(hw.chips_per_slice, 16);
}

/* How a machine was typed, with another number of devices. */
static void names_of_machines(void **state)
{
    (void)state;
    static const struct {
        const char *typed;
        int64_t chips, slices;
        bool is_counted;
        const char *name;
    } rows[] = {{"h100-512", 256, 1, true, "h100-256"},
                {"h100-2x64", 64, 1, true, "h100-64"},
                {"h100-2x64", 64, 3, true, "h100-64x3"},
                {"v5p:8x8x8", 256, 1, true, "v5p-256"},
                {"my-box", 8, 1, true, "box-8"},
                {"my-box", 1, 1, false, "box-1"},
                {"my-box-1", 1, 1, true, "my-box-1"},
                {"h100-", 1, 1, false, "box-1"},
                {"h100", 2, 1, true, "box-2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_hardware hw = nodes_of_8(rows[i].chips);
        char name[80];
        hw.slices = rows[i].slices;
        assert_int_equal(sp_is_counted(&hw, rows[i].typed), rows[i].is_counted);
        sp_name_machine(&hw, rows[i].typed, name, sizeof name);
        assert_string_equal(name, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_free_with_a_tilde_or_a_rest),
        cmocka_unit_test(about_ends_at_a_twentieth),
        cmocka_unit_test(the_longest_step_is_the_tighter_limit),
        cmocka_unit_test(shares_and_rests),
        cmocka_unit_test(new_replicas_by_trying_all),
        cmocka_unit_test(batches_by_trying_all),
        cmocka_unit_test(whole_rounds_stand_for_all),
        cmocka_unit_test(rounder_than_all_larger),
        cmocka_unit_test(other_numbers_of_devices),
        cmocka_unit_test(names_of_machines),
    };
    return cmocka_run_group_tests_name("study_problem", tests, NULL, NULL);
}
