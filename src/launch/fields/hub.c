/* Models by their names on Hugging Face's hub. */
#include "launch/fields/hub.h"

#include <string.h>

#include "config/load.h"
#include "launch/fields/settings.h"

bool sp_find_hub_model(const char *given, const struct sp_sources *sources, char *out, size_t size)
{
    struct sp_model model;
    struct sp_error unknown = {0};
    char plain[128];
    const size_t n = given ? strlen(given) : 0;
    if (!given)
        return false;
    snprintf(plain, sizeof plain, "%.*s", (int)(n - (n > 0 && given[n - 1] == '/')), given);
    const char *const slash = strrchr(plain, '/');
    sp_spell_model(plain, out, size);
    if (sp_load_model(out, sources, &model, &unknown))
        return true;
    /* names of the hub lose the parts that tell how a model was tuned or stored; a folder's name
     * may be one */
    snprintf(out, size, "hub/%.90s", slash ? slash + 1 : plain);
    return sp_load_model(out, sources, &model, &unknown);
}
