/* The search against itself: pruned and exhaustive, in shards and whole, single- and
 * multi-threaded, and every plan against `step`. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "config/load.h"
#include "draws.h"
#include "study/run_search.h"

static uint64_t state;

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static int64_t one_of(const int64_t *values, size_t n)
{
    return values[next() % n];
}
#define PICK(...)                                                                                  \
    one_of((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

struct problem {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    struct sp_search_space space;
};

static void make_model(struct sp_model *m)
{
    const bool experts = next() % 3 == 0;
    *m = (struct sp_model){
        .name = "random",
        .layers = PICK(4, 6, 8, 12, 14, 16, 30),
        .d_model = PICK(1024, 2048, 4096),
        .d_ff = PICK(4096, 8192, 14336),
        .heads = PICK(8, 16, 32),
        .kv_heads = 8,
        .head_dim = 128,
        .vocab = PICK(32000, 128256),
        .gated_mlp = true,
        .norms_per_layer = 2,
        .tied_embeddings = next() % 2,
    };
    if (experts)
        m->moe = (struct sp_moe){.experts = PICK(4, 8, 16),
                                 .top_k = 2,
                                 .d_ff_expert = 2048,
                                 .every = PICK(1, 2),
                                 .shared_experts = PICK(0, 1),
                                 .dense_layers = PICK(0, 1),
                                 .d_ff_dense = m->d_ff};
}

static void make_problem(struct problem *p)
{
    static const char *const machines[] = {"h100-8", "h100-16", "h100-32", "a100-24",
                                           "v5p-16", "v5e-16",  "b200-16", "h100-4"};
    static const char *const frameworks[] = {"nemo", "megatron", "torchtitan", "maxtext"};
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    bool own;
    make_model(&p->model);
    assert_true(sp_load_hardware(machines[next() % 8], &none, &p->hw, &error));
    assert_true(sp_load_framework(frameworks[next() % 4], &none, &p->framework, &error));
    assert_true(sp_load_precision(p->framework.framework.precision, &none, &p->precision, &error));
    sp_profile_for(&p->hw, &p->framework.framework, NULL, 0, &p->profile, &own);
    p->space = (struct sp_search_space){
        .in = {&p->model, &p->hw, &p->precision, &p->framework.framework, &p->profile, NULL, NULL},
        .seq = PICK(2048, 4096, 8192),
        .batch = PICK(8, 16, 24, 32),
        .dtype = SP_BF16,
        .imbalance = 1,
        .recompute_layers = 1,
        /* from a limit that nothing meets to one that everything meets */
        .most_bytes = sp_capacity_bytes(&p->hw.chip) * (double)PICK(1, 2, 5, 10, 40) / 10,
        .objective = next() % 4 == 0 ? SP_LEAST_MEMORY : SP_LEAST_STEP,
    };
    const uint64_t stages = next() % 15;
    for (int i = 0; i < 4; i++) /* 1 to 4 of the stages of ZeRO */
        p->space.open.zero[i] = (stages + 1) >> i & 1;
    for (int i = 0; i < SP_POLICIES; i++)
        p->space.open.policy[i] = next() % 2;
    for (int i = 0; i < SP_SCHEDULES; i++)
        p->space.open.schedule[i] = next() % 2;
    const uint64_t placements = next() % 3;
    for (int i = 0; i < 2; i++) { /* one placement of the stages, or both */
        p->space.open.sequence_parallel[i] = p->space.open.offload[i] = true;
        p->space.open.stages_inside[i] = (placements + 1) >> i & 1;
    }
    /* none of a kind: the framework's own */
    p->space.open.dispatch[next() % SP_DISPATCHES] = next() % 2;
    p->space.open.dispatch[next() % SP_DISPATCHES] = next() % 2;
    p->space.open.moe_overlap[0] = next() % 2;
    p->space.open.moe_overlap[1] = next() % 2;
    p->space.open.cuda_graph[next() % SP_CUDA_GRAPHS] = next() % 2;
    p->space.open.offload[1] = p->hw.chip.pcie_bytes_per_s > 0;
    p->space.cp.most = 2;
    assert_true(sp_open_space(&p->space));
}

static void same_plan(const struct sp_found *a, const struct sp_found *b)
{
    assert_true(a->value == b->value && a->step_s == b->step_s && a->bytes == b->bytes);
    assert_true(a->group == b->group && a->leaf == b->leaf);
}

/* A found plan equals what `step` computes, bit for bit, and its place leads back to it. */
static void is_steps(const struct problem *p, const struct sp_found *f)
{
    struct sp_step_inputs in = p->space.in;
    struct sp_stage_memory m;
    struct sp_found again;
    in.plan = &f->plan;
    assert_int_equal(sp_check_plan(&p->model, &f->plan, sp_chips(&p->hw), p->hw.slices),
                     SP_PLAN_OK);
    sp_fullest_stage(&p->model, &p->precision, &f->plan, &p->framework.framework, &m);
    assert_true(p->space.open.zero[f->plan.zero] || f->plan.dp * f->plan.cp == 1);
    const bool placed = p->hw.network.kind != SP_TORUS && f->plan.pp > 1 &&
                        f->plan.dp * f->plan.cp > 1; /* where it makes a difference */
    assert_true(!placed || p->space.open.stages_inside[f->plan.stages_inside]);
    assert_true(f->plan.etp == 1 || f->plan.etp == f->plan.tp);
    const struct sp_execution *const e = &f->plan.execution;
    assert_true(f->plan.ep == 1 || !e->moe_overlap || sp_plan_microbatches(&f->plan) > 1);
    assert_true(sp_estimate_step(&in).step == f->step_s);
    assert_true((double)m.device == f->bytes);
    assert_true(sp_evaluate(&in, &m) == f->step_s && (double)m.device == f->bytes);
    assert_true(f->bytes <= p->space.most_bytes);
    assert_true(sp_plan_at(&p->space, f->group, f->leaf, &again));
    same_plan(f, &again);
}

static void same_best(const struct sp_best *a, const struct sp_best *b)
{
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; i++)
        same_plan(&a->found[i], &b->found[i]);
}

static uint64_t decided(const struct sp_search_counts *c)
{
    return c->evaluated + c->no_memory + c->by_memory + c->by_time;
}

static void pruned_is_exhaustive(void **unused)
{
    static struct problem p;
    static struct sp_search_result all, pruned;
    uint64_t plans = 0, ruled_out = 0;
    int fit = 0;
    (void)unused;
    state = 20261121;
    for (int i = 0; i < 240 / one_in(); i++) {
        make_problem(&p);
        struct sp_search_run run = {
            .wanted = (int)PICK(1, 3, 10), .meshes = next() % 3 == 0, .shards = 1, .threads = 2};
        sp_run_search(&p.space, &run, &pruned);
        run.exhaustive = true;
        sp_run_search(&p.space, &run, &all);
        same_best(&pruned.best, &all.best);
        assert_true(decided(&pruned.counts) == pruned.counts.total);
        assert_true(decided(&all.counts) == all.counts.total);
        assert_true(pruned.counts.total == all.counts.total);
        assert_true(all.counts.by_memory == 0 && all.counts.by_time == 0);
        for (int k = 0; k < pruned.best.n; k++)
            is_steps(&p, &pruned.best.found[k]);
        plans += all.counts.total;
        ruled_out += pruned.counts.by_memory + pruned.counts.by_time;
        fit += pruned.best.n > 0;
    }
    /* bounds do exclude plans, and most problems have solutions */
    assert_true(ruled_out > plans / 2);
    assert_true(fit > 60 / one_in());
}

/* A problem whose plans choose what they keep, recompute and move. */
static void make_choice(struct problem *p)
{
    make_problem(p);
    struct sp_dimensions *const open = &p->space.open;
    p->space.objective = SP_LEAST_STEP;
    p->space.pp.most = 4;
    p->space.cp.most = 1;
    open->offload[1] = false;
    open->policy[SP_REMAT_NONE] = open->chooses_kept = true;
    open->kept = (struct sp_kept_space){
        .modules = 1U << SP_MODULE_LAYERNORM | 1U << SP_MODULE_CORE_ATTN,
        .away = p->hw.chip.pcie_bytes_per_s > 0
                    ? 1U << SP_AWAY_ATTN_NORM | 1U << SP_AWAY_CORE_ATTN | 1U << SP_AWAY_MLP
                    : 0,
        .optimizer_parts = (int)PICK(0, 2)};
    memcpy(open->kept.policy, open->policy, sizeof open->policy);
    assert_true(sp_open_space(&p->space));
}

/* The least step of a plan with any recomputation, any tensors and any share of the optimizer away,
 * each timed as `step` times a plan; `worst` is the best before. */
static double least_of_choices(const struct problem *p, const struct sp_plan *of, double worst)
{
    const struct sp_kept_space *const kept = &p->space.open.kept;
    const int parts = kept->optimizer_parts;
    struct sp_plan plan = *of;
    struct sp_step_inputs in = p->space.in;
    struct sp_stage_memory m;
    in.plan = &plan;
    for (int policy = 0; policy < SP_POLICIES; policy++)
        for (unsigned set = 0; set <= kept->modules && kept->policy[policy]; set++)
            for (unsigned away = 0; away <= kept->away; away++)
                for (int part = 0; part <= parts; part++) {
                    if ((set & ~kept->modules) || (away & ~kept->away) ||
                        (set && policy != SP_REMAT_NONE))
                        continue;
                    plan.recompute = sp_policies[policy].recompute;
                    plan.recompute.modules = set;
                    plan.recompute.away = away;
                    plan.recompute.offload = away != 0;
                    plan.optimizer_away = parts > 0 ? (double)part / parts : 0;
                    if (!sp_may_recompute(&plan, &plan.recompute))
                        continue;
                    const double step_s = sp_evaluate(&in, &m);
                    if ((double)m.device <= p->space.most_bytes && step_s < worst)
                        worst = step_s;
                }
    return worst;
}

/* The choice of each plan is found with bounds, without bounds, and by trying all. */
static void choices_are_exhaustive(void **unused)
{
    static struct problem p, plain;
    static struct sp_search_result all, pruned;
    struct sp_found found;
    int better = 0, tried = 0;
    (void)unused;
    state = 32;
    /* the fourth problem is the first whose best plan moves something */
    const int drawn = one_in() == SANITIZED ? 4 : one_in() > 1 ? 8 : 40;
    for (int i = 0; i < drawn; i++) {
        make_choice(&p);
        struct sp_search_run run = {.wanted = (int)PICK(1, 5), .shards = 1, .threads = 2};
        sp_run_search(&p.space, &run, &pruned);
        run.exhaustive = true;
        sp_run_search(&p.space, &run, &all);
        same_best(&pruned.best, &all.best);
        assert_true(decided(&pruned.counts) == pruned.counts.total);
        assert_true(pruned.counts.total == all.counts.total);
        assert_true(decided(&all.counts) == all.counts.total);
        for (int k = 0; k < pruned.best.n; k++)
            is_steps(&p, &pruned.best.found[k]);
        plain = p;
        plain.space.open.chooses_kept = false;
        for (int k = 0; k < SP_POLICIES; k++)
            plain.space.open.policy[k] = k == SP_REMAT_NONE;
        plain.space.most_bytes = INFINITY;
        assert_true(sp_open_space(&plain.space));
        if (all.counts.total > 20000)
            continue;
        double least_s = INFINITY;
        for (uint64_t g = 0; g < sp_search_groups(&plain.space); g++)
            for (uint64_t leaf = 0; sp_plan_at(&plain.space, g, leaf, &found); leaf++)
                if (!found.plan.recompute.offload &&
                    found.plan.recompute.modules == 0) /* a closed way keeps its places */
                    least_s = least_of_choices(&p, &found.plan, least_s);
        tried++;
        assert_true(pruned.best.n > 0 ? pruned.best.found[0].step_s == least_s : isinf(least_s));
        const struct sp_plan *const best = &pruned.best.found[0].plan;
        better += pruned.best.n > 0 && (best->recompute.away || best->optimizer_away > 0);
    }
    print_message("%d problems tried out, %d with something moved\n", tried, better);
    assert_true(tried > drawn / 10 && better > 0);
}

/* No point of the front is beaten, and every plan is on or behind it. */
static void fronts_agree(void **unused)
{
    static struct problem p;
    static struct sp_search_result all, pruned;
    (void)unused;
    state = 7;
    for (int i = 0; i < 40 / one_in(); i++) {
        make_problem(&p);
        struct sp_search_run run = {.wanted = 1, .front = true, .shards = 1};
        sp_run_search(&p.space, &run, &pruned);
        run.exhaustive = true;
        sp_run_search(&p.space, &run, &all);
        assert_int_equal(pruned.front.n, all.front.n);
        for (int k = 0; k < all.front.n; k++) {
            same_plan(&pruned.front.found[k], &all.front.found[k]);
            is_steps(&p, &all.front.found[k]);
            if (k > 0) { /* slower must mean smaller */
                assert_true(all.front.found[k].step_s > all.front.found[k - 1].step_s);
                assert_true(all.front.found[k].bytes < all.front.found[k - 1].bytes);
            }
        }
        if (all.front.n == 0)
            continue;
        run.front = false;
        sp_run_search(&p.space, &run, &all);
        const struct sp_found *const best = p.space.objective == SP_LEAST_STEP
                                                ? &pruned.front.found[0]
                                                : &pruned.front.found[pruned.front.n - 1];
        assert_true(best->value == all.best.found[0].value);
    }
}

static void parts_and_threads(void **unused)
{
    static struct problem p;
    static struct sp_search_result whole, part, other;
    (void)unused;
    state = 99;
    for (int i = 0; i < 40 / one_in(); i++) {
        make_problem(&p);
        struct sp_search_run run = {.wanted = 5, .shards = 1, .threads = 1};
        sp_run_search(&p.space, &run, &whole);
        run.threads = 4;
        sp_run_search(&p.space, &run, &other);
        same_best(&whole.best, &other.best);
        assert_memory_equal(&whole.counts, &other.counts, sizeof whole.counts);
        struct sp_best joined = {.wanted = 5};
        struct sp_search_counts counts = {0};
        run.shards = (int)PICK(2, 3, 7);
        for (run.shard = 0; run.shard < run.shards; run.shard++) {
            sp_run_search(&p.space, &run, &part);
            sp_merge_best(&joined, &part.best);
            sp_add_counts(&counts, &part.counts);
        }
        same_best(&whole.best, &joined);
        assert_memory_equal(&whole.counts, &counts, sizeof counts);
    }
}

/* 8 devices, 4 heads, one layer, one sequence each way: counted by hand. tp 1, 2, 4 divide heads
 * and devices; only cp 1; only pp 1; dp = 8, 4, 2 divides the batch of 8, micro-batches are the
 * divisors of 8 / dp; with tp > 1 sequence parallelism on and off; one policy; ZeRO 0 and 1 over
 * the divisors of dp that are above 1. tp 1: 1 x (1 + 3) = 4. tp 2: micro 1, 2; sp 2; 1 + 2
 * shardings:
 * 12. tp 4: micro 1, 2, 4; sp 2; 1 + 1: 12. */
static void counted_by_hand(void **unused)
{
    static struct problem p;
    static struct sp_search_result r;
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    (void)unused;
    state = 1;
    make_problem(&p);
    p.model.moe = (struct sp_moe){0};
    p.model.heads = 4;
    p.model.kv_heads = 4;
    p.model.layers = 1;
    assert_true(sp_load_hardware("h100-8", &none, &p.hw, &error));
    p.space.batch = 8;
    p.space.seq = 4096;
    p.space.cp.most = 1;
    p.space.most_bytes = 1e18;
    for (int i = 0; i < 4; i++)
        p.space.open.zero[i] = i < 2;
    for (int i = 0; i < SP_POLICIES; i++)
        p.space.open.policy[i] = i == 4;
    p.space.open.offload[1] = false;
    assert_true(sp_open_space(&p.space));
    const struct sp_search_run run = {.exhaustive = true, .wanted = 1, .shards = 1};
    sp_run_search(&p.space, &run, &r);
    assert_int_equal(r.counts.total, 4 + 12 + 12);
    assert_int_equal(r.counts.evaluated, r.counts.total);
}

/* Tensor parallelism of 8 laid over a torus, ZeRO 0, sequence parallelism on and off. 2 x 4 x 8: 8
 * = 1x1x8, 1x2x4, 1x4x2, 2x1x4, 2x2x2, 2x4x1. 4 x 4 x 4, whose axes are alike: 4x2x1, 2x2x2. With a
 * batch of one sequence only tp 64, the whole slice, is left, which can be placed in one way. */
static void boxes_of_a_torus(void **unused)
{
    static const struct {
        struct sp_shape shape;
        uint64_t total;
    } rows[] = {{{{2, 4, 8}}, 2}, {{{4, 4, 4}}, 2}};
    static struct problem p;
    static struct sp_search_result r;
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        state = 1;
        make_problem(&p);
        p.model.moe = (struct sp_moe){0};
        p.model.heads = p.model.kv_heads = 64;
        p.model.d_ff = 4096;
        p.model.layers = 1;
        assert_true(sp_load_hardware("v5p:4x4x4", &none, &p.hw, &error));
        p.hw.shape = rows[i].shape;
        p.space.batch = 1;
        p.space.seq = 4096;
        p.space.cp.most = 1;
        p.space.most_bytes = 1e18;
        for (int z = 0; z < 4; z++)
            p.space.open.zero[z] = z == 0;
        for (int k = 0; k < SP_POLICIES; k++)
            p.space.open.policy[k] = k == 4;
        p.space.open.offload[1] = false;
        assert_true(sp_open_space(&p.space));
        const struct sp_search_run run = {.exhaustive = true, .wanted = 1, .shards = 1};
        sp_run_search(&p.space, &run, &r);
        assert_int_equal(r.counts.total, rows[i].total);
    }
    /* one micro-batch a replica: a batch of 8 on 64 chips, tp 8 and dp 8 */
    static const struct {
        struct sp_shape shape;
        uint64_t boxes;
    } halves[] = {{{{2, 4, 8}}, 6}, {{{4, 4, 4}}, 2}};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        uint64_t total[2];
        for (int with = 0; with < 2; with++) {
            state = 1;
            make_problem(&p);
            p.model.moe = (struct sp_moe){0};
            p.model.heads = p.model.kv_heads = with ? 8 : 4; /* 4 heads refuse tp 8 */
            p.model.d_ff = 4096;
            p.model.layers = 1;
            assert_true(sp_load_hardware("v5p:4x4x4", &none, &p.hw, &error));
            p.hw.shape = halves[i].shape;
            p.space.batch = 64;
            p.space.seq = 4096;
            p.space.cp.most = 1;
            p.space.most_bytes = 1e18;
            for (int z = 0; z < 4; z++)
                p.space.open.zero[z] = z == 0;
            for (int k = 0; k < SP_POLICIES; k++)
                p.space.open.policy[k] = k == 4;
            p.space.open.offload[1] = false;
            assert_true(sp_open_space(&p.space));
            const struct sp_search_run run = {.exhaustive = true, .wanted = 1, .shards = 1};
            sp_run_search(&p.space, &run, &r);
            total[with] = r.counts.total;
        }
        /* tp 8 leaves dp 8, micro-batches 1, 2, 4, 8; sequence parallelism on and off */
        assert_int_equal(total[1] - total[0], halves[i].boxes * 4 * 2);
    }
}

/* One head on 64 chips of a torus, 64 sequences, no ZeRO: there is one plan, and no box for it. */
static void one_plan(void **unused)
{
    static struct problem p;
    static struct sp_search_result r;
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    (void)unused;
    state = 1;
    make_problem(&p);
    p.model.moe = (struct sp_moe){0};
    p.model.heads = p.model.kv_heads = 1;
    p.model.layers = 1;
    assert_true(sp_load_hardware("v5p:4x4x4", &none, &p.hw, &error));
    p.space.batch = 64;
    p.space.cp.most = 1;
    p.space.most_bytes = 1e18;
    for (int z = 0; z < 4; z++)
        p.space.open.zero[z] = z == 0;
    for (int k = 0; k < SP_POLICIES; k++)
        p.space.open.policy[k] = k == 4;
    p.space.open.offload[1] = false;
    assert_true(sp_open_space(&p.space));
    const struct sp_search_run run = {.wanted = 2, .shards = 1};
    sp_run_search(&p.space, &run, &r);
    assert_int_equal(r.counts.total, 1);
    assert_int_equal(r.best.n, 1);
    const struct sp_plan *const plan = &r.best.found[0].plan;
    assert_true(plan->dp == 64 && plan->tp == 1 && plan->zero == 0 && plan->tp_axes[0] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_plan),
        cmocka_unit_test(pruned_is_exhaustive),
        cmocka_unit_test(choices_are_exhaustive),
        cmocka_unit_test(fronts_agree),
        cmocka_unit_test(parts_and_threads),
        cmocka_unit_test(counted_by_hand),
        cmocka_unit_test(boxes_of_a_torus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
