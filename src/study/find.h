/* Inverse questions of a search: the fewest devices, or the most sequences, thousands of tokens or
 * layers, with a plan that fits and is fast enough. */
#ifndef SP_FIND_H
#define SP_FIND_H

#include "study/search.h"

enum sp_find_what { SP_FIND_DEVICES, SP_FIND_BATCH, SP_FIND_SEQ, SP_FIND_MODEL, SP_FINDS };

/* What is fast enough; NAN: no limit. */
struct sp_find_limits {
    double max_step_s;            /* per step */
    double deadline_days, tokens; /* for a run of `tokens` tokens */
};

/* An answer; the value is devices, sequences, multiples of 1024 tokens, or layers. */
struct sp_finding {
    const struct sp_search *of;
    enum sp_find_what what;
    double max_step_s, deadline_days, tokens;
    struct sp_candidate *at; /* the machine, problem and plans of the answer; free() it */
    double value;            /* NAN: no answer */
    double step_s;           /* of the best plan there */
    double half;   /* up to twice this every size is tried; beyond, at least this many per octave */
    double odd;    /* odd factor whose multiples are tried too */
    double bound;  /* no answer lies beyond it */
    double probed; /* only powers of two were tried beyond it; 0: not needed */
    double most;   /* largest value tried */
    int tried;
    int left_out;  /* sizes that could not be searched */
    bool skipping; /* some sizes were skipped */
    bool at_the_end, interrupted, is_proven;
};

/* Answers a question for the first machine of a search. */
void sp_find_size(const struct sp_search *search, enum sp_find_what what,
                  const struct sp_find_limits *limits, struct sp_finding *finding);

#endif
