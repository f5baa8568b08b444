/*
 * scaleplan_manual: writes installed documentation at build time.   scaleplan_manual man FOLDER
 *
 * completion FOLDER
 *
 * schema FOLDER
 *
 * reference
 *
 * formulas
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/completion.h"
#include "manual/manual.h"

static FILE *open_in(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "w");
    if (!file)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return file;
}

static bool write_pages(const char *folder)
{
    for (size_t i = 0; i < sp_n_commands + 2; i++) {
        char name[64] = "scaleplan.1";
        if (i < sp_n_commands)
            snprintf(name, sizeof name, "scaleplan-%s.1", sp_commands[i]->name);
        else if (i > sp_n_commands)
            snprintf(name, sizeof name, "scaleplan-config.5");
        FILE *const file = open_in(folder, name);
        if (!file || !sp_write_man_page(name, SCALEPLAN_VERSION, file) || fclose(file) != 0)
            return false;
    }
    return true;
}

static bool write_completions(const char *folder)
{
    static const char *const files[][2] = {
        {"bash", "scaleplan"}, {"zsh", "_scaleplan"}, {"fish", "scaleplan.fish"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *const file = open_in(folder, files[i][1]);
        if (!file || !sp_write_completion(files[i][0], file) || fclose(file) != 0)
            return false;
    }
    return true;
}

static bool write_schemas(const char *folder)
{
    static const char *const extra[] = {"plan", "cases"};
    for (int i = 0; i < SP_CONFIG_KINDS + 2; i++) {
        const char *const kind =
            i < SP_CONFIG_KINDS ? sp_config_kinds[i].folder : extra[i - SP_CONFIG_KINDS];
        char name[64];
        snprintf(name, sizeof name, "%s.json", kind);
        FILE *const file = open_in(folder, name);
        if (!file || !sp_write_schema(kind, file) || fclose(file) != 0)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "man") == 0)
        return write_pages(argv[2]) ? 0 : 1;
    if (argc == 3 && strcmp(argv[1], "completion") == 0)
        return write_completions(argv[2]) ? 0 : 1;
    if (argc == 3 && strcmp(argv[1], "schema") == 0)
        return write_schemas(argv[2]) ? 0 : 1;
    if (argc == 2 && strcmp(argv[1], "reference") == 0) {
        sp_write_config_reference(stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "formulas") == 0) {
        sp_write_formulas(stdout);
        return 0;
    }
    fputs("usage: scaleplan_manual man|completion|schema FOLDER, or reference|formulas\n", stderr);
    return 2;
}
