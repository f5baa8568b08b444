/* The program: words in, text out, an exit code. A command line runs it, and so does the shared
 * library that other languages load. */
#ifndef SP_PROGRAM_H
#define SP_PROGRAM_H

#include "cli/output.h"
#include "config/world.h"

/* Runs words as a shell gives them (argv[0] is the program's name; they may change places). */
int sp_run_program(int argc, char **argv, struct sp_world *world, const struct sp_output *to);

#endif
