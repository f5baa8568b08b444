/* Serving measurements by stack, with parts left out in turn. */
#ifndef SP_SERVING_STUDY_H
#define SP_SERVING_STUDY_H

#include "runs/serving_fit.h"

enum { SP_SERVING_PAIRS = 64, SP_SERVING_FOLDS = 5 };

/* What was left out for an error. */
enum sp_left_out {
    SP_OUT_NOTHING, /* nothing */
    SP_OUT_FOLD,    /* one of five parts of the configurations; for throughputs whole tables */
    SP_OUT_MODEL,   /* its model left out */
    SP_OUT_PAIR,    /* its stack */
    SP_OUT_THREE,   /* all but three of its runs on the stack: mean over draws, absolute */
    SP_OUT_NAIVE,   /* bytes over bandwidth, times the stack's median in the other parts */
    SP_OUTS
};

struct sp_serving_measurement {
    struct sp_serving_sample sample;
    int fold, model;
    bool experts;
    double error[SP_OUTS]; /* ln(predicted / measured); NAN: none */
};

struct sp_serving_study {
    struct sp_serving_measurement *at;
    size_t n;
    bool all; /* models and stacks were left out too, not only configurations */
    struct sp_profile pair[SP_SERVING_PAIRS]; /* expected constants */
    struct sp_profile fitted[SP_SERVING_PAIRS];
    char (*model)[64];
    int pairs, models;
};

/* Collects runs that count, fits them, and leaves out configurations; with `all`, models and stacks
 * too. The runs must outlive the study. */
void sp_open_serving_study(const struct sp_serving_runs *runs, bool all,
                           struct sp_serving_study *study);
void sp_close_serving_study(struct sp_serving_study *study);

#endif
