/* slime: Megatron-LM's arguments behind those of reinforcement learning, and what it sets where
 * they say nothing (slime/utils/arguments.py, slime/backends/megatron_utils/arguments.py). */
#include <stdio.h>

#include "launch/megatron/megatron.h"

static bool add_missing(struct sp_settings *s, const char *name, const char *value)
{
    return sp_said(s, name) || sp_add_setting(s, name, value);
}

/* Answers of a rollout, shared by its steps; 0: they do not say it. */
static int64_t batch_of(struct sp_settings *s)
{
    const int64_t prompts = sp_setting_whole(s, "--rollout-batch-size", 1, 0),
                  answers = sp_setting_whole(s, "--n-samples-per-prompt", 1, 1),
                  steps = sp_setting_whole(s, "--num-steps-per-rollout", 1, 0);
    return steps > 0 ? prompts * answers / steps : 0;
}

bool sp_spell_slime(struct sp_settings *s)
{
    char batch[32];
    if (!sp_said(s, "--rollout-batch-size") || !sp_said(s, "--num-rollout"))
        return true;
    const int64_t sequences = batch_of(s);
    snprintf(batch, sizeof batch, "%lld", (long long)sequences);
    sp_launch_note(s, "reinforcement learning (slime): its step of training alone, without "
                      "rollouts");
    if (sp_peek_setting(s, "--use-dynamic-batch-size"))
        sp_launch_note(s, "micro-batches of so many tokens (--max-tokens-per-gpu): read as "
                          "--micro-batch-size has them");
    return add_missing(s, "--use-distributed-optimizer", "") &&
           (sp_said(s, "--fp16") || add_missing(s, "--bf16", "")) &&
           add_missing(s, "--micro-batch-size", "1") && add_missing(s, "--seq-length", "4096") &&
           (sequences == 0 || add_missing(s, "--global-batch-size", batch));
}
