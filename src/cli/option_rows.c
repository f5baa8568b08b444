/* The rows of options.def, and those that the fields of a plan make. */
#include <string.h>

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
        [SP_PLAN_STAGES] = SP_TEXT,
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

/* Of the texts "name", "metavar" (empty: a flag) and "help", each up to a zero. */
static struct sp_option option_of(enum sp_option_id id, const char *texts, enum sp_option_kind kind,
                                  double min, double max, const char *const *choices)
{
    const char *const metavar = texts + strlen(texts) + 1;
    return (struct sp_option){.id = id,
                              .name = texts,
                              .metavar = *metavar ? metavar : NULL,
                              .kind = kind,
                              .min = min,
                              .max = max,
                              .choices = choices,
                              .help = metavar + strlen(metavar) + 1};
}

/* A switch, not an array: the loader would write an array's addresses at every start. */
static struct sp_option row_of(enum sp_option_id id)
{
#define SP_OPTION(member, name, kind, metavar, min, max, choices, heading, used, help)             \
    case SP_O_##member:                                                                            \
        return option_of(id, name "\0" metavar "\0" help, SP_##kind, min, max, choices);
#define SP_PLAN_OPTION(member, kind, field, ...)                                                   \
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

/* The columns of --help: SP_OPTION's last three are the heading, the use and the help. */
#define SP_OPTION(member, name, kind, metavar, min, max, choices, heading, used, help)             \
    {SP_UNDER_##heading, used},
#define SP_PLAN_OPTION(member, kind, field, heading, used) {SP_UNDER_##heading, used},
#define SP_MOST_OPTION(member, field) {SP_UNDER_SEARCH, 0},
static const struct {
    unsigned char heading, used;
} shown[] = {
#include "cli/options.def"
};

struct sp_option sp_option_row(enum sp_option_id id, const struct sp_taken *taken)
{
    struct sp_option option = row_of(id);
    option.heading = (enum sp_heading)shown[id].heading;
    option.used = shown[id].used;
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
#define SP_PLAN_OPTION(member, kind, field, ...) [SP_FIELD_##field] = SP_O_##member,
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
