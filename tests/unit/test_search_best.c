/* The plans that a search keeps, of random ones offered in random order, against all of them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/search.h>

#include "core/search/search_internal.h"

static uint64_t seed = 88172645463325252u;

static uint64_t draw(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

enum { MOST = 120 };

/* Plans of few values, so that some are equal in value, in step and memory, or in mesh. */
static int draw_plans(struct sp_found *all)
{
    const int n = 1 + (int)draw(MOST);
    for (int i = 0; i < n; i++) {
        all[i] = (struct sp_found){.value = 1 + (double)draw(40) / 1000,
                                   .step_s = 1 + (double)draw(12),
                                   .bytes = 1 + (double)draw(12),
                                   .group = draw(5),
                                   .leaf = (uint64_t)i};
        struct sp_plan *const p = &all[i].plan;
        *p = (struct sp_plan){.tp = 1 + (int64_t)draw(2), .pp = 1 + (int64_t)draw(3)};
        p->cp = 1 + (int64_t)draw(2);
        p->ep = 1 + (int64_t)draw(2);
        p->etp = 1;
        p->vpp = 1 + (int64_t)draw(2);
        p->recompute.modules = (unsigned)draw(2);
        p->recompute.offload = draw(2);
    }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const struct sp_found *const x = a, *const y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->leaf < y->leaf ? -1 : 1;
}

static bool same(const struct sp_found *a, const struct sp_found *b)
{
    return a->group == b->group && a->leaf == b->leaf;
}

static bool same_mesh(const struct sp_plan *a, const struct sp_plan *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->pp == b->pp && a->ep == b->ep && a->etp == b->etp;
}

/* Kinds of parallelism, then stages, then extras, then chunks. */
static int compare_complexity(const struct sp_plan *a, const struct sp_plan *b)
{
    const int64_t x[] = {(a->tp > 1) + (a->pp > 1) + (a->cp > 1) + (a->ep > 1), a->pp,
                         (a->recompute.modules != 0) + a->recompute.offload, a->vpp};
    const int64_t y[] = {(b->tp > 1) + (b->pp > 1) + (b->cp > 1) + (b->ep > 1), b->pp,
                         (b->recompute.modules != 0) + b->recompute.offload, b->vpp};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Offers all plans, to one list or to two that are merged. */
static void offer(struct sp_best *best, struct sp_best *other, const struct sp_found *all, int n)
{
    const int parts = 1 + (int)draw(2);
    for (int i = 0; i < n; i++)
        sp_keep(parts == 2 && draw(2) ? other : best, &all[i]);
    sp_merge_best(best, other);
}

/* The first `wanted` by value, then group and leaf; of a mesh only its first. */
static void the_best(void **state)
{
    (void)state;
    struct sp_found all[MOST];
    for (int round = 0; round < 1500; round++) {
        struct sp_best *const best = calloc(1, sizeof *best), *const other =
                                                                  calloc(1, sizeof *other);
        best->wanted = other->wanted = 1 + (int)draw(12);
        best->meshes = other->meshes = draw(2);
        const int n = draw_plans(all);
        offer(best, other, all, n);
        qsort(all, (size_t)n, sizeof *all, by_value);
        int kept = 0;
        for (int i = 0; i < n && kept < best->wanted; i++) {
            bool first = true;
            for (int k = 0; k < i && best->meshes; k++)
                first = first && !same_mesh(&all[i].plan, &all[k].plan);
            if (!first)
                continue;
            assert_true(kept < best->n && same(&best->found[kept], &all[i]));
            kept++;
        }
        assert_int_equal(best->n, kept);
        free(best);
        free(other);
    }
}

/* Points that none beats in step and memory, of equal ones the first by value; fastest first. */
static void the_front(void **state)
{
    (void)state;
    struct sp_found all[MOST];
    for (int round = 0; round < 1500; round++) {
        struct sp_front *const fronts = calloc(2, sizeof *fronts);
        struct sp_best *const best = calloc(1, sizeof *best), *const other =
                                                                  calloc(1, sizeof *other);
        best->front = &fronts[0];
        other->front = &fronts[1];
        const int n = draw_plans(all);
        offer(best, other, all, n);
        int kept = 0;
        for (int i = 0; i < n; i++) {
            bool stays = true, beaten = false;
            for (int k = 0; k < n; k++) {
                const bool worse = all[k].step_s > all[i].step_s || all[k].bytes > all[i].bytes;
                const bool equal = all[k].step_s == all[i].step_s && all[k].bytes == all[i].bytes;
                stays = stays && (k == i || worse || (equal && by_value(&all[i], &all[k]) < 0));
                beaten = beaten || (!worse && !equal);
            }
            assert_int_equal(sp_is_beaten(best->front, all[i].step_s, all[i].bytes), beaten);
            bool listed = false;
            for (int k = 0; k < best->front->n; k++)
                listed = listed || same(&best->front->found[k], &all[i]);
            assert_int_equal(listed, stays);
            kept += stays;
        }
        assert_int_equal(best->front->n, kept);
        for (int k = 1; k < kept; k++)
            assert_true(best->front->found[k - 1].step_s < best->front->found[k].step_s);
        assert_false(best->front->full);
        free(best);
        free(other);
        free(fronts);
    }
}

/* Simple plans: none is at least as simple and ahead; the fastest by the estimate; and the simplest
 * within 1 % goes first, the others in their order. */
static void the_simplest(void **state)
{
    (void)state;
    struct sp_found all[MOST];
    for (int round = 0; round < 1500; round++) {
        struct sp_best *const best = calloc(1, sizeof *best), *const other =
                                                                  calloc(1, sizeof *other);
        best->wanted = other->wanted = 1 + (int)draw(12);
        best->meshes = other->meshes = draw(2);
        best->grounded = other->grounded = true;
        const int n = draw_plans(all);
        offer(best, other, all, n);
        qsort(all, (size_t)n, sizeof *all, by_value);
        int kept = 0, fastest = 0, first = 0;
        for (int i = 0; i < n; i++) {
            bool stays = true;
            for (int k = 0; k < i; k++)
                stays = stays && compare_complexity(&all[k].plan, &all[i].plan) > 0;
            if (stays) {
                assert_true(kept < best->n_simple && same(&best->simple[kept], &all[i]));
                kept++;
                if (all[i].value <= 1.01 * all[0].value)
                    first = i;
            }
            if (all[i].step_s < all[fastest].step_s)
                fastest = i;
        }
        assert_int_equal(best->n_simple, kept);
        assert_true(same(&best->fastest, &all[fastest]));
        struct sp_found list[SP_SEARCH_TOP];
        int listed = 1;
        list[0] = all[first];
        for (int i = 0; i < best->n && listed < best->wanted; i++)
            if (!same(&best->found[i], &list[0]) &&
                !(best->meshes && same_mesh(&best->found[i].plan, &list[0].plan)))
                list[listed++] = best->found[i];
        sp_put_simplest_first(best);
        assert_int_equal(best->n, listed);
        for (int i = 0; i < listed; i++)
            assert_true(same(&best->found[i], &list[i]));
        free(best);
        free(other);
    }
}

/* 512 points are kept; one more is not, and said so. */
static void a_full_front(void **state)
{
    (void)state;
    struct sp_front *const front = calloc(1, sizeof *front);
    struct sp_best *const best = calloc(1, sizeof *best);
    best->front = front;
    for (int i = 0; i <= SP_SEARCH_FRONT; i++) {
        assert_false(front->full);
        const struct sp_found one = {.step_s = i, .bytes = 1000 - i, .leaf = (uint64_t)i};
        sp_keep(best, &one);
    }
    assert_true(front->full);
    assert_int_equal(front->n, SP_SEARCH_FRONT);
    free(best);
    free(front);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best),
        cmocka_unit_test(the_front),
        cmocka_unit_test(the_simplest),
        cmocka_unit_test(a_full_front),
    };
    return cmocka_run_group_tests_name("search_best", tests, NULL, NULL);
}
