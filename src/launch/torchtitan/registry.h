/* torchtitan's registry: functions of Python that make a configuration. */
#ifndef SP_LAUNCH_TITAN_REGISTRY_H
#define SP_LAUNCH_TITAN_REGISTRY_H

#include "launch/formats/python.h"

/* Adds what the asked function of a registry says, and those that it starts from, by torchtitan's
 * names; `path` is the file's. Without a call of torchtitan's classes nothing is added. False with
 * an error where several functions are configurations and none is asked for. */
bool sp_read_titan_registry(const char *text, const char *path, const struct sp_typed_names *names,
                            struct sp_settings *settings);

#endif
