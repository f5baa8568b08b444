/* The tables of commands and options as JSON, from which an editor or a page completes words. */
#include "cli/help_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "cli/help.h"
#include "cli/operands.h"

static void add_words(cJSON *object, const char *key, const char *text)
{
    if (text && *text)
        cJSON_AddStringToObject(object, key, text);
}

/* The source of a value: choices, the names of `list LIST`, or files. */
static void add_values(cJSON *out, const struct sp_option *option)
{
    const char *list = NULL;
    const enum sp_operand operand = sp_operand_of(option, &list);
    if (operand == SP_NAMES)
        add_words(out, "list", list);
    if (operand == SP_NAMES || operand == SP_FILES)
        cJSON_AddTrueToObject(out, "file");
    cJSON *const choices = option->choices ? cJSON_AddArrayToObject(out, "choices") : NULL;
    for (int i = 0; choices && option->choices[i]; i++)
        cJSON_AddItemToArray(choices, cJSON_CreateString(option->choices[i]));
}

static cJSON *option_json(const struct sp_option *option)
{
    cJSON *const out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "name", option->name);
    add_words(out, "value", option->metavar);
    add_words(out, "default", option->fallback);
    cJSON_AddStringToObject(out, "help", option->help);
    cJSON_AddStringToObject(out, "heading", sp_heading_title(option->heading));
    if (option->kind == SP_MAYBE)
        cJSON_AddTrueToObject(out, "alone");
    add_values(out, option);
    return out;
}

static cJSON *command_json(const struct sp_command *command)
{
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(command, options);
    const char *list = "";
    cJSON *const out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "name", command->name);
    cJSON_AddStringToObject(out, "summary", command->summary);
    cJSON_AddStringToObject(out, "about", command->about);
    add_words(out, "operands", command->operands);
    if (sp_operand_of_command(command, &list) == SP_NAMES)
        cJSON_AddStringToObject(out, "list", list);
    cJSON_AddBoolToObject(out, "streams", command->streams != NULL);
    cJSON *const all = cJSON_AddArrayToObject(out, "options");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(all, option_json(&options[i]));
    cJSON *const examples = cJSON_AddArrayToObject(out, "examples");
    for (const struct sp_example *example = command->examples; example->line; example++) {
        cJSON *const one = cJSON_CreateObject();
        char *const line = sp_make_text("scaleplan %s", example->line);
        cJSON_AddStringToObject(one, "line", line);
        free(line);
        cJSON_AddStringToObject(one, "what", example->what);
        cJSON_AddItemToArray(examples, one);
    }
    return out;
}

void sp_print_help_json(const struct sp_command *const *commands, size_t n, FILE *out)
{
    cJSON *const root = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(root, command_json(commands[i]));
    char *const text = cJSON_Print(root);
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
}
