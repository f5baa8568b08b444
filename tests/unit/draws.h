/* How many random cases a property test draws. */
#ifndef SCALEPLAN_TEST_DRAWS_H
#define SCALEPLAN_TEST_DRAWS_H

/* Builds for debugging, coverage and sanitizers are up to ten times slower, and draw one in so many
 * of the cases that a release build draws. */
#ifdef NDEBUG
enum { ONE_IN = 1 };
#else
enum { ONE_IN = 10 };
#endif

#endif
