/* Shared by `pipeline` and its picture. */
#ifndef SP_CMD_PIPELINE_H
#define SP_CMD_PIPELINE_H

#include "cli/command.h"
#include "cli/plan_options.h"

/* What the command knows after its options are read, and what a play found. */
struct pipe {
    struct sp_pipeline q;
    struct sp_stage_scale scale[SP_MAX_STAGES];
    double send_s;
    struct sp_task *tasks;
    struct sp_played played;
    struct sp_report *report;
};

/* Reads the schedule from the options; false with an error. */
bool sp_read_pipeline(const struct sp_args *args, struct pipe *f, struct sp_error *error);

#endif
