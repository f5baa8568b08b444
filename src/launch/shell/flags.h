/* Arguments of a command in a shell's script, as settings. */
#ifndef SP_LAUNCH_FLAGS_H
#define SP_LAUNCH_FLAGS_H

#include "launch/shell/script.h"

/* Words that distinguish a framework's command from others: whether a word is one. */
typedef bool sp_tells(const char *word);

/* How many such words the richest command of the script has. A piece of a script may start
 * nothing: then they are counted in the values of its names, or with `pairs` among "NAME=value"
 * themselves. */
int sp_count_telling(const struct sp_script *script, sp_tells *tells, bool pairs);

/* Whether a command's program does something other than train. */
bool sp_is_no_training(const struct sp_script_command *command);

/* Takes that command's flags ("--name", with the words after it as the value) as settings. Unknown
 * words that are not a flag's value are reported in remarks: they may hold arguments. */
bool sp_read_flags(const struct sp_script *script, sp_tells *tells, struct sp_settings *settings);

/* Takes that command's "key=value" words as settings; a YAML file that it names is the setting
 * "config_file". */
bool sp_read_pairs(const struct sp_script *script, sp_tells *tells, struct sp_settings *settings);

/* Refuses a script if a Python program in it is followed by a word that is unknown and may hold
 * arguments; false: none is. */
bool sp_refuse_unknown_words(const struct sp_script *script, struct sp_settings *settings);

/* Reports that `accelerate launch` has an unknown word before its program (command `place`, counted
 * from 1): it may name a file that shares out the states. */
void sp_doubt_launcher(const struct sp_script *script, int place, struct sp_launch *launch);

/* Whether a word is a flag, "--" and a letter. */
bool sp_is_flag(const char *word);

#endif
