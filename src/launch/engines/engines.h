/* Engines of services (vLLM, SGLang, TensorRT-LLM): commands of their servers by rows. */
#ifndef SP_LAUNCH_ENGINES_H
#define SP_LAUNCH_ENGINES_H

#include "launch/fields/rows.h"

/* Puts the command, or those of both pools, on `out`; `l` has the words and room for losses. */
void sp_put_server(const struct sp_target *target, const struct sp_served_launch *served,
                   const struct sp_launched *l, FILE *out);

/* Reads the commands of a script. */
bool sp_read_server(struct sp_launch_file *file);

#endif
