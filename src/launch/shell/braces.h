/* Words in braces: a{b,c} and {1..3}. */
#ifndef SP_LAUNCH_SHELL_BRACES_H
#define SP_LAUNCH_SHELL_BRACES_H

#include "launch/shell/state.h"

/* The words, as they stand in a script, that braces make of one; a word without braces is itself.
 */
void sp_shell_unbrace(struct sp_shell_text *text, const char *word, struct sp_shell_fields *words);

#endif
