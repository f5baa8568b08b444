/* A chip that is better in every figure is never slower: all pairs of chips, all frameworks, random
 * plans. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/scaleplan.h>

#include "config/load.h"
#include "draws.h"

enum { MOST_CHIPS = 64, MOST_FRAMEWORKS = 32, PLANS = 1000 };

struct world {
    struct sp_sources sources;
    struct sp_hardware chip[MOST_CHIPS];
    struct sp_framework_file framework[MOST_FRAMEWORKS];
    struct sp_profile known[SP_MAX_PROFILES];
    size_t chips, frameworks, n_known;
};

static void add_chip(const char *name, void *context)
{
    struct world *const w = context;
    struct sp_error error = {0};
    struct sp_hardware *const hw = &w->chip[w->chips];
    assert_true(w->chips < MOST_CHIPS);
    if (sp_load_chip(name, &w->sources, hw, &error) && hw->network.kind == SP_SWITCHED) {
        hw->chips_per_slice = 64;
        hw->slices = 1;
        w->chips++;
    }
}

static void add_framework(const char *name, void *context)
{
    struct world *const w = context;
    struct sp_error error = {0};
    assert_true(w->frameworks < MOST_FRAMEWORKS);
    w->frameworks += sp_load_framework(name, &w->sources, &w->framework[w->frameworks], &error);
}

/* Whether `a` is at least as good as b in every figure that a step depends on, including network
 * latencies and measured kernels. */
static bool is_better(const struct sp_hardware *a, const struct sp_hardware *b)
{
    for (int d = 0; d < SP_DTYPES; d++) {
        const double of_a = a->chip.peak_flops_per_s[d], of_b = b->chip.peak_flops_per_s[d];
        if (of_b > 0 && !(of_a >= of_b))
            return false;
    }
    const struct sp_collective_curve *const waits_a = &a->chip.kernels.collective[SP_ALL_GATHER],
                                            *const waits_b =
                                                &b->chip.kernels.collective[SP_ALL_GATHER];
    if (waits_a->share > 0 && waits_b->share > 0 &&
        (waits_a->latency_s > waits_b->latency_s ||
         waits_a->rank_latency_s > waits_b->rank_latency_s))
        return false;
    /* a chip of unknown power takes the shares of a usual one, not its own */
    if ((a->chip.tdp_w > 0) != (b->chip.tdp_w > 0))
        return false;
    return a->chip.hbm_bytes_per_s >= b->chip.hbm_bytes_per_s &&
           a->network.domain >= b->network.domain && a->network.domain % b->network.domain == 0 &&
           a->network.domain_bytes_per_s >= b->network.domain_bytes_per_s &&
           sp_domain_bytes_per_s(&a->network, 2) >= sp_domain_bytes_per_s(&b->network, 2) &&
           a->network.scaleout_bytes_per_s >= b->network.scaleout_bytes_per_s &&
           a->network.domain_latency_s <= b->network.domain_latency_s &&
           a->network.scaleout_latency_s <= b->network.scaleout_latency_s;
}

#define PICK(...)                                                                                  \
    ((const int64_t[]){__VA_ARGS__}[(size_t)rand() % (sizeof((int64_t[]){__VA_ARGS__}) / 8)])

static void draw(struct sp_model *m, struct sp_plan *p)
{
    const int64_t width = PICK(2048, 4096, 8192);
    *m = (struct sp_model){.layers = PICK(16, 32, 64),
                           .d_model = width,
                           .d_ff = 4 * width,
                           .heads = width / 128,
                           .kv_heads = PICK(8, 16),
                           .head_dim = 128,
                           .vocab = 128000,
                           .gated_mlp = true};
    *p = (struct sp_plan){.tp = PICK(1, 2, 4, 8),
                          .pp = PICK(1, 2, 4),
                          .vpp = 1,
                          .cp = PICK(1, 1, 2),
                          .ep = 1,
                          .etp = 1,
                          .zero = rand() % 4,
                          .sequence_parallel = true,
                          .micro_batch = PICK(1, 2, 4),
                          .seq = PICK(2048, 8192),
                          .recompute_layers = 1,
                          .schedule = SP_1F1B,
                          .dtype = rand() % 2 ? SP_BF16 : SP_FP8,
                          .imbalance = 1};
    p->dp = 64 / (p->tp * p->pp * p->cp);
    p->shards = p->dp * p->cp;
    p->batch = p->dp * p->micro_batch * PICK(4, 8);
    if (rand() % 3 == 0)
        p->recompute = sp_policies[SP_REMAT_FULL].recompute;
    if (rand() % 2 == 0)
        return;
    m->moe = (struct sp_moe){.experts = PICK(8, 64),
                             .top_k = PICK(2, 8),
                             .d_ff_expert = width / PICK(1, 4),
                             .every = 1,
                             .d_ff_dense = 4 * width};
    p->ep = PICK(1, 8);
    p->execution.dispatch = (enum sp_dispatch)(rand() % 4);
    p->execution.moe_overlap = rand() % 2;
}

static double step_s(const struct world *w, const struct sp_hardware *hw,
                     const struct sp_framework *framework, const struct sp_model *model,
                     const struct sp_plan *plan)
{
    static const struct sp_precision mixed = {
        .weight_bytes = 2, .grad_bytes = 2, .master_bytes = 4, .optimizer_bytes = 8};
    struct sp_profile profile;
    bool own;
    sp_profile_for(hw, framework, w->known, w->n_known, &profile, &own);
    const struct sp_step_inputs in = {model, hw, &mixed, framework, &profile, plan, NULL};
    return sp_estimate_step(&in).step;
}

/* Constants at the bad ends of their intervals make no plan faster, alone or together: `search
 * --robust` relies on it. */
static void bad_ends_are_not_faster(void **state)
{
    static struct world w;
    struct sp_error error = {0};
    (void)state;
    srand((unsigned)drawn_seed(5));
    w.chips = w.frameworks = 0;
    sp_each_config(SP_HARDWARE, &w.sources, add_chip, &w);
    sp_each_config(SP_FRAMEWORKS, &w.sources, add_framework, &w);
    assert_true(sp_load_profiles(&w.sources, w.known, &w.n_known, &error));
    for (int i = 0; i < PLANS; i++) {
        static const struct sp_precision mixed = {
            .weight_bytes = 2, .grad_bytes = 2, .master_bytes = 4, .optimizer_bytes = 8};
        const struct sp_hardware *const hw = &w.chip[(size_t)rand() % w.chips];
        const struct sp_framework *const f = &w.framework[(size_t)rand() % w.frameworks].framework;
        struct sp_profile profile, worst, one;
        struct sp_model model;
        struct sp_plan plan;
        bool own;
        draw(&model, &plan);
        sp_profile_for(hw, f, w.known, w.n_known, &profile, &own);
        sp_worsen_constants(&profile, &worst);
        struct sp_step_inputs in = {&model, hw, &mixed, f, &profile, &plan, NULL};
        const double as_estimated = sp_estimate_step(&in).step;
        in.profile = &worst;
        const double all = sp_estimate_step(&in).step;
        in.profile = &one;
        for (int c = 0; c < SP_CONSTANTS; c++) {
            one = profile;
            one.value[c] = worst.value[c];
            const double alone = sp_estimate_step(&in).step;
            if (alone < as_estimated * (1 - 1e-12) || all < alone * (1 - 1e-12))
                fail_msg("%s on %s: %s at %g in place of %g: %g s, all %g s, as estimated %g s",
                         f->name, hw->name, sp_constants[c].key, worst.value[c], profile.value[c],
                         alone, all, as_estimated);
        }
    }
}

static void better_is_not_slower(void **state)
{
    static struct world w;
    struct sp_error error = {0};
    int pairs = 0, compared = 0, slower = 0;
    (void)state;
    srand((unsigned)drawn_seed(1));
    sp_each_config(SP_HARDWARE, &w.sources, add_chip, &w);
    sp_each_config(SP_FRAMEWORKS, &w.sources, add_framework, &w);
    assert_true(sp_load_profiles(&w.sources, w.known, &w.n_known, &error));
    for (size_t a = 0; a < w.chips; a++)
        for (size_t b = 0; b < w.chips; b++) {
            if (a == b || !is_better(&w.chip[a], &w.chip[b]))
                continue;
            pairs++;
            for (int i = 0; i < PLANS; i++) {
                const struct sp_framework *const f =
                    &w.framework[(size_t)rand() % w.frameworks].framework;
                struct sp_model model;
                struct sp_plan plan;
                draw(&model, &plan);
                if (sp_check_plan(&model, &plan, 64, 1) != SP_PLAN_OK)
                    continue;
                const double of_a = step_s(&w, &w.chip[a], f, &model, &plan),
                             of_b = step_s(&w, &w.chip[b], f, &model, &plan);
                compared++;
                if (of_a > of_b * (1 + 1e-9)) {
                    if (slower++ < 40)
                        print_message("%s is slower than %s under %s: %g against %g s\n",
                                      w.chip[a].name, w.chip[b].name, f->name, of_a, of_b);
                }
            }
        }
    print_message("%d pairs, %d comparisons, %d slower\n", pairs, compared, slower);
    assert_true(pairs >= 20 && compared >= 4000);
    assert_int_equal(slower, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(better_is_not_slower),
                                       cmocka_unit_test(bad_ends_are_not_faster)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
