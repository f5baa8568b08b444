/* The best choice for a plan's activations, module by module: kept, recomputed, or in host
 * memory. All stages do the same, though the first holds more micro-batches than the last: a launch
 * of Megatron-Core or NeMo 2 has one TransformerConfig with its modules (--recompute-num-layers is
 * a number per stage), torchtitan one policy for the layers of all its model parts, MaxText one
 * remat_policy. Stages with more room would gain little by keeping more: the slowest sets the pace.
 * Layers chosen per stage, which FlagScale (--recompute-num-layers-per-stage) and NeMo 1
 * (activations_checkpoint_layers_per_pipeline) accept, are not planned. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "core/require.h"

enum { WAYS = SP_POLICIES + (1 << SP_MODULES) };

/* A recomputation, with its step if nothing is moved. s. */
struct way {
    struct sp_recompute recompute;
    double step_s;
};

/* The plan on its stages, and the best so far. */
struct choosing {
    struct sp_step_inputs in;
    struct sp_plan plan;
    struct sp_layers layers;
    struct sp_rank_layers mine;
    struct sp_stage_map map;
    struct sp_prepared_memory memory;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    double most_bytes;
    int n;
    struct way way[WAYS];
    struct sp_kept_found *best;
};

static double step_of(struct choosing *c)
{
    return sp_step_on_stages_s(&c->in, &c->mine, &c->map);
}

static double bytes_of(struct choosing *c)
{
    struct sp_stage_memory m;
    sp_recompute_memory(&c->plan, c->in.framework, &c->map, &c->memory, c->kinds);
    sp_fullest_beside(&c->in, &c->map, c->kinds, NULL, &m);
    return (double)m.device;
}

static void add_way(struct choosing *c, const struct sp_recompute *recompute, bool moves)
{
    struct way way = {.recompute = *recompute};
    if (!sp_may_recompute(&c->plan, recompute))
        return;
    if (moves) { /* try_sets adds the tensors that move */
        way.recompute.offload = false;
        way.recompute.away = 0;
    }
    c->plan.recompute = way.recompute;
    way.step_s = step_of(c);
    int at = c->n++;
    for (; at > 0 && c->way[at - 1].step_s > way.step_s; at--)
        c->way[at] = c->way[at - 1];
    c->way[at] = way;
}

/* Lists the recomputations, those with the shortest steps first. */
static void list_ways(struct choosing *c, const struct sp_kept_space *space,
                      const struct sp_recompute *own)
{
    const bool moves = space->away != 0;
    if (space->is_given)
        add_way(c, own, moves);
    for (int i = 0; i < SP_POLICIES && !space->is_given; i++) {
        struct sp_recompute r = sp_policies[i].recompute;
        r.offload = own->offload;
        r.away = own->away;
        if (space->policy[i])
            add_way(c, &r, moves);
        for (unsigned set = space->modules; i == SP_REMAT_NONE && space->policy[i] && set;
             set = (set - 1) & space->modules) {
            r.modules = set;
            add_way(c, &r, moves);
        }
    }
}

/* Takes the plan if it fits and is better; whether it fits. */
static bool take(struct choosing *c)
{
    struct sp_kept_found *const best = c->best;
    const double bytes = bytes_of(c);
    if (bytes > c->most_bytes)
        return false;
    const double step = step_of(c);
    if (step < best->step_s || (step == best->step_s && bytes < best->device_bytes))
        *best = (struct sp_kept_found){c->plan.recompute, c->plan.optimizer_away, step, bytes};
    return true;
}

/* Whether every tensor of a set that waits in host memory is accompanied by those that must wait
 * with it. */
static bool is_whole(const struct sp_kept_space *space, unsigned set)
{
    unsigned needed = 0;
    for (int i = 0; i < SP_AWAYS; i++)
        needed |= set >> i & 1 ? space->needs[i] : 0;
    return (needed & ~set) == 0;
}

/* Tries every set of tensors with a recomputation, except supersets of a sufficient one. A set
 * comes after its subsets. */
static void try_sets(struct choosing *c, const struct sp_kept_space *space)
{
    unsigned enough[1 << SP_AWAYS];
    const unsigned away = space->away;
    int n = 0;
    if (take(c) || away == 0 || (space->keeps_inputs && c->plan.recompute.down >= 1))
        return;
    c->plan.recompute.offload = true;
    for (unsigned set = (0 - away) & away; set; set = (set - away) & away) {
        bool more = !is_whole(space, set);
        for (int i = 0; i < n; i++)
            more |= (enough[i] & ~set) == 0;
        c->plan.recompute.away = set;
        if (!more && take(c))
            enough[n++] = set;
    }
}

struct sp_kept_space sp_kept_space_of(const struct sp_dimensions *open,
                                      const struct sp_repertoire *runs, bool moves)
{
    enum { PARTS = 8 }; /* eighths of the optimizer */
    struct sp_kept_space space = {
        .modules =
            open->n_modules > 0 ? open->modules[open->n_modules - 1] : 0, /* the last has all */
        .away = moves ? runs->away : 0,
        .keeps_inputs = !runs->offload,
        .optimizer_parts = moves && runs->optimizer_away ? PARTS : 0,
    };
    for (int i = 0; i < SP_POLICIES; i++)
        space.policy[i] = open->policy[i];
    for (int i = 0; i < SP_AWAYS; i++)
        space.needs[i] = runs->away_needs[i];
    return space;
}

bool sp_choose_kept(const struct sp_step_inputs *in, const struct sp_kept_space *space,
                    double most_bytes, struct sp_kept_found *found)
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct choosing c;
    const int parts = space->optimizer_parts > 0 ? space->optimizer_parts : 1;
    c.in = *in;
    c.plan = *in->plan;
    c.in.plan = &c.plan;
    c.n = 0;
    c.most_bytes = most_bytes;
    c.best = found;
    const double most_s = space->most_s > 0 ? space->most_s : INFINITY;
    *found = (struct sp_kept_found){.step_s = INFINITY};
    if (!in->layers)
        sp_list_model(in->model, &c.layers);
    const struct sp_stage_split split =
        sp_split_of(&c.plan, (enum sp_balance)in->framework->balance);
    sp_map_stages(in->model, &split, &c.map);
    sp_layers_on_rank(in->layers ? in->layers : &c.layers, &c.plan, in->framework, &c.mine);
    sp_prepare_memory(&c.mine, &c.plan, in->framework, &c.memory);
    sp_memory_of_kinds(in->framework, &c.memory, &c.map, c.kinds);
    list_ways(&c, space, &in->plan->recompute);
    for (int part = 0; part <= (space->optimizer_parts > 0 ? parts : 0); part++) {
        if (space->optimizer_parts > 0)
            c.plan.optimizer_away = (double)part / parts;
        for (int i = 0; i < c.n && c.way[i].step_s < found->step_s; i++) {
            c.plan.recompute = c.way[i].recompute;
            /* the hosts' share of the optimizer lengthens every step */
            const double least_s = part > 0 ? step_of(&c) : c.way[i].step_s;
            if (least_s >= found->step_s || least_s > most_s)
                break;
            try_sets(&c, space);
        }
    }
    return isfinite(found->step_s);
}
