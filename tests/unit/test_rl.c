/* Generation of a batch against serving, against what closed forms say of its tail, and against the
 * scheduler run event by event; the sides of a step together. */
#include "check.h"
#include "asked.h"
#include "draws.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>
#include <scaleplan/rl.h>
#include <scaleplan/serve_simulation.h>

#include "config/load.h"

/* Llama 3 8B on one H100 under vLLM. */
struct world {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_profile profile;
    struct sp_serve_load load;
    struct sp_serve_instance instance;
    struct sp_lengths output;
};

static void make(struct world *w, bool estimated, struct sp_lengths output)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    bool own;
    memset(w, 0, sizeof *w);
    assert_true(sp_load_model("llama3-8b", &sources, &w->model, &error));
    assert_true(sp_load_hardware("h100-1", &sources, &w->hw, &error));
    assert_true(sp_load_serving(&w->hw, "vllm", &sources, &w->profile, &own, &error));
    w->output = output;
    sp_settle_lengths(&w->output);
    const double context = 512 + w->output.square / w->output.mean / 2;
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
                                       .input = 512,
                                       .output = w->output.mean,
                                       .held_tokens = context,
                                       .step_tokens = context,
                                       .block = 16,
                                       .chunk = 8192,
                                       .mfu = 1,
                                       .attention = true};
    w->load = (struct sp_serve_load){.concurrency = NAN,
                                     .tpot_s = INFINITY,
                                     .step_s = NAN,
                                     .profile = estimated ? &w->profile : NULL};
    sp_prepare_instance(&service, &w->load, &w->instance);
}

static struct sp_rollout_time time_of(const struct world *w, double answers, double at_once)
{
    const struct sp_rollout r = {.instance = &w->instance,
                                 .load = &w->load,
                                 .output = &w->output,
                                 .answers = answers,
                                 .engines = 1,
                                 .at_once = at_once,
                                 .most = at_once,
                                 .longer = 1,
                                 .most_queued = answers};
    struct sp_rollout_time t;
    sp_time_rollout(&r, &t);
    return t;
}

/* Answers of one length that start and end together take what serving gives for as many in flight.
 */
static void equal_answers(void **state)
{
    struct world *const w = calloc(1, sizeof *w);
    (void)state;
    for (int estimated = 0; estimated < 2; estimated++) {
        make(w, estimated, sp_fixed_length(1024));
        const struct sp_steady y = sp_state_of(&w->instance, &w->load, 64);
        const struct sp_rollout_time t = time_of(w, 64, 200), waves = time_of(w, 256, 64);
        assert_close(t.batch_s, y.e2e_s, 1e-9);
        assert_close(t.work_s, 64 / y.requests_per_s, 1e-9);
        assert_close(t.longest, 1024, 1e-12);
        assert_close(waves.batch_s, 4 * y.e2e_s, 1e-9);
    }
    free(w);
}

/* Exponential answers of mean m: the weights are read as often as the longest has tokens, the mean
 * of which is m times the n-th harmonic number, and the cache of each answer as it grows, the sum
 * of (input + k - 1/2) exp(-k/m) over k from 1: m exp(-1/m) (input + 1/2 + m). */
static void exponential_tail(void **state)
{
    enum { N = 64 };
    const double m = 900;
    struct world *const w = calloc(1, sizeof *w);
    double harmonic = 0;
    (void)state;
    for (int i = 1; i <= N; i++)
        harmonic += 1.0 / i;
    make(w, false, (struct sp_lengths){.kind = SP_LENGTHS_EXPONENTIAL, .a = m});
    const double W = 3.35e12, P = w->instance.served.weights, kv = w->instance.served.kv_token;
    const double table = w->instance.served.table * 2;
    const double weights_s = (P - table) / W, token_s = kv / W;
    const struct sp_rollout_time t = time_of(w, N, 1000);
    const double cache_s = token_s * N * m * exp(-1 / m) * (512 + 0.5 + m);
    assert_close(t.longest, m * harmonic, 1e-9);
    assert_close(t.course_s, weights_s * (m * harmonic - 1) + cache_s, 2e-3);
    free(w);
}

static double crowding(double input, struct sp_lengths output, bool refilled)
{
    struct world *const w = calloc(1, sizeof *w);
    make(w, false, output);
    struct sp_service service = w->instance.served.service;
    service.input = input;
    service.held_tokens = input + w->output.square / w->output.mean / 2;
    const double found = sp_crowding(&service, &w->output, refilled);
    free(w);
    return found;
}

/* Answers of one length grow together to L: over input + L / 2. From 0 to b, a refilled slot has
 * t (1 - t/b) and its renewals, b (2 t/b + 1 - exp(t/b)) in all: at most b (2 ln 2 - 1), over
 * b/3. Empty slots have b/4 at most; exponential answers have no age. */
static void crowds(void **state)
{
    (void)state;
    const struct sp_lengths fixed = {.a = 1000}, even = {SP_LENGTHS_UNIFORM, .a = 0, .b = 1000};
    const struct sp_lengths free_ends = {SP_LENGTHS_EXPONENTIAL, .a = 1000};
    for (int refilled = 0; refilled < 2; refilled++) {
        assert_close(crowding(512, fixed, refilled), 1512 / 1012.0, 1e-12);
        assert_close(crowding(0, free_ends, refilled), 1, 1e-2);
    }
    assert_close(crowding(0, even, true), 3 * (2 * log(2) - 1), 1e-2);
    assert_close(crowding(0, even, false), 1, 0);
}

/* The scheduler with all requests there at once, seed after seed: when the last answer ends. */
static double played_s(const struct world *w, size_t answers, size_t most)
{
    enum { SEEDS = 24 };
    struct sp_running *const running = calloc(2 * most, sizeof *running);
    double *const times = calloc(8 * answers, sizeof *times), sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct sp_lengths input = sp_fixed_length(512);
        double *const in = times + 5 * answers, *const out = in + answers,
                      *const at = out + answers;
        uint64_t state = seed;
        for (size_t i = 0; i < answers; i++) {
            in[i] = input.a;
            out[i] = sp_draw_length(&w->output, &state);
            at[i] = 0;
        }
        const struct sp_traffic traffic = {.requests = sp_requests_of(&w->instance, &w->load, NAN),
                                           .input = input,
                                           .output = w->output,
                                           .inputs = in,
                                           .outputs = out,
                                           .arrivals = at,
                                           .rows = answers,
                                           .share = 1,
                                           .context = NAN,
                                           .seed = 1,
                                           .counted = answers};
        const struct sp_simulation_room room = {.running = running,
                                                .most = most,
                                                .sent = times,
                                                .ttft = times + answers,
                                                .tpot = times + 2 * answers,
                                                .e2e = times + 3 * answers};
        struct sp_simulated s;
        double longest = 0;
        sp_simulate_serving(&w->instance.pass, &traffic, &room, &s);
        for (size_t i = 0; i < answers; i++)
            longest = fmax(longest, room.e2e[i]);
        sum += longest / SEEDS;
    }
    free(running);
    free(times);
    return sum;
}

static void played(void **state)
{
    struct world *const w = calloc(1, sizeof *w);
    (void)state;
    make(w, true, (struct sp_lengths){.kind = SP_LENGTHS_LOGNORMAL, .a = 800, .b = 0.9});
    assert_close(time_of(w, 128, 1000).batch_s, played_s(w, 128, 1000), 0.05);
    assert_close(time_of(w, 512, 64).batch_s, played_s(w, 512, 64), 0.1);
    make(w, true, (struct sp_lengths){.kind = SP_LENGTHS_EXPONENTIAL, .a = 800, .most = 4096});
    assert_close(time_of(w, 128, 1000).batch_s, played_s(w, 128, 1000), 0.05);
    assert_close(time_of(w, 640, 64).batch_s, played_s(w, 640, 64), 0.1);
    free(w);
}

/* Partial rollouts of N answers with r in flight take N / rate(r), by serving, and c r to read
 * their tokens again: the least over all allowed r. */
static void read_again(void **state)
{
    enum { N = 512, MOST = 4 * N };
    struct world *const w = calloc(1, sizeof *w);
    (void)state;
    make(w, true, (struct sp_lengths){.kind = SP_LENGTHS_EXPONENTIAL, .a = 800});
    struct sp_rollout r = {.instance = &w->instance,
                           .load = &w->load,
                           .output = &w->output,
                           .answers = N,
                           .engines = 1,
                           .at_once = N,
                           .most = MOST,
                           .longer = 1,
                           .read_again = 4000};
    struct sp_rollout_time t = {.full = 0};
    double least = INFINITY, best = 0;
    r.most_queued = MOST;
    sp_time_rollout(&r, &t);
    const double prompts_per_s = t.prompts_per_s;
    for (int in_flight = 1; in_flight <= MOST; in_flight++) {
        const double work = N / sp_state_of(&w->instance, &w->load, in_flight).requests_per_s +
                            in_flight * 4000 / (512 * prompts_per_s);
        if (work < least) {
            least = work;
            best = in_flight;
        }
    }
    assert_true(best > 20 && best < N);
    assert_close(t.full, best, 0.02);
    assert_close(t.work_s, least, 1e-4);
    r.most_queued = floor(best / 2); /* no more are allowed */
    sp_time_rollout(&r, &t);
    assert_close(t.full, floor(best / 2), 0);
    assert_close(t.work_s,
                 N / sp_state_of(&w->instance, &w->load, t.full).requests_per_s +
                     t.full * 4000 / (512 * prompts_per_s),
                 1e-9);
    free(w);
}

/* Steps drawn over models, chips, splits, lengths and engines: more steps ahead make none longer,
 * except by the tolerance of the serving loop. */
static void more_ahead(void **state)
{
    enum { ALL = 480 };
    static const char *const models[] = {"llama3-8b", "qwen3-30b-a3b", "qwen3-32b", "gpt-oss-20b"};
    static const char *const chips[] = {"h100", "h200", "b200", "h20"};
    static const char *const lengths[] = {"exponential:", "", "lognormal:"};
    static const int ahead[] = {0, 1, 2, 3, 4, 8, 16, 64, 1000};
    int ran = 0;
    (void)state;
    drawn = drawn_seed(41);
    for (int i = 0; i < ALL / one_in(); i++) {
        char line[LINE];
        double before = INFINITY, work = INFINITY;
        const int devices = 16 << draw(3), train = devices / (draw(2) ? 2 : 4);
        const uint64_t kind = draw(3), prompts = 8U << draw(7), group = 4U << draw(3);
        int n = snprintf(line, sizeof line,
                         "rl --model %s --hw %s-%d --split %d:%d --prompts %d --group %d --tp %d "
                         "--gen-tp %d --input %.0f --output %s%.0f%s",
                         models[draw(4)], chips[draw(4)], devices, train, devices - train,
                         (int)prompts, (int)group, 1 << draw(4), 1 << draw(4), spread(64, 8192),
                         lengths[kind], spread(100, 10000), kind == 2 ? ":0.7" : "");
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s%s%s", draw(3) ? " --partial" : "",
                      draw(3) ? "" : " --loop ideal", draw(3) ? "" : " --constants textbook",
                      kind != 1 && draw(2) ? " --max-response 8192" : "");
        for (size_t k = 0; k < sizeof ahead / sizeof *ahead; k++) {
            snprintf(line + n, sizeof line - (size_t)n, " --stale %d", ahead[k]);
            struct sp_report *const r = ask(line);
            if (!r)
                break;
            const double step = number(r, "step_s", 0), now = number(r, "work_s", 0);
            if (!(step <= before * (1 + 1e-5) && now <= work * (1 + 1e-5)))
                fail_msg("%s: step %.9g, %.9g before; work %.9g, %.9g", line, step, before, now,
                         work);
            before = step;
            work = now;
            ran++;
            sp_report_free(r);
        }
    }
    assert_true(ran > ALL / one_in());
}

/* Not ahead: one after the other; far ahead: the slower side and the idle time. */
static void sides(void **state)
{
    (void)state;
    assert_close(sp_rl_split_s(80, 100, 60, 7, 0, 3), 100 + 60 + 7 + 3, 1e-15);
    assert_close(sp_rl_split_s(80, 100, 60, 7, 1e9, 3), 80 + 7, 1e-15);
    assert_close(sp_rl_split_s(80, 100, 90, 7, 1e9, 3), 90 + 3 + 7, 1e-15);
    assert_close(sp_rl_split_s(80, 100, 60, 7, 1, 3), 85 + 2.0, 1e-15);
    assert_close(sp_rl_colocated_s(100, 60, 7, 2, 3), 172, 1e-15);
    /* 70 B parameters in bf16 over 50 GB/s: sgl-project/sglang 2708 */
    assert_close(sp_rl_refit_s(sp_rl_refit_bytes(70e9 * 2, 1), 50e9, 1000, 0), 2.8, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_answers),
        cmocka_unit_test(crowds),
        cmocka_unit_test(exponential_tail),
        cmocka_unit_test(played),
        cmocka_unit_test(read_again),
        cmocka_unit_test(more_ahead),
        cmocka_unit_test(sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
