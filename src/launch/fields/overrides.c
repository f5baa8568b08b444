/* Settings that override those of other files. */
#include "launch/fields/overrides.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/named_files.h"
#include "launch/formats/syntax.h"

enum { DEEPEST = 6 };

/* Whether the settings replace one of the file below: they contain it, or (OmegaConf's
 * "_override_") a section to which it belongs. */
static bool hides(const struct sp_settings *s, const char *name)
{
    static const char whole[] = "._override_";
    for (int i = 0; i < s->n; i++) {
        const char *const at = s->at[i].name;
        const size_t n = strlen(at);
        if (sp_is(at, name) || (n > sizeof whole && sp_is(at + n - (sizeof whole - 1), whole) &&
                                strncmp(name, at, n - (sizeof whole - 2)) == 0))
            return true;
    }
    return false;
}

/* Puts the settings of a file before those that override it. */
static bool put_under(const struct sp_settings *under, bool usual, struct sp_settings *s)
{
    int n = 0;
    struct sp_settings *const all = sp_new_settings(s);
    for (int i = 0; i < under->n; i++)
        if (!hides(s, under->at[i].name)) {
            all->at[n] = under->at[i];
            all->at[n++].line = 0; /* of another file */
            all->at[n - 1].gap_line = 0;
            all->at[n - 1].usual = usual;
        }
    const bool fits = n + s->n <= SP_MAX_SETTINGS;
    if (fits) {
        memmove(s->at + n, s->at, (size_t)s->n * sizeof *s->at);
        memcpy(s->at, all->at, (size_t)n * sizeof *s->at);
        s->n += n;
    }
    free(all);
    return fits || sp_fail(s->error, SP_INPUT, "%s: more than %d options with those under it",
                           sp_safe(s->origin), SP_MAX_SETTINGS);
}

static bool is_defaults(const char *name, const struct sp_under *how)
{
    const char *const slash = strrchr(name, '/');
    return how->defaults && sp_is(slash ? slash + 1 : name, how->defaults);
}

static bool miss(const char *name, const struct sp_under *how, const struct sp_settings *s)
{
    if (is_defaults(name, how))
        return true;
    if (how->needed)
        return sp_fail_in(s, "%.80s, which it overrides, was not found", sp_safe(name));
    sp_launch_note(s, "%.80s was not found: options that it sets are not read", sp_safe(name));
    return true;
}

static bool follow(const char *from, const char *names, int depth, const struct sp_under *how,
                   struct sp_settings *s);

/* Reads one file, and those below it. */
static bool follow_one(const char *from, const char *name, int depth, const struct sp_under *how,
                       struct sp_settings *s)
{
    const struct sp_typed_names over = {.over = s};
    char path[512], next[sizeof s->at->value];
    size_t length;
    char *const text = sp_read_beside(from, name, path, sizeof path, &length);
    if (!text)
        return miss(name, how, s);
    if (depth == DEEPEST) {
        free(text);
        return sp_fail(s->error, SP_INPUT, "%s: %s: more than %d nested files", sp_safe(from),
                       how->key, DEEPEST);
    }
    struct sp_settings *const under = sp_new_settings(s);
    under->origin = path;
    bool ok = sp_read_yaml(text, &over, under, NULL);
    const char *const given = ok ? sp_peek_setting(under, how->key) : NULL;
    snprintf(next, sizeof next, "%s", given ? given : "");
    ok = ok && follow(path, next, depth + 1, how, under) &&
         put_under(under, is_defaults(name, how), s);
    free(under);
    free(text);
    return ok;
}

static bool follow(const char *from, const char *names, int depth, const struct sp_under *how,
                   struct sp_settings *s)
{
    size_t n = strlen(names);
    bool ok = true;
    while (ok && n > 0) { /* the last wins: a later one is not hidden by an earlier one */
        char name[sizeof s->at->value];
        size_t at = n;
        while (at > 0 && names[at - 1] != ' ')
            at--;
        snprintf(name, sizeof name, "%.*s", (int)(n - at), names + at);
        ok = !name[0] || follow_one(from, name, depth, how, s);
        n = at > 0 ? at - 1 : 0;
    }
    return ok;
}

bool sp_read_under(const char *origin, const char *names, const struct sp_under *how,
                   struct sp_settings *s)
{
    return follow(origin, names, 0, how, s);
}
