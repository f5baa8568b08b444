/* Inputs of estimates that no option of a framework gives: see assumed.c. */
#ifndef SP_LAUNCH_ASSUMED_H
#define SP_LAUNCH_ASSUMED_H

#include "launch/fields/settings.h"

/* Takes options of `step` by name from a comment's text, where it is one of these. */
bool sp_read_assumed(const char *line, struct sp_settings *assumed);

/* Takes them from the lines of a text that start with "#". */
bool sp_read_assumed_lines(const char *text, struct sp_settings *assumed);

/* Passes one of them on to the launch, if it is given. */
void sp_assume(struct sp_settings *assumed, const char *name);

/* Takes those in a file's comments: its framework, or else this one, and others by comma-separated
 * names. */
bool sp_take_assumed(struct sp_launch_file *file, const char *framework, const char *names);

/* Writes them between `before` and `after`; nothing if there are none. `framework`: the reader's
 * default, or NULL; `is_script_apart`: length and checkpoints are in the training script. */
void sp_write_assumed(const struct sp_launched *launched, const char *framework,
                      bool is_script_apart, const char *before, const char *after, FILE *out);

#endif
