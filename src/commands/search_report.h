/* A search from the command line: its machines, its answer and how that is printed. */
#ifndef SP_SEARCH_REPORT_H
#define SP_SEARCH_REPORT_H

#include <scaleplan/estimate.h>

#include "commands/search_options.h"
#include "cli/price.h"
#include "commands/step_launch.h"
#include "commands/step_report.h"
#include "cli/words.h"

enum { SP_MAX_MACHINES = 16 };

enum sp_goal { SP_GOAL_STEP, SP_GOAL_MFU, SP_GOAL_COST, SP_GOAL_DEVICES, SP_GOAL_MEMORY };
extern const char *const sp_goal_names[];

/* One of the machines of --hw. */
struct sp_candidate {
    char hw[128]; /* as it was typed */
    struct sp_planned base;
    struct sp_search_space space;
    struct sp_search_result result;
    struct sp_price price;
    struct sp_profile worst; /* of --robust: every constant at the bad end of its 80 % interval */
};

/* The launch of --from: what it states, and its plan; without it launch.format is NULL. */
struct sp_search_launch {
    struct sp_launch launch;
    struct sp_args problem; /* the search's options, with what the launch says */
    struct sp_planned planned;
};

struct sp_searching {
    const struct sp_args *args;
    const struct sp_search_launch *from; /* NULL: none */
    struct sp_report *report;
    struct sp_candidate *machine[SP_MAX_MACHINES];
    int machines;
    enum sp_goal goal;
    bool listed;  /* the list of plans is in the report, with what is true of all of them */
    bool robust;  /* ranked by the step at the constants' bad ends */
    bool timings; /* how long it took, on what: in no answer that is not asked for it */
    enum sp_flop_convention convention; /* of every MFU */
    struct sp_search_run run;
};

/* A plan of the answer. */
struct sp_ranked {
    int machine;
    const struct sp_found *found;
    double value, then; /* of the goal, and what decides between equals */
};

/* Loads every machine of --hw and opens its space. */
bool sp_open_search(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_report *report, struct sp_searching *searching,
                    struct sp_error *error);
void sp_close_search(struct sp_searching *searching);

/* Searches one machine with the options of the command line. */
void sp_search_machine(struct sp_searching *searching, int machine);

/* Puts counts, proof and plans into the report. */
bool sp_report_search(struct sp_searching *searching, struct sp_error *error);

/* The words of `step` that make this plan on that machine. */
void sp_step_words(const struct sp_searching *searching, const struct sp_candidate *machine,
                   const struct sp_found *found, struct sp_words *words);

/* Puts the words into the report as the command that repeats, and frees them. */
void sp_put_command(struct sp_report *report, struct sp_words *words);

/* Puts a plan under the scope "plan", with the line of its degrees, step and memory. */
void sp_put_named_plan(struct sp_searching *searching, const struct sp_planned *planned,
                       const struct sp_estimate *estimate);

/* Short names of a list's plans: degrees above 1, ZeRO stage, recomputation, and what else tells
 * two of them apart. */
enum { SP_SHORT_NAME = 112 };
struct sp_short_name {
    char text[SP_SHORT_NAME];
};
void sp_name_plans(const struct sp_plan *plans, size_t n, struct sp_short_name *names);

/* Cost of a step on all devices of a machine; NAN: its price is not known. USD. */
double sp_cost_of_step(const struct sp_candidate *machine, double step_s);

/* A machine's best plan, of a front its fastest; NULL: none fits. And its step time, NAN. s. */
const struct sp_found *sp_best_of(const struct sp_searching *searching, int machine);
double sp_best_step_of(const struct sp_searching *searching, int machine);

/* The machine on which a step costs least; -1 where no price is known. */
int sp_cheapest_of(const struct sp_searching *searching);

/* Puts a machine's cost beside the cheapest one's, and beside --budget: `run` is that of --tokens.
 */
void sp_put_bargain(struct sp_searching *searching, int machine, int cheapest, double step,
                    double run);

/* Puts how far a plan of the list is behind the first, and whether that is less than the error of
 * such a difference; then says which are ties. Nothing where memory or devices are ranked. */
void sp_put_lead(struct sp_searching *searching, const struct sp_ranked *all, size_t at);
void sp_put_ties(struct sp_searching *searching, const struct sp_ranked *all, size_t n);

/* The same of the best plans of machines. */
void sp_put_machine_lead(struct sp_searching *searching, int machine);
void sp_note_machine_ties(struct sp_searching *searching);

/* Opens a machine's space for --robust: plans are timed at the constants' bad ends. */
void sp_make_robust(struct sp_candidate *machine);

/* Puts the estimate back into plans that were found so; `value` keeps the step at the bad ends. */
void sp_restate_robust(struct sp_searching *searching);

/* Puts what the robust choice costs where the constants are as estimated, and saves at their bad
 * ends, against the plan that is fastest as estimated. */
void sp_put_robust(struct sp_searching *searching, const struct sp_ranked *best);

/* Puts the price of a machine with its source, and says those of all. */
void sp_put_list_price(struct sp_report *report, const struct sp_price *price);
void sp_note_prices(struct sp_searching *searching);

/* Says how many tokens --budget buys on each machine. */
void sp_note_budget(struct sp_searching *searching);

/* Reads --from, or nothing where it is not given: from->problem is then what was typed. */
bool sp_open_launch(const struct sp_args *typed, struct sp_search_launch *from,
                    struct sp_error *error);

/* The launch's plan against the best, behind the answer. */
void sp_report_launch(struct sp_searching *searching);

/* Says whether a plan fits, and where it does what is ahead of it and where it loses time. */
void sp_judge_plan(struct sp_searching *searching, const struct sp_plan *plan,
                   const struct sp_estimate *estimate);

/* --near and --explain-rejects. */
bool sp_report_near(struct sp_searching *searching, const char *plan, struct sp_error *error);
bool sp_report_reject(struct sp_searching *searching, const char *plan, struct sp_error *error);

/* --find. */
bool sp_report_find(struct sp_searching *searching, struct sp_error *error);

#endif
