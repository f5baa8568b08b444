/* A search from the command line, for `search` and `merge`. */
#ifndef SP_CLI_SEARCHING_H
#define SP_CLI_SEARCHING_H

#include "cli/plan_options.h"
#include "cli/price.h"
#include "cli/exported.h"
#include "cli/launched.h"
#include "study/search_machines.h"

/* The launch of --from: its settings, and its plan; without --from launch.format is NULL. */
struct sp_search_launch {
    struct sp_launch launch;
    struct sp_args problem; /* the search's options, with what the launch says */
    struct sp_planned planned;
};

struct sp_searching {
    struct sp_search of;
    const struct sp_args *args;
    const struct sp_search_launch *from; /* NULL: none */
    struct sp_exporting exporting;       /* with --exportable */
    struct sp_report *report;
    bool
        listed; /* the list of plans is in the report, with everything that holds for all of them */
    bool timings; /* how long it took is in the answer */
};

/* Loads every machine of --hw and opens its space. */
bool sp_open_search(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_report *report, struct sp_searching *searching,
                    struct sp_error *error);

/* Puts counts, proof and plans into the report. */
void sp_report_search(struct sp_searching *searching);

/* Reads --from, or nothing if it is not given: from->problem is then what was typed. */
bool sp_open_launch(const struct sp_args *typed, struct sp_search_launch *from,
                    struct sp_error *error);

/* The command that estimates a plan on that machine; free() it. `typed` is the model that --model
 * names where the machine's base has another depth, else NULL. */
char *sp_step_line(const struct sp_searching *searching, const struct sp_candidate *machine,
                   const struct sp_plan *plan, const struct sp_model *typed);

/* Searches a machine, with a bar on a terminal. */
void sp_look(struct sp_searching *searching, int machine);

#endif
