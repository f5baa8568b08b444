/* Finding the profile of a stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"

struct loading {
    const struct sp_sources *sources;
    struct sp_profile *profiles;
    size_t n;
    struct sp_error *error;
    int before; /* its lines */
};

static void load_one(const char *name, void *context)
{
    struct loading *l = context;
    if (l->error->lines != l->before)
        return;
    if (l->n == SP_MAX_PROFILES)
        sp_fail(l->error, SP_INPUT, "more than %d profiles: %s and those after it have no room",
                SP_MAX_PROFILES, sp_safe(name));
    else if (sp_load_profile(name, l->sources, &l->profiles[l->n], l->error))
        l->n++;
}

bool sp_load_profiles(const struct sp_sources *sources, struct sp_profile *profiles, size_t *n,
                      struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir};
    struct loading l = {&plain, profiles, 0, error, error->lines};
    sp_each_config(SP_PROFILES, &plain, load_one, &l);
    *n = l.n;
    return error->lines == l.before;
}

static void name_stack(const struct sp_hardware *hw, const struct sp_framework *framework,
                       char *name, size_t size)
{
    snprintf(name, size, "%.30s-%.31s", hw->name, framework->name);
}

void sp_profile_for(const struct sp_hardware *hw, const struct sp_framework *framework,
                    const struct sp_profile *known, size_t n, struct sp_profile *profile, bool *own)
{
    *profile = (struct sp_profile){.memory_factor = 1};
    name_stack(hw, framework, profile->name, sizeof profile->name);
    snprintf(profile->chip, sizeof profile->chip, "%s", hw->name);
    snprintf(profile->framework, sizeof profile->framework, "%s", framework->name);
    snprintf(profile->chip_family, sizeof profile->chip_family, "%s",
             hw->family[0] ? hw->family : hw->name);
    snprintf(profile->software_family, sizeof profile->software_family, "%s",
             framework->family[0] ? framework->family : framework->name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i].name, profile->name) == 0) {
            *profile = known[i];
            *own = true;
            return;
        }
    *own = false;
    sp_expect_constants(hw, framework, profile);
    sp_borrow_constants(known, n, profile);
}

bool sp_load_stack(const struct sp_hardware *hw, const struct sp_framework *framework,
                   const struct sp_sources *sources, struct sp_profile *profile, bool *own,
                   struct sp_error *error)
{
    struct sp_profile *const known = calloc(SP_MAX_PROFILES, sizeof *known);
    size_t n;
    if (!known)
        abort();
    const bool ok = sp_load_profiles(sources, known, &n, error);
    if (ok)
        sp_profile_for(hw, framework, known, n, profile, own);
    free(known);
    return ok;
}

bool sp_load_memory_factor(const struct sp_hardware *hw, const struct sp_framework *framework,
                           const struct sp_sources *sources, double *factor, struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir};
    struct sp_profile own = {.memory_factor = 1};
    char name[sizeof own.name];
    name_stack(hw, framework, name, sizeof name);
    if (sp_config_exists(SP_PROFILES, name, &plain) && !sp_load_profile(name, &plain, &own, error))
        return false;
    *factor = own.memory_factor;
    return true;
}
