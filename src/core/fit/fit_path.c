/* The questions that lead from a model and a machine to a strategy. */
#include <math.h>

#include "core/fit/fit_internal.h"

/* The test of each question, and where yes and no lead; SP_DECISIONS ends the walk. */
static const struct {
    enum sp_strategy_kind strategy;
    bool memory; /* asks whether it fits; else whether its communication hides too */
    enum sp_decision_kind yes, no;
} questions[SP_DECISIONS] = {
    [SP_ASK_ONE_CHIP] = {SP_DP, true, SP_ASK_REPLICAS, SP_ASK_SHARDS_FIT},
    [SP_ASK_REPLICAS] = {SP_DP, false, SP_DECISIONS, SP_ASK_TP},
    [SP_ASK_SHARDS_FIT] = {SP_FSDP, true, SP_ASK_SHARDS, SP_ASK_TP},
    [SP_ASK_SHARDS] = {SP_FSDP, false, SP_DECISIONS, SP_ASK_TP},
    [SP_ASK_TP] = {SP_FSDP_TP, false, SP_DECISIONS, SP_ASK_GROUPS},
    [SP_ASK_GROUPS] = {SP_HSDP, false, SP_DECISIONS, SP_ASK_STAGES},
    [SP_ASK_STAGES] = {SP_PP_FSDP, false, SP_DECISIONS, SP_DECISIONS},
};

int sp_fit_path(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                struct sp_decision path[SP_DECISIONS])
{
    int n = 0;
    for (enum sp_decision_kind ask = SP_ASK_ONE_CHIP; ask != SP_DECISIONS; n++) {
        struct sp_decision *const d = &path[n];
        *d = (struct sp_decision){.kind = ask, .memory = questions[ask].memory};
        d->strategy = sp_fit_strategy(in, t, questions[ask].strategy);
        const struct sp_strategy *const s = &d->strategy;
        d->yes = s->exists && s->fits && (d->memory || s->compute_bound);
        ask = d->yes ? questions[ask].yes : questions[ask].no;
        d->ends = d->yes && ask == SP_DECISIONS;
    }
    return n;
}
