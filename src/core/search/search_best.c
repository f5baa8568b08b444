/* The plans that a search keeps: the best, or the front of step time and memory. */
#include <math.h>
#include <string.h>

#include "core/search/search_internal.h"
#include "core/require.h"

static bool before(const struct sp_found *a, const struct sp_found *b)
{
    if (a->value != b->value)
        return a->value < b->value;
    if (a->group != b->group)
        return a->group < b->group;
    return a->leaf < b->leaf;
}

/* One plan per (tp, cp, pp, ep, etp) unless --meshes all: five rows that differ only in placement
 * say less than five meshes. */
static bool same_mesh(const struct sp_plan *a, const struct sp_plan *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->pp == b->pp && a->ep == b->ep && a->etp == b->etp;
}

/* Index of the plan with the same mesh; -1 if none. */
static int mesh_of(const struct sp_best *best, const struct sp_plan *plan)
{
    for (int i = 0; i < best->n && best->meshes; i++)
        if (same_mesh(&best->found[i].plan, plan))
            return i;
    return -1;
}

bool sp_is_beaten(const struct sp_front *front, double step_s, double bytes)
{
    for (int i = 0; i < front->n && front->found[i].step_s <= step_s; i++)
        if (front->found[i].bytes <= bytes &&
            (front->found[i].step_s < step_s || front->found[i].bytes < bytes))
            return true;
    return false;
}

static bool is_same_point(const struct sp_found *a, const struct sp_found *b)
{
    return a->step_s == b->step_s && a->bytes == b->bytes;
}

static void keep_on_front(struct sp_front *front, const struct sp_found *found)
{
    if (sp_is_beaten(front, found->step_s, found->bytes))
        return;
    int kept = 0;
    for (int i = 0; i < front->n; i++) {
        const struct sp_found *const other = &front->found[i];
        if (is_same_point(other, found) && before(other, found))
            return; /* nothing was moved yet: an equal point does not replace another */
        const bool beaten = found->step_s <= other->step_s && found->bytes <= other->bytes;
        if (!beaten)
            front->found[kept++] = *other;
    }
    front->n = kept;
    if (front->n == SP_SEARCH_FRONT) {
        front->full = true;
        return;
    }
    int at = front->n++;
    for (; at > 0 && front->found[at - 1].step_s > found->step_s; at--)
        front->found[at] = front->found[at - 1];
    front->found[at] = *found;
}

uint64_t sp_plan_complexity(const struct sp_plan *plan)
{
    const uint64_t kinds = (uint64_t)(plan->tp > 1) + (uint64_t)(plan->pp > 1) +
                           (uint64_t)(plan->cp > 1) + (uint64_t)(plan->ep > 1);
    const uint64_t extras =
        (uint64_t)(plan->recompute.modules != 0) + (uint64_t)plan->recompute.offload;
    return kinds << 48 | (uint64_t)plan->pp << 24 | extras << 16 | (uint64_t)plan->vpp;
}

/* Keeps a plan unless another is at least as good in both complexity and value. */
static void keep_simple(struct sp_best *best, const struct sp_found *found)
{
    const uint64_t complexity = sp_plan_complexity(&found->plan);
    int kept = 0;
    for (int i = 0; i < best->n_simple; i++)
        if (before(&best->simple[i], found) &&
            sp_plan_complexity(&best->simple[i].plan) <= complexity)
            return;
    for (int i = 0; i < best->n_simple; i++)
        if (before(&best->simple[i], found) ||
            sp_plan_complexity(&best->simple[i].plan) < complexity)
            best->simple[kept++] = best->simple[i];
    /* few combinations of kinds, stages, extras and chunks are near the best; if there are too
     * many, the worst is dropped */
    best->n_simple = kept < SP_SEARCH_SIMPLE ? kept : SP_SEARCH_SIMPLE - 1;
    int at = best->n_simple++;
    for (; at > 0 && before(found, &best->simple[at - 1]); at--)
        best->simple[at] = best->simple[at - 1];
    best->simple[at] = *found;
}

static void keep_fastest(struct sp_best *best, const struct sp_found *found)
{
    const struct sp_found *const than = &best->fastest;
    if (than->step_s == 0 || found->step_s < than->step_s ||
        (found->step_s == than->step_s && before(found, than)))
        best->fastest = *found;
}

void sp_put_simplest_first(struct sp_best *best)
{
    int chosen = 0, kept = 1;
    struct sp_found list[SP_SEARCH_TOP];
    for (int i = 1;
         i < best->n_simple && best->simple[i].value <= SP_SIMPLER * best->simple[0].value; i++)
        chosen = i; /* simpler than all before it */
    list[0] = best->simple[chosen];
    for (int i = 0; i < best->n && kept < best->wanted; i++) {
        const struct sp_found *const other = &best->found[i];
        const bool same = (other->group == list[0].group && other->leaf == list[0].leaf) ||
                          (best->meshes && same_mesh(&other->plan, &list[0].plan));
        if (!same)
            list[kept++] = *other;
    }
    best->n = kept;
    memcpy(best->found, list, (size_t)kept * sizeof *list);
}

void sp_keep(struct sp_best *best, const struct sp_found *found)
{
    sp_require(best->wanted >= 0 && best->wanted <= SP_SEARCH_TOP,
               "at most SP_SEARCH_TOP plans must be requested");
    if (best->front) {
        keep_on_front(best->front, found);
        return;
    }
    if (best->grounded) {
        keep_simple(best, found);
        keep_fastest(best, found);
    }
    const int mesh = mesh_of(best, &found->plan);
    if (mesh >= 0) {
        if (!before(found, &best->found[mesh]))
            return;
        for (int i = mesh; i + 1 < best->n; i++)
            best->found[i] = best->found[i + 1];
        best->n--;
    } else if (best->n == best->wanted) {
        if (best->n == 0 || !before(found, &best->found[best->n - 1]))
            return;
        best->n--;
    }
    int at = best->n++;
    for (; at > 0 && before(found, &best->found[at - 1]); at--)
        best->found[at] = best->found[at - 1];
    best->found[at] = *found;
}

void sp_merge_best(struct sp_best *best, const struct sp_best *other)
{
    for (int i = 0; i < other->n; i++)
        sp_keep(best, &other->found[i]);
    for (int i = 0; i < other->n_simple; i++)
        keep_simple(best, &other->simple[i]);
    if (other->grounded && other->fastest.step_s > 0)
        keep_fastest(best, &other->fastest);
    for (int i = 0; other->front && i < other->front->n; i++)
        sp_keep(best, &other->front->found[i]);
    if (other->front && other->front->full)
        best->front->full = true;
}
