/* A goal as a function of the machine. */
#ifndef SP_AIMED_H
#define SP_AIMED_H

#include <scaleplan/fit.h>
#include <scaleplan/need.h>

#include "study/space.h"

enum sp_aim_kind {
    SP_AIM_COMPUTE_BOUND,
    SP_AIM_FITS,
    SP_AIM_STEP,
    SP_AIM_DAYS,
    SP_AIM_COST,
    SP_AIM_MFU,
    SP_AIM_TOKENS,
    SP_AIM_TPOT, /* from here on of serving */
    SP_AIM_TTFT,
    SP_AIM_SERVED,
    SP_AIM_SERVED_COST,
    SP_AIMS
};

/* Whether the goal is of serving. */
bool sp_is_served(enum sp_aim_kind kind);

/* What a goal's value is computed from. */
struct sp_aimed {
    enum sp_aim_kind kind;
    bool at_least;                /* more of the value is better */
    const struct sp_hardware *hw; /* the machine as it is */
    bool replan;                  /* the best plan of every machine, not the one that is held */

    /* Of compute-bound: the strategy that is asked for, or the best mesh of hw. */
    struct sp_fit_input fit;
    bool strategy;
    enum sp_strategy_kind strategy_kind;
    struct sp_strategy mesh;

    /* Of the other goals of training: the plan that is held, and its constants. */
    struct sp_planned planned;
    struct sp_space_limits limits; /* of plans that are looked for */
    bool searched;                 /* the plan is the best one of hw */
    bool power_prior;              /* constants follow what is expected of the chip */
    double tokens;                 /* of the run */
    enum sp_flop_convention convention;

    /* Of serving. */
    double (*value_of_service)(const struct sp_hardware *hw, void *service);
    void *service;
};

/* What the goal comes to on a machine, as struct sp_demand wants it: `aimed` is a struct sp_aimed.
 */
double sp_aimed_value(const struct sp_hardware *hw, void *aimed);

/* Puts the best plan of a machine into `planned`; false where none fits. */
bool sp_find_best_plan(const struct sp_aimed *aimed, struct sp_planned *planned);

/* Adds the formats that the goal is computed in: those whose peak, at a thousandth, changes its
 * value. */
void sp_find_peaks(struct sp_aimed *aimed, bool peaks[SP_DTYPES]);

#endif
