/* Scripts that a script's command runs in a separate shell. */
#ifndef SP_LAUNCH_SCRIPT_CHILD_H
#define SP_LAUNCH_SCRIPT_CHILD_H

#include "launch/shell/script_run.h"

/* Records a command, and reads the script that it runs: `bash -c TEXT`, a here-document, or a file,
 * `sbatch FILE`, `A=1 setsid bash FILE B`, `./FILE.sh`, that the script wrote or that lies beside
 * it. Such a shell has the exported names and its own parameters; its changes are lost afterwards.
 * A missing file is remembered. */
void sp_launch_command(struct run *run, struct words *words);

#endif
