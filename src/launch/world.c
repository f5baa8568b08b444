/* How many devices a script starts: what its launchers and "#SBATCH" lines say. */
#include "launch/world.h"

#include <string.h>

#include "launch/slurm.h"

enum { MOST = 1000000 };

int64_t sp_devices_of_script(const struct sp_script *script, const char *text)
{
    int64_t amount[SP_AMOUNTS] = {0};
    bool hosts = false; /* a file that is not opened says the nodes */
    const struct sp_slurm slurm = sp_read_slurm(text);
    for (int i = 0; i < script->n; i++)
        for (int j = 0; j < script->commands[i].n; j++) {
            const struct sp_script_command *const command = &script->commands[i];
            hosts = hosts || strncmp(command->words[j], "--hostfile", 10) == 0;
            sp_take_amount(command->words[j], j + 1 < command->n ? command->words[j + 1] : "",
                           amount);
        }
    if (amount[SP_PROCESSES] > 0)
        return amount[SP_PROCESSES];
    const int64_t nodes = amount[SP_NODES] > 0 ? amount[SP_NODES] : slurm.nodes,
                  tasks = amount[SP_TASKS] > 0 ? amount[SP_TASKS] : slurm.tasks,
                  told = amount[SP_GPUS] > 0 ? amount[SP_GPUS] : slurm.gpus,
                  gpus = told == 0 && tasks > 1 ? tasks : told; /* a process a device */
    if (gpus == 0 || (nodes == 0 && (slurm.gpus > 0 || hosts)))
        return 0;
    const int64_t devices = gpus * (nodes > 0 ? nodes : 1);
    return devices <= MOST ? devices : 0;
}
