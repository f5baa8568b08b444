/* Defaults of verl that changed between its versions. */
#ifndef SP_LAUNCH_VERL_DEFAULTS_H
#define SP_LAUNCH_VERL_DEFAULTS_H

#include "launch/fields/settings.h"

/* If the settings lack a key, adds the value that the configuration of that name gives it in the
 * launch's own checkout, if any. False with an error. */
bool sp_take_verl_default(const struct sp_launch_file *file, const char *configuration,
                          const char *key, struct sp_settings *settings);

/* Whether the launch lies in a checkout with that configuration. */
bool sp_in_verl_checkout(const struct sp_launch_file *file, const char *configuration);

#endif
