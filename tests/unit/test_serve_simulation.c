/* The engine's scheduler, event by event, against queueing theory and against the mean-value
 * answer. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/serve_simulation.h>

#include "config/load.h"

enum { N = 40000, PLACES = 2048 };

/* Llama 3 8B on one H100 under vLLM, and room for its simulations. */
struct world {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_profile profile;
    struct sp_service service;
    struct sp_serve_instance instance;
    struct sp_traffic traffic;
    struct sp_running running[2 * PLACES];
    double sent[PLACES], times[3][N], rows[2][N];
};

static void prepare(struct world *w)
{
    const struct sp_serve_load load = {
        .concurrency = NAN, .tpot_s = INFINITY, .step_s = NAN, .profile = &w->profile};
    w->service.held_tokens = w->service.step_tokens = w->service.input + w->service.output / 2;
    sp_prepare_instance(&w->service, &load, &w->instance);
    w->traffic = (struct sp_traffic){.requests = sp_requests_of(&w->instance, &load, 1),
                                     .input = sp_fixed_length(w->service.input),
                                     .output = sp_fixed_length(w->service.output),
                                     .context = NAN,
                                     .seed = 1,
                                     .skipped = 2000,
                                     .counted = N};
}

static struct world *make(double input, double output)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct world *const w = calloc(1, sizeof *w);
    bool own;
    assert_non_null(w);
    assert_true(sp_load_model("llama3-8b", &sources, &w->model, &error));
    assert_true(sp_load_hardware("h100-1", &sources, &w->hw, &error));
    assert_true(sp_load_serving(&w->hw, "vllm", &sources, &w->profile, &own, &error));
    w->service = (struct sp_service){.model = &w->model,
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
                                     .memory_fraction = 0.9,
                                     .input = input,
                                     .output = output,
                                     .block = 16,
                                     .mfu = 1,
                                     .attention = true,
                                     .chunk = 8192};
    prepare(w);
    return w;
}

static struct sp_simulated run(struct world *w, size_t places)
{
    const struct sp_simulation_room room = {.running = w->running,
                                            .most = places,
                                            .sent = w->sent,
                                            .ttft = w->times[0],
                                            .tpot = w->times[1],
                                            .e2e = w->times[2]};
    struct sp_simulated result;
    sp_simulate_serving(&w->instance.pass, &w->traffic, &room, &result);
    return result;
}

static struct sp_simulated closed(struct world *w, double in_flight)
{
    w->traffic.requests.in_flight = in_flight;
    return run(w, (size_t)in_flight);
}

static struct sp_simulated open(struct world *w, double rate, size_t places)
{
    w->traffic.requests.in_flight = NAN;
    w->traffic.requests.rate = rate;
    return run(w, places);
}

static double first_s(const struct world *w)
{
    return w->instance.pass.value[SP_V_FIRST];
}

/* With one slot, requests of one length are M/D/1: they wait rho D / (2 (1 - rho)) before their D
 * (Pollaczek and Khinchine). 40,000 correlated waits: within 8 %. */
static void one_place(void **state)
{
    (void)state;
    static const double outputs[] = {1, 64}, loads[] = {0.2, 0.5, 0.8};
    for (int o = 0; o < 2; o++) {
        struct world *const w = make(700, outputs[o]);
        const double D = closed(w, 1).e2e.mean - first_s(w);
        for (int i = 0; i < 3; i++) {
            const double rho = loads[i];
            const struct sp_simulated s = open(w, rho / D, 1);
            const double wait = s.e2e.mean - first_s(w) - D;
            assert_close(wait, rho * D / (2 * (1 - rho)), 0.08);
            assert_close(s.busy, rho, 0.03);
        }
        free(w);
    }
}

/* With two random lengths, M/G/1: the rate times the mean square of the service times over 2 (1 -
 * rho), the two times those of requests alone. */
static void two_lengths(void **state)
{
    (void)state;
    struct world *const w = make(700, 100);
    double alone[2], mean = 0, square = 0;
    uint64_t seed = 7;
    for (int k = 0; k < 2; k++) {
        w->traffic.output = sp_fixed_length(k ? 300 : 50);
        alone[k] = closed(w, 1).e2e.mean - first_s(w);
    }
    for (int i = 0; i < N; i++) {
        const int k = sp_draw_share(&seed) < 0.3;
        w->rows[1][i] = k ? 300 : 50;
        mean += alone[k] / N;
        square += alone[k] * alone[k] / N;
    }
    w->traffic.outputs = w->rows[1];
    w->traffic.rows = N;
    const double rate = 0.6 / mean;
    const double wait = open(w, rate, 1).e2e.mean - first_s(w) - mean;
    assert_close(wait, rate * square / (2 * (1 - 0.6)), 0.08);
    free(w);
}

/* Little's law, of both loops; without a queue, requests hold a slot except during the server's
 * part. */
static void littles_law(void **state)
{
    (void)state;
    struct world *const w = make(512, 256);
    w->traffic.output = (struct sp_lengths){.kind = SP_LENGTHS_LOGNORMAL, .a = 256, .b = 0.7};
    const double numbers[] = {1, 8, 64, 400};
    for (int i = 0; i < 4; i++) {
        const struct sp_simulated s = closed(w, numbers[i]);
        assert_close(s.requests_per_s * s.e2e.mean, numbers[i], 0.02);
    }
    const struct sp_simulated s = open(w, 10, PLACES);
    assert_close(s.requests_per_s, 10, 0.02);
    assert_close(s.running, s.requests_per_s * (s.e2e.mean - first_s(w)), 0.02);
    free(w);
}

/* No instance works for more than a second per second, or computes faster than the peak, whatever
 * the load; the same seed gives the same answer. */
static void conservation(void **state)
{
    (void)state;
    static const double inputs[] = {16, 3000, 20000}, outputs[] = {1, 3, 400};
    for (int i = 0; i < 3; i++)
        for (int o = 0; o < 3; o++) {
            struct world *const w = make(inputs[i], outputs[o]);
            w->traffic.input = (struct sp_lengths){.kind = SP_LENGTHS_EXPONENTIAL, .a = inputs[i]};
            w->traffic.counted = 4000;
            const struct sp_simulated s = closed(w, 256), again = closed(w, 256);
            const double flops = 2 * w->instance.served.active * (s.tokens_in + s.tokens_out - 2);
            assert_true(s.busy <= 1 + 1e-9);
            assert_true(s.requests_per_s * flops < w->instance.served.C);
            assert_true(s.ttft.p50 <= s.ttft.p95 && s.ttft.p95 <= s.ttft.p99);
            assert_memory_equal(&s, &again, sizeof s);
            free(w);
        }
}

/* A trace of equal requests is the fixed length, to the last bit; the mean of its latencies follows
 * from the parts. */
static void equal_rows(void **state)
{
    (void)state;
    struct world *const w = make(700, 90);
    const struct sp_simulated fixed = open(w, 12, PLACES), loop = closed(w, 50);
    for (int i = 0; i < N; i++) {
        w->rows[0][i] = 700;
        w->rows[1][i] = 90;
    }
    w->traffic.inputs = w->rows[0];
    w->traffic.outputs = w->rows[1];
    w->traffic.rows = 1000;
    const struct sp_simulated same = open(w, 12, PLACES), again = closed(w, 50);
    assert_memory_equal(&same, &fixed, sizeof same);
    assert_memory_equal(&again, &loop, sizeof again);
    assert_close(fixed.e2e.mean, fixed.ttft.mean + 89 * fixed.tpot.mean, 1e-9);
    free(w);
}

/* Rows with times: far apart, each runs alone; two that arrive together in one chunk both have
 * their first token after their common pass; with one slot the second waits for all of the first.
 */
static void arrivals(void **state)
{
    (void)state;
    static const double apart[] = {5, 105, 205, 305}, together[] = {0, 0};
    struct world *const w = make(700, 90);
    const struct sp_simulated alone = closed(w, 1);
    w->traffic.rows = w->traffic.counted = 4;
    w->traffic.skipped = 0;
    w->traffic.arrivals = apart;
    const struct sp_simulated four = run(w, PLACES);
    assert_close(four.e2e.p99, alone.e2e.mean, 1e-9);
    assert_close(four.ttft.mean, alone.ttft.mean, 1e-9);
    w->traffic.arrivals = together;
    w->traffic.rows = w->traffic.counted = 2;
    const struct sp_simulated queue = run(w, 1);
    assert_close(queue.e2e.p99, 2 * alone.e2e.mean - first_s(w), 1e-9);
    const struct sp_pass_load both = {.prompts = 2, .prompt = 1400, .seen = 350};
    const struct sp_simulated two = run(w, PLACES);
    assert_close(two.ttft.p50, first_s(w) + sp_pass_time(&w->instance.pass, &both).total_s, 1e-12);
    assert_close(two.ttft.p99, two.ttft.p50, 1e-12);
    free(w);
}

/* Requests of one length: the mean-value answer has the simulation's rate and time of a request.
 * Tokens come a little later in it, first tokens at another time: it has the mean wait for other
 * prompts that was measured (`queue`), while requests that start together stay together where
 * lengths are equal, and random ones hardly meet. At high random load its wait is that of a longer
 * queue than the simulation has. */
static void mean_values(void **state)
{
    (void)state;
    static const double numbers[] = {1, 4, 16, 64, 256};
    struct world *const w = make(512, 512);
    for (int i = 0; i < 5; i++) {
        w->traffic.requests.in_flight = numbers[i];
        const struct sp_serve_estimate e =
            sp_serve_estimate(&w->instance.pass, &w->traffic.requests);
        const struct sp_simulated s = closed(w, numbers[i]);
        assert_close(s.requests_per_s, e.requests_per_s, 0.03);
        assert_close(s.e2e.mean, e.e2e_s, 0.03);
        assert_close(s.tpot.mean, e.tpot_s, 0.07);
    }
    w->traffic.requests.in_flight = NAN;
    w->traffic.requests.rate = 1;
    const double most =
        sp_serve_estimate(&w->instance.pass, &w->traffic.requests).most_requests_per_s;
    for (int i = 1; i <= 8; i++) {
        w->traffic.requests.rate = most * i / 10;
        const struct sp_serve_estimate e =
            sp_serve_estimate(&w->instance.pass, &w->traffic.requests);
        const struct sp_simulated s = open(w, most * i / 10, PLACES);
        assert_close(s.e2e.mean, e.e2e_s, 0.03);
        assert_close(s.tpot.mean, e.tpot_s, 0.03);
    }
    free(w);
}

/* With more requests than slots: the room in the cache is the mean-value answer's. */
static void full_memory(void **state)
{
    (void)state;
    struct world *const w = make(512, 512);
    const double room = sp_room_for_sequences(&w->instance.served);
    w->traffic.requests.in_flight = floor(1.3 * room);
    const struct sp_serve_estimate e = sp_serve_estimate(&w->instance.pass, &w->traffic.requests);
    const struct sp_simulated s = closed(w, floor(1.3 * room));
    assert_close(s.running, floor(room), 0.01);
    assert_close(s.requests_per_s, e.requests_per_s, 0.04);
    assert_close(s.e2e.mean, e.e2e_s, 0.04);
    /* a slot for every request: no first token waits for more than some chunks of prompts */
    w->traffic.output = (struct sp_lengths){.kind = SP_LENGTHS_LOGNORMAL, .a = 512, .b = 1};
    const struct sp_pass_load chunk = {.prompts = 16, .prompt = 8192, .seen = 256};
    assert_true(closed(w, 64).ttft.p99 <
                first_s(w) + 3 * sp_pass_time(&w->instance.pass, &chunk).total_s);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_place),   cmocka_unit_test(two_lengths),
        cmocka_unit_test(littles_law), cmocka_unit_test(conservation),
        cmocka_unit_test(equal_rows),  cmocka_unit_test(arrivals),
        cmocka_unit_test(mean_values), cmocka_unit_test(full_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
