/* Chips that stay idle, by the closed forms. */
#ifndef SP_STUDY_IDLE_CHIPS_H
#define SP_STUDY_IDLE_CHIPS_H

#include <scaleplan/fit.h>

#include "study/problem.h"

/* Leaves out up to `idle` chips of `hw`, the input's own machine, if the best plan of the others
 * has a shorter step: of the strategies whose bits are set, and of plans that run where `runs`. */
void sp_leave_idle(const struct sp_fit_input *in, int64_t idle, unsigned strategies, bool runs,
                   struct sp_hardware *hw);

#endif
