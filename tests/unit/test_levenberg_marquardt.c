/* Joint fits of several stacks, by hand: what an outlier family does to the common part. */
#include "check.h"

#include "runs/levenberg_marquardt.h"

enum { STACKS = 3, COMMON = 0, PARAMETERS = 1 + STACKS };

/* A constant of 1 that may differ by a factor e^0.5 or so. */
static const struct sp_constant_info info = {
    .key = "rate", .of = SP_OF_SOFTWARE, .spread = 0.5, .low = 1e-6, .high = 1e6};

/* ln(constant / measured); two of the stacks are measured. */
static double error_of(const void *context, size_t i, const double *constants,
                       const double *unknowns)
{
    (void)unknowns;
    const double *const measured = context;
    return log(constants[0] / measured[i]);
}

/* Fits two stacks with nearly exact measurements, `first` and `second` spreads from the expected
 * value, and one without; `x` gets the latter's value in spreads. */
static double common_of(double first, double second, const bool *heavy_tailed)
{
    const double expected[STACKS] = {1, 1, 1};
    const double measured[] = {exp(info.spread * first), exp(info.spread * second)};
    struct sp_shared_constant layout[STACKS];
    struct sp_shared_sample samples[] = {{0, 1, 1e-5, {-1}}, {1, 1, 1e-5, {-1}}};
    double values[STACKS], determined[STACKS];
    for (int s = 0; s < STACKS; s++)
        layout[s] = (struct sp_shared_constant){{COMMON, 1 + s, -1, -1}, {1, 1, 0, 0}};
    const struct sp_shared_fit fit = {.constants = 1,
                                      .stacks = STACKS,
                                      .parameters = PARAMETERS,
                                      .info = &info,
                                      .expected = expected,
                                      .layout = layout,
                                      .heavy_tailed = heavy_tailed,
                                      .samples = samples,
                                      .n = 2,
                                      .error = error_of,
                                      .context = measured};
    sp_fit_shared(&fit, values, determined, NULL);
    for (int s = 0; s < 2; s++) /* a nearly exact measurement is met */
        assert_close(values[s], measured[s], 1e-3);
    return log(values[2]) / info.spread;
}

/* x^2 + (x - a)^2 + (x - b)^2 is least at (a + b) / 3, however far b is. */
static void quadratic_tails(void **state)
{
    (void)state;
    assert_close(common_of(0, 3, NULL), 1, 1e-3);
    assert_close(common_of(0, 9, NULL), 3, 1e-3);
}

/* With tails, the separate parts u count sqrt(1 + u^2) - 1, whose slope is u / sqrt(1 + u^2): x =
 * 0.5 balances a separate part of -0.5 and one whose slope is 0.5 + 0.5 / sqrt(1.25). */
static void heavy_tails(void **state)
{
    (void)state;
    const bool own[PARAMETERS] = {false, true, true, true};
    const double slope = 0.5 + 0.5 / sqrt(1.25), far = slope / sqrt(1 - slope * slope);
    assert_close(far, 2.954, 1e-3);
    assert_close(common_of(0, 0.5 + far, own), 0.5, 1e-3);
    /* the slope ends at 1: x + x / sqrt(1 + x^2) = 1 at x = 0.5310, wherever the other is */
    const double farther = common_of(0, 12, own), farthest = common_of(0, 20, own);
    assert_true(farther > 0.5 && farthest >= farther - 1e-3 && farthest < 0.5311);
}

/* All parts with tails: the common part too; equal measurements are shared out by the slopes. */
static void all_tails(void **state)
{
    (void)state;
    const bool all[PARAMETERS] = {true, true, true, true};
    /* slope of x = 1 is 1 / sqrt 2, which two separate parts of 1 / sqrt 7 balance, slope 1 / sqrt
     * 8 */
    const double both = 1 + 1 / sqrt(7);
    assert_close(common_of(both, both, all), 1, 1e-3);
}

/* ln(constant / measured) and 0.8 of what the measurement leaves open. */
static double error_with(const void *context, size_t i, const double *constants,
                         const double *unknowns)
{
    return error_of(context, i, constants, unknowns) + 0.8 * unknowns[0];
}

/* One exact measurement d = 0.5 x + 0.8 u, x and u of prior N(0, 1): x is 0.5 d / (0.25 + 0.64) in
 * the mean, and 0.25 / 0.89 of its variance is gone. A second measurement of the same unknown adds
 * nothing; one of another does: 0.25 / 0.64 a measurement, over that and 1. */
static void unknowns_are_integrated_out(void **state)
{
    (void)state;
    const double expected[] = {1}, measured[] = {exp(1), exp(1)};
    const struct sp_shared_constant layout[] = {{{0, -1, -1, -1}, {1}}};
    for (int others = 0; others < 2; others++) {
        const struct sp_shared_sample samples[] = {{0, 1, 1e-5, {1}}, {0, 1, 1e-5, {1 + others}}};
        const struct sp_shared_fit fit = {.constants = 1,
                                          .stacks = 1,
                                          .parameters = 2 + others,
                                          .unknowns = 1,
                                          .info = &info,
                                          .expected = expected,
                                          .layout = layout,
                                          .samples = samples,
                                          .n = 2,
                                          .error = error_with,
                                          .context = measured};
        const double information = (1 + others) * 0.25 / 0.64;
        double value, determined, parameters[3];
        sp_fit_shared(&fit, &value, &determined, parameters);
        assert_close(log(value) / 0.5, information / (1 + information) / 0.5, 1e-3);
        assert_close(determined, information / (1 + information), 1e-3);
        assert_close(0.5 * parameters[0] + 0.8 * parameters[1], 1, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadratic_tails),
        cmocka_unit_test(heavy_tails),
        cmocka_unit_test(all_tails),
        cmocka_unit_test(unknowns_are_integrated_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
