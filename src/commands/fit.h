/* Shared by the two files of `fit`: inputs and header in cmd_fit.c, strategies in fit_plans.c. */
#ifndef SP_CMD_FIT_H
#define SP_CMD_FIT_H

#include "cli/command.h"

/* What the command knows after its options are read. */
struct fit {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_fit_input in;
    struct sp_fit_terms t;
    const char *batch_origin;
    bool recipe_inferred, textbook; /* no --precision; --constants textbook */
    double mfu;
    int only; /* strategy asked for, or -1 */
    struct sp_report *report;
};

/* One scope and one row per strategy, and the way out of each no. */
void sp_put_strategies(const struct fit *f);

/* The best plan on real axes. */
void sp_put_best(const struct fit *f);

#endif
