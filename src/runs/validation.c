/* Predicts measured training runs, and says which count. */
#include "runs/validation.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runs/run_estimate.h"

bool sp_load_run_profiles(const char *name, const struct sp_sources *sources,
                          struct sp_run_profiles *profiles, struct sp_error *error)
{
    profiles->one = name != NULL;
    return name ? sp_load_profile(name, sources, &profiles->given, error)
                : sp_load_profiles(sources, profiles->known, &profiles->n, error);
}

static void give_reason(struct sp_validated *v, const char *reason)
{
    sp_append(v->reason, sizeof v->reason, "%s%s", v->reason[0] ? "; " : "", reason);
}

/* The memory at the level that was measured. A policy that is not stated was chosen by the measured
 * memory, which then cannot judge the prediction. */
static void predict_memory(const struct sp_stage_memory *m, struct sp_validated *v)
{
    const struct sp_run *const run = v->run;
    const bool measured = !isnan(run->memory_bytes);
    v->has_memory = measured && run->level < SP_CLOSED_FORM;
    v->memory_bytes = v->has_memory ? sp_bytes_at_level(m, run->level) : (double)m->live;
    if (v->has_memory && run->recompute_stated)
        v->error[SP_ERRORS_OF_MEMORY] = v->memory_bytes / run->memory_bytes - 1;
    else if (v->has_memory)
        give_reason(v, "its memory depends on the recompute policy, which is not stated");
    else if (run->level == SP_CLOSED_FORM)
        give_reason(v, "its memory is not a measurement but a closed form");
    else if (measured)
        give_reason(v, "what its memory includes is not stated");
}

static void predict(const struct sp_run_profiles *profiles, struct sp_validated *v)
{
    struct sp_profile profile = profiles->given;
    struct sp_estimate e;
    v->is_predicted = v->own = true;
    if (!profiles->one)
        sp_profile_for(&v->run->hw, &v->run->framework.framework, profiles->known, profiles->n,
                       &profile, &v->own);
    memcpy(v->profile, profile.name, sizeof v->profile);
    sp_estimate_run(v->run, &profile, &e);
    v->step_s = e.time.step;
    v->low_s = e.low_s;
    v->high_s = e.high_s;
    v->error[SP_ERRORS_OF_TIME] = v->step_s / v->run->step_s - 1;
    if (isnan(v->run->step_s))
        give_reason(v, "no step time is measured");
    v->verdict = e.verdict;
    predict_memory(&e.memory, v);
}

void sp_validate_run(const struct sp_run *run, const struct sp_run_profiles *profiles, bool all,
                     struct sp_validated *v)
{
    *v = (struct sp_validated){.run = run, .error = {NAN, NAN}};
    if (run->problem[0] != '\0') {
        give_reason(v, run->problem);
        return;
    }
    predict(profiles, v);
    if (!run->scored && !all) {
        v->error[SP_ERRORS_OF_TIME] = v->error[SP_ERRORS_OF_MEMORY] = NAN;
        give_reason(v, "its source omits a needed field (--all counts it)");
    }
}

/* FNV-1a, 64 bits: Fowler, Noll and Vo 1991. */
static size_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return (size_t)h;
}

struct sp_run_errors sp_new_training_errors(const struct sp_runs *runs)
{
    struct sp_run_errors e;
    sp_init_run_errors(&e, &runs->csv, runs->n, SP_TRAINING_ERRORS);
    const size_t slots = 2 * runs->n + 1;
    int *const first =
        sp_must(calloc(slots, sizeof *first)); /* row + 1, by the hash of its group */
    for (size_t i = 0; i < runs->n; i++) {
        char group[SP_RUN_GROUP], other[SP_RUN_GROUP];
        sp_group_of_row(runs, i, group);
        size_t at = hash_of(group) % slots;
        for (; first[at]; at = (at + 1) % slots) {
            sp_group_of_row(runs, (size_t)first[at] - 1, other);
            if (strcmp(group, other) == 0)
                break;
        }
        if (!first[at])
            first[at] = (int)i + 1;
        e.configuration[i] = first[at] - 1;
    }
    free(first);
    return e;
}
