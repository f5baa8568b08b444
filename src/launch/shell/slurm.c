/* Options of launchers, and "#SBATCH" lines: nodes, GPUs and tasks of a node. */
#include "launch/shell/slurm.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/shell/expand.h"

enum { MOST = 1000000 };

/* A whole number that ends the text, after a last colon: "8", "gpu:8", "gpu:a100:8"; else 0. */
static int64_t count_in(const char *text)
{
    char *end;
    const char *const colon = strrchr(text, ':');
    const char *const digits = colon ? colon + 1 : text;
    const long long n = strtoll(digits, &end, 10);
    return end > digits && (*end == '\0' || strchr(" \t\r\n", *end)) && n > 0 && n <= MOST ? n : 0;
}

/* deepspeed's "HOST:0,1@HOST:0,1": the devices that it names. */
static int64_t count_included(const char *list)
{
    int64_t n = 0;
    for (const char *c = list; *c; c++)
        n += *c == ':' || *c == ',';
    return n;
}

int64_t sp_count_ids(const char *list)
{
    int64_t n = 0;
    for (const char *c = list; *c; c += strcspn(c, ","), c += *c == ',')
        n++;
    return n;
}

/* Options of launchers. */
static const struct {
    const char *name;
    enum sp_amount amount;
} options[] = {
    {"--nnodes", SP_NODES},
    {"--num_nodes", SP_NODES},
    {"--num-nodes", SP_NODES},
    {"--nodes", SP_NODES},
    {"--num_machines", SP_NODES},
    {"--num-machines", SP_NODES},
    {"--actor-num-nodes", SP_NODES}, /* slime */
    {"-N", SP_NODES},
    {"--nproc_per_node", SP_GPUS},
    {"--nproc-per-node", SP_GPUS},
    {"--num_gpus", SP_GPUS},
    {"--gpus-per-node", SP_GRANTED},
    {"--gpus_per_node", SP_GPUS},
    {"--gres", SP_GRANTED},
    {"--actor-num-gpus-per-node", SP_GPUS},
    {"--ntasks-per-node", SP_TASKS},
    {"--num_processes", SP_PROCESSES},
    {"--num-processes", SP_PROCESSES},
    {"--include", SP_PROCESSES},
    {"--ntasks", SP_ALL},
    {"-n", SP_ALL},
    {"-np", SP_ALL},
    {"--gpus", SP_ALL},
    {"-G", SP_ALL},
};

/* Takes "--name=value" or "--name" with the next word into fields that are still unset. */
void sp_take_amount(const char *word, const char *next, int64_t amount[SP_AMOUNTS])
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const size_t n = strlen(options[i].name);
        if (strncmp(word, options[i].name, n) != 0)
            continue;
        const bool glued = n == 2 && word[n] >= '0' && word[n] <= '9'; /* "-N4" */
        const char *const value = glued             ? word + n
                                  : word[n] == '='  ? word + n + 1
                                  : word[n] == '\0' ? next
                                                    : NULL;
        int64_t *const to = &amount[options[i].amount];
        if (value && *to == 0)
            *to = strchr(value, SP_MARK_END)                                ? SP_AMOUNT_UNKNOWN
                  : strchr(value, ':') && options[i].amount == SP_PROCESSES ? count_included(value)
                                                                            : count_in(value);
    }
}

/* Reads the requests of "#SBATCH" lines that are not set yet; the line of the GPUs, 0: none. */
static int read_lines(const char *text, int64_t amount[SP_AMOUNTS])
{
    static const char mark[] = "#SBATCH";
    int at = 0, gpus_line = 0;
    for (; text; text = (text = strchr(text, '\n')) ? text + 1 : NULL) {
        const int64_t before = amount[SP_GRANTED];
        at++;
        char line[200], *rest = line, *word;
        if (strncmp(text, mark, sizeof mark - 1) != 0)
            continue;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text + sizeof mark - 1, "\r\n#"),
                 text + sizeof mark - 1);
        while ((word = strsep(&rest, " \t")) != NULL) {
            char next[64] = "";
            if (rest)
                snprintf(next, sizeof next, "%.*s", (int)strcspn(rest, " \t"), rest);
            sp_take_amount(word, next, amount);
        }
        gpus_line = amount[SP_GRANTED] != before ? at : gpus_line;
    }
    return gpus_line;
}

struct sp_slurm sp_start_job(struct sp_shell *shell, const char *text, const char *const *words,
                             int n)
{
    int64_t amount[SP_AMOUNTS] = {0};
    for (int i = 0; i < n; i++)
        sp_take_amount(words[i], i + 1 < n ? words[i + 1] : "", amount);
    for (int k = 0; k < SP_AMOUNTS; k++) /* its lines may give what the command does not */
        amount[k] = amount[k] > 0 ? amount[k] : 0;
    const int gpus_line = read_lines(text, amount);
    const struct sp_slurm slurm = {amount[SP_NODES], amount[SP_GRANTED], amount[SP_TASKS],
                                   amount[SP_ALL], gpus_line};
    const struct {
        const char *name;
        int64_t value;
    } names[] = {{"SLURM_NNODES", slurm.nodes},
                 {"SLURM_JOB_NUM_NODES", slurm.nodes},
                 {"SLURM_GPUS_ON_NODE", slurm.gpus},
                 {"SLURM_GPUS_PER_NODE", slurm.gpus},
                 {"SLURM_NTASKS_PER_NODE", slurm.tasks},
                 {"SLURM_NTASKS", slurm.nodes * slurm.tasks},
                 {"SLURM_NPROCS", slurm.nodes * slurm.tasks}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%lld", (long long)names[i].value);
        if (names[i].value > 0)
            sp_shell_export(&shell->scope, &shell->text, names[i].name,
                            sp_shell_clean(&shell->text, digits));
    }
    return slurm;
}
