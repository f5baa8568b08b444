/* calibrate: the constants that a fit found, and the profile as a file. */
#ifndef SP_CMD_CALIBRATE_PROFILE_H
#define SP_CMD_CALIBRATE_PROFILE_H

#include "cli/command.h"

/* Constants of a profile before and after a fit, as a table; those that the runs do not determine,
 * and those at a bound. */
void sp_put_fitted_constants(struct sp_report *report, const struct sp_profile *before,
                             const struct sp_profile *after);

/* Name of the profile that -o and --name ask for. */
void sp_name_profile(const struct sp_args *args, struct sp_profile *profile);

/* Writes it where -o says. `used_by` is the command that takes it. */
bool sp_write_profile(const struct sp_args *args, struct sp_report *report,
                      const struct sp_profile *profile, const char *fitted_to, const char *used_by,
                      struct sp_error *error);

#endif
