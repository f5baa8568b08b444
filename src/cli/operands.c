/* The kinds of values of options and operands, from their tables. */
#include "cli/operands.h"

#include <string.h>

enum sp_operand sp_operand_of(const struct sp_option *option, const char **list)
{
    if (option->choices)
        return SP_WORDS_OF;
    for (int k = 0; k < SP_CONFIG_KINDS; k++)
        if (strcmp(sp_config_kinds[k].table->name, option->name) == 0) {
            *list = sp_config_kinds[k].folder;
            return SP_NAMES;
        }
    if (option->id == SP_O_get)
        return SP_KEYS;
    if (option->id == SP_O_fix || option->id == SP_O_only || option->id == SP_O_near ||
        option->id == SP_O_explain_rejects)
        return SP_FIELDS_OF;
    if (option->metavar && strstr(option->metavar, "FILE"))
        return SP_FILES;
    if (option->metavar && strcmp(option->metavar, "DIR") == 0)
        return SP_FOLDERS;
    return SP_ANY;
}

enum sp_operand sp_operand_of_command(const struct sp_command *command, const char **list)
{
    static const struct {
        const char *in; /* in the operands of --help */
        enum sp_operand kind;
    } kinds[] = {{".csv", SP_FILES},       {".json", SP_FILES}, {"|", SP_WORDS_OF},
                 {"COMMAND", SP_COMMANDS}, {"NAME", SP_NAMES},  {"FILE", SP_FILES},
                 {"PART", SP_FILES}};
    *list = "";
    for (size_t i = 0; command->operands && i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(command->operands, kinds[i].in))
            return kinds[i].kind;
    return SP_ANY;
}
