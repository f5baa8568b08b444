/* A plan with all that its estimate is computed from. */
#ifndef SP_PLANNED_H
#define SP_PLANNED_H

#include <scaleplan/estimate.h>
#include <scaleplan/plan.h>
#include <scaleplan/search.h>

#include "config/load.h"

/* Everything a step is estimated from. */
struct sp_planned {
    struct sp_model model;
    struct sp_companions companions; /* the model's tuning points here where there are some */
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    bool own_profile;
    struct sp_plan plan;
    const char *hw_spec; /* the machine as --hw names it */
    char inferred[256];  /* what was not given, "dp 64, ..." */
    const char *batch_origin;
    double asked_tokens;   /* what --batch, the model or the default says */
    bool counts_sequences; /* the batch was asked for in sequences: it is never rounded */
};

/* The schedules, policies, stages and dispatchers that the framework's file lists; `any`: all of
 * them. */
struct sp_repertoire sp_repertoire_of(const struct sp_planned *planned, bool any);

/* The inputs of the estimator, which point into `planned`. */
struct sp_step_inputs sp_inputs_of(const struct sp_planned *planned);

/* All that the models say of the plan; `plays`: with its schedule played, which takes longer than
 * all the rest. */
void sp_estimate_planned(const struct sp_planned *planned, enum sp_flop_convention convention,
                         bool plays, struct sp_estimate *estimate);

#endif
