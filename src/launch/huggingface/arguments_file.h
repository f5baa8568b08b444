/* The file with a training's arguments that a command names (`llamafactory-cli train FILE`). */
#ifndef SP_LAUNCH_ARGUMENTS_FILE_H
#define SP_LAUNCH_ARGUMENTS_FILE_H

#include "launch/fields/settings.h"

/* Whether a word names a YAML. */
bool sp_names_yaml(const char *word);

/* The YAML that a command of the script names, as settings: its name (NULL: none does), and whether
 * the file exists here. accelerate's own file, after --config_file, does not count. */
const char *sp_read_named_yaml(const struct sp_launch_file *file, struct sp_settings *to,
                               bool *here);

/* Refuses a launch without any setting: by what is unknown in the name of its settings file, or by
 * that name (NULL: it has none). */
bool sp_refuse_empty(const struct sp_launch_file *file, const char *named);

#endif
