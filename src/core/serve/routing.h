/* How unevenly routers choose experts, and how full the fullest of several ranks is. */
#ifndef SP_ROUTING_H
#define SP_ROUTING_H

/* Tokens of the i-th most chosen expert of a batch fall as i to this power, with which measured
 * serving is reproduced best. In the long run routing is evener: by 0.51 random placements of 256
 * experts on 8 ranks have a busiest rank of 1.25 times the mean, as measured; tokens of one batch
 * are alike. */
#define EXPERT_POWER 0.65

/* E experts on ranks of equal size, k of them per token. */
struct sp_routing {
    double experts, picks, ranks;
    double greatest; /* sp_greatest_normal(ranks) */
};

/* Expected greatest of n independent standard normal variables: the integral of z n f(z) F(z)^(n -
 * 1). David and Nagaraja 2003, "Order Statistics", section 3.1. */
double sp_greatest_normal(double n);

/* Expected greatest of the ranks' shares of tokens over the mean in the long run, if experts are
 * placed at random and their shares have this squared coefficient of variation: a rank's share is
 * the mean of E / n drawn without replacement. */
double sp_uneven_ranks(const struct sp_routing *r, double variance);

/* The same for a batch of `tokens`, each of which picks k different experts. `uneven` is the ratio
 * in the long run: a rank's picks are then a sum of hypergeometric variables, taken as normal. */
double sp_fullest_rank(const struct sp_routing *r, double uneven, double tokens);

/* Expected number of experts that the fullest rank uses of its `experts`, if the mean rank uses
 * `used`. */
double sp_most_used(const struct sp_routing *r, double experts, double used);

#endif
