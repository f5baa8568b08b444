/* How many devices a script starts: what its launchers and "#SBATCH" lines say. */
#include "launch/shell/world.h"

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

/* Numbers given by the commands, the first of each kind; and whether a file that is not opened
 * gives the nodes. */
static bool take_commands(const struct sp_script *script, int64_t amount[SP_AMOUNTS])
{
    bool hosts = false;
    for (int i = 0; i < script->n; i++) {
        const struct sp_script_command *const command = &script->commands[i];
        const int64_t all = amount[SP_ALL];
        if (moves_files(command))
            continue;
        if (command->visible > 0) /* of the last one: before it a server may start */
            amount[SP_VISIBLE] = command->visible;
        for (int j = 0; j < command->n; j++) {
            hosts = hosts || strncmp(command->words[j], "--hostfile", 10) == 0;
            sp_take_amount(command->words[j], j + 1 < command->n ? command->words[j + 1] : "",
                           amount);
        }
        if (!starts(command)) /* "-n" of others is anything */
            amount[SP_ALL] = all;
    }
    return hosts;
}

void sp_count_devices(const struct sp_script *script, struct sp_launch *launch)
{
    int64_t amount[SP_AMOUNTS] = {0};
    const struct sp_slurm slurm = script->slurm;
    const bool hosts = take_commands(script, amount);
    const int64_t nodes = amount[SP_NODES] > 0 ? amount[SP_NODES] : slurm.nodes,
                  tasks = amount[SP_TASKS] > 0 ? amount[SP_TASKS] : slurm.tasks,
                  told = amount[SP_GPUS] > 0 ? amount[SP_GPUS]
                         : slurm.gpus > 0    ? slurm.gpus
                                             : amount[SP_VISIBLE],
                  all = amount[SP_ALL] > 0 ? amount[SP_ALL] : slurm.all,
                  gpus = told == 0 && tasks > 1 ? tasks : told; /* a process a device */
    if (amount[SP_PROCESSES] > 0)
        sp_launch_devices(launch, nodes, amount[SP_PROCESSES], 0);
    else if (gpus == 0 && all > 1 && all > nodes)
        sp_launch_devices(launch, nodes, all, 0);
    else if (gpus > 0 && (nodes > 0 || (slurm.gpus == 0 && !hosts)) && gpus * nodes <= MOST)
        sp_launch_devices(launch, nodes, 0, gpus);
}
