/* --from: the options that a launch stands for. */
#ifndef SP_CLI_LAUNCHED_H
#define SP_CLI_LAUNCHED_H

#include "cli/command.h"
#include "launch/launch.h"
#include "study/planned.h"

/* Reads the launch of --from and adds its settings as options, except those that were typed: `args`
 * is `typed` with them, `launch` holds their text. Without --from launch->format is NULL. */
bool sp_take_launch(const struct sp_args *typed, struct sp_launch *launch, struct sp_args *args,
                    struct sp_error *error);

/* The settings that were read, as options and remarks; `planned`: their plan, which the framework
 * may refuse too, or NULL. */
void sp_put_launch(struct sp_report *report, const struct sp_launch *launch,
                   const struct sp_planned *planned);

/* Notes what `rl` does not read of a launch, and where its lengths come from. */
void sp_note_rollout(struct sp_report *report, const struct sp_launch *launch,
                     const struct sp_args *typed);

#endif
