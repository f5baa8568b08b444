/* Included first by every unit test: cmocka with its headers, and comparisons of doubles that print
 * both values. */
#ifndef SP_TEST_CHECK_H
#define SP_TEST_CHECK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static inline bool sp_test_is_close(double actual, double expected, double relative)
{
    if (isnan(actual) || isnan(expected))
        return isnan(actual) && isnan(expected);
    if (actual == expected || isinf(actual) || isinf(expected))
        return actual == expected;
    return fabs(actual - expected) <= relative * fmax(fabs(expected), fabs(actual));
}

/* Fails unless |actual - expected| <= relative * max of both; cmocka's own compares floats. */
#define assert_close(actual, expected, relative)                                                   \
    do {                                                                                           \
        const double sp_actual = (actual), sp_expected = (expected);                               \
        if (!sp_test_is_close(sp_actual, sp_expected, (relative)))                                 \
            fail_msg("%s is %.17g, expected %.17g (within %g)", #actual, sp_actual, sp_expected,   \
                     (double)(relative));                                                          \
    } while (0)

#endif
