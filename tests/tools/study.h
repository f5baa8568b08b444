/* Measured runs as samples by stack, fitted together, parts of them left out in turn. */
#ifndef SP_STUDY_H
#define SP_STUDY_H

#include <scaleplan/estimate.h>

#include "runs/runs.h"
#include "runs/stacks_fit.h"

enum { SP_MAX_STACKS = 128 };

/* One usable run. */
struct sp_measured {
    struct sp_sample sample;
    const struct sp_run *run;
    int stack;       /* index into the study's profiles */
    int group;       /* runs of one configuration */
    int model;       /* the model, whatever number of its layers was run */
    int publication; /* its series; sources that share one are left out together */
    int series;      /* number of runs of the publication */
    bool odd;        /* left out of fits, for a reason in the file; still judged */
    enum sp_tier tier;
    int unit[SP_UNKNOWNS];
};

struct sp_study {
    struct sp_measured *measured;
    struct sp_layers *layers; /* of the models of all runs */
    size_t n;
    struct sp_profile stack[SP_MAX_STACKS]; /* name, families, expected constants */
    int stacks, groups, models, publications;
    char (*publication)[128]; /* their names */
};

/* Collects the runs whose step time is measured and predictable; the runs must outlive the study.
 */
void sp_open_study(const struct sp_runs *runs, struct sp_study *study);
void sp_close_study(struct sp_study *study);

/* The part of a run; a fold leaves out one part. */
typedef int sp_part_of(const struct sp_measured *measured);
sp_part_of sp_publication_of, sp_stack_of, sp_measured_model_of;

/* Fits all stacks to the runs outside part `left_out`; -1: to all. `deviations`, unless NULL, has
 * room for each run of the study, and gets the values found for those of its units that other runs
 * share. */
void sp_fit_study(const struct sp_study *study, sp_part_of *part_of, int left_out,
                  struct sp_profile *fitted, double (*deviations)[SP_UNKNOWNS]);

/* The knowledge of `mine` once a run of the stack `its` is known too. */
enum sp_known sp_more_known(enum sp_known known, const struct sp_profile *its,
                            const struct sp_profile *mine);

/* How much a fit without that part knows of each run's stack. */
enum sp_known sp_known_without(const struct sp_study *study, sp_part_of *part_of,
                               const struct sp_measured *measured);

/* Called with each fold's fit, concurrently from several threads. */
typedef void sp_on_fold(const struct sp_study *study, int part, const struct sp_profile *fitted,
                        void *context);

/* ln(predicted / measured) of every run with its part left out; `on_fold` may be NULL. With
 * `own_machine`, knowledge of its machine from other runs counts: for parts that share one. */
void sp_cross_validate(const struct sp_study *study, sp_part_of *part_of, int parts,
                       bool own_machine, double *log_errors, sp_on_fold *on_fold, void *context);

/* Mean absolute error over configuration groups, of errors that are not NAN and that `counts`
 * accepts; `groups` gets their number. A fraction. */
double sp_mean_group_error(const struct sp_study *study, const double *log_errors,
                           bool (*counts)(const struct sp_measured *, const void *),
                           const void *context, int *groups);

#endif
