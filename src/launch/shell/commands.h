/* The result of a shell script: the commands that it would run. */
#ifndef SP_LAUNCH_SHELL_COMMANDS_H
#define SP_LAUNCH_SHELL_COMMANDS_H

#include <stdbool.h>

#include "launch/shell/slurm.h"

/* A command: its words, and the line that each stands on. An unknown part is a mark inside a word
 * (state.h). `open`: it stands in a branch that nothing decides. */
struct sp_script_command {
    const char **words;
    int *lines;
    int n;
    int visible; /* devices that CUDA_VISIBLE_DEVICES lets it see; 0: not said */
    bool open;
};

struct sp_script {
    struct sp_script_command *commands;
    int n;
    struct sp_shell *shell; /* names and values at the end */
    struct sp_slurm slurm;  /* of the script, or of the job that it starts */
    const char *missing;    /* a script that it runs and that is not here; NULL: none */
    int missing_line;
};

#endif
