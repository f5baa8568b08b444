/* Why a space holds no plan: each limit is lifted alone, then the batch and the devices move. */
#include "study/empty_space.h"

#include <math.h>
#include <string.h>

const char *const sp_empty_causes[] = {"option", "options", "batch", "devices", "model"};

/* Batches are tried from half of the requested one to twice as large, at most this many. */
enum { MOST_TRIED = 512 };

/* Whether there is any plan, fitting or not: the search stops at the first. */
static bool holds_plans(const struct sp_planned *base, const struct sp_space_limits *limits)
{
    struct sp_search_space space;
    struct sp_search_result result;
    struct sp_error ignored = {0};
    const struct sp_search_run run = {.wanted = 1, .shards = 1, .any = true, .enough = INFINITY};
    if (!sp_space_of(base, limits, &space, &ignored))
        return false;
    space.most_bytes = INFINITY;
    sp_run_search(&space, &run, &result);
    return result.best.n > 0;
}

static bool is_limited(const struct sp_space_limits *limits, int field)
{
    return limits->values[field] > 0 || limits->most[field] > 0;
}

/* Whether limits of dimensions alone leave nothing, and which one if it is a single one. */
static bool is_of_options(const struct sp_planned *base, const struct sp_space_limits *limits,
                          struct sp_emptied *why)
{
    struct sp_space_limits fewer = *limits;
    bool any = false;
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (is_limited(limits, i)) {
            any = true;
            fewer.values[i] = 0;
            fewer.most[i] = 0;
            why->cause = SP_EMPTY_OPTION;
            why->field = (enum sp_plan_field_id)i;
            if (holds_plans(base, &fewer))
                return true;
            fewer = *limits;
        }
    why->cause = SP_EMPTY_OPTIONS;
    memset(fewer.values, 0, sizeof fewer.values);
    memset(fewer.most, 0, sizeof fewer.most);
    return any && holds_plans(base, &fewer);
}

/* The nearest batch with plans; of two equally near ones the smaller. */
static bool is_of_batch(const struct sp_planned *base, const struct sp_space_limits *limits,
                        struct sp_emptied *why)
{
    struct sp_planned other = *base;
    const int64_t batch = base->plan.batch;
    why->cause = SP_EMPTY_BATCH;
    for (int64_t by = 1; by <= batch && by <= MOST_TRIED / 2; by++)
        for (int up = 0; up < 2; up++) {
            other.plan.batch = up ? batch + by : batch - by;
            if (2 * other.plan.batch >= batch && holds_plans(&other, limits)) {
                why->change.batch = other.plan.batch;
                return true;
            }
        }
    return false;
}

/* The nearest number of devices below with plans, down to half of them. */
static bool is_of_devices(const struct sp_planned *base, const struct sp_space_limits *limits,
                          struct sp_emptied *why)
{
    struct sp_planned other = *base;
    const int64_t all = sp_chips(&base->hw);
    why->cause = SP_EMPTY_DEVICES;
    for (int64_t n = sp_fewer_devices(&base->hw, all); 2 * n >= all && n > 0;
         n = sp_fewer_devices(&base->hw, n)) {
        other.hw = base->hw;
        if (sp_take_devices(&other.hw, n) && holds_plans(&other, limits)) {
            why->change.devices = n;
            return true;
        }
    }
    return false;
}

struct sp_emptied sp_why_empty(const struct sp_search *s, int machine,
                               const struct sp_close_by *nearby)
{
    const struct sp_planned *const base = &s->machine[machine]->base;
    struct sp_emptied why = {.field = SP_PLAN_FIELDS,
                             .change = {sp_chips(&base->hw), base->plan.batch}};
    if (nearby->batch.at || nearby->devices.at) {
        why.cause = nearby->batch.at ? SP_EMPTY_BATCH : SP_EMPTY_DEVICES;
        if (nearby->batch.at)
            why.change.batch = nearby->batch.at->base.plan.batch;
        else
            why.change.devices = sp_chips(&nearby->devices.at->base.hw);
        return why;
    }
    if (is_of_options(base, &s->limits, &why) || is_of_batch(base, &s->limits, &why) ||
        is_of_devices(base, &s->limits, &why))
        return why;
    why.cause = SP_EMPTY_MODEL;
    return why;
}
