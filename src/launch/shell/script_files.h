/* Scripts inside of a script. */
#ifndef SP_LAUNCH_SCRIPT_FILES_H
#define SP_LAUNCH_SCRIPT_FILES_H

#include "launch/shell/script_run.h"

/* The text of the file of that name that the script wrote last; NULL: it wrote none. */
const char *sp_written_file(const struct run *run, const char *name);

/* The here-document that a command runs as a script: `bash <<END`, `sbatch <<END`; NULL where it
 * runs none. */
const char *sp_read_script_text(const struct run *run, const struct sp_shell_fields *fields);

/* Remembers the file that `cat > FILE <<END` or `tee FILE <<END` writes, and the text passed on. */
void sp_keep_file(struct run *run, const struct sp_shell_fields *fields);

/* Remembers where `cd` goes: files that are named from then on lie there first. */
void sp_change_folder(struct run *run, const struct sp_shell_fields *fields);

/* A script's text without the characters that mark unknown parts, and with blanks to be filled in,
 * " <YOUR PATH>", as names without a value: a shell would take the "<" for a redirection. */
const char *sp_clean_script(struct sp_shell *shell, const char *text);

/* The text of a file that lies beside the script or above it, or beside the file that it takes in,
 * as a script, and its path; NULL: none. The start of its name may be unknown,
 * "${SCRIPT_DIR}/models/x.sh". */
const char *sp_file_beside(struct run *run, const char *name, const char **where);

#endif
