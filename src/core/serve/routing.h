/* How unevenly routers choose. */
#ifndef SP_ROUTING_H
#define SP_ROUTING_H

/* Tokens of the busiest of 8 ranks of 256 experts over the mean, as in measured routing. Tokens of
 * the i-th most chosen expert that fall as i to this power have it, over random placements. */
#define EXPERT_IMBALANCE 1.25
#define EXPERT_POWER 0.51

#endif
