/* How many copies of a token an expert exchange sends, and over which links. */
#ifndef SP_TOKEN_COPIES_H
#define SP_TOKEN_COPIES_H

#include <stdbool.h>

#include <scaleplan/plan.h>

/* Whether a dispatcher sends one copy per node, forwarded inside it, instead of one per expert. */
bool sp_sends_once_a_node(enum sp_dispatch dispatch);

/* A group of ranks with different experts, and the routing. */
struct sp_expert_group {
    double ranks;      /* EP ranks */
    double inside;     /* ranks per node, >= 1 */
    double picks;      /* k, experts per token */
    double most_nodes; /* most nodes per token; INFINITY: no limit */
    bool once_a_node;  /* one copy per node and rank; else one per expert */
};

/* Copies of a token that leave a rank, by link. Forwarded copies count at the rank that forwards;
 * on average each rank forwards as many as it sends. */
struct sp_copies_of_token {
    double within; /* within a node */
    double across; /* between nodes */
};
struct sp_copies_of_token sp_copies_of_token(const struct sp_expert_group *group);

/* Most of these nodes per token, if its experts come from some groups: each group lies on a node,
 * or on several. */
double sp_most_nodes(const struct sp_moe *moe, double nodes);

/* Expected number of distinct places among `places` hit by `picks` picks, n (1 - (1 - 1/n)^k). */
double sp_distinct_places(double places, double picks);

#endif
