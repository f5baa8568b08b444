/* completion: a shell's script that completes words of the program's lines. */
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"

static bool streams(int argc, char **argv, struct sp_world *world)
{
    (void)world;
    return argc == 2 && argv[1][0] != '-';
}

static enum sp_exit stream(int argc, char **argv, struct sp_world *world,
                           const struct sp_output *to, struct sp_error *error)
{
    (void)argc;
    (void)world;
    if (!sp_write_completion(argv[1], to->out))
        sp_fail(error, SP_INPUT, "\"%s\" is not one of bash, zsh, fish", sp_safe(argv[1]));
    return SP_OK;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    (void)args;
    (void)report;
    return sp_fail(error, SP_USAGE, "give a shell: scaleplan completion bash, zsh or fish");
}

static const struct sp_example examples[] = {
    {"completion bash > ~/.local/share/bash-completion/completions/scaleplan",
     "bash, from the next shell on"},
    {"completion fish > ~/.config/fish/completions/scaleplan.fish", "for fish"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_completion = {
    .name = "completion",
    .summary = "shell completion of commands, options, names and keys",
    .operands = "[bash|zsh|fish]",
    .about = SP_ABOUT_IN_SHELL(
        "Prints a shell's completion file: commands, options and values, names of configs "
        "(your own too) and keys of --get. For zsh, save it as _scaleplan in a folder of "
        "fpath. `cmake --install` installs all three."),
    .options = NULL,
    .n_options = 0,
    .examples = SP_EXAMPLES_IN_SHELL(examples),
    .run = SP_IN_SHELL(run),
    .streams = streams,
    .stream = SP_IN_SHELL(stream),
};
