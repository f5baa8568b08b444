/* Beside a search's list: the plan that unequal stages make faster than the first. */
#ifndef SP_CLI_SEARCH_LAYOUT_H
#define SP_CLI_SEARCH_LAYOUT_H

#include "cli/searching.h"
#include "study/stage_layouts.h"

/* Puts that plan of the first one's machine and adds a line about it, except in the short text of
 * an answer that hides its list. Leads of `lead` or more are reliable. */
void sp_put_laid_out(const struct sp_searching *searching, const struct sp_ranked *first,
                     const struct sp_laid_out *found, double lead, bool hides_list);

#endif
