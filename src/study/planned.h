/* A plan with all inputs of its estimate. */
#ifndef SP_PLANNED_H
#define SP_PLANNED_H

#include <scaleplan/estimate.h>
#include <scaleplan/lengths.h>
#include <scaleplan/plan.h>
#include <scaleplan/search.h>

#include "config/load.h"
#include "study/problem.h"

/* The origin of a field's value; sp_origin_names. */
enum sp_origin {
    SP_ORIGIN_GIVEN,     /* an option, or a launch */
    SP_ORIGIN_DEFAULT,   /* the option's default */
    SP_ORIGIN_FRAMEWORK, /* the framework's default */
    SP_ORIGIN_DEVICES,   /* the number that the devices and the other degrees leave */
    SP_ORIGIN_CHOSEN     /* the choice of `search` at these degrees */
};
extern const char *const sp_origin_names[];

struct sp_planned {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    bool own_profile;
    struct sp_plan plan;
    enum sp_origin origin[SP_PLAN_FIELDS]; /* of the plan's fields; sp_resolve_degrees */
    bool is_launch; /* settings that were not given are the framework's defaults */
    struct sp_problem problem;
    const struct sp_layers *layers; /* the model's, where they are kept; NULL: listed when needed */
    int64_t left_idle;              /* devices beside those of hw, paid for and not used */
    /* Large and seldom there: the last members, copied only where the model points to them. */
    struct sp_companions companions; /* the model's tuning points here if there are any */
    struct sp_documents documents;   /* the model points here if it has some */
};

/* Copies a plan with its inputs: the copy is good without the original. */
void sp_copy_planned(struct sp_planned *copy, const struct sp_planned *planned);

/* What the framework's file lists as supported; `any`: everything. */
struct sp_repertoire sp_repertoire_of(const struct sp_planned *planned, bool any);

/* The estimate's inputs, which point into `planned`. */
struct sp_step_inputs sp_inputs_of(const struct sp_planned *planned);

/* The simulated schedule, a part of an estimate as those of sp_estimate_parts, and all parts. */
enum {
    SP_WITH_PLAYED = 16,
    SP_WITH_ALL = SP_WITH_RANGE | SP_WITH_RATES | SP_WITH_BUCKETS | SP_WITH_STAGES | SP_WITH_PLAYED
};

/* The plan's estimate with these parts; a schedule that is not simulated has no time, NAN. */
void sp_estimate_planned(const struct sp_planned *planned, enum sp_flop_convention convention,
                         unsigned parts, struct sp_estimate *estimate);

#endif
