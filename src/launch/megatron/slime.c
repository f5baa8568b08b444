/* slime: Megatron-LM's arguments, followed by those of reinforcement learning, and slime's defaults
 * (slime/utils/arguments.py, slime/backends/megatron_utils/arguments.py). */
#include <stdio.h>

#include "base/text.h"
#include "launch/fields/batches.h"
#include "launch/fields/deciding.h"
#include "launch/fields/rollout.h"
#include "launch/megatron/megatron.h"

static bool add_missing(struct sp_settings *s, const char *name, const char *value)
{
    return sp_said(s, name) || sp_add_setting(s, name, value);
}

/* Answers of a rollout, shared by its steps; 0: not stated. */
static int64_t batch_of(struct sp_settings *s)
{
    const int64_t prompts = sp_setting_whole(s, "--rollout-batch-size", 1, 0),
                  answers = sp_setting_whole(s, "--n-samples-per-prompt", 1, 1),
                  steps = sp_setting_whole(s, "--num-steps-per-rollout", 1, 0);
    return steps > 0 ? prompts * answers / steps : 0;
}

/* Sequences of a rollout are as long as its prompts and answers may be, whatever --seq-length is;
 * supervised tuning has no other length. */
static int64_t length_of(struct sp_settings *s)
{
    const int64_t answer = sp_setting_whole(s, "--rollout-max-response-len", 1, 0),
                  prompt = sp_setting_whole(s, "--rollout-max-prompt-len", 1, 0);
    if (answer > 0)
        return prompt + answer;
    if (!sp_said(s, "--seq-length"))
        sp_add_unread(s->launch, "seq", "the length of sequences", "(left out)", 0);
    return sp_setting_whole(s, "--seq-length", 1, 4096);
}

/* Micro-batches by number of tokens, where the arguments ask for them. */
static bool spell_tokens(struct sp_settings *s, int64_t seq, int64_t batch, int64_t replicas)
{
    char micro[32];
    const int64_t tokens = sp_setting_whole(s, "--max-tokens-per-gpu", 1, 0);
    if (!sp_peek_setting(s, "--use-dynamic-batch-size") || tokens == 0 || batch == 0)
        return add_missing(s, "--micro-batch-size", "1");
    const int64_t sequences =
        sp_token_micro_batch(s, &(struct sp_token_batch){.option = "--max-tokens-per-gpu",
                                                         .tokens = tokens * sp_plan_whole(s, "cp"),
                                                         .seq = seq,
                                                         .batch = batch,
                                                         .replicas = replicas});
    snprintf(micro, sizeof micro, "%lld", (long long)sequences);
    return sp_add_setting(s, "--micro-batch-size", micro);
}

/* The rollout's own settings, which are named or refused where it is read. */
static void pass_rollout(struct sp_settings *s)
{
    for (int i = 0; i < s->n; i++)
        if (sp_starts_with(s->at[i].name, "--sglang-") ||
            sp_starts_with(s->at[i].name, "--rollout-"))
            s->at[i].read = true;
}

bool sp_spell_slime(const struct sp_launch_file *file, struct sp_settings *s, int64_t replicas)
{
    char batch[32], seq[32];
    if (!sp_said(s, "--rollout-batch-size"))
        return true;
    if (sp_setting_is(s, "--train-backend", "fsdp"))
        return sp_fail_in(
            s, "slime's --train-backend fsdp is not supported: give the plan as options");
    if (!sp_read_rollout(file, s))
        return false;
    pass_rollout(s);
    const int64_t made = batch_of(s),
                  sequences = sp_setting_whole(s, "--global-batch-size", 1, made),
                  length = length_of(s);
    snprintf(batch, sizeof batch, "%lld", (long long)sequences);
    snprintf(seq, sizeof seq, "%lld", (long long)length);
    sp_launch_note(s,
                   "slime: only the training step, without rollouts; the maximum lengths are used");
    if (sp_said(s, "--rollout-max-response-len") && !sp_said(s, "--rollout-max-prompt-len"))
        sp_launch_note(s, "no --rollout-max-prompt-len: sequences of answers only; give --seq");
    return add_missing(s, "--use-distributed-optimizer", "") &&
           (sp_said(s, "--fp16") || add_missing(s, "--bf16", "")) &&
           spell_tokens(s, length, sequences, replicas) && sp_add_setting(s, "--seq-length", seq) &&
           (sequences == 0 || add_missing(s, "--global-batch-size", batch));
}
