/* The kinds of values of options and operands, for completions and for a page that offers names. */
#ifndef SP_OPERANDS_H
#define SP_OPERANDS_H

#include "cli/command.h"

/* The value of an option or an operand: names of configs (of the kind in `list`, or of all if it is
 * ""), files, folders, words, another command, keys of the
 * command's answer, fields of a plan, or anything. */
enum sp_operand {
    SP_ANY,
    SP_NAMES,
    SP_FILES,
    SP_FOLDERS,
    SP_WORDS_OF,
    SP_COMMANDS,
    SP_FIELDS_OF,
    SP_KEYS
};
enum sp_operand sp_operand_of(const struct sp_option *option, const char **list);
enum sp_operand sp_operand_of_command(const struct sp_command *command, const char **list);

#endif
