/* A profile as a file of configs. */
#ifndef SP_BUNDLED_PROFILE_H
#define SP_BUNDLED_PROFILE_H

#include <scaleplan/profile.h>

/* Writes FOLDER/NAME.json; exits on failure. */
void sp_write_bundled_profile(const char *folder, const struct sp_profile *profile,
                              const char *fitted_to, const char *sources);

/* Names the constants of fitted profiles that hint at a missing cause, and counts them. */
int sp_print_implausible(const struct sp_profile *fitted, int count);

/* Adds a source to those of a profile, each once. */
void sp_add_source(char *sources, size_t size, const char *source);

#endif
