/* Serving: closed forms against values worked out by hand, and properties of any service. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

#include "config/load.h"

static const struct sp_sources sources = {.textbook = true};

/* A service on a machine, everything in 16 bits, with the textbook's counting. */
struct world {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_service service;
};

static void make(struct world *w, const char *model, const char *hw)
{
    struct sp_error error = {0};
    assert_true(sp_load_model(model, &sources, &w->model, &error));
    assert_true(sp_load_hardware(hw, &sources, &w->hw, &error));
    w->service = (struct sp_service){.model = &w->model,
                                     .hw = &w->hw,
                                     .chips = (double)sp_chips(&w->hw),
                                     .attention_dp = 1,
                                     .weight_bytes = 2,
                                     .expert_bytes = 2,
                                     .kv_bytes = 2,
                                     .kv_token_bytes = NAN,
                                     .memory_fraction = 1,
                                     .input = 1024,
                                     .output = 512,
                                     .held_tokens = 8192,
                                     .step_tokens = 8192,
                                     .block = 1,
                                     .mfu = 1,
                                     .all_experts = true};
}

static struct sp_served prepared(const struct sp_service *service)
{
    struct sp_served v;
    sp_prepare_service(service, &v);
    return v;
}

/* LLaMA-2 13B, scaling book: 2 x 2 x 40 layers x 40 heads x 128 = 819,200 bytes per token. */
static void caches(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama2-13b", "v5e-8");
    assert_close(sp_kv_bytes_of_sequence(&w.model, 1, 2), 819200, 0);
    assert_close(prepared(&w.service).kv_held, 819200.0 * 8192, 0);
    /* 8 v5e of 16 GB, 26.03 GB of weights: (128 - 26.03) / 6.711 = 15.2 */
    const struct sp_served v = prepared(&w.service);
    assert_close(sp_most_sequences(&v), 15, 0);
    /* half of gpt-oss-120b's 36 layers attend to 128 tokens, 2 x 8 heads x 64 numbers each */
    struct world windows;
    make(&windows, "gpt-oss-120b", "h200-1");
    assert_close(prepared(&windows.service).kv_held, 18 * 2048.0 * (8192 + 128), 0);
    windows.service.keeps_all = true;
    assert_close(prepared(&windows.service).kv_held, 36 * 2048.0 * 8192, 0);
    /* latent attention of DeepSeek-V3: 61 layers of 512 + 64 elements, on every TP rank */
    make(&w, "deepseek-v3", "h200-8");
    assert_close(sp_kv_bytes_of_sequence(&w.model, 1, 1), 61 * 576, 0);
    assert_close(sp_kv_copies(&w.model, 8), 8, 0);
    /* 8 heads of keys and values: TP 16 keeps each twice, TP 4 once */
    make(&w, "llama3-70b", "h100-8");
    assert_close(sp_kv_copies(&w.model, 16), 2, 0);
    assert_close(sp_kv_copies(&w.model, 4), 1, 0);
    /* gpt-oss-20b: 24 layers of 8 heads of 64, every second one keeps 128 tokens:
     * 2 x 2 x 8 x 64 x (12 x 1024 + 12 x 128) */
    make(&w, "gpt-oss-20b", "h100");
    assert_close(sp_kv_bytes_of_sequence(&w.model, 1024, 2), 2048.0 * 12 * 1152, 0);
}

/* Weights 26 GB over 8 x 810 GB/s; a cache of 6.711 GB each; 2 x 13.0e9 FLOPs per token. */
static void steps(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama2-13b", "v5e-8");
    const struct sp_served v = prepared(&w.service);
    const double P = sp_count_params(&w.model).total;
    const struct sp_decode_time one = sp_decode_time(&v, 1, 1), many = sp_decode_time(&v, 64, 1);
    assert_close(one.weights_s, 2 * P / (8 * 8.1e11), 1e-15);
    assert_close(one.kv_s, 6710886400.0 / (8 * 8.1e11), 1e-15);
    assert_close(many.math_s, 2 * 64 * P / (8 * 1.97e14), 1e-15);
    assert_close(many.step_s, 64 * one.kv_s + one.weights_s, 1e-15); /* 64 < 243: weights bind */
    assert_close(sp_critical_batch(&v), 1.97e14 / 8.1e11, 1e-15);
    assert_close(sp_critical_batch_of_context(&v), 4, 0);
    assert_close(sp_prefill_time(&v).prefill_s, 2 * P * 1024 / (8 * 1.97e14), 1e-15);
    /* with causal scores: 4 x 40 layers x 40 heads x 128 x 1024^2 / 2 more */
    w.service.attention = true;
    const struct sp_served causal = prepared(&w.service);
    assert_close(causal.prefill_flops - v.prefill_flops, 4.0 * 40 * 40 * 128 * 1024 * 512, 1e-9);
    /* half of the prompt cached: half of the matmuls, three quarters of the scores */
    w.service.prefix_hit = 0.5;
    assert_close(prepared(&w.service).prefill_flops,
                 v.prefill_flops / 2 + 0.75 * 4.0 * 40 * 40 * 128 * 1024 * 512, 1e-9);
}

/* The experts' tokens by rank, term by term. */
static void uneven_experts(void **state)
{
    (void)state;
    for (int E = 64; E <= 512; E *= 2) {
        double sum = 0, squares = 0;
        for (int i = 1; i <= E; i++) {
            sum += pow(i, -0.65);
            squares += pow(i, -1.3);
        }
        assert_close(sp_expert_variance(E), E * squares / (sum * sum) - 1, 0.06);
    }
}

/* 256 experts of which a token takes 8: one token touches 1/32, 32 tokens 1 - (31/32)^32 if all are
 * alike. Otherwise, the mean over a beta distribution of the same mean, by gamma functions. */
static void touched_experts(void **state)
{
    (void)state;
    static const double share[] = {1.0 / 32, 8.0 / 512, 1.0 / 8, 1.0 / 4},
                        tokens[] = {1, 2, 32, 500};
    assert_close(sp_experts_touched(1.0 / 32, 0, 1), 1.0 / 32, 1e-15);
    assert_close(sp_experts_touched(1.0 / 32, 0, 32), 0.637944, 1e-5);
    assert_true(sp_experts_touched(1, 0.1, 1) == 1);
    assert_true(sp_experts_touched(1.0 / 32, 0.7, 0) == 0);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            for (double variance = 0.1; variance < 1; variance += 0.3) {
                const double both = (1 - share[i]) / (variance * share[i]) - 1;
                const double b = (1 - share[i]) * both, t = tokens[k];
                const double none = lgamma(b + t) + lgamma(both) - lgamma(b) - lgamma(both + t);
                assert_close(sp_experts_touched(share[i], variance, t), 1 - exp(none), 0.01);
            }
}

/* Chances of i^-0.65 over 256 experts have a variance of 1.738 over their squared mean; the means
 * over a beta distribution of that variance and of mean 8/256 were integrated by Simpson's rule
 * (Python). No chances touch more than equal ones. */
static void uneven_touch_less(void **state)
{
    (void)state;
    static const struct {
        double tokens, touched;
    } of[] = {{8, 0.191434}, {64, 0.570342}, {256, 0.774232}, {1024, 0.888499}, {2540, 0.930524}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const double said = sp_experts_touched(1.0 / 32, 1.7381678, of[i].tokens);
        assert_close(said, of[i].touched, 0.005);
        assert_true(said < sp_experts_touched(1.0 / 32, 0, of[i].tokens));
    }
}

static void experts(void **state)
{
    (void)state;
    struct world w;
    make(&w, "deepseek-v3", "h200-8");
    w.service.all_experts = false;
    const struct sp_served v = prepared(&w.service);
    const struct sp_params p = sp_count_params(&w.model);
    const double table = 129280.0 * 7168;
    assert_close(sp_weights_read_bytes(&v, 1), 2 * (p.total - p.experts - table + p.experts / 32),
                 2e-4);
    w.service.attention_dp = 8; /* all but the experts eight times */
    assert_close(prepared(&w.service).weights, 2 * (p.experts + 8 * (p.total - p.experts)), 1e-15);
}

/* 0.91 s of prefill, 19 ms per step, 512 steps, 32 sequences: 2.99 (scaling book). */
static void pools(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "v5e-16");
    w.model = (struct sp_model){.params = 70e9};
    w.service.weight_bytes = 1;
    w.service.mfu = 0.4;
    w.service.input = 8192;
    w.service.kv_token_bytes = 160e3;
    const struct sp_served v = prepared(&w.service);
    const double prefill_s = 2 * 70e9 * 8192 / (16 * 1.97e14 * 0.4);
    const struct sp_pools p = sp_pools(&v, &v, 32, 1 / sp_prefill_time(&v).prefill_s, 0.019, 64);
    assert_close(p.ratio, prefill_s * 32 / (0.019 * 512), 1e-14);
    assert_close(p.prefill, 3, 0); /* three of four instances read: 1 against 1.002 needed */
    assert_close(p.decode, 1, 0);
    assert_true(p.hidden);
    assert_close(sp_steady(&v, &v, 43, 0.019).requests_per_s / 16, 43 / (0.019 * 512 * 16), 1e-14);
    /* 226.75 nodes of 8 at 2 USD, 168e9 tokens a day: 0.518 USD a million (DeepSeek, March 2025) */
    assert_close(sp_usd_per_mtoken(226.75 * 8 * 86400 / 168e9, 2), 0.518286, 1e-5);
}

/* 1 + a + a^2 + ... + a^k. */
static void drafts(void **state)
{
    (void)state;
    struct world w;
    const struct sp_acceptance all = {.first = 1, .later = 1}, half = {.first = 0.5, .later = 1},
                               none = {.first = 0, .later = 1}, most = {.first = 0.9, .later = 1},
                               less = {.first = 0.5, .later = 0.8};
    assert_close(sp_speculated_tokens(4, &all), 5, 0);
    assert_close(sp_speculated_tokens(3, &half), 1.875, 1e-15);
    assert_close(sp_speculated_tokens(7, &none), 1, 0);
    /* 1 + 0.5 + 0.5 0.4 + 0.5 0.4 0.32 */
    assert_close(sp_speculated_tokens(3, &less), 1.764, 1e-15);
    make(&w, "llama3-70b", "h100-8");
    const struct sp_served v = prepared(&w.service);
    /* far below the critical batch a step on more tokens takes no longer */
    assert_close(sp_speculation(&v, NULL, 1, 4, 3).speedup, 3, 1e-12);
    /* a draft that is the target itself cannot pay: 3 tokens for two of its steps and the check */
    assert_close(sp_speculation(&v, &v, 1, 2, 3).speedup, 1, 1e-12);
    assert_close(sp_best_drafts(&v, &v, 1, &most), 0, 0);
    /* of that step's three tokens each takes a third */
    struct sp_service drafted = w.service;
    drafted.drafts = 4;
    drafted.accepted = 3;
    const struct sp_served d = prepared(&drafted);
    assert_close(sp_steady(&d, &d, 1, NAN).tpot_s, sp_decode_time(&v, 1, 1).step_s / 3, 1e-12);
}

/* More of anything never makes a machine worse, nor more work a step shorter. */
static void monotone(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8");
    const struct sp_served v = prepared(&w.service);
    double last = 0;
    for (double B = 1; B <= 4096; B *= 2) {
        const double step_s = sp_decode_time(&v, B, 1).step_s;
        assert_true(step_s > last);
        last = step_s;
        const struct sp_steady y = sp_steady(&v, NULL, B, NAN);
        assert_close(y.tokens_per_s * y.tpot_s, B, 1e-12);
        const double again = sp_sequences_at_rate(&v, NULL, 1e6, y.requests_per_s, NAN);
        if (B <= 256) /* below the critical batch: beyond, more sequences give no more tokens */
            assert_close(again, B, 1e-9);
        assert_close(sp_sequences_within(&v, NULL, 1e6, y.tpot_s * (1 + 1e-12), NAN), B, 0);
    }
    struct world faster = w;
    faster.service.hw = &faster.hw;
    double *const better[] = {&faster.hw.chip.hbm_bytes_per_s,
                              &faster.hw.chip.peak_flops_per_s[SP_BF16], &faster.hw.chip.hbm_bytes};
    for (size_t i = 0; i < sizeof better / sizeof *better; i++) {
        *better[i] *= 2;
        const struct sp_served u = prepared(&faster.service);
        assert_true(sp_decode_time(&u, 64, 1).step_s <= sp_decode_time(&v, 64, 1).step_s);
        assert_true(sp_prefill_time(&u).prefill_s <= sp_prefill_time(&v).prefill_s);
        assert_true(sp_most_sequences(&u) >= sp_most_sequences(&v));
    }
}

/* The most sequences fit, one more does not. */
static void edges(void **state)
{
    (void)state;
    struct world w;
    make(&w, "gemma3-27b", "h100-8");
    w.service.block = 16;
    for (double B = 1; B <= 64; B *= 4) {
        struct sp_served v = prepared(&w.service);
        w.service.held_tokens = sp_most_context(&v, B);
        v = prepared(&w.service);
        assert_true(v.weights + B * v.kv_held <= v.capacity);
        w.service.held_tokens += 1;
        v = prepared(&w.service);
        assert_true(v.weights + B * v.kv_held > v.capacity);
    }
    assert_close(sp_paged_tokens(17, 16), 32, 0);
    /* 90 % of what 54.8 GB of weights leave of 640 GB, TensorRT-LLM's way; vLLM's is of all */
    w.service.memory_fraction = 0.9;
    const struct sp_served all = prepared(&w.service);
    assert_close(all.capacity, 0.9 * 640e9, 1e-15);
    assert_close(sp_chips_to_hold(&all, 0), all.weights / 72e9, 1e-15);
    w.service.fraction_of_free = true;
    const struct sp_served left = prepared(&w.service);
    assert_close(left.capacity, left.weights + 0.9 * (640e9 - left.weights), 1e-15);
    assert_close(sp_chips_to_hold(&left, 0), left.weights / 80e9, 1e-15);
}

/* 405 GB of weights over n x 810 GB/s: 15.6 ms on 32 chips, 7.8 on 64 (scaling book, question 3).
 */
static void sizes(void **state)
{
    (void)state;
    struct world w;
    struct sp_serve_point points[SP_SERVE_POINTS];
    struct sp_serve_load load = {.concurrency = 1, .tpot_s = 0.015, .step_s = NAN};
    make(&w, "llama3-405b", "v5e");
    w.model = (struct sp_model){.params = 405e9};
    w.service.weight_bytes = 1;
    const int n = sp_serve_points(&w.service, &load, 1, false, points);
    assert_true(n > 1);
    assert_close(points[0].chips, 64, 0);
    assert_close(points[0].steady.step_s, 0.0078125, 1e-12);
    load.objective = SP_SERVE_LATENCY;
    assert_true(sp_serve_points(&w.service, &load, 1, false, points) == n);
    assert_close(points[0].chips, 256, 0); /* a pod */
}

/* No point of the front beats another, and no single size beats the front. */
static void fronts(void **state)
{
    (void)state;
    struct world w;
    static struct sp_serve_point front[SP_SERVE_POINTS], sizes[SP_SERVE_POINTS];
    const struct sp_serve_load load = {.concurrency = NAN, .tpot_s = INFINITY, .step_s = NAN};
    make(&w, "deepseek-v3", "gb200-72");
    w.service.weight_bytes = w.service.expert_bytes = 1;
    w.service.all_experts = false;
    const int n = sp_serve_front(&w.service, &load, 72, true, front);
    const int m = sp_serve_points(&w.service, &load, 72, true, sizes);
    assert_true(n > 5 && m > 5);
    for (int i = 1; i < n; i++) {
        assert_true(front[i].steady.tpot_s > front[i - 1].steady.tpot_s);
        assert_true(front[i].tokens_per_s_per_chip > front[i - 1].tokens_per_s_per_chip);
    }
    for (int i = 0; i < n; i++)
        assert_close(front[i].tp * front[i].attention_dp, front[i].chips, 0);
    assert_close(front[n - 1].tokens_per_s_per_chip, sizes[0].tokens_per_s_per_chip, 1e-8);
}

/* The best split of eight H100 under a limit, by exhaustive search. */
static void splits(void **state)
{
    (void)state;
    struct world w;
    struct sp_serve_split best;
    const struct sp_serve_load load = {.concurrency = NAN, .tpot_s = 0.03, .step_s = NAN};
    double most = 0;
    make(&w, "llama3-70b", "h100-8");
    w.service.weight_bytes = 1;
    w.service.held_tokens = w.service.step_tokens = 1536;
    assert_true(sp_best_split(&w.service, &load, 8, true, &best));
    for (double tp = 1; tp <= 8; tp *= 2)
        for (double to = 1; to <= 8; to *= 2) {
            w.service.chips = w.service.tp = tp;
            const struct sp_served reads = prepared(&w.service);
            w.service.chips = w.service.tp = to;
            const struct sp_served makes = prepared(&w.service);
            double B = 0;
            while (B < sp_most_sequences(&makes) && sp_decode_time(&makes, B + 1, 1).step_s <= 0.03)
                B++;
            for (double n = 1; B > 0 && n * to + tp <= 8; n++)
                for (double k = 1; n * to + k * tp <= 8 && sp_most_sequences(&reads) > 0; k++)
                    most = fmax(most, fmin(k / sp_prefill_time(&reads).prefill_s,
                                           n * B / (512 * sp_decode_time(&makes, B, 1).step_s)));
        }
    assert_close(best.requests_per_s, most, 1e-9);
    assert_true(best.readers * best.reads.chips + best.generators * best.generates.chips <= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_experts),
        cmocka_unit_test(touched_experts),
        cmocka_unit_test(uneven_touch_less),
        cmocka_unit_test(caches),
        cmocka_unit_test(steps),
        cmocka_unit_test(experts),
        cmocka_unit_test(pools),
        cmocka_unit_test(drafts),
        cmocka_unit_test(monotone),
        cmocka_unit_test(edges),
        cmocka_unit_test(sizes),
        cmocka_unit_test(fronts),
        cmocka_unit_test(splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
