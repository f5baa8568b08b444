/* The hash table of a report's paths. */
#include "answer/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* FNV-1a, 64 bits: Fowler, Noll and Vo 1991. */
static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h;
}

/* The slot of a text: the one that holds it, or a free one. */
static size_t slot_of(const struct sp_index *index, struct sp_strings strings, const char *text)
{
    size_t at = (size_t)hash_of(text) & (index->slots - 1);
    struct sp_text room;
    while (index->slot[at] != 0 &&
           strcmp(strings.at(strings.of, index->slot[at] - 1, &room), text) != 0)
        at = (at + 1) & (index->slots - 1);
    return at;
}

static void enlarge(struct sp_index *index, struct sp_strings strings)
{
    struct sp_index larger = {.slots = index->slots ? 2 * index->slots : 128,
                              .taken = index->taken,
                              .known = index->known};
    larger.slot = sp_must(calloc(larger.slots, sizeof *larger.slot));
    for (size_t i = 0; i < index->slots; i++)
        if (index->slot[i] != 0) {
            const char *const text = strings.at(strings.of, index->slot[i] - 1, SP_ROOM);
            larger.slot[slot_of(&larger, strings, text)] = index->slot[i];
        }
    free(index->slot);
    *index = larger;
}

void sp_index_add(struct sp_index *index, struct sp_strings strings, size_t at)
{
    if (4 * (index->taken + 1) > 3 * index->slots)
        enlarge(index, strings);
    uint32_t *const slot =
        &index->slot[slot_of(index, strings, strings.at(strings.of, at, SP_ROOM))];
    if (*slot != 0)
        return;
    *slot = (uint32_t)at + 1;
    index->taken++;
}

size_t sp_index_find(const struct sp_index *index, struct sp_strings strings, const char *text)
{
    const uint32_t at = index->slots > 0 ? index->slot[slot_of(index, strings, text)] : 0;
    return at > 0 ? at - 1 : SIZE_MAX;
}
