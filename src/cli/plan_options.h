/* A plan from the command line: what is given, what is inferred. */
#ifndef SP_PLAN_OPTIONS_H
#define SP_PLAN_OPTIONS_H

#include "cli/command.h"

/* Everything a step is estimated from. */
struct sp_planned {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    bool own_profile;
    struct sp_plan plan;
    const char *remat;  /* name of the policy */
    char inferred[256]; /* what was not given, "dp 64, ..." */
    const char *batch_origin;
};

extern const char *const sp_policy_names[], *const sp_schedule_names[];

/* Options that describe one plan. */
#define SP_PLAN_OPTIONS                                                                              \
    {"dp", "N",  SP_WHOLE, 1,                                                                        \
     1e9,  NULL, NULL,     "data-parallel replicas (default: what the other degrees leave)"},        \
        {"tp", "N", SP_WHOLE, 1, 1e6, NULL, NULL, "tensor parallelism (default: 1)"},                \
        {"pp", "N", SP_WHOLE, 1, SP_MAX_STAGES, NULL, NULL, "pipeline stages (default: 1)"},         \
        {"vpp",    "N",                                                                              \
         SP_WHOLE, 1,                                                                                \
         1e4,      NULL,                                                                             \
         NULL,     "chunks of layers on a stage (default: 1); more means the interleaved schedule"}, \
        {"cp", "N", SP_WHOLE, 1, 1e6, NULL, NULL, "context parallelism (default: 1)"},               \
        {"ep", "N", SP_WHOLE, 1, 1e6, NULL, NULL, "expert parallelism (default: 1)"},                \
        {"etp", "N",  SP_WHOLE, 1,                                                                   \
         1e6,   NULL, NULL,     "tensor parallelism inside an expert (default: 1)"},                 \
        {"sp", "on|off",  SP_CHOICE, 0,                                                              \
         0,    sp_on_off, NULL,      "sequence parallelism with TP (default: on)"},                  \
        {"zero",                                                                                     \
         "STAGE",                                                                                    \
         SP_WHOLE,                                                                                   \
         0,                                                                                          \
         3,                                                                                          \
         NULL,                                                                                       \
         NULL,                                                                                       \
         "ZeRO stage; 3 is FSDP (default: 3 for torchtitan, llm-foundry and maxtext, else 1)"},      \
        {"fsdp",   "N",                                                                              \
         SP_WHOLE, 1,                                                                                \
         1e9,      NULL,                                                                             \
         NULL,     "ZeRO 3 over groups of N devices, replicated beyond (default: all of dp x cp)"},  \
        {"micro-batch", "SEQS", SP_WHOLE, 1,                                                         \
         1e9,           NULL,   NULL,     "sequences of one micro-batch (default: 1)"},              \
        {"remat",                                                                                    \
         "POLICY",                                                                                   \
         SP_CHOICE,                                                                                  \
         0,                                                                                          \
         0,                                                                                          \
         sp_policy_names,                                                                            \
         NULL,                                                                                       \
         "what is recomputed: none, selective (attention's core), mlp, dots, full, alternate "       \
         "(every second matmul), qkv (all but q, k, v); default: the lightest of none, the "         \
         "framework's selective and full that fits"},                                                \
        {"remat-layers",                                                                             \
         "SHARE",                                                                                    \
         SP_NUMBER_OPTION,                                                                           \
         0,                                                                                          \
         1,                                                                                          \
         NULL,                                                                                       \
         NULL,                                                                                       \
         "share of the layers that --remat applies to (default: all)"},                              \
        {"offload", "on|off",                                                                        \
         SP_CHOICE, 0,                                                                               \
         0,         sp_on_off,                                                                       \
         NULL,      "activations that are kept wait in the host's memory (default: off)"},           \
        {"placement",                                                                                \
         "NAME",                                                                                     \
         SP_CHOICE,                                                                                  \
         0,                                                                                          \
         0,                                                                                          \
         sp_placement_names,                                                                         \
         NULL,                                                                                       \
         "neighbours after TP and CP: dp-inside (default), or pp-inside for stages on one node"},    \
        {"tp-axes",                                                                                  \
         "AxBxC",                                                                                    \
         SP_TEXT,                                                                                    \
         0,                                                                                          \
         0,                                                                                          \
         NULL,                                                                                       \
         NULL,                                                                                       \
         "torus: how far a TP group reaches along each axis, such as 4x2x1 (default: not said, "     \
         "axes in proportion)"},                                                                     \
        {"schedule", "NAME",                                                                         \
         SP_CHOICE,  0,                                                                              \
         0,          sp_schedule_names,                                                              \
         NULL,       "pipeline schedule (default: 1f1b; interleaved with --vpp)"},                   \
        {"imbalance",                                                                                \
         "FACTOR",                                                                                   \
         SP_NUMBER_OPTION,                                                                           \
         1,                                                                                          \
         100,                                                                                        \
         NULL,                                                                                       \
         NULL,                                                                                       \
         "tokens of the busiest expert rank over the mean (default: 1)"},                            \
    {                                                                                                \
        "framework", "NAME|FILE", SP_TEXT, 0, 0, NULL, NULL,                                         \
            "whose memory and overlap habits count (default: the profile's; nemo on GPUs, "          \
            "torchtitan with ZeRO 3, maxtext on TPUs)"                                               \
    }

extern const char *const sp_on_off[], *const sp_placement_names[];

/* Loads model, machine, framework, precision, profile, and makes the plan. What does not fit
 * together is an error that names the numbers. */
bool sp_plan_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* The same without a plan: model, machine, framework, precision, profile, batch and sequence, for
 * `search` (whose plan has `seq`, `batch` and `dtype` set). */
bool sp_base_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* And the plan alone, on what sp_base_of loaded. */
bool sp_plan_on(const struct sp_args *args, struct sp_planned *planned, struct sp_error *error);

/* The inputs of the estimator. */
struct sp_step_inputs sp_inputs_of(const struct sp_planned *planned);

/* Sets the policy of that name. */
void sp_use_policy(struct sp_planned *planned, const char *name);

#endif
