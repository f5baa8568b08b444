/* Strategies of `fit` in words, and as a command of `step`. */
#ifndef SP_FIT_WORDS_H
#define SP_FIT_WORDS_H

#include <scaleplan/estimate.h>
#include <scaleplan/fit.h>

#include "cli/words.h"

/* Its degrees: "FSDP 512 x CP 4 x TP 2, EP 8". */
void sp_name_degrees(const struct sp_strategy *strategy, char *out, size_t size);

/* The same, with its micro-batches where there are several: "FSDP 16 in 3 micro-batches". */
void sp_name_mesh(const struct sp_strategy *strategy, char *out, size_t size);

/* How a mesh does as a plan: "as a plan it does not fit". */
void sp_say_mesh_as_plan(const struct sp_strategy *plan, char *out, size_t size);

/* What speaks against a strategy beside the best one; "": nothing. */
void sp_say_drawback(const struct sp_strategy *strategy, const struct sp_strategy *best, char *out,
                     size_t size);

/* The command line of `step` for the strategy's plan on `machine` ("": as typed), and the plan's
 * sequences; NULL if it is the book's rule or no plan that runs. Free it. */
char *sp_fit_command(const struct sp_args *args, const char *machine, const struct sp_fit_input *in,
                     const struct sp_strategy *strategy, double *sequences);

/* The estimate that this command line would print; NULL if `step` refuses it. The strategy must be
 * one that sp_fit_command prints. free() it. */
struct sp_estimate *sp_fit_estimate(const struct sp_args *args, const char *machine,
                                    const struct sp_fit_input *in,
                                    const struct sp_strategy *strategy);

#endif
