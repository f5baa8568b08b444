/* Changes of a plan in a report. */
#ifndef SP_NEIGHBOURS_H
#define SP_NEIGHBOURS_H

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "answer/report.h"

/* The fields that changed with their new values, each behind `dash`: "tp 4, dp 16". */
void sp_change_text(const struct sp_neighbour *neighbour, const char *dash, char *out, size_t size);

/* A change, its step time and gain over the plan, whether that is a tie, its memory, under the
 * current scope. */
void sp_put_neighbour(struct sp_report *report, const struct sp_step_inputs *in,
                      const struct sp_neighbour *neighbour, const struct sp_estimate *plan);

#endif
