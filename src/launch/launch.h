/* Launches of training frameworks as plans, and plans as launches. */
#ifndef SP_LAUNCH_H
#define SP_LAUNCH_H

#include "config/load.h"

#include <scaleplan/plan.h>

enum { SP_LAUNCH_OPTIONS = 32, SP_LAUNCH_NOTES = 24 };

/* What a launch says, as options of `step`, and what it says that no option has. */
struct sp_launch {
    const char *format; /* "Megatron-LM", ... */
    struct {
        char name[24], value[768];
    } option[SP_LAUNCH_OPTIONS];
    int options;
    bool etp_is_tp; /* experts are split as the rest: what is typed for TP counts for them too */
    char note[SP_LAUNCH_NOTES][160];
    int notes;
};

/* Reads a Megatron-LM argument list (a shell script too), a DeepSpeed JSON, or MaxText options as
 * YAML or key=value; `path` "-" is standard input. `hw` is NULL when it is not known yet. What
 * cannot be read as a number is an error. */
bool sp_read_launch(const char *path, const struct sp_hardware *hw,
                    const struct sp_sources *sources, struct sp_launch *launch,
                    struct sp_error *error);

/* A plan to be written. */
struct sp_launched {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    const struct sp_plan *plan;
    const char *remat, *precision, *framework; /* names */
    const char *framework_given; /* how it was typed, where its name does not find it; or NULL */
};

/* A written plan: the framework's own form, for free(), and what it cannot say. */
struct sp_written {
    char *text;
    char lost[SP_LAUNCH_NOTES][160];
    int n_lost;
};

enum sp_target {
    SP_TO_MEGATRON,
    SP_TO_TORCHTITAN,
    SP_TO_DEEPSPEED,
    SP_TO_MAXTEXT,
    SP_TO_JAX,
    SP_TARGETS
};
extern const char *const sp_target_names[]; /* NULL-terminated */

void sp_write_launch(enum sp_target target, const struct sp_launched *launched,
                     struct sp_written *written);

#endif
