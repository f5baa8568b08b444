/* Changes of a plan in a report. */
#include "commands/neighbours.h"

#include <scaleplan/estimate.h>

struct near_rows {
    const struct sp_neighbour *n;
    const struct sp_estimate *plan;
    double most_bytes;
    char change[64];
    bool tie, has_limit;
};

#define SP_ROWS "commands/near.def"
#define SP_ROWS_OF struct near_rows
#define SP_PUT_ROWS put_rows
#include "answer/put_rows.h"

void sp_put_neighbour(struct sp_report *r, const struct sp_step_inputs *in,
                      const struct sp_neighbour *n, const struct sp_estimate *plan,
                      double most_bytes)
{
    const enum sp_tier tier = sp_tier_of(in->model, &in->hw->chip, in->plan);
    struct near_rows s = {.n = n,
                          .plan = plan,
                          .most_bytes = most_bytes,
                          .tie = sp_is_tie(n->step_s, plan->time.step, sp_lead_log(tier)),
                          .has_limit = !isnan(most_bytes)};
    sp_change_text(n, "", s.change, sizeof s.change);
    put_rows(r, &s);
}
