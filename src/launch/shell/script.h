/* A shell script as the commands that it would run, without running any. */
#ifndef SP_LAUNCH_SCRIPT_H
#define SP_LAUNCH_SCRIPT_H

#include "launch/fields/settings.h"
#include "launch/shell/commands.h"

/* Reads a script: names, quotes, lists, ${NAME:-default}, arithmetic, conditions, loops over known
 * words, functions, here-documents, eval and `bash -c`. `set`: names that were typed with their
 * values, "NAME=VALUE"; they win. Nothing is run; files that it takes in or runs are read. Remarks
 * name whatever is left out (undecided branches, missing files). An error if the text grows
 * without end, or a typed pair is not "NAME=VALUE". */
bool sp_read_script(const char *text, const char *const *set, int n_set, const char *origin,
                    struct sp_script *script, struct sp_launch *launch, struct sp_error *error);

void sp_free_script(struct sp_script *script);

#endif
