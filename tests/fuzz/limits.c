/* Sizes, counts and products from 0 to 10^18: every numeric option of every command, and every
 * field of model and machine, takes each extreme value in turn. The program answers with finite
 * numbers or refuses. With SCALEPLAN_THIRD=0, 1 or 2 only a third of them, another one for each
 * option. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/words.h"
#include "cli/help.h"

static const char *const lines[] = {
#include "../unit/command_lines.inc"
};

static const char *const extremes[] = {"0",     "-0",    "1",   "2",    "3",    "0.5",  "1e-300",
                                       "1000",  "1e6",   "1e9", "1e12", "1e15", "1e18", "1e19",
                                       "1e300", "1e999", "nan", "inf",  "-1",   "0x10", ""};
enum { EXTREMES = sizeof extremes / sizeof *extremes };

static long met, tried;
static int third = -1; /* all */

static void try(const char *line, const char *option, const char *value)
{
    char copy[LINE], *words[WORDS];
    const long at = met++;
    if (third >= 0 && (at + at / EXTREMES) % 3 != third)
        return;
    int n = cut(line, copy, words);
    words[n++] = (char *)(uintptr_t)option;
    words[n++] = (char *)(uintptr_t)value;
    words[n] = NULL;
    alarm(60); /* a hang is a failure */
    fuzz_command(n, words);
    tried++;
}

static const struct sp_command *command_of(const char *line)
{
    struct sp_error error = {0};
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
    return sp_find_command(name, &error);
}

static bool is_numeric(const struct sp_option *option)
{
    return option->kind == SP_REAL || option->kind == SP_WHOLE || option->kind == SP_LENGTHS ||
           option->kind == SP_COUNTED || strcmp(option->name, "batch") == 0;
}

static void every_option(const char *line)
{
    const struct sp_command *const command = command_of(line);
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(command, options);
    for (size_t o = 0; o < n; o++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", options[o].name);
        for (int v = 0; v < EXTREMES && is_numeric(&options[o]); v++)
            try(line, name, extremes[v]);
    }
}

static void every_field(const struct sp_field_table *table, const char *line)
{
    for (size_t f = 0; f < table->n; f++)
        for (int v = 0; v < EXTREMES; v++) {
            char set[160];
            if (table->fields[f].type == SP_FIELD_PROSE)
                continue;
            snprintf(set, sizeof set, "%s.%s=%s", table->name, table->fields[f].key, extremes[v]);
            try(line, "--set", set);
        }
}

int main(int argc, char **argv)
{
    /* A command's first lines; all of them take too long under a sanitizer. */
    const int most = argc > 1 ? atoi(argv[1]) : 3;
    const char *before = "", *const asked = getenv("SCALEPLAN_THIRD");
    int of_command = 0;
    if (asked)
        third = atoi(asked);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const size_t n = strcspn(lines[i], " ");
        of_command = strncmp(lines[i], before, n + 1) == 0 ? of_command + 1 : 0;
        before = lines[i];
        const struct sp_command *const command = command_of(lines[i]);
        if (of_command < most && !command->stream)
            every_option(lines[i]);
        else if (of_command < most && strcmp(command->name, "step") == 0)
            every_option(lines[i]);
    }
    every_field(&sp_model_table, "fit --model llama2-13b --hw v5p-64");
    every_field(&sp_model_table,
                "step --model deepseek-v2-lite --hw h100-8 --tp 2 --batch 64x1024");
    every_field(&sp_hardware_table, "fit --model llama2-13b --hw v5p-64");
    every_field(&sp_hardware_table, "step --model llama3-8b --hw h100-16 --tp 2 --batch 64x1024");
    every_field(&sp_hardware_table, "step --model llama3-8b --hw v5p-64 --tp 2 --batch 64x1024");
    every_field(&sp_precision_table, "step --model llama3-8b --hw h100-16 --batch 64x1024");
    every_field(&sp_framework_table, "step --model llama3-8b --hw h100-16 --batch 64x1024");
    every_field(&sp_profile_table, "step --model llama3-8b --hw h100-16 --pp 2 --batch 64x1024");
    every_field(&sp_law_table, "scaling --flops 1e21 --law chinchilla");
    every_field(&sp_engine_table, "serve --model llama3-8b --hw h100-8");
    every_field(&sp_serving_table, "serve --model llama3-8b --hw h100-8");
    every_field(&sp_number_format_table, "show nvfp4 --kind format");
    every_field(&sp_trend_table, "scaling --year 2030");
    every_field(&sp_drive_table,
                "train --model llama3-8b --tokens 1T --hw h100-64 --storage nvme-gen4");
    printf("%ld command lines, every number finite or the line refused\n", tried);
    return tried > 1000 ? 0 : 1;
}
