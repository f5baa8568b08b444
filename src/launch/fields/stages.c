/* Layers of a plan's pipeline stages, as launch files state them. */
#include "launch/fields/stages.h"

void sp_count_stages(const struct sp_launched *l, int64_t layers[SP_MAX_STAGES])
{
    struct sp_stage_map map;
    const struct sp_stage_split split = sp_split_of(l->plan, SP_BALANCE_EVEN);
    sp_map_stages(l->model, &split, &map);
    for (int64_t stage = 0; stage < map.stages; stage++) {
        const struct sp_stage_kind *const kind = &map.kind[map.of[stage]];
        layers[stage] = 0;
        for (int i = 0; i < SP_LAYER_ENCODER; i++)
            layers[stage] += kind->layers.of[i];
    }
}
