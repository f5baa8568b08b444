/* The inputs of the closed forms of `fit`, from the options of a command. */
#ifndef SP_FIT_INPUTS_H
#define SP_FIT_INPUTS_H

#include "cli/command.h"
#include "cli/problem.h"

struct sp_fit_inputs {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision, sharding_precision; /* under each of the frameworks */
    struct sp_framework_pair frameworks;
    struct sp_fit_input in;
    struct sp_fit_terms t;
    struct sp_problem problem;
    int only;       /* --strategy, or -1 */
    unsigned kinds; /* of strategies that are tried, as bits */
};

/* Loads model, machine, recipe, batch and terms, which point into `fit`, and the model's lists into
 * `layers`: they are large, and a caller that sets `fit` to zero need not touch their pages. */
bool sp_load_fit(const struct sp_args *args, struct sp_layers *layers, struct sp_fit_inputs *fit,
                 struct sp_error *error);

#endif
