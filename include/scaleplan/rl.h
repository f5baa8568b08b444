/* => 1 */
#ifndef SCALEPLAN_RL_H
#define SCALEPLAN_RL_H

#include <scaleplan/lengths.h>
#include <scaleplan/serve_estimate.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What algorithms need in addition to the policy. */
enum sp_rl_algorithm {
    SP_RL_GRPO,
    SP_RL_PPO,
    SP_RL_DAPO,
    SP_RL_RLOO,
    SP_RL_REINFORCE,
    SP_RL_ALGORITHMS
};
struct sp_rl_traits {
    bool reference; /* a frozen copy of the policy weighs the answers (KL) */
    bool critic;    /* a second trained model gives their value */
    bool groups;    /* answers of a prompt are compared: more than one is needed */
};
extern const struct sp_rl_traits sp_rl_traits[SP_RL_ALGORITHMS];

/* The constants of frameworks: rl_constants.def. */
#define SP_RL_CONSTANT(id, key, unit, value, without, expected, spread, meaning)                   \
    SP_RL_##id##_CONSTANT,
enum sp_rl_constant {
#include <scaleplan/rl_constants.def>
    SP_RL_CONSTANTS
};
#undef SP_RL_CONSTANT
extern const struct sp_rl_constant_info {
    const char *key, *unit;
    double value, without, expected, spread;
    const char *meaning;
} sp_rl_constants[SP_RL_CONSTANTS];

/* Half-width of the 80 % range of ln(step), of published steps whose model was left out of the fit.
 */
#define SP_RL_RANGE_LOG 0.30

/* The share of a batch that one of several equal engines answers. */
struct sp_rollout {
    const struct sp_serve_instance *instance; /* its mean lengths are those of the answers */
    const struct sp_serve_load *load;
    const struct sp_lengths *output;
    double answers; /* of this engine */
    double engines; /* => 54 */
    double at_once; /* most that run at once if all start together: room in memory, or a limit */
    double most;    /* most that run at once if they start one by one */
    double longer;  /* time over that of a server's steps */
    double most_queued; /* answers in flight if generation does not wait for training */
    double read_again;  /* tokens of each answer that are read again with new weights; 0: none */
};

struct sp_rollout_time {
    double at_once;  /* answers that run together at the start */
    double rounds;   /* answers over places */
    double longest;  /* expected longest of those that end together, over all engines. Tokens */
    double answer_s; /* one answer while slots are refilled */
    double first_s;  /* the part of it that is not decode steps: server, prompts */
    double course_s; /* steps until the longest has ended */
    double batch_s;  /* the whole batch: sp_rl_generation_s */
    double full;     /* answers that run if generation does not wait for training */
    double work_s;   /* then, of the batch: sp_rl_work_s and sp_rl_reread_s */
    double prompts_per_s; /* most prompts that an engine reads */
};

/*
 * Time of a batch of answers. s.
 *
 * While prompts wait, slots are refilled and an answer takes the time that sp_serve_estimate
 * (sp_steady without a profile) gives for as many in flight. Then those that run, c, end one by
 * one: with S(k) the share of answers longer than k, the step of token k has c S(k) / (1 - (1 -
 * S(k))^c) sequences, those that an engine still has if it has any, and is weighted by the
 * probability that any of `engines` has one, 1 - (1 - S(k))^(c engines). With answers of one length
 * the whole is the e2e_s of serving times the rounds. Refilled slots are treated as if all answers
 * began anew when the last prompt starts: exact for exponential lengths, and for equal ones in
 * whole rounds.
 *
 * Engines that are kept full have as many answers in flight as they may. With new weights they read
 * all of these again, so their number is the one with the least work.
 *
 * The numbers of answers, engines and slots must be positive.
 */
void sp_time_rollout(const struct sp_rollout *rollout, struct sp_rollout_time *time);

/*
 * Cache of a slot at its peak if answers start together, over that in a steady state: at least 1.
 *
 * With S(t) the share of answers longer than t, a slot that stays empty has S(t) kv(t) after t
 * steps, one that is refilled the sum over its renewals u of S(t - u) kv(t - u). Cox 1962, "Renewal
 * Theory", section 5. On a grid up to twice the mean, beyond which the first peak has passed; t is
 * in tokens, kv(t) the bytes of the prompt and of t tokens.
 */
double sp_crowding(const struct sp_service *service, const struct sp_lengths *output,
                   bool refilled);

/* An answer of the mean length, and the longest of a batch, while this many answers run, those of
 * other batches included: sp_rl_latency_s. s. */
struct sp_rollout_pace {
    double answer_s, latency_s;
};
struct sp_rollout_pace sp_pace_rollout(const struct sp_rollout *rollout, double longest,
                                       double running);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
