/* Scripts that a command of a script runs in a shell of their own. */
#ifndef SP_LAUNCH_SCRIPT_CHILD_H
#define SP_LAUNCH_SCRIPT_CHILD_H

#include "launch/shell/script_run.h"

/* Records a command, and reads the script that it runs: `bash -c TEXT`, a here-document, or a file,
 * `sbatch FILE`, `A=1 setsid bash FILE B`, `./FILE.sh`, that the script wrote or that lies beside
 * it. Such a shell has the names that are exported and parameters of its own; what it changes is
 * gone behind it. A file that is not there is remembered. */
void sp_launch_command(struct run *run, struct words *words);

#endif
