/* NLopt, loaded when something is to be fitted: no other command pays for it. */
#ifndef SP_OPTIMIZER_H
#define SP_OPTIMIZER_H

#include <nlopt.h>

#include "base/error.h"

/* The functions of NLopt that a fit calls. */
struct sp_optimizer {
    void *library;
    nlopt_opt (*create)(nlopt_algorithm algorithm, unsigned n);
    nlopt_result (*set_lower_bounds)(nlopt_opt opt, const double *low);
    nlopt_result (*set_upper_bounds)(nlopt_opt opt, const double *high);
    nlopt_result (*set_min_objective)(nlopt_opt opt, nlopt_func f, void *data);
    nlopt_result (*set_ftol_rel)(nlopt_opt opt, double tolerance);
    nlopt_result (*set_maxeval)(nlopt_opt opt, int most);
    nlopt_result (*optimize)(nlopt_opt opt, double *x, double *least);
    void (*destroy)(nlopt_opt opt);
};

/* Loads it; false with an error of code SP_INTERNAL when it is not installed. */
bool sp_open_optimizer(struct sp_optimizer *optimizer, struct sp_error *error);
void sp_close_optimizer(struct sp_optimizer *optimizer);

#endif
