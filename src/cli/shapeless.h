/* A size where a shape is needed. */
#ifndef SP_CLI_SHAPELESS_H
#define SP_CLI_SHAPELESS_H

#include "cli/command.h"

/* False with an error: `who` ("a plan needs") a shape, not --params alone; it names the known
 * models nearest in size. */
bool sp_refuse_size(const char *who, const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_error *error);

#endif
