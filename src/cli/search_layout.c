/* Beside a search's list: the plan that unequal stages make faster than the first. */
#include "cli/search_layout.h"

#include <stdlib.h>

#include "study/plan_text.h"

struct layout_rows {
    const struct sp_laid_out *found;
    size_t of; /* counted from 1 */
    double first_value;
    bool hides_list, is_tie; /* is_tie: ahead by less than the error of a lead */
    char stages[SP_PLAN_TEXT];
    char *command;
};

#define SP_PART search_layout
#define SP_PART_OF struct layout_rows
#include "answer/put_rows.h"

void sp_put_laid_out(const struct sp_searching *s, const struct sp_ranked *first,
                     const struct sp_laid_out *found, double lead, bool hides_list)
{
    const struct sp_candidate *const m = s->of.machine[first->machine];
    struct layout_rows rows = {.found = found,
                               .of = found->of + 1,
                               .first_value = found->first_value,
                               .hides_list = hides_list,
                               .is_tie = sp_is_tie(found->value, found->first_value, lead),
                               .command = sp_step_line(s, m, &found->plan, NULL)};
    sp_format_plan(&found->plan, &sp_plan_fields[SP_FIELD_STAGE_LAYERS], rows.stages);
    put_search_layout_rows(s->report, &rows);
    free(rows.command);
}
