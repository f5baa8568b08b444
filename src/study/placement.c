/* Names of layers and ranks of pipeline stages. */
#include "study/placement.h"

#include <stdio.h>

#include <scaleplan/pipeline.h>

#include "base/text.h"

static int64_t layers_of(const struct sp_stage_map *map, int64_t stage)
{
    const struct sp_layer_counts counts = map->kind[map->of[stage]].layers;
    int64_t layers = 0;
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        layers += (int64_t)counts.of[kind];
    return layers;
}

static void put_range(char *text, size_t size, int64_t first, int64_t n)
{
    sp_append(text, size, n > 1 ? "%s%lld-%lld" : "%s%lld", *text ? ", " : "", (long long)first,
              (long long)(first + n - 1));
}

void sp_name_stage_layers(const struct sp_stage_map *map, const struct sp_plan *plan, int64_t stage,
                          char *text, size_t size)
{
    const int64_t own = layers_of(map, stage), chunks = plan->vpp;
    int64_t first = 1;
    bool even = own % chunks == 0;
    text[0] = '\0';
    for (int64_t i = 0; i < map->stages; i++) {
        even = even && layers_of(map, i) == own;
        first += i < stage ? layers_of(map, i) : 0;
    }
    if (own == 0 || sp_schedules[plan->schedule].copies > 1 || (chunks > 1 && !even))
        return;
    if (chunks == 1) {
        put_range(text, size, first, own);
        return;
    }
    const int64_t each = own / chunks;
    for (int64_t c = 0; c < chunks; c++)
        put_range(text, size, (c * map->stages + stage) * each + 1, each);
}

void sp_name_stage_ranks(const struct sp_stage_map *map, double devices, int64_t stage, char *text,
                         size_t size)
{
    const int64_t each = (int64_t)devices / map->stages;
    text[0] = '\0';
    put_range(text, size, stage * each, each);
}
