/* Ranks published plans among all plans of their problem: for each publication, stack and model the
 * fastest run of the largest problem, against a search over what the framework supports. Prints the
 * table of docs/accuracy.md; exits 1 if the median is worse than the gate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"
#include "study/run_search.h"
#include "study/space.h"

/* A published plan and the best one. */
struct rank {
    const struct sp_run *run;
    double step_s, best_s; /* estimated */
    int ahead;             /* number of meshes with a faster estimate, at most SP_SEARCH_TOP */
    bool fits, tie;
    struct sp_plan best;
};

/* Grids of plans were not chosen by anyone, so series of hundreds of runs are excluded. */
static bool is_chosen(const struct sp_measured *m)
{
    enum { LONG_SERIES = 300 };
    return m->series < LONG_SERIES && !m->odd;
}

/* Whether `a` stands for its problem and `b` does not. */
static bool goes_before(const struct sp_measured *a, const struct sp_measured *b)
{
    const int64_t on_a = sp_plan_devices(a->sample.in.plan),
                  on_b = sp_plan_devices(b->sample.in.plan);
    const double each_a = a->sample.step_s / (double)a->sample.in.plan->batch,
                 each_b = b->sample.step_s / (double)b->sample.in.plan->batch;
    return on_a != on_b ? on_a > on_b : each_a != each_b ? each_a < each_b : a < b;
}

static bool same_series(const struct sp_measured *a, const struct sp_measured *b)
{
    return a->publication == b->publication && a->stack == b->stack && a->tier == b->tier &&
           strcmp(a->run->model_name, b->run->model_name) == 0;
}

static bool stands_for_series(const struct sp_study *study, size_t at)
{
    const struct sp_measured *const m = &study->measured[at];
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const other = &study->measured[i];
        if (i != at && is_chosen(other) && same_series(m, other) && goes_before(other, m))
            return false;
    }
    return is_chosen(m);
}

/* The search that `search` would run, with the run's dispatcher and versions. */
static void search_for(const struct sp_run *run, const struct sp_profile *profile,
                       struct sp_search_result *result)
{
    static struct sp_planned base;
    static struct sp_search_space space;
    /* as `search` has them where nothing is typed */
    const struct sp_space_limits limits = {.most_bytes = NAN, .headroom = NAN};
    struct sp_error error = {0};
    base = (struct sp_planned){.model = run->model,
                               .hw = run->hw,
                               .precision = run->precision,
                               .framework = run->framework,
                               .profile = *profile,
                               .plan = run->plan};
    base.framework.framework.execution = run->plan.execution;
    if (!sp_space_of(&base, &limits, &space, &error)) {
        fprintf(stderr, "%s: %s\n", run->id, error.text);
        exit(2);
    }
    space.imbalance = run->plan.imbalance;
    memset(space.dispatch, 0, sizeof space.dispatch);
    memset(space.moe_overlap, 0, sizeof space.moe_overlap);
    const struct sp_search_run how = {.wanted = SP_SEARCH_TOP, .meshes = true, .shards = 1};
    sp_run_search(&space, &how, result);
}

static bool rank_of(const struct sp_measured *m, const struct sp_profile *profile,
                    struct rank *rank)
{
    static struct sp_search_result result;
    struct sp_step_inputs in = m->sample.in;
    struct sp_stage_memory memory;
    in.profile = profile;
    search_for(m->run, profile, &result);
    if (result.best.n == 0)
        return false;
    sp_fullest_stage(in.model, in.precision, in.plan, in.framework, &memory);
    *rank = (struct rank){
        .run = m->run,
        .step_s = sp_estimate_step(&in).step,
        .best_s = result.best.found[0].step_s,
        .best = result.best.found[0].plan,
        .fits = sp_memory_verdict(in.framework->memory_residual, (double)memory.device,
                                  sp_capacity_bytes(&in.hw->chip)) != SP_VERDICT_NO};
    while (rank->ahead < result.best.n && result.best.found[rank->ahead].step_s < rank->step_s)
        rank->ahead++;
    rank->tie = rank->step_s <= rank->best_s * exp(sp_lead_log(m->tier));
    return true;
}

static double behind(const struct rank *r)
{
    return 100 * (r->step_s / r->best_s - 1);
}

static int by_behind(const void *a, const void *b)
{
    const double x = behind(a), y = behind(b);
    return (x > y) - (x < y);
}

static void say_plan(const struct sp_plan *p, char *out, size_t size)
{
    snprintf(out, size, "tp %lld pp %lld cp %lld ep %lld", (long long)p->tp, (long long)p->pp,
             (long long)p->cp, (long long)p->ep);
}

static void print_rank(const struct rank *r)
{
    char mine[96], best[96], machine[160];
    say_plan(&r->run->plan, mine, sizeof mine);
    say_plan(&r->best, best, sizeof best);
    snprintf(machine, sizeof machine, "%s-%lld, %s", r->run->chip,
             (long long)sp_plan_devices(&r->run->plan), r->run->framework.framework.name);
    printf("| %s | %s | %s | %s%s | %s | %s%d | %.1f%s |\n", r->run->id, r->run->model_name,
           machine, mine, r->fits ? "" : " (too large)", best,
           r->ahead == SP_SEARCH_TOP ? "at least " : "", r->ahead, behind(r),
           r->tie ? ", tie" : "");
}

/* Median lag of the plans in per cent; number of ties. */
static double summarise(const struct rank *ranks, size_t n)
{
    size_t ties = 0, best = 0;
    for (size_t i = 0; i < n; i++) {
        ties += ranks[i].tie;
        best += ranks[i].ahead == 0;
    }
    const double median = behind(&ranks[n / 2]);
    printf(
        "\n%zu pairs of model and machine: the published plan is the best of all meshes in %zu, a "
        "tie with the best in %zu, behind it by %.1f %% in the median\n",
        n, best, ties, median);
    return median;
}

int main(int argc, char **argv)
{
    enum { MOST_BEHIND = 4 };
    static struct sp_study study;
    static struct sp_profile known[SP_MAX_PROFILES];
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_runs runs;
    size_t n_known, n = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: ranks RUNS.csv\n");
        return 2;
    }
    if (!sp_read_runs(argv[1], &sources, &runs, &error) ||
        !sp_load_profiles(&sources, known, &n_known, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    sp_open_study(&runs, &study);
    struct rank *const ranks = calloc(study.n + 1, sizeof *ranks);
    if (!ranks)
        abort();
    for (size_t i = 0; i < study.n; i++) {
        const struct sp_measured *const m = &study.measured[i];
        struct sp_profile profile;
        bool own;
        if (!stands_for_series(&study, i))
            continue;
        sp_profile_for(&m->run->hw, &m->run->framework.framework, known, n_known, &profile, &own);
        n += rank_of(m, &profile, &ranks[n]);
    }
    qsort(ranks, n, sizeof *ranks, by_behind);
    printf("| run | model | machine | published | best | meshes ahead | behind, %% |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        print_rank(&ranks[i]);
    const bool worse = n < 20 || !(summarise(ranks, n) <= MOST_BEHIND);
    free(ranks);
    sp_close_study(&study);
    sp_runs_free(&runs);
    return worse;
}
