/* Completions for shells. */
#ifndef SP_COMPLETION_H
#define SP_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the completion for bash, zsh or fish; false when the shell is none of them. */
bool sp_write_completion(const char *shell, FILE *out);

#endif
