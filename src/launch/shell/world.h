/* How many devices a script starts. */
#ifndef SP_LAUNCH_WORLD_H
#define SP_LAUNCH_WORLD_H

#include "launch/shell/script.h"

/* Devices: nodes times processes (or GPUs) of a node, by the options of torchrun, deepspeed or
 * srun, or else by "#SBATCH" lines; and the devices of each of several nodes; 0 if neither is
 * given. */
void sp_count_devices(const struct sp_script *script, struct sp_launch *launch);

/* The same for the command being read, whose own words come first. If the other commands allow
 * two answers, depending on the order in which they are asked, there is none, and `two_sizes` is
 * set. */
void sp_count_training(const struct sp_script *script, int training, struct sp_launch *launch);

#endif
