/* Measured runs as samples by stack, fitted together and left out in turn. */
#ifndef SP_STUDY_H
#define SP_STUDY_H

#include "runs/runs.h"
#include "runs/least_squares.h"

enum { SP_MAX_STACKS = 128 };

/* One usable run. */
struct sp_measured {
    struct sp_sample sample;
    const struct sp_run *run;
    int stack;  /* index into the study's profiles */
    int group;  /* runs of one configuration */
    int family; /* model, without how many of its layers were run */
    int source;
    char tier; /* 'D': dense 16-bit, '8': dense fp8, 'M': experts, 'X': newer formats */
};

struct sp_study {
    const struct sp_optimizer *nlopt; /* for who fits */
    struct sp_measured *measured;
    size_t n;
    struct sp_profile stack[SP_MAX_STACKS]; /* name, families, expected constants */
    int stacks, groups, families, sources;
};

/* Collects the runs whose step time is measured and predictable; the runs must outlive the study.
 * With `all`, secondary ones too. */
void sp_open_study(const struct sp_runs *runs, bool all, struct sp_study *study);
void sp_close_study(struct sp_study *study);

/* Which runs a fit may see. */
struct sp_fold {
    int (*of)(const struct sp_measured *); /* part a run belongs to */
    int left_out;                          /* part that is not seen; -1: see all */
};

/* Parts: one of five by configuration group, model family, source. */
int sp_part_of_group(const struct sp_measured *measured);
int sp_part_of_family(const struct sp_measured *measured);
int sp_part_of_source(const struct sp_measured *measured);

/* Fits every stack to the runs that the split shows: first each from what is expected of it, then
 * again from what its siblings lend. Stacks without a run borrow. */
void sp_fit_study(const struct sp_study *study, const struct sp_fold *split,
                  struct sp_profile *fitted);

/* ln(predicted / measured) of every run when its part is left out. */
void sp_cross_validate(const struct sp_study *study, int (*part_of)(const struct sp_measured *),
                       int parts, double *log_errors);

/* Mean absolute error over configuration groups (a group's errors averaged), of the runs that
 * `counts` accepts; `groups` gets their number. A fraction. */
double sp_mean_group_error(const struct sp_study *study, const double *log_errors,
                           bool (*counts)(const struct sp_measured *, const void *),
                           const void *context, int *groups);

#endif
