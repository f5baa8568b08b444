/* The questions that lead to a strategy, as rows. */
#ifndef SP_CLI_FIT_PATH_ROWS_H
#define SP_CLI_FIT_PATH_ROWS_H

#include <scaleplan/fit.h>

#include "answer/report.h"

/* Puts path.0, path.1, ... of `n` decisions, on chips of that memory. */
void sp_put_fit_path(struct sp_report *report, const struct sp_decision *path, int n,
                     double capacity_bytes);

#endif
