/* A profile as the text of its JSON file. */
#ifndef SP_PROFILE_FILE_H
#define SP_PROFILE_FILE_H

#include <stdbool.h>

#include <scaleplan/profile.h>

/* Whether the fit pushed a constant against one of its bounds: the data ask for more than physics
 * allows, so the model puts time elsewhere than the machine does. */
bool sp_at_bound(const struct sp_profile *profile, int constant);

/* The text; free() it. `fitted_to` and `source` say what data stand behind it. */
char *sp_profile_text(const struct sp_profile *profile, const char *fitted_to, const char *source);

#endif
