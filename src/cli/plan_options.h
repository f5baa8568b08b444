/* A plan from the command line, with inferred values for what is not given. */
#ifndef SP_PLAN_OPTIONS_H
#define SP_PLAN_OPTIONS_H

#include <scaleplan/names.h>

#include "cli/command.h"
#include "study/resolve.h"

/* Options for sp_base_of: framework, precision recipe, calibrated constants; and all options of a
 * plan, for sp_plan_of. One row stands for all options of the fields of a plan (sp_plan_fields). */
/* clang-format off */
#define SP_OPTIONS_STACK \
    SP_TAKE(framework), \
    SP_OPTION_RECIPE, \
    SP_TAKE(profile), \
    SP_TAKE(machine_factor)
#define SP_OPTIONS_PLANNED \
    SP_OPTIONS_MODEL, SP_OPTIONS_MACHINE, SP_OPTIONS_BATCH, {.id = SP_EACH_FIELD}, SP_OPTIONS_STACK
/* clang-format on */

/* Shared by the lines of a stream that ask about one problem: its inputs as sp_base_of loads
 * them from the options typed beside the lines, what their framework can do, and the model's
 * lists. A line that changes an option of the problem loads its own. */
struct sp_known_problem {
    const struct sp_args *typed;
    enum sp_option_id asks[SP_MAX_OPTIONS]; /* the options of the problem */
    int n_asks;
    bool shards; /* what the default framework follows from besides */
    struct sp_planned base;
    struct sp_repertoire runs;
    struct sp_layers layers;
};

/* Of a command whose lines are plans, for typed->known; NULL: the command takes none, or what was
 * typed alone is no problem. free() it. */
struct sp_known_problem *sp_know(const struct sp_args *typed);

/* Loads model, machine, framework, precision and profile, and makes the plan. Values that do not
 * fit together are an error that names the numbers. */
bool sp_plan_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Loads the inputs of a plan: model, machine, framework, precision, profile, batch and sequence,
 * for `search` (whose plan has `seq`, `batch` and `dtype` set). */
bool sp_base_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Makes the plan from the inputs that sp_base_of loaded; what the options leave out, sp_resolve_*
 * fills. */
bool sp_plan_on(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Makes the plan of the typed options and a change of `planned`, as if the options change->field
 * had been typed too: open settings are chosen anew. False if that is no plan, or has another
 * batch. */
bool sp_plan_changed(const struct sp_args *args, const struct sp_planned *planned,
                     const struct sp_repertoire *runs, struct sp_neighbour *change);

/* sp_resolve_settings with what was run, which is loaded where a micro-batch is to be chosen. */
bool sp_resolve_on_ground(const struct sp_said *said, const struct sp_sources *sources,
                          struct sp_planned *planned, struct sp_error *error);

/* Notes where a plan that is typed fits tightly, or not at all: its time is what it would take. */
void sp_note_memory(struct sp_report *report, const struct sp_estimate *estimate);

/* Notes the modules whose activations the plan offloads and its framework cannot. */
void sp_note_offload(struct sp_report *report, const struct sp_planned *planned);

/* Notes if a batch of tokens was rounded to sequences that replicas share. */
void sp_note_batch(struct sp_report *report, const struct sp_planned *planned);

#endif
