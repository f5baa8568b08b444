/* Properties of every model on every machine, on random ones with a fixed seed. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "draws.h"
#include "study/layer_steps.h"

static int cases(void)
{
    return quick_draws(20000);
}

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int64_t pick(int64_t least, int64_t most)
{
    return least + (int64_t)(next_random() % (uint64_t)(most - least + 1));
}

/* Between least and most, evenly in the logarithm. */
static double spread(double least, double most)
{
    return least * pow(most / least, (double)(next_random() >> 11) / 9007199254740992.);
}

struct question {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_fit_input in;
    struct sp_fit_terms t;
};

static struct sp_hardware bases[6];

static int load_bases(void **state)
{
    static const char *const names[] = {"v5p", "v5e", "v4", "h100", "gb200", "v100"};
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!sp_load_hardware(names[i], &sources, &bases[i], &error))
            return -1;
    return 0;
}

static void draw_model(struct sp_model *m)
{
    *m = (struct sp_model){0};
    if (pick(0, 19) == 0) {
        m->params = floor(spread(1e3, 1e13));
        return;
    }
    m->layers = pick(1, 130);
    m->heads = (int64_t)1 << pick(0, 7);
    m->kv_heads = m->heads >> pick(0, 3);
    if (m->kv_heads == 0)
        m->kv_heads = 1;
    m->head_dim = 32 * pick(1, 8);
    m->d_model = 64 * pick(1, 256);
    m->d_ff = 64 * pick(1, 900);
    m->vocab = pick(100, 300000);
    m->gated_mlp = pick(0, 1);
    m->tied_embeddings = pick(0, 1);
    m->qkv_bias = pick(0, 1);
    m->mlp_bias = pick(0, 1);
    m->norm = (int)pick(0, 2);
    m->qk_norm = (int)pick(0, 2);
    m->norms_per_layer = pick(1, 4);
    m->learned_positions = pick(0, 1) * 2048;
    if (pick(0, 3) == 0) {
        m->moe.experts = (int64_t)1 << pick(1, 8);
        m->moe.top_k = pick(1, m->moe.experts < 8 ? m->moe.experts : 8);
        m->moe.shared_experts = pick(0, 2);
        m->moe.d_ff_expert = 64 * pick(1, 200);
        m->moe.dense_layers = pick(0, m->layers);
        m->moe.every = pick(1, 3);
    }
    if (pick(0, 5) == 0)
        m->mla = (struct sp_mla){pick(0, 1) * 1536, 512, 128, 64, 128};
}

/* Puts a slice of about that many chips in place; false when there is none. */
static bool place(struct sp_hardware *hw, int64_t chips)
{
    struct sp_network *net = &hw->network;
    if (!sp_offers_chips(net, chips))
        return false;
    hw->chips_per_slice = chips;
    hw->shape = (struct sp_shape){{1, 1, 1}};
    return net->kind == SP_SWITCHED || sp_find_shape(net, chips, &hw->shape);
}

static void draw_machine(struct sp_hardware *hw)
{
    *hw = bases[pick(0, 5)];
    struct sp_network *net = &hw->network;
    hw->slices = 1;
    if (net->kind == SP_TORUS) {
        net->wrap = (int)pick(SP_WRAP_CUBE, SP_WRAP_NEVER);
        net->link_bytes_per_s = spread(1e9, 1e12);
        net->dcn_bytes_per_s_per_host = spread(1e9, 1e12);
        hw->shape = net->shapes[pick(0, net->n_shapes - 1)];
        hw->chips_per_slice = sp_shape_chips(&hw->shape);
        hw->slices = pick(0, 2) == 0 ? pick(2, 12) : 1;
    } else {
        net->domain = (int64_t[]){1, 2, 4, 8, 12, 16, 72}[pick(0, 6)];
        net->devices_per_host = 0;
        net->domain_part = 0;
        net->domain_bytes_per_s = spread(1e10, 1e13);
        net->scaleout_bytes_per_s = spread(1e8, 1e12);
        const int64_t wish = (int64_t)spread(1, 30000);
        hw->chips_per_slice = sp_nearest_chips(net, wish, true);
    }
    hw->chip.hbm_bytes = spread(1e9, 1e12);
    hw->chip.hbm_usable_bytes = NAN;
    hw->chip.peak_flops_per_s[SP_BF16] = spread(1e12, 1e16);
}

static void draw(struct question *q)
{
    draw_model(&q->model);
    draw_machine(&q->hw);
    q->precision = (struct sp_precision){.weight_bytes = 2,
                                         .grad_bytes = (double)pick(0, 4),
                                         .master_bytes = (double)pick(0, 4),
                                         .optimizer_bytes = (double)pick(0, 8)};
    q->in = (struct sp_fit_input){.model = &q->model,
                                  .hw = &q->hw,
                                  .precision = &q->precision,
                                  .batch_tokens = floor(spread(1, 1e9)),
                                  .seq = (double)pick(1, 100000),
                                  .remat = (enum sp_remat)pick(0, SP_REMATS - 1),
                                  .axes = (int)pick(0, 3),
                                  .overlap = (enum sp_overlap)pick(0, 1),
                                  .exact_groups = pick(0, 1),
                                  .accumulate = 1};
    q->t = sp_fit_terms(&q->in);
}

/* The same question with other figures. */
static void ask(struct question *q, const struct question *from)
{
    *q = *from;
    q->in.model = &q->model;
    q->in.hw = &q->hw;
    q->in.precision = &q->precision;
}

static void say(const struct question *q, int i)
{
    const struct sp_network *net = &q->hw.network;
    print_error(
        "case %d: %s, %lld chips (%dx%dx%d, wrap %d, domain %lld) x %lld slices, P %g, L %g, "
        "D %g, F %g, %lld heads, B %g, T %g, axes %d, overlap %d, C %g, W %g\n",
        i, q->hw.name, (long long)q->hw.chips_per_slice, q->hw.shape.axis[0], q->hw.shape.axis[1],
        q->hw.shape.axis[2], net->wrap, (long long)net->domain, (long long)q->hw.slices, q->t.P,
        q->t.L, q->t.D, q->t.F, (long long)q->model.heads, q->t.B, q->in.seq, q->in.axes,
        q->in.overlap, q->t.C, q->t.W);
}

#define hold(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            say(&q, i);                                                                            \
            print_error(__VA_ARGS__);                                                              \
            fail_msg("does not hold: %s", #condition);                                             \
        }                                                                                          \
    } while (0)

static void parts_sum(void **state)
{
    (void)state;
    for (int i = 0; i < cases(); i++) {
        struct sp_model m;
        draw_model(&m);
        const struct sp_params p = sp_count_params(&m);
        if (!sp_model_has_shape(&m)) {
            assert_true(p.total == m.params && p.active == m.params);
            continue;
        }
        const double sum = p.embedding + p.attention + p.mlp + p.experts + p.router + p.norm;
        assert_close(sum, p.total, 1e-15);
        assert_true(p.active > 0 && p.active <= p.total);
        assert_true(p.total == floor(p.total)); /* whole weights */
        for (int remat = 0; remat < SP_REMATS; remat++)
            assert_true(sp_activation_bytes_per_token_layer(&m, (enum sp_remat)remat) > 0);
    }
}

/* Bounds of the step, the verdict, degrees, memory: for every strategy. */
static void strategies_hold(void **state)
{
    (void)state;
    for (int i = 0; i < cases(); i++) {
        const struct sp_framework framework = {.gathered_layers = i % 3,
                                               .logit_bytes = 2,
                                               .dummy_wgrads = i % 4 > 1,
                                               .reserved_factor = 1.04,
                                               .context_bytes = 2e9};
        struct question q;
        draw(&q);
        q.in.accumulate = i % 3;
        q.in.framework = q.in.sharding_framework = i % 2 ? &framework : NULL;
        for (int kind = 0; kind <= SP_STRATEGIES; kind++) {
            const struct sp_strategy s =
                kind < SP_STRATEGIES ? sp_fit_strategy(&q.in, &q.t, (enum sp_strategy_kind)kind)
                                     : sp_fit_best(&q.in, &q.t, ~0u);
            if (!s.exists)
                continue;
            hold(s.dp * s.fsdp * s.tp * s.pp == sp_chips(&q.hw), "kind %d\n", kind);
            hold(isfinite(s.t_math_s) && isfinite(s.t_comms_s), "kind %d\n", kind);
            hold(fmax(s.t_math_s, s.t_comms_s) <= s.step_s, "kind %d\n", kind);
            hold(s.step_s <= s.t_math_s + s.t_comms_s, "kind %d\n", kind);
            hold(s.step_s <= s.step_with_bubble_s, "kind %d\n", kind);
            hold(s.compute_bound == (s.comms_over_math <= 1), "kind %d\n", kind);
            hold(s.fits == (s.memory_bytes < q.t.capacity_bytes), "kind %d\n", kind);
            hold(s.pp * s.chunks <= (q.t.L > 0 ? (int64_t)q.t.L : 1) || s.pp == 1, "kind %d\n",
                 kind);
            const double kept = isnan(s.activation_bytes) ? 0 : s.activation_bytes;
            hold(sp_test_is_close(s.live_bytes, s.state_bytes + s.held_bytes + kept + s.peak_bytes,
                                  1e-15),
                 "kind %d\n", kind);
            const bool counts = q.in.framework && sp_model_has_shape(&q.model);
            hold(sp_test_is_close(s.memory_bytes, counts ? 1.04 * s.live_bytes + 2e9 : s.live_bytes,
                                  1e-15),
                 "kind %d\n", kind);
            hold(sp_step_at_mfu_s(&s, 1) >= s.step_s, "kind %d\n", kind);
        }
    }
}

/* More chips never need more memory each. */
static void memory_shrinks(void **state)
{
    (void)state;
    for (int i = 0; i < cases(); i++) {
        struct question q, larger;
        draw(&q);
        ask(&larger, &q);
        const int64_t more = sp_nearest_chips(&q.hw.network, q.hw.chips_per_slice + 1, true);
        if (more == 0 || !place(&larger.hw, more))
            continue;
        larger.t = sp_fit_terms(&larger.in);
        for (int kind = SP_DP; kind <= SP_TP; kind++) {
            const struct sp_strategy a = sp_fit_strategy(&q.in, &q.t, (enum sp_strategy_kind)kind);
            const struct sp_strategy b =
                sp_fit_strategy(&larger.in, &larger.t, (enum sp_strategy_kind)kind);
            if (!a.exists || !b.exists)
                continue;
            hold(b.memory_bytes <= a.memory_bytes * (1 + 1e-15), "kind %d\n", kind);
            if (kind == SP_FSDP)
                hold(sp_test_is_close(b.memory_bytes * larger.t.N, a.memory_bytes * q.t.N, 1e-12),
                     "kind %d\n", kind);
        }
    }
}

static void scale_machine(struct sp_hardware *hw, double compute, double network)
{
    for (int i = 0; i < SP_DTYPES; i++)
        hw->chip.peak_flops_per_s[i] *= compute;
    hw->network.link_bytes_per_s *= network;
    hw->network.dcn_bytes_per_s_per_host *= network;
    hw->network.domain_bytes_per_s *= network;
    hw->network.scaleout_bytes_per_s *= network;
    hw->network.fabric.link_bytes_per_s *= network;
}

/* Critical batches scale with C / W, the mixed one with its square; all times with 1 / (C and
 * W). */
static void thresholds_scale(void **state)
{
    (void)state;
    for (int i = 0; i < cases() / 4; i++) {
        struct question q, fast, slow;
        draw(&q);
        ask(&fast, &q);
        scale_machine(&fast.hw, 2, 2);
        fast.t = sp_fit_terms(&fast.in);
        ask(&slow, &q);
        scale_machine(&slow.hw, 1, 0.5);
        slow.t = sp_fit_terms(&slow.in);
        for (int kind = 0; kind <= SP_STRATEGIES; kind++) {
            const enum sp_strategy_kind k = (enum sp_strategy_kind)kind;
            const bool best = kind == SP_STRATEGIES;
            const struct sp_strategy a =
                best ? sp_fit_best(&q.in, &q.t, ~0u) : sp_fit_strategy(&q.in, &q.t, k);
            const struct sp_strategy b =
                best ? sp_fit_best(&fast.in, &fast.t, ~0u) : sp_fit_strategy(&fast.in, &fast.t, k);
            hold(a.exists == b.exists, "kind %d\n", kind);
            if (!a.exists)
                continue;
            hold(sp_test_is_close(a.step_s, 2 * b.step_s, 1e-12), "kind %d\n", kind);
            hold(sp_test_is_close(a.t_comms_s, 2 * b.t_comms_s, 1e-12), "kind %d\n", kind);
            hold(a.compute_bound == b.compute_bound && a.fits == b.fits, "kind %d\n", kind);
            hold(sp_test_is_close(a.critical_tokens_per_chip, b.critical_tokens_per_chip, 1e-12),
                 "kind %d\n", kind);
            if (kind == SP_DP || kind == SP_FSDP) {
                const struct sp_strategy c = sp_fit_strategy(&slow.in, &slow.t, k);
                hold(sp_test_is_close(c.critical_tokens_per_chip, 2 * a.critical_tokens_per_chip,
                                      1e-12),
                     "kind %d\n", kind);
                hold(c.step_s >= a.step_s, "kind %d\n", kind);
            }
        }
        const double mixed =
            sp_critical_fsdp_tp(q.t.C, q.t.W_X, q.t.W_Y, q.t.F, q.t.r, sp_turns(q.in.overlap));
        const double wider = sp_critical_fsdp_tp(slow.t.C, slow.t.W_X, slow.t.W_Y, slow.t.F,
                                                 slow.t.r, sp_turns(q.in.overlap));
        hold(sp_test_is_close(wider, 4 * mixed, 1e-12), "mixed\n");
    }
}

/* No single strategy beats the best plan, and a plan that fits is found. */
static void best_is_best(void **state)
{
    (void)state;
    for (int i = 0; i < cases() / 4; i++) {
        struct question q;
        draw(&q);
        const struct sp_strategy best = sp_fit_best(&q.in, &q.t, ~0u);
        hold(best.exists, "no plan\n");
        for (int kind = 0; kind < SP_STRATEGIES; kind++) {
            const struct sp_strategy s = sp_fit_best(&q.in, &q.t, 1u << kind);
            if (!s.exists)
                continue;
            hold(best.fits || !s.fits, "kind %d fits\n", kind);
            hold(best.fits != s.fits || !best.fits ||
                     best.step_with_bubble_s <= s.step_with_bubble_s * (1 + 1e-8),
                 "kind %d is faster\n", kind);
        }
        /* FSDP over all real axes is a simple plan too. */
        struct sp_fit_input whole = q.in;
        whole.axes = 0;
        const struct sp_fit_terms t = sp_fit_terms(&whole);
        const struct sp_strategy fsdp = sp_fit_strategy(&whole, &t, SP_FSDP);
        hold(!fsdp.exists || !fsdp.fits ||
                 (best.fits && best.step_with_bubble_s <= fsdp.step_with_bubble_s * (1 + 1e-8)),
             "FSDP %g is faster than %g\n", fsdp.step_with_bubble_s, best.step_with_bubble_s);
    }
}

static struct sp_strategy at_batch(struct question *q, double batch, enum sp_strategy_kind kind)
{
    q->in.batch_tokens = batch;
    q->t = sp_fit_terms(&q->in);
    return sp_fit_strategy(&q->in, &q->t, kind);
}

/* A larger batch never turns compute-bound into communication-bound. Pipelines pick their
 * interleaving anew, which trades the bubble for traffic. */
static void larger_batch_helps(void **state)
{
    (void)state;
    for (int i = 0; i < cases() / 2; i++) {
        struct question q;
        draw(&q);
        const double batch = q.in.batch_tokens;
        for (int kind = 0; kind < SP_STRATEGIES; kind++) {
            const enum sp_strategy_kind k = (enum sp_strategy_kind)kind;
            const struct sp_strategy a = at_batch(&q, batch, k);
            const struct sp_strategy b = at_batch(&q, batch * spread(1, 100), k);
            if (k == SP_PP_FSDP || !a.exists)
                continue;
            hold(!a.compute_bound || b.compute_bound, "kind %d\n", kind);
            hold(b.comms_over_math <= a.comms_over_math * (1 + 1e-12), "kind %d\n", kind);
        }
    }
}

/* The needed batch is an edge: just above compute-bound, just below not. */
static void batch_needed_is_an_edge(void **state)
{
    (void)state;
    int edges = 0, never = 0;
    for (int i = 0; i < cases() / 2; i++) {
        struct question q;
        draw(&q);
        const double batch = q.in.batch_tokens;
        for (int kind = 0; kind < SP_STRATEGIES; kind++) {
            const enum sp_strategy_kind k = (enum sp_strategy_kind)kind;
            struct sp_strategy mesh = {.kind = k};
            at_batch(&q, batch, k);
            if (k == SP_PP_FSDP || !sp_fit_strategy(&q.in, &q.t, k).exists)
                continue;
            const double needed = sp_batch_needed_any(&q.in, &q.t, k, false, &mesh);
            if (isinf(needed)) {
                hold(!at_batch(&q, 1e30, k).compute_bound, "kind %d\n", kind);
                never++;
            } else if (needed > 0) {
                hold(at_batch(&q, needed * 1.001, k).compute_bound, "kind %d above %g\n", kind,
                     needed);
                hold(!at_batch(&q, needed * 0.999, k).compute_bound, "kind %d below %g\n", kind,
                     needed);
                edges++;
            }
        }
    }
    printf("%d edges, %d that no batch reaches\n", edges, never);
    assert_true(edges > quick_draws(1000) && never > quick_draws(100));
}

/* The number of chips to fit is an edge among the sizes on offer. */
static void chips_to_fit_is_an_edge(void **state)
{
    (void)state;
    int edges = 0, never = 0;
    for (int i = 0; i < cases() / 2; i++) {
        struct question q, other;
        draw(&q);
        if (q.hw.slices > 1) /* whole slices: see slices_to_fit */
            continue;
        for (int kind = SP_DP; kind <= SP_TP; kind++) {
            const enum sp_strategy_kind k = (enum sp_strategy_kind)kind;
            const struct sp_strategy s = sp_fit_strategy(&q.in, &q.t, k);
            if (!s.exists || (q.t.N <= 1 && k != SP_DP))
                continue;
            const int64_t chips = sp_chips_to_fit(&s, &q.in, &q.t);
            ask(&other, &q);
            if (chips == 0) {
                const int64_t most = sp_nearest_chips(&q.hw.network, (int64_t)1e6, false);
                if (q.t.N > 1 && place(&other.hw, most)) {
                    other.t = sp_fit_terms(&other.in);
                    hold(!sp_fit_strategy(&other.in, &other.t, k).fits, "kind %d fits on %lld\n",
                         kind, (long long)most);
                }
                never++;
                continue;
            }
            if (q.hw.network.kind == SP_TORUS &&
                chips > sp_nearest_chips(&q.hw.network, (int64_t)1e9, false))
                continue; /* several slices */
            if (chips > 1 && place(&other.hw, chips)) {
                other.t = sp_fit_terms(&other.in);
                hold(sp_fit_strategy(&other.in, &other.t, k).fits, "kind %d on %lld\n", kind,
                     (long long)chips);
            }
            const int64_t fewer = sp_nearest_chips(&q.hw.network, chips - 1, false);
            if (fewer > 1 && place(&other.hw, fewer)) {
                other.t = sp_fit_terms(&other.in);
                hold(!sp_fit_strategy(&other.in, &other.t, k).fits, "kind %d on %lld\n", kind,
                     (long long)fewer);
                edges++;
            }
        }
    }
    printf("%d edges, %d that no machine reaches\n", edges, never);
    assert_true(edges > quick_draws(1000) && never > quick_draws(1000));
}

/* That many micro-batches fit, and no smaller number of equal ones does. */
static void accumulation_is_an_edge(void **state)
{
    (void)state;
    int edges = 0;
    for (int i = 0; i < cases() / 2; i++) {
        struct question q;
        draw(&q);
        struct sp_strategy s = sp_fit_strategy(&q.in, &q.t, SP_FSDP);
        const int64_t steps = s.exists && !s.fits ? sp_accumulation_to_fit(&s, &q.in, &q.t) : 0;
        if (steps == 0)
            continue;
        const int64_t sequences = (int64_t)ceil(sp_replica_sequences(&q.in, &s) - 1e-9);
        hold(steps > 1 && sequences % steps == 0, "%lld steps\n", (long long)steps);
        for (q.in.accumulate = 1; q.in.accumulate <= steps; q.in.accumulate++)
            if (sequences % q.in.accumulate == 0)
                hold(sp_fit_strategy(&q.in, &q.t, SP_FSDP).fits == (q.in.accumulate == steps),
                     "%lld of %lld steps\n", (long long)q.in.accumulate, (long long)steps);
        edges++;
    }
    assert_true(edges > quick_draws(100));
}

/* Over several slices: this many of them fit, and one fewer does not. */
static void slices_to_fit(void **state)
{
    (void)state;
    int edges = 0;
    for (int i = 0; i < cases() / 2; i++) {
        struct question q, other;
        draw(&q);
        if (q.hw.slices == 1)
            continue;
        const struct sp_strategy s = sp_fit_strategy(&q.in, &q.t, SP_FSDP);
        const int64_t chips = sp_chips_to_fit(&s, &q.in, &q.t);
        const int64_t slices = chips / q.hw.chips_per_slice; /* 0: impossibly many */
        ask(&other, &q);
        hold(chips % q.hw.chips_per_slice == 0, "%lld chips\n", (long long)chips);
        for (int64_t n = slices - 1; n <= slices && n > 1; n++) {
            other.hw.slices = n;
            other.t = sp_fit_terms(&other.in);
            hold(sp_fit_strategy(&other.in, &other.t, SP_FSDP).fits == (n == slices),
                 "%lld slices\n", (long long)n);
            edges++;
        }
    }
    printf("%d edges\n", edges);
    assert_true(edges > quick_draws(500));
}

/* The largest available size that FSDP keeps compute-bound at this batch, on any rings. */
static void chips_fed_is_an_edge(void **state)
{
    (void)state;
    int edges = 0;
    for (int i = 0; i < cases() / 4; i++) {
        struct question q, other;
        draw(&q);
        const struct sp_network *net = &q.hw.network;
        const struct sp_strategy s = sp_fit_strategy(&q.in, &q.t, SP_FSDP);
        if (q.hw.slices > 1 || !s.exists || q.t.N <= 1)
            continue;
        const int64_t fed = sp_chips_fed(&s, &q.in, &q.t);
        ask(&other, &q);
        hold(fed >= 1, "%lld chips\n", (long long)fed);
        int64_t chips = fed;
        for (int tries = 0; tries < 40 && chips > 0; tries++) {
            if (chips > 1 && place(&other.hw, chips)) {
                other.t = sp_fit_terms(&other.in);
                hold(sp_fit_strategy(&other.in, &other.t, SP_FSDP).compute_bound == (chips == fed),
                     "fed %lld, asked %lld\n", (long long)fed, (long long)chips);
                edges++;
            }
            chips = sp_nearest_chips(net, chips + 1, true);
        }
    }
    printf("%d edges\n", edges);
    assert_true(edges > quick_draws(1000));
}

/* The policy offered fits, and none that recomputes less does. */
static void remat_to_fit_is_least(void **state)
{
    (void)state;
    int offered = 0;
    for (int i = 0; i < cases() / 2; i++) {
        struct question q;
        draw(&q);
        const struct sp_strategy s = sp_fit_strategy(&q.in, &q.t, SP_FSDP);
        if (!s.exists || s.fits)
            continue;
        const enum sp_remat least = sp_remat_to_fit(&s, &q.in, &q.t);
        const double now = sp_activation_bytes_per_token_layer(&q.model, q.in.remat);
        for (int remat = 0; remat < SP_REMATS; remat++) {
            const double kept = sp_activation_bytes_per_token_layer(&q.model, (enum sp_remat)remat);
            q.in.remat = (enum sp_remat)remat;
            q.t = sp_fit_terms(&q.in);
            const bool fits = sp_fit_strategy(&q.in, &q.t, SP_FSDP).fits;
            hold(remat != (int)least || fits, "policy %d does not fit\n", remat);
            hold(remat >= (int)least || !fits || !(kept < now), "policy %d fits too\n", remat);
        }
        offered += least < SP_REMATS;
    }
    assert_true(offered > quick_draws(100));
}

/* The list of a layer's steps moves and computes what the closed forms say, and a product with a
 * degree of 1 is the remaining plan. */
static void steps_of_a_layer(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const double B = spread(1e2, 1e8), D = spread(64, 2e4), F = spread(64, 1e5);
        const double X = (double)pick(1, i % 3 ? 4096 : 1), Y = (double)pick(1, i % 4 ? 64 : 1);
        for (int plan = SP_LAYER_DP; plan <= SP_LAYER_FSDP_TP; plan++) {
            const bool has_x = plan != SP_LAYER_TP, has_y = plan >= SP_LAYER_TP;
            const bool shards = plan == SP_LAYER_FSDP || plan == SP_LAYER_FSDP_TP;
            const double x = has_x ? X : 1, y = has_y ? Y : 1;
            struct sp_layer_step steps[SP_MOST_LAYER_STEPS], plain[SP_MOST_LAYER_STEPS];
            const int n = sp_layer_steps((enum sp_layer_plan)plan, x, y, steps);
            double bytes = 0;
            int matmuls = 0;
            for (int k = 0; k < n; k++) {
                const struct sp_moved_array a = sp_moved_array(&steps[k], B, D, F, x, y);
                if (steps[k].work == SP_DO_MATMUL)
                    matmuls++;
                else
                    bytes += sp_layer_array_bytes(a.times, a.rows, a.columns, a.parts);
            }
            const double weights = x > 1 ? (shards ? 12 : 8) * D * F / y : 0;
            assert_close(bytes, weights + (y > 1 ? 8 * B * D / x : 0), 1e-12);
            if (plan == SP_LAYER_FSDP_TP)
                assert_close(bytes, sp_layer_bytes_fsdp_tp(B, D, F, x, y), 1e-12);
            assert_close(matmuls * sp_layer_matmul_flops(B, D, F, x, y), 12 * B * D * F / (x * y),
                         1e-12);
            if (plan > SP_LAYER_TP && (x == 1 || y == 1)) {
                const enum sp_layer_plan left = x == 1   ? SP_LAYER_TP
                                                : shards ? SP_LAYER_FSDP
                                                         : SP_LAYER_DP;
                assert_int_equal(sp_layer_steps(left, x, y, plain), n);
                for (int k = 0; k < n; k++)
                    assert_string_equal(plain[k].what, steps[k].what);
            }
        }
    }
}

int main(void)
{
    seed = drawn_seed(seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_a_layer),        cmocka_unit_test(parts_sum),
        cmocka_unit_test(strategies_hold),         cmocka_unit_test(memory_shrinks),
        cmocka_unit_test(thresholds_scale),        cmocka_unit_test(best_is_best),
        cmocka_unit_test(larger_batch_helps),      cmocka_unit_test(batch_needed_is_an_edge),
        cmocka_unit_test(chips_to_fit_is_an_edge), cmocka_unit_test(remat_to_fit_is_least),
        cmocka_unit_test(accumulation_is_an_edge), cmocka_unit_test(chips_fed_is_an_edge),
        cmocka_unit_test(slices_to_fit),
    };
    return cmocka_run_group_tests_name("properties", tests, load_bases, NULL);
}
