/* The size, tokens and machine that a budget and a deadline buy. */
#ifndef SP_CLI_AFFORDABLE_H
#define SP_CLI_AFFORDABLE_H

#include "cli/command.h"
#include "cli/price.h"

/* A run on one machine that keeps the budget and the deadline: the known shape nearest to the size
 * that the law gives for the FLOPs computed by that shape's best plan. */
struct sp_affordable {
    char hw[128], model[128];
    double devices, params; /* params: as the law counts them */
    double step_s, mfu;     /* of the first plan that `search` lists */
    double run_step_s;      /* sp_run_step_s of it */
    double batch_tokens, usd_per_step;
    double budget, most_days;                               /* as asked; INFINITY: no limit */
    double goodput, first_step_s, within_days, useful_days; /* as `train` counts them */
    double steps, tokens, flops, seconds, wall_s;
    double low_s, high_s; /* 80 % range of the step */
    struct sp_price price;
    char *search, *step, *train; /* command lines that ask the same question */
};

/* Finds the runs that compute most within --budget and --days, one for each machine of --hw (its
 * number of devices, if it has one, is kept; else the numbers near the one that spends the
 * budget in those days are tried), most FLOPs first. Returns how many there are; -1 with an error.
 * sp_free_affordable frees them. */
enum { SP_MOST_AFFORDABLE = 16 };
int sp_find_affordable(const struct sp_args *args, const struct sp_sources *sources,
                       const struct sp_scaling_law *law,
                       struct sp_affordable found[SP_MOST_AFFORDABLE], struct sp_error *error);
void sp_free_affordable(struct sp_affordable *found, int n);

#endif
