/* A goal of `need` and `sensitivity`, as a function of the machine. */
#ifndef SP_CLI_GOAL_H
#define SP_CLI_GOAL_H

#include <scaleplan/need.h>

#include "cli/plan_options.h"
#include "cli/space_options.h"
#include "cli/tuning.h"
#include "cli/fit_inputs.h"
#include "cli/service.h"
#include "study/goal.h"

/* The question about a service, from the options of `serve`. */
/* clang-format off */
#define SP_OPTIONS_SERVED \
    SP_TAKE(input), \
    SP_TAKE(output), \
    SP_TAKE(context), \
    SP_TAKE(concurrency), \
    SP_TAKE(attention_dp), \
    SP_TAKE(replicas), \
    SP_TAKE(weights), \
    SP_TAKE(expert_weights, .alias = "experts"), \
    SP_TAKE(prefix_hit), \
    SP_TAKE(kv), \
    SP_TAKE(engine)
/* clang-format on */

/* Options of both commands. */
/* clang-format off */
#define SP_OPTIONS_AIM \
    SP_OPTIONS_PLANNED, SP_TAKE(documents), SP_OPTIONS_TUNING, SP_SPACE_OPTIONS, SP_TAKE(idle), \
    SP_TAKE(strategy, .excludes = SP_THESE(SP_O_replan)), \
    SP_TAKE(axes), \
    SP_OPTION_OVERLAP, \
    SP_TAKE(microbatches, .fallback = "auto"), \
    SP_OPTION_CONVENTION, SP_OPTION_RUN_TOKENS, SP_TAKE(price, .excludes = SP_THESE(SP_O_capex)), SP_OPTIONS_CAPEX, SP_OPTIONS_SERVED, \
    SP_TAKE(replan), \
    SP_TAKE(power_prior)
/* clang-format on */

struct sp_aim_info {
    const char *name, *what; /* "step", "time of a step" */
    enum sp_unit unit;       /* of the value; SP_VERDICT: met or not, as a value of 1 or 0 */
    bool at_least, needs_tokens;
};
extern const struct sp_aim_info sp_aims[SP_AIMS];

/* A goal and the words from which it was read. */
struct sp_aim {
    const struct sp_args *args;
    struct sp_aimed of;
    bool inverse;             /* searches for the value of a figure that meets the goal */
    struct sp_fit_inputs fit; /* of compute-bound, with the model's lists */
    struct sp_layers layers;
    struct sp_args service; /* for a serving goal: the options of `serve` among the words */
    struct serve serve; /* its answer on the machine as it is; the plan or service stays the same */
    struct sp_serve_load asked; /* the question to it */
    struct sp_demand demand;    /* points to `of`: this struct must not be moved */
    struct sp_place *places;    /* measured runs; owned */
};

/* Reads --for, "step=5s", and all inputs of the goal. `with_target`: a value must follow the name;
 * else none may. Call sp_close_aim whether it succeeds or not. */
bool sp_take_aim(const struct sp_args *args, bool with_target, struct sp_aim *aim,
                 struct sp_error *error);
void sp_close_aim(struct sp_aim *aim);

/* Loads the inputs of a serving goal, and its value on another machine. */
bool sp_take_service(struct sp_aim *aim, struct sp_error *error);
double sp_value_of_service(const struct sp_hardware *hw, void *aim);

/* Reports instances that have no room for their load. */
void sp_note_service(struct sp_report *report, const struct sp_aim *aim);

/* The machine, and the format it computes in. */
const struct sp_hardware *sp_machine_of_aim(const struct sp_aim *aim);

/* The plan in words: "dp 16, tp 4 ..., held". */
void sp_aim_words(const struct sp_aim *aim, char *out, size_t size);

/* The key of a figure of the goal's machine, as --set takes it after "hw.". */
enum { SP_FIGURE_PATH = 64 };
void sp_figure_path(const struct sp_aim *aim, enum sp_machine_figure figure,
                    char path[SP_FIGURE_PATH]);

/* The unit that a figure is printed in. */
enum sp_unit sp_unit_of_figure(enum sp_machine_figure figure);

/* Puts the inputs of the answer: goal, its value now, the machine, the plan. */
void sp_put_aim(struct sp_report *report, const struct sp_aim *aim, double now);

/* Each setting of a typed plan (sp_put_resolved), after the answer. */
void sp_put_aim_plan(struct sp_report *report, const struct sp_aim *aim);

/* Reads --vary, a list of paths of the figures that count; without it, all figures that affect the
 * goal. */
bool sp_read_figures(const struct sp_aim *aim, bool vary[SP_FIGURES], struct sp_error *error);

#endif
