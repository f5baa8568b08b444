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

/* The search that `search` would run, with the run's dispatcher and versions; `ground` NULL: by the
 * estimate alone. */
static void search_for(const struct sp_run *run, const struct sp_profile *profile,
                       const struct sp_ground *ground, struct sp_search_result *result)
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
    space.ground = ground;
    memset(space.open.dispatch, 0, sizeof space.open.dispatch);
    memset(space.open.moe_overlap, 0, sizeof space.open.moe_overlap);
    const struct sp_search_run how = {.wanted = SP_SEARCH_TOP, .meshes = true, .shards = 1};
    sp_run_search(&space, &how, result);
    if (ground && result->best.n > 0)
        sp_put_simplest_first(&result->best);
}

static bool rank_of(const struct sp_measured *m, const struct sp_profile *profile,
                    struct rank *rank)
{
    static struct sp_search_result result;
    struct sp_step_inputs in = m->sample.in;
    struct sp_stage_memory memory;
    in.profile = profile;
    search_for(m->run, profile, NULL, &result);
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

/* A run of at least 1,000 devices that states all degrees, compared with what the search chooses.
 */
struct choice {
    struct sp_plan with, without; /* its own publication among what was run, and not */
    double step_s, with_s, without_s;
};

static bool is_large_and_stated(const struct sp_runs *runs, const struct sp_run *run)
{
    static const char *const degrees[] = {"tp", "pp", "cp", "ep"};
    bool stated = run->problem[0] == '\0' && sp_chips(&run->hw) >= 1000;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        stated = stated && sp_csv_cell(&runs->csv, (size_t)(run - runs->run),
                                       sp_csv_column(&runs->csv, degrees[i]))[0];
    return stated;
}

/* Whether a run is the first of its model, chip and devices: the list has each of these once. */
static bool is_first(const struct sp_runs *files, int n, int file, size_t at)
{
    const struct sp_run *const run = &files[file].run[at];
    for (int f = 0; f <= file && f < n; f++)
        for (size_t i = 0; i < (f < file ? files[f].n : at); i++) {
            const struct sp_run *const o = &files[f].run[i];
            if (is_large_and_stated(&files[f], o) && strcmp(o->model_name, run->model_name) == 0 &&
                strcmp(o->chip, run->chip) == 0 && sp_chips(&o->hw) == sp_chips(&run->hw))
                return false;
        }
    return is_large_and_stated(&files[file], run);
}

static const char *publication_of(const struct sp_runs *runs, size_t at)
{
    const char *const name = sp_csv_cell(&runs->csv, at, sp_csv_column(&runs->csv, "publication"));
    return *name ? name : runs->run[at].source;
}

/* The places of all runs on one kind of network but those of a publication (NULL: of all); free().
 */
static struct sp_place *gather_places(const struct sp_runs *files, int n_files, int network,
                                      const char *but, size_t *n)
{
    size_t all = 1;
    for (int f = 0; f < n_files; f++)
        all += files[f].n;
    struct sp_place *const places = calloc(all, sizeof *places);
    if (!places)
        abort();
    *n = 0;
    for (int f = 0; f < n_files; f++)
        for (size_t i = 0; i < files[f].n; i++) {
            const struct sp_run *const run = &files[f].run[i];
            if (run->problem[0] == '\0' && run->hw.network.kind == network &&
                !(but && strcmp(publication_of(&files[f], i), but) == 0))
                places[(*n)++] = sp_place_of(&run->model, &run->hw, &run->plan);
        }
    return places;
}

/* Whether TP, PP, CP and EP are each within a factor of two. */
static bool agree(const struct sp_plan *a, const struct sp_plan *b)
{
    const int64_t of[][2] = {{a->tp, b->tp}, {a->pp, b->pp}, {a->cp, b->cp}, {a->ep, b->ep}};
    bool alike = true;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        alike = alike && of[i][0] <= 2 * of[i][1] && of[i][1] <= 2 * of[i][0];
    return alike;
}

static bool choose(const struct sp_runs *files, int n_files, const struct sp_run *run,
                   const char *publication, const struct sp_profile *profile, struct choice *choice)
{
    static struct sp_search_result result;
    struct sp_plan *const plans[] = {&choice->with, &choice->without};
    double *const steps[] = {&choice->with_s, &choice->without_s};
    const struct sp_step_inputs in = {
        &run->model, &run->hw, &run->precision, &run->framework.framework, profile,
        &run->plan,  NULL};
    choice->step_s = sp_estimate_step(&in).step;
    bool ok = true;
    for (int without = 0; without < 2 && ok; without++) {
        size_t n;
        struct sp_place *const places =
            gather_places(files, n_files, run->hw.network.kind, without ? publication : NULL, &n);
        const struct sp_ground ground = {n, places};
        search_for(run, profile, &ground, &result);
        free(places);
        ok = result.best.n > 0;
        *plans[without] = result.best.found[0].plan;
        *steps[without] = result.best.found[0].step_s;
    }
    return ok;
}

/* Prints the table of large runs, and how many choices agree with what was run. False if fewer
 * than four of five do. */
static bool print_choices(const struct sp_runs *files, int n_files, const struct sp_profile *known,
                          size_t n_known)
{
    size_t n = 0, with = 0, without = 0;
    printf("\n| model | machine | run | s | chosen | s | its publication unknown | s |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int file = 0; file < n_files; file++)
        for (size_t i = 0; i < files[file].n; i++) {
            const struct sp_run *const run = &files[file].run[i];
            struct sp_profile profile;
            struct choice c;
            char text[3][96];
            bool own;
            if (!is_first(files, n_files, file, i))
                continue;
            sp_profile_for(&run->hw, &run->framework.framework, known, n_known, &profile, &own);
            say_plan(&run->plan, text[0], sizeof text[0]);
            n++;
            printf("| %s | %s-%lld | %s |", run->model_name, run->chip,
                   (long long)sp_chips(&run->hw), text[0]);
            if (!choose(files, n_files, run, publication_of(&files[file], i), &profile, &c)) {
                printf(" | nothing fits | | | |\n");
                continue;
            }
            say_plan(&c.with, text[1], sizeof text[1]);
            say_plan(&c.without, text[2], sizeof text[2]);
            const bool a = agree(&run->plan, &c.with), b = agree(&run->plan, &c.without);
            with += a;
            without += b;
            printf(" %.3g | %s%s | %.3g | %s%s | %.3g |\n", c.step_s, text[1], a ? "" : " (no)",
                   c.with_s, text[2], b ? "" : " (no)", c.without_s);
        }
    printf("\n%zu pairs of model and machine of at least 1,000 devices with all degrees: the "
           "choice agrees with "
           "%zu up to a factor of two in each of TP, PP, CP and EP, and with %zu where their "
           "publication is not "
           "among what was run\n",
           n, with, without);
    return 5 * with >= 4 * n;
}

int main(int argc, char **argv)
{
    enum { MOST_BEHIND = 4 };
    static struct sp_study study;
    static struct sp_profile known[SP_MAX_PROFILES];
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    enum { MOST_FILES = 4 };
    struct sp_runs files[MOST_FILES];
    struct sp_runs *const runs = &files[0];
    const int n_files = argc - 1;
    size_t n_known, n = 0;
    if (argc < 2 || n_files > MOST_FILES) {
        fprintf(stderr, "usage: ranks RUNS.csv [MORE.csv ...]\n");
        return 2;
    }
    bool read = true;
    for (int i = 0; i < n_files && read; i++)
        read = sp_read_runs(argv[1 + i], &sources, &files[i], &error);
    if (!read || !sp_load_profiles(&sources, known, &n_known, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    sp_open_study(runs, &study);
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
    const bool agrees = print_choices(files, n_files, known, n_known);
    free(ranks);
    sp_close_study(&study);
    for (int i = 0; i < n_files; i++)
        sp_runs_free(&files[i]);
    return worse || !agrees;
}
