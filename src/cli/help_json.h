/* The tables of commands and options as JSON. */
#ifndef SP_HELP_JSON_H
#define SP_HELP_JSON_H

#include "cli/command.h"

/* Prints the output of `scaleplan help --format json`, or of a COMMAND's: each command with its
 * options, their values, and examples. */
void sp_print_help_json(const struct sp_command *const *commands, size_t n, FILE *out);

#endif
