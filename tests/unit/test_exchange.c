/* Copies of a token in an expert exchange: by hand, and by random picks. */
#include "check.h"

#include <stdlib.h>

#include "core/network/token_copies.h"

static void places(void **state)
{
    (void)state;
    /* one pick hits one place; with two picks among two places, the second hits the same in half of
     * the cases; eight among eight: 8 (1 - (7/8)^8) */
    assert_close(sp_distinct_places(5, 1), 1, 1e-12);
    assert_close(sp_distinct_places(2, 2), 1.5, 1e-12);
    assert_close(sp_distinct_places(8, 8), 8 * (1 - 5764801.0 / 16777216), 1e-12);
    assert_close(sp_distinct_places(1, 8), 1, 1e-12);
    /* drawn: 200,000 tokens, 6 picks among 4 nodes */
    double sum = 0;
    srand(1);
    for (int i = 0; i < 200000; i++) {
        unsigned hit = 0;
        for (int k = 0; k < 6; k++)
            hit |= 1u << (rand() >> 8) % 4;
        for (; hit; hit &= hit - 1)
            sum++;
    }
    assert_close(sp_distinct_places(4, 6), sum / 200000, 3e-3);
}

/* DeepSeek-V3: EP 64 on nodes of 8, eight experts on at most four nodes. A copy for each expert: 7
 * of 8 leave the rank, all but 7 of 64 the node. One per node: four nodes, of which one in eight is
 * the token's own; inside, on the 32 ranks of four nodes, 32 (1 - (31/32)^8) of them, 7 of 8 away.
 */
static void copies(void **state)
{
    (void)state;
    struct sp_expert_group g = {.ranks = 64, .inside = 8, .picks = 8, .most_nodes = 4};
    struct sp_copies_of_token c = sp_copies_of_token(&g);
    assert_close(c.across, 8 * 7.0 / 8, 1e-12);
    assert_close(c.within, 8 * 7.0 / 64, 1e-12);
    g.once_a_node = true;
    c = sp_copies_of_token(&g);
    assert_close(c.across, 4 * 7.0 / 8, 1e-12);
    assert_close(c.within, 32 * (1 - pow(31.0 / 32, 8)) * 7 / 8, 1e-12);
    g.most_nodes = INFINITY; /* 8 (1 - (7/8)^8) = 5.25 nodes */
    c = sp_copies_of_token(&g);
    assert_close(c.across, 8 * (1 - pow(7.0 / 8, 8)) * 7 / 8, 1e-12);
    /* inside one node nothing crosses */
    g.ranks = 8;
    c = sp_copies_of_token(&g);
    assert_close(c.across, 0, 0);
    assert_close(c.within, 8 * (1 - pow(7.0 / 8, 8)) * 7 / 8, 1e-12);
}

/* Never more copies than one for each expert, fewer nodes never reached by more. */
static void bounds(void **state)
{
    (void)state;
    srand(2);
    for (int i = 0; i < 20000; i++) {
        struct sp_expert_group g = {.inside = 1 << rand() % 4, .picks = 1 + rand() % 16};
        g.ranks = g.inside * (1 << rand() % 6);
        g.most_nodes = rand() % 2 ? INFINITY : 1.0 + rand() % 8;
        const struct sp_copies_of_token each = sp_copies_of_token(&g);
        g.once_a_node = true;
        const struct sp_copies_of_token once = sp_copies_of_token(&g);
        assert_true(once.across <= each.across * (1 + 1e-12));
        assert_true(once.within <= g.picks * (1 + 1e-12) && once.within >= 0);
        g.most_nodes = 1;
        assert_true(sp_copies_of_token(&g).across <= once.across * (1 + 1e-12));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(copies),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
