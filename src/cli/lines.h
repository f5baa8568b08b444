/* `COMMAND -`: options as JSON lines from standard input, one answer per line. */
#ifndef SP_LINES_H
#define SP_LINES_H

#include "cli/command.h"

bool sp_reads_lines(int argc, char **argv, struct sp_world *world);
enum sp_exit sp_answer_lines(int argc, char **argv, struct sp_world *world,
                             const struct sp_output *to, struct sp_error *error);

#endif
