/* search: the best plans among all valid ones, proven. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/suggest.h"
#include "cli/companions.h"
#include "cli/plan_rows.h"
#include "cli/searching.h"
#include "cli/space_options.h"
#include "cli/tuning.h"
#include "host/interrupt.h"
#include "pictures/search.h"
#include "study/find.h"

static const char *const fronts[] = {"step,memory", "step,memory,cost", NULL};
static const char *const finds[] = {"devices", "batch", "seq", "model", NULL};

/* Options that shape the list of plans: near, explain-rejects and find ask other questions. */
#define OF_THE_LIST SP_O_shard, SP_O_pareto, SP_O_objective, SP_O_top, SP_O_meshes, SP_O_robust

static const struct sp_taken options[] = {
    SP_TAKE(from),
    SP_TAKE(set_var, .needs = SP_THESE(SP_O_from)),
    SP_OPTIONS_MODEL,
    SP_TAKE(hw),
    SP_OPTION_NETWORK,
    SP_OPTIONS_BATCH,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_SPACE_OPTIONS,
    SP_OPTIONS_STACK,
    SP_TAKE(objective, .fallback = "step", .choices = sp_goal_names),
    SP_TAKE(robust, .excludes = SP_THESE(SP_O_pareto)),
    SP_TAKE(pareto, .choices = fronts),
    SP_TAKE(top, .fallback = "5"),
    SP_TAKE(meshes),
    SP_TAKE(near, .excludes = SP_THESE(SP_O_explain_rejects, SP_O_find, OF_THE_LIST)),
    SP_TAKE(explain_rejects, .excludes = SP_THESE(SP_O_find, OF_THE_LIST)),
    SP_TAKE(find, .choices = finds, .excludes = SP_THESE(OF_THE_LIST)),
    SP_TAKE(days, .alias = "deadline", .needs = SP_THESE(SP_O_find, SP_O_tokens)),
    SP_TAKE(max_step, .needs = SP_THESE(SP_O_find)),
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

/* One KEY=VALUE of a plan. Its keys are the fields that a search varies: what makes the problem
 * (model, machine, batch, framework, imbalance of the experts) is the search's own. */
static bool take_pair(const char *option, char *pair, struct sp_args *args, struct sp_error *error)
{
    char *const equals = strchr(pair, '=');
    if (!equals || equals == pair || pair[0] == '-')
        return sp_fail(error, SP_INPUT,
                       "--%s: \"%s\" is not KEY=VALUE, such as tp=8,pp=16,remat=full", option,
                       sp_safe(pair));
    *equals = '\0';
    struct sp_nearest nearest = {.wanted = pair};
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        if (sp_plan_fields[i].of_problem)
            continue;
        if (strcmp(sp_plan_fields[i].name, pair) == 0)
            return args->given_at[sp_option_of_field(i)]
                       ? sp_fail(error, SP_INPUT, "--%s: %s is given twice", option, pair)
                       : sp_take_text(args, sp_option_of_field(i), equals + 1, error);
        sp_nearest_offer(&nearest, sp_plan_fields[i].name);
    }
    return sp_fail(error, SP_INPUT, "--%s: \"%s\" is no part of a plan%s", option, sp_safe(pair),
                   sp_nearest_hint(&nearest));
}

/* The plan that the user named ("tp=8,pp=16,remat=full"), as `step` would make it. What cannot be
 * read is an `error`; what is no plan has its reason in `invalid`. */
static bool load_plan(struct sp_searching *s, const char *option, const char *plan,
                      struct sp_planned *planned, struct sp_error *invalid, struct sp_error *error)
{
    struct sp_args args = {0};
    char step[] = "step", *words[] = {step, NULL};
    char pair[512];
    /* the machine and the model are loaded: they may have come from standard input */
    *planned = s->of.machine[0]->base;
    planned->inferred[0] = '\0';
    if (strlen(plan) >= sizeof pair)
        return sp_fail(error, SP_INPUT, "--%s: too long", option);
    const struct sp_command *const command = sp_find_command(step, error);
    bool ok = command && sp_parse_command(command, 1, words, &args, error);
    for (const char *rest = plan; ok && sp_next_item(&rest, pair, sizeof pair);)
        ok = take_pair(option, pair, &args, error);
    planned->counts_sequences = true; /* the batch is the problem's */
    return ok && sp_plan_on(&args, planned, invalid);
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
        sp_put_neighbour(s->report, in, &near[i], e, most_that_fits(s));
    }
    sp_end_table(s->report, "near",
                 "change, gain_pct, tie, step_s, device_bytes, "
                 "memory_change_bytes: more, fits");
}

/* Puts a plan under the scope "plan", with the line of its degrees, step and memory. */
static void put_named_plan(struct sp_searching *s, const struct sp_planned *planned,
                           const struct sp_estimate *e)
{
    char rest[SP_PLAN_REST];
    sp_plan_rest(&planned->plan, &planned->framework.framework, planned->hw.slices, rest,
                 sizeof rest);
    sp_scope(s->report, "plan");
    sp_put_step(s->report, planned, e);
    sp_scope(s->report, "");
    if (!s->listed)
        sp_put(s->report, SP_Q_SEARCH_LIMIT, most_that_fits(s));
    sp_line(s->report,
            "plan       {plan.model} on {plan.machine}: dp {plan.dp} tp {plan.tp} pp {plan.pp} vpp "
            "{plan.vpp} cp {plan.cp} ep {plan.ep}%s, ZeRO {plan.zero} over {plan.shards}, "
            "{plan.schedule}, micro-batch {plan.micro_batch}, recompute {plan.remat}: step "
            "{plan.step_s}, MFU {plan.mfu}, {plan.memory.device_bytes} of {most_bytes}",
            rest);
}

static bool report_near(struct sp_searching *s, const char *plan, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_estimate e;
    if (!load_plan(s, "near", plan, &planned, error, error))
        return false;
    sp_estimate_planned(&planned, s->of.convention, true, &e);
    put_named_plan(s, &planned, &e);
    sp_note_batch(s->report, &planned);
    const struct sp_step_inputs in = sp_inputs_of(&planned);
    const struct sp_repertoire runs = sp_repertoire_of(&planned, s->args->given.any);
    sp_answer_is(s->report, "near");
    put_neighbours(s, &in, near, sp_find_neighbours(&in, &runs, near), &e);
    return true;
}

/* A component of the time. */
struct loss_rows {
    double mine_s, theirs_s;
};

#define SP_ROWS "commands/search_loss.def"
#define SP_ROWS_OF struct loss_rows
#define SP_PUT_ROWS put_loss
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
        put_loss(s->report, &loss);
    }
    sp_end_table(s->report, "losses", ": component, loss_s: beyond the best");
}

/* A plan beside the best one. */
struct verdict_rows {
    int ahead;
    double step_s, best_s;
    bool partial, tie, is_launch;
    char *command; /* of the best */
};

#define SP_ROWS "commands/search_verdict.def"
#define SP_ROWS_OF struct verdict_rows
#define SP_PUT_ROWS put_verdict
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
    const struct sp_found *const first = &m->result.best.found[0];
    struct verdict_rows v = {.ahead = sp_count_ahead(&s->of, mine->step),
                             .step_s = mine->step,
                             .partial = m->result.partial,
                             .is_launch = s->from != NULL};
    if (v.ahead > 0) {
        v.best_s = first->step_s;
        v.tie = sp_is_tie(v.step_s, v.best_s,
                          sp_lead_log(sp_tier_of(&m->base.model, &m->base.hw.chip, plan)));
        v.command = sp_step_line(s, m, &first->plan, NULL);
    }
    put_verdict(s->report, &v);
    free(v.command);
    if (v.ahead == 0)
        return;
    sp_planned_of(&m->base, first, &best);
    put_losses(s, mine, &best);
}

/* Says whether a plan fits, and where it does what is ahead of it and where it loses time. */
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
                "does not fit: %s a device too much (--near shows what would make it fit)",
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
    sp_estimate_planned(&planned, s->of.convention, true, &e);
    put_named_plan(s, &planned, &e);
    judge_plan(s, &planned.plan, &e);
    return true;
}

static void report_launch(struct sp_searching *s)
{
    struct sp_estimate e;
    const struct sp_planned *const planned = &s->from->planned;
    sp_estimate_planned(planned, s->of.convention, true, &e);
    sp_line(s->report, " ");
    put_named_plan(s, planned, &e);
    judge_plan(s, &planned->plan, &e);
}

/* The words of a question of --find. */
struct question {
    const char *name, *unit, *way;
    const char *beyond; /* why no answer is beyond the bound; NULL: it was found by trying */
    bool fewest;
};
static const struct question questions[SP_FINDS] = {
    [SP_FIND_DEVICES] = {"devices", "devices", "up",
                         "fewer cannot hold the training state, or would be too slow at full peak",
                         true},
    [SP_FIND_BATCH] = {"batch", "sequences", "down",
                       "more would take longer than --max-step at full peak", false},
    [SP_FIND_SEQ] = {"seq", "tokens", "down", NULL, false},
    [SP_FIND_MODEL] = {"model", "layers", "down",
                       "the training state of more does not fit, or they would be too slow at full "
                       "peak",
                       false},
};

struct find_rows {
    const struct question *q;
    const struct sp_finding *f;
    bool found;
    double step_s, batch_tokens, params; /* of the answer */
    char odd[64];
};

#define SP_ROWS "commands/search_find.def"
#define SP_ROWS_OF struct find_rows
#define SP_PUT_ROWS put_find
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
        snprintf(f->at->hw, sizeof f->at->hw, "%.100s-%lld", f->at->base.hw.name,
                 (long long)sp_chips(&f->at->base.hw));
}

/* The best plan of the size that was found. */
static void put_found(struct sp_searching *s, const struct sp_finding *f)
{
    const struct sp_found *const best = &f->at->result.best.found[0];
    struct sp_planned planned;
    struct sp_estimate e;
    sp_planned_of(&f->at->base, best, &planned);
    sp_estimate_planned(&planned, s->of.convention, true, &e);
    put_named_plan(s, &planned, &e);
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
                             .found = found,
                             .step_s = found ? f->step_s : NAN,
                             .batch_tokens =
                                 sp_batch_tokens((double)base->plan.batch, (double)base->plan.seq),
                             .params = found ? sp_count_params(&base->model).total : NAN};
    if (f->odd > 1)
        snprintf(rows.odd, sizeof rows.odd, " (or %.0f times one)", f->odd);
    put_find(s->report, &rows);
    if (found)
        put_found(s, f);
    if (f->what == SP_FIND_DEVICES || f->what == SP_FIND_MODEL)
        sp_note_batch(s->report, &s->of.machine[0]->base);
}

static bool report_find(struct sp_searching *s, struct sp_error *error)
{
    const enum sp_find_what what = (enum sp_find_what)s->args->value.find;
    const struct sp_find_limits limits = {s->args->value.max_step, s->args->value.days,
                                          s->args->value.tokens};
    struct sp_finding f;
    const bool devices = what == SP_FIND_DEVICES;
    if ((devices || what == SP_FIND_BATCH) && isnan(limits.max_step_s) &&
        (!devices || isnan(limits.deadline_days)))
        return sp_fail(error, SP_USAGE, "--find %s needs --max-step%s", questions[what].name,
                       devices ? ", or --days with --tokens" : "");
    sp_find_size(&s->of, what, &limits, &f);
    put_finding(s, &f);
    free(f.at);
    return true;
}

static bool answer(struct sp_searching *s, struct sp_error *error)
{
    const struct sp_args *const args = s->args;
    if (s->from)
        sp_put_launch(s->report, &s->from->launch);
    if (args->value.near)
        return report_near(s, args->value.near, error);
    if (args->value.explain_rejects)
        return report_reject(s, args->value.explain_rejects, error);
    if (args->value.find >= 0)
        return report_find(s, error);
    for (int i = 0; i < s->of.machines; i++)
        sp_look(s, i);
    sp_report_search(s);
    s->listed = true;
    if (s->from && s->of.run.shards > 1)
        sp_note(s->report, "a part of a search has not all plans: the launch's is not ranked");
    else if (s->from)
        report_launch(s);
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

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    return sp_draw_search(report, args->value.hw, error);
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
    .reads_report = true,
    .run = run,
    .plot = plot,
};
