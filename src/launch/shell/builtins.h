/* Commands of the shell itself that change names or parameters. */
#ifndef SP_LAUNCH_SHELL_BUILTINS_H
#define SP_LAUNCH_SHELL_BUILTINS_H

#include "launch/shell/script_run.h"

/* Runs `shift`, `unset`, `let`, `set`, `printf`, `read`, `mapfile`, `readarray` or `getopts`; false
 * where the command is none of these. */
bool sp_run_builtin(struct run *run, const struct sp_shell_fields *fields, enum status *status);

/* Sets the parameters from 1 on to these values, and unsets later ones. */
void sp_set_parameters(struct run *run, const char *const *values, int n);

/* Adds a function, or with no body the end of one. */
void sp_add_function(struct run *run, const char *name, const char *body, const char *text);

/* Remembers a name's value outside the running function, if there is one and it is not remembered
 * yet. */
void sp_keep_local(struct run *run, const char *name);

/* Gives names that were local their outer values again, until `locals` of them are left. */
void sp_leave_function(struct run *run, int locals);

/* Notes that a text that may give names values is unknown from its start on, if it is. */
void sp_note_unknown(struct run *run, const char *text);

/* Reads `export`, `declare` and similar with the names that they give values; `local`: only the
 * running function sees them. */
void sp_run_declaration(struct run *run, bool local);

/* `exit` and `return`; `break` and `continue`, for a number of loops. */
void sp_exit_script(struct run *run, const struct sp_shell_fields *fields);
void sp_leave_loop(struct run *run, const struct sp_shell_fields *fields);

#endif
