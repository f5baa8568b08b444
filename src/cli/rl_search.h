/* The best placement of the sides of a step of reinforcement learning, their degrees, and how far
 * generation is ahead. */
#ifndef SP_CLI_RL_SEARCH_H
#define SP_CLI_RL_SEARCH_H

#include "cli/rl_sides.h"

/* A place in the space: what is not typed. */
struct sp_rl_choice {
    int64_t train, generate; /* devices of each; 0: both have all, in turn */
    int64_t tp, pp, ep, gen_tp, stale;
};

struct sp_rl_found {
    struct sp_rl_choice best;
    double step_s;
    double asked, tried; /* places of the space; those that were worked out, others being slower by
                            a bound */
    char words[128];     /* of the best, as options */
    int64_t more_stale;  /* where --stale is not typed: more steps ahead with which the best is
                            faster by SP_WORTH_NAMING; 0: none */
    double more_stale_s; /* its step */
};

/*
 * The shortest step that fits. Both sides in turn, or a part of the machine for each in steps of an
 * eighth or of whole hosts; powers of two for TP up to a host, stages up to 16, EP up to 64 and the
 * TP of engines up to 64; from 0 to --stale (default 1) steps ahead. Typed options are fixed. Of
 * equal steps the first counts: in turn before apart, less ahead before more. A choice for training
 * whose passes alone take as long as the best step is skipped, with all its combinations.
 */
bool sp_search_rl(const struct sp_args *args, struct sp_rl_found *found, struct sp_error *error);

/* Fills options that were not typed from a choice. */
bool sp_take_rl_choice(const struct sp_args *typed, const struct sp_rl_choice *choice,
                       struct sp_args *args, struct sp_error *error);

#endif
