/* Settings that override those of other files. */
#ifndef SP_LAUNCH_OVERRIDES_H
#define SP_LAUNCH_OVERRIDES_H

#include "launch/fields/settings.h"

/* How a framework's files name those below them: the key; the name of its defaults, whose absence
 * means nothing; and whether any other missing file is an error, else a remark. */
struct sp_under {
    const char *key, *defaults;
    bool needed;
};

/* Reads the YAML files of that name (several are separated by blanks, and the last wins) beside
 * `origin` or above it, and those below them, before the settings, which win. */
bool sp_read_under(const char *origin, const char *names, const struct sp_under *how,
                   struct sp_settings *settings);

#endif
