/* Serving runs compared with their predictions. */
#include "runs/serving_errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runs/columns.h"
#include "runs/serving_fit.h"

bool sp_is_serving_file(const char *path, const struct sp_sources *sources, bool *serves,
                        struct sp_error *error)
{
    struct sp_csv csv;
    if (!sp_read_run_csv(path, sources, &csv, error))
        return false;
    *serves = sp_is_serving_csv(&csv);
    sp_csv_free(&csv);
    return true;
}

struct sp_run_errors sp_new_serving_errors(const struct sp_serving_runs *runs)
{
    struct sp_run_errors e;
    sp_init_run_errors(&e, &runs->csv, runs->n, SP_SERVING_MEASURES);
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_serving_run *const run = &runs->run[i], *first = runs->run;
        while (strcmp(first->group, run->group) != 0 ||
               first->requests.in_flight != run->requests.in_flight)
            first++;
        e.configuration[i] = (int)(first - runs->run);
    }
    return e;
}

/* The stack's profile, own or borrowed; loaded once. */
static const struct sp_profile *profile_of(struct sp_pair_profiles *p,
                                           const struct sp_serving_run *run, bool *own,
                                           struct sp_error *error)
{
    struct sp_profile pair;
    *own = true;
    if (p->given)
        return p->given;
    sp_expect_serving_of(run->service.hw, run->engine->name, &pair);
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->known[i].chip, pair.chip) == 0 &&
            strcmp(p->known[i].framework, pair.framework) == 0) {
            *own = p->is_own[i];
            return &p->known[i];
        }
    const int at = p->n < SP_MOST_PAIRS - 1 ? p->n++ : SP_MOST_PAIRS - 1;
    if (!sp_load_serving(run->service.hw, run->engine->name, p->sources, &p->known[at],
                         &p->is_own[at], error))
        return NULL;
    *own = p->is_own[at];
    return &p->known[at];
}

/* Throughput has the range of the TPOT that determines it. */
static double range_log(const struct sp_serving_run *run, const struct sp_profile *profile,
                        int measure)
{
    return sp_serving_range_log(profile, run->service.model,
                                measure == SP_MEASURED_TTFT ? SP_LATENCY_TTFT : SP_LATENCY_TPOT);
}

/* Why a run that can be predicted does not count. */
static void give_reason(const struct sp_serving_run *run, struct sp_run_prediction *p)
{
    if (run->waits)
        snprintf(p->reason, sizeof p->reason,
                 "requests wait for a slot; the source does not state how many there are");
    else
        snprintf(p->reason, sizeof p->reason, "%s (--all counts it)",
                 run->why[0] ? run->why : "its source omits a needed field");
}

bool sp_predict_serving_run(const struct sp_serving_run *run, struct sp_pair_profiles *profiles,
                            bool all, struct sp_run_prediction *p, struct sp_error *error)
{
    *p = (struct sp_run_prediction){.run = run, .counts = run->scored || all};
    if (run->problem[0] != '\0') {
        p->counts = false;
        snprintf(p->reason, sizeof p->reason, "%s%s%s", run->problem, run->why[0] ? "; " : "",
                 run->why);
        return true;
    }
    p->profile = profile_of(profiles, run, &p->own, error);
    if (!p->profile)
        return false;
    const struct sp_serve_estimate e = sp_estimate_serving_run(run, p->profile->value);
    const double said[] = {[SP_MEASURED_TPOT] = e.tpot_s,
                           [SP_MEASURED_TTFT] = e.ttft_s,
                           [SP_MEASURED_RATE] = e.tokens_per_s};
    for (int k = 0; k < SP_SERVING_MEASURES; k++) {
        const double range = range_log(run, p->profile, k);
        p->of[k] = (struct sp_measure_prediction){.measured = run->measured[k],
                                                  .said = said[k],
                                                  .low = said[k] * exp(-range),
                                                  .high = said[k] * exp(range),
                                                  .error = said[k] / run->measured[k] - 1};
    }
    if (!p->counts)
        give_reason(run, p);
    return true;
}
