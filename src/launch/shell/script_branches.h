/* Branches of a script with an unknown condition. */
#ifndef SP_LAUNCH_SCRIPT_BRANCHES_H
#define SP_LAUNCH_SCRIPT_BRANCHES_H

#include "launch/shell/expand.h"

/* Names as they were before the branches, and as the completed branches left them. */
struct sp_branches {
    struct sp_shell_scope before, merged;
    bool some;
    int line;
    const char *by; /* the variable that decides them; "" if unknown */
};

/* Starts branches at a line, decided by the variable `by`; for free(). */
struct sp_branches *sp_start_branches(struct sp_shell *shell, int line, const char *by);

/* Ends a branch. A name keeps the value that all branches give it, or, if all branches append to
 * the earlier value, that value with an open end; else it is unknown. A branch that `stopped` the
 * script changes nothing. The names are then reset to those before it. */
void sp_end_branch(struct sp_branches *branches, struct sp_shell *shell, bool stopped);

/* Makes every name unknown, at that line, whose value is no longer what it was. */
void sp_open_changed(struct sp_shell *shell, const struct sp_shell_scope *before, int line);

/* A copy of names, for free(); and restoring it. */
struct sp_shell_scope *sp_copy_scope(const struct sp_shell_scope *scope);
void sp_restore_scope(struct sp_shell_scope *scope, struct sp_shell_scope *copy);

/* Leaves the branches with the values that they have in common; false if each stopped the
 * script. */
bool sp_end_branches(struct sp_branches *branches, struct sp_shell *shell);

#endif
