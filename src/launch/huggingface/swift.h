/* ms-swift: its arguments by the names of Hugging Face's Trainer, over which it runs. */
#ifndef SP_LAUNCH_SWIFT_H
#define SP_LAUNCH_SWIFT_H

#include "launch/fields/rows.h"
#include "launch/fields/programs.h"

/* Whether a file's program is ms-swift's, which trains; and words that tell its command. */
bool sp_is_swift(const struct sp_launch_file *file);
bool sp_tells_swift(const char *word);

/* Adds what its arguments stand for, and its defaults, for a number of devices (0: unknown). */
bool sp_spell_swift(struct sp_settings *settings, int64_t devices);

#endif
