/* Goals of `need` and `sensitivity`: parsed, and evaluated on a machine. */
#include "cli/goal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/names.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/plan_fields.h"
#include "study/shapes.h"

/* clang-format off */
const struct sp_aim_info sp_aims[SP_AIMS] = {
    [SP_AIM_COMPUTE_BOUND] = {"compute-bound", "communication time over arithmetic time", SP_NUMBER, false, false},
    [SP_AIM_FITS] = {"fits", "the memory share of the fullest device", SP_NUMBER, false, false},
    [SP_AIM_STEP] = {"step", "the step time", SP_SECONDS, false, false},
    [SP_AIM_DAYS] = {"days", "the run time", SP_DAYS, false, true},
    [SP_AIM_COST] = {"cost", "the run cost", SP_USD, false, true},
    [SP_AIM_MFU] = {"mfu", "the MFU", SP_FRACTION, true, false},
    [SP_AIM_TOKENS] = {"tokens-per-s", "the training throughput", SP_TOKENS_PER_S, true, false},
    [SP_AIM_TPOT] = {"tpot", "the time per output token", SP_SECONDS, false, false},
    [SP_AIM_TTFT] = {"ttft", "the time to the first token", SP_SECONDS, false, false},
    [SP_AIM_SERVED] = {"served-tokens-per-s", "the generation throughput", SP_TOKENS_PER_S, true, false},
    [SP_AIM_SERVED_COST] = {"usd-per-mtoken", "the cost of a million tokens, read or generated,", SP_USD, false, false},
};
/* clang-format on */

/* A verdict is either met or not: its target is 1, and is never typed. */
static bool is_verdict(enum sp_aim_kind kind)
{
    return kind == SP_AIM_COMPUTE_BOUND || kind == SP_AIM_FITS;
}

enum sp_unit sp_unit_of_figure(enum sp_machine_figure figure)
{
    switch (figure) {
    case SP_FIGURE_HBM:
        return SP_BYTES;
    case SP_FIGURE_PRICE:
        return SP_USD;
    case SP_FIGURE_DOMAIN:
    case SP_FIGURE_CHIPS:
        return SP_COUNT;
    default:
        return figure < SP_FIGURE_HBM_RATE ? SP_FLOPS_PER_S : SP_BYTES_PER_S;
    }
}

static bool find_kind(const char *name, struct sp_aim *aim, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = name};
    char goals[256] = "";
    for (int i = 0; i < SP_AIMS; i++) {
        if (sp_is_named(name, sp_aims[i].name)) {
            aim->of.kind = (enum sp_aim_kind)i;
            return true;
        }
        sp_append(goals, sizeof goals, "%s%s", goals[0] ? ", " : "", sp_aims[i].name);
        sp_nearest_offer(&nearest, sp_aims[i].name);
    }
    return sp_fail(error, SP_INPUT, "--for: unknown goal \"%s\"%s: %s", sp_safe(name),
                   sp_nearest_hint(&nearest), goals);
}

/* The value after a goal's name: a number above 0, in the goal's unit if it has one. */
static bool read_target(const struct sp_aim_info *info, const char *value, double *target,
                        struct sp_error *error)
{
    static const char *const units[SP_UNITS] = {
        [SP_SECONDS] = "s", [SP_FRACTION] = "%", [SP_TOKENS_PER_S] = "tokens"};
    const char *const own = units[info->unit];
    if (!sp_parse_number(value, target) || !(*target > 0 && *target < 1e18))
        return sp_fail(error, SP_INPUT, "--for %s: \"%s\": expected a number above 0%s", info->name,
                       sp_safe(value), strchr(value, ',') ? "; give one goal at a time" : "");
    const char *const unit = sp_unit_of_number(value);
    if (*unit && (!own || strcmp(unit, own) != 0))
        return sp_fail(error, SP_INPUT, "--for %s: \"%s\" is in %s; expected %s%s", info->name,
                       sp_safe(value), sp_safe(unit), own ? "a number in " : "a plain number",
                       own ? own : "");
    return info->unit != SP_FRACTION || *target <= 1 ||
           sp_fail(error, SP_INPUT,
                   "--for %s: \"%s\" is above 1; expected a share, such as 45%% or 0.45",
                   info->name, sp_safe(value));
}

/* --for: "step=5s", "fits"; without a target only its name. */
static bool read_goal(struct sp_aim *aim, bool with_target, struct sp_error *error)
{
    char text[128];
    const char *const given = aim->args->value.goal;
    if (!given)
        return sp_fail(error, SP_USAGE, "--for GOAL is needed, such as step=5s or fits");
    snprintf(text, sizeof text, "%s", given);
    const char *const value = sp_cut_pair(text);
    if (!find_kind(text, aim, error))
        return false;
    const struct sp_aim_info *const info = &sp_aims[aim->of.kind];
    const bool takes = with_target && !is_verdict(aim->of.kind);
    aim->of.at_least = aim->demand.at_least = info->at_least;
    aim->demand.target = 1;
    if (takes != (value != NULL))
        return sp_fail(error, SP_INPUT, "--for %s: %s", info->name,
                       takes ? "give a value, such as step=5s, days=30, mfu=45%"
                             : "it takes no value");
    if (value && !read_target(info, value, &aim->demand.target, error))
        return false;
    return !info->needs_tokens || aim->args->value.tokens > 0 ||
           sp_fail(error, SP_USAGE, "--for %s needs --tokens", info->name);
}

/* Whether any of the words belongs to the plan itself. */
static bool says_plan(const struct sp_args *args)
{
    bool said = false;
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        said = said || args->given_at[sp_option_of_field(i)];
    return said;
}

/* The plan that is kept fixed: the typed one, else the best of all that fit, else, if none fits,
 * the one that `step` infers. A policy that changes with 10 % less memory would distort the effect
 * of a figure; --replan searches again, and is refused with a typed plan. */
static bool take_plan(struct sp_aim *aim, const struct sp_sources *sources, struct sp_error *error)
{
    struct sp_planned *const p = &aim->of.planned;
    struct sp_search_space space;
    if (!sp_base_of(aim->args, sources, p, error))
        return false;
    if (!sp_needs_layers(&p->model, error))
        return false;
    if (says_plan(aim->args) && aim->of.replan && aim->inverse)
        return sp_fail(error, SP_USAGE,
                       "--replan searches for the best plan and excludes one of your own; --fix "
                       "tp=8 keeps a degree");
    aim->of.is_typed = says_plan(aim->args);
    if (aim->of.is_typed)
        return sp_plan_on(aim->args, sources, p, error);
    const int before = error->lines;
    aim->places =
        sp_load_places((enum sp_network_kind)p->hw.network.kind, sources, &aim->of.ground.n, error);
    aim->of.ground.places = aim->places;
    if (error->lines > before || !sp_space_of(p, &aim->of.limits, &space, error))
        return false;
    aim->of.searched = sp_find_best_plan(&aim->of, p, &aim->of.is_empty);
    aim->of.is_empty = aim->of.is_empty && aim->inverse;
    aim->of.replan = aim->of.replan || aim->of.is_empty; /* other machines may have plans */
    return aim->of.searched || aim->of.is_empty || sp_plan_on(aim->args, sources, p, error);
}

static bool take_price(struct sp_aim *aim, struct sp_error *error)
{
    struct sp_hardware *const hw = &aim->of.planned.hw;
    const struct sp_hardware *const one = hw;
    const char *const spec = aim->args->value.hw;
    const double usd_per_h = aim->of.planned.problem.price.usd_per_h;
    if (!sp_check_price(aim->args, &one, &spec, 1, error))
        return false;
    hw->chip.price_usd_per_h = usd_per_h;
    return aim->of.kind != SP_AIM_COST || usd_per_h > 0 ||
           sp_fail(error, SP_INPUT, "--for cost: %s has no list price: give --price", hw->name);
}

const struct sp_hardware *sp_machine_of_aim(const struct sp_aim *aim)
{
    return aim->of.kind == SP_AIM_COMPUTE_BOUND ? &aim->fit.hw
           : sp_is_served(aim->of.kind)         ? &aim->serve.hw
                                                : &aim->of.planned.hw;
}

/* Options of a service have no meaning for a training run. */
static bool check_words(const struct sp_args *args, struct sp_error *error)
{
    static const struct sp_taken served[] = {SP_OPTIONS_SERVED};
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        if (args->given_at[served[i].id])
            return sp_fail(
                error, SP_USAGE,
                "--%s is for serving goals: tpot, ttft, served-tokens-per-s, usd-per-mtoken",
                sp_option_name(served[i].id));
    return true;
}

/* Inputs of a verdict by the closed forms. */
static bool take_closed_forms(struct sp_aim *aim, struct sp_error *error)
{
    if (aim->of.power_prior)
        return sp_fail(
            error, SP_USAGE,
            "--power-prior is for goals of the estimate: closed forms have no constants");
    if (!sp_load_fit(aim->args, &aim->layers, &aim->fit, error))
        return false;
    aim->of.fit = aim->fit.in;
    aim->of.strategy_kind = (enum sp_strategy_kind)aim->fit.only;
    aim->demand.peaks[aim->fit.t.dtype] = true;
    aim->of.mesh = sp_fit_best(&aim->fit.in, &aim->fit.t, ~0U);
    return !isnan(sp_aimed_value(&aim->fit.hw, &aim->of)) ||
           sp_fail(error, SP_INPUT, "--strategy: it has no meaning on %s", aim->fit.hw.name);
}

/* The inputs from which the goal's value is computed. */
static bool take_goal(struct sp_aim *aim, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(aim->args);
    if (aim->of.kind == SP_AIM_COMPUTE_BOUND)
        return take_closed_forms(aim, error);
    if (aim->of.strategy)
        return sp_fail(
            error, SP_USAGE,
            "--strategy is for --for compute-bound; other goals take degrees, such as --tp 8");
    if (sp_is_served(aim->of.kind))
        return sp_take_service(aim, error);
    if (!sp_space_limits_of(aim->args, &aim->of.limits, error) ||
        !take_plan(aim, &sources, error) || !take_price(aim, error))
        return false;
    aim->demand.peaks[sp_compute_dtype(&aim->of.planned.hw.chip, aim->of.planned.plan.dtype)] =
        true;
    return true;
}

bool sp_take_aim(const struct sp_args *args, bool with_target, struct sp_aim *aim,
                 struct sp_error *error)
{
    *aim = (struct sp_aim){.args = args, .inverse = with_target};
    aim->of = (struct sp_aimed){.replan = args->given.replan,
                                .power_prior = args->given.power_prior,
                                .strategy = args->given.strategy,
                                .convention = (enum sp_flop_convention)args->value.convention,
                                .value_of_service = sp_value_of_service,
                                .service = aim};
    aim->demand = (struct sp_demand){.value = sp_aimed_value, .context = &aim->of};
    if (!read_goal(aim, with_target, error))
        return false;
    if (!sp_is_served(aim->of.kind) && !check_words(args, error))
        return false;
    aim->of.hw = sp_machine_of_aim(aim);
    if (!take_goal(aim, error))
        return false;
    aim->demand.sparse = aim->of.replan;
    if (!aim->of.is_empty)
        sp_find_peaks(&aim->of, aim->demand.peaks);
    return true;
}

void sp_close_aim(struct sp_aim *aim)
{
    free(aim->places);
}
