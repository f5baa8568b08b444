/* Changes of a plan in a report. */
#ifndef SP_NEIGHBOURS_H
#define SP_NEIGHBOURS_H

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "answer/report.h"
#include "study/plan_text.h"

/* A change, its step time and gain over the plan, whether that is a tie, and its memory, beside the
 * limit of a device (NAN: not asked), under the current scope. */
void sp_put_neighbour(struct sp_report *report, const struct sp_step_inputs *in,
                      const struct sp_neighbour *neighbour, const struct sp_estimate *plan,
                      double most_bytes);

#endif
