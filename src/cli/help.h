/* --help, of the program and of each command. */
#ifndef SP_HELP_H
#define SP_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* Options that every command takes; they follow the command's own in its table. */
extern const struct sp_taken sp_common_options[SP_COMMON_OPTIONS];
extern const size_t sp_n_common_options;

/* The output of the program without a command: four tasks, each with its command. */
void sp_print_tasks(const struct sp_command *const *commands, size_t n, FILE *out);

/* The commands. */
void sp_print_help(const struct sp_command *const *commands, size_t n, FILE *out);

/* A command: a screen of it, or with `whole` every option and key, and all examples. */
void sp_print_command_help(const struct sp_command *command, bool whole, FILE *out);

const char *sp_heading_title(enum sp_heading heading);

#endif
