/* Serving runs compared with their predictions. */
#include "runs/serving_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/read_file.h"
#include "runs/serving_fit.h"

bool sp_is_serving_file(const char *path, const struct sp_sources *sources, bool *serves,
                        struct sp_error *error)
{
    size_t length;
    struct sp_csv csv;
    char *const text = sp_read_file(sources->pipes, path, 64 << 20, &length, error);
    if (!text)
        return false;
    const bool ok =
        sp_read_csv(text, length, strcmp(path, "-") == 0 ? "standard input" : path, &csv, error);
    free(text);
    if (!ok)
        return false;
    *serves = sp_is_serving_csv(&csv);
    sp_csv_free(&csv);
    return true;
}

/* Numbers rows by configuration and load, each as the first of them. */
static void number_configurations(const struct sp_serving_runs *runs, int *numbers)
{
    for (size_t i = 0; i < runs->n; i++) {
        size_t k = 0;
        while (k < i && (strcmp(runs->run[k].group, runs->run[i].group) != 0 ||
                         runs->run[k].requests.in_flight != runs->run[i].requests.in_flight))
            k++;
        numbers[i] = (int)k;
    }
}

struct sp_run_errors sp_new_serving_errors(const struct sp_serving_runs *runs)
{
    struct sp_run_errors errors;
    sp_init_run_errors(&errors, &runs->csv, runs->n, SP_SERVING_MEASURES);
    number_configurations(runs, errors.configuration);
    return errors;
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

bool sp_predict_serving_run(const struct sp_serving_run *run, struct sp_pair_profiles *profiles,
                            struct sp_run_prediction *prediction, struct sp_error *error)
{
    prediction->profile = profile_of(profiles, run, &prediction->is_own, error);
    if (!prediction->profile)
        return false;
    const struct sp_serve_estimate e = sp_estimate_serving_run(run, prediction->profile->value);
    const double said[] = {[SP_MEASURED_TPOT] = e.tpot_s,
                           [SP_MEASURED_TTFT] = e.ttft_s,
                           [SP_MEASURED_RATE] = e.tokens_per_s};
    for (int k = 0; k < SP_SERVING_MEASURES; k++) {
        const double range = range_log(run, prediction->profile, k);
        prediction->of[k] = (struct sp_measure_prediction){.measured = run->measured[k],
                                                           .said = said[k],
                                                           .low = said[k] * exp(-range),
                                                           .high = said[k] * exp(range),
                                                           .error = said[k] / run->measured[k] - 1};
    }
    return true;
}
