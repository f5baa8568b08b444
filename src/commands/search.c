/* search: the best plans among all valid ones, proven. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "host/interrupt.h"
#include "cli/companions.h"
#include "cli/space_options.h"
#include "cli/tuning.h"
#include "commands/plot_data.h"
#include "commands/search.h"

static const char *const fronts[] = {"step,memory", "step,memory,cost", NULL};
static const char *const finds[] = {"devices", "batch", "seq", "model", NULL};

static const struct sp_taken options[] = {
    SP_TAKE(from),
    SP_TAKE(set_var),
    SP_OPTIONS_MODEL,
    SP_TAKE(hw),
    SP_OPTION_NETWORK,
    SP_OPTIONS_BATCH,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_SPACE_OPTIONS,
    SP_OPTIONS_STACK,
    SP_TAKE(objective, .fallback = "step", .choices = sp_goal_names),
    SP_TAKE(robust),
    SP_TAKE(pareto, .choices = fronts),
    SP_TAKE(top, .fallback = "5"),
    SP_TAKE(meshes),
    SP_TAKE(near),
    SP_TAKE(explain_rejects),
    SP_TAKE(find, .choices = finds),
    SP_TAKE(days, .alias = "deadline"),
    SP_TAKE(max_step),
    SP_OPTION_RUN_TOKENS,
    SP_OPTIONS_PRICE,
    SP_TAKE(budget),
    SP_TAKE(any),
    SP_TAKE(exhaustive),
    SP_TAKE(shard),
    SP_OPTION_CONVENTION,
    SP_TAKE(threads),
    SP_TAKE(timings),
    SP_TAKE(check),
    SP_OPTION_PLOT,
};

static bool read_shard(const struct sp_args *args, struct sp_search_run *run,
                       struct sp_error *error)
{
    const char *const text = args->value.shard;
    int part, parts;
    run->shards = 1;
    if (!text)
        return true;
    if (!sp_parse_part(text, &part, &parts) || parts > 1000000)
        return sp_fail(error, SP_INPUT, "--shard: \"%s\" is not I/N, such as 3/16", sp_safe(text));
    run->shard = part - 1;
    run->shards = parts;
    return true;
}

/* The machine that a name of --hw stands for. */
static bool open_machine(struct sp_searching *s, const struct sp_sources *sources, const char *hw,
                         struct sp_error *error)
{
    struct sp_search *const of = &s->of;
    struct sp_candidate *const m = sp_add_machine(of);
    if (!m)
        return sp_fail(error, SP_INPUT, "--hw: more than %d machines", SP_MAX_MACHINES);
    if (!*hw)
        return sp_fail(error, SP_INPUT, "--hw %s: an empty name in the list",
                       sp_safe(s->args->value.hw));
    if (strlen(hw) >= sizeof m->hw)
        return sp_fail(error, SP_INPUT, "--hw: \"%s\" is too long", sp_safe(hw));
    snprintf(m->hw, sizeof m->hw, "%s", hw);
    struct sp_args *const args = sp_new_args(NULL);
    *args = *s->args;
    args->value.hw = args->text[SP_O_hw] = m->hw;
    const bool loaded = sp_base_of(args, sources, &m->base, error);
    free(args);
    struct sp_price *const price = &s->price[of->machines - 1];
    if (!loaded || !sp_open_machine(of, m, error) ||
        !sp_price_of(s->args, &m->base.hw, m->hw, price, error))
        return false;
    m->usd_per_h = price->usd_per_h;
    const bool cost = of->goal == SP_GOAL_COST || of->front_has_cost;
    return !cost || !isnan(m->usd_per_h) ||
           sp_fail(error, SP_INPUT, "no price of %s is known: give --price", m->base.hw.name);
}

/* What --price says is of these machines. */
static bool check_prices(const struct sp_searching *s, struct sp_error *error)
{
    const struct sp_hardware *hw[SP_MAX_MACHINES];
    const char *specs[SP_MAX_MACHINES];
    for (int i = 0; i < s->of.machines; i++) {
        hw[i] = &s->of.machine[i]->base.hw;
        specs[i] = s->of.machine[i]->hw;
    }
    return sp_check_price(s->args, hw, specs, s->of.machines, error);
}

/* Options that ask another question than the list of plans, and those that shape that list. */
static const enum sp_option_id questions[] = {SP_O_find, SP_O_near, SP_O_explain_rejects,
                                              SP_NO_OPTION};
static const enum sp_option_id of_the_list[] = {SP_O_shard,  SP_O_pareto, SP_O_objective, SP_O_top,
                                                SP_O_meshes, SP_O_robust, SP_NO_OPTION};

/* The plan of --from is ranked among all plans of the space, not among one per mesh. */
static bool wants_all_plans(const struct sp_args *args)
{
    const char *const meshes = args->value.meshes;
    return meshes && strcmp(meshes, "all") == 0;
}

/* Refuses options that would change nothing: a typed word was meant to change something. */
static bool check_options(const struct sp_args *args, struct sp_error *error)
{
    const char *asked = NULL;
    for (int i = 0; questions[i] != SP_NO_OPTION; i++) {
        if (!args->given_at[questions[i]])
            continue;
        if (asked)
            return sp_fail(error, SP_USAGE, "--%s and --%s are two questions: ask one", asked,
                           sp_option_name(questions[i]));
        asked = sp_option_name(questions[i]);
    }
    for (int i = 0; asked && of_the_list[i] != SP_NO_OPTION; i++)
        if (args->given_at[of_the_list[i]])
            return sp_fail(error, SP_USAGE, "--%s makes no difference to --%s: leave it out",
                           sp_option_name(of_the_list[i]), asked);
    const int find = args->value.find;
    const bool beside = args->given.reference || args->given.teacher;
    if (find >= 0 && strcmp(finds[find], "model") == 0 && beside)
        return sp_fail(error, SP_USAGE,
                       "--find model: the model beside it would stay as deep as it is: leave out "
                       "--reference and --teacher");
    if (asked && args->value.hw && strchr(args->value.hw, ','))
        return sp_fail(error, SP_USAGE, "--%s is about one machine, --hw names several", asked);
    const bool smallest = args->value.objective == SP_GOAL_MEMORY;
    if (args->given.robust && (smallest || args->given.pareto))
        return sp_fail(error, SP_USAGE, "--robust makes no difference to --%s: leave it out",
                       smallest ? "objective memory" : "pareto");
    const char *const meshes = args->value.meshes;
    if (meshes && *meshes && strcmp(meshes, "best") != 0 && !wants_all_plans(args))
        return sp_fail(error, SP_INPUT, "--meshes: \"%s\": expected best or all", sp_safe(meshes));
    const char *const limit = args->given.days ? "days" : args->given.max_step ? "max-step" : NULL;
    if (limit && !args->given.find)
        return sp_fail(error, SP_USAGE, "--%s needs --find", limit);
    return !args->given.days || args->given.tokens ||
           sp_fail(error, SP_USAGE, "--days needs --tokens");
}

bool sp_open_search(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_report *report, struct sp_searching *s, struct sp_error *error)
{
    const char *list = args->value.hw;
    const double threads = args->value.threads;
    struct sp_search *const of = &s->of;
    *s = (struct sp_searching){.args = args, .report = report, .timings = args->given.timings};
    of->goal = (enum sp_goal)args->value.objective;
    of->robust = args->given.robust;
    of->convention = (enum sp_flop_convention)args->value.convention;
    of->run = (struct sp_search_run){.exhaustive = args->given.exhaustive,
                                     .meshes = !wants_all_plans(args),
                                     .front = args->value.pareto >= 0,
                                     .wanted = (int)args->value.top,
                                     .stop = sp_interrupt_flag,
                                     .threads = isnan(threads) ? 0 : (int)threads};
    of->front_has_cost = of->run.front && strstr(args->text[SP_O_pareto], "cost");
    if (!check_options(args, error) || !read_shard(args, &of->run, error))
        return false;
    if (!list)
        return sp_fail(error, SP_USAGE,
                       "--hw NAME-CHIPS is needed, such as h100-512 or h100-1024,v5p-2048; "
                       "`scaleplan list hardware` shows the names");
    if (!sp_space_limits_of(args, &of->limits, error))
        return false;
    const size_t size = strlen(list) + 1;
    char *const hw = malloc(size);
    if (!hw)
        abort();
    bool ok = true;
    while (ok && sp_next_item(&list, hw, size))
        ok = open_machine(s, sources, hw, error);
    free(hw);
    return ok && check_prices(s, error);
}

static bool answer(struct sp_searching *s, struct sp_error *error)
{
    const struct sp_args *const args = s->args;
    if (s->from)
        sp_put_launch(s->report, &s->from->launch);
    if (args->value.near)
        return sp_report_near(s, args->value.near, error);
    if (args->value.explain_rejects)
        return sp_report_reject(s, args->value.explain_rejects, error);
    if (args->value.find >= 0)
        return sp_report_find(s, error);
    for (int i = 0; i < s->of.machines; i++)
        sp_look(s, i);
    sp_report_search(s);
    s->listed = true;
    if (s->from && s->of.run.shards > 1)
        sp_note(s->report, "a part of a search has not all plans: the launch's is not ranked");
    else if (s->from)
        sp_report_launch(s);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_searching searching = {0};
    struct sp_search_launch *const from = calloc(1, sizeof *from);
    if (!from)
        abort();
    sp_catch_interrupt();
    bool ok = sp_open_launch(args, from, error);
    if (ok) {
        const struct sp_sources sources = sp_sources_of(&from->problem);
        ok = sp_open_search(&from->problem, &sources, report, &searching, error);
        if (from->launch.format)
            searching.from = from;
        ok = ok && answer(&searching, error);
        sp_close_search(&searching.of);
    }
    free(from);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan search --model llama3-70b --hw h100-512 --batch 1024x8192",
     "the five fastest plans of all, with the proof"},
    {"scaleplan search --model llama3-70b --hw h100-512 --batch 1024x8192 --fix pp=4 --only "
     "zero=1,3 --max-tp 8 --get plans.0.command",
     "a constrained search; the plan as a command of step"},
    {"scaleplan search --model llama3-70b --hw h100-512 --batch 1024x8192 --robust",
     "the plan whose step is shortest where the estimate's constants turn out badly"},
    {"scaleplan search --model llama3-8b --hw h100-64,v5p-128 --batch 256x8192 --tokens 1T "
     "--objective cost",
     "machines compared by what a run costs"},
    {"scaleplan search --model llama3-70b --hw h100-256 --batch 512x8192 --pareto step,memory",
     "what memory buys"},
    {"scaleplan search --model llama3-70b --hw h100-256 --batch 512x8192 --pareto step,memory "
     "--plot front.svg",
     "the same as a picture"},
    {"scaleplan search --model llama3-70b --hw h100-256 --batch 512x8192 --near tp=8,pp=4",
     "how to better a plan, or make it fit"},
    {"scaleplan search --from pretrain.sh --hw h100-64",
     "how far a launch is behind the best plan"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_search = {
    .name = "search",
    .summary = "the best of all plans of a model on a machine, proven",
    .about = "Looks at every valid plan (TP x SP x CP x EP x PP x VPP x DP, ZeRO stage and shard "
             "group, micro-batch, recomputation, schedule, placement, offload), judged as `step` "
             "judges them. Branches that provably hold nothing better are ruled out, never "
             "guessed: the answer is the optimum under the model, and the report says how many "
             "plans there are and what became of them (docs/search.md).",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "fits",
    .run = run,
    .plot = sp_plot_search,
};
