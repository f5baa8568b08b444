/* Measured training runs alongside their predictions. */
#ifndef SP_VALIDATION_H
#define SP_VALIDATION_H

#include "runs/error_statistics.h"
#include "runs/runs.h"

enum { SP_TRAINING_ERRORS = SP_ERRORS_OF_TPOT };

/* The profiles that predict runs: one for all of them, or those of their stacks. */
struct sp_run_profiles {
    struct sp_profile known[SP_MAX_PROFILES], given;
    size_t n;
    bool one;
};

/* Loads the profile of that name, or all known ones where it is NULL. */
bool sp_load_run_profiles(const char *name, const struct sp_sources *sources,
                          struct sp_run_profiles *profiles, struct sp_error *error);

/* A run alongside its prediction. */
struct sp_validated {
    const struct sp_run *run;
    bool is_predicted; /* the rest of the facts is known */
    char profile[64];
    bool own; /* the profile is the stack's own or the user's choice */
    double step_s, low_s, high_s;
    bool has_memory;                  /* measured, of a known level */
    double memory_bytes;              /* at that level; without one, live tensors */
    enum sp_verdict verdict;          /* on the memory of the plan that ran */
    double error[SP_TRAINING_ERRORS]; /* predicted / measured - 1; NAN: does not count */
    char reason[256];                 /* why it, or a part of it, does not count; or "" */
};

/* Predicts a run. With `all`, one whose source leaves a needed field out counts too. */
void sp_validate_run(const struct sp_run *run, const struct sp_run_profiles *profiles, bool all,
                     struct sp_validated *validated);

/* No error counts yet; runs of one configuration have the number of the first of them. */
struct sp_run_errors sp_new_training_errors(const struct sp_runs *runs);

#endif
