/* Shared by reading and writing DeepSpeed's JSON. */
#ifndef SP_LAUNCH_DEEPSPEED_H
#define SP_LAUNCH_DEEPSPEED_H

#include "launch/fields/rules.h"

/* Adds a remark for each key that is neither read nor on the list of those that change neither
 * memory nor time. */
void sp_note_deepspeed_keys(const struct sp_settings *settings, const cJSON *root);

/* Reads file->json, for sp_target_deepspeed. */
bool sp_read_deepspeed(struct sp_launch_file *file);

/* A plan as its JSON, for sp_target_deepspeed. */
void sp_write_deepspeed(const struct sp_launched *launched, FILE *out);

#endif
