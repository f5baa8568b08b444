/* Tokens of the fullest rank of experts: the greatest of normal variables, and draws of tokens. */
#include "check.h"

#include <math.h>

#include <scaleplan/serve.h>

#include "core/serve/routing.h"

/* Harter 1961, "Expected values of normal order statistics", table 1; of 2 and 3 variables 1 /
 * sqrt(pi) and 3 / (2 sqrt(pi)). */
static void greatest_of_normal_variables(void **state)
{
    (void)state;
    assert_close(sp_greatest_normal(1), 0, 0);
    assert_close(sp_greatest_normal(2), 1 / sqrt(acos(-1)), 1e-9);
    assert_close(sp_greatest_normal(3), 1.5 / sqrt(acos(-1)), 1e-9);
    assert_close(sp_greatest_normal(5), 1.16296, 1e-5);
    assert_close(sp_greatest_normal(8), 1.42360, 1e-5);
    assert_close(sp_greatest_normal(10), 1.53875, 1e-5);
    assert_close(sp_greatest_normal(100), 2.50759, 1e-5);
}

enum { MOST = 256 };
static uint64_t seed = 7;

static double draw_share(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(seed >> 12) + 0.5) / 4503599627370496.0;
}

/* Experts in random places, the i-th of weight i^-power. */
static void place(double *weight, int experts, double power)
{
    for (int i = 0; i < experts; i++) {
        const int j = (int)(draw_share() * (i + 1));
        weight[i] = weight[j];
        weight[j] = pow(i + 1, -power);
    }
}

/* One token's k different experts: those whose first arrival, at rates of the weights, is among the
 * first k. */
static void pick(const double *weight, int experts, int k, int *count)
{
    double arrives[MOST];
    for (int i = 0; i < experts; i++)
        arrives[i] = -log(draw_share()) / weight[i];
    for (int n = 0; n < k; n++) {
        int first = 0;
        for (int i = 1; i < experts; i++)
            first = arrives[i] < arrives[first] ? i : first;
        arrives[first] = INFINITY;
        count[first]++;
    }
}

struct fullest {
    double tokens, used; /* of the rank with most of each, means over trials */
};

static struct fullest drawn(const struct sp_routing *r, double power, int tokens, int trials)
{
    const int experts = (int)r->experts, ranks = (int)r->ranks;
    struct fullest sum = {0, 0};
    for (int trial = 0; trial < trials; trial++) {
        double weight[MOST];
        int count[MOST] = {0}, most = 0, most_used = 0;
        place(weight, experts, power);
        for (int t = 0; t < tokens; t++)
            pick(weight, experts, (int)r->picks, count);
        for (int rank = 0; rank < ranks; rank++) {
            int here = 0, used = 0;
            for (int i = rank * (experts / ranks); i < (rank + 1) * (experts / ranks); i++) {
                here += count[i];
                used += count[i] > 0;
            }
            most = here > most ? here : most;
            most_used = used > most_used ? used : most_used;
        }
        sum.tokens += most;
        sum.used += most_used;
    }
    return (struct fullest){sum.tokens / trials, sum.used / trials};
}

static struct sp_routing routing(double experts, double picks, double ranks)
{
    return (struct sp_routing){experts, picks, ranks, sp_greatest_normal(ranks)};
}

/* Equal chances: batches of a step on 2 to 64 ranks. Normal variables are 7 % low where a rank has
 * one pick on average, and within 2.5 % from ten on. */
static void equal_chances(void **state)
{
    (void)state;
    static const struct {
        double experts, picks, ranks;
        int tokens;
        double off;
    } cases[] = {{256, 8, 8, 1, 0.08},   {256, 8, 8, 16, 0.025}, {256, 8, 8, 128, 0.025},
                 {128, 4, 2, 32, 0.025}, {128, 8, 4, 64, 0.025}, {256, 8, 64, 256, 0.025},
                 {16, 1, 4, 64, 0.025},  {8, 2, 8, 64, 0.025}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_routing r = routing(cases[i].experts, cases[i].picks, cases[i].ranks);
        const double tokens = cases[i].tokens, each = r.experts / r.ranks;
        const double used = each * -expm1(tokens * log1p(-r.picks / r.experts));
        const struct fullest said = {
            tokens * r.picks / r.ranks * sp_fullest_rank(&r, 1, tokens),
            sp_most_used(&r, each, used),
        };
        const struct fullest seen = drawn(&r, 0, cases[i].tokens, 200);
        assert_close(said.tokens, seen.tokens, cases[i].off);
        assert_close(said.used, seen.used, cases[i].tokens > 1 ? 0.01 : 0.08);
    }
}

/* Chances that fall as i^-0.65: 8 ranks of 256 experts with few and many tokens, 4 of 128, and 32
 * of 256, where one expert makes a rank full and normal variables are 16 % low. */
static void uneven_chances(void **state)
{
    (void)state;
    static const struct {
        double experts, picks, ranks;
        int tokens;
        double off;
    } cases[] = {{256, 8, 8, 16, 0.03},
                 {256, 8, 8, 512, 0.03},
                 {128, 4, 4, 64, 0.03},
                 {256, 8, 32, 256, 0.17}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_routing r = routing(cases[i].experts, cases[i].picks, cases[i].ranks);
        const double uneven = sp_uneven_ranks(&r, sp_expert_variance(r.experts));
        const double said =
            cases[i].tokens * r.picks / r.ranks * sp_fullest_rank(&r, uneven, cases[i].tokens);
        const struct fullest seen = drawn(&r, EXPERT_POWER, cases[i].tokens, 100);
        assert_close(said, seen.tokens, cases[i].off);
    }
    const struct sp_routing measured = routing(256, 8, 8);
    assert_close(sp_uneven_ranks(&measured, sp_expert_variance(256)), 1.404,
                 0.06); /* drawn: 5 % low */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(greatest_of_normal_variables),
                                       cmocka_unit_test(equal_chances),
                                       cmocka_unit_test(uneven_chances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
