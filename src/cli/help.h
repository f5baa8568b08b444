/* --help, of the program and of each command. */
#ifndef SP_HELP_H
#define SP_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* Options that every command takes; they follow the command's own in its table. */
extern const struct sp_taken sp_common_options[SP_COMMON_OPTIONS];
extern const size_t sp_n_common_options;

void sp_print_help(const struct sp_command *const *commands, size_t n, FILE *out);
void sp_print_command_help(const struct sp_command *command, FILE *out);

#endif
