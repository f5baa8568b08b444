/* Plans as launches: `export` writes them, and search --exportable checks every plan against
 * them. */
#ifndef SP_CLI_EXPORTED_H
#define SP_CLI_EXPORTED_H

#include "cli/command.h"
#include "launch/launch.h"
#include "study/planned.h"

/* The plan of `planned` as it is to be written; `framework_given` is how it was typed, or NULL. */
struct sp_launched sp_launched_of(const struct sp_planned *planned, const struct sp_plan *plan,
                                  const struct sp_sources *sources, int version,
                                  const char *framework_given);

/* The targets that a search's plans are for, one for each framework and recipe of its machines. */
enum { SP_MAX_EXPORTING = 16 };
struct sp_exporting {
    struct sp_exported {
        char framework[64], precision[64];
        const struct sp_target *target;
        struct sp_launch_words *words[SP_LAUNCH_FILES];
        struct sp_shipped shipped;
    } of[SP_MAX_EXPORTING];
    int n;
};

/* Adds the target of a machine's framework, and closes all. False with an error where no launch is
 * written. */
bool sp_exporting_for(const struct sp_planned *base, const struct sp_sources *sources,
                      struct sp_exporting *exporting, struct sp_error *error);
void sp_close_exporting(struct sp_exporting *exporting);

/* False with an error that names the loss where every plan has one: of the model, or of its recipe
 * of training state. */
bool sp_check_exportable(const struct sp_planned *base, const struct sp_exporting *exporting,
                         struct sp_error *error);

/* Whether the target of its framework, a struct sp_exporting, can express everything in a plan. */
bool sp_exports_whole(const struct sp_planned *base, const struct sp_plan *plan,
                      const void *exporting);

#endif
