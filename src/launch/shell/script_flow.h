/* Branches and loops of a script. */
#ifndef SP_LAUNCH_SCRIPT_FLOW_H
#define SP_LAUNCH_SCRIPT_FLOW_H

#include "launch/shell/script_branches.h"
#include "launch/shell/script_run.h"

/* Takes this bare word where it stands next. */
bool sp_take_bare(struct run *run, const char *word);

/* Branches that nothing decides: opens them, ends one, and leaves them with a remark on the
 * arguments in their text, which starts at `from`. */
struct sp_branches *sp_open_branches(struct run *run);
void sp_close_branch(struct run *run, struct sp_branches *branches);
void sp_close_branches(struct run *run, struct sp_branches *branches, const char *from);

/* Ends a loop (`most` BREAKS) or a function (RETURNS) that a branch may have left. */
void sp_settle(struct run *run, enum leave most);

/* `if`, `while` and `until`, `for` and `select`, `case`, and lists in braces or parentheses. */
enum status sp_run_if(struct run *run);
enum status sp_run_while(struct run *run);
enum status sp_run_for(struct run *run);
enum status sp_run_case(struct run *run);
enum status sp_run_group(struct run *run);

#endif
