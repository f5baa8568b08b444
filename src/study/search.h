/* A search of one or several machines: their best plans in one order, and what the order is worth.
 */
#ifndef SP_STUDY_SEARCH_H
#define SP_STUDY_SEARCH_H

#include <scaleplan/estimate.h>

#include "study/run_search.h"
#include "study/space.h"

enum { SP_MAX_MACHINES = 16 };

/* What the plans are ranked by. */
enum sp_goal { SP_GOAL_STEP, SP_GOAL_MFU, SP_GOAL_COST, SP_GOAL_DEVICES, SP_GOAL_MEMORY };
extern const char *const sp_goal_names[];

/* A machine that is searched. */
struct sp_candidate {
    char hw[128]; /* its name, as --hw takes it */
    struct sp_planned base;
    struct sp_search_space space;
    struct sp_search_result result;
    double usd_per_h; /* of a device; NAN: not known */
    struct sp_profile
        worst; /* where `robust`: every constant at the bad end of its 80 % interval */
};

struct sp_search {
    struct sp_candidate *machine[SP_MAX_MACHINES];
    int machines;
    struct sp_space_limits limits;
    enum sp_goal goal;
    bool robust;                        /* ranked by the step at the constants' bad ends */
    bool front_has_cost;                /* cost counts among the points of a front */
    enum sp_flop_convention convention; /* of every MFU */
    struct sp_search_run run;
};

/* Adds a machine, whose base the caller fills before sp_open_machine; NULL: there is no room. */
struct sp_candidate *sp_add_machine(struct sp_search *search);

/* Opens the machine's space under the search's limits. */
bool sp_open_machine(const struct sp_search *search, struct sp_candidate *machine,
                     struct sp_error *error);
void sp_close_search(struct sp_search *search);

/* A plan of the answer. */
struct sp_ranked {
    int machine;
    const struct sp_found *found;
    double value, then; /* of the goal, and what decides between equals */
};

/* Every machine's plans in one order, or the front of all machines; free() it. */
struct sp_ranked *sp_rank_plans(const struct sp_search *search, size_t *n);

/* Keeps `wanted` of the n points of a front, in their order: its ends and evenly many between. */
void sp_thin_out(struct sp_ranked *ranked, size_t n, size_t wanted);

/* What became of the plans of all machines. */
struct sp_search_sum {
    struct sp_search_counts counts;
    double elapsed_s;
    int threads;
    bool partial, front_is_full;
    bool is_proven; /* no plan of the space is better */
};
struct sp_search_sum sp_sum_up(const struct sp_search *search);

/* MFU and the other rates of a step on a machine. */
struct sp_rates sp_rates_on(const struct sp_search *search, int machine, double step_s);

/* Cost of a step on all devices of a machine; NAN: its price is not known. USD. */
double sp_cost_of_step(const struct sp_candidate *machine, double step_s);

/* A machine's best plan, of a front its fastest; NULL: none fits. And its step time, NAN. s. */
const struct sp_found *sp_best_of(const struct sp_search *search, int machine);
double sp_best_step_of(const struct sp_search *search, int machine);

/* The machine on which a step costs least; -1 where no price is known. */
int sp_cheapest_of(const struct sp_search *search);

/* What the smallest plan of the first machine needs, where nothing fits. */
struct sp_least {
    bool partial; /* stopped early: a smaller one may exist */
    double bytes; /* NAN: the space holds no plan */
};
struct sp_least sp_least_memory(const struct sp_search *search);

/* Plans of the first machine that are faster than such a step; SP_SEARCH_TOP: at least so many. */
int sp_count_ahead(const struct sp_search *search, double step_s);

/* Whether what is ranked is an estimate of time, of which small leads are ties. */
bool sp_ranks_time(const struct sp_search *search);

/* Whether a plan of the list is behind the first by less than the error of such a difference, and
 * from which lead on of another plan on that machine the first is not, of the logarithm. */
bool sp_ties_with_first(const struct sp_search *search, const struct sp_ranked *ranked, size_t at);
double sp_first_lead_log(const struct sp_search *search, const struct sp_ranked *ranked);

/* The best plan of a machine as the goal values it: its step's cost or time; NAN: none fits. */
double sp_machine_value(const struct sp_search *search, int machine);

/* From which lead on the order of two machines' best plans can be believed, of the logarithm. */
double sp_machines_lead(const struct sp_search *search, int one, int other);

/* The best machine but one, which may be -1; -1: there is none. */
int sp_best_machine_but(const struct sp_search *search, int one);

/* How far the best machine is ahead of the second. */
struct sp_machine_lead {
    int best, second;            /* second -1: there is none */
    double apart_log, least_log; /* logarithms: how far, and from where on it can be believed */
    bool is_tie;
};
struct sp_machine_lead sp_lead_of_best_machine(const struct sp_search *search);

/* Has plans timed at the constants' bad ends. */
void sp_make_robust(struct sp_candidate *machine);

/* Puts the estimate back into plans that were found so; `value` keeps the step at the bad ends. */
void sp_restate_robust(struct sp_search *search);

/* The plan that is fastest as estimated, beside the robust choice on its machine. False: the search
 * for it was interrupted. */
struct sp_as_estimated {
    struct sp_found fastest;
    double step_at_bad_ends_s; /* its step there */
    bool is_robust_too;        /* it is the robust choice */
};
bool sp_find_as_estimated(const struct sp_search *search, const struct sp_ranked *best,
                          struct sp_as_estimated *found);

#endif
