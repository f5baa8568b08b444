/* `step -`: plans as JSON lines from standard input, an answer a line. */
#ifndef SP_STEP_LINES_H
#define SP_STEP_LINES_H

#include "cli/command.h"

bool sp_step_streams(int argc, char **argv, struct sp_pipes *pipes);
enum sp_exit sp_step_lines(int argc, char **argv, struct sp_pipes *pipes, FILE *out,
                           struct sp_error *error);

#endif
