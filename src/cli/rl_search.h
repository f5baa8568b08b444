/* The best placement of the sides of a step of reinforcement learning, their degrees, and how far
 * generation is ahead. */
#ifndef SP_CLI_RL_SEARCH_H
#define SP_CLI_RL_SEARCH_H

#include "cli/rl_sides.h"

/* A point of the space: values of the options that were not typed. */
struct sp_rl_choice {
    int64_t train, generate; /* devices of each; 0: both have all, in turn */
    int64_t tp, pp, ep, stale;
    int64_t gen_tp, gen_pp, gen_attention_dp;
    int64_t gen_ep; /* 0: the engine's default for its ranks */
};

enum { SP_RL_WORDS = 192 };

struct sp_rl_found {
    struct sp_rl_choice best, ahead; /* ahead: with more steps ahead than --stale's default */
    double step_s, ahead_s;          /* ahead_s: NAN if --stale is typed or that is not worth it */
    double asked, tried; /* points of the space; evaluated ones, the others being slower by a
                            bound */
    char words[SP_RL_WORDS], ahead_words[SP_RL_WORDS]; /* as options */
};

/*
 * The shortest step that fits. Both sides in turn, or a part of the machine for each: eighths,
 * whole hosts, and parts of a host that are powers of two; of training TP up to a host, stages up
 * to 16 and EP up to 64; engines of up to 64 chips, with TP, stages up to 16 and of experts
 * attention DP, all powers of two, and EP over all ranks or none; from 0 to --stale
 * steps ahead. Typed options are fixed. Of equal steps the first counts: in turn before apart, less
 * ahead before more. The time of one side alone is a lower bound for every plan that contains it.
 */
bool sp_search_rl(const struct sp_args *args, struct sp_rl_found *found, struct sp_error *error);

/* Fills options that were not typed from a choice. */
bool sp_take_rl_choice(const struct sp_args *typed, const struct sp_rl_choice *choice,
                       struct sp_args *args, struct sp_error *error);

#endif
