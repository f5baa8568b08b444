/* --against of `step` and `search`: a second plan beside the first. */
#ifndef SP_CLI_AGAINST_H
#define SP_CLI_AGAINST_H

#include "cli/plan_options.h"

/* Reads the plan of --against and puts it beside `first`, whose estimate is `e`: the fields that
 * differ, the parts of time and memory, and whether the lead exceeds the error of such a
 * difference. An error if there is no such plan, or if its tokens are different work. */
bool sp_report_against(struct sp_report *report, const struct sp_args *args,
                       const struct sp_planned *first, const struct sp_estimate *e,
                       struct sp_error *error);

#endif
