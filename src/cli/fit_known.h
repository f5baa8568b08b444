/* Whether a plan of `fit` resembles any known run. */
#ifndef SP_FIT_KNOWN_H
#define SP_FIT_KNOWN_H

#include <scaleplan/fit.h>

#include "cli/options.h"

struct sp_fit_known {
    bool other_batch;  /* the plan's whole sequences are not the batch that was asked for */
    bool beyond_runs;  /* it cuts a sequence over more devices than any known run */
    double most_cp;    /* of the known runs; NAN: of no interest */
    double tokens;     /* of the least larger batch, in doublings, with a usual plan; NAN: none */
    char reason[192];  /* "": such plans are run */
    char instead[160]; /* "; a usual plan needs --batch 64x4096"; "": none was found */
};

/* Judges the best plan of a problem. False with an error where a file of known runs is wrong. */
bool sp_fit_judge_known(const struct sp_args *args, const struct sp_fit_input *in,
                        const struct sp_strategy *best, unsigned kinds, struct sp_fit_known *out,
                        struct sp_error *error);

#endif
