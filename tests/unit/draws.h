/* How many of its random cases a property test draws. */
#ifndef SCALEPLAN_TEST_DRAWS_H
#define SCALEPLAN_TEST_DRAWS_H

#include <stdlib.h>
#include <string.h>

/* All of them with SCALEPLAN_DRAWS=all, as the tests with the label `slow` have it; else one in so
 * many. Builds for debugging, coverage and sanitizers are up to ten times slower than a release
 * build. */
static inline int one_in(void)
{
    const char *const draws = getenv("SCALEPLAN_DRAWS");
    if (draws && strcmp(draws, "all") == 0)
        return 1;
#ifdef NDEBUG
    return 4;
#else
    return 10;
#endif
}

#endif
