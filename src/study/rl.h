/* A step of reinforcement learning: training as estimated by `step`, generation as by `serve`, and
 * the work between. */
#ifndef SP_STUDY_RL_H
#define SP_STUDY_RL_H

#include <scaleplan/rl.h>

#include "study/planned.h"

/* Parts of a step, which can be left out. */
enum sp_rl_part {
    SP_RL_GENERATION,
    SP_RL_LOGPROB,
    SP_RL_REFERENCE,
    SP_RL_CRITIC,
    SP_RL_REWARD,
    SP_RL_UPDATE,
    SP_RL_REFIT,
    SP_RL_WAKE,
    SP_RL_PARTS
};

/* The side that sleeps while the other side works on the same devices. */
enum sp_rl_sleep { SP_RL_SLEEP_NONE, SP_RL_SLEEP_ENGINE, SP_RL_SLEEP_BOTH };

struct sp_rl_asked {
    const struct sp_planned *trained; /* the policy; its batch is that of an optimizer step */
    const struct sp_serve_instance *instance;
    const struct sp_serve_load *load;
    const struct sp_profile *serving; /* NULL: closed forms */
    struct sp_lengths output;
    double engines;
    const struct sp_model *reference, *critic, *reward; /* NULL: none */
    double prompts, group, kept, epochs, minibatches, stale;
    double rows, row_tokens;              /* of a forward pass over all answers */
    const struct sp_documents *documents; /* in these rows; NULL: each has one */
    bool colocated, partial;
    bool ideal; /* without the constants of a framework */
    enum sp_rl_sleep sleep;
    double refit_bandwidth; /* NAN: of the slowest link */
    bool refit_parts;       /* each chip of an engine takes its own part alone */
    double overhead_s;
    double devices; /* of both sides */
    bool without[SP_RL_PARTS];
};

struct sp_rl_answer {
    struct sp_rollout_time rollout;
    struct sp_estimate training; /* an optimizer step of the policy */
    double answers, answers_each;
    double part_s[SP_RL_PARTS], training_s, work_s, step_s, low_s, high_s;
    double exposed_s, critic_step_s, critic_values_s, passes;
    double latency_s; /* of one batch, among those by which generation is ahead */
    double beside;    /* answers of an engine that run then */
    double passes_longer, generation_longer, tensors, tensor_s;
    double refit_bytes, refit_bandwidth, states, host_bandwidth, devices_per_host;
    double memory_training, memory_generation, memory_both, capacity;
    double sleeping;              /* states of a device that wait on its host */
    double frozen;                /* and its weights of models that do not train */
    double host_bytes, host_room; /* of a host: both together, and its memory; 0: not known */
    bool host_holds;
    double places;   /* answers that an engine has room for */
    double at_start; /* of them where all start at once: they are longest at the same time */
    double crowding; /* then of each: sp_crowding */
    bool fits;
};

void sp_estimate_rl(const struct sp_rl_asked *asked, struct sp_rl_answer *answer);

#endif
