/* A plan from the command line: what is given, what is inferred. */
#ifndef SP_PLAN_OPTIONS_H
#define SP_PLAN_OPTIONS_H

#include "cli/command.h"

#include <scaleplan/names.h>
#include <scaleplan/neighbours.h>
#include <scaleplan/plan_fields.h>

/* Everything a step is estimated from. */
struct sp_planned {
    struct sp_model model;
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

/* A row that stands for the options that describe one plan (sp_plan_fields), and the option of the
 * framework that runs it. */
/* clang-format off */
#define SP_OPTION_PLAN {.kind = SP_EACH_FIELD}
#define SP_OPTION_FRAMEWORK {.name = "framework", .metavar = "NAME|FILE", .kind = SP_TEXT, \
    .help = "whose memory and overlap habits count (default: the profile's; nemo on GPUs, torchtitan with ZeRO 3, maxtext on TPUs)"}
/* clang-format on */

/* Loads model, machine, framework, precision, profile, and makes the plan. What does not fit
 * together is an error that names the numbers. */
bool sp_plan_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Loads what a plan stands on: model, machine, framework, precision, profile, batch and sequence,
 * for `search` (whose plan has `seq`, `batch` and `dtype` set). */
bool sp_base_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Makes the plan on what sp_base_of loaded. */
bool sp_plan_on(const struct sp_args *args, struct sp_planned *planned, struct sp_error *error);

/* Says that a batch of tokens was rounded to sequences that replicas share, where it was. */
void sp_note_batch(struct sp_report *report, const struct sp_planned *planned);

/* The schedules, policies and stages that the framework's file lists; `any`: all of them. */
struct sp_repertoire sp_repertoire_of(const struct sp_planned *planned, bool any);

/* The inputs of the estimator. */
struct sp_step_inputs sp_inputs_of(const struct sp_planned *planned);

#endif
