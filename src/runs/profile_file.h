/* A profile as the text of its JSON file. */
#ifndef SP_PROFILE_FILE_H
#define SP_PROFILE_FILE_H

#include <stdbool.h>

#include <scaleplan/profile.h>

/* Whether the fit pushed a constant to a bound: the data ask for more than physics allows, so the
 * model attributes time to the wrong part. */
bool sp_at_bound(const struct sp_profile *profile, int constant);

/* The profile's JSON text; free() it. `fitted_to` and `source` name the data. */
char *sp_profile_text(const struct sp_profile *profile, const char *fitted_to, const char *source);

#endif
