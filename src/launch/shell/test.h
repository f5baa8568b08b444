/* Conditions of a shell's script. */
#ifndef SP_LAUNCH_SHELL_TEST_H
#define SP_LAUNCH_SHELL_TEST_H

#include "launch/shell/state.h"

/* Whether a condition holds; SP_OPEN_TRUTH: unknown. */
enum sp_shell_truth { SP_FALSE, SP_TRUE, SP_OPEN_TRUTH };

/* Evaluates the words between "[" and "]", or "[[" and "]]" (`patterns`: a text is compared with a
 * pattern there). Files are not examined. */
enum sp_shell_truth sp_shell_test(const char *const *words, int n, bool patterns);

/* Whether a text matches a pattern (*, ?, [...]). */
enum sp_shell_truth sp_shell_matches(const char *text, const char *pattern);

#endif
