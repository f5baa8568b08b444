/* Number of random cases that a property test draws. */
#ifndef SCALEPLAN_TEST_DRAWS_H
#define SCALEPLAN_TEST_DRAWS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All with SCALEPLAN_DRAWS=all (tests with the label `slow`), else a fraction. Debug, coverage and
 * sanitizer builds are up to ten times slower. */
static inline int one_in(void)
{
    const char *const draws = getenv("SCALEPLAN_DRAWS");
    if (draws && strcmp(draws, "all") == 0)
        return 1;
#ifdef NDEBUG
    return 8;
#else
    return 10;
#endif
}

/* Number of problems that a driver draws: SCALEPLAN_PROBLEMS, else a usual number of them, or all.
 */
static inline int drawn_problems(int usual, int all)
{
    const char *const asked = getenv("SCALEPLAN_PROBLEMS");
    return asked ? atoi(asked) : one_in() == 1 ? all : usual;
}

/* Where the draws of a test begin: its usual place, or another with SCALEPLAN_SEED, a number that
 * `.ci/full` takes from the commit. Printed, so that a failure can be had again. */
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
