/* The DeepSpeed JSON that arguments of Hugging Face's Trainer name. */
#ifndef SP_LAUNCH_HUGGINGFACE_TRAINER_JSON_H
#define SP_LAUNCH_HUGGINGFACE_TRAINER_JSON_H

#include "launch/fields/programs.h"

/* Reads it with what the arguments fill in (`sequences`: those of a line of data); false if it is
 * not there. */
bool sp_read_trainer_json(struct sp_launch_file *file, const char *name, int64_t sequences);

#endif
