/* The inverse questions of a search: the fewest devices, or the most sequences of a batch,
 * thousands of tokens of a sequence, or layers, with a plan that fits and is fast enough. */
#ifndef SP_FIND_H
#define SP_FIND_H

#include "study/search.h"

enum sp_find_what { SP_FIND_DEVICES, SP_FIND_BATCH, SP_FIND_SEQ, SP_FIND_MODEL, SP_FINDS };

/* What fast enough is; NAN: any. */
struct sp_find_limits {
    double max_step_s;            /* of a step */
    double deadline_days, tokens; /* of a run of so many tokens */
};

/* An answer, of which a value is devices, sequences, tokens, or layers. */
struct sp_finding {
    const struct sp_search *of;
    enum sp_find_what what;
    double max_step_s, deadline_days, tokens;
    struct sp_candidate *at; /* the machine, the problem and the plans of the answer; free() it */
    double value;            /* NAN: none */
    double step_s;           /* of the best plan there */
    double step;             /* between sizes that are tried: 1, or 1024 tokens */
    double half; /* sizes below twice this are all tried; beyond, so many of an octave at least */
    double all_tried; /* the largest of those */
    double odd;       /* factor that multiples are tried of, too */
    double bound;     /* no answer is beyond it */
    double probed;    /* beyond it only powers of two were tried; 0: was not needed */
    double most;      /* that is looked at */
    int tried;
    int left_out;  /* sizes that could not be searched */
    bool skipping; /* not every size was tried */
    bool at_the_end, interrupted, is_proven;
};

/* Answers a question about the first machine of a search. */
void sp_find_size(const struct sp_search *search, enum sp_find_what what,
                  const struct sp_find_limits *limits, struct sp_finding *finding);

#endif
