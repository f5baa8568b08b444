/* The rows of options.def, and those that the fields of a plan make. */
#include <string.h>

#include <scaleplan/formats.h>
#include <scaleplan/plan.h>
#include <scaleplan/serve.h>

#include "base/text.h"
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
                              .help = "largest value of that option to try"};
}

/* Name, metavar (empty: a flag) and help of an option, each up to a zero; NULL: its row is a field
 * of a plan. A switch, not an array: the loader would write an array's addresses at every start. */
static const char *texts_of(enum sp_option_id id)
{
#define SP_OPTION(member, name, kind, metavar, min, max, choices, heading, used, help)             \
    case SP_O_##member:                                                                            \
        return name "\0" metavar "\0" help;
#define SP_PLAN_OPTION(...)
#define SP_MOST_OPTION(...)
    switch (id) {
#include "cli/options.def"
    default:
        return NULL;
    }
}

/* The other columns. */
#define SP_OPTION(member, name, kind, metavar, min, max, choices, heading, used, help)             \
    {min, max, choices, SP_##kind, NO_FIELD, false, SP_UNDER_##heading, used},
#define SP_PLAN_OPTION(member, kind, field, heading, used)                                         \
    {0, 0, NULL, SP_WHOLE, SP_FIELD_##field, false, SP_UNDER_##heading, used},
#define SP_MOST_OPTION(member, field)                                                              \
    {0, 0, NULL, SP_WHOLE, SP_FIELD_##field, true, SP_UNDER_SEARCH, 0},
enum { NO_FIELD = -1 };
static const struct {
    double min, max;
    const char *const *choices;
    unsigned char kind;
    signed char field;
    bool most; /* the largest value of the field that a search tries */
    unsigned char heading, used;
} rows[] = {
#include "cli/options.def"
};

static struct sp_option row_of(enum sp_option_id id)
{
    if (id == SP_NO_OPTION)
        return (struct sp_option){.id = id};
    if (rows[id].field != NO_FIELD)
        return rows[id].most ? row_of_most(id, rows[id].field) : row_of_field(id, rows[id].field);
    const char *const name = texts_of(id);
    const char *const metavar = name + strlen(name) + 1;
    return (struct sp_option){.id = id,
                              .name = name,
                              .metavar = *metavar ? metavar : NULL,
                              .kind = (enum sp_option_kind)rows[id].kind,
                              .min = rows[id].min,
                              .max = rows[id].max,
                              .choices = rows[id].choices,
                              .help = metavar + strlen(metavar) + 1};
}

struct sp_option sp_option_row(enum sp_option_id id, const struct sp_taken *taken)
{
    struct sp_option option = row_of(id);
    option.heading = (enum sp_heading)rows[id].heading;
    option.used = rows[id].used;
    if (taken) {
        option.fallback = taken->fallback;
        option.alias = taken->alias;
        option.choices = taken->choices ? taken->choices : option.choices;
        option.help = taken->help ? taken->help : option.help;
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

enum sp_option_id sp_option_of_name(const char *name)
{
    int id = 0;
    while (id < SP_OPTION_IDS && strcmp(sp_option_name((enum sp_option_id)id), name) != 0)
        id++;
    return id < SP_OPTION_IDS ? (enum sp_option_id)id : SP_NO_OPTION;
}

bool sp_names_taker(enum sp_option_id id, bool fixes, const char *word, struct sp_error *error)
{
    if (id == SP_NO_OPTION)
        return false;
    const struct sp_option option = sp_option_row(id, NULL);
    const bool of_plan = rows[id].field != NO_FIELD && !rows[id].most;
    if (of_plan && fixes)
        sp_fail(error, SP_USAGE, "unknown option %s: use --fix %s=%s", sp_safe(word), option.name,
                option.metavar);
    else if (of_plan)
        sp_fail(error, SP_USAGE, "unknown option %s: `step` takes --%s %s", sp_safe(word),
                option.name, option.metavar);
    else if (option.heading == SP_UNDER_SERVING)
        sp_fail(error, SP_USAGE, "unknown option %s: `serve` takes --%s", sp_safe(word),
                option.name);
    return of_plan || option.heading == SP_UNDER_SERVING;
}
