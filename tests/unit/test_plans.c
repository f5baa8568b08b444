/* Plans from `fit` and from a search are accepted by `step`, on random models whose widths and
 * heads have few divisors. */
#include "check.h"

#include <scaleplan/fit.h>
#include <scaleplan/plan.h>
#include <scaleplan/search.h>

#include "config/load.h"

enum { MACHINES = 9 };

static uint64_t state = 20261122;

static int64_t pick(int64_t least, int64_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int64_t)((state >> 33) % (uint64_t)(most - least + 1));
}

/* A width that a few TP degrees divide: 2^a 3^b times something odd. */
static int64_t draw_width(void)
{
    const int64_t threes = pick(0, 2);
    return (int64_t)(1 << pick(0, 9)) * (threes == 0 ? 1 : 3 * threes) * (2 * pick(0, 20) + 1);
}

static struct sp_model draw_model(bool experts)
{
    struct sp_model m = {.layers = pick(1, 40),
                         .d_model = 64 * pick(1, 64),
                         .d_ff = draw_width(),
                         .heads = pick(0, 1) ? pick(1, 100) : 1 << pick(0, 7),
                         .kv_heads = 1,
                         .head_dim = 64,
                         .vocab = 32000,
                         .gated_mlp = true,
                         .norms_per_layer = 2};
    if (experts)
        m.moe = (struct sp_moe){.experts = 1 << pick(1, 5),
                                .top_k = 1,
                                .shared_experts = pick(0, 2),
                                .d_ff_expert = draw_width(),
                                .dense_layers = pick(0, m.layers),
                                .every = pick(1, 3),
                                .d_ff_dense = pick(0, 1) ? draw_width() : 0};
    return m;
}

static void load_machines(struct sp_hardware hw[MACHINES])
{
    static const char *const names[MACHINES] = {"v5p-512", "v5e-256",   "v4-64",
                                                "h100-8",  "h100-24",   "h100-1024",
                                                "a100-48", "v5p-128x2", "v5e-16x3"};
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    for (int i = 0; i < MACHINES; i++)
        if (!sp_load_hardware(names[i], &none, &hw[i], &error))
            fail_msg("%s", error.text);
}

/* The rule again, matrix by matrix: TP cuts every sharded matrix into whole columns. */
static bool cuts_evenly(const struct sp_model *m, int64_t tp, int64_t etp)
{
    for (int64_t layer = 0; layer < m->layers; layer++) {
        const bool routed = m->moe.experts > 0 && layer >= m->moe.dense_layers &&
                            (layer - m->moe.dense_layers + 1) % m->moe.every == 0;
        const int64_t dense = m->moe.d_ff_dense ? m->moe.d_ff_dense : m->d_ff;
        const int64_t cut = routed ? m->moe.shared_experts * m->moe.d_ff_expert : dense;
        if (m->heads % tp || cut % tp || (routed && m->moe.d_ff_expert % etp))
            return false;
    }
    return true;
}

static void tp_divides_what_it_cuts(void **unused)
{
    int yes = 0, no = 0;
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        const struct sp_model m = draw_model(i % 2);
        const int64_t tp = pick(1, 12), etp = pick(0, 1) ? tp : 1;
        if (m.moe.experts > 0 && sp_moe_layers(&m) == 0)
            continue; /* experts that no layer holds */
        const bool divides = sp_tp_divides(&m, tp, etp);
        assert_int_equal(divides, cuts_evenly(&m, tp, etp));
        yes += divides && tp > 1;
        no += !divides;
    }
    assert_true(yes > 10000 && no > 10000);
    const struct sp_model size_only = {.params = 7e9};
    assert_false(sp_tp_divides(&size_only, 1, 1));
}

/* The strategy as a plan of `step`: dp is replicas times shards, TP divides experts too. */
static struct sp_plan plan_of(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    return (struct sp_plan){.dp = s->dp * s->fsdp,
                            .shards = s->fsdp,
                            .zero = s->fsdp > 1 ? 3 : 0,
                            .tp = s->tp,
                            .pp = s->pp,
                            .vpp = s->chunks,
                            .cp = 1,
                            .ep = 1,
                            .etp = in->model->moe.experts > 0 ? s->tp : 1,
                            .micro_batch = 1,
                            .batch = (int64_t)(in->batch_tokens / in->seq),
                            .seq = (int64_t)in->seq,
                            .schedule = s->chunks > 1 ? SP_INTERLEAVED : SP_1F1B};
}

static void passes(const struct sp_strategy *s, const struct sp_fit_input *in)
{
    const struct sp_plan plan = plan_of(s, in);
    const enum sp_plan_problem problem =
        sp_check_plan(in->model, &plan, sp_chips(in->hw), in->hw->slices);
    if (problem != SP_PLAN_OK)
        fail_msg("%s on %s: %s (dp %lld, fsdp %lld, tp %lld, pp %lld x %lld)",
                 sp_plan_problem_text(problem), in->hw->name, "fit's plan", (long long)s->dp,
                 (long long)s->fsdp, (long long)s->tp, (long long)s->pp, (long long)s->chunks);
}

/* The rows that are meshes, and the best plans overall and by kind. Rows of DP, FSDP and TP over
 * the whole machine are closed forms with any degree. */
static void fit_returns_plans(void **unused)
{
    static struct sp_hardware hw[MACHINES];
    const struct sp_precision precision = {.weight_bytes = 2, .compute_dtype = SP_BF16};
    int kinds[SP_STRATEGIES] = {0};
    (void)unused;
    load_machines(hw);
    for (int i = 0; i < 20000; i++) {
        const struct sp_model m = draw_model(i % 3 != 0);
        const struct sp_hardware *const on = &hw[pick(0, MACHINES - 1)];
        const struct sp_fit_input in = {.model = &m,
                                        .hw = on,
                                        .precision = &precision,
                                        .batch_tokens = (double)(sp_chips(on) * pick(1, 8) * 2048),
                                        .seq = 2048,
                                        .remat = SP_REMAT_FULL,
                                        .overlap = (enum sp_overlap)pick(0, 1)};
        const struct sp_fit_terms t = sp_fit_terms(&in);
        for (int kind = 0; kind < SP_STRATEGIES; kind++) {
            const struct sp_strategy best = sp_fit_best(&in, &t, 1u << kind);
            const struct sp_strategy row = sp_fit_strategy(&in, &t, (enum sp_strategy_kind)kind);
            if (best.exists)
                passes(&best, &in);
            if (row.exists && (kind == SP_FSDP_TP || kind == SP_PP_FSDP || kind == SP_HSDP))
                passes(&row, &in);
            kinds[kind] += best.exists;
        }
    }
    for (int kind = 0; kind < SP_STRATEGIES; kind++)
        assert_true(kinds[kind] > 100);
}

/* Every product of degrees that a typed mesh may name: none that runs and fits is faster than what
 * `fit` chooses, and where its choice does not fit, none fits. */
static void no_typed_mesh_beats(const struct sp_fit_input *in, int *rivals)
{
    const struct sp_fit_terms t = sp_fit_terms(in);
    const struct sp_strategy best = sp_fit_best(in, &t, ~0u);
    const int64_t N = sp_chips(in->hw);
    for (int64_t pp = 1; pp <= N; pp++)
        for (int64_t tp = 1; N % pp == 0 && tp <= N / pp; tp++)
            for (int64_t x = 1; N / pp % tp == 0 && x <= N / pp / tp; x++) {
                if (N / pp / tp % x != 0)
                    continue;
                const struct sp_degrees d = {N / pp / tp / x, x, tp, pp};
                const struct sp_strategy s =
                    sp_fit_mesh(in, &t, sp_strategy_of_degrees(&d), &d, true);
                if (!s.exists || !s.runs || !s.fits)
                    continue;
                ++*rivals;
                if (best.runs && best.fits &&
                    best.step_with_bubble_s <= s.step_with_bubble_s * (1 + 1e-8))
                    continue;
                fail_msg("%s, batch %.0f: dp %lld fsdp %lld tp %lld pp %lld: %.9g s, best %.9g s",
                         in->hw->name, in->batch_tokens, (long long)d.dp, (long long)d.fsdp,
                         (long long)d.tp, (long long)d.pp, s.step_with_bubble_s,
                         best.step_with_bubble_s);
            }
}

static void fit_is_not_beaten(void **unused)
{
    static struct sp_hardware hw[MACHINES];
    static struct sp_framework_file framework;
    const struct sp_precision precision = {
        .weight_bytes = 2, .grad_bytes = 4, .optimizer_bytes = 12, .compute_dtype = SP_BF16};
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    int rivals = 0;
    (void)unused;
    load_machines(hw);
    assert_true(sp_load_framework("megatron", &none, &framework, &error));
    for (int i = 0; i < 300; i++) {
        const struct sp_model m = draw_model(i % 3 == 0);
        const bool runs = pick(0, 3) > 0;
        const struct sp_framework *const f = runs ? &framework.framework : NULL;
        const struct sp_fit_input in = {.model = &m,
                                        .hw = &hw[pick(0, MACHINES - 1)],
                                        .precision = &precision,
                                        .batch_tokens = (double)(pick(1, 1 << pick(0, 9)) * 2048),
                                        .seq = 2048,
                                        .remat = SP_REMATS,
                                        .runs = runs,
                                        .framework = f,
                                        .sharding_framework = f};
        no_typed_mesh_beats(&in, &rivals);
    }
    assert_true(rivals > 1000);
}

/* All plans of spaces without a memory limit: the fastest of each are checked. */
static void search_returns_plans(void **unused)
{
    static struct sp_hardware hw[MACHINES];
    static struct sp_search_space s;
    static struct sp_best best;
    static struct sp_framework_file framework;
    static struct sp_profile profile;
    const struct sp_precision precision = {.weight_bytes = 2, .compute_dtype = SP_BF16};
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    int plans = 0, wide = 0;
    bool own;
    (void)unused;
    load_machines(hw);
    assert_true(sp_load_framework("megatron", &none, &framework, &error));
    for (int i = 0; i < 1500; i++) {
        const struct sp_model m = draw_model(i % 3 != 0);
        const struct sp_hardware *const on = &hw[pick(3, 4)];
        sp_profile_for(on, &framework.framework, NULL, 0, &profile, &own);
        s = (struct sp_search_space){
            .in = {&m, on, &precision, &framework.framework, &profile, NULL, NULL},
            .seq = 2048,
            .batch = 24,
            .dtype = SP_BF16,
            .imbalance = 1,
            .recompute_layers = 1,
            .open.zero = {[1] = true},
            .open.policy = {true},
            .open.schedule = {[SP_1F1B] = true, [SP_INTERLEAVED] = true},
            .open.sequence_parallel = {true, true},
            .open.offload = {true},
            .open.stages_inside = {true, true},
            .micro_batch = {.most = 1},
            .most_bytes = INFINITY};
        if (!sp_open_space(&s))
            fail_msg("no space");
        for (uint64_t group = 0; group < sp_search_groups(&s); group++) {
            struct sp_search_counts counts = {0};
            const struct sp_search_rule rule = {.limit = INFINITY};
            best = (struct sp_best){.wanted = 8};
            sp_search_group(&s, group, &rule, &best, &counts);
            for (int k = 0; k < best.n; k++) {
                const struct sp_plan *const p = &best.found[k].plan;
                assert_int_equal(sp_check_plan(&m, p, sp_chips(on), on->slices), SP_PLAN_OK);
                wide += p->etp > 1;
                plans++;
            }
        }
    }
    assert_true(plans > 10000 && wide > 1000);
}

/* A plan that `fit` once recommended and `step` refused: 4099 columns are not divisible by 4. */
static void a_width_that_only_dense_layers_have(void **unused)
{
    struct sp_model m = {.layers = 8,
                         .heads = 32,
                         .d_ff = 4099,
                         .moe = {.experts = 8,
                                 .top_k = 2,
                                 .d_ff_expert = 4096,
                                 .d_ff_dense = 4099,
                                 .dense_layers = 1,
                                 .every = 1}};
    (void)unused;
    assert_false(sp_tp_divides(&m, 4, 4));
    m.moe.dense_layers = 0; /* then no layer is that wide */
    assert_true(sp_tp_divides(&m, 4, 4));
    assert_true(sp_tp_divides(&m, 32, 32));
    assert_false(sp_tp_divides(&m, 64, 1)); /* heads */
    m.moe.shared_experts = 1;
    m.moe.d_ff_expert = 4098;
    assert_false(sp_tp_divides(&m, 4, 1)); /* the shared expert is cut with the attention */
    m.moe.shared_experts = 2;
    assert_true(sp_tp_divides(&m, 4, 1)); /* two side by side are 8196 wide */
    assert_false(sp_tp_divides(&m, 4, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tp_divides_what_it_cuts),
        cmocka_unit_test(fit_returns_plans),
        cmocka_unit_test(fit_is_not_beaten),
        cmocka_unit_test(search_returns_plans),
        cmocka_unit_test(a_width_that_only_dense_layers_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
