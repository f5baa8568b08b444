/* A config of a kind: as this run has it already, else read. */
#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "config/read.h"
#include "config/world.h"

#define READ(kind, folder, name, noun, nouns, type, load, ...)                                     \
    static bool read_##kind(const char *spec, const struct sp_sources *sources, void *config,      \
                            struct sp_error *error)                                                \
    {                                                                                              \
        return sp_read_##load(spec, sources, config, error);                                       \
    }
SP_KINDS(READ, )

#define ROW(kind, folder, name, noun, nouns, type, ...) [kind] = {sizeof(type), read_##kind},
static const struct {
    size_t size;
    bool (*read)(const char *spec, const struct sp_sources *sources, void *config,
                 struct sp_error *error);
} kinds[] = {SP_KINDS(ROW, )};

static bool load(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                 void *config, struct sp_error *error)
{
    size_t size;
    const void *const kept = sp_recall(SP_KEPT_CONFIG, kind, spec, sources, &size);
    if (kept)
        memcpy(config, kept, size);
    else if (kinds[kind].read(spec, sources, config, error))
        sp_remember(SP_KEPT_CONFIG, kind, spec, sources, config, kinds[kind].size);
    else
        return false;
    return true;
}

#define LOAD(kind, folder, name, noun, nouns, type, loader, ...)                                   \
    bool sp_load_##loader(const char *spec, const struct sp_sources *sources, type *config,        \
                          struct sp_error *error)                                                  \
    {                                                                                              \
        return load(kind, spec, sources, config, error);                                           \
    }
SP_KINDS(LOAD, )

void *sp_load_config(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                     struct sp_error *error)
{
    void *const config = calloc(1, kinds[kind].size);
    if (!config)
        abort();
    if (load(kind, spec, sources, config, error))
        return config;
    free(config);
    return NULL;
}
