/* search --from: a launch states the problem, and its plan stands beside the best. */
#include <string.h>

#include "commands/search.h"

extern const struct sp_command sp_cmd_step;

/* Options that state a problem, which `step` and `search` read alike. */
static const enum sp_option_id of_problem[] = {
    SP_O_model,     SP_O_shape,     SP_O_hw,      SP_O_network,   SP_O_batch,      SP_O_seq,
    SP_O_framework, SP_O_precision, SP_O_profile, SP_O_constants, SP_O_config_dir, SP_NO_OPTION};

/* Takes those that were given in `from` and not in `to`. */
static bool take_problem(const struct sp_args *from, struct sp_args *to, struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; of_problem[i] != SP_NO_OPTION && ok; i++)
        if (from->given_at[of_problem[i]] && !to->given_at[of_problem[i]])
            ok = sp_take_text(to, of_problem[i], from->text[of_problem[i]], error);
    to->n_many = 0;
    for (int i = 0; i < from->n_many && ok; i++)
        ok = sp_take_text(to, SP_O_set, from->many[i], error);
    return ok;
}

/* Takes the names of the script that were given values. */
static bool take_names(const struct sp_args *from, struct sp_args *to, struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; i < from->n_repeated && ok; i++)
        if (from->repeated_id[i] == SP_O_set_var)
            ok = sp_take_text(to, SP_O_set_var, from->repeated[i], error);
    return ok;
}

/* The machine of a chip that was typed without a count. */
static bool take_machine(struct sp_search_launch *from, struct sp_error *error)
{
    const char *const machine = from->launch.machine;
    return !machine[0] || sp_take_text(&from->problem, SP_O_hw, machine, error);
}

/* The framework that `step` runs the launch under, where neither it nor a profile names one: the
 * plans of the search are compared with this very plan. */
static bool take_framework(struct sp_search_launch *from, struct sp_error *error)
{
    struct sp_args *const problem = &from->problem;
    return problem->given.framework || problem->given.profile ||
           sp_take_text(problem, SP_O_framework, from->planned.framework.framework.name, error);
}

bool sp_open_launch(const struct sp_args *typed, struct sp_search_launch *from,
                    struct sp_error *error)
{
    char step[] = "step", *words[] = {step, NULL};
    struct sp_args as_step = {0}, whole = {0};
    const char *const hw = typed->value.hw;
    from->problem = *typed;
    if (!typed->value.from)
        return true;
    if (hw && strchr(hw, ','))
        return sp_fail(error, SP_USAGE, "--from is about one machine, --hw names several");
    if (!sp_parse_command(&sp_cmd_step, 1, words, &as_step, error))
        return false;
    as_step.world = typed->world;
    const bool ok = take_problem(typed, &as_step, error) && take_names(typed, &as_step, error) &&
                    sp_take_text(&as_step, SP_O_from, typed->value.from, error) &&
                    sp_take_launch(&as_step, &from->launch, &whole, error);
    const struct sp_sources sources = sp_sources_of(&whole);
    return ok && sp_plan_of(&whole, &sources, &from->planned, error) &&
           take_problem(&whole, &from->problem, error) && take_machine(from, error) &&
           take_framework(from, error);
}
