/* What reading and writing of DeepSpeed's JSON share. */
#ifndef SP_LAUNCH_DEEPSPEED_H
#define SP_LAUNCH_DEEPSPEED_H

#include "launch/fields/rows.h"

/* Adds a remark for each key that is neither read nor on the list of those that change neither
 * memory nor time. */
void sp_note_deepspeed_keys(const struct sp_launch_words *words, const cJSON *root,
                            struct sp_launch *launch);

/* Whether a value of the file switches nothing on: false, null, 0, "none", {"enabled": false}. */
bool sp_is_off(const cJSON *value);

/* What DeepSpeed itself refuses in a file, on so many devices (0: not known). */
void sp_check_deepspeed(const cJSON *root, int64_t devices, struct sp_refusals *refused);

/* Reads file->json, for sp_target_deepspeed. */
bool sp_read_deepspeed(struct sp_launch_file *file, struct sp_launch *launch,
                       struct sp_error *error);

/* A plan as its JSON, for sp_target_deepspeed. */
void sp_write_deepspeed(const struct sp_launched *launched, struct sp_written *lost, FILE *out);

#endif
