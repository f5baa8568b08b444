/* Points of the serving estimate per second, the front of a rack, and simulated requests beside
 * forward passes. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include <scaleplan/scaleplan.h>

#include "config/load.h"
#include "study/serve_traffic.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct sp_service service_of(const struct sp_model *model, const struct sp_hardware *hw)
{
    return (struct sp_service){.model = model,
                               .hw = hw,
                               .chips = (double)sp_chips(hw),
                               .attention_dp = 1,
                               .weight_bytes = 1,
                               .expert_bytes = 1,
                               .kv_bytes = 1,
                               .kv_token_bytes = NAN,
                               .math = SP_FP8,
                               .expert_math = SP_FP8,
                               .memory_fraction = 0.9,
                               .input = 1024,
                               .output = 1024,
                               .held_tokens = 2048,
                               .step_tokens = 1536,
                               .block = 16,
                               .mfu = 1,
                               .attention = true};
}

/* One prepared instance, with a different number of requests each time. */
static void time_points(const struct sp_service *service, const struct sp_serve_load *load)
{
    enum { POINTS = 1000000 };
    struct sp_serve_instance instance;
    double sum = 0;
    sp_prepare_instance(service, load, &instance);
    const double start = now_s();
    for (int i = 0; i < POINTS; i++) {
        const struct sp_requests requests = sp_requests_of(&instance, load, 1 + i % 512);
        sum += sp_serve_estimate(&instance.pass, &requests).tpot_s;
    }
    printf("%.2f million points/s on one core (mean %.3g s)\n", POINTS / (now_s() - start) / 1e6,
           sum / POINTS);
}

static void time_front(const struct sp_service *service, const struct sp_serve_load *load)
{
    static struct sp_serve_point points[SP_SERVE_POINTS];
    const double start = now_s();
    const int n = sp_serve_front(service, load, service->chips, true, points);
    printf("front of %.0f chips: %.2f ms, %d points\n", service->chips, 1e3 * (now_s() - start), n);
}

/* Requests of many lengths through an instance that runs 256 at once; the baseline is the time of a
 * decode step by the estimate, of which a request takes a few. */
static void time_requests(const struct sp_service *service, const struct sp_serve_load *load)
{
    enum { REQUESTS = 1000000, PASSES = 1000000 };
    struct sp_serve_instance instance;
    struct sp_simulated result;
    double sum = 0;
    sp_prepare_instance(service, load, &instance);
    struct sp_traffic traffic = {.requests = sp_requests_of(&instance, load, 256),
                                 .input = {.kind = SP_LENGTHS_LOGNORMAL, .a = 2000, .b = 0.8},
                                 .output = {.kind = SP_LENGTHS_LOGNORMAL, .a = 512, .b = 0.7},
                                 .context = NAN,
                                 .counted = REQUESTS};
    double start = now_s();
    for (int i = 0; i < PASSES; i++) {
        const struct sp_pass_load step = {.decode = 1 + i % 512, .context = 2048};
        sum += sp_pass_time(&instance.pass, &step).total_s;
    }
    const double passes = PASSES / (now_s() - start);
    start = now_s();
    sp_simulate_instance(&instance, &traffic, &result);
    const double requests = REQUESTS / (now_s() - start);
    printf("%.2f million simulated requests/s on one core, %.1f forward passes each (of %.1f "
           "million/s, mean %.3g s)\n",
           requests / 1e6, passes / requests, passes / 1e6, sum / PASSES);
}

int main(void)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_model model;
    struct sp_hardware hw, node;
    struct sp_profile profile;
    bool own;
    if (!sp_load_model("deepseek-v3", &sources, &model, &error) ||
        !sp_load_hardware("gb200-72", &sources, &hw, &error) ||
        !sp_load_hardware("gb200-8", &sources, &node, &error) ||
        !sp_load_serving(&hw, "trtllm", &sources, &profile, &own, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    const struct sp_serve_load load = {.concurrency = NAN,
                                       .tpot_s = INFINITY,
                                       .ttft_s = INFINITY,
                                       .step_s = NAN,
                                       .profile = &profile};
    const struct sp_service one = service_of(&model, &node), rack = service_of(&model, &hw);
    time_points(&one, &load);
    time_front(&rack, &load);
    time_requests(&one, &load);
    return 0;
}
