/* Goals of `need` and `sensitivity`: read, and valued on a machine. */
#include "commands/aim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/names.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"
#include "cli/plan_fields.h"

/* clang-format off */
const struct sp_aim_info sp_aims[SP_AIMS] = {
    [SP_AIM_COMPUTE_BOUND] = {"compute-bound", "communication over the arithmetic it hides behind", SP_NUMBER, false, false, SP_Q_NEED_VALUE, SP_Q_NEED_TARGET},
    [SP_AIM_FITS] = {"fits", "memory of the fullest device over what there is", SP_NUMBER, false, false, SP_Q_NEED_VALUE, SP_Q_NEED_TARGET},
    [SP_AIM_STEP] = {"step", "time of a step", SP_SECONDS, false, false, SP_Q_NEED_VALUE_S, SP_Q_NEED_TARGET_S},
    [SP_AIM_DAYS] = {"days", "days of the run", SP_DAYS, false, true, SP_Q_NEED_VALUE_DAYS, SP_Q_NEED_TARGET_DAYS},
    [SP_AIM_COST] = {"cost", "cost of the run", SP_USD, false, true, SP_Q_NEED_VALUE_USD, SP_Q_NEED_TARGET_USD},
    [SP_AIM_MFU] = {"mfu", "model FLOPs utilisation", SP_FRACTION, true, false, SP_Q_NEED_VALUE_SHARE, SP_Q_NEED_TARGET_SHARE},
    [SP_AIM_TOKENS] = {"tokens-per-s", "tokens a second", SP_TOKENS_PER_S, true, false, SP_Q_NEED_VALUE_TOKENS, SP_Q_NEED_TARGET_TOKENS},
    [SP_AIM_TPOT] = {"tpot", "time between tokens", SP_SECONDS, false, false, SP_Q_NEED_VALUE_S, SP_Q_NEED_TARGET_S},
    [SP_AIM_TTFT] = {"ttft", "time to the first token", SP_SECONDS, false, false, SP_Q_NEED_VALUE_S, SP_Q_NEED_TARGET_S},
    [SP_AIM_SERVED] = {"served-tokens-per-s", "tokens generated a second", SP_TOKENS_PER_S, true, false, SP_Q_NEED_VALUE_TOKENS, SP_Q_NEED_TARGET_TOKENS},
    [SP_AIM_SERVED_COST] = {"usd-per-mtoken", "cost of a million tokens, read or generated", SP_USD, false, false, SP_Q_NEED_VALUE_USD, SP_Q_NEED_TARGET_USD},
};
/* clang-format on */

/* A verdict is met or not: its target is 1 and nobody types it. */
static bool is_verdict(enum sp_aim_kind kind)
{
    return kind == SP_AIM_COMPUTE_BOUND || kind == SP_AIM_FITS;
}

enum sp_unit sp_unit_of_figure(enum sp_machine_figure figure)
{
    static const enum sp_unit units[SP_FIGURES] = {
        [SP_FIGURE_PEAK] = SP_FLOPS_PER_S,
        [SP_FIGURE_HBM_RATE] = SP_BYTES_PER_S,
        [SP_FIGURE_HBM] = SP_BYTES,
        [SP_FIGURE_LINK] = SP_BYTES_PER_S,
        [SP_FIGURE_DCN] = SP_BYTES_PER_S,
        [SP_FIGURE_DOMAIN_RATE] = SP_BYTES_PER_S,
        [SP_FIGURE_SCALEOUT] = SP_BYTES_PER_S,
        [SP_FIGURE_HOST_LINK] = SP_BYTES_PER_S,
        [SP_FIGURE_PRICE] = SP_USD,
        [SP_FIGURE_DOMAIN] = SP_COUNT,
        [SP_FIGURE_CHIPS] = SP_COUNT,
    };
    return units[figure];
}

/* How a strategy fares on a machine by the closed forms: the one that is asked for, the best mesh
 * of every machine, or the one that is held, with as many replicas or shards as there are chips
 * for. */
static double comms_over_math(const struct sp_hardware *hw, const struct sp_aim *aim)
{
    struct sp_fit_input in = aim->fit.in;
    in.hw = hw;
    if (!aim->strategy)
        in.axes = 0; /* as sp_fit_best */
    const struct sp_fit_terms terms = sp_fit_terms(&in);
    const struct sp_degrees degrees = {.tp = aim->mesh.tp, .pp = aim->mesh.pp};
    const struct sp_strategy s =
        aim->strategy ? sp_fit_strategy(&in, &terms, (enum sp_strategy_kind)aim->fit.only)
        : aim->replan ? sp_fit_quietest(&in, &terms)
                      : sp_fit_mesh(&in, &terms, aim->mesh.kind, &degrees, true);
    return s.exists ? s.comms_over_math : aim->replan ? INFINITY : NAN;
}

/* The plan of a run on a machine of another size: other replicas. False: they do not share the
 * batch, or the plan has no meaning there. */
static bool take_chips(const struct sp_planned *held, struct sp_planned *p)
{
    const int64_t was = sp_chips(&held->hw), is = sp_chips(&p->hw);
    const int64_t others = was / p->plan.dp;
    const bool whole = p->plan.shards == sp_default_shards(&held->plan, held->hw.slices);
    if (was == is)
        return true;
    p->plan.dp = is / others;
    if (p->plan.dp * others != is)
        return false;
    memset(p->plan.tp_axes, 0, sizeof p->plan.tp_axes);
    if (whole)
        p->plan.shards = sp_default_shards(&p->plan, p->hw.slices);
    return sp_check_plan(&p->model, &p->plan, is, p->hw.slices) == SP_PLAN_OK;
}

/* The constants as far as what is expected of the chip moves them. */
static void move_constants(const struct sp_planned *held, struct sp_planned *p)
{
    struct sp_profile other = p->profile;
    sp_expect_constants(&p->hw, &p->framework.framework, &other);
    for (int c = 0; c < SP_CONSTANTS; c++)
        p->profile.value[c] = sp_constant_in_bounds(c, held->profile.value[c] * other.expected[c] /
                                                           held->profile.expected[c]);
}

/* The best plan of a machine; false where none fits. */
static bool find_best(const struct sp_aim *aim, struct sp_planned *p)
{
    struct sp_search_space space;
    struct sp_search_result result;
    struct sp_error error = {0};
    const struct sp_search_run run = {.wanted = 1, .shards = 1};
    if (!sp_space_of(aim->args, p, &space, &error))
        return false;
    if (aim->kind == SP_AIM_FITS) {
        space.objective = SP_LEAST_MEMORY;
        space.most_bytes = INFINITY;
    }
    sp_run_search(&space, &run, &result);
    if (result.best.n > 0)
        p->plan = result.best.found[0].plan;
    return result.best.n > 0;
}

/* The goal's value of an estimate. */
static double value_of(const struct sp_aim *aim, const struct sp_planned *p,
                       const struct sp_estimate *e)
{
    const double run_s = aim->tokens / e->rates.tokens_per_s;
    switch (aim->kind) {
    case SP_AIM_FITS:
        return (double)e->memory.device / e->capacity_bytes;
    case SP_AIM_DAYS:
        return run_s / 86400;
    case SP_AIM_COST:
        return (double)sp_chips(&p->hw) * run_s / 3600 * p->hw.chip.price_usd_per_h;
    case SP_AIM_MFU:
        return e->rates.mfu;
    case SP_AIM_TOKENS:
        return e->rates.tokens_per_s;
    default:
        return e->time.step;
    }
}

/* What the goal comes to on a machine. */
static double value_on(const struct sp_hardware *hw, void *context)
{
    const struct sp_aim *const aim = context;
    struct sp_estimate e;
    if (aim->kind == SP_AIM_COMPUTE_BOUND)
        return comms_over_math(hw, aim);
    if (sp_is_served(aim))
        return sp_value_of_service(aim, hw);
    struct sp_planned p = aim->planned;
    p.hw = *hw;
    if (aim->power_prior)
        move_constants(&aim->planned, &p);
    if (aim->replan ? !find_best(aim, &p) : !take_chips(&aim->planned, &p))
        return !aim->replan ? NAN : sp_aims[aim->kind].at_least ? 0 : INFINITY;
    const struct sp_step_inputs in = sp_inputs_of(&p);
    sp_estimate(&in, aim->convention, NULL, &e);
    return value_of(aim, &p, &e);
}

static bool find_kind(const char *name, struct sp_aim *aim, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = name};
    char goals[256] = "";
    for (int i = 0; i < SP_AIMS; i++) {
        if (strcmp(sp_aims[i].name, name) == 0) {
            aim->kind = (enum sp_aim_kind)i;
            return true;
        }
        const size_t n = strlen(goals);
        snprintf(goals + n, sizeof goals - n, "%s%s", n > 0 ? ", " : "", sp_aims[i].name);
        sp_nearest_offer(&nearest, sp_aims[i].name);
    }
    return sp_fail(error, SP_INPUT, "--for: \"%s\" is no goal%s: %s", sp_safe(name),
                   sp_nearest_hint(&nearest), goals);
}

/* --for: "step=5s", "fits"; without a target its name alone. */
static bool read_goal(struct sp_aim *aim, bool with_target, struct sp_error *error)
{
    char text[128];
    const char *const given = sp_text_of(aim->args, "for");
    if (!given)
        return sp_fail(error, SP_USAGE, "--for GOAL is needed, such as step=5s or fits");
    snprintf(text, sizeof text, "%s", given);
    const char *const value = sp_cut_pair(text);
    if (!find_kind(text, aim, error))
        return false;
    const struct sp_aim_info *const info = &sp_aims[aim->kind];
    const bool takes = with_target && !is_verdict(aim->kind);
    aim->demand.at_least = info->at_least;
    aim->demand.target = 1;
    if (takes != (value != NULL))
        return sp_fail(error, SP_INPUT, "--for %s: %s", info->name,
                       takes ? "what it is to be stands behind it, such as step=5s, days=30, "
                               "mfu=45%"
                             : "it takes no value");
    if (value && (!sp_parse_number(value, &aim->demand.target) ||
                  !(aim->demand.target > 0 && aim->demand.target < 1e18)))
        return sp_fail(error, SP_INPUT, "--for %s: \"%s\" is no number above 0", info->name,
                       sp_safe(value));
    return !info->needs_tokens || aim->tokens > 0 ||
           sp_fail(error, SP_USAGE, "--for %s is of a run: --tokens is needed", info->name);
}

/* Whether the words say anything of the plan itself. */
static bool says_plan(const struct sp_args *args)
{
    bool said = false;
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        said = said || sp_given(args, sp_plan_fields[i].name);
    return said;
}

/* The plan that is held: the one that is typed, else the best of all that fit, else, where none
 * does, what `step` infers. Where a figure is looked for it is either held or looked for anew. */
static bool take_plan(struct sp_aim *aim, const struct sp_sources *sources, struct sp_error *error)
{
    struct sp_planned *const p = &aim->planned;
    struct sp_search_space space;
    if (!sp_base_of(aim->args, sources, p, error))
        return false;
    if (!sp_model_has_shape(&p->model))
        return sp_fail(error, SP_INPUT, "the shape of %s is not known", p->model.name);
    if (says_plan(aim->args) && aim->replan && aim->inverse)
        return sp_fail(error, SP_USAGE,
                       "--replan looks for the best plan itself, and here is one that is typed: "
                       "--fix tp=8 keeps a degree in every plan");
    if (says_plan(aim->args))
        return sp_plan_on(aim->args, p, error);
    if (!sp_space_of(aim->args, p, &space, error))
        return false;
    aim->searched = find_best(aim, p);
    return aim->searched || sp_plan_on(aim->args, p, error);
}

static bool take_price(struct sp_aim *aim, struct sp_error *error)
{
    struct sp_hardware *const hw = &aim->planned.hw;
    const struct sp_hardware *const one = hw;
    const char *const spec = sp_text_of(aim->args, "hw");
    struct sp_price price;
    if (!sp_price_of(aim->args, hw, spec, &price, error) ||
        !sp_check_price(aim->args, &one, &spec, 1, error))
        return false;
    hw->chip.price_usd_per_h = price.usd_per_h;
    return aim->kind != SP_AIM_COST || price.usd_per_h > 0 ||
           sp_fail(error, SP_INPUT, "--for cost: %s has no list price: --price is needed",
                   hw->name);
}

const struct sp_hardware *sp_machine_of_aim(const struct sp_aim *aim)
{
    return aim->kind == SP_AIM_COMPUTE_BOUND ? &aim->fit.hw
           : sp_is_served(aim)               ? &aim->serve.hw
                                             : &aim->planned.hw;
}

/* Options of a service say nothing of a training run. */
static bool check_words(const struct sp_args *args, struct sp_error *error)
{
    static const struct sp_option served[] = {SP_OPTIONS_SERVED};
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        if (sp_given(args, served[i].name))
            return sp_fail(error, SP_USAGE,
                           "--%s is of goals of serving: tpot, ttft, served-tokens-per-s, "
                           "usd-per-mtoken",
                           served[i].name);
    return true;
}

/* What a verdict of the closed forms stands on. */
static bool take_closed_forms(struct sp_aim *aim, struct sp_error *error)
{
    if (aim->strategy && aim->replan)
        return sp_fail(error, SP_USAGE,
                       "--strategy and --replan exclude each other: one strategy, or the best of "
                       "every machine");
    if (aim->power_prior)
        return sp_fail(error, SP_USAGE,
                       "--power-prior is of goals of the estimate: closed forms have no constants");
    if (!sp_load_fit(aim->args, &aim->fit, error))
        return false;
    aim->demand.dtype = aim->fit.t.dtype;
    aim->mesh = sp_fit_best(&aim->fit.in, &aim->fit.t, ~0U);
    return !isnan(value_on(&aim->fit.hw, aim)) ||
           sp_fail(error, SP_INPUT, "--strategy: it has no meaning on %s", aim->fit.hw.name);
}

bool sp_take_aim(const struct sp_args *args, bool with_target, struct sp_aim *aim,
                 struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    *aim = (struct sp_aim){.args = args,
                           .replan = sp_given(args, "replan"),
                           .power_prior = sp_given(args, "power-prior"),
                           .strategy = sp_given(args, "strategy"),
                           .inverse = with_target,
                           .tokens = sp_number_of(args, "tokens"),
                           .convention = (enum sp_flop_convention)sp_choice_of(args, "convention"),
                           .demand = {.value = value_on, .context = aim}};
    aim->demand.sparse = aim->replan;
    if (!read_goal(aim, with_target, error))
        return false;
    if (!sp_is_served(aim) && !check_words(args, error))
        return false;
    if (aim->kind == SP_AIM_COMPUTE_BOUND)
        return take_closed_forms(aim, error);
    if (aim->strategy)
        return sp_fail(error, SP_USAGE,
                       "--strategy is of --for compute-bound; other goals take "
                       "degrees, such as --tp 8");
    if (sp_is_served(aim))
        return sp_take_service(aim, error);
    if (!take_plan(aim, &sources, error) || !take_price(aim, error))
        return false;
    aim->demand.dtype = sp_compute_dtype(&aim->planned.hw.chip, aim->planned.plan.dtype);
    return true;
}

static void mesh_words(const struct sp_strategy *s, char *out, size_t size)
{
    snprintf(out, size, "%s: dp %lld fsdp %lld tp %lld pp %lld", sp_strategy_names[s->kind],
             (long long)s->dp, (long long)s->fsdp, (long long)s->tp, (long long)s->pp);
}

static void instance_words(const struct serve *f, char *out, size_t size)
{
    snprintf(out, size, "%.0f instance%s of %.0f chip%s, %.4g sequence%s each, by `serve`",
             f->replicas, f->replicas == 1 ? "" : "s", f->service.chips,
             f->service.chips == 1 ? "" : "s", f->B, f->B == 1 ? "" : "s");
}

static void plan_words(const struct sp_plan *p, char *out, size_t size)
{
    snprintf(out, size, "dp %lld tp %lld pp %lld vpp %lld cp %lld ep %lld, ZeRO %d",
             (long long)p->dp, (long long)p->tp, (long long)p->pp, (long long)p->vpp,
             (long long)p->cp, (long long)p->ep, p->zero);
}

void sp_aim_words(const struct sp_aim *aim, char *out, size_t size)
{
    const bool anew = aim->replan && aim->inverse;
    if (aim->strategy) {
        snprintf(out, size, "%s, by the closed forms of `fit`", sp_strategy_names[aim->fit.only]);
        return;
    }
    if (aim->kind == SP_AIM_COMPUTE_BOUND)
        mesh_words(&aim->mesh, out, size);
    else if (sp_is_served(aim))
        instance_words(&aim->serve, out, size);
    else
        plan_words(&aim->planned.plan, out, size);
    const size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s",
             anew                                ? ""
             : aim->kind == SP_AIM_COMPUTE_BOUND ? ", the best of `fit`"
             : aim->searched                     ? ", the best of `search`"
                                                 : "",
             anew          ? "; on every machine that is tried the best anew (--replan)"
             : aim->replan ? ", held; re-planned: the best of every machine that is tried"
                           : ", held (--replan looks anew)");
}

void sp_figure_path(const struct sp_aim *aim, enum sp_machine_figure figure,
                    char path[SP_FIGURE_PATH])
{
    const bool peak = figure == SP_FIGURE_PEAK;
    snprintf(path, SP_FIGURE_PATH, "%s%s%s", sp_figure_key(figure, sp_machine_of_aim(aim)),
             peak ? "." : "", peak ? sp_dtype_names[aim->demand.dtype] : "");
}

bool sp_read_figures(const struct sp_aim *aim, bool vary[SP_FIGURES], struct sp_error *error)
{
    const struct sp_hardware *const hw = sp_machine_of_aim(aim);
    const char *list = sp_text_of(aim->args, "vary");
    char item[SP_FIGURE_PATH], path[SP_FIGURE_PATH];
    for (int f = 0; f < SP_FIGURES; f++)
        vary[f] =
            !list && !isnan(sp_figure_value((enum sp_machine_figure)f, hw, aim->demand.dtype)) &&
            (f != SP_FIGURE_PRICE || aim->kind == SP_AIM_COST || aim->kind == SP_AIM_SERVED_COST);
    while (list && sp_next_item(&list, item, sizeof item)) {
        struct sp_nearest nearest = {.wanted = item};
        bool known = false;
        for (int f = 0; f < SP_FIGURES; f++) {
            sp_figure_path(aim, (enum sp_machine_figure)f, path);
            if (isnan(sp_figure_value((enum sp_machine_figure)f, hw, aim->demand.dtype)))
                continue;
            vary[f] = vary[f] || strcmp(path, item) == 0;
            known = known || strcmp(path, item) == 0;
            sp_nearest_offer(&nearest, path);
        }
        if (!known)
            return sp_fail(error, SP_INPUT,
                           "--vary: \"%s\" is no figure of %s that may vary%s (without --vary the "
                           "answer lists all)",
                           sp_safe(item), hw->name, sp_nearest_hint(&nearest));
    }
    return true;
}

/* A plan that is typed may not fit: its time is what it would take. */
static void note_memory(struct sp_report *r, const struct sp_aim *aim)
{
    const struct sp_step_inputs in = sp_inputs_of(&aim->planned);
    struct sp_estimate e;
    if (aim->kind == SP_AIM_COMPUTE_BOUND || aim->kind == SP_AIM_FITS)
        return;
    sp_estimate(&in, aim->convention, NULL, &e);
    if ((double)e.memory.device > e.capacity_bytes)
        sp_note(r, "the plan needs %s of a device's %s and does not fit: `need --for fits`",
                sp_human_text((double)e.memory.device, SP_BYTES),
                sp_human_text(e.capacity_bytes, SP_BYTES));
}

void sp_put_aim(struct sp_report *r, const struct sp_aim *aim, double now)
{
    const struct sp_aim_info *const info = &sp_aims[aim->kind];
    const struct sp_hardware *const hw = sp_machine_of_aim(aim);
    char words[256];
    sp_aim_words(aim, words, sizeof words);
    sp_put_text(r, SP_Q_NEED_GOAL, "%s", info->name);
    sp_put_text(r, SP_Q_NEED_MODEL, "%s",
                aim->kind == SP_AIM_COMPUTE_BOUND ? aim->fit.model.name
                : sp_is_served(aim)               ? aim->serve.model.name
                                                  : aim->planned.model.name);
    sp_put_text(r, SP_Q_NEED_HARDWARE, "%s", hw->name);
    sp_put(r, SP_Q_NEED_CHIPS, (double)sp_chips(hw));
    sp_put_text(r, SP_Q_NEED_PLAN, "%s", words);
    sp_put_bool(r, SP_Q_NEED_REPLANNED, aim->replan);
    sp_put(r, info->value, now);
    if (sp_text_of(aim->args, "for") && strchr(sp_text_of(aim->args, "for"), '='))
        sp_put(r, info->target, aim->demand.target);
    if (sp_is_served(aim))
        sp_note_service(r, aim);
    else
        note_memory(r, aim);
}
