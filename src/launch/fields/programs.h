/* Who runs a launch: rows of configs/launch/programs.json. */
#ifndef SP_LAUNCH_PROGRAMS_H
#define SP_LAUNCH_PROGRAMS_H

#include "launch/shell/script.h"

/* A framework recognised by its program, the target whose form its launches have ("": none is
 * read), its values for settings that a launch leaves out, and the word or key that identified it.
 * `needs`: the files that a launch has beside this one, if this is only a part of it; "": it is a
 * whole launch. */
struct sp_program {
    char framework[48], target[24], values[512], told[96], needs[128];
};

/* Finds the first row of `lines` that matches a command of the file's script or a key of its
 * settings; false if none does. */
bool sp_find_program(const char *lines, const struct sp_launch_file *file,
                     struct sp_program *program);

/* Adds a program's values for settings that are left out. */
bool sp_take_program_values(const struct sp_program *program, struct sp_settings *settings);

/* Whether a script starts a program of that name; none (NULL) starts any. */
bool sp_starts_program(const struct sp_script *script, const char *pattern);

/* The program that a script starts, as spelled there, and its line; "" if there is none. */
const char *sp_started_program(const struct sp_script *script, int *line);

/* The word behind it that says what it does ("dpo" of `trl dpo`); "" if there is none. */
const char *sp_started_task(const struct sp_script *script);

#endif
