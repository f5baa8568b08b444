/* A plan with all inputs of its estimate. */
#ifndef SP_PLANNED_H
#define SP_PLANNED_H

#include <scaleplan/estimate.h>
#include <scaleplan/plan.h>
#include <scaleplan/search.h>

#include "config/load.h"

struct sp_planned {
    struct sp_model model;
    struct sp_companions companions; /* the model's tuning points here if there are any */
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    bool own_profile;
    struct sp_plan plan;
    const char *hw_spec; /* as given to --hw */
    char inferred[256];  /* values that were inferred: "dp 64, ..." */
    const char *batch_origin;
    double asked_tokens;   /* from --batch, the model or the default */
    bool counts_sequences; /* the batch was given in sequences, so it is not rounded */
};

/* What the framework's file lists as supported; `any`: everything. */
struct sp_repertoire sp_repertoire_of(const struct sp_planned *planned, bool any);

/* The estimate's inputs, which point into `planned`. */
struct sp_step_inputs sp_inputs_of(const struct sp_planned *planned);

/* The plan's estimate; `plays`: with its schedule simulated, which takes longer than all the rest.
 */
void sp_estimate_planned(const struct sp_planned *planned, enum sp_flop_convention convention,
                         bool plays, struct sp_estimate *estimate);

#endif
