/* The fitted stacks of a study as files of configs/profiles. */
#ifndef SP_STUDY_PROFILES_H
#define SP_STUDY_PROFILES_H

#include "study.h"

/* Writes FOLDER/NAME.json of every stack. `left_out`: errors with the publication left out. Exits 2
 * on failure. */
void sp_write_profiles(const struct sp_study *study, const struct sp_profile *fitted,
                       const double *left_out, const char *folder);

#endif
