/* The layers of each stage with which a plan, or the plans of a search, are the fastest. */
#include "study/stage_layouts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static struct sp_layout_room *new_room(void)
{
    struct sp_layout_room *const room = sp_must(malloc(sp_layout_room_bytes()));
    return room;
}

/* The framework's split counts where it fits: it is simpler. */
bool sp_lay_out_stages(struct sp_planned *p)
{
    struct sp_step_inputs in = sp_inputs_of(p);
    struct sp_plan split = p->plan;
    struct sp_stage_memory memory;
    struct sp_layout_found found;
    split.own.n = 0;
    in.plan = &split;
    const double usual_s = sp_evaluate(&in, &memory);
    const double residual = in.framework->memory_residual,
                 capacity = sp_capacity_bytes(&p->hw.chip);
    const double most[] = {sp_most_bytes(residual, capacity, SP_VERDICT_YES),
                           sp_most_bytes(residual, capacity, SP_VERDICT_TIGHT), INFINITY};
    struct sp_layout_room *const room = new_room();
    enum sp_layout_outcome outcome = SP_LAYOUT_NONE;
    p->plan.own.n = 0;
    for (size_t i = 0; i < sizeof most / sizeof *most && outcome == SP_LAYOUT_NONE; i++) {
        const bool fits = (double)memory.device <= most[i];
        const double than_s = fits ? usual_s * (1 - 1e-9) : INFINITY;
        outcome = sp_find_layout(&in, most[i], than_s, room, &found);
        if (outcome == SP_LAYOUT_FOUND)
            p->plan.own = found.own;
        else if (fits)
            break;
    }
    free(room);
    return outcome != SP_LAYOUT_UNKNOWN;
}

/* The factor on a plan's step that ranks it: how far it is from measured runs. */
static double doubt_of(const struct sp_search *s, const struct sp_ranked *one)
{
    const struct sp_candidate *const m = s->machine[one->machine];
    return s->grounded ? sp_doubt(sp_octaves_of(m, &one->found->plan)) : 1;
}

bool sp_find_laid_out(const struct sp_search *s, const struct sp_ranked *all, size_t n,
                      struct sp_laid_out *found)
{
    const struct sp_candidate *const m = s->machine[all[0].machine];
    const bool any = s->limits.any;
    if (!sp_ranks_time(s) || s->robust || !sp_repertoire_of(&m->base, any).own_stages)
        return false;
    struct sp_layout_room *const room = new_room();
    struct sp_step_inputs in = sp_inputs_of(&m->base);
    bool exists = false;
    const double first = all[0].found->step_s * doubt_of(s, &all[0]);
    found->value = first / SP_SIMPLER;
    for (size_t i = 0; i < n; i++) {
        const struct sp_plan *const plan = &all[i].found->plan;
        const double doubt = doubt_of(s, &all[i]);
        struct sp_layout_found layout;
        in.plan = plan;
        if (all[i].machine != all[0].machine ||
            sp_find_layout(&in, m->space.most_bytes, found->value / doubt, room, &layout) !=
                SP_LAYOUT_FOUND)
            continue;
        exists = true;
        *found = (struct sp_laid_out){
            i, *plan, layout.step_s, layout.device_bytes, layout.step_s * doubt, first};
        found->plan.own = layout.own;
    }
    free(room);
    return exists;
}
