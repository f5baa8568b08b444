/* Loads a config whose kind is known only at run time. */
#include <stdlib.h>

#include "config/load.h"

#define LOAD(kind, folder, name, noun, nouns, type, load, ...)                                     \
    static bool load_##kind(const char *spec, const struct sp_sources *sources, void *config,      \
                            struct sp_error *error)                                                \
    {                                                                                              \
        return load(spec, sources, config, error);                                                 \
    }
SP_KINDS(LOAD, )

#define ROW(kind, folder, name, noun, nouns, type, ...) [kind] = {sizeof(type), load_##kind},
static const struct {
    size_t size;
    bool (*load)(const char *spec, const struct sp_sources *sources, void *config,
                 struct sp_error *error);
} kinds[] = {SP_KINDS(ROW, )};

void *sp_load_config(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                     struct sp_error *error)
{
    void *const config = calloc(1, kinds[kind].size);
    if (!config)
        abort();
    if (kinds[kind].load(spec, sources, config, error))
        return config;
    free(config);
    return NULL;
}
