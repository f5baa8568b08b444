/* The machines of a search: a table of their best plans, the lead of the best, and prices. */
#ifndef SP_CLI_SEARCH_MACHINE_ROWS_H
#define SP_CLI_SEARCH_MACHINE_ROWS_H

#include "cli/searching.h"

/* Puts the rows of each machine and, of several, their table; `first` is the first plan of all,
 * NULL: none fits. */
void sp_put_machines(struct sp_searching *searching, const struct sp_ranked *first);

#endif
