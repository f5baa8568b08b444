/* Changes that would make a plan better, or make it fit, each with its result when typed. */
#ifndef SP_CLI_BETTER_H
#define SP_CLI_BETTER_H

#include "answer/report.h"
#include "cli/options.h"
#include "study/planned.h"

/* Puts the plans one change away that fit and are faster (or fit at all) as `better`. */
void sp_put_better(struct sp_report *report, const struct sp_args *args,
                   const struct sp_planned *planned, const struct sp_estimate *estimate);

/* Puts a line about the fastest of them. */
void sp_say_better(struct sp_report *report, const struct sp_args *args,
                   const struct sp_planned *planned, const struct sp_estimate *estimate);

/* Puts the changes that make the plan fit, the fastest first, as `fixes`. */
void sp_put_fixes(struct sp_report *report, const struct sp_args *args,
                  const struct sp_planned *planned);

#endif
