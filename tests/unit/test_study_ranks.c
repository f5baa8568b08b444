/* Orders of machines, plans and instances, from made-up results by looking at all pairs. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include "study/search_machines.h"
#include "study/serve_contest.h"

/* A search of machines with made-up results. */
static struct sp_search *made_up(int machines)
{
    struct sp_search *const s = calloc(1, sizeof *s);
    s->run = (struct sp_search_run){.wanted = 4, .shards = 1};
    for (int i = 0; i < machines; i++) {
        struct sp_candidate *const m = sp_add_machine(s);
        m->base.hw = (struct sp_hardware){.chips_per_slice = 8 << draw(3), .slices = 1};
        m->base.plan.batch = 64;
        m->asked = (struct sp_variant){sp_chips(&m->base.hw), 64};
        m->base.problem.price.usd_per_h = (double)(1 + draw(9));
        m->base.left_idle = 8 * (int64_t)draw(2);
    }
    return s;
}

static void drop(struct sp_search *s)
{
    sp_close_search(s);
    free(s);
}

static void put(struct sp_found *found, int n)
{
    double step = spread(1, 2);
    for (int k = 0; k < n; k++) {
        found[k] = (struct sp_found){.value = step * spread(1, 1.1),
                                     .step_s = step,
                                     .bytes = floor(spread(1e9, 2e9)),
                                     .group = draw(3),
                                     .leaf = (uint64_t)k};
        step += (double)draw(3) / 8; /* some are equal */
    }
}

static int most_machines_fit(struct sp_search *s)
{
    int n = 0;
    while (sp_add_machine(s))
        n++;
    return n;
}

static void room_for_machines(void **state)
{
    (void)state;
    struct sp_search *const s = made_up(0);
    assert_int_equal(most_machines_fit(s), SP_MAX_MACHINES);
    drop(s);
}

/* Steps of the batch that was asked for: a batch of 60 in place of 64 takes 64/60 of them. A chip's
 * price is for its idle neighbours too. */
static double value(const struct sp_search *s, const struct sp_candidate *m, double step_s)
{
    const double step = step_s * 64 / (double)m->base.plan.batch;
    const double chips = (double)(m->base.hw.chips_per_slice + m->base.left_idle);
    return s->problem.goal == SP_GOAL_COST ? chips * step / 3600 * m->base.problem.price.usd_per_h
                                           : step;
}

/* The plans of all machines by time or cost, every pair in order; the best two machines by looking
 * at all. */
static void plans_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct sp_search *const s = made_up(1 + (int)draw(4));
        size_t n = 0, wanted = 0;
        int best = -1, second = -1;
        s->problem.goal = draw(2) ? SP_GOAL_COST : SP_GOAL_STEP;
        for (int k = 0; k < s->machines; k++) {
            struct sp_candidate *const m = s->machine[k];
            m->base.plan.batch = draw(2) ? 64 : 60;
            m->result.best.n = (int)draw(4);
            put(m->result.best.found, m->result.best.n);
            wanted += (size_t)m->result.best.n;
            const struct sp_found *const first = sp_best_of(s, k);
            assert_true(first == (m->result.best.n > 0 ? m->result.best.found : NULL));
            assert_close(sp_best_step_of(s, k), first ? first->step_s : NAN, 0);
            assert_close(sp_machine_value(s, k), first ? value(s, m, first->step_s) : NAN, 1e-14);
        }
        struct sp_ranked *const all = sp_rank_plans(s, &n);
        assert_int_equal(n, wanted);
        for (size_t k = 0; k < n; k++) {
            const struct sp_ranked *const x = &all[k];
            assert_close(x->value, value(s, s->machine[x->machine], x->found->step_s), 1e-14);
            for (size_t j = k + 1; j < n; j++) {
                const struct sp_ranked *const y = &all[j];
                assert_true(x->value <= y->value);
                if (x->value < y->value || x->found->step_s < y->found->step_s)
                    continue;
                assert_true(x->found->step_s == y->found->step_s && x->machine <= y->machine);
                if (x->machine == y->machine)
                    assert_true(
                        x->found->group < y->found->group ||
                        (x->found->group == y->found->group && x->found->leaf < y->found->leaf));
            }
        }
        for (int k = 0; k < s->machines; k++)
            if (!isnan(sp_machine_value(s, k)) &&
                (best < 0 || sp_machine_value(s, k) < sp_machine_value(s, best)))
                best = k;
        for (int k = 0; k < s->machines; k++)
            if (k != best && !isnan(sp_machine_value(s, k)) &&
                (second < 0 || sp_machine_value(s, k) < sp_machine_value(s, second)))
                second = k;
        assert_int_equal(sp_best_machine_but(s, -1), best);
        if (best >= 0)
            assert_int_equal(sp_best_machine_but(s, best), second);
        free(all);
        drop(s);
    }
}

/* Of a common front no plan has another that is no worse in time, memory and cost, and better in
 * one; every other plan has. */
static void fronts_by_all_pairs(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct sp_search *const s = made_up(2 + (int)draw(3));
        const struct sp_found *points[64];
        double cost[64];
        int all_points = 0;
        size_t n = 0, wanted = 0;
        s->run.front = true;
        s->front_has_cost = draw(2);
        for (int k = 0; k < s->machines; k++) {
            struct sp_candidate *const m = s->machine[k];
            m->result.front.n = (int)draw(6);
            put(m->result.front.found, m->result.front.n);
            for (int p = 0; p < m->result.front.n; p++) {
                struct sp_found *const found = &m->result.front.found[p];
                found->bytes = (double)(1 + draw(6));
                cost[all_points] = s->front_has_cost
                                       ? (double)(m->base.hw.chips_per_slice + m->base.left_idle) *
                                             found->step_s / 3600 * m->base.problem.price.usd_per_h
                                       : 0;
                points[all_points++] = found;
            }
        }
        struct sp_ranked *const all = sp_rank_plans(s, &n);
        for (int a = 0; a < all_points; a++) {
            bool beaten = false, listed = false;
            for (int b = 0; b < all_points; b++) {
                const double mine[] = {points[a]->step_s, points[a]->bytes, cost[a]};
                const double its[] = {points[b]->step_s, points[b]->bytes, cost[b]};
                int worse = 0, better = 0;
                for (int c = 0; c < 3; c++) {
                    worse += its[c] > mine[c];
                    better += its[c] < mine[c];
                }
                beaten = beaten || (worse == 0 && better > 0);
            }
            for (size_t k = 0; k < n; k++)
                listed = listed || all[k].found == points[a];
            assert_int_equal(listed, !beaten);
            wanted += !beaten;
        }
        assert_int_equal(n, wanted);
        free(all);
        drop(s);
    }
}

/* Both ends and evenly spaced ones between: of 9 points 0, 2, 4, 6, 8; of 10 in 4 parts the whole
 * numbers below 0, 3, 6, 9. */
static void thinned_out(void **state)
{
    (void)state;
    struct sp_ranked all[10];
    static const int five[] = {0, 2, 4, 6, 8}, four[] = {0, 3, 6, 9}, three[] = {0, 4, 9};
    for (int i = 0; i < 10; i++)
        all[i].machine = i;
    sp_thin_out(all, 9, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(all[i].machine, five[i]);
    for (int i = 0; i < 10; i++)
        all[i].machine = i;
    sp_thin_out(all, 10, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(all[i].machine, four[i]);
    for (int i = 0; i < 10; i++)
        all[i].machine = i;
    sp_thin_out(all, 10, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(all[i].machine, three[i]);
    for (int i = 0; i < 10; i++)
        all[i].machine = i;
    sp_thin_out(all, 10, 1);
    assert_int_equal(all[0].machine, 0);
}

/* Sums of the machines; proven only if each was searched whole. */
static void summed_up(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct sp_search *const s = made_up(3);
        for (int i = 0; i < 3; i++) {
            struct sp_search_result *const r = &s->machine[i]->result;
            r->counts = (struct sp_search_counts){.total = (uint64_t)100 << i,
                                                  .evaluated = (uint64_t)10 << i,
                                                  .no_memory = (uint64_t)20 << i,
                                                  .by_memory = (uint64_t)30 << i,
                                                  .by_time = (uint64_t)40 << i};
            r->elapsed_s = 1 << i;
            r->threads = i == 1 ? 8 : 2;
        }
        s->machine[what == 1 ? 2 : 0]->result.partial = what == 1;
        s->machine[1]->result.front.full = what == 2;
        s->run.shards = what == 3 ? 2 : 1;
        const struct sp_search_sum sum = sp_sum_up(s);
        assert_int_equal(sum.counts.total, 700);
        assert_int_equal(sum.counts.evaluated, 70);
        assert_int_equal(sum.counts.no_memory, 140);
        assert_int_equal(sum.counts.by_memory, 210);
        assert_int_equal(sum.counts.by_time, 280);
        assert_close(sum.elapsed_s, 7, 0);
        assert_int_equal(sum.threads, 8);
        assert_int_equal(sum.partial, what == 1);
        assert_int_equal(sum.front_is_full, what == 2);
        assert_int_equal(sum.is_proven, what == 0);
        drop(s);
    }
}

/* What a plan is worth: of devices their number, of memory its bytes, else the step for a sequence;
 * nothing where none fits. The most value of a plan turns that around. */
static void worth_by_goal(void **state)
{
    (void)state;
    struct sp_search *const s = made_up(1);
    struct sp_candidate *const m = s->machine[0];
    const struct sp_variant other = {16, 50};
    m->base.hw.chips_per_slice = 24;
    m->base.hw.slices = 2;
    assert_true(isinf(sp_worth_of(s, m)));
    m->result.best.n = 1;
    m->result.best.found[0] = (struct sp_found){.value = 32, .step_s = 30, .bytes = 7};
    assert_close(sp_worth_of(s, m), 0.5, 0);
    assert_close(sp_value_worth(s, &other, 0.5), 25, 0);
    s->problem.goal = SP_GOAL_MEMORY;
    assert_close(sp_worth_of(s, m), 32, 0);
    assert_close(sp_value_worth(s, &other, 0.5), 0.5, 0);
    s->problem.goal = SP_GOAL_DEVICES;
    assert_close(sp_worth_of(s, m), 48, 0);
    assert_true(isinf(sp_value_worth(s, &other, 0.5)));
    drop(s);
}

/* The machine with the cheapest step: of a front by its fastest plan; none without prices. */
static void cheapest_of_all(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct sp_search *const s = made_up(1 + (int)draw(4));
        int want = -1;
        double least = 0;
        s->run.front = draw(2);
        for (int k = 0; k < s->machines; k++) {
            struct sp_candidate *const m = s->machine[k];
            const int n = (int)draw(3);
            struct sp_found *const found =
                s->run.front ? m->result.front.found : m->result.best.found;
            *(s->run.front ? &m->result.front.n : &m->result.best.n) = n;
            put(found, n);
            if (draw(4) == 0)
                m->base.problem.price.usd_per_h = NAN;
            const double cost = (double)(m->base.hw.chips_per_slice + m->base.left_idle) *
                                found[0].step_s / 3600 * m->base.problem.price.usd_per_h;
            if (n > 0 && !isnan(cost) && (want < 0 || cost < least)) {
                want = k;
                least = cost;
            }
        }
        assert_int_equal(sp_cheapest_of(s), want);
        drop(s);
    }
}

/* Plans of the first machine that rank before a step. */
static void plans_ahead(void **state)
{
    (void)state;
    struct sp_search *const s = made_up(1);
    struct sp_best *const best = &s->machine[0]->result.best;
    const struct sp_plan any = {.dp = 1};
    for (int n = 0; n <= 3; n++) {
        best->n = n;
        for (int k = 0; k < 3; k++)
            best->found[k].value = 1 + k;
        for (int half = 1; half < 9; half++)
            assert_int_equal(sp_count_ahead(s, &any, half / 2.0),
                             (n > 0 && half > 2) + (n > 1 && half > 4) + (n > 2 && half > 6));
    }
    drop(s);
}

/* Points of some machines, with few values, so that some are equal. */
static struct sp_serve_point point(void)
{
    struct sp_serve_point p = {.chips = 1 << draw(3),
                               .paid_chips = 1 << draw(3),
                               .tokens_per_s_per_chip = 10 + (double)draw(5)};
    p.steady.tpot_s = 0.01 * (double)(1 + draw(5));
    p.steady.ttft_s = 0.1 * (double)(1 + draw(5));
    p.steady.requests_per_s = (double)(1 + draw(5));
    return p;
}

/* Whether the instance a is listed before b: estimates first, then by the objective, in which a
 * million tokens cost chips x price / 3600 s over requests x (input + output) tokens. */
static double usd(const struct sp_serve_rival *r, const struct sp_serve_point *p)
{
    return p->paid_chips * r->usd_per_h / 3600 /
           (p->steady.requests_per_s * (r->input + r->output)) * 1e6;
}

static double score(enum sp_serve_objective objective, const struct sp_serve_rival *r,
                    const struct sp_serve_point *p)
{
    switch (objective) {
    case SP_SERVE_THROUGHPUT:
        return -p->tokens_per_s_per_chip;
    case SP_SERVE_LATENCY:
        return p->steady.tpot_s;
    case SP_SERVE_TTFT:
        return p->steady.ttft_s;
    default:
        return usd(r, p);
    }
}

static void instances_of_many_machines(void **state)
{
    (void)state;
    static const enum sp_serve_objective objectives[] = {SP_SERVE_THROUGHPUT, SP_SERVE_LATENCY,
                                                         SP_SERVE_TTFT, SP_SERVE_COST};
    for (int i = 0; i < 400; i++) {
        struct sp_serve_point points[4][5];
        struct sp_serve_rival rivals[4];
        struct sp_serve_entry *entries;
        const enum sp_serve_objective objective = objectives[draw(4)];
        const int n = 1 + (int)draw(4);
        const bool front = draw(2);
        size_t wanted = 0;
        for (int r = 0; r < n; r++) {
            rivals[r] = (struct sp_serve_rival){.points = points[r],
                                                .n = (int)draw(6),
                                                .usd_per_h = draw(4) ? (double)(1 + draw(4)) : NAN,
                                                .input = 512,
                                                .output = 128,
                                                .estimated = draw(2)};
            for (int k = 0; k < rivals[r].n; k++)
                points[r][k] = point();
        }
        const size_t left = sp_rank_serving(rivals, n, objective, front, &entries);
        for (int a = 0; a < n; a++)
            for (int k = 0; k < rivals[a].n; k++) {
                const struct sp_serve_point *const p = &points[a][k];
                bool beaten = false, listed = false;
                for (int b = 0; b < n; b++)
                    for (int j = 0; front && b != a && j < rivals[b].n; j++) {
                        const struct sp_serve_point *const o = &points[b][j];
                        const double mine = usd(&rivals[a], p), its = usd(&rivals[b], o);
                        beaten = beaten || (rivals[a].estimated == rivals[b].estimated &&
                                            o->steady.tpot_s <= p->steady.tpot_s &&
                                            o->tokens_per_s_per_chip >= p->tokens_per_s_per_chip &&
                                            (isnan(mine) || isnan(its) || its <= mine));
                    }
                for (size_t e = 0; e < left; e++)
                    if (entries[e].point == p) {
                        listed = true;
                        assert_int_equal(entries[e].machine, a);
                        assert_close(entries[e].usd, usd(&rivals[a], p), 1e-12);
                        assert_int_equal(entries[e].estimated, rivals[a].estimated);
                    }
                assert_int_equal(listed, !beaten);
                wanted += !beaten;
            }
        assert_int_equal(left, wanted);
        for (size_t e = 1; e < left; e++) {
            const struct sp_serve_entry *const x = &entries[e - 1], *const y = &entries[e];
            const double before = score(objective, &rivals[x->machine], x->point),
                         after = score(objective, &rivals[y->machine], y->point);
            assert_true(x->estimated >= y->estimated);
            if (x->estimated == y->estimated && !isnan(before) && !isnan(after))
                assert_true(before <= after + 1e-12 * fabs(after));
        }
        free(entries);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_for_machines),
        cmocka_unit_test(plans_in_order),
        cmocka_unit_test(fronts_by_all_pairs),
        cmocka_unit_test(thinned_out),
        cmocka_unit_test(summed_up),
        cmocka_unit_test(worth_by_goal),
        cmocka_unit_test(cheapest_of_all),
        cmocka_unit_test(plans_ahead),
        cmocka_unit_test(instances_of_many_machines),
    };
    return cmocka_run_group_tests_name("study_ranks", tests, NULL, NULL);
}
