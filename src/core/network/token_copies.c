/* Copies of a token in an expert exchange. */
#include "core/network/token_copies.h"

#include <math.h>

bool sp_sends_once_a_node(enum sp_dispatch dispatch)
{
    return dispatch == SP_DISPATCH_DEEPEP || dispatch == SP_DISPATCH_HYBRIDEP;
}

double sp_distinct_places(double places, double picks)
{
    return places <= 1 ? fmin(places, picks) : -places * expm1(picks * log1p(-1 / places));
}

double sp_most_nodes(const struct sp_moe *moe, double nodes)
{
    return moe->groups > 0 ? (double)moe->top_groups * fmax(1, nodes / (double)moe->groups)
                           : INFINITY;
}

/* `alltoall` sends k copies per token; `deepep` and `hybridep` one per node and one per rank. */
struct sp_copies_of_token sp_copies_of_token(const struct sp_expert_group *g)
{
    const double nodes = g->ranks / g->inside;
    const double leaves_node = (nodes - 1) / nodes, leaves_rank = (g->inside - 1) / g->inside;
    if (!g->once_a_node)
        return (struct sp_copies_of_token){.within = g->picks * (g->inside - 1) / g->ranks,
                                           .across = g->picks * leaves_node};
    const double reached = fmin(nodes, g->most_nodes);
    return (struct sp_copies_of_token){
        .within = sp_distinct_places(reached * g->inside, g->picks) * leaves_rank,
        .across = fmin(sp_distinct_places(nodes, g->picks), reached) * leaves_node,
    };
}
