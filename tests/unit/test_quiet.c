/* Lists of harmless options: names, places of items, and the packed form of the page. */
#include "check.h"
#include "launch/fields/quiet.h"

static void names_stand_for_themselves(void **state)
{
    (void)state;
    static const char list[] = "seed datasets.#.path x.#.#";
    assert_true(sp_is_quiet(list, "seed"));
    assert_true(sp_is_quiet(list, "datasets.0.path"));
    assert_true(sp_is_quiet(list, "datasets.12.path"));
    assert_true(sp_is_quiet(list, "x.3.14"));
    assert_false(sp_is_quiet(list, "see"));
    assert_false(sp_is_quiet(list, "seeds"));
    assert_false(sp_is_quiet(list, "datasets.0.paths"));
    assert_false(sp_is_quiet(list, "datasets.a1.path"));
    assert_false(sp_is_quiet(list, "datasets.path"));
    assert_false(sp_is_quiet("seed*", "seeds"));
    assert_false(sp_is_quiet("*", "seed"));
    assert_false(sp_is_quiet("", ""));
    assert_true(sp_is_quiet("pt 0 1", "0"));
}

/* 437568, 1675841 and 3055719 are the numbers of checkpoint.folder, seed and datasets.#.path in
 * some order, told by Python. */
static void packed_lists_have_the_same_names(void **state)
{
    (void)state;
    static const char list[] = "other =~Bq1A~EuUB~FQ4m last";
    assert_true(sp_is_quiet(list, "seed"));
    assert_true(sp_is_quiet(list, "checkpoint.folder"));
    assert_true(sp_is_quiet(list, "datasets.7.path"));
    assert_true(sp_is_quiet(list, "other"));
    assert_true(sp_is_quiet(list, "last"));
    assert_false(sp_is_quiet(list, "seeds"));
    assert_false(sp_is_quiet(list, "datasets.path"));
    static const char near[] = "=AAhAAB~BAAA"; /* 33, 34, 34 + 2^18 */
    assert_true(sp_is_quiet(near, "!"));
    assert_true(sp_is_quiet(near, "\""));
    assert_false(sp_is_quiet(near, "#"));
    assert_false(sp_is_quiet("=", "!"));
    assert_false(sp_is_quiet("=~A", "!")); /* cut off */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_stand_for_themselves),
                                       cmocka_unit_test(packed_lists_have_the_same_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
