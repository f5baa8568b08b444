/* Trends: given rates, and lines through points, by hand. */
#include "check.h"

#include <scaleplan/laws.h>

static const struct sp_trend moore = {.factor = 2, .years = 2},
                             latency = {.factor = 0.5, .years = 20},
                             halving = {.factor = 2, .years = 8. / 12};

/* Doubling in two years: 1.414 per year, 32 times in ten; halving in 20 years is doubling in -20.
 */
static void test_rates(void **state)
{
    (void)state;
    assert_close(sp_trend_growth(&moore), 1.4142135623730951, 1e-15);
    assert_close(sp_trend_doubling_years(&moore), 2, 1e-15);
    assert_close(sp_trend_between(&moore, 2010, 2020), 32, 1e-14);
    assert_close(sp_trend_doubling_years(&latency), -20, 1e-14);
    assert_close(sp_trend_between(&latency, 2020, 2010), 1.4142135623730951, 1e-14);
}

/* 1, 10 and 1000 in years 0, 1 and 3: the logarithms lie on a line. A fourth of 100 in year 2 is on
 * it too; 10 in year 2 is one below, which leaves a slope of 0.9 decades. */
static void test_line(void **state)
{
    (void)state;
    struct sp_trend t = {.points = 3, .point = {{"", 2000, 1}, {"", 2001, 10}, {"", 2003, 1000}}};
    assert_close(sp_trend_fitted_growth(&t), 10, 1e-12);
    t.point[3] = (struct sp_trend_point){"", 2002, 10};
    t.points = 4;
    assert_close(sp_trend_fitted_growth(&t), 7.943282347242816, 1e-12);
    t.points = 1;
    assert_close(sp_trend_fitted_growth(&t), NAN, 0);
}

/* In four years Moore's law gives 4 and halving every 8 months 64: 256 together, of whose eight
 * doublings two are compute's. */
static void test_progress(void **state)
{
    (void)state;
    const struct sp_progress p = sp_progress_between(&moore, &halving, 2014, 2018);
    assert_close(p.compute, 4, 1e-14);
    assert_close(p.algorithms, 64, 1e-12);
    assert_close(p.effective, 256, 1e-12);
    assert_close(p.compute_share, 0.25, 1e-12);
    assert_close(sp_progress_between(&moore, &halving, 2014, 2014).compute_share, NAN, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates), cmocka_unit_test(test_line),
                                       cmocka_unit_test(test_progress)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
