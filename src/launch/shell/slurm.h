/* Options of launchers, and "#SBATCH" lines. */
#ifndef SP_LAUNCH_SLURM_H
#define SP_LAUNCH_SLURM_H

#include <stdint.h>

/* SP_GPUS are those that a launcher starts on a node, SP_GRANTED those that a job has there;
 * SP_PROCESSES, which accelerate starts, and SP_ALL, tasks or GPUs of a job, are of all nodes
 * together; SP_VISIBLE counts CUDA_VISIBLE_DEVICES of a node. */
enum sp_amount {
    SP_NODES,
    SP_GPUS,
    SP_GRANTED,
    SP_TASKS,
    SP_PROCESSES,
    SP_ALL,
    SP_VISIBLE,
    SP_AMOUNTS
};

/* An amount that is given by something unknown here. */
enum { SP_AMOUNT_UNKNOWN = -1 };

/* Takes "--nnodes=2", or "--nnodes" with the next word, of torchrun, deepspeed, srun, mpirun or
 * accelerate into the corresponding amount unless that is not 0; SP_AMOUNT_UNKNOWN if its value is
 * unknown here. */
void sp_take_amount(const char *word, const char *next, int64_t amount[SP_AMOUNTS]);

/* How many devices a comma-separated list of numbers names ("6,7"). */
int64_t sp_count_ids(const char *list);

/* The resources that a job requests; 0: not given. GPUs and tasks are those of a node, `all`
 * those of the job. `gpus_line`: where the GPUs are requested; 0: not by a line. */
struct sp_slurm {
    int64_t nodes, gpus, tasks, all;
    int gpus_line;
};
struct sp_shell;

/* Starts a job: the lines of its script, overridden by `n` words of the command that starts it, and
 * the names that Slurm sets for it. */
struct sp_slurm sp_start_job(struct sp_shell *shell, const char *text, const char *const *words,
                             int n);

#endif
