/* Curves over the batches of a serving instance, and its simulation, against the same closed forms
 * asked batch by batch. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "study/serve_curves.h"
#include "study/serve_traffic.h"

/* Llama 3 8B on one chip of 80 GB under vLLM. */
struct world {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_profile profile;
    struct sp_serve_load load;
    struct sp_serve_instance instance;
};

static void make(struct world *w, bool estimated, double input, double output, double drafts)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    bool own;
    memset(w, 0, sizeof *w);
    assert_true(sp_load_model("llama3-8b", &sources, &w->model, &error));
    assert_true(sp_load_hardware("h100-1", &sources, &w->hw, &error));
    assert_true(sp_load_serving(&w->hw, "vllm", &sources, &w->profile, &own, &error));
    const struct sp_service service = {.model = &w->model,
                                       .hw = &w->hw,
                                       .chips = 1,
                                       .tp = 1,
                                       .attention_dp = 1,
                                       .weight_bytes = 2,
                                       .expert_bytes = 2,
                                       .kv_bytes = 2,
                                       .kv_token_bytes = NAN,
                                       .math = SP_BF16,
                                       .expert_math = SP_BF16,
                                       .pp = 1,
                                       .memory_fraction = 0.9,
                                       .input = input,
                                       .output = output,
                                       .held_tokens = input + output / 2,
                                       .step_tokens = input + output / 2,
                                       .block = 16,
                                       .chunk = 8192,
                                       .mfu = 1,
                                       .attention = true,
                                       .drafts = drafts,
                                       .accepted = drafts > 0 ? 1 + drafts / 2 : 0};
    w->load = (struct sp_serve_load){.concurrency = NAN,
                                     .tpot_s = INFINITY,
                                     .step_s = NAN,
                                     .profile = estimated ? &w->profile : NULL};
    sp_prepare_instance(&service, &w->load, &w->instance);
}

/* 61 batches from 1 to twice the largest of 16, the running ones and those that fit, evenly spaced
 * in the logarithm; of each its cache over 3.35 TB/s (131,072 bytes a token), its weights and
 * arithmetic, and the cache beside the larger of those. */
static void curves_batch_by_batch(void **state)
{
    struct world *const w = calloc(1, sizeof *w);
    struct sp_serve_curves *const c = calloc(1, sizeof *c);
    (void)state;
    for (int i = 0; i < 60; i++) {
        const bool estimated = draw(2);
        const double input = floor(spread(16, 60000)), output = floor(spread(16, 60000));
        const double B = floor(spread(1, 3000));
        make(w, estimated, input, output, (double)(draw(2) * 3));
        const struct sp_served *const v = &w->instance.served;
        sp_curves_of_service(v, &w->instance, &w->load, B, c);
        assert_close(c->fits, sp_most_sequences(v), 0);
        const double most = 2 * fmax(16, fmax(B, c->fits));
        for (int k = 0; k < SP_CURVE_BATCHES; k++) {
            const double batch = exp(log(most) * k / 60);
            assert_close(c->batch[k], batch, 1e-12);
            const struct sp_decode_time t = sp_decode_time(v, c->batch[k], 1 + v->service.drafts);
            const double seconds[] = {t.kv_s, t.weights_s, t.math_s,
                                      t.kv_s + fmax(t.weights_s, t.math_s)};
            for (int line = SP_CURVE_CACHE; line <= SP_CURVE_LEAST; line++) {
                assert_close(c->seconds[line][k], seconds[line], 1e-12);
                assert_close(c->rate[line][k], c->batch[k] / seconds[line], 1e-12);
            }
            assert_close(c->seconds[SP_CURVE_CACHE][k],
                         c->batch[k] * (input + output / 2) * 131072 / 3.35e12, 0.02);
            const bool known = estimated && c->batch[k] <= fmax(1, c->fits);
            const struct sp_steady y = sp_state_of(&w->instance, &w->load, c->batch[k]);
            assert_close(c->seconds[SP_CURVE_ESTIMATE][k], known ? y.step_s : NAN, 0);
            assert_close(c->rate[SP_CURVE_ESTIMATE][k], known ? y.tokens_per_s : NAN, 0);
            assert_close(c->seconds[SP_CURVE_BETWEEN][k], known ? y.tpot_s : NAN, 0);
            assert_true(isnan(c->rate[SP_CURVE_BETWEEN][k]));
        }
    }
    free(c);
    free(w);
}

/* A closed loop of n leaves out three rounds of n requests, an open one a tenth of those that are
 * counted, a trace none; and the room that the simulation is given changes nothing. */
static void simulated_alike(void **state)
{
    struct world *const w = calloc(1, sizeof *w);
    (void)state;
    make(w, true, 512, 128, 0);
    enum { N = 400, MOST = 4096 };
    struct sp_running *const running = calloc(2 * MOST, sizeof *running);
    double *const times = calloc(MOST + 3 * N, sizeof *times);
    static double arrivals[N], lengths[N];
    for (int i = 0; i < N; i++) {
        arrivals[i] = i;
        lengths[i] = 100;
    }
    for (int how = 0; how < 4; how++) {
        struct sp_traffic t = {.requests = sp_requests_of(&w->instance, &w->load, 20),
                               .input = sp_fixed_length(512),
                               .output = sp_fixed_length(128),
                               .share = 1,
                               .context = NAN,
                               .seed = 1,
                               .counted = N};
        if (how >= 2)
            t.requests = (struct sp_requests){.in_flight = NAN, .rate = 2};
        if (how == 3) {
            t.arrivals = arrivals;
            t.inputs = t.outputs = lengths;
            t.rows = N;
        }
        struct sp_traffic same = t;
        struct sp_simulated mine, its;
        memset(&mine, 0, sizeof mine);
        memset(&its, 0, sizeof its);
        assert_true(sp_simulate_instance(&w->instance, &t, &mine));
        assert_int_equal(t.skipped, how < 2 ? 60 : how == 2 ? N / 10 : 0);
        same.skipped = t.skipped;
        const struct sp_simulation_room room = {.running = running,
                                                .most = MOST,
                                                .sent = times,
                                                .ttft = times + MOST,
                                                .tpot = times + MOST + N,
                                                .e2e = times + MOST + 2 * N};
        sp_simulate_serving(&w->instance.pass, &same, &room, &its);
        assert_close(mine.requests_per_s, its.requests_per_s, 0);
        assert_close(mine.ttft.p99, its.ttft.p99, 0);
        assert_close(mine.tpot.mean, its.tpot.mean, 0);
        assert_close(mine.e2e.p50, its.e2e.p50, 0);
        assert_close(mine.running, its.running, 0);
    }
    struct sp_traffic many = {.requests = sp_requests_of(&w->instance, &w->load, 1048577),
                              .counted = 1};
    struct sp_simulated none;
    assert_false(sp_simulate_instance(&w->instance, &many, &none)); /* above 2^20 */
    free(times);
    free(running);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_batch_by_batch),
        cmocka_unit_test(simulated_alike),
    };
    return cmocka_run_group_tests_name("study_serving", tests, NULL, NULL);
}
