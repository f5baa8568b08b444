/* Batches of frameworks that fill a micro-batch with tokens. */
#include "launch/fields/batches.h"

int64_t sp_token_micro_batch(const struct sp_settings *s, const struct sp_token_batch *b)
{
    const int64_t share =
        b->replicas > 0 && b->batch % b->replicas == 0 ? b->batch / b->replicas : b->batch;
    const int64_t most = b->tokens / b->seq;
    int64_t micro = most < share ? most : share;
    while (micro > 1 && share % micro != 0)
        micro--;
    if (micro < 1)
        micro = 1;
    sp_launch_note(s,
                   "micro-batches of %lld tokens (%s): read as %lld sequences of full "
                   "length",
                   (long long)b->tokens, b->option, (long long)micro);
    return micro;
}

void sp_launch_token_batch(const struct sp_settings *s, const struct sp_token_batch *b)
{
    sp_launch_whole(s, "micro-batch", sp_token_micro_batch(s, b));
}
