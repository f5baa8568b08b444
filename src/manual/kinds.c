/* Names of kinds, fields and operands as the written manual needs them. */
#include <math.h>
#include <string.h>

#include "manual/manual.h"

static void add(char *out, size_t size, const char *text)
{
    const size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", text);
}

void sp_field_words(const struct sp_field *field, char *out, size_t size)
{
    static const char *const types[] = {
        [SP_FIELD_TEXT] = "text",
        [SP_FIELD_INT] = "whole number",
        [SP_FIELD_REAL] = "number",
        [SP_FIELD_FIGURE] = "number, or {value, textbook, source, note}",
        [SP_FIELD_BOOL] = "true or false",
        [SP_FIELD_ENUM] = "one of ",
        [SP_FIELD_SHAPE] = "shape such as 16x16x16",
        [SP_FIELD_SHAPES] = "list of shapes",
        [SP_FIELD_PROSE] = "text, list or object; not computed with",
    };
    snprintf(out, size, "%s", types[field->type]);
    if (field->type == SP_FIELD_ENUM)
        for (int i = 0; field->names[i]; i++) {
            add(out, size, i ? ", " : "");
            add(out, size, field->names[i]);
        }
    if (field->type == SP_FIELD_INT || field->type == SP_FIELD_REAL ||
        field->type == SP_FIELD_FIGURE) {
        char range[96], min[32], max[32];
        sp_format_double(field->min, min, sizeof min);
        sp_format_double(field->max, max, sizeof max);
        snprintf(range, sizeof range, ", %s to %s%s%s", min, max, field->unit[0] ? " " : "",
                 field->unit);
        add(out, size, range);
    }
    if (field->required)
        add(out, size, "; required");
}

enum sp_operand sp_operand_of(const struct sp_option *option, const char **list)
{
    for (int k = 0; k < SP_CONFIG_KINDS; k++)
        if (strcmp(sp_config_kinds[k].table->name, option->name) == 0) {
            *list = sp_config_kinds[k].folder;
            return SP_NAMES;
        }
    if (option->choices)
        return SP_WORDS_OF;
    if (option->metavar && strstr(option->metavar, "FILE"))
        return SP_FILES;
    if (option->metavar && strcmp(option->metavar, "DIR") == 0)
        return SP_FOLDERS;
    return SP_ANY;
}

enum sp_operand sp_operand_of_command(const struct sp_command *command, const char **list)
{
    static const struct {
        const char *in; /* of what --help calls the operands */
        enum sp_operand kind;
    } kinds[] = {{"|", SP_WORDS_OF}, {"COMMAND", SP_COMMANDS}, {"NAME", SP_NAMES},
                 {"FILE", SP_FILES}, {"PART", SP_FILES},       {".csv", SP_FILES},
                 {".json", SP_FILES}};
    *list = "";
    for (size_t i = 0; command->operands && i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(command->operands, kinds[i].in))
            return kinds[i].kind;
    return SP_ANY;
}
