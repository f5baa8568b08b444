/* The places of all files of configs/ground. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/load.h"
#include "config/world.h"

/* A place of a run on one kind of network. */
struct run_place {
    int network; /* enum sp_network_kind */
    struct sp_place place;
};

struct gathering {
    const struct sp_sources *sources;
    struct run_place *places;
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
    if (file && file->n > 0) {
        g->places = sp_must(realloc(g->places, (g->n + file->n) * sizeof *g->places));
        for (size_t i = 0; i < file->n; i++)
            g->places[g->n++] = (struct run_place){file->network, file->place[i]};
    }
    free(file);
}

/* All places, as this run has them already or in new room, which `room` frees. */
static const struct run_place *known_places(const struct sp_sources *sources,
                                            struct run_place **room, size_t *n,
                                            struct sp_error *error)
{
    const struct sp_sources plain = {.config_dir = sources->config_dir, .world = sources->world};
    const struct sp_sources once = {.config_dir = sources->config_dir}; /* no file is kept too */
    struct gathering g = {&once, NULL, 0, error, error->lines};
    size_t size = 0;
    const void *const kept = sp_recall(SP_KEPT_ALL, SP_GROUNDS, NULL, &plain, &size);
    *room = NULL;
    *n = size / sizeof **room;
    if (kept)
        return kept;
    sp_each_config(SP_GROUNDS, &once, add_file, &g);
    if (error->lines == g.before)
        sp_remember(SP_KEPT_ALL, SP_GROUNDS, NULL, &plain, g.places, g.n * sizeof *g.places);
    *n = g.n;
    return *room = g.places;
}

struct sp_place *sp_load_places(enum sp_network_kind network, const struct sp_sources *sources,
                                size_t *n, struct sp_error *error)
{
    struct run_place *room;
    size_t n_known;
    const struct run_place *const known = known_places(sources, &room, &n_known, error);
    struct sp_place *const places = sp_must(malloc((n_known + 1) * sizeof *places));
    *n = 0;
    for (size_t i = 0; i < n_known; i++)
        if (known[i].network == (int)network)
            places[(*n)++] = known[i].place;
    free(room);
    return places;
}
