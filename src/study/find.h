/* Inverse questions of a search: the fewest devices, or the most sequences, thousands of tokens or
 * layers, with a plan that fits and is fast enough. */
#ifndef SP_FIND_H
#define SP_FIND_H

#include "study/search_machines.h"

enum sp_find_what { SP_FIND_DEVICES, SP_FIND_BATCH, SP_FIND_SEQ, SP_FIND_MODEL, SP_FINDS };

/* An answer; the value is devices, sequences, tokens, or layers. */
struct sp_finding {
    const struct sp_search *of;
    enum sp_find_what what;
    bool is_tight;             /* a tight fit will do, as in a search that finds no other */
    bool is_about;             /* any batch within SP_ABOUT of the requested one will do */
    struct sp_candidate *at;   /* the machine, problem and plans of the answer; free() it */
    double value;              /* NAN: no answer */
    double step_s, run_step_s; /* of the best plan there, and of a run on it */
    double step;               /* between values that are tried: 1, or 1024 tokens */
    double half; /* up to twice this every size is tried; beyond, at least this many per octave */
    double all_tried; /* the largest of those */
    double odd;       /* odd factor whose multiples are tried too */
    double bound;     /* no answer lies beyond it */
    double below;     /* of devices: only fewer are tried */
    double probed;    /* only powers of two were tried beyond it; 0: not needed */
    double most;      /* largest value tried */
    int tried;
    int left_out;  /* sizes that could not be searched */
    bool skipping; /* some sizes were skipped */
    bool at_the_end, interrupted, is_proven;
};

/* Answers a question for the first machine of a search. */
void sp_find_size(const struct sp_search *search, enum sp_find_what what,
                  struct sp_finding *finding);

/* The fewest devices on which some plan fits, however slow or tight, up to 16 times those of the
 * search. */
void sp_find_fitting(const struct sp_search *search, struct sp_finding *finding);

/* The fewest devices with any batch within SP_ABOUT, if that is less than the number found for
 * exactly the requested batch; the value is NAN otherwise. */
void sp_find_fewer_devices(const struct sp_finding *exact, struct sp_finding *finding);

/* The same where they are fewer by enough to name them; the value is NAN and `at` NULL otherwise.
 */
void sp_find_worth_fewer(const struct sp_finding *exact, struct sp_finding *finding);

#endif
