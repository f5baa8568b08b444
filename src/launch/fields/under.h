/* Settings that stand over those of other files. */
#ifndef SP_LAUNCH_UNDER_H
#define SP_LAUNCH_UNDER_H

#include "launch/fields/settings.h"

/* How a framework's files name those under them: the key; the name of its defaults, whose absence
 * says nothing; and whether any other that is not there is an error, else a remark. */
struct sp_under {
    const char *key, *defaults;
    bool needed;
};

/* Reads the YAML files of that name (several: blanks part them, and the last wins) beside `origin`
 * or above it, and those under them, in front of the settings, which win. */
bool sp_read_under(const char *origin, const char *names, const struct sp_under *how,
                   struct sp_settings *settings);

#endif
