/* Branches of a script that nothing decides. */
#ifndef SP_LAUNCH_SCRIPT_BRANCHES_H
#define SP_LAUNCH_SCRIPT_BRANCHES_H

#include "launch/shell/expand.h"

/* Names as they were before the branches, and as those left them that came to their end. */
struct sp_branches {
    struct sp_shell_scope before, merged;
    bool some;
    int line;
    const char *by; /* the variable that decides them; "" if unknown */
};

/* Starts branches at a line, which the variable `by` decides; for free(). */
struct sp_branches *sp_start_branches(struct sp_shell *shell, int line, const char *by);

/* Ends a branch: a name keeps what all branches give it, or what was there before with an open end
 * where all add to that; else it is not known. A branch that `stopped` the script changes nothing.
 * The names are those of before then. */
void sp_end_branch(struct sp_branches *branches, struct sp_shell *shell, bool stopped);

/* Makes every name unknown, at that line, whose value is no longer what it was. */
void sp_open_changed(struct sp_shell *shell, const struct sp_shell_scope *before, int line);

/* A copy of names, for free(); and their return. */
struct sp_shell_scope *sp_copy_scope(const struct sp_shell_scope *scope);
void sp_restore_scope(struct sp_shell_scope *scope, struct sp_shell_scope *copy);

/* Leaves the branches with what they have in common; false when each stopped the script. */
bool sp_end_branches(struct sp_branches *branches, struct sp_shell *shell);

#endif
