/* Serving runs compared with their predictions. */
#ifndef SP_SERVING_ERRORS_H
#define SP_SERVING_ERRORS_H

#include "runs/error_statistics.h"
#include "runs/serving_runs.h"

/* Whether a file of runs is about serving, by its header. */
bool sp_is_serving_file(const char *path, const struct sp_sources *sources, bool *serves,
                        struct sp_error *error);

/* Empty errors of all measures of the runs. */
struct sp_run_errors sp_new_serving_errors(const struct sp_serving_runs *runs);

/* Profiles of the stacks of several runs, each loaded once. */
enum { SP_MOST_PAIRS = 64 };
struct sp_pair_profiles {
    const struct sp_sources *sources;
    const struct sp_profile *given; /* the profile for all runs, or NULL */
    struct sp_profile known[SP_MOST_PAIRS];
    bool is_own[SP_MOST_PAIRS];
    int n;
};

/* A measure of a run: measured, predicted, 80 % range. `error` is predicted / measured - 1. */
struct sp_measure_prediction {
    double measured, said, low, high, error;
};
struct sp_run_prediction {
    const struct sp_profile *profile;
    bool is_own; /* the stack has measured runs */
    struct sp_measure_prediction of[SP_SERVING_MEASURES];
};
bool sp_predict_serving_run(const struct sp_serving_run *run, struct sp_pair_profiles *profiles,
                            struct sp_run_prediction *prediction, struct sp_error *error);

#endif
