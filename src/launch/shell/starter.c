/* Which program of a command starts the processes, and what its own words request; the words of the
 * program that it starts do not count. Defaults: torch/distributed/run.py (--nnodes 1,
 * --nproc_per_node 1), accelerate/commands/launch.py, deepspeed/launcher/runner.py. */
#include "launch/shell/starter.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

#include "launch/shell/script_run.h"

static const struct {
    const char *word, *next; /* words that must follow, NULL: any */
    enum sp_starter_kind kind;
    bool ignores;     /* CUDA_VISIBLE_DEVICES, if it is given a number */
    bool module;      /* behind -m */
    const char *idle; /* a framework's own command line, all of whose words count: its name
                         with another next word; NULL: it starts another program */
} starters[] = {
    {"torchrun", NULL, SP_STARTS_ONE, false, false, NULL},
    {"torch.distributed.run", NULL, SP_STARTS_ONE, false, true, NULL},
    {"torch.distributed.launch", NULL, SP_STARTS_ONE, false, true, NULL},
    {"accelerate", "launch", SP_STARTS_ALL_OF_CONFIG, false, false, NULL},
    {"accelerate-launch", NULL, SP_STARTS_ALL_OF_CONFIG, false, false, NULL},
    {"accelerate.commands.launch", NULL, SP_STARTS_ALL_OF_CONFIG, false, true, NULL},
    {"deepspeed", NULL, SP_STARTS_ALL, true, false, NULL},
    {"llamafactory-cli", "train", SP_STARTS_ALL, false, false, "llamafactory-cli without train"},
    {"swift", "sft,pt,rlhf", SP_STARTS_ALL, false, false, "swift without sft, pt or rlhf"},
    {"axolotl", "train", SP_STARTS_ALL, false, false, "axolotl without train"},
};

/* The row of a word, -1: none. A module follows -m; a program comes first, or follows a word that
 * is not a flag awaiting a value. */
static int row_of(const struct sp_script_command *command, int i)
{
    const char *const word = command->words[i], *const before = i > 0 ? command->words[i - 1] : "",
                      *const next = i + 1 < command->n ? command->words[i + 1] : "";
    for (size_t k = 0; k < sizeof starters / sizeof *starters; k++) {
        const bool placed = starters[k].module ? sp_is(before, "-m") : before[0] != '-';
        if (placed && sp_is(sp_base_name(word), starters[k].word) &&
            (!starters[k].next || sp_is_listed(starters[k].next, next, '\0')))
            return (int)k;
    }
    return -1;
}

/* Whether a word is the program that a starter starts, after which its own words end: a script, or
 * the module announced by a switch before it (`module`). */
static bool is_program(const struct sp_script_command *command, int i, bool module)
{
    const char *const word = command->words[i], *const before = command->words[i - 1];
    return sp_is(strrchr(word, '.'), ".py") ||
           (module && word[0] != '-' &&
            (before[0] != '-' || strchr(before, '=') || sp_is_listed("-m,--module", before, '\0')));
}

/* Keeps the first option whose value is unknown here. */
static void name_unknown(const struct sp_script *script, const struct sp_script_command *command,
                         int i, struct sp_starter *starter)
{
    char value[48];
    const char *const word = command->words[i];
    const bool glued = strchr(word, '=') != NULL;
    if (starter->unknown[0])
        return;
    sp_shell_show(&script->shell->text, word, value, sizeof value);
    snprintf(starter->unknown, sizeof starter->unknown, "%s", value);
    if (!glued && i + 1 < command->n) {
        sp_shell_show(&script->shell->text, command->words[i + 1], value, sizeof value);
        snprintf(starter->unknown, sizeof starter->unknown, "%.30s %s", word, value);
    }
    starter->line = command->lines[i];
}

static void take_word(const struct sp_script *script, const struct sp_script_command *command,
                      int i, struct sp_starter *starter)
{
    const char *const word = command->words[i],
                      *const next = i + 1 < command->n ? command->words[i + 1] : "",
                      *const before = i > 0 ? command->words[i - 1] : "";
    int64_t amount[SP_AMOUNTS];
    memcpy(amount, starter->amount, sizeof amount);
    sp_take_amount(word, next, starter->amount);
    for (int k = 0; k < SP_AMOUNTS; k++)
        if (starter->amount[k] == SP_AMOUNT_UNKNOWN && amount[k] != SP_AMOUNT_UNKNOWN)
            name_unknown(script, command, i, starter);
    starter->hosts = starter->hosts || strncmp(word, "--hostfile", 10) == 0;
    starter->config = starter->config || strncmp(word, "--config_file", 13) == 0;
    const char *const per_node =
        strncmp(word, "--nproc", 7) == 0 ? (strchr(word, '=') ? strchr(word, '=') + 1 : next) : "";
    starter->all = starter->all || sp_is_listed("auto,gpu", per_node, '\0');
    const char *const ids = strncmp(word, "--gpu_ids=", 10) == 0 ? word + 10
                            : sp_is(word, "--gpu_ids")           ? next
                                                                 : NULL;
    if (ids && ids[0] >= '0' && ids[0] <= '9')
        starter->ids = sp_count_ids(ids);
    starter->open =
        starter->open || (strchr(word, SP_MARK_END) && word[0] <= SP_LAST_MARK && before[0] != '-');
}

struct sp_starter sp_starter_of(const struct sp_script *script,
                                const struct sp_script_command *command)
{
    struct sp_starter starter = {.line = command->n > 0 ? command->lines[0] : 0};
    int at = 0, row = -1;
    bool module = false;
    int64_t around[SP_AMOUNTS] = {0};
    for (; at < command->n && row < 0; at++) {
        row = row_of(command, at);
        sp_take_amount(command->words[at], at + 1 < command->n ? command->words[at + 1] : "",
                       around);
    }
    for (int i = row < 0 ? 0 : at; i < command->n; i++) {
        if (row >= 0 && !starters[row].idle && is_program(command, i, module))
            break;
        module = module || sp_is_listed("-m,--module", command->words[i], '\0');
        take_word(script, command, i, &starter);
    }
    if (row < 0)
        return starter;
    starter.kind = starters[row].kind;
    starter.nodes = around[SP_NODES] > 0 ? around[SP_NODES] : 0;
    starter.ignores = starters[row].ignores;
    starter.name = starters[row].word;
    return starter;
}

/* The row of a framework's own command line, -1: none; whether it trains, as far as its words are
 * known. */
static int command_line_of(const struct sp_script_command *command, bool *trains)
{
    for (int i = 0; i + 1 < command->n; i++)
        for (size_t k = 0; k < sizeof starters / sizeof *starters; k++) {
            const char *const next = command->words[i + 1];
            if (!starters[k].idle || (i > 0 && command->words[i - 1][0] == '-') ||
                !sp_is(sp_base_name(command->words[i]), starters[k].word))
                continue;
            *trains = strchr(next, SP_MARK_END) || sp_is_listed(starters[k].next, next, '\0');
            return (int)k;
        }
    return -1;
}

bool sp_is_idle(const struct sp_script_command *command)
{
    bool trains = false;
    return command_line_of(command, &trains) >= 0 && !trains;
}

const char *sp_idle_program(const struct sp_script *script)
{
    const char *idle = NULL;
    for (int i = 0; script && i < script->n; i++) {
        bool trains = false;
        const int row = command_line_of(&script->commands[i], &trains);
        if (row >= 0 && trains)
            return NULL;
        idle = row >= 0 ? starters[row].idle : idle;
    }
    return idle;
}
