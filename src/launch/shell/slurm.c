/* What launchers are told, and "#SBATCH" lines: nodes, GPUs and tasks of a node. */
#include "launch/shell/slurm.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Options of launchers. */
static const struct {
    const char *name;
    enum sp_amount amount;
} options[] = {
    {"--nnodes", SP_NODES},
    {"--num_nodes", SP_NODES},
    {"--num-nodes", SP_NODES},
    {"--nodes", SP_NODES},
    {"--actor-num-nodes", SP_NODES}, /* slime */
    {"-N", SP_NODES},
    {"--nproc_per_node", SP_GPUS},
    {"--nproc-per-node", SP_GPUS},
    {"--num_gpus", SP_GPUS},
    {"--gpus-per-node", SP_GPUS},
    {"--gpus_per_node", SP_GPUS},
    {"--gres", SP_GPUS},
    {"--actor-num-gpus-per-node", SP_GPUS},
    {"--ntasks-per-node", SP_TASKS},
    {"--num_processes", SP_PROCESSES},
    {"--num-processes", SP_PROCESSES},
    {"--ntasks", SP_ALL},
    {"-n", SP_ALL},
    {"-np", SP_ALL},
    {"--gpus", SP_ALL},
    {"-G", SP_ALL},
};

/* Takes "--name=value" or "--name" with the next word into what is not said yet. */
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
            *to = count_in(value);
    }
}

struct sp_slurm sp_read_slurm(const char *text)
{
    static const char mark[] = "#SBATCH";
    int64_t amount[SP_AMOUNTS] = {0};
    for (; text; text = (text = strchr(text, '\n')) ? text + 1 : NULL) {
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
    }
    return (struct sp_slurm){amount[SP_NODES], amount[SP_GPUS], amount[SP_TASKS], amount[SP_ALL]};
}
