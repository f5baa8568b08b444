/* Every text that lists the kinds of configs names all of them. */
#include "check.h"

#include <string.h>

#include "cli/command.h"

/* The commands whose help lists kinds, as --help prints it. */
static char *help_of(const char *name)
{
    static char text[1 << 16];
    struct sp_error error = {0};
    const struct sp_command *const command = sp_find_command(name, &error);
    assert_non_null(command);
    snprintf(text, sizeof text, "%s\n%s\n%s", command->summary, command->about,
             command->operands ? command->operands : "");
    return text;
}

static void assert_names(const char *text, const char *word, const char *where)
{
    if (!strstr(text, word))
        fail_msg("%s does not name %s", where, word);
}

static void every_list_names_every_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++) {
        const struct sp_config_kind_info *const info = &sp_config_kinds[kind];
        char folder[64];
        snprintf(folder, sizeof folder, "%s/", info->folder);
        assert_names(help_of("lint"), info->noun, "lint --help");
        assert_names(help_of("show"), info->noun, "show --help");
        assert_names(help_of("list"), info->folder, "list --help");
        assert_names(sp_option_row(SP_O_config_dir, NULL).help, folder, "--config-dir");
    }
}

/* Built-in configs confirm that the table has every folder. */
static void every_built_in_file_has_a_kind(void **state)
{
    (void)state;
    bool has_files[SP_CONFIG_KINDS] = {false};
    for (size_t i = 0; i < sp_n_builtins; i++)
        has_files[sp_builtins[i].kind] = true;
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
        if (!has_files[kind])
            fail_msg("no built-in config in %s/", sp_config_kinds[kind].folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_list_names_every_kind),
        cmocka_unit_test(every_built_in_file_has_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
