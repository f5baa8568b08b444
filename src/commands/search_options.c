/* The space of a search: --fix, --only, --max-..., and what the framework runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"
#include "commands/search_options.h"

/* Characters of --fix and --only. */
enum { LONGEST_LIST = 512 };

static struct sp_degree *degree_of(struct sp_search_space *space, const struct sp_plan_field *field)
{
    return (struct sp_degree *)(void *)((char *)space + field->space);
}

static bool *set_of(struct sp_search_space *space, const struct sp_plan_field *field)
{
    return (bool *)((char *)space + field->space);
}

static int words_in(const char *const *names)
{
    int n = 0;
    while (names[n])
        n++;
    return n;
}

static bool add_value(const char *where, const struct sp_plan_field *field, const char *text,
                      struct sp_search_space *space, struct sp_error *error)
{
    struct sp_degree *const degree = degree_of(space, field);
    double value;
    if (!sp_parse_number(text, &value) || *sp_unit_of_number(text) || value < 1 || value > 1e9 ||
        value != floor(value))
        return sp_fail(error, SP_INPUT, "--%s%s: \"%s\" is not a whole number from 1 to 1e9", where,
                       field->name, sp_safe(text));
    if (degree->n == SP_SEARCH_VALUES)
        return sp_fail(error, SP_INPUT, "--%s%s: more than %d values", where, field->name,
                       SP_SEARCH_VALUES);
    degree->value[degree->n++] = (int64_t)value;
    return true;
}

static bool add_name(const char *where, const struct sp_plan_field *field, const char *text,
                     struct sp_search_space *space, struct sp_error *error)
{
    int found;
    if (!sp_find_choice(where, field->name, field->names, text, &found, error))
        return false;
    set_of(space, field)[found] = true;
    return true;
}

/* The comma-separated values of `list` and no others. */
static bool take_values(const char *where, const struct sp_plan_field *field, const char *list,
                        struct sp_search_space *space, struct sp_error *error)
{
    char value[LONGEST_LIST];
    bool ok = true;
    if (field->names)
        memset(set_of(space, field), 0, (size_t)words_in(field->names) * sizeof(bool));
    else
        degree_of(space, field)->n = 0;
    while (ok && sp_next_item(&list, value, sizeof value))
        ok = (field->names ? add_name : add_value)(where, field, value, space, error);
    return ok;
}

/* The dimension of that name; NULL with an error. */
static const struct sp_plan_field *find_dimension(const char *where, const char *key,
                                                  struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = key};
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const struct sp_plan_field *const f = &sp_plan_fields[i];
        if (f->space == 0)
            continue;
        if (strcmp(f->name, key) == 0)
            return f;
        sp_nearest_offer(&nearest, f->name);
    }
    sp_fail(error, SP_INPUT, "--%s\"%s\" is no dimension of a plan%s", where, sp_safe(key),
            sp_nearest_hint(&nearest));
    return NULL;
}

/* What --fix and --only have said already. */
struct restricted {
    struct sp_search_space *space;
    bool field[SP_PLAN_FIELDS];
};

/* Lets one dimension take some values and no others, once. */
static bool restrict_to(struct restricted *r, const char *option, const char *key, const char *list,
                        struct sp_error *error)
{
    char where[16];
    snprintf(where, sizeof where, "%s: ", option);
    const struct sp_plan_field *const field = find_dimension(where, key, error);
    if (!field)
        return false;
    bool *const before = &r->field[field - sp_plan_fields];
    if (*before)
        return sp_fail(error, SP_INPUT, "--%s%s is given twice", where, key);
    *before = true;
    return take_values(where, field, list, r->space, error);
}

/* "pp=4": a key with its values, which the text is cut at. */
static bool take_pair(struct restricted *r, const char *option, char *pair, struct sp_error *error)
{
    char *const equals = strchr(pair, '=');
    if (!equals)
        return sp_fail(error, SP_INPUT, "--%s: \"%s\" is not KEY=VALUE", option, sp_safe(pair));
    *equals = '\0';
    return restrict_to(r, option, pair, equals + 1, error);
}

/* "pp=4,zero=1" of --fix: each key has one value. "zero=1,3" of --only: one key, several. */
static bool take_pairs(struct restricted *r, const char *option, const char *text, bool several,
                       struct sp_error *error)
{
    char pair[LONGEST_LIST];
    bool ok = true;
    if (strlen(text) >= sizeof pair)
        return sp_fail(error, SP_INPUT, "--%s: too long", option);
    snprintf(pair, sizeof pair, "%s", text);
    if (several)
        return take_pair(r, option, pair, error);
    while (ok && sp_next_item(&text, pair, sizeof pair))
        ok = take_pair(r, option, pair, error);
    return ok;
}

/* --fix and --only, then --max-... */
static bool read_restrictions(const struct sp_args *args, struct sp_search_space *space,
                              struct sp_error *error)
{
    struct restricted so_far = {.space = space};
    for (int i = 0; i < args->n_repeated; i++) {
        const enum sp_option_id id = args->repeated_id[i];
        if (id == SP_O_set_var)
            continue; /* a name of --from's script */
        if (!take_pairs(&so_far, sp_option_name(id), args->repeated[i], id == SP_O_only, error))
            return false;
    }
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const struct sp_plan_field *const f = &sp_plan_fields[i];
        if (f->most && args->given_at[sp_option_of_most(i)])
            degree_of(space, f)->most = (int64_t)sp_number_at(args, sp_option_of_most(i));
    }
    return true;
}

/* What the framework runs, or anything, before the user's own words. */
static void open_dimensions(const struct sp_planned *base, bool any, struct sp_search_space *space)
{
    const struct sp_repertoire runs = sp_repertoire_of(base, any);
    memcpy(space->schedule, runs.schedule, sizeof space->schedule);
    memcpy(space->policy, runs.policy, sizeof space->policy);
    memcpy(space->zero, runs.zero, sizeof space->zero);
    memcpy(space->dispatch, runs.dispatch, sizeof space->dispatch);
    const bool overlaps = base->framework.framework.execution.moe_overlap;
    space->moe_overlap[0] = !overlaps || any;
    space->moe_overlap[1] = overlaps || runs.moe_overlap;
    if (!runs.pipelines)
        space->pp = (struct sp_degree){.n = 1, .value = {1}};
    for (int i = 0; i < 2; i++)
        space->sequence_parallel[i] = space->stages_inside[i] = true;
    space->offload[0] = true;
    space->offload[1] = runs.offload;
}

/* Why sp_open_space had no room, which it leaves in its counts. */
static bool refuse_space(const struct sp_planned *base, const struct sp_search_space *space,
                         struct sp_error *error)
{
    const struct {
        int64_t number;
        const char *what, *limit;
        int room;
        bool full;
    } reasons[] = {
        {sp_chips(&base->hw), "devices have more divisors", "choose a rounder number",
         SP_SEARCH_LISTED, space->n_divisor < 0 || space->n_tp < 0 || space->n_cp < 0},
        {base->model.moe.experts, "experts have more divisors", "limit them with --max-ep",
         SP_SEARCH_LISTED, space->n_ep < 0},
        {base->plan.batch, "sequences have more divisors",
         "choose a rounder number, or limit them with --max-micro-batch", SP_SEARCH_LISTED,
         space->n_micro < 0},
        {sp_chips(&base->hw), "devices make more numbers of stages",
         "limit them with --max-pp or --only pp=...", SP_SEARCH_SPLITS,
         space->n_pp < 0 || space->n_pp > SP_SEARCH_SPLITS},
        {base->model.layers, "layers make more combinations of a schedule and chunks of a stage",
         "limit them with --max-vpp or --only vpp=...", SP_SEARCH_FLOWS, true},
    };
    size_t i = 0;
    while (!reasons[i].full)
        i++;
    return sp_fail(error, SP_INPUT, "the %lld %s than a search takes (%d): %s",
                   (long long)reasons[i].number, reasons[i].what, reasons[i].room,
                   reasons[i].limit);
}

bool sp_space_of(const struct sp_args *args, const struct sp_planned *base,
                 struct sp_search_space *space, struct sp_error *error)
{
    const double given = args->value.max_memory;
    *space = (struct sp_search_space){
        .in = sp_inputs_of(base),
        .seq = base->plan.seq,
        .batch = base->plan.batch,
        .dtype = base->plan.dtype,
        .imbalance = 1,
        .recompute_layers = 1,
        .most_bytes =
            isnan(given) ? sp_memory_limit_bytes(&base->hw.chip, args->value.headroom) : given,
    };
    open_dimensions(base, args->given.any, space);
    if (!read_restrictions(args, space, error))
        return false;
    if (space->offload[1] && !(base->hw.chip.pcie_bytes_per_s > 0))
        return sp_fail(error, SP_INPUT,
                       "offload: %s: chip.pcie_bytes_per_s is not known; --set "
                       "hw.chip.pcie_bytes_per_s",
                       base->hw.name);
    if (!sp_model_has_shape(&base->model))
        return sp_fail(error, SP_INPUT, "the shape of %s is not known", base->model.name);
    return sp_open_space(space) || refuse_space(base, space, error);
}

void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned)
{
    *planned = *base;
    planned->plan = found->plan;
}
