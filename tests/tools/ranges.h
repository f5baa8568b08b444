/* The 80 % ranges beside the errors of runs left out. */
#ifndef SP_RANGES_H
#define SP_RANGES_H

#include "study.h"

/* Errors of every run, ln(predicted / measured), with its publication or its stack left out. */
struct sp_left_out {
    const double *publication, *stack;
};

/* Compares range_widths.def with the runs left out: how many its ranges hold, how wide they are,
 * and their interval score against that of one factor per tier. `fitted` tells what each run leaves
 * open. Returns the number of tiers whose ranges do not hold. */
int sp_print_ranges(const struct sp_study *study, const struct sp_profile *fitted,
                    const struct sp_left_out *errors);

/* Writes range_widths.def anew; exits on failure. */
void sp_write_range_widths(const struct sp_study *study, const struct sp_profile *fitted,
                           const struct sp_left_out *errors, const char *path);

#endif
