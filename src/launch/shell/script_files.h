/* Scripts inside of a script. */
#ifndef SP_LAUNCH_SCRIPT_FILES_H
#define SP_LAUNCH_SCRIPT_FILES_H

#include "launch/shell/script_run.h"

/* The text that a command runs because the script wrote a file of it before: `bash FILE`,
 * `sbatch FILE`, `./FILE`, `source FILE`; NULL where it runs none. */
const char *sp_written_script(const struct run *run, const struct sp_shell_fields *fields);

/* The here-document that a command runs as a script: `bash <<END`, `sbatch <<END`; NULL where it
 * runs none. */
const char *sp_read_script_text(const struct run *run, const struct sp_shell_fields *fields);

/* Remembers the file that `cat > FILE <<END` or `tee FILE <<END` writes, and what is handed on. */
void sp_keep_file(struct run *run, const struct sp_shell_fields *fields);

#endif
