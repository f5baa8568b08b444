/* How many devices a script starts. */
#ifndef SP_LAUNCH_WORLD_H
#define SP_LAUNCH_WORLD_H

#include "launch/shell/script.h"

/* Devices: nodes times processes (or GPUs) of a node, as torchrun, deepspeed or srun are told, or
 * else "#SBATCH" lines; 0 if they do not say. */
int64_t sp_devices_of_script(const struct sp_script *script);

#endif
