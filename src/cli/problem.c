/* The problem that the options of a command pose. */
#include "cli/problem.h"

#include <math.h>
#include <string.h>

/* A batch in sequences is kept exactly; a batch in tokens is rounded to a number of sequences that
 * replicas can share. */
static bool read_batch(const struct sp_args *args, const struct sp_model *model,
                       struct sp_asked_batch *batch, struct sp_error *error)
{
    const char *const text = args->value.batch;
    batch->is_typed = text != NULL;
    batch->is_about = text && text[0] == '~';
    batch->counts_sequences = text && strchr(text, 'x');
    return sp_batch_of(args, model, &batch->tokens, &batch->seq, &batch->origin, error);
}

bool sp_problem_of(const struct sp_args *args, const struct sp_model *model,
                   const struct sp_hardware *hw, struct sp_problem *p, struct sp_error *error)
{
    const struct sp_option_values *const v = &args->value;
    *p = (struct sp_problem){
        .machine = v->hw,
        .idle = isnan(v->idle) ? 0 : (int64_t)v->idle,
        .tokens = v->tokens,
        .days = v->days,
        .max_step_s = v->max_step,
        .budget_usd = v->budget,
        .framework = v->framework,
        .goal = v->objective < 0 ? SP_GOAL_STEP : (enum sp_goal)v->objective,
    };
    if (model && !read_batch(args, model, &p->batch, error))
        return false;
    if (hw && (double)p->idle >= (double)sp_chips(hw))
        return sp_fail(error, SP_INPUT, "--idle %lld: %s has %lld devices", (long long)p->idle,
                       hw->name, (long long)sp_chips(hw));
    return (!model && !hw) || sp_price_of(args, hw, v->hw ? v->hw : "", &p->price, error);
}
