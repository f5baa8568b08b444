/* The result of a shell script: the commands that it would run. */
#ifndef SP_LAUNCH_SHELL_COMMANDS_H
#define SP_LAUNCH_SHELL_COMMANDS_H

#include <stdbool.h>

#include "launch/shell/slurm.h"

/* A command: its words, and the line of each. An unknown part is a mark inside a word (state.h).
 * `open`: it is in a branch with an unknown condition. */
struct sp_script_command {
    const char **words;
    int *lines;
    int n;
    int visible; /* devices that CUDA_VISIBLE_DEVICES lets it see; 0: not given */
    int visible_line;
    bool open;
};

struct sp_script {
    struct sp_script_command *commands;
    int n;
    struct sp_script_file {
        const char *name, *text;
    } * files; /* that the script writes itself */
    int n_files;
    struct sp_shell *shell; /* names and values at the end */
    struct sp_slurm slurm;  /* of the script, or of the job that it starts */
    const char *missing;    /* a script that it runs and that is missing; NULL: none */
    int missing_line;
};

#endif
