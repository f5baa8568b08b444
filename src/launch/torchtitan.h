/* Reading of torchtitan's TOML and command line, for sp_target_torchtitan. */
#ifndef SP_LAUNCH_TORCHTITAN_H
#define SP_LAUNCH_TORCHTITAN_H

#include "launch/settings.h"

enum sp_match sp_detect_torchtitan(const struct sp_launch_file *file);
bool sp_read_torchtitan(struct sp_launch_file *file, struct sp_launch *launch,
                        struct sp_error *error);

#endif
