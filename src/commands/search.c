/* search: the best plans among all valid ones, proven. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pictures/page.h"
#include "cli/against.h"
#include "cli/companions.h"
#include "cli/lines.h"
#include "cli/named_plan.h"
#include "cli/plan_rows.h"
#include "cli/search_nearby.h"
#include "cli/searching.h"
#include "cli/space_options.h"
#include "cli/tuning.h"
#include "host/interrupt.h"
#include "pictures/search.h"
#include "study/find.h"

static const char *const fronts[] = {"step,memory", "step,memory,cost", NULL};
static const char *const finds[] = {"devices", "batch", "seq", "model", NULL};

/* Options that shape the list of plans: near, explain-rejects and find ask other questions. */
#define OF_THE_LIST                                                                                \
    SP_O_shard, SP_O_pareto, SP_O_objective, SP_O_top, SP_O_meshes, SP_O_robust, SP_O_fastest

static const struct sp_taken options[] = {
    SP_OPTIONS_FROM,
    SP_OPTIONS_SIZED_MODEL,
    SP_TAKE(hw),
    SP_TAKE(idle, .excludes = SP_THESE(SP_O_near, SP_O_explain_rejects, SP_O_find, SP_O_shard,
                                       SP_O_pareto)),
    SP_OPTION_NETWORK,
    SP_OPTIONS_BATCH,
    SP_TAKE(documents),
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_SPACE_OPTIONS,
    SP_OPTIONS_STACK,
    SP_TAKE(objective, .fallback = "step", .choices = sp_goal_names),
    SP_TAKE(fastest, .excludes = SP_THESE(SP_O_pareto, SP_O_robust)),
    SP_TAKE(exportable),
    SP_TAKE(robust, .excludes = SP_THESE(SP_O_pareto)),
    SP_TAKE(pareto, .choices = fronts),
    SP_TAKE(top, .fallback = "5"),
    SP_TAKE(meshes),
    SP_TAKE(near, .excludes = SP_THESE(SP_O_explain_rejects, SP_O_find, OF_THE_LIST)),
    SP_TAKE(explain_rejects, .excludes = SP_THESE(SP_O_find, OF_THE_LIST)),
    SP_TAKE(find, .choices = finds, .excludes = SP_THESE(OF_THE_LIST)),
    SP_TAKE(against, .excludes = SP_THESE(SP_O_near, SP_O_explain_rejects, SP_O_find, SP_O_shard,
                                          SP_O_pareto)),
    SP_TAKE(days, .alias = "deadline", .needs = SP_THESE(SP_O_tokens)),
    SP_TAKE(max_step, .needs = SP_THESE(SP_O_find)),
    SP_OPTION_RUN_TOKENS,
    SP_OPTIONS_PRICE,
    SP_TAKE(budget),
    SP_TAKE(any),
    SP_TAKE(offload_modules,
            .excludes = SP_THESE(SP_O_pareto, SP_O_find, SP_O_near, SP_O_explain_rejects)),
    SP_TAKE(exhaustive),
    SP_TAKE(report, .excludes = SP_THESE(SP_O_near, SP_O_explain_rejects, SP_O_find, SP_O_shard)),
    SP_TAKE(shard),
    SP_OPTION_CONVENTION,
    SP_TAKE(threads),
    SP_TAKE(timings),
    SP_TAKE(check),
    SP_OPTION_PLOT,
};

/* The plan that the user named ("tp=8,pp=16,remat=full"), of the problem that is loaded. */
static bool load_plan(struct sp_searching *s, const char *option, const char *plan,
                      struct sp_planned *planned, struct sp_error *invalid, struct sp_error *error)
{
    *planned = s->of.machine[0]->base;
    const struct sp_sources sources = sp_sources_of(s->args);
    planned->problem.batch.counts_sequences = true; /* the batch is the problem's */
    planned->problem.batch.is_about = false;
    return sp_plan_of_pairs(option, plan, &sources, planned, invalid, error);
}

/* Device bytes that a named plan may need: the user's limit, else the most that fits. */
static double most_that_fits(const struct sp_searching *s)
{
    return sp_limit_of_search(&s->of.limits, &s->of.machine[0]->base, SP_VERDICT_TIGHT);
}

static void put_neighbours(struct sp_searching *s, const struct sp_step_inputs *in,
                           const struct sp_neighbour *near, size_t n, const struct sp_estimate *e)
{
    for (size_t i = 0; i < n; i++) {
        sp_begin_row(s->report, NULL, "near.%zu", i);
        sp_put_neighbour(s->report, in, &near[i], "", e, most_that_fits(s));
    }
    sp_list_table(s->report, "near",
                  "change, gain_pct, tie, step_s, device_bytes, "
                  "memory_change_bytes: memory change, fits");
}

/* Puts a plan under the scope "plan", with the line of its degrees, step and memory, and the limit
 * that it was compared with. */
static void put_named_plan(struct sp_searching *s, const struct sp_planned *planned,
                           const struct sp_estimate *e, double most)
{
    char rest[SP_PLAN_REST];
    sp_plan_rest(&planned->plan, &planned->model, &planned->framework.framework, planned->hw.slices,
                 rest, sizeof rest);
    sp_scope(s->report, "plan");
    sp_put_step(s->report, planned, e);
    sp_scope(s->report, "");
    if (!s->listed)
        sp_put(s->report, SP_Q_SEARCH_LIMIT, most);
    if (s->from)
        sp_stand_in(s->report, SP_DETAILS); /* it is the launch that was read */
    sp_line(s->report,
            "plan       {plan.model} on {plan.machine}: dp {plan.dp} tp {plan.tp} pp {plan.pp} vpp "
            "{plan.vpp} cp {plan.cp} ep {plan.ep}%s, ZeRO {plan.zero} over {plan.shards}, "
            "{plan.schedule}, micro-batch {plan.micro_batch}, recompute {plan.remat}: step "
            "{plan.step_s}, MFU {plan.mfu}, {plan.memory.device_bytes} of at most {most_bytes}",
            rest);
    sp_stand_in(s->report, SP_BOTH);
}

static bool report_near(struct sp_searching *s, const char *plan, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_estimate e;
    if (!load_plan(s, "near", plan, &planned, error, error))
        return false;
    sp_estimate_planned(&planned, s->of.convention, SP_WITH_ALL, &e);
    put_named_plan(s, &planned, &e, most_that_fits(s));
    sp_put_resolved(s->report, s->args, &planned);
    sp_note_batch(s->report, &planned);
    const struct sp_step_inputs in = sp_inputs_of(&planned);
    const struct sp_repertoire runs = sp_repertoire_of(&planned, s->args->given.any);
    sp_answer_is(s->report, "near");
    put_neighbours(s, &in, near, sp_find_neighbours(&in, &runs, NULL, near), &e);
    return true;
}

/* A component of the time. */
struct loss_rows {
    double mine_s, theirs_s;
};

#define SP_PART search_loss
#define SP_PART_OF struct loss_rows
#include "answer/put_rows.h"

/* Where the plan spends more than the best one. */
static void put_losses(struct sp_searching *s, const struct sp_step_time *mine,
                       const struct sp_planned *best)
{
    const struct sp_step_inputs in = sp_inputs_of(best);
    const struct sp_step_time theirs = sp_estimate_step(&in);
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        const struct loss_rows loss = {sp_time_part(mine, i), sp_time_part(&theirs, i)};
        sp_begin_row(s->report, NULL, "losses.%s", sp_time_parts[i].name);
        put_search_loss_rows(s->report, &loss);
    }
    sp_stand_in(s->report, SP_DETAILS);
    sp_list_table(s->report, "losses", ": component, loss_s: beyond the best");
    sp_stand_in(s->report, SP_BOTH);
}

/* A plan beside the best one. */
struct verdict_rows {
    int ahead;
    double step_s, best_s; /* that rank them */
    bool partial, tie, is_launch;
    char *command; /* of the best */
};

#define SP_PART search_verdict
#define SP_PART_OF struct verdict_rows
#include "answer/put_rows.h"

static void compare_with_best(struct sp_searching *s, const struct sp_plan *plan,
                              const struct sp_step_time *mine)
{
    struct sp_planned best;
    struct sp_candidate *const m = s->of.machine[0];
    s->of.run.front = false;
    s->of.run.meshes = false; /* every plan ahead counts */
    s->of.run.wanted = SP_SEARCH_TOP;
    sp_look(s, 0);
    sp_finish_search(&s->of);
    const struct sp_found *const first = &m->result.best.found[0];
    struct verdict_rows v = {.step_s = sp_ranking_step_s(&s->of, plan, mine->step),
                             .best_s = first->value,
                             .partial = m->result.partial,
                             .is_launch = s->from != NULL};
    /* the first may be there for being the simplest: what beats it by less is not ahead */
    if (m->result.best.n > 0 && v.step_s > v.best_s) {
        v.ahead = sp_count_ahead(&s->of, plan, mine->step);
        v.tie = sp_is_tie(v.step_s, v.best_s,
                          sp_lead_log(sp_tier_of(&m->base.model, &m->base.hw.chip, plan)));
        v.command = sp_step_line(s, m, &first->plan, NULL);
    }
    put_search_verdict_rows(s->report, &v);
    free(v.command);
    if (v.ahead == 0)
        return;
    sp_planned_of(&m->base, first, &best);
    put_losses(s, mine, &best);
}

/* Tells whether a plan fits and, if it does, which plans are ahead of it and where it loses
 * time. */
static void judge_plan(struct sp_searching *s, const struct sp_plan *plan,
                       const struct sp_estimate *e)
{
    const double most = most_that_fits(s);
    const double bytes = (double)e->memory.device;
    if (bytes <= most) {
        compare_with_best(s, plan, &e->time);
        return;
    }
    sp_put_text(s->report, SP_Q_REJECT_VERDICT,
                "%s fit: %s per device too much (--near shows what would make it fit)",
                s->from ? "the file's plan does not" : "does not",
                sp_human_text(bytes - most, SP_BYTES));
    sp_line(s->report, "verdict    {verdict}");
}

static bool report_reject(struct sp_searching *s, const char *plan, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_error why = {0};
    struct sp_estimate e;
    if (!load_plan(s, "explain-rejects", plan, &planned, &why, error)) {
        if (why.lines == 0)
            return false;
        sp_put_text(s->report, SP_Q_REJECT_VERDICT, "invalid: %s", why.text);
        sp_line(s->report, "verdict    {verdict}");
        return true;
    }
    sp_estimate_planned(&planned, s->of.convention, SP_WITH_ALL, &e);
    put_named_plan(s, &planned, &e, most_that_fits(s));
    sp_put_resolved(s->report, s->args, &planned);
    judge_plan(s, &planned.plan, &e);
    return true;
}

static void report_launch(struct sp_searching *s)
{
    struct sp_estimate e;
    const struct sp_planned *const planned = &s->from->planned;
    sp_estimate_planned(planned, s->of.convention, SP_WITH_ALL, &e);
    sp_line(s->report, " ");
    put_named_plan(s, planned, &e, most_that_fits(s));
    judge_plan(s, &planned->plan, &e);
}

/* The first plan of the list beside the one of --against. */
static bool report_against(struct sp_searching *s, struct sp_error *error)
{
    struct sp_planned first;
    struct sp_estimate e;
    size_t n = 0;
    struct sp_ranked *const all = sp_rank_plans(&s->of, &n);
    const bool any = n > 0;
    if (any)
        sp_planned_of(&s->of.machine[0]->base, all[0].found, &first);
    free(all);
    if (!any) {
        sp_note(s->report, "no plan fits, so there is nothing to compare with");
        return true;
    }
    first.problem.batch.counts_sequences = true; /* the batch is the problem's */
    sp_estimate_planned(&first, s->of.convention, SP_WITH_RANGE, &e);
    return sp_report_against(s->report, s->args, &first, &e, error);
}

/* The words of a question of --find. */
struct question {
    const char *name, *unit, *way;
    const char *beyond; /* why no answer is beyond the bound; NULL: it was found by trying */
    bool fewest;
};
static const struct question questions[SP_FINDS] = {
    [SP_FIND_DEVICES] = {"devices", "devices", "up",
                         "fewer cannot hold the training state, or are too slow even at peak",
                         true},
    [SP_FIND_BATCH] = {"batch", "sequences", "down", "more exceed --max-step even at peak", false},
    [SP_FIND_SEQ] = {"seq", "tokens", "down", NULL, false},
    [SP_FIND_MODEL] = {"model", "layers", "down",
                       "more do not fit in memory, or are too slow even at peak", false},
};

struct find_rows {
    const struct question *q;
    const struct sp_finding *f;
    const struct sp_planned *base; /* of the answer */
    bool found, has_price;         /* --price is given */
    bool has_run, has_days, has_budget;
    double budget, usd_of_run;
    char run[128]; /* the days of --tokens, their cost at a typed price, and --days */
    double step_s, run_step_s, batch_tokens, params, usd_per_step; /* of the answer */
    double asked_tokens;                                           /* of a batch */
    char odd[64];
};

#define PROBES (s->f->probed > 0 && s->f->probed < s->f->most)
#define SP_PART search_find
#define SP_PART_OF struct find_rows
#include "answer/put_rows.h"

/* The machine of the answer as --hw names it; "": a file, which has no name to type. */
static void name_machine(const struct sp_searching *s, const struct sp_finding *f)
{
    const char *const typed = s->of.machine[0]->hw;
    if (f->what != SP_FIND_DEVICES)
        snprintf(f->at->hw, sizeof f->at->hw, "%s", typed);
    else if (strchr(typed, '/') || strstr(typed, ".json") || strcmp(typed, "-") == 0)
        f->at->hw[0] = '\0';
    else
        sp_name_machine(&f->at->base.hw, f->at->base.hw.name, f->at->hw, sizeof f->at->hw);
}

/* The best plan of the size that was found. */
static void put_found(struct sp_searching *s, const struct sp_finding *f)
{
    const struct sp_found *const best = &f->at->result.best.found[0];
    struct sp_planned planned;
    struct sp_estimate e;
    sp_planned_of(&f->at->base, best, &planned);
    sp_estimate_planned(&planned, s->of.convention, SP_WITH_ALL, &e);
    put_named_plan(s, &planned, &e, f->at->space.most_bytes);
    name_machine(s, f);
    if (f->at->hw[0] == '\0')
        return;
    char *const line = sp_step_line(s, f->at, &best->plan, &s->of.machine[0]->base.model);
    sp_put_text(s->report, SP_Q_SEARCH_REPEAT, "scaleplan %s", line);
    sp_line(s->report, "repeat     {command!}");
    free(line);
}

static void put_finding(struct sp_searching *s, const struct sp_finding *f)
{
    const struct question *const q = &questions[f->what];
    const struct sp_planned *const base = &f->at->base;
    const bool found = !isnan(f->value);
    struct find_rows rows = {.q = q,
                             .f = f,
                             .base = base,
                             .found = found,
                             .has_price = s->args->given.price,
                             .has_run = s->args->given.tokens,
                             .has_days = s->args->given.days,
                             .has_budget = s->args->given.budget,
                             .budget = s->args->value.budget,
                             .step_s = found ? f->step_s : NAN,
                             .run_step_s = found ? f->run_step_s : NAN,
                             .batch_tokens =
                                 sp_batch_tokens((double)base->plan.batch, (double)base->plan.seq),
                             .asked_tokens = s->of.machine[0]->base.problem.batch.tokens,
                             .params = found ? sp_count_params(&base->model).total : NAN};
    rows.usd_per_step =
        sp_cost_usd((double)sp_chips(&base->hw), rows.run_step_s, base->problem.price.usd_per_h);
    rows.usd_of_run = sp_cost_of_steps(base->problem.tokens, rows.batch_tokens, rows.usd_per_step);
    if (rows.has_run && (rows.has_days || rows.has_budget))
        sp_put_bool(s->report, SP_Q_SEARCH_LIMITS,
                    found && (!rows.has_budget || rows.usd_of_run <= rows.budget));
    const char *const cost = rows.has_price ? " and {answer_cost_usd}" : "";
    if (rows.has_days)
        snprintf(rows.run, sizeof rows.run,
                 ", {answer_days}%s without failures, within the %s of --days", cost,
                 sp_human_text(s->args->value.days, SP_DAYS));
    else if (rows.has_run)
        snprintf(rows.run, sizeof rows.run, ", {answer_days}%s for the tokens", cost);
    if (f->odd > 1)
        snprintf(rows.odd, sizeof rows.odd, " (or %.0f times one)", f->odd);
    put_search_find_rows(s->report, &rows);
    if (found)
        put_found(s, f);
    if (f->what == SP_FIND_DEVICES || f->what == SP_FIND_MODEL)
        sp_note_batch(s->report, base);
}

/* Names fewer devices that suffice with a slightly different batch. */
static void put_fewer(struct sp_searching *s, const struct sp_finding *exact)
{
    struct sp_finding fewer;
    sp_find_worth_fewer(exact, &fewer);
    if (fewer.at)
        sp_put_fewer_devices(s->report, s->args, "search", "devices", &fewer);
    free(fewer.at);
}

static bool report_find(struct sp_searching *s, struct sp_error *error)
{
    const enum sp_find_what what = (enum sp_find_what)s->args->value.find;
    const struct sp_problem *const asked = &s->of.problem;
    struct sp_finding f;
    const bool devices = what == SP_FIND_DEVICES;
    if ((devices || what == SP_FIND_BATCH) && isnan(asked->max_step_s) &&
        (!devices || isnan(asked->days)))
        return sp_fail(error, SP_USAGE, "--find %s needs --max-step%s", questions[what].name,
                       devices ? ", or --days with --tokens" : "");
    sp_find_size(&s->of, what, &f);
    put_finding(s, &f);
    put_fewer(s, &f);
    free(f.at);
    return true;
}

static bool answer(struct sp_searching *s, struct sp_error *error)
{
    const struct sp_args *const args = s->args;
    if (s->from)
        sp_put_launch(s->report, &s->from->launch, &s->from->planned);
    if (args->value.near)
        return report_near(s, args->value.near, error);
    if (args->value.explain_rejects)
        return report_reject(s, args->value.explain_rejects, error);
    if (args->value.find >= 0)
        return report_find(s, error);
    for (int i = 0; i < s->of.machines; i++)
        sp_look(s, i);
    if (s->of.run.shards == 1)
        sp_finish_search(&s->of);
    sp_report_search(s);
    s->listed = true;
    if (s->from && s->of.run.shards > 1)
        sp_note(s->report, "this is one part of a search, so the launch's plan is not ranked");
    else if (s->from)
        report_launch(s);
    return !args->value.against || report_against(s, error);
}

/* The page has the first plan of the list, with its range, and the others beside it. */
static bool write_page(const struct sp_searching *s, struct sp_error *error)
{
    static const struct sp_page_fact columns[] = {{"plan", "name"},
                                                  {"step", "step_s"},
                                                  {"MFU", "mfu"},
                                                  {"memory", "memory.device_bytes"},
                                                  {"behind, %", "behind_pct"},
                                                  {"a tie", "tie"},
                                                  {"expected step", "expected_step_s"}};
    const struct sp_entry *const step = sp_find(s->report, "plans.0.step_s");
    const struct sp_entry *const command = sp_find(s->report, "plans.0.command");
    char title[200], verdict[320], price[160];
    if (!s->args->value.report)
        return true;
    snprintf(title, sizeof title, "The best plan of %.60s on %.100s",
             s->of.machine[0]->base.model.name, s->args->value.hw);
    snprintf(verdict, sizeof verdict, "No plan fits");
    if (step)
        snprintf(verdict, sizeof verdict, "Yes: %s per step (80 %% range %s)",
                 sp_human_value(step, SP_ROOM),
                 sp_human_range(sp_find(s->report, "plans.0.time.low_s")->number,
                                sp_find(s->report, "plans.0.time.high_s")->number, SP_SECONDS));
    sp_price_text(&s->of.machine[0]->base.problem.price, price, sizeof price);
    const struct sp_page page = {
        .title = title,
        .verdict = verdict,
        .yes = step != NULL,
        .scope = "plans.0",
        .plan_title = "The plan",
        .price = s->of.machines == 1 ? price : NULL,
        .command = command ? command->text : NULL,
        .facts = sp_plan_facts,
        .n_facts = sp_n_plan_facts,
        .has_time = step != NULL,
        .has_memory = step != NULL,
        .list = {"Plans in order", "plans", columns,
                 sizeof columns / sizeof *columns - !s->of.grounded, NULL, NULL, 0},
        .assumptions = sp_plan_assumptions,
        .n_assumptions = sp_n_plan_assumptions,
    };
    return sp_write_page(s->report, &page, s->args->value.report, error);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_searching searching = {0};
    struct sp_search_launch *const from = sp_must(calloc(1, sizeof *from));
    sp_catch_interrupt();
    bool ok = sp_open_launch(args, from, error);
    if (ok) {
        const struct sp_sources sources = sp_sources_of(&from->problem);
        ok = sp_open_search(&from->problem, &sources, report, &searching, error);
        if (from->launch.format)
            searching.from = from;
        ok = ok && answer(&searching, error) && write_page(&searching, error);
        sp_close_search(&searching.of);
        sp_close_exporting(&searching.exporting);
    }
    free(from);
    return ok;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    return sp_draw_search(report, args->value.hw, error);
}

static const struct sp_example examples[] = {
    {"search --model llama3-70b --hw h100-512 --batch 1024x8192",
     "the five fastest plans, proven optimal"},
    {"search --model llama3-70b --hw h100-512 --batch 1024x8192 --fix pp=4 --only zero=1,3 "
     "--max-tp 8 --get plans.0.command",
     "a constrained search; prints the plan as a `step` command"},
    {"search --model llama3-70b --hw h100-512 --batch 1024x8192 --robust",
     "the best plan for the worst likely constants of the estimate"},
    {"search --model llama3-8b --hw h100-64,v5p-128 --batch 256x8192 --tokens 1T --objective cost",
     "machines compared by cost of a run"},
    {"search --model llama3-70b --hw h100-256 --batch 512x8192 --pareto step,memory",
     "what memory buys"},
    {"search --model llama3-70b --hw h100-256 --batch 512x8192 --pareto step,memory --plot "
     "front.svg",
     "the same, plotted"},
    {"search --model llama3-70b --hw h100-256 --batch 512x8192 --near tp=8,pp=4",
     "how to improve a plan, or make it fit"},
    {"search --model llama3-70b --hw h100-504 --batch ~512x8192 --idle 8",
     "up to 8 idle devices, a batch of about 512 sequences"},
    {"search --model llama3-70b --hw h100-256 --batch 512x8192 --against tp=8,pp=4",
     "the best plan against yours: differences, time and memory"},
    {"search --from pretrain.sh --hw h100-64", "how far a launch is from the best plan"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_search = {
    .name = "search",
    .summary = "the best plan of a model on a machine, proven optimal",
    .about =
        "Searches all valid plans (TP x SP x CP x EP x PP x VPP x DP, ZeRO stage and shard group, "
        "micro-batch, recomputation, schedule, placement, offload) by the estimate of `step`, "
        "pruning only what provably holds nothing better: the answer is optimal under the "
        "estimate. Devices and batch stay fixed unless --idle or --batch ~N allow others "
        "(docs/search.md). `search - [OPTION...]` reads options as JSON lines, as `step -` does.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "fits",
    .limits_key = "limits_met",
    .reads_report = true,
    .run = run,
    .plot = plot,
    .streams = sp_reads_lines,
    .stream = SP_IN_SHELL(sp_answer_lines),
};
