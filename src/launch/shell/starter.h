/* The program of a command that starts the processes of a training: torchrun and similar. */
#ifndef SP_LAUNCH_STARTER_H
#define SP_LAUNCH_STARTER_H

#include "launch/shell/commands.h"

/* What it starts by default: one process on one node, or one on each device. */
enum sp_starter_kind { SP_NO_STARTER, SP_STARTS_ONE, SP_STARTS_ALL, SP_STARTS_ALL_OF_CONFIG };

/* Its own words: amounts of nodes, devices of a node and processes (0: not given,
 * SP_AMOUNT_UNKNOWN: unknown here, `unknown` names the cause), devices by their numbers
 * (`ids`: how many). */
struct sp_starter {
    enum sp_starter_kind kind;
    const char *name;
    int64_t amount[SP_AMOUNTS], ids;
    int64_t nodes; /* on which the words before it start it; 0: not given */
    char unknown[80];
    int line;
    bool all;     /* it is told to start one on each device */
    bool hosts;   /* a file that is not opened gives the nodes */
    bool config;  /* a file may give what its words do not */
    bool open;    /* one of its words is unknown and may be any option */
    bool ignores; /* CUDA_VISIBLE_DEVICES, if it is given a number */
};

/* The starter of a command; SP_NO_STARTER if there is none, with the nodes that any word
 * gives. */
struct sp_starter sp_starter_of(const struct sp_script *script,
                                const struct sp_script_command *command);

/* Whether a command runs a framework's program without training (`swift infer`). */
bool sp_is_idle(const struct sp_script_command *command);

/* The framework's program that a script runs without training ("swift without sft"); NULL: it
 * trains, or runs no such program. */
const char *sp_idle_program(const struct sp_script *script);

#endif
