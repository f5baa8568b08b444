/* MaxText: a file of options over another one: `base_config: NAME` in YAML, or the YAML that a
 * command names. Options of the nearer file win (_load_config of configs/pyconfig.py). */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/fields/beside.h"
#include "launch/maxtext/maxtext.h"
#include "launch/formats/syntax.h"

enum { DEEPEST = 4 };

static bool is_defaults(const char *name)
{
    const char *const slash = strrchr(name, '/');
    return sp_is(slash ? slash + 1 : name, "base.yml");
}

/* Puts the settings of a file in front of those of the one over it. */
static bool put_under(const struct sp_settings *under, struct sp_settings *s)
{
    if (under->n + s->n > SP_MAX_SETTINGS)
        return sp_fail(under->error, SP_INPUT, "%s: more than %d options with those under it",
                       sp_safe(s->origin), SP_MAX_SETTINGS);
    memmove(s->at + under->n, s->at, (size_t)s->n * sizeof *s->at);
    memcpy(s->at, under->at, (size_t)under->n * sizeof *under->at);
    for (int i = 0; i < under->n; i++)
        s->at[i].line = s->at[i].gap_line = 0; /* of another file */
    s->n += under->n;
    return true;
}

/* Reads the file `name` that `from` stands over, and those under it. */
static bool follow(const char *from, const char *name, int depth, struct sp_settings *s)
{
    const struct sp_typed_names names = {0};
    char path[512];
    size_t length;
    char *const text = sp_read_beside(from, name, path, sizeof path, &length);
    if (!text && !is_defaults(name))
        sp_launch_note(s, "%.80s is not there: what it says under these options is not read",
                       sp_safe(name));
    if (!text)
        return true;
    if (depth == DEEPEST) {
        free(text);
        return sp_fail(s->error, SP_INPUT, "%s: base_config: more than %d files under one another",
                       sp_safe(from), DEEPEST);
    }
    struct sp_settings *const under = sp_new_settings(s);
    under->origin = path;
    bool ok = sp_read_yaml(text, &names, under, NULL);
    const char *const next = ok ? sp_peek_setting(under, "base_config") : NULL;
    ok = ok && (!next || follow(path, next, depth + 1, under)) && put_under(under, s);
    free(under);
    free(text);
    return ok;
}

bool sp_follow_maxtext(const char *origin, struct sp_settings *s)
{
    const char *const named = sp_peek_setting(s, "config_file"), *const base =
                                                                     named ? named
                                                                           : sp_peek_setting(
                                                                                 s, "base_config");
    char name[sizeof s->at->value];
    snprintf(name, sizeof name, "%s", base ? base : "");
    return !base || follow(origin, name, 0, s);
}
