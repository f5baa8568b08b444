/* Number of random cases that a property test draws. */
#ifndef SCALEPLAN_TEST_DRAWS_H
#define SCALEPLAN_TEST_DRAWS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SANITIZED = 20 }; /* one in as many under a sanitizer */

/* All with SCALEPLAN_DRAWS=all (tests with the label `slow`), else a fraction. Debug and coverage
 * builds are slower; sanitizers look for faults that few draws show as well as many. */
static inline int one_in(void)
{
    const char *const draws = getenv("SCALEPLAN_DRAWS");
    if (draws && strcmp(draws, "all") == 0)
        return 1;
#if defined __SANITIZE_ADDRESS__
    return SANITIZED;
#elif defined NDEBUG
    return 8;
#else
    return 10;
#endif
}

/* Number of cases, of ALL, that a test draws whose cases are quick but not under a sanitizer. */
static inline int quick_draws(int all)
{
    return one_in() == SANITIZED ? all / 8 : all;
}

/* Number of problems that a driver draws: SCALEPLAN_PROBLEMS, else a usual number of them, or all.
 */
static inline int drawn_problems(int usual, int all)
{
    const char *const asked = getenv("SCALEPLAN_PROBLEMS");
    return asked ? atoi(asked) : one_in() == 1 ? all : usual;
}

/* Where the draws of a test begin: its usual place, or another with SCALEPLAN_SEED, a number that
 * `.ci/full` takes from the commit. Printed, so that a failure can be reproduced. */
static inline uint64_t drawn_seed(uint64_t usual)
{
    const char *const asked = getenv("SCALEPLAN_SEED");
    if (!asked)
        return usual;
    printf("SCALEPLAN_SEED=%s\n", asked);
    const uint64_t mixed = (strtoull(asked, NULL, 0) + usual) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32 ^ 1;
}

#endif
