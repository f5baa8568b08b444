/* Batches of frameworks that fill a micro-batch with tokens. */
#ifndef SP_LAUNCH_BATCHES_H
#define SP_LAUNCH_BATCHES_H

#include "launch/fields/settings.h"

/* A batch given by the tokens of each replica's micro-batch. `replicas` 0: not known; `option`
 * is the framework's name for the tokens. */
struct sp_token_batch {
    const char *option;
    int64_t tokens, seq, batch, replicas;
};

/* The micro-batch in sequences: the most sequences of full length that fit and that divide a
 * replica's share of the batch; a remark states it. And the same as an option of the launch. */
int64_t sp_token_micro_batch(const struct sp_settings *settings,
                             const struct sp_token_batch *batch);
void sp_launch_token_batch(const struct sp_settings *settings, const struct sp_token_batch *batch);

#endif
