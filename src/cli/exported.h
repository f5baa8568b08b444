/* Plans as launches: what `export` writes, and the search of --exportable asks of every plan. */
#ifndef SP_CLI_EXPORTED_H
#define SP_CLI_EXPORTED_H

#include "cli/command.h"
#include "launch/launch.h"
#include "study/planned.h"

/* The plan of `planned` as it is to be written; `framework_given` is how it was typed, or NULL. */
struct sp_launched sp_launched_of(const struct sp_planned *planned, const struct sp_plan *plan,
                                  const struct sp_sources *sources, int version,
                                  const char *framework_given);

/* A target that a search's plans are for. */
struct sp_exporting {
    const struct sp_target *target; /* NULL: none yet */
    struct sp_launch_words *words[SP_LAUNCH_FILES];
};

/* The target of a framework's launches, opened once; sp_close_launch_words its words. False with an
 * error where none is written. */
bool sp_exporting_for(const char *framework, const struct sp_sources *sources,
                      struct sp_exporting *exporting, struct sp_error *error);

/* False with an error that names the loss where every plan has one: of the model, or of its recipe
 * of training state. */
bool sp_check_exportable(const struct sp_planned *base, const struct sp_exporting *exporting,
                         struct sp_error *error);

/* Whether the target, a struct sp_exporting, says all of a plan. */
bool sp_exports_whole(const struct sp_planned *base, const struct sp_plan *plan,
                      const void *exporting);

#endif
