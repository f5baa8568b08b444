/* A search of one or several machines: their best plans in order, and the significance of that
 * order. */
#ifndef SP_SEARCH_MACHINES_H
#define SP_SEARCH_MACHINES_H

#include <scaleplan/estimate.h>

#include "study/problem.h"
#include "study/run_search.h"
#include "study/space.h"

enum { SP_MAX_MACHINES = 16 };

/* A machine of the search. */
struct sp_candidate {
    char hw[128];           /* as given to --hw */
    struct sp_planned base; /* with the devices and the batch of the best variant */
    struct sp_variant asked;
    int64_t least_devices; /* with the idle ones left out; the asked devices without any */
    int variants;          /* pairs of devices and a batch that were searched */
    struct sp_search_space space;
    struct sp_search_result result;
    struct sp_place *places;              /* measured runs on machines of its kind; owned */
    struct sp_ground ground;              /* the same, for the space */
    const struct sp_space_limits *admits; /* the search's */
    struct sp_profile worst; /* for `robust`: constants at the bad ends of their 80 % intervals */
};

struct sp_search {
    struct sp_candidate *machine[SP_MAX_MACHINES];
    int machines;
    struct sp_space_limits limits;
    struct sp_problem problem;          /* the question to every machine */
    bool grounded;                      /* rank by the expected step of the plans, see sp_doubt */
    bool robust;                        /* rank by the step with `worst` constants */
    bool front_has_cost;                /* the front includes cost */
    enum sp_flop_convention convention; /* for MFUs */
    struct sp_search_run run;
};

/* Adds a machine; the caller fills its base before sp_open_machine. NULL if there is no room. */
struct sp_candidate *sp_add_machine(struct sp_search *search);

/* Opens the machine's space under the search's limits. */
bool sp_open_machine(const struct sp_search *search, struct sp_candidate *machine,
                     struct sp_error *error);
void sp_close_search(struct sp_search *search);

/* Searches a machine's plans with memory to spare; if there are none, and the user set no limit,
 * those that fit tightly. If devices may stay idle or the batch may vary, the machine becomes its
 * best variant. */
void sp_search_machine(struct sp_search *search, int machine);

/* A machine as one of its variants, opened; NULL: it cannot be searched. free() it; it borrows the
 * machine's places. */
struct sp_candidate *sp_open_variant(const struct sp_search *search,
                                     const struct sp_candidate *machine,
                                     const struct sp_variant *variant);

/* The value that ranks variants of a machine: its best plan by the goal, a step for each sequence
 * of the batch; INFINITY: none fits. Before sp_finish_search. */
double sp_worth_of(const struct sp_search *search, const struct sp_candidate *machine);

/* Most value of a plan of that variant whose worth is `worth`; INFINITY: not known. */
double sp_value_worth(const struct sp_search *search, const struct sp_variant *variant,
                      double worth);

/* A ranked plan. */
struct sp_ranked {
    int machine;
    const struct sp_found *found;
    double value; /* of the goal: the less, the better */
    double order,
        then; /* the value that orders the list, and the one that decides between equals */
};

/* Orders each machine's plans for good, when all of them are known. */
void sp_finish_search(struct sp_search *search);

/* The plan that the estimate alone would put first on the machine of the first, where it is faster
 * and another plan; NULL: none. */
const struct sp_found *sp_faster_than_first(const struct sp_search *search,
                                            const struct sp_ranked *first);

/* Octaves between a plan and the nearest one that was run. */
double sp_octaves_of(const struct sp_candidate *machine, const struct sp_plan *plan);

/* The plans of all machines in order, or their common front; free() it. */
struct sp_ranked *sp_rank_plans(const struct sp_search *search, size_t *n);

/* Keeps `wanted` of the n points of a front: both ends and evenly spaced ones between. */
void sp_thin_out(struct sp_ranked *ranked, size_t n, size_t wanted);

/* Outcomes of plans over all machines. */
struct sp_search_sum {
    struct sp_search_counts counts;
    double elapsed_s;
    int threads;
    bool partial, front_is_full;
    bool is_proven; /* no plan of the space is better */
};
struct sp_search_sum sp_sum_up(const struct sp_search *search);

/* Rates of a step on a machine. */
struct sp_rates sp_rates_on(const struct sp_search *search, int machine, double step_s);

/* Sequences of the requested batch over those of the batch used: a step times this is the time for
 * the requested one. */
double sp_asked_over_taken(const struct sp_candidate *machine);

/* Cost (USD) of a step on all devices of a machine; NAN: price unknown. */
double sp_cost_of_step(const struct sp_candidate *machine, double step_s);

/* A machine's best plan (of a front the fastest; NULL: none fits), and its step time in s, or
 * NAN. */
const struct sp_found *sp_best_of(const struct sp_search *search, int machine);
double sp_best_step_of(const struct sp_search *search, int machine);

/* The step (s) that a run on a found plan is counted in, its days, cost, deadline and budget: the
 * expected one, where plans are ranked by it. Of a machine: that of its best plan, or NAN. */
double sp_run_step_s(const struct sp_search *search, const struct sp_found *found);
double sp_best_run_step_of(const struct sp_search *search, int machine);

/* The machine with the cheapest step; -1 without known prices. */
int sp_cheapest_of(const struct sp_search *search);

/* Least memory of the first machine's plans, if nothing fits. */
struct sp_least {
    bool partial; /* stopped early: less may be possible */
    double bytes; /* NAN: the space is empty */
};
struct sp_least sp_least_memory(const struct sp_search *search);

/* Whether the first machine has no plan at all, fitting or not, as far as the search went. */
bool sp_has_no_plan(const struct sp_search *search);

/* The step (s) that ranks a plan of the first machine, whose estimate is step_s. */
double sp_ranking_step_s(const struct sp_search *search, const struct sp_plan *plan, double step_s);

/* Number of the first machine's plans that rank before one with this step time; SP_SEARCH_TOP: at
 * least that many. */
int sp_count_ahead(const struct sp_search *search, const struct sp_plan *plan, double step_s);

/* Whether plans are ranked by an estimate of time, whose small leads are ties. */
bool sp_ranks_time(const struct sp_search *search);

/* Whether a plan of the list is tied with the first; and the lead (of the logarithm) that would not
 * be a tie on its machine. */
bool sp_ties_with_first(const struct sp_search *search, const struct sp_ranked *ranked, size_t at);
double sp_first_lead_log(const struct sp_search *search, const struct sp_ranked *ranked);

/* The same between any two plans: of one stack they share most of their error, of two stacks or
 * machines none. */
double sp_plans_lead_log(const struct sp_planned *one, const struct sp_planned *other);

/* A machine's best value of the goal: cost or time of the step that ranks its plans; NAN: none
 * fits. */
double sp_machine_value(const struct sp_search *search, int machine);

/* Least lead (of the logarithm) between the best plans of two machines that is not a tie. */
double sp_machines_lead(const struct sp_search *search, int one, int other);

/* The best machine except `one` (-1: none); -1 if there is none. */
int sp_best_machine_but(const struct sp_search *search, int one);

/* How far the best machine is ahead of the second. */
struct sp_machine_lead {
    int best, second;            /* second -1: none */
    double apart_log, least_log; /* logarithms: how far, and from which lead on it is reliable */
    bool is_tie;
};
struct sp_machine_lead sp_lead_of_best_machine(const struct sp_search *search);

/* Times the machine's plans at the constants' bad ends. */
void sp_make_robust(struct sp_candidate *machine);

/* Restores the estimates of plans found so; `value` keeps the step at the bad ends. */
void sp_restate_robust(struct sp_search *search);

/* The fastest plan as estimated, next to the robust choice on its machine. False if its search was
 * interrupted. */
struct sp_as_estimated {
    struct sp_found fastest;
    double step_at_bad_ends_s; /* its step at the bad ends */
    bool is_robust_too;        /* it equals the robust choice */
};
bool sp_find_as_estimated(const struct sp_search *search, const struct sp_ranked *best,
                          struct sp_as_estimated *found);

#endif
