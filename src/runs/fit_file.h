/* Fits one profile to a file of measured runs, of training or serving, of one stack. */
#ifndef SP_FIT_FILE_H
#define SP_FIT_FILE_H

#include "runs/calibration_gap.h"
#include "runs/error_statistics.h"
#include "runs/left_out.h"
#include "runs/serving_runs.h"

/* Which constants are fitted to which runs. */
struct sp_fit_request {
    const char *file;            /* NULL: only of `logged` */
    const struct sp_run *logged; /* a run in addition to those of the file; NULL: none */
    const char *chip;            /* whose runs count */
    const char *framework;       /* or engine; NULL: that of all those runs */
    const char *profile;         /* that the fit starts from; NULL: the stack's own */
    bool all;                    /* runs whose source leaves a needed field out count too */
    const struct sp_sources *sources;
};

enum sp_fit_stage { SP_BEFORE_FIT, SP_AFTER_FIT, SP_LEFT_OUT_OF_FIT, SP_FIT_STAGES };

/* A fitted profile, and how good the fit is. */
struct sp_fit_of_file {
    char chip[64], framework[64];
    size_t used;               /* runs that count */
    struct sp_left_out others; /* the others in the file */
    size_t no_level;           /* runs used whose memory does not say what it includes */
    bool own;                  /* the prior rests on runs of its own stack */
    struct sp_calibration fit; /* of serving: only prior, fitted, groups and parts */

    /* of training */
    struct sp_runs runs;
    struct sp_error_stats step[SP_FIT_STAGES], memory[SP_LEFT_OUT_OF_FIT];
    double gap; /* see sp_calibration_gap */
    struct sp_constant_effect effects[SP_CONSTANTS];
    int n_effects; /* that are worth a mention, three at most */
    bool has_next;
    struct sp_telling_run next;

    /* of serving */
    struct sp_error_stats serving[SP_FIT_STAGES][SP_SERVING_MEASURES];
};

/* False with an error if no run counts, or if the runs that do belong to several frameworks. Free
 * it in any case. */
bool sp_fit_training_file(const struct sp_fit_request *request, struct sp_fit_of_file *fit,
                          struct sp_error *error);
bool sp_fit_serving_file(const struct sp_fit_request *request, struct sp_fit_of_file *fit,
                         struct sp_error *error);
void sp_free_fit_of_file(struct sp_fit_of_file *fit);

#endif
