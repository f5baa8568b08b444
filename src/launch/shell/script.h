/* A shell's script as the commands that it would run, without running any. */
#ifndef SP_LAUNCH_SCRIPT_H
#define SP_LAUNCH_SCRIPT_H

#include "launch/fields/settings.h"

/* A command: its words, and the line that each stands on. What is not known is a mark inside of a
 * word (state.h). `open`: it stands in a branch that nothing decides. */
struct sp_script_command {
    const char **words;
    int *lines;
    int n;
    bool open;
};

struct sp_script {
    struct sp_script_command *commands;
    int n;
    struct sp_shell *shell; /* names and values at the end */
};

/* Reads a script: names, quotes, lists, ${NAME:-default}, arithmetic, conditions, loops over known
 * words, functions, here-documents, eval and `bash -c`. `set`: names that were typed with their
 * values, "NAME=VALUE"; they win. Nothing is run and no file is opened. What is left out (branches
 * that nothing decides, files that the script reads in) is said in remarks. An error where the text
 * grows without end, or a typed pair is none. */
bool sp_read_script(const char *text, const char *const *set, int n_set, const char *origin,
                    struct sp_script *script, struct sp_launch *launch, struct sp_error *error);

void sp_free_script(struct sp_script *script);

#endif
