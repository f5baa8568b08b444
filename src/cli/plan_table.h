/* The table of a search's plans: columns of the fields in which they differ. */
#ifndef SP_PLAN_TABLE_H
#define SP_PLAN_TABLE_H

#include "cli/searching.h"

/* The column of what ranks plans if it is not the step. */
#define SP_RANKED_BY "expected_step_s: expected, "

/* Puts it below the rows that were begun of the list "plans". */
void sp_put_plan_table(struct sp_searching *searching, const struct sp_ranked *plans, size_t n);

#endif
