/* A config of a kind: as this run has it already, else read. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/load.h"
#include "config/read.h"
#include "config/world.h"

#define SIZE(kind, folder, name, noun, nouns, type, ...) [kind] = sizeof(type),
static const size_t sizes[] = {SP_KINDS(SIZE, )};

static bool read(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                 void *config, struct sp_error *error)
{
    memset(config, 0, sizes[kind]);
    return kind == SP_HARDWARE   ? sp_read_hardware(spec, sources, config, error)
           : kind == SP_LAUNCHES ? sp_read_launch_words(spec, sources, config, error)
                                 : sp_load_fields(kind, spec, sources, config, error);
}

static bool load(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                 void *config, struct sp_error *error)
{
    size_t size;
    const void *const kept = sp_recall(SP_KEPT_CONFIG, kind, spec, sources, &size);
    if (kept)
        memcpy(config, kept, size);
    else if (read(kind, spec, sources, config, error))
        sp_remember(SP_KEPT_CONFIG, kind, spec, sources, config, sizes[kind]);
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
    void *const config = sp_must(malloc(sizes[kind]));
    if (load(kind, spec, sources, config, error))
        return config;
    free(config);
    return NULL;
}
