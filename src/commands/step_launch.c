/* step --from: a launch in the place of options. */
#include "commands/step_launch.h"

#include <stdlib.h>
#include <string.h>

/* A launch says parts of a model; whoever types another one has all of it. */
static bool is_of_model(const char *name)
{
    return strcmp(name, "model") == 0 || strcmp(name, "shape") == 0 || strcmp(name, "set") == 0;
}

static bool take_option(const struct sp_args *typed, const struct sp_launch *launch, int i,
                        struct sp_args *args, struct sp_error *error)
{
    const char *const name = launch->option[i].name;
    const bool model = sp_given(typed, "model") || sp_given(typed, "shape");
    if (sp_given(typed, name) && strcmp(name, "set") != 0)
        return true;
    if (launch->etp_is_tp && strcmp(name, "etp") == 0 && sp_given(typed, "tp"))
        return sp_take_number(args, name, sp_number_of(typed, "tp"), error);
    return (model && is_of_model(name)) || sp_take_text(args, name, launch->option[i].value, error);
}

bool sp_take_launch(const struct sp_args *typed, struct sp_launch *launch, struct sp_args *args,
                    struct sp_error *error)
{
    struct sp_hardware hw;
    const struct sp_sources sources = sp_sources_of(typed);
    const char *const path = sp_text_of(typed, "from");
    const bool machine = sp_given(typed, "hw");
    *args = *typed;
    launch->format = NULL;
    if (!path)
        return true;
    if ((machine && !sp_hardware_of(typed, &sources, &hw, error)) ||
        !sp_read_launch(path, machine ? &hw : NULL, &sources, launch, error))
        return false;
    bool ok = true;
    args->n_many = 0; /* what is typed comes last and wins */
    for (int i = 0; i < launch->options && ok; i++)
        ok = take_option(typed, launch, i, args, error);
    for (int i = 0; i < typed->n_many && ok; i++)
        ok = sp_take_text(args, "set", typed->many[i], error);
    return ok;
}

void sp_put_launch(struct sp_report *r, const struct sp_launch *launch)
{
    struct sp_words words = {0};
    for (int i = 0; i < launch->options; i++)
        sp_add_option(&words, launch->option[i].name, launch->option[i].value);
    char *const line = sp_shell_line(&words);
    sp_put_text(r, SP_Q_STEP_LAUNCH_FORMAT, "%s", launch->format);
    sp_put_text(r, SP_Q_STEP_LAUNCH_OPTIONS, "%s", line);
    free(line);
    sp_free_words(&words);
    sp_line(r, "read       {launch.format}: {launch.options!}");
    for (int i = 0; i < launch->notes; i++)
        sp_note(r, "%s", launch->note[i]);
}
