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

/* Shared by the lines of a stream that ask about one problem: the inputs that sp_base_of loads from
 * the options typed beside the lines, the abilities of their framework, and the model's lists. A
 * line that changes an option of the problem loads its own. */
struct sp_known_problem {
    const struct sp_args *typed;
    enum sp_option_id asks[SP_MAX_OPTIONS]; /* the options of the problem */
    int n_asks;
    bool shards; /* other options that decide the default framework */
    struct sp_planned base;
    struct sp_repertoire runs;
    struct sp_layers layers;
};

/* For a command whose lines are plans, to be stored in typed->known; NULL: the command has no
 * lines, or the typed options alone do not make a problem. free() it. */
struct sp_known_problem *sp_know(const struct sp_args *typed);

/* Loads model, machine, framework, precision and profile, and makes the plan. Values that do not
 * fit together are an error that names the numbers. */
bool sp_plan_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Loads the inputs of a plan: model, machine, framework, precision, profile, batch and sequence,
 * for `search` (whose plan has `seq`, `batch` and `dtype` set). */
bool sp_base_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Makes the plan from the inputs that sp_base_of loaded; sp_resolve_* fills whatever the options
 * leave out. */
bool sp_plan_on(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Makes the plan of the typed options with a change of `planned`, as if the options change->field
 * had been typed too: open settings are chosen anew. False if the result is not a plan, or has
 * another batch. */
bool sp_plan_changed(const struct sp_args *args, const struct sp_planned *planned,
                     const struct sp_repertoire *runs, struct sp_neighbour *change);

/* sp_resolve_settings with the measured runs, which are loaded if a micro-batch has to be
 * chosen. */
bool sp_resolve_on_ground(const struct sp_said *said, const struct sp_sources *sources,
                          struct sp_planned *planned, struct sp_error *error);

/* Notes a typed plan that fits tightly, or not at all: its time is the time that it would take. */
void sp_note_memory(struct sp_report *report, const struct sp_estimate *estimate);

/* Notes the parts of the plan that its framework refuses: modules that it cannot offload, and an
 * exchange that it cannot hide in stages of one chunk. */
void sp_note_refused(struct sp_report *report, const struct sp_planned *planned);

/* Why no launch of the framework runs a plan; returns how many reasons there are. */
enum { SP_MOST_REFUSED = 3, SP_REFUSED_TEXT = 240 };
int sp_list_refused(const struct sp_planned *planned, char why[SP_MOST_REFUSED][SP_REFUSED_TEXT]);

/* Notes if a batch of tokens was rounded to sequences that replicas share. */
void sp_note_batch(struct sp_report *report, const struct sp_planned *planned);

#endif
