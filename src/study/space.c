/* The space of a search, from problem, framework and limits. */
#include "study/space.h"

#include <math.h>
#include <string.h>

#include "study/shapes.h"

bool sp_allow_value(struct sp_space_limits *limits, enum sp_plan_field_id field, int64_t value)
{
    int *const n = &limits->values[field];
    for (int i = 0; i < *n; i++)
        if (limits->value[field][i] == value)
            return true;
    if (*n == SP_SEARCH_VALUES)
        return false;
    limits->value[field][(*n)++] = value;
    return true;
}

bool sp_is_limited(const struct sp_space_limits *limits)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (limits->values[i] > 0 || limits->most[i] > 0)
            return true;
    return false;
}

/* Restricts a named dimension to these values. */
static void allow_names(bool *set, const struct sp_plan_field *field, const int64_t *value, int n)
{
    for (int i = 0; field->names[i]; i++)
        set[i] = false;
    for (int i = 0; i < n; i++)
        set[value[i]] = true;
}

static void narrow(const struct sp_space_limits *limits, struct sp_search_space *space)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[i];
        const int n = limits->values[i];
        if (i == SP_FIELD_REMAT && n > 0)
            space->open.n_modules = 0; /* a named policy is tried alone */
        void *const open = (char *)space + field->space;
        if (field->space > 0 && n > 0 && field->names)
            allow_names(open, field, limits->value[i], n);
        if (field->space == 0 || field->names)
            continue;
        struct sp_degree *const degree = open;
        if (n > 0)
            memcpy(degree->value, limits->value[i], (size_t)n * sizeof *degree->value);
        if (n > 0)
            degree->n = n;
        degree->most = limits->most[i];
    }
    /* whoever names degrees knows how to lay them out */
    space->whole_axes = space->whole_axes && limits->values[SP_FIELD_TP] == 0;
    space->even_stages = space->even_stages && limits->values[SP_FIELD_PP] == 0;
}

void sp_open_dimensions(const struct sp_planned *base, const struct sp_repertoire *runs, bool any,
                        struct sp_dimensions *open)
{
    const bool overlaps = base->framework.framework.execution.moe_overlap;
    *open = (struct sp_dimensions){.copies_kv_heads = runs->copies_kv_heads,
                                   .overlap = runs->overlap,
                                   .rounds = runs->rounds,
                                   .moe_overlap = {!overlaps || any, overlaps || runs->moe_overlap},
                                   .stages_inside = {true, true},
                                   .offload = {true, runs->offload}};
    open->n_modules = sp_module_sets(&base->model, &runs->modules, open->modules);
    memcpy(open->schedule, runs->schedule, sizeof open->schedule);
    memcpy(open->policy, runs->policy, sizeof open->policy);
    memcpy(open->zero, runs->zero, sizeof open->zero);
    memcpy(open->dispatch, runs->dispatch, sizeof open->dispatch);
    memcpy(open->cp_kind, runs->cp_kind, sizeof open->cp_kind);
    open->cp_kind[SP_CP_DYNAMIC] &= base->model.documents != NULL;
    memcpy(open->sequence_parallel, runs->sequence_parallel, sizeof open->sequence_parallel);
}

/* Opens the degrees as far as the framework lays them out. */
static void open_degrees(const struct sp_repertoire *runs, struct sp_search_space *space)
{
    static const struct sp_degree one = {.n = 1, .value = {1}};
    if (!runs->pipelines)
        space->pp = one;
    if (!runs->contexts)
        space->cp = one;
    space->whole_axes = !runs->splits_axes;
    space->even_stages = !runs->uneven_stages;
}

/* Reports why sp_open_space ran out of room. */
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

double sp_limit_of_search(const struct sp_space_limits *limits, const struct sp_planned *base,
                          enum sp_verdict worst)
{
    const double capacity = sp_capacity_bytes(&base->hw.chip);
    if (!isnan(limits->most_bytes))
        return limits->most_bytes;
    return isnan(limits->headroom)
               ? sp_most_bytes(base->framework.framework.memory_residual, capacity, worst)
               : capacity * (1 - limits->headroom);
}

bool sp_space_of(const struct sp_planned *base, const struct sp_space_limits *limits,
                 struct sp_search_space *space, struct sp_error *error)
{
    *space = (struct sp_search_space){
        .in = sp_inputs_of(base),
        .seq = base->plan.seq,
        .batch = base->plan.batch,
        .dtype = base->plan.dtype,
        .imbalance = 1,
        .recompute_layers = 1,
        .most_bytes = sp_limit_of_search(limits, base, SP_VERDICT_YES),
    };
    const struct sp_repertoire runs = sp_repertoire_of(base, limits->any);
    sp_open_dimensions(base, &runs, limits->any, &space->open);
    open_degrees(&runs, space);
    narrow(limits, space);
    space->open.chooses_kept = limits->moves;
    if (limits->moves)
        space->open.kept = sp_kept_space_of(&space->open, &runs, true);
    if ((space->open.offload[1] || limits->moves) && !(sp_host_bytes_per_s(&base->hw.chip) > 0))
        return sp_fail(error, SP_INPUT,
                       "offload: %s: chip.pcie_bytes_per_s is not known; --set "
                       "hw.chip.pcie_bytes_per_s",
                       base->hw.name);
    if (!sp_needs_layers(&base->model, error))
        return false;
    return sp_open_space(space) || refuse_space(base, space, error);
}

void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned)
{
    *planned = *base;
    planned->plan = found->plan;
}
