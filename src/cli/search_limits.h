/* What --budget and --days say of the machines of a search. */
#ifndef SP_CLI_SEARCH_LIMITS_H
#define SP_CLI_SEARCH_LIMITS_H

#include "cli/searching.h"

/* Puts a line for each machine: the tokens that --budget buys, and whether its run ends within
 * --days. Their rows are in the report. */
void sp_note_limits(struct sp_searching *s);

#endif
