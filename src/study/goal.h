/* A goal as a function of the machine. */
#ifndef SP_STUDY_GOAL_H
#define SP_STUDY_GOAL_H

#include <scaleplan/fit.h>
#include <scaleplan/need.h>

#include "study/empty_space.h"
#include "study/find.h"
#include "study/nearby.h"

enum sp_aim_kind {
    SP_AIM_COMPUTE_BOUND,
    SP_AIM_FITS,
    SP_AIM_STEP,
    SP_AIM_DAYS,
    SP_AIM_COST,
    SP_AIM_MFU,
    SP_AIM_TOKENS,
    SP_AIM_TPOT, /* serving from here on */
    SP_AIM_TTFT,
    SP_AIM_SERVED,
    SP_AIM_SERVED_COST,
    SP_AIMS
};

/* Whether the goal is about serving. */
bool sp_is_served(enum sp_aim_kind kind);

/* Inputs of a goal's value. */
struct sp_aimed {
    enum sp_aim_kind kind;
    bool at_least;                /* larger is better */
    const struct sp_hardware *hw; /* current machine */
    bool replan;                  /* use the best plan of each machine instead of a fixed one */

    /* For compute-bound: the given strategy, or the best mesh of hw. */
    struct sp_fit_input fit;
    bool strategy;
    enum sp_strategy_kind strategy_kind;
    struct sp_strategy mesh;

    /* For other training goals: the fixed plan and its constants. */
    struct sp_planned planned;
    struct sp_space_limits limits; /* limits of the search for plans */
    struct sp_ground ground;       /* measured runs, by which a search ranks them */
    bool searched;                 /* the plan is the best of hw */
    bool is_typed;                 /* the plan was given */
    bool is_empty;                 /* no plan divides the batch among the devices of hw */
    bool power_prior;              /* --power-prior; see sp_follows_chip */
    enum sp_flop_convention convention;

    /* For serving. */
    double (*value_of_service)(const struct sp_hardware *hw, void *service);
    void *service;
};

/* The goal's value on a machine, for struct sp_demand; `aimed` is a struct sp_aimed. */
double sp_aimed_value(const struct sp_hardware *hw, void *aimed);

/* Finds the best plan of a machine; false if none fits, with `is_empty` (not NULL) if there is not
 * even one that does not. */
bool sp_find_best_plan(const struct sp_aimed *aimed, struct sp_planned *planned, bool *is_empty);

/* The searches behind the fewest devices: with the batch as it is, and with one within SP_ABOUT if
 * that takes fewer (fewer.at NULL: it does not). */
struct sp_chips_found {
    struct sp_search *search;
    struct sp_finding exact, fewer;
};

/* The fewest devices of one slice whose best plan meets a step or days, or on which some plan fits,
 * as `search --find` finds them, into `need`, which stays as it is where the goal is another, the
 * plan was given, or none is enough. */
void sp_find_chips(const struct sp_aimed *aimed, double target, struct sp_need *need,
                   struct sp_chips_found *found);
void sp_close_chips(struct sp_chips_found *found);

/* Looks close by the problem, as sp_look_close_by, where the plan is the best of a search, and for
 * the cause where it is_empty. */
void sp_look_close_by_goal(const struct sp_aimed *aimed, struct sp_close_by *found,
                           struct sp_emptied *why);

/* Adds the formats that the goal depends on: lowering their peak to a thousandth changes its
 * value. */
void sp_find_peaks(struct sp_aimed *aimed, bool peaks[SP_DTYPES]);

/* Whether constants move with the expected values of the chip being tried: if --power-prior asks
 * for it, and if they are borrowed, because those of another chip would be borrowed anew. */
bool sp_follows_chip(const struct sp_aimed *aim);

#endif
