/* How many devices a script starts: what its launchers and "#SBATCH" lines say. */
#include "launch/shell/world.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"

#include "launch/shell/slurm.h"

enum { MOST = 1000000 };

/* Whether a command's own options say how many processes or devices it starts. */
static bool starts(const struct sp_script_command *command)
{
    return command->n > 0 &&
           sp_is_listed("srun,mpirun,mpiexec,sbatch,docker,podman", command->words[0], '\0');
}

/* Whether a launcher of processes only moves files or asks what there is. */
static bool moves_files(const struct sp_script_command *command)
{
    bool moves = false;
    for (int j = 1; j < command->n && !moves; j++)
        moves = sp_is_listed("rsync,cp,mv,rm,mkdir,ls,hostname,nvidia-smi,rocm-smi,pkill",
                             command->words[j], '\0');
    return moves && starts(command);
}

/* What the commands say, and the last line of each amount that was taken. */
struct told {
    int64_t amount[SP_AMOUNTS];
    int line[SP_AMOUNTS];
    bool hosts; /* a file that is not opened gives the nodes */
};

/* Takes the numbers that a command gives, of those that are still unset. */
static void take_command(const struct sp_script_command *command, struct told *told)
{
    const struct told before = *told;
    for (int j = 0; j < command->n; j++) {
        told->hosts |= strncmp(command->words[j], "--hostfile", 10) == 0;
        sp_take_amount(command->words[j], j + 1 < command->n ? command->words[j + 1] : "",
                       told->amount);
    }
    if (!starts(command)) /* "-n" of others is anything */
        told->amount[SP_ALL] = before.amount[SP_ALL];
    for (int k = 0; k < SP_AMOUNTS; k++)
        if (told->amount[k] != before.amount[k])
            told->line[k] = command->lines[0];
}

/* Whether a launcher's words hold the training as text (`srun bash -c "python train.py ..."`). */
static bool holds(const struct sp_script_command *command, const struct sp_script_command *training)
{
    bool all = starts(command) && training->n > 0;
    for (int j = 0; j < training->n && j < 3 && all; j++) {
        bool held = false;
        for (int i = 1; i < command->n && !held; i++)
            held = strchr(command->words[i], ' ') && strstr(command->words[i], training->words[j]);
        all = held;
    }
    return all;
}

/* An amount that nothing here knows counts as not given. */
static void drop_unknown(struct told *told)
{
    for (int k = 0; k < SP_AMOUNTS; k++)
        told->amount[k] = told->amount[k] == SP_AMOUNT_UNKNOWN ? 0 : told->amount[k];
}

/* Numbers given by the commands: by the training (-1: none) and what holds it, then by the others
 * from the first or from the last. What the training gives and nothing here knows stays unknown,
 * unless the others are asked from the last. */
static struct told ask(const struct sp_script *script, int training, bool from_last)
{
    const struct sp_script_command *const commands = script->commands;
    struct told told = {0};
    if (training >= 0)
        take_command(&commands[training], &told);
    for (int i = 0; i < script->n && training >= 0; i++)
        if (holds(&commands[i], &commands[training]))
            take_command(&commands[i], &told);
    if (from_last)
        drop_unknown(&told);
    for (int i = 0; i < script->n; i++) {
        const int at = from_last ? script->n - 1 - i : i;
        if (!moves_files(&commands[at]) && commands[at].n > 0 && at != training)
            take_command(&commands[at], &told);
    }
    for (int i = 0; i < script->n; i++) /* of the last one: before it a server may start */
        if (commands[i].visible > 0 && !moves_files(&commands[i]))
            told.amount[SP_VISIBLE] = commands[i].visible;
    if (training >= 0 && commands[training].visible > 0)
        told.amount[SP_VISIBLE] = commands[training].visible;
    drop_unknown(&told);
    return told;
}

/* The devices that follow, with those of the job's lines where the commands say none. */
static void count(const struct told *told, const struct sp_slurm slurm, struct sp_launch *launch)
{
    const int64_t *const amount = told->amount;
    const int64_t nodes = amount[SP_NODES] > 0 ? amount[SP_NODES] : slurm.nodes,
                  tasks = amount[SP_TASKS] > 0 ? amount[SP_TASKS] : slurm.tasks,
                  said = amount[SP_GPUS] > 0 ? amount[SP_GPUS]
                         : slurm.gpus > 0    ? slurm.gpus
                                             : amount[SP_VISIBLE],
                  all = amount[SP_ALL] > 0 ? amount[SP_ALL] : slurm.all,
                  gpus = said == 0 && tasks > 1 ? tasks : said; /* a process a device */
    launch->devices = launch->per_node = 0;
    if (amount[SP_PROCESSES] > 0)
        sp_launch_devices(launch, nodes, amount[SP_PROCESSES], 0);
    else if (gpus == 0 && all > 1 && all > nodes)
        sp_launch_devices(launch, nodes, all, 0);
    else if (gpus > 0 && (nodes > 0 || (slurm.gpus == 0 && !told->hosts)) && gpus * nodes <= MOST)
        sp_launch_devices(launch, nodes, 0, gpus);
}

void sp_count_devices(const struct sp_script *script, struct sp_launch *launch)
{
    const struct told told = ask(script, -1, false);
    count(&told, script->slurm, launch);
}

void sp_count_training(const struct sp_script *script, int training, struct sp_launch *launch)
{
    const struct sp_script_command *const command = &script->commands[training];
    const struct told first = ask(script, training, false), last = ask(script, training, true);
    struct sp_launch other = {0};
    int at = 0, to = 0;
    count(&first, script->slurm, launch);
    count(&last, script->slurm, &other);
    if (launch->devices == other.devices)
        return;
    for (int k = 0; k < SP_AMOUNTS; k++)
        if (first.amount[k] != last.amount[k]) {
            at = first.line[k] > 0 ? first.line[k] : command->lines[0];
            to = last.line[k];
        }
    snprintf(launch->two_sizes, sizeof launch->two_sizes,
             "lines %d and %d start different numbers of devices (%lld and %lld)", at, to,
             (long long)launch->devices, (long long)other.devices);
    launch->devices = launch->per_node = 0;
}
