/* Inputs that one run of the program has read. */
#include "config/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/trace.h"

/* A longer key is of sources with many --set, which are read every time. */
enum { LONGEST_KEY = 512, MOST_KEPT = 512 };

struct sp_remembered {
    struct sp_remembered *next;
    size_t key_length, size;
    char key[LONGEST_KEY];
    _Alignas(max_align_t) char data[];
};

struct key {
    size_t length; /* above LONGEST_KEY: does not fit */
    char text[LONGEST_KEY];
};

/* A text with its end, so that no two texts make the same key; NULL is not "". */
static void add_text(struct key *key, const char *text)
{
    const size_t n = text ? strlen(text) + 1 : 0, at = key->length;
    key->length += n + 1;
    if (key->length > LONGEST_KEY)
        return;
    key->text[at] = text ? '+' : '-';
    if (text)
        memcpy(key->text + at + 1, text, n);
}

/* Everything on which the result of a load depends. */
static void make_key(struct key *key, enum sp_keeping what, enum sp_config_kind kind,
                     const char *spec, const struct sp_sources *sources)
{
    const char kinds[] = {(char)('A' + what), (char)('A' + kind), sources->textbook ? 't' : 'c',
                          '\0'};
    key->length = 0;
    add_text(key, kinds);
    add_text(key, spec);
    add_text(key, sources->config_dir);
    add_text(key, sources->assume);
    for (int i = 0; i < sources->n_sets; i++)
        add_text(key, sources->sets[i]);
}

static void free_kept(struct sp_world *world)
{
    while (world->kept) {
        struct sp_remembered *const next = world->kept->next;
        free(world->kept);
        world->kept = next;
    }
    world->n_kept = 0;
}

void sp_free_world(struct sp_world *world)
{
    free_kept(world);
    sp_free_traces(world->traces);
    world->traces = NULL;
    sp_free_pipes(&world->pipes);
}

struct sp_pipes *sp_pipes_of(struct sp_world *world)
{
    return world ? &world->pipes : NULL;
}

const void *sp_recall(enum sp_keeping what, enum sp_config_kind kind, const char *spec,
                      const struct sp_sources *sources, size_t *size)
{
    struct sp_world *const world = sources->world;
    struct key key;
    if (!world || !world->kept)
        return NULL;
    make_key(&key, what, kind, spec, sources);
    for (struct sp_remembered **at = &world->kept; *at; at = &(*at)->next) {
        struct sp_remembered *const k = *at;
        if (k->key_length != key.length || memcmp(k->key, key.text, key.length) != 0)
            continue;
        *at = k->next; /* to the front: the next line asks for the same */
        k->next = world->kept;
        world->kept = k;
        *size = k->size;
        return k->data;
    }
    return NULL;
}

/* When there is no more room, everything is forgotten: a run that names that many configs names
 * most of them only once. */
void sp_remember(enum sp_keeping what, enum sp_config_kind kind, const char *spec,
                 const struct sp_sources *sources, const void *data, size_t size)
{
    struct key key;
    if (!sources->world)
        return;
    make_key(&key, what, kind, spec, sources);
    if (key.length > LONGEST_KEY)
        return;
    if (sources->world->n_kept == MOST_KEPT)
        free_kept(sources->world);
    struct sp_remembered *const k = sp_must(malloc(sizeof *k + size));
    k->next = sources->world->kept;
    k->key_length = key.length;
    k->size = size;
    memcpy(k->key, key.text, key.length);
    memcpy(k->data, data, size);
    sources->world->kept = k;
    sources->world->n_kept++;
}
