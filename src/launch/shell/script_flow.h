/* Branches and loops of a script. */
#ifndef SP_LAUNCH_SCRIPT_FLOW_H
#define SP_LAUNCH_SCRIPT_FLOW_H

#include "launch/shell/script_branches.h"
#include "launch/shell/script_run.h"

/* Consumes this bare word if it comes next. */
bool sp_take_bare(struct run *run, const char *word);

/* Branches with an unknown condition: opens them, ends one, and leaves them with a remark on the
 * arguments in their text, which starts at `from`. */
struct sp_branches *sp_open_branches(struct run *run);
void sp_close_branch(struct run *run, struct sp_branches *branches);
void sp_close_branches(struct run *run, struct sp_branches *branches, const char *from);

/* Doubts about the code around a loop or a function: a branch with an unknown condition may have
 * left it, so that the following commands may not run. */
struct sp_doubts {
    enum leave doubtful;
    struct sp_shell_scope *doubt;
};

/* Starts a loop or a function, which has its own doubts, and ends one (`most`: BREAKS or
 * RETURNS); names changed in doubt are then unknown. */
struct sp_doubts sp_start_doubts(struct run *run);
void sp_end_doubts(struct run *run, struct sp_doubts around, enum leave most);

/* Makes the names that a command changed in doubt unknown. */
void sp_doubt_changes(struct run *run);

/* Reads the handlers of `trap`: any of them may run here. */
void sp_run_handlers(struct run *run);

/* `if`, `while` and `until`, `for` and `select`, `case`, and lists in braces or parentheses. */
enum status sp_run_if(struct run *run);
enum status sp_run_while(struct run *run);
enum status sp_run_for(struct run *run);
enum status sp_run_case(struct run *run);
enum status sp_run_group(struct run *run);

#endif
