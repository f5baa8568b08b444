/* How many devices a script starts. */
#ifndef SP_LAUNCH_WORLD_H
#define SP_LAUNCH_WORLD_H

#include "launch/shell/script.h"

/* Devices: nodes times processes (or GPUs) of a node, as torchrun, deepspeed or srun are told, or
 * else "#SBATCH" lines, and those of each of several nodes; 0 if they do not say. */
void sp_count_devices(const struct sp_script *script, struct sp_launch *launch);

/* The same for the command that is read, whose own words come first. Where the others leave two
 * answers, by which of them one asks, there is none, and `two_sizes` says so. */
void sp_count_training(const struct sp_script *script, int training, struct sp_launch *launch);

#endif
