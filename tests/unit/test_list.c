/* Lists as people type them. */
#include "check.h"

#include "base/list.h"

static void items_between_commas(void **state)
{
    (void)state;
    const char *list = "a,bc,,d,";
    static const char *const expected[] = {"a", "bc", "", "d", ""};
    char item[8];
    for (int i = 0; i < 5; i++) {
        assert_true(sp_next_item(&list, item, sizeof item));
        assert_string_equal(item, expected[i]);
    }
    assert_null(list);
    assert_false(sp_next_item(&list, item, sizeof item));
    list = "";
    assert_true(sp_next_item(&list, item, sizeof item));
    assert_string_equal(item, "");
    list = "longer than there is room for,x";
    assert_true(sp_next_item(&list, item, sizeof item));
    assert_string_equal(item, "longer ");
    assert_true(sp_next_item(&list, item, sizeof item));
    assert_string_equal(item, "x");
}

static void words_in_lists(void **state)
{
    (void)state;
    assert_true(sp_is_listed("tp,pp", "pp", '\0'));
    assert_false(sp_is_listed("tp,pp", "p", '\0'));
    assert_false(sp_is_listed("tp,pp", "ppp", '\0'));
    assert_true(sp_is_listed("tp, pp", "pp", '\0'));
    assert_true(sp_is_listed("mfu,time", "time.step_s", '.'));
    assert_false(sp_is_listed("mfu,time", "timely", '.'));
    assert_true(sp_is_listed("roof-01", "roof-01:h100", ':'));
    assert_false(sp_is_listed("", "", '.'));
    assert_false(sp_is_listed(",", "x", '.'));
}

static void pairs(void **state)
{
    (void)state;
    char pair[] = "a=b=c", bare[] = "a", none[] = "=b", empty[] = "a=";
    assert_string_equal(sp_cut_pair(pair), "b=c");
    assert_string_equal(pair, "a");
    assert_null(sp_cut_pair(bare));
    assert_null(sp_cut_pair(none));
    assert_string_equal(sp_cut_pair(empty), "");
}

static void parts_of_a_whole(void **state)
{
    (void)state;
    int part = 0, parts = 0;
    assert_true(sp_parse_part("3/16", &part, &parts));
    assert_int_equal(part, 3);
    assert_int_equal(parts, 16);
    static const char *const wrong[] = {"", "3", "0/4", "5/4", "-1/4", "3/16x", "a/b", "1/0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(sp_parse_part(wrong[i], &part, &parts));
}

static void paths_of_keys(void **state)
{
    (void)state;
    char path[8];
    sp_join_path("a.b", "c", path, sizeof path);
    assert_string_equal(path, "a.b.c");
    sp_join_path("", "c", path, sizeof path);
    assert_string_equal(path, "c");
    sp_join_path("abc", "", path, sizeof path);
    assert_string_equal(path, "abc.");
    sp_join_path("abcd", "efgh", path, sizeof path);
    assert_string_equal(path, "abcd.ef");
    sp_join_path("abcdefg", "h", path, sizeof path);
    assert_string_equal(path, "abcdefg");
    sp_join_path("abcdefghi", "j", path, sizeof path);
    assert_string_equal(path, "abcdefg");
}

/* One name of a goal or a measurement, as an option spells it and as a key does. */
static void names_with_units(void **state)
{
    (void)state;
    assert_true(sp_is_named("step", "step"));
    assert_true(sp_is_named("step_s", "step"));
    assert_true(sp_is_named("cost_usd", "cost"));
    assert_true(sp_is_named("tokens_per_s", "tokens-per-s"));
    assert_true(sp_is_named("tokens-per-s", "tokens_per_s"));
    assert_false(sp_is_named("tokens_per_s_per_device", "tokens_per_s"));
    assert_false(sp_is_named("steps", "step"));
    assert_false(sp_is_named("ste", "step"));
    assert_false(sp_is_named("", "step"));
    assert_false(sp_is_named("tokens", "tokens-per-s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_between_commas),
        cmocka_unit_test(words_in_lists),
        cmocka_unit_test(pairs),
        cmocka_unit_test(parts_of_a_whole),
        cmocka_unit_test(paths_of_keys),
        cmocka_unit_test(names_with_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
