/* Shared by reading and writing accelerate's YAML. */
#ifndef SP_LAUNCH_ACCELERATE_H
#define SP_LAUNCH_ACCELERATE_H

#include "launch/fields/rules.h"

/* Its settings that the arguments of a training script build on. */
struct sp_accelerate {
    int64_t processes, tp, cp; /* processes 0: not given */
    bool recomputes;
    bool casts;          /* the format in which the script loads the model makes no difference */
    char deepspeed[256]; /* the DeepSpeed JSON that it names, "" where it names none */
};

/* Reads the settings that a script's launch names, if they lie beside it: the sharding of weights
 * and states and their formats as options, the rest into `said`. `half`: the script itself asks for
 * it. False if there is no such file. */
bool sp_read_accelerate_beside(const struct sp_launch_file *file, const char *name,
                               const char *half, struct sp_accelerate *said);

/* The same from flags of the command, `--use_fsdp --fsdp_...`; false if they do not ask for
 * FSDP.
 */
bool sp_read_accelerate_flags(struct sp_settings *flags, const struct sp_launch_file *file,
                              const char *half, struct sp_accelerate *said);

/* A plan as its YAML, for sp_target_accelerate. */
void sp_write_accelerate(const struct sp_launched *launched, FILE *out);

#endif
