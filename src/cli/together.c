/* Checks options that need or exclude each other. */
#include "cli/together.h"

#include "base/text.h"

/* The first option of a list that was given (or, if `given` is false, was not). SP_NO_OPTION if
 * there is none, or no list. */
static enum sp_option_id first_that(const struct sp_args *args, const enum sp_option_id *these,
                                    bool given)
{
    while (these && *these != SP_NO_OPTION && args->given_at[*these] != given)
        these++;
    return these ? *these : SP_NO_OPTION;
}

/* For a choice, its first value is named too: "--days needs --find, such as --find devices". */
static bool refuse_alone(const struct sp_args *args, const struct sp_option *option,
                         enum sp_option_id missing, struct sp_error *error)
{
    const struct sp_option *const other = sp_option_taken(args, missing);
    const char *const name = sp_option_name(missing);
    if (!other || !other->choices)
        return sp_fail(error, SP_USAGE, "--%s needs --%s", option->name, name);
    return sp_fail(error, SP_USAGE, "--%s needs --%s, such as --%s %s", option->name, name, name,
                   other->choices[0]);
}

static bool goes_with(const struct sp_args *args, const struct sp_option *option,
                      struct sp_error *error)
{
    const enum sp_option_id missing = first_that(args, option->needs, false);
    const enum sp_option_id rival = first_that(args, option->excludes, true);
    if (missing != SP_NO_OPTION)
        return refuse_alone(args, option, missing, error);
    const bool shaped = option->id == SP_O_shape && rival == SP_O_model;
    return rival == SP_NO_OPTION ||
           sp_fail(error, SP_USAGE, "--%s and --%s exclude each other%s", option->name,
                   sp_option_name(rival), shaped ? "; --set model.KEY=VALUE changes one" : "");
}

bool sp_check_together(const struct sp_args *args, struct sp_error *error)
{
    for (size_t i = 0; i < args->n_options; i++)
        if (args->given_at[args->options[i].id] && !goes_with(args, &args->options[i], error))
            return false;
    return true;
}
