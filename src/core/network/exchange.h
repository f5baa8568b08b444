/* How many copies of a token an exchange between experts sends, and over which links. */
#ifndef SP_EXCHANGE_H
#define SP_EXCHANGE_H

#include <stdbool.h>

#include <scaleplan/plan.h>

/* Whether a dispatcher sends one copy of a token to a node, which spreads it, not one to each
 * expert. */
bool sp_sends_once_a_node(enum sp_dispatch dispatch);

/* A group of ranks that hold different experts, and who of them a token goes to. */
struct sp_expert_group {
    double ranks;      /* of expert parallelism */
    double inside;     /* of them in one node, >= 1 */
    double picks;      /* k: experts that a token goes to */
    double most_nodes; /* that routing lets a token go to; INFINITY: any */
    bool once_a_node;  /* one copy goes to a node and spreads from there, and one to a rank; else
                          one to each of the k experts */
};

/* Copies of a token that leave a rank, by the links they take. A copy that is spread from the rank
 * where it arrives counts there; on average each rank spreads as much as it sends. */
struct sp_copies_of_token {
    double within; /* over the links of a node */
    double across; /* over the network between nodes */
};
struct sp_copies_of_token sp_copies_of_token(const struct sp_expert_group *group);

/* Expected number of different places among `places` that `picks` picks hit, n (1 - (1 - 1/n)^k).
 */
double sp_distinct_places(double places, double picks);

#endif
