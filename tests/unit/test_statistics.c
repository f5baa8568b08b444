/* Errors of predictions: means and quantiles, by hand and by sorting anew. */
#include "check.h"

#include "runs/calibration.h"

#include <stdlib.h>

#include <scaleplan/scaleplan.h>

/* Interpolated quantiles, by sorting from scratch. */
static void error_statistics(void **state)
{
    (void)state;
    double four[] = {-0.4, 0.1, 0.3, -0.2};
    const struct sp_error_stats of = sp_summarise_errors(four, 4);
    assert_close(of.mean_abs, 0.25, 1e-15);
    assert_close(of.bias, -0.05, 1e-15);
    assert_close(of.median_abs, 0.25, 1e-15);
    assert_close(of.p90_abs, 0.37, 1e-15); /* 0.3 + 0.7 (0.4 - 0.3) */
    srand(10);
    for (int i = 0; i < 2000; i++) {
        double errors[40], rest[40];
        const size_t n = 1 + (size_t)(rand() % 40);
        for (size_t k = 0; k < n; k++)
            errors[k] = rest[k] = rand() % 2001 / 1000.0 - 1;
        double sorted[40], sum = 0;
        for (size_t k = 0; k < n; k++) { /* the smallest that is left */
            size_t least = 0;
            for (size_t j = 0; j < n; j++)
                if (fabs(rest[j]) < fabs(rest[least]))
                    least = j;
            sorted[k] = fabs(rest[least]);
            sum += rest[least];
            rest[least] = 1e9;
        }
        const double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
        const struct sp_error_stats s = sp_summarise_errors(errors, n);
        const size_t below = (size_t)(0.9 * (double)(n - 1));
        const double above = below + 1 < n ? sorted[below + 1] : sorted[below];
        assert_close(s.median_abs, middle, 1e-12);
        assert_true(fabs(s.bias - sum / (double)n) < 1e-12);
        assert_close(s.p90_abs,
                     sorted[below] +
                         (0.9 * (double)(n - 1) - (double)below) * (above - sorted[below]),
                     1e-12);
    }
    assert_true(isnan(sp_summarise_errors(four, 0).mean_abs));
}

/* Of ten errors from 10 to 100 % eight are within the ninth, 1.2816 deviations of a normal error;
 * as many runs from elsewhere, without an error, halve that. */
static void residual_of_runs(void **state)
{
    (void)state;
    double errors[10];
    for (int i = 0; i < 10; i++)
        errors[i] = (i % 2 ? -0.1 : 0.1) * (10 - i);
    assert_close(sp_residual(errors, 10, 0), 0.9 / 1.2816 / 2, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(residual_of_runs),
                                       cmocka_unit_test(error_statistics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
