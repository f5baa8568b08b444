/* A profile as the text of its JSON file. */
#ifndef SP_PROFILE_FILE_H
#define SP_PROFILE_FILE_H

#include <stdbool.h>

#include <scaleplan/profile.h>

/* Whether the fit pushed a constant to a bound: the data ask for more than physics allows, so the
 * model attributes time to the wrong part. */
bool sp_at_bound(const struct sp_profile *profile, int constant);

/* Names of the constants, comma-separated: of those that the runs hardly determine (and how many),
 * and of those at a bound. */
const char *sp_undetermined_constants(const struct sp_profile *profile, char *out, size_t size);
int sp_n_undetermined(const struct sp_profile *profile);
const char *sp_constants_at_bounds(const struct sp_profile *profile, char *out, size_t size);

/* The same for constants that runs have pulled to where a missing cause must be: to a bound other
 * than 1 for a share, or four spreads from the expected value. A fit with one has failed. */
const char *sp_implausible_constants(const struct sp_profile *profile, char *out, size_t size);

/* The profile's JSON text; free() it. `fitted_to` and `source` name the data. */
char *sp_profile_text(const struct sp_profile *profile, const char *fitted_to, const char *source);

#endif
