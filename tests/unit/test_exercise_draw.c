/* New numbers for exercises: the generator's published outputs, bounds, and whole words. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cli/exercise_draw.h"

/* Outputs for the seed 1234567, as Vigna's splitmix64.c gives them. */
static void throws_are_those_of_splitmix64(void **state)
{
    (void)state;
    struct sp_dice dice = {1234567};
    assert_true(sp_throw(&dice) == 6457827717110365317u);
    assert_true(sp_throw(&dice) == 3203168211198807973u);
    assert_true(sp_throw(&dice) == 9817491932198370423u);
}

static void draws_stay_within_bounds(void **state)
{
    (void)state;
    struct sp_case c = {
        .id = "c",
        .question = "8 of 4096x8, 18 and 8.5, v5p",
        .args = {"fit", "8", "v5p-4096", "18"},
        .n_args = 4,
        .draw = {{.key = "8", .text = "2..5"},
                 {.key = "4096", .text = "256..1024*2"},
                 {.key = "v5p", .text = " 3..3M  4..4M "}},
        .n_draw = 3,
    };
    bool seen_few = false, seen_most = false, seen_word[2] = {false};
    for (unsigned long long seed = 0; seed < 200; seed++) {
        struct sp_dice dice = sp_dice_of(seed, c.id);
        struct sp_drawn drawn;
        int first, second;
        sp_draw_case(&c, &dice, &drawn);
        assert_int_equal(sscanf(drawn.c.question, "%d of %dx", &first, &second), 2);
        assert_in_range(first, 2, 5);
        assert_true(second == 256 || second == 512 || second == 1024);
        seen_few = seen_few || first == 2;
        seen_most = seen_most || (first == 5 && second == 1024);
        assert_non_null(strstr(drawn.c.question, ", 18 and 8.5, "));
        assert_int_equal(atoi(drawn.c.args[1]), first);
        const char *const word = strstr(drawn.c.question, "8.5, ") + 5;
        assert_true(strcmp(word, "3M") == 0 || strcmp(word, "4M") == 0);
        seen_word[*word - '3'] = true;
        assert_string_equal(drawn.c.args[3], "18");
        sp_free_drawn(&drawn);
    }
    assert_true(seen_few && seen_most && seen_word[0] && seen_word[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throws_are_those_of_splitmix64),
        cmocka_unit_test(draws_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
