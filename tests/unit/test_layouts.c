/* The best layout of stages against a list of all: every way to cut the layers, timed one by one as
 * `step` times a plan. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "config/load.h"
#include "draws.h"

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
    struct sp_plan plan;
    struct sp_step_inputs in;
    double most_bytes;
};

/* Layers of several kinds: a wide table, dense layers before experts, modules of further tokens,
 * patterns, layers that are not trained. */
static void make_model(struct sp_model *m)
{
    *m = (struct sp_model){
        .name = "random",
        .layers = PICK(4, 5, 6, 7, 8, 9, 10, 12),
        .d_model = PICK(1024, 2048),
        .d_ff = PICK(2048, 8192),
        .heads = 16,
        .kv_heads = 8,
        .head_dim = 128,
        .gated_mlp = true,
        .norms_per_layer = 2,
    };
    m->vocab = PICK(1024, 32000, 128256, 256000);
    m->tied_embeddings = next() % 2;
    m->mtp_layers = PICK(0, 0, 0, 1, 2);
    if (next() % 2)
        m->moe = (struct sp_moe){.experts = PICK(4, 8),
                                 .top_k = 2,
                                 .d_ff_expert = PICK(512, 2048),
                                 .every = PICK(1, 1, 2),
                                 .dense_layers = PICK(0, 1, 3),
                                 .d_ff_dense = m->d_ff};
    if (next() % 4 == 0)
        m->tuning = (struct sp_tuning){.trainable = SP_TRAIN_LAST, .last = m->layers / 2};
}

static void make_plan(struct problem *p)
{
    static const int schedules[] = {SP_1F1B,  SP_1F1B,     SP_GPIPE,      SP_INTERLEAVED,
                                    SP_ZB_H1, SP_DUALPIPE, SP_INTERLEAVED};
    struct sp_plan *const plan = &p->plan;
    const int64_t devices = sp_chips(&p->hw);
    *plan = (struct sp_plan){.tp = PICK(1, 1, 2),
                             .cp = 1,
                             .ep = 1,
                             .etp = 1,
                             .vpp = 1,
                             .seq = PICK(1024, 4096),
                             .micro_batch = 1,
                             .recompute_layers = 1,
                             .imbalance = 1,
                             .dtype = SP_BF16};
    plan->execution = p->framework.framework.execution;
    plan->pp = PICK(2, 4, 4, 8);
    while (plan->pp > p->model.layers)
        plan->pp /= 2;
    plan->dp = devices / plan->tp / plan->pp;
    plan->shards = plan->dp;
    plan->zero = (int)(next() % 4);
    plan->schedule = (enum sp_schedule)schedules[next() % 7];
    if (plan->schedule == SP_INTERLEAVED)
        plan->vpp = 2;
    if (plan->pp * plan->vpp > p->model.layers) {
        plan->vpp = 1;
        plan->schedule = SP_1F1B;
    }
    plan->batch = plan->dp * PICK(1, 2, 4, 8, 16, 64);
    plan->recompute = sp_policies[next() % SP_POLICIES].recompute;
}

static bool make_problem(struct problem *p)
{
    static const char *const machines[] = {"h100-16", "a100-32", "v5p-16", "b200-64"};
    static const char *const frameworks[] = {"nemo", "megatron", "torchtitan", "maxtext"};
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    bool own;
    make_model(&p->model);
    assert_true(sp_load_hardware(machines[next() % 4], &none, &p->hw, &error));
    assert_true(sp_load_framework(frameworks[next() % 4], &none, &p->framework, &error));
    assert_true(sp_load_precision(p->framework.framework.precision, &none, &p->precision, &error));
    sp_profile_for(&p->hw, &p->framework.framework, NULL, 0, &p->profile, &own);
    make_plan(p);
    p->in = (struct sp_step_inputs){&p->model,   &p->hw,   &p->precision, &p->framework.framework,
                                    &p->profile, &p->plan, NULL};
    return sp_check_plan(&p->model, &p->plan, sp_chips(&p->hw), p->hw.slices) == SP_PLAN_OK;
}

/* The best of all layouts. */
struct listed {
    int ways, fitting;
    double step_s, device_bytes; /* least memory of the least step */
    double least_bytes, most_bytes;
};

/* Fewest layers of a stage: none at the ends, with modules of further tokens that are apart, and in
 * the last chunk of the last stage. */
static int64_t least_layers(const struct problem *p, bool apart, int64_t stage)
{
    const int64_t v = p->plan.vpp, chunks = p->plan.pp * v;
    const int64_t chunk = (2 * p->model.layers + chunks) / (2 * chunks);
    const bool bare =
        stage == p->plan.pp - 1 || (apart && stage == p->plan.pp - 2) || (stage == 0 && v == 1);
    return (v - 1) * chunk + (bare ? 0 : 1);
}

static void time_layout(const struct problem *p, struct sp_plan *plan, struct listed *all)
{
    struct sp_step_inputs in = p->in;
    struct sp_stage_memory m;
    in.plan = plan;
    const double step = sp_evaluate(&in, &m), bytes = (double)m.device;
    all->ways++;
    all->least_bytes = fmin(all->least_bytes, bytes);
    all->most_bytes = fmax(all->most_bytes, bytes);
    if (bytes > p->most_bytes)
        return;
    all->fitting++;
    if (step < all->step_s * (1 - 1e-9)) {
        all->step_s = step;
        all->device_bytes = bytes;
    } else if (step < all->step_s * (1 + 1e-9)) {
        all->device_bytes = fmin(all->device_bytes, bytes);
    }
}

static void list_layouts(const struct problem *p, struct sp_plan *plan, int64_t stage, int64_t left,
                         struct listed *all)
{
    if (stage == plan->pp - 1) {
        plan->own.layers[stage] = (int16_t)left;
        const int64_t least = least_layers(p, plan->own.modules_apart, stage);
        if (plan->own.modules_apart ? left == least : left >= least)
            time_layout(p, plan, all);
        return;
    }
    for (int64_t n = least_layers(p, plan->own.modules_apart, stage); n <= left; n++) {
        plan->own.layers[stage] = (int16_t)n;
        list_layouts(p, plan, stage + 1, left - n, all);
    }
}

static struct listed list_all(const struct problem *p)
{
    struct sp_plan plan = p->plan;
    struct listed all = {.step_s = INFINITY, .device_bytes = INFINITY, .least_bytes = INFINITY};
    plan.own.n = (int16_t)plan.pp;
    list_layouts(p, &plan, 0, p->model.layers, &all);
    plan.own.modules_apart = true; /* after them there is only the loss */
    if (p->model.mtp_layers > 0 && plan.pp > 2)
        list_layouts(p, &plan, 0, p->model.layers, &all);
    return all;
}

static void is_best(const struct problem *p, struct sp_layout_room *room, const struct listed *all)
{
    struct sp_layout_found found;
    struct sp_stage_memory m;
    const bool any = all->fitting > 0;
    assert_int_equal(sp_find_layout(&p->in, p->most_bytes, INFINITY, room, &found),
                     any ? SP_LAYOUT_FOUND : SP_LAYOUT_NONE);
    if (!any)
        return;
    assert_close(found.step_s, all->step_s, 1e-9);
    assert_close(found.device_bytes, all->device_bytes, 1e-9);
    struct sp_plan plan = p->plan;
    struct sp_step_inputs in = p->in;
    plan.own = found.own;
    in.plan = &plan;
    assert_int_equal(sp_check_plan(&p->model, &plan, sp_chips(&p->hw), p->hw.slices), SP_PLAN_OK);
    assert_close(sp_evaluate(&in, &m), found.step_s, 1e-12);
    assert_true((double)m.device == found.device_bytes);
    /* nothing is faster than the fastest, and something is faster than a slower one */
    assert_int_equal(sp_find_layout(&p->in, p->most_bytes, all->step_s * (1 - 1e-8), room, &found),
                     SP_LAYOUT_NONE);
    assert_int_equal(sp_find_layout(&p->in, p->most_bytes, all->step_s * (1 + 1e-6), room, &found),
                     SP_LAYOUT_FOUND);
}

static void finds_the_best_of_all(void **unused)
{
    (void)unused;
    struct sp_layout_room *const room = malloc(sp_layout_room_bytes());
    const int problems = drawn_problems(600 / one_in(), 600);
    int64_t ways = 0;
    assert_non_null(room);
    for (int i = 0; i < problems;) {
        struct problem p;
        state = 0x5eed + (uint64_t)ways + (uint64_t)i;
        for (int k = 0; k < 5; k++)
            next();
        if (!make_problem(&p)) {
            ways++;
            continue;
        }
        p.most_bytes = INFINITY;
        struct listed all = list_all(&p);
        is_best(&p, room, &all);
        p.most_bytes =
            all.least_bytes + (all.most_bytes - all.least_bytes) / (double)PICK(2, 4, 50);
        all = list_all(&p);
        is_best(&p, room, &all);
        ways += all.ways;
        i++;
    }
    assert_true(ways > 10 * problems);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_best_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
