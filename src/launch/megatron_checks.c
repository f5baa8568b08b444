/* Megatron-LM: what its own checks refuse (validate_args of megatron/training/arguments.py and
 * TransformerConfig, 0.20). */
#include <string.h>

#include "launch/megatron.h"

static int64_t whole(struct sp_settings *s, const char *flag, int64_t otherwise,
                     struct sp_error *error)
{
    return sp_setting_whole(s, flag, 0, otherwise, error);
}

/* Whether stages may be of different sizes. */
static bool is_uneven(struct sp_settings *s)
{
    static const char *const flags[] = {
        "--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers",
        "--pipeline-model-parallel-layout", "--account-for-embedding-in-pipeline-split",
        "--account-for-loss-in-pipeline-split"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (sp_setting(s, flags[i]))
            return true;
    return false;
}

int64_t sp_megatron_replicas(struct sp_settings *s, int64_t devices, struct sp_error *error)
{
    static const char *const flags[] = {"--tensor-model-parallel-size",
                                        "--pipeline-model-parallel-size",
                                        "--context-parallel-size"};
    int64_t left = devices;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const int64_t degree = sp_setting_whole(s, flags[i], 1, 1, error);
        left = left % degree == 0 ? left / degree : 0;
    }
    return left;
}

void sp_check_megatron(struct sp_settings *s, int64_t devices, struct sp_launch *launch,
                       struct sp_error *error)
{
    const int64_t tp = whole(s, "--tensor-model-parallel-size", 1, error),
                  pp = whole(s, "--pipeline-model-parallel-size", 1, error),
                  layers = whole(s, "--num-layers", 0, error),
                  heads = whole(s, "--num-attention-heads", 0, error),
                  micro = whole(s, "--micro-batch-size", 0, error),
                  batch = whole(s, "--global-batch-size", 0, error),
                  groups = sp_setting(s, "--group-query-attention")
                               ? whole(s, "--num-query-groups", 1, error)
                               : heads;
    const int64_t replicas = sp_megatron_replicas(s, devices, error);
    const bool deepspeed = sp_setting(s, "--deepspeed") != NULL;
    const struct {
        bool holds;
        const char *what;
    } checks[] = {
        {pp > 1 && layers % pp != 0 && !deepspeed && !is_uneven(s),
         "--num-layers is no multiple of the stages"},
        {tp > 0 && heads % tp != 0, "--num-attention-heads is no multiple of TP"},
        {tp > 0 && groups > 0 && groups % tp != 0 && tp % groups != 0,
         "TP and --num-query-groups do not divide one another"},
        {pp == 1 && sp_setting(s, "--num-layers-per-virtual-pipeline-stage") != NULL,
         "chunks of layers without stages"},
        {micro == 0, "there is no --micro-batch-size"},
        {micro > 0 && replicas > 0 && batch % (micro * replicas) != 0,
         "--global-batch-size is no multiple of micro-batch x replicas"},
        {sp_setting(s, "--bf16") && sp_setting(s, "--fp16"), "--bf16 and --fp16"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].holds)
            sp_launch_note(launch, "Megatron-LM refuses this: %s", checks[i].what);
}
