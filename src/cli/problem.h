/* The problem that the options of a command pose. */
#ifndef SP_CLI_PROBLEM_H
#define SP_CLI_PROBLEM_H

#include "cli/price.h"
#include "study/problem.h"

/* Reads the question about a model on a machine: devices and how many may stay idle, batch,
 * lengths, run, price, framework, goal. Options that the command does not take count as not given.
 * Without a model (NULL) the batch is not read, without a machine there is no list price, without
 * both no price. */
bool sp_problem_of(const struct sp_args *args, const struct sp_model *model,
                   const struct sp_hardware *hw, struct sp_problem *problem,
                   struct sp_error *error);

#endif
