/* The places of all files of configs/ground. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/load.h"

struct gathering {
    enum sp_network_kind network;
    const struct sp_sources *sources;
    struct sp_place *places;
    size_t n;
    struct sp_error *error;
    int before; /* lines of errors before it */
};

static void add_file(const char *name, void *context)
{
    struct gathering *const g = context;
    if (g->error->lines != g->before)
        return;
    struct sp_ground_file *const file = sp_load_config(SP_GROUNDS, name, g->sources, g->error);
    if (file && file->network == (int)g->network && file->n > 0) {
        g->places = sp_must(realloc(g->places, (g->n + file->n) * sizeof *g->places));
        memcpy(g->places + g->n, file->place, file->n * sizeof *g->places);
        g->n += file->n;
    }
    free(file);
}

struct sp_place *sp_load_places(enum sp_network_kind network, const struct sp_sources *sources,
                                size_t *n, struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir, .world = sources->world};
    struct gathering g = {network, &plain, NULL, 0, error, error->lines};
    sp_each_config(SP_GROUNDS, &plain, add_file, &g);
    *n = g.n;
    return g.places;
}
