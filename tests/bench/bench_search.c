/* How fast the search decides and evaluates plans, as ratios to a baseline beside it: each plan by
 * the whole path of `step`, one at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <scaleplan/estimate.h>

#include "config/load.h"
#include "study/run_search.h"

struct problem {
    const char *model, *hw;
    int64_t batch, seq;
    bool
        open; /* every schedule, policy, ZeRO stage and offload, not only what the framework runs */
};

struct loaded {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    struct sp_search_space space;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void load(const struct problem *p, struct loaded *l)
{
    static struct sp_profile known[SP_MAX_PROFILES];
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    bool own;
    if (!sp_load_model(p->model, &none, &l->model, &error) ||
        !sp_load_hardware(p->hw, &none, &l->hw, &error) ||
        !sp_load_framework("nemo", &none, &l->framework, &error) ||
        !sp_load_precision(l->framework.framework.precision, &none, &l->precision, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    size_t n = 0;
    if (!sp_load_profiles(&none, known, &n, &error))
        exit(1);
    sp_profile_for(&l->hw, &l->framework.framework, known, n, &l->profile, &own);
    l->space = (struct sp_search_space){
        .in = {&l->model, &l->hw, &l->precision, &l->framework.framework, &l->profile, NULL, NULL},
        .seq = p->seq,
        .batch = p->batch,
        .dtype = SP_BF16,
        .imbalance = 1,
        .recompute_layers = 1,
        .open = {.sequence_parallel = {true, true},
                 .stages_inside = {true, true},
                 .offload = {true, p->open}},
        .most_bytes = 0.95 * sp_capacity_bytes(&l->hw.chip),
    };
    for (int i = 0; i < SP_SCHEDULES; i++)
        l->space.open.schedule[i] = p->open || i == SP_1F1B || i == SP_INTERLEAVED;
    for (int i = 0; i < SP_POLICIES; i++)
        l->space.open.policy[i] = p->open || i == 0 || i == 1 || i == 3 || i == 4;
    for (int i = 0; i < 4; i++)
        l->space.open.zero[i] = p->open || i < 2;
    if (!sp_open_space(&l->space))
        exit(1);
}

/* Plans per second of the baseline: the best plan, again and again, by the whole path. */
static double baseline(const struct loaded *l, const struct sp_found *found)
{
    struct sp_step_inputs in = l->space.in;
    struct sp_stage_memory m;
    struct sp_plan plan = found->plan;
    double sum = 0;
    const int n = 200000;
    in.plan = &plan;
    const double start = now_s();
    for (int i = 0; i < n; i++) {
        plan.batch = found->plan.batch + i % 2;
        sum += sp_evaluate(&in, &m) + (double)m.device;
    }
    const double rate = n / (now_s() - start);
    return sum > 0 ? rate : 0;
}

static void show(const char *what, const struct sp_search_result *r, double base)
{
    const double looked = (double)(r->counts.evaluated + r->counts.no_memory);
    const double decided = (double)r->counts.total / r->elapsed_s, rate = looked / r->elapsed_s;
    printf(
        "  %-24s %8.1f ms  %12.0f plans  %9.2f M/s decided (x%.0f)  %6.2f M/s evaluated (x%.1f)\n",
        what, 1e3 * r->elapsed_s, (double)r->counts.total, decided / 1e6, decided / base,
        rate / 1e6, rate / base);
}

int main(void)
{
    static const struct problem problems[] = {
        {"llama3-70b", "h100-512", 1024, 8192, false},
        {"llama3-405b", "h100-16384", 2048, 8192, true},
        {"deepseek-v3", "h100-2048", 15360, 4096, true},
        {"llama3-70b", "h100-512", 1024, 8192, true},
    };
    static struct loaded l;
    static struct sp_search_result r;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const struct problem *const p = &problems[i];
        load(p, &l);
        struct sp_search_run run = {.wanted = 5, .shards = 1, .threads = 1};
        sp_run_search(&l.space, &run, &r);
        if (r.best.n == 0)
            continue;
        const double base = baseline(&l, &r.best.found[0]);
        printf("%s on %s%s: baseline %.2f M plans/s on one core, each by the path of step\n",
               p->model, p->hw, p->open ? ", every dimension open" : "", base / 1e6);
        show("search, 1 thread", &r, base);
        run.threads = 2;
        sp_run_search(&l.space, &run, &r);
        show("search, 2 threads", &r, base);
        if (r.counts.total > 50000000)
            continue;
        run.exhaustive = true;
        run.threads = 1;
        sp_run_search(&l.space, &run, &r);
        show("--exhaustive, 1 thread", &r, base);
        run.threads = 2;
        sp_run_search(&l.space, &run, &r);
        show("--exhaustive, 2 threads", &r, base);
    }
    return 0;
}
