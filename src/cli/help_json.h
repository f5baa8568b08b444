/* The tables of commands and options as JSON. */
#ifndef SP_HELP_JSON_H
#define SP_HELP_JSON_H

#include "cli/command.h"

/* Prints what `scaleplan help --format json` does: each command with its options, what may follow
 * each, and its examples. */
void sp_print_help_json(const struct sp_command *const *commands, size_t n, FILE *out);

#endif
