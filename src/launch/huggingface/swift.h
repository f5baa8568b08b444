/* ms-swift runs on Hugging Face's Trainer: reads its arguments by the Trainer's names. */
#ifndef SP_LAUNCH_SWIFT_H
#define SP_LAUNCH_SWIFT_H

#include "launch/fields/rows.h"
#include "launch/fields/programs.h"

/* Whether a file's program is ms-swift's, which trains; and words that identify its command. */
bool sp_is_swift(const struct sp_launch_file *file);
bool sp_tells_swift(const char *word);

/* Adds the meaning of its arguments, and its defaults, for a number of devices (0: unknown). */
bool sp_spell_swift(struct sp_settings *settings, int64_t devices);

#endif
