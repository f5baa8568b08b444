/* search: the list of plans as a report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <scaleplan/estimate.h>

#include "base/number.h"
#include "cli/plan_fields.h"
#include "commands/search.h"
#include "commands/step_rows.h"
#include "commands/utilisation.h"

/* How many of n plans are listed: a part lists every machine's, since `merge` needs each machine's
 * best. */
static size_t shorten(const struct sp_searching *s, struct sp_ranked *all, size_t n)
{
    const struct sp_search_run *const run = &s->of.run;
    const size_t wanted = (size_t)run->wanted;
    if (run->shards > 1 || n <= wanted || (run->front && !s->args->given.top))
        return n;
    if (run->front) {
        sp_thin_out(all, n, wanted);
        sp_note(s->report, "%zu of the %zu points of the front, from end to end (--top)", wanted,
                n);
    }
    return wanted;
}

static void put_waits(struct sp_report *r, const struct sp_step_time *t)
{
    size_t most = 1;
    for (size_t i = 2; i < SP_TIME_PARTS; i++)
        if (sp_time_part(t, i) > sp_time_part(t, most))
            most = i;
    sp_put_text(r, SP_Q_SEARCH_WAITS, "%s %.0f %%", sp_time_parts[most].name,
                100 * sp_time_part(t, most) / t->step);
}

/* A plan of the list, behind the rows of `step`. */
struct plan_rows {
    const struct sp_ranked *one, *first;
    const char *name;
    char *command;
    bool robust, ranks_time, tie;
};

#define SP_ROWS "commands/search_plan.def"
#define SP_ROWS_OF struct plan_rows
#define SP_PUT_ROWS put_plan_rows
#include "answer/put_rows.h"

/* One plan, by the path of `step`. */
static void put_plan(struct sp_searching *s, const struct sp_ranked *all, size_t at,
                     const char *name)
{
    struct sp_planned planned;
    struct sp_estimate e;
    const struct sp_ranked *const one = &all[at];
    const struct sp_candidate *const m = s->of.machine[one->machine];
    sp_planned_of(&m->base, one->found, &planned);
    sp_estimate_planned(&planned, s->of.convention, &e);
    sp_put_step(s->report, &planned, &e);
    put_waits(s->report, &e.time);
    sp_put_run(s->report, &planned, e.time.step, s->args->value.tokens, m->usd_per_h);
    const struct plan_rows rows = {.one = one,
                                   .first = all,
                                   .name = name,
                                   .command = sp_step_line(s, m, &one->found->plan, NULL),
                                   .robust = s->of.robust,
                                   .ranks_time = sp_ranks_time(&s->of),
                                   .tie = at > 0 && sp_ties_with_first(&s->of, all, at)};
    put_plan_rows(s->report, &rows);
    free(rows.command);
}

/* Columns of the table: fields of the plan stand in it always, or where plans differ in them. */
static const struct {
    struct sp_column column;
    bool where_different;
    enum sp_plan_field_id field;
} plan_columns[] = {
    {{"dp", "dp", false}, false, 0},
    {{"tp", "tp", false}, false, 0},
    {{"dispatch", "dispatch", true}, true, SP_FIELD_DISPATCH},
    {{"moe_overlap", "overlap", true}, true, SP_FIELD_MOE_OVERLAP},
    {{"tp_axes", "tp's axes", true}, true, SP_FIELD_TP_AXES},
    {{"sequence_parallel", "sp", true}, true, SP_FIELD_SP},
    {{"pp", "pp", false}, false, 0},
    {{"vpp", "vpp", false}, false, 0},
    {{"cp", "cp", false}, false, 0},
    {{"ep", "ep", false}, false, 0},
    {{"etp", "etp", false}, true, SP_FIELD_ETP},
    {{"zero", "ZeRO", false}, false, 0},
    {{"shards", "over", false}, false, 0},
    {{"micro_batch", "micro", false}, false, 0},
    {{"schedule", "schedule", true}, false, 0},
    {{"placement", "placement", true}, true, SP_FIELD_PLACEMENT},
    {{"remat", "recompute", true}, false, 0},
    {{"offload", "offload", true}, true, SP_FIELD_OFFLOAD},
    {{"step_s", "step", false}, false, 0},
    {{"mfu", "MFU", false}, false, 0},
    {{"mfu_causal", "MFU causal", false}, false, 0},
    {{"memory.device_bytes", "memory", false}, false, 0},
    {{"waits_for", "waits for", true}, false, 0},
};
enum { PLAN_COLUMNS = sizeof plan_columns / sizeof *plan_columns };

/* Whether a plan could have another value in the field. */
static bool is_open(const struct sp_plan *plan, enum sp_plan_field_id field)
{
    return field == SP_FIELD_SP                                          ? plan->tp > 1
           : field == SP_FIELD_DISPATCH || field == SP_FIELD_MOE_OVERLAP ? plan->ep > 1
           : field == SP_FIELD_PLACEMENT ? plan->pp > 1 && plan->dp * plan->cp > 1
                                         : true;
}

static bool differ_in(const struct sp_ranked *all, size_t n, enum sp_plan_field_id field)
{
    char first[SP_PLAN_TEXT] = "", other[SP_PLAN_TEXT] = "";
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!is_open(&all[i].found->plan, field))
            continue;
        sp_format_plan(&all[i].found->plan, &sp_plan_fields[field], any ? other : first);
        if (any && strcmp(first, other) != 0)
            return true;
        any = true;
    }
    return false;
}

/* One machine needs no column. */
static void put_table(struct sp_searching *s, const struct sp_ranked *all,
                      const struct sp_row *rows, size_t n)
{
    struct sp_column columns[PLAN_COLUMNS + 3] = {{NULL, "", true}};
    size_t count = 1;
    if (s->of.machines > 1) {
        columns[count++] = (struct sp_column){"machine", "machine", true};
        columns[count++] = (struct sp_column){"devices", "devices", false};
    }
    for (size_t i = 0; i < PLAN_COLUMNS; i++)
        if (!plan_columns[i].where_different || differ_in(all, n, plan_columns[i].field))
            columns[count++] = plan_columns[i].column;
    sp_line(s->report, " ");
    sp_table(s->report, columns, count, rows, n);
    sp_line(s->report, " ");
    sp_line(s->report,
            "MFU        counts %s (--convention); the first plan's is {plans.0.mfu_6p} "
            "by 6p, {plans.0.mfu_causal} by causal, {plans.0.mfu_full} by full",
            sp_counted_flops[s->of.convention]);
    sp_note_utilisation(s->report, "the MFU",
                        sp_rates_on(&s->of, all[0].machine, all[0].found->step_s).tuned_mfu,
                        s->of.convention);
    if (s->of.machines == 1 && s->args->given.tokens) {
        char price[160];
        sp_price_text(&s->price[0], price, sizeof price);
        sp_line(s->report,
                "run        {plans.0.days} days, {plans.0.cost_usd} for the best plan, without "
                "failures; a device-hour: %s",
                price);
    }
    sp_line(s->report, "repeat     {plans.0.command!}");
}

static struct sp_plan *room_for_plans(size_t n)
{
    struct sp_plan *const plans = calloc(n + 1, sizeof *plans);
    if (!plans)
        abort();
    return plans;
}

/* The names of a list of plans; the caller frees them. */
static struct sp_short_name *names_of(const struct sp_plan *plans, size_t n)
{
    struct sp_short_name *const names = calloc(n + 1, sizeof *names);
    if (!names)
        abort();
    sp_name_plans(plans, n, names);
    return names;
}

/* Plans that tie with the first. */
struct ties_rows {
    int n;
    double lead;
    char names[5 * SP_SEARCH_TOP * SP_MAX_MACHINES]; /* "2, 3 and 4" */
};

#define SP_ROWS "commands/search_ties.def"
#define SP_ROWS_OF struct ties_rows
#define SP_PUT_ROWS put_ties_rows
#include "answer/put_rows.h"

static void put_ties(struct sp_searching *s, const struct sp_ranked *all, size_t n)
{
    struct ties_rows rows = {0};
    int ties = 0;
    if (!sp_ranks_time(&s->of) || n < 2)
        return;
    for (size_t i = 1; i < n; i++)
        rows.n += sp_ties_with_first(&s->of, all, i);
    for (size_t i = 1; i < n; i++) {
        const size_t used = strlen(rows.names);
        if (!sp_ties_with_first(&s->of, all, i))
            continue;
        ties++;
        snprintf(rows.names + used, sizeof rows.names - used, "%s%zu",
                 ties == 1        ? ""
                 : ties == rows.n ? " and "
                                  : ", ",
                 i + 1);
    }
    rows.lead = sp_first_lead_log(&s->of, all);
    put_ties_rows(s->report, &rows);
}

/* The robust plan beside the fastest as estimated. */
struct robust_rows {
    const struct sp_found *best;
    struct sp_as_estimated other;
    char *command; /* of the other */
};

#define SP_ROWS "commands/search_robust.def"
#define SP_ROWS_OF struct robust_rows
#define SP_PUT_ROWS put_robust_rows
#include "answer/put_rows.h"

static void put_robust(struct sp_searching *s, const struct sp_ranked *best)
{
    struct robust_rows rows = {.best = best->found};
    if (!sp_find_as_estimated(&s->of, best, &rows.other))
        return;
    rows.command = sp_step_line(s, s->of.machine[best->machine], &rows.other.fastest.plan, NULL);
    put_robust_rows(s->report, &rows);
    free(rows.command);
}

/* The list under plans.0, plans.1, ...: short names tell its plans apart. */
static void put_list(struct sp_searching *s, const struct sp_ranked *all, struct sp_row *rows,
                     size_t n)
{
    struct sp_plan *const listed = room_for_plans(n);
    for (size_t i = 0; i < n; i++)
        listed[i] = all[i].found->plan;
    struct sp_short_name *const names = names_of(listed, n);
    for (size_t i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "plans.%zu", i);
        snprintf(rows[i].label, sizeof rows[i].label, "%zu", i + 1);
        sp_scope(s->report, rows[i].prefix);
        put_plan(s, all, i, names[i].text);
    }
    free(names);
    free(listed);
    sp_scope(s->report, "");
}

static size_t put_plans(struct sp_searching *s, bool partial)
{
    size_t found;
    struct sp_ranked *const all = sp_rank_plans(&s->of, &found);
    const size_t n = shorten(s, all, found);
    if (s->of.run.front)
        sp_put(s->report, SP_Q_SEARCH_POINTS, (double)found);
    struct sp_row *const rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        abort();
    put_list(s, all, rows, n);
    sp_put(s->report, SP_Q_SEARCH_FOUND, (double)n);
    if (n > 0 || !partial)
        sp_put_bool(s->report, SP_Q_SEARCH_FITS, n > 0);
    else
        sp_put_null(s->report, SP_Q_SEARCH_FITS); /* of half a space nobody can say "no" */
    if (n > 0)
        put_table(s, all, rows, n);
    put_ties(s, all, n);
    if (s->of.robust && n > 0)
        put_robust(s, &all[0]);
    free(rows);
    free(all);
    return n;
}

/* The search's own words as JSON, which `merge` needs; free() it. */
static char *words_of(const struct sp_searching *s)
{
    static const enum sp_option_id except[] = {SP_O_shard,   SP_O_format,  SP_O_get,
                                               SP_O_explain, SP_O_threads, SP_O_check,
                                               SP_O_timings, SP_NO_OPTION};
    struct sp_words words = {0};
    cJSON *const list = cJSON_CreateArray();
    sp_add_word(&words, "search");
    sp_add_all(&words, s->args, except);
    for (int i = 0; i < words.n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(words.word[i]));
    char *const text = cJSON_PrintUnformatted(list);
    if (!text)
        abort();
    cJSON_Delete(list);
    sp_free_words(&words);
    return text;
}

/* What the smallest plan needs, when nothing fits. */
static void put_least(struct sp_searching *s)
{
    const struct sp_least least = sp_least_memory(&s->of);
    if (least.partial)
        sp_note(s->report, "stopped early: a smaller plan may exist");
    if (isnan(least.bytes) && !least.partial)
        sp_note(s->report, "the space holds no plan at all: no degrees divide this model, batch "
                           "and machine under the given limits");
    if (isnan(least.bytes))
        return;
    sp_put(s->report, SP_Q_SEARCH_LEAST, least.bytes);
    sp_line(s->report, "no plan fits: the smallest needs {least_memory_bytes} a device of "
                       "{most_bytes}; more devices, or a smaller model or sequence");
}

/* What a machine found, listed or not: the points of a comparison. */
static void put_points(struct sp_report *r, const struct sp_found *found, size_t n,
                       const char *machine)
{
    struct sp_plan *const all = room_for_plans(n);
    for (size_t i = 0; i < n; i++)
        all[i] = found[i].plan;
    struct sp_short_name *const names = names_of(all, n);
    for (size_t i = 0; i < n; i++) {
        char scope[64];
        snprintf(scope, sizeof scope, "%s.plans.%zu", machine, i);
        sp_scope(r, scope);
        sp_put_text(r, SP_Q_SEARCH_NAME, "%s", names[i].text);
        sp_put(r, SP_Q_SEARCH_M_STEP, found[i].step_s);
        sp_put(r, SP_Q_SEARCH_M_MEMORY, found[i].bytes);
    }
    free(names);
    free(all);
}

/* A machine and its best plan. */
struct machine_rows {
    const struct sp_candidate *c;
    const struct sp_price *price;
    double devices, step_s, mfu, device_bytes;
    double batch, seq, batch_tokens, tokens, budget;
    double usd_per_step, usd_of_run;
    bool has_budget, has_cheapest;
    double least_usd_per_step, cheapest_devices, cheapest_step_s, cheapest_usd_per_h;
    double value, least; /* of the goal: its own, and that of the best machine */
    bool is_compared, is_best, tie;
};

#define SP_ROWS "commands/search_machine.def"
#define SP_ROWS_OF struct machine_rows
#define SP_PUT_ROWS put_machine_rows
#include "answer/put_rows.h"

static void read_comparison(const struct sp_search *s, int machine, struct machine_rows *m)
{
    const int cheapest = sp_cheapest_of(s), best = sp_best_machine_but(s, -1);
    m->has_cheapest = s->machines > 1 && cheapest >= 0;
    if (m->has_cheapest) {
        const struct sp_candidate *const c = s->machine[cheapest];
        m->cheapest_devices = (double)sp_chips(&c->base.hw);
        m->cheapest_step_s = sp_best_step_of(s, cheapest);
        m->cheapest_usd_per_h = c->usd_per_h;
        m->least_usd_per_step = sp_cost_of_step(c, m->cheapest_step_s);
    }
    m->value = sp_machine_value(s, machine);
    m->is_compared = s->machines > 1 && best >= 0 && !isnan(m->value);
    if (!m->is_compared)
        return;
    m->least = sp_machine_value(s, best);
    m->is_best = machine == best;
    m->tie = !m->is_best && sp_is_tie(m->value, m->least, sp_machines_lead(s, machine, best));
}

static struct machine_rows read_machine(const struct sp_searching *s, int i)
{
    const struct sp_candidate *const c = s->of.machine[i];
    const struct sp_found *const best = sp_best_of(&s->of, i);
    struct machine_rows m = {.c = c,
                             .price = &s->price[i],
                             .devices = (double)sp_chips(&c->base.hw),
                             .step_s = sp_best_step_of(&s->of, i),
                             .mfu = NAN,
                             .device_bytes = best ? best->bytes : NAN,
                             .batch = (double)c->base.plan.batch,
                             .seq = (double)c->base.plan.seq,
                             .tokens = s->args->value.tokens,
                             .budget = s->args->value.budget};
    if (best)
        m.mfu = sp_rates_on(&s->of, i, m.step_s).mfu;
    m.batch_tokens = sp_batch_tokens(m.batch, m.seq);
    m.usd_per_step = sp_cost_of_step(c, m.step_s);
    m.usd_of_run = sp_cost_of_steps(m.tokens, m.batch_tokens, m.usd_per_step);
    m.has_budget = !isnan(m.budget);
    read_comparison(&s->of, i, &m);
    return m;
}

/* The price of each machine; list prices of different years are no comparison. */
static void note_prices(struct sp_searching *s)
{
    const struct sp_price *const first = &s->price[0];
    bool alike = true;
    for (int i = 0; i < s->of.machines; i++) {
        const struct sp_price *const price = &s->price[i];
        char words[160];
        sp_price_text(price, words, sizeof words);
        sp_line(s->report, "%s %s a device-hour: %s", i == 0 ? "prices    " : "          ",
                s->of.machine[i]->hw, words);
        alike = alike && price->is_typed == first->is_typed && price->year == first->year;
    }
    if (!alike)
        sp_note(s->report, "the prices are not of one year and kind, so the costs do not compare "
                           "the machines: give what you pay, --price MACHINE=USD,MACHINE=USD");
}

/* How many tokens --budget buys on each machine. */
static void note_budget(struct sp_searching *s)
{
    const double budget = s->args->value.budget, tokens = s->args->value.tokens;
    for (int i = 0; i < s->of.machines && !isnan(budget); i++) {
        char key[64];
        snprintf(key, sizeof key, "machines.%d.tokens_for_budget", i);
        const double bought = sp_find(s->report, key)->number;
        sp_line(s->report, "%s %s: %s buy %s tokens%s", i == 0 ? "budget    " : "          ",
                s->of.machine[i]->hw, sp_human_text(budget, SP_USD),
                sp_human_text(bought, SP_TOKENS),
                isnan(tokens)      ? ""
                : bought >= tokens ? ", those of the run among them"
                                   : ", fewer than the run's");
    }
}

static void note_machine_ties(struct sp_searching *s)
{
    const struct sp_search *const of = &s->of;
    const int best = sp_best_machine_but(of, -1);
    const int second = best < 0 ? -1 : sp_best_machine_but(of, best);
    if (second < 0)
        return;
    const double lead = sp_machines_lead(of, best, second);
    const double apart = log(sp_machine_value(of, second) / sp_machine_value(of, best));
    sp_line(s->report,
            "machines   %s is %.1f %% ahead of %s in %s: %s between two machines (%.0f %%)%s",
            of->machine[best]->hw, sp_percent_of_log(apart), of->machine[second]->hw,
            of->goal == SP_GOAL_COST ? "cost" : "step time",
            apart < lead ? "less than the error" : "more than the error", sp_percent_of_log(lead),
            apart < lead ? ", a tie" : "");
}

static void put_machines(struct sp_searching *s)
{
    struct sp_row rows[SP_MAX_MACHINES] = {0};
    static const struct sp_column columns[] = {
        {"hw", "machine", true},
        {"devices", "devices", false},
        {"step_s", "best step", false},
        {"tokens_per_s", "throughput", false},
        {"mfu", "MFU", false},
        {"device_bytes", "memory", false},
        {"days", "days", false},
        {"cost_usd", "cost", false},
        {"cost_ratio", "cost / least", false},
        {"break_even_usd_per_h", "USD/h to match", false},
        {"profile", "profile", true},
    };
    for (int i = 0; i < s->of.machines; i++) {
        const struct machine_rows m = read_machine(s, i);
        const struct sp_search_result *const r = &m.c->result;
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "machines.%d", i);
        sp_scope(s->report, rows[i].prefix);
        put_machine_rows(s->report, &m);
        if (s->of.machines > 1 && s->of.run.front)
            put_points(s->report, r->front.found, (size_t)r->front.n, rows[i].prefix);
        else if (s->of.machines > 1)
            put_points(s->report, r->best.found, (size_t)r->best.n, rows[i].prefix);
    }
    sp_scope(s->report, "");
    if (s->of.machines > 1) {
        sp_line(s->report, " ");
        sp_table(s->report, columns, sizeof columns / sizeof *columns, rows,
                 (size_t)s->of.machines);
        note_machine_ties(s);
        note_prices(s);
    }
    note_budget(s);
}

/* A batch that hardly any number of replicas divides. */
static void note_divisors(struct sp_searching *s)
{
    const int64_t batch = s->of.machine[0]->base.plan.batch;
    int64_t even = 1;
    while (batch % (2 * even) == 0)
        even *= 2;
    if (even * 16 < batch)
        sp_note(s->report, "few numbers of replicas divide %lld sequences: %.0f would be rounder",
                (long long)batch, exp2(round(log2((double)batch))));
}

/* Profiles of stacks that no run is known of are said where machines are compared. */
static void note_borrowed(struct sp_searching *s)
{
    char names[512] = "";
    for (int i = 0; i < s->of.machines; i++) {
        const struct sp_candidate *const m = s->of.machine[i];
        const size_t used = strlen(names);
        if (!m->base.own_profile)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     m->base.profile.name);
    }
    if (names[0])
        sp_note(s->report,
                "no run of %s is known: borrowed from sibling stacks, so the order of machines "
                "hangs on them (docs/accuracy.md)",
                names);
}

/* The answer as a whole. */
struct search_rows {
    const struct sp_search *of;
    const struct sp_candidate *first;
    const struct sp_planned *base; /* of the first */
    struct sp_search_sum sum;
    const char *objective;
    char *arguments;
    bool timings;
};

#define SP_ROWS "commands/search.def"
#define SP_ROWS_OF struct search_rows
#define SP_PUT_ROWS put_rows
#include "answer/put_rows.h"

void sp_report_search(struct sp_searching *s)
{
    struct sp_report *const r = s->report;
    struct search_rows rows = {.of = &s->of,
                               .first = s->of.machine[0],
                               .base = &s->of.machine[0]->base,
                               .objective = s->of.run.front ? s->args->text[SP_O_pareto]
                                                            : sp_goal_names[s->of.goal],
                               .timings = s->timings};
    sp_restate_robust(&s->of);
    rows.sum = sp_sum_up(&s->of);
    if (s->of.run.shards > 1)
        rows.arguments = words_of(s);
    sp_answer_is(r, "plans");
    put_rows(r, &rows);
    cJSON_free(rows.arguments);
    put_machines(s);
    const size_t listed = put_plans(s, rows.sum.partial);
    if (listed == 0 && !rows.sum.partial)
        put_least(s);
    else if (listed == 0)
        sp_line(r, "no plan was found before the interrupt, which says nothing about the rest of "
                   "the space");
    sp_note_batch(r, rows.base);
    note_divisors(s);
    if (s->of.machines > 1)
        note_borrowed(s);
    sp_note(r, "estimates, as `step`; docs/accuracy.md says how right they are");
}
