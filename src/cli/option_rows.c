/* The rows of options.def, and those that the fields of a plan make. */
#include <scaleplan/formats.h>
#include <scaleplan/plan.h>
#include <scaleplan/serve.h>

#include "cli/options.h"
#include "config/kinds.h"
#include "config/load.h"

static struct sp_option row_of_field(enum sp_option_id id, int field)
{
    static const enum sp_option_kind kinds[] = {
        [SP_PLAN_WHOLE] = SP_WHOLE,   [SP_PLAN_LEVEL] = SP_WHOLE,   [SP_PLAN_REAL] = SP_REAL,
        [SP_PLAN_SWITCH] = SP_CHOICE, [SP_PLAN_EITHER] = SP_CHOICE, [SP_PLAN_NAME] = SP_CHOICE,
        [SP_PLAN_POLICY] = SP_CHOICE, [SP_PLAN_AXES] = SP_TEXT,     [SP_PLAN_LIST] = SP_TEXT,
    };
    const struct sp_plan_field *const f = &sp_plan_fields[field];
    const enum sp_option_kind kind = kinds[f->kind];
    return (struct sp_option){.id = id,
                              .name = f->name,
                              .metavar = f->value,
                              .kind = kind,
                              .min = f->min,
                              .max = f->max,
                              .choices = kind == SP_CHOICE ? f->names : NULL,
                              .help = f->text};
}

static struct sp_option row_of_most(enum sp_option_id id, int field)
{
    return (struct sp_option){.id = id,
                              .name = sp_plan_fields[field].most,
                              .metavar = sp_plan_fields[field].value,
                              .kind = SP_WHOLE,
                              .min = 1,
                              .max = 1e9,
                              .help = "the largest value of that option that is looked at"};
}

/* A switch, not an array: the loader would write an array's addresses at every start. */
static struct sp_option row_of(enum sp_option_id id)
{
#define SP_OPTION(member, name, kind, metavar, min, max, choices, help)                            \
    case SP_O_##member:                                                                            \
        return (struct sp_option){id,      name, metavar, SP_##kind, min,  max,                    \
                                  choices, help, NULL,    NULL,      NULL, NULL};
#define SP_PLAN_OPTION(member, kind, field)                                                        \
    case SP_O_##member:                                                                            \
        return row_of_field(id, SP_FIELD_##field);
#define SP_MOST_OPTION(member, field)                                                              \
    case SP_O_##member:                                                                            \
        return row_of_most(id, SP_FIELD_##field);
    switch (id) {
#include "cli/options.def"
    default:
        return (struct sp_option){.id = SP_NO_OPTION};
    }
}

struct sp_option sp_option_row(enum sp_option_id id, const struct sp_taken *taken)
{
    struct sp_option option = row_of(id);
    if (taken) {
        option.fallback = taken->fallback;
        option.alias = taken->alias;
        option.choices = taken->choices ? taken->choices : option.choices;
        option.needs = taken->needs;
        option.excludes = taken->excludes;
    }
    return option;
}

const char *sp_option_name(enum sp_option_id id)
{
    return row_of(id).name;
}

enum sp_option_id sp_option_of_field(int field)
{
#define SP_OPTION(...)
#define SP_MOST_OPTION(...)
#define SP_PLAN_OPTION(member, kind, field) [SP_FIELD_##field] = SP_O_##member,
    static const enum sp_option_id ids[SP_PLAN_FIELDS] = {
#include "cli/options.def"
    };
    return ids[field];
}

enum sp_option_id sp_option_of_most(int field)
{
#define SP_OPTION(...)
#define SP_PLAN_OPTION(...)
#define SP_MOST_OPTION(member, field) [SP_FIELD_##field] = SP_O_##member,
    static const enum sp_option_id ids[SP_PLAN_FIELDS] = {
#include "cli/options.def"
    };
    return sp_plan_fields[field].most ? ids[field] : SP_NO_OPTION;
}
