/* Evaluations of a plan per second on one core, each kind as a ratio to the whole path of `step`
 * beside it. Llama 3 70B on 512 H100: TP 4, PP 16, 128 micro-batches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <scaleplan/estimate.h>

#include "config/load.h"

static struct sp_model model;
static struct sp_hardware hw;
static struct sp_precision precision;
static struct sp_framework_file framework;
static struct sp_profile profile;
static struct sp_plan plan;
static struct sp_step_inputs in;
static struct sp_layers layers;
static struct sp_rank_layers mine;
static struct sp_prepared prepared;
static struct sp_prepared_memory memory;
static struct sp_stage_map map;
static struct sp_staged staged;
static struct sp_kind_memory kinds[SP_STAGE_KINDS];
static struct sp_task tasks[1 << 16];
static struct sp_played played;

/* Processor time, so that other work on the machine counts little. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double whole(void)
{
    struct sp_stage_memory m;
    return sp_evaluate(&in, &m) + (double)m.device;
}

static double step(void)
{
    return sp_estimate_step(&in).step;
}

static double from_prepared(void)
{
    return sp_estimate_prepared(&in, &prepared).step;
}

static double from_staged(void)
{
    struct sp_stage_memory m;
    sp_fullest_prepared(&precision, &plan, &framework.framework, &map, kinds, &m);
    return sp_estimate_staged(&in, &prepared, &map, &staged).step + (double)m.device;
}

static double bound(void)
{
    return sp_least_step_s(&in, &prepared);
}

static double staged_bound(void)
{
    return sp_least_staged_s(&in, &prepared, &map, &staged);
}

static double exact_pipeline(void)
{
    double forward[16], backward[16];
    for (int s = 0; s < 16; s++) {
        forward[s] = 1 + (s == 15);
        backward[s] = 2 + (s == 15) + 1e-9 * (double)plan.batch;
    }
    return sp_uneven_pipeline_s(SP_1F1B, forward, backward, 16, 128);
}

static double play(void)
{
    const struct sp_pipeline q = {.schedule = SP_1F1B,
                                  .stages = 16,
                                  .microbatches = 128,
                                  .chunks = 1,
                                  .forward_s = 1,
                                  .backward_s = 2 + 1e-9 * (double)plan.batch};
    sp_play_pipeline(&q, NULL, 0, tasks, &played);
    return played.makespan_s;
}

static double rate_of(double (*evaluate)(void))
{
    double sum = 0, best = 0;
    for (int round = 0; round < 5; round++) {
        int n = 0;
        const double start = now_s();
        double end = start;
        for (; end - start < 0.1; end = now_s())
            for (int i = 0; i < 100; i++, n++) {
                plan.batch = 1024 + n % 2; /* nothing may be moved out of the loop */
                sum += evaluate();
            }
        best = fmax(best, n / (end - start));
    }
    return sum > 0 ? best : 0;
}

int main(void)
{
    static const struct {
        const char *what;
        double (*evaluate)(void);
    } kinds_of[] = {
        {"step alone", step},
        {"step, layers prepared", from_prepared},
        {"step and memory, stages prepared", from_staged},
        {"lower bound of a policy", bound},
        {"lower bound of a split", staged_bound},
        {"1F1B, 16 x 128, exact formula", exact_pipeline},
        {"1F1B, 16 x 128, event by event", play},
    };
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    static struct sp_profile known[SP_MAX_PROFILES];
    bool own;
    if (!sp_load_model("llama3-70b", &none, &model, &error) ||
        !sp_load_hardware("h100-512", &none, &hw, &error) ||
        !sp_load_framework("nemo", &none, &framework, &error) ||
        !sp_load_precision("mixed16", &none, &precision, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    size_t n_known = 0;
    if (!sp_load_profiles(&none, known, &n_known, &error))
        return 1;
    sp_profile_for(&hw, &framework.framework, known, n_known, &profile, &own);
    plan = (struct sp_plan){.dp = 8,
                            .shards = 8,
                            .tp = 4,
                            .pp = 16,
                            .vpp = 1,
                            .cp = 1,
                            .ep = 1,
                            .etp = 1,
                            .zero = 1,
                            .sequence_parallel = true,
                            .micro_batch = 1,
                            .batch = 1024,
                            .seq = 8192,
                            .recompute_layers = 1,
                            .schedule = SP_1F1B,
                            .imbalance = 1};
    in = (struct sp_step_inputs){&model,   &hw,   &precision, &framework.framework,
                                 &profile, &plan, NULL};
    sp_list_model(&model, &layers);
    sp_layers_on_rank(&layers, &plan, &framework.framework, &mine);
    sp_prepare_step(&in, &mine, &prepared);
    sp_prepare_memory(&mine, &plan, &framework.framework, &memory);
    sp_map_stages(&model, &(struct sp_stage_split){.stages = plan.pp}, &map);
    sp_stage_times(&in, &prepared, &map, &staged);
    sp_memory_of_kinds(&framework.framework, &memory, &map, kinds);
    const double base = rate_of(whole);
    printf("step and memory by the path of `step`: %.2f M evaluations/s on one core (baseline)\n",
           base / 1e6);
    for (size_t i = 0; i < sizeof kinds_of / sizeof *kinds_of; i++) {
        const double rate = rate_of(kinds_of[i].evaluate);
        printf("  %-34s %8.3f M/s  x%.2f  (%.2f us each)\n", kinds_of[i].what, rate / 1e6,
               rate / base, 1e6 / rate);
    }
    return 0;
}
