/* A service as the command of an engine's server, and back. */
#ifndef SP_CLI_SERVER_LAUNCH_H
#define SP_CLI_SERVER_LAUNCH_H

#include "cli/service.h"
#include "launch/launch.h"

/* Refuses training options for a server, and serving options for training: an error that names the
 * first. */
bool sp_check_kind(const struct sp_args *args, bool serves, const char *target,
                   struct sp_error *error);

/* The service of the options, with the engine that they name or else `engine`, as that engine's
 * command. `f` is the service then. */
bool sp_write_service(const struct sp_args *args, const struct sp_sources *sources,
                      const struct sp_target *target, const char *engine, struct sp_report *report,
                      struct serve *f, struct sp_written *written, struct sp_error *error);

#endif
