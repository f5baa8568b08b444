/* Finds the profile of a stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/load.h"
#include "config/world.h"

struct loading {
    enum sp_config_kind kind;
    const struct sp_sources *sources;
    struct sp_profile *profiles;
    size_t n;
    struct sp_error *error;
    int before; /* lines of errors before it */
};

static void load_one(const char *name, void *context)
{
    struct loading *l = context;
    if (l->error->lines != l->before)
        return;
    if (l->n == SP_MAX_PROFILES)
        sp_fail(l->error, SP_INPUT, "more than %d profiles: no room for %s", SP_MAX_PROFILES,
                sp_safe(name));
    else if ((l->kind == SP_PROFILES ? sp_load_profile : sp_load_serving_profile)(
                 name, l->sources, &l->profiles[l->n], l->error))
        l->n++;
}

/* A broken user profile is an error even as a mere candidate, since skipping it would silently use
 * another; so is a folder with too many. */
static bool load_all(enum sp_config_kind kind, const struct sp_sources *sources,
                     struct sp_profile *profiles, size_t *n, struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir};
    struct loading l = {kind, &plain, profiles, 0, error, error->lines};
    sp_each_config(kind, &plain, load_one, &l);
    *n = l.n;
    return error->lines == l.before;
}

bool sp_load_profiles(const struct sp_sources *sources, struct sp_profile *profiles, size_t *n,
                      struct sp_error *error)
{
    return load_all(SP_PROFILES, sources, profiles, n, error);
}

/* All profiles of a kind, as this run has them already or in new room, which `room` frees; NULL
 * with an error. */
static const struct sp_profile *known_profiles(enum sp_config_kind kind,
                                               const struct sp_sources *sources,
                                               struct sp_profile **room, size_t *n,
                                               struct sp_error *error)
{
    size_t size = 0;
    const void *const kept = sp_recall(SP_KEPT_ALL, kind, NULL, sources, &size);
    *room = NULL;
    *n = size / sizeof **room;
    if (kept)
        return kept;
    *room = sp_must(calloc(SP_MAX_PROFILES, sizeof **room));
    if (!load_all(kind, sources, *room, n, error))
        return NULL;
    sp_remember(SP_KEPT_ALL, kind, NULL, sources, *room, *n * sizeof **room);
    return *room;
}

/* A borrowed profile is named after its stack, because reports print that name and must be readable
 * again. */
static void name_stack(const char *chip, const char *software, char *name, size_t size)
{
    snprintf(name, size, "%.30s-%.31s", chip, software);
}

/* Whether the chip, or the one that it was made from, has a file of its own with that software:
 * its name. */
static bool has_own(enum sp_config_kind kind, const struct sp_hardware *hw, const char *software,
                    const struct sp_sources *sources, char *name, size_t size)
{
    name_stack(hw->name, software, name, size);
    if (sp_config_named(kind, name, sources))
        return true;
    name_stack(hw->made_from, software, name, size);
    return hw->made_from[0] && sp_config_named(kind, name, sources);
}

/* A profile without constants: names and families. */
static struct sp_profile stack_of(const struct sp_hardware *hw, const char *software,
                                  const char *family, const char *overlap)
{
    struct sp_profile p = {.memory_factor = 1, .machine_factor = 1};
    name_stack(hw->name, software, p.name, sizeof p.name);
    snprintf(p.chip, sizeof p.chip, "%s", hw->name);
    snprintf(p.framework, sizeof p.framework, "%.31s", software);
    snprintf(p.chip_family, sizeof p.chip_family, "%s",
             hw->family[0]      ? hw->family
             : hw->made_from[0] ? hw->made_from
                                : hw->name);
    snprintf(p.software_family, sizeof p.software_family, "%.31s", family);
    snprintf(p.overlap_family, sizeof p.overlap_family, "%.31s", overlap[0] ? overlap : family);
    return p;
}

void sp_profile_for(const struct sp_hardware *hw, const struct sp_framework *framework,
                    const struct sp_profile *known, size_t n, struct sp_profile *profile, bool *own)
{
    const char *const chips[] = {hw->name, hw->made_from};
    *own = false;
    for (size_t k = 0; k < 2; k++) {
        char name[sizeof profile->name];
        name_stack(chips[k], framework->name, name, sizeof name);
        for (size_t i = 0; i < n && !*own; i++)
            if (strcmp(known[i].name, name) == 0) {
                *profile = known[i];
                *own = true;
            }
    }
    if (*own)
        return;
    *profile =
        stack_of(hw, framework->name, framework->family[0] ? framework->family : framework->name,
                 framework->overlap);
    sp_expect_constants(hw, framework, profile);
    sp_borrow_constants(known, n, profile);
}

bool sp_load_stack(const struct sp_hardware *hw, const struct sp_framework *framework,
                   const struct sp_sources *sources, struct sp_profile *profile, bool *own,
                   struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir, .world = sources->world};
    struct sp_profile *room;
    char name[sizeof profile->name];
    size_t n;
    *own = has_own(SP_PROFILES, hw, framework->name, &plain, name, sizeof name);
    if (*own) /* the others are not candidates; profiles have no aliases */
        return sp_load_profile(name, &plain, profile, error);
    const struct sp_profile *const known = known_profiles(SP_PROFILES, sources, &room, &n, error);
    if (known)
        sp_profile_for(hw, framework, known, n, profile, own);
    free(room);
    return known != NULL;
}

bool sp_load_memory_factor(const struct sp_hardware *hw, const struct sp_framework *framework,
                           const struct sp_sources *sources, double *factor, struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir, .world = sources->world};
    struct sp_profile own = {.memory_factor = 1, .machine_factor = 1};
    char name[sizeof own.name];
    if (has_own(SP_PROFILES, hw, framework->name, &plain, name, sizeof name) &&
        !sp_load_profile(name, &plain, &own, error))
        return false;
    *factor = own.memory_factor;
    return true;
}

void sp_expect_serving_of(const struct sp_hardware *hw, const char *engine,
                          struct sp_profile *profile)
{
    *profile = stack_of(hw, engine, engine, "");
    sp_expect_serving(hw, profile);
}

bool sp_load_serving(const struct sp_hardware *hw, const char *engine,
                     const struct sp_sources *sources, struct sp_profile *profile, bool *own,
                     struct sp_error *error)
{
    char name[sizeof profile->name];
    size_t n;
    *own = has_own(SP_SERVING, hw, engine, sources, name, sizeof name);
    if (*own)
        return sp_load_serving_profile(name, sources, profile, error);
    sp_expect_serving_of(hw, engine, profile);
    struct sp_profile *room;
    const struct sp_profile *const known = known_profiles(SP_SERVING, sources, &room, &n, error);
    if (known)
        sp_borrow_constants(known, n, profile);
    free(room);
    return known != NULL;
}
