/* Measurements of engines that serve, by pair of chip and engine, parts of them left out in turn.
 */
#ifndef SP_SERVING_STUDY_H
#define SP_SERVING_STUDY_H

#include "runs/serving_fit.h"

enum { SP_SERVING_PAIRS = 64, SP_SERVING_FOLDS = 5 };

/* How an error came about. */
enum sp_left_out {
    SP_OUT_NOTHING, /* the fit has seen it */
    SP_OUT_FOLD, /* one of five parts of the configurations left out; of throughputs whole tables */
    SP_OUT_MODEL, /* its model left out */
    SP_OUT_PAIR,  /* its pair of chip and engine left out */
    SP_OUT_THREE, /* but for three of its runs on the pair: mean over draws, absolute */
    SP_OUT_NAIVE, /* bytes over bandwidth, times the median of the pair in the other parts */
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
    bool all; /* models and pairs were left out, not configurations alone */
    struct sp_profile pair[SP_SERVING_PAIRS]; /* as they are expected */
    struct sp_profile fitted[SP_SERVING_PAIRS];
    char (*model)[64];
    int pairs, models;
};

/* Collects the runs that count, fits all of them, and leaves configurations out; `all`: models and
 * pairs too. The runs must outlive it. */
void sp_open_serving_study(const struct sp_serving_runs *runs, bool all,
                           struct sp_serving_study *study);
void sp_close_serving_study(struct sp_serving_study *study);

#endif
