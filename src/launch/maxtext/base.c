/* MaxText: a file of options that overrides another one: `base_config: NAME` in YAML, or the YAML
 * that a command names. Options of the nearer file win (_load_config of configs/pyconfig.py). */
#include "launch/fields/overrides.h"
#include "launch/maxtext/maxtext.h"

bool sp_follow_maxtext(const char *origin, struct sp_settings *s)
{
    static const struct sp_under how = {.key = "base_config", .defaults = "base.yml"};
    char name[sizeof s->at->value];
    const char *const named = sp_peek_setting(s, "config_file"), *const base =
                                                                     named ? named
                                                                           : sp_peek_setting(
                                                                                 s, "base_config");
    snprintf(name, sizeof name, "%s", base ? base : "");
    return sp_read_under(origin, name, &how, s);
}
