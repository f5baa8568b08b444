/* Files to start from, for --example. */
#ifndef SP_EXAMPLE_H
#define SP_EXAMPLE_H

#include "answer/report.h"

/* Runs for `calibrate` and `validate`; their figures are made up, of the size of real ones. */
extern const char sp_example_runs[];

/* Cases for `check`. */
extern const char sp_example_cases[];

#endif
