/* A profile as a file of configs. */
#ifndef SP_BUNDLED_PROFILE_H
#define SP_BUNDLED_PROFILE_H

#include <scaleplan/profile.h>

/* Writes FOLDER/NAME.json; exits on failure. */
void sp_write_bundled_profile(const char *folder, const struct sp_profile *profile,
                              const char *fitted_to, const char *sources);

/* Adds a source to those of a profile, each once. */
void sp_add_source(char *sources, size_t size, const char *source);

#endif
