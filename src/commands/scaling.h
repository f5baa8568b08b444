/* What the files of `scaling` share. */
#ifndef SP_CMD_SCALING_H
#define SP_CMD_SCALING_H

#include "cli/command.h"

/* What is asked, and the run that answers it. */
struct sp_scaling_question {
    struct sp_sources sources;
    struct sp_scaling_law law;
    struct sp_scaling_run given, run;
    double batch, from, noise; /* tokens; NAN: not given */
    double year, since;        /* year NAN: not given */
    struct sp_trend_file compute, algorithms;
    bool from_model;
    const char *law_spec; /* --law */
    struct sp_report *report;
};

/* The parameters of a model as the law counts them. */
double sp_params_of_law(const struct sp_scaling_law *law, const struct sp_model *model);

/* Fills the report. */
bool sp_answer_scaling(const struct sp_scaling_question *s, struct sp_error *error);

#endif
