/* search: the answer as a report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/number.h"
#include "cli/plan_fields.h"
#include "commands/search_report.h"
#include "commands/step_report.h"
#include "commands/utilisation.h"

const char *const sp_goal_names[] = {"step", "mfu", "cost", "devices", "memory", NULL};

static struct sp_rates rates_of(const struct sp_searching *s, const struct sp_candidate *m,
                                double step_s)
{
    const struct sp_step_inputs in = sp_inputs_of(&m->base);
    return sp_step_rates(&in, step_s, s->convention);
}

static double value_of(const struct sp_searching *s, int machine, const struct sp_found *found)
{
    const struct sp_candidate *const m = s->machine[machine];
    const double step = s->robust ? found->value : found->step_s;
    switch (s->goal) {
    case SP_GOAL_MFU:
        return -rates_of(s, m, step).mfu;
    case SP_GOAL_COST:
        return sp_cost_of_step(m, step);
    case SP_GOAL_DEVICES:
        return (double)sp_chips(&m->base.hw);
    case SP_GOAL_MEMORY:
        return found->bytes;
    default:
        return step;
    }
}

static int by_goal(const void *a, const void *b)
{
    const struct sp_ranked *const x = a, *const y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->then != y->then)
        return x->then < y->then ? -1 : 1;
    if (x->machine != y->machine)
        return x->machine - y->machine;
    if (x->found->group != y->found->group)
        return x->found->group < y->found->group ? -1 : 1;
    return x->found->leaf < y->found->leaf ? -1 : x->found->leaf > y->found->leaf;
}

/* Whether another machine's point beats this one in step time, memory and cost. */
static bool is_beaten_across(const struct sp_searching *s, const struct sp_ranked *all, size_t n,
                             const struct sp_ranked *one)
{
    const bool cost = strstr(s->args->text[SP_O_pareto], "cost") != NULL;
    for (size_t i = 0; i < n; i++) {
        const struct sp_ranked *const other = &all[i];
        const double mine =
            cost ? sp_cost_of_step(s->machine[one->machine], one->found->step_s) : 0;
        const double theirs =
            cost ? sp_cost_of_step(s->machine[other->machine], other->found->step_s) : 0;
        const bool no_worse = other->found->step_s <= one->found->step_s &&
                              other->found->bytes <= one->found->bytes && theirs <= mine;
        const bool better = other->found->step_s < one->found->step_s ||
                            other->found->bytes < one->found->bytes || theirs < mine;
        if (no_worse && better)
            return true;
    }
    return false;
}

/* Every machine's plans in one order; the caller frees them. */
static struct sp_ranked *rank(const struct sp_searching *s, size_t *n)
{
    size_t room = 1;
    for (int i = 0; i < s->machines; i++)
        room +=
            (size_t)(s->run.front ? s->machine[i]->result.front.n : s->machine[i]->result.best.n);
    struct sp_ranked *const all = calloc(room, sizeof *all);
    if (!all)
        abort();
    *n = 0;
    for (int i = 0; i < s->machines; i++) {
        const struct sp_search_result *const r = &s->machine[i]->result;
        const int count = s->run.front ? r->front.n : r->best.n;
        for (int k = 0; k < count; k++) {
            const struct sp_found *const found =
                s->run.front ? &r->front.found[k] : &r->best.found[k];
            all[(*n)++] = (struct sp_ranked){i, found, value_of(s, i, found), found->step_s};
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < *n && s->run.front && s->machines > 1; i++)
        if (!is_beaten_across(s, all, *n, &all[i]))
            all[kept++] = all[i];
    if (s->run.front && s->machines > 1)
        *n = kept;
    qsort(all, *n, sizeof *all, by_goal);
    return all;
}

/* Keeps `wanted` of the n points of a front, in their order: its ends and evenly many between. The
 * fastest alone would leave out what a front is for. */
static void thin_out(struct sp_ranked *all, size_t n, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++)
        all[i] = all[wanted > 1 ? i * (n - 1) / (wanted - 1) : 0];
}

/* How many of n plans are listed: a part lists every machine's, since `merge` needs each machine's
 * best. */
static size_t shorten(const struct sp_searching *s, struct sp_ranked *all, size_t n)
{
    const size_t wanted = (size_t)s->run.wanted;
    if (s->run.shards > 1 || n <= wanted || (s->run.front && !s->args->given.top))
        return n;
    if (s->run.front) {
        thin_out(all, n, wanted);
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

/* One plan, by the path of `step`. */
static void put_plan(struct sp_searching *s, const struct sp_ranked *one)
{
    struct sp_report *const r = s->report;
    struct sp_planned planned;
    struct sp_estimate e;
    const struct sp_candidate *const m = s->machine[one->machine];
    struct sp_words words;
    sp_planned_of(&m->base, one->found, &planned);
    sp_estimate_planned(&planned, s->convention, &e);
    sp_put_step(r, &planned, &e);
    put_waits(r, &e.time);
    const double tokens = s->args->value.tokens;
    sp_put_budget(r, &planned, &m->price, e.time.step, tokens);
    sp_step_words(s, m, one->found, &words);
    sp_put_command(r, &words);
    sp_put(r, SP_Q_SEARCH_MACHINE_AT, one->machine);
    sp_put(r, SP_Q_SEARCH_GROUP, (double)one->found->group);
    sp_put(r, SP_Q_SEARCH_LEAF, (double)one->found->leaf);
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
    {{"time.step_s", "step", false}, false, 0},
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
    if (s->machines > 1) {
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
            sp_counted_flops[s->convention]);
    sp_note_utilisation(s->report, "the MFU",
                        rates_of(s, s->machine[all[0].machine], all[0].found->step_s).tuned_mfu,
                        s->convention);
    if (s->machines == 1 && s->args->given.tokens) {
        char price[160];
        sp_price_text(&s->machine[0]->price, price, sizeof price);
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

static size_t put_plans(struct sp_searching *s, bool partial)
{
    size_t found;
    struct sp_ranked *const all = rank(s, &found);
    const size_t n = shorten(s, all, found);
    if (s->run.front)
        sp_put(s->report, SP_Q_SEARCH_POINTS, (double)found);
    struct sp_row *const rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        abort();
    struct sp_plan *const listed = room_for_plans(n);
    for (size_t i = 0; i < n; i++)
        listed[i] = all[i].found->plan;
    struct sp_short_name *const names = names_of(listed, n);
    for (size_t i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "plans.%zu", i);
        snprintf(rows[i].label, sizeof rows[i].label, "%zu", i + 1);
        sp_scope(s->report, rows[i].prefix);
        put_plan(s, &all[i]);
        sp_put_lead(s, all, i);
        sp_put_text(s->report, SP_Q_SEARCH_NAME, "%s", names[i].text);
    }
    free(names);
    free(listed);
    sp_scope(s->report, "");
    sp_put(s->report, SP_Q_SEARCH_FOUND, (double)n);
    if (n > 0 || !partial)
        sp_put_bool(s->report, SP_Q_SEARCH_FITS, n > 0);
    else
        sp_put_null(s->report, SP_Q_SEARCH_FITS); /* of half a space nobody can say "no" */
    if (n > 0)
        put_table(s, all, rows, n);
    sp_put_ties(s, all, n);
    if (s->robust && n > 0)
        sp_put_robust(s, &all[0]);
    free(rows);
    free(all);
    return n;
}

/* What `merge` needs to know: which part this is, and of what. */
static void put_shard(struct sp_searching *s)
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
    sp_put_text(s->report, SP_Q_SEARCH_SHARD, "%d/%d", s->run.shard + 1, s->run.shards);
    sp_put_text(s->report, SP_Q_SEARCH_ARGUMENTS, "%s", text);
    cJSON_free(text);
    cJSON_Delete(list);
    sp_free_words(&words);
}

/* How far the search came, over all machines. */
struct outcome {
    bool partial, proven;
};

/* No answer has a clock in it unless it is asked for: answers can be compared byte by byte. */
static void put_timings(struct sp_report *r, const struct sp_search_counts *sum, double elapsed,
                        int threads)
{
    sp_put(r, SP_Q_SEARCH_ELAPSED, elapsed);
    sp_put(r, SP_Q_SEARCH_THREADS, threads);
    sp_put(r, SP_Q_SEARCH_DECIDED, (double)sum->total / elapsed);
    sp_put(r, SP_Q_SEARCH_RATE, (double)(sum->evaluated + sum->no_memory) / elapsed);
}

static struct outcome put_counts(struct sp_searching *s)
{
    struct sp_search_counts sum = {0};
    double elapsed = 0;
    int threads = 0;
    bool partial = false, full = false;
    for (int i = 0; i < s->machines; i++) {
        const struct sp_search_result *const r = &s->machine[i]->result;
        sp_add_counts(&sum, &r->counts);
        elapsed += r->elapsed_s;
        threads = r->threads > threads ? r->threads : threads;
        partial = partial || r->partial;
        full = full || r->front.full;
    }
    const bool proven = !partial && !full && s->run.shards == 1;
    struct sp_report *const r = s->report;
    sp_put(r, SP_Q_SEARCH_TOTAL, (double)sum.total);
    sp_put(r, SP_Q_SEARCH_EVALUATED, (double)sum.evaluated);
    sp_put(r, SP_Q_SEARCH_NO_MEMORY, (double)sum.no_memory);
    sp_put(r, SP_Q_SEARCH_BY_MEMORY, (double)sum.by_memory);
    sp_put(r, SP_Q_SEARCH_BY_TIME, (double)sum.by_time);
    sp_put_bool(r, SP_Q_SEARCH_PARTIAL, partial);
    sp_put_bool(r, SP_Q_SEARCH_PROVEN, proven);
    if (s->timings)
        put_timings(r, &sum, elapsed, threads);
    if (s->run.shards > 1)
        put_shard(s);
    if (partial)
        sp_note(r, "stopped early: these are the best plans so far, not the optimum");
    if (full)
        sp_note(r, "the front has more points than there is room for (%d): narrow the search",
                SP_SEARCH_FRONT);
    return (struct outcome){partial, proven};
}

/* What the smallest plan needs, when nothing fits. */
static void put_least(struct sp_searching *s)
{
    struct sp_candidate *const m = s->machine[0];
    struct sp_search_run run = s->run;
    struct sp_search_result least;
    const double limit = m->space.most_bytes;
    run.front = false;
    run.wanted = 1;
    run.shard = 0;
    run.shards = 1;
    m->space.most_bytes = INFINITY;
    m->space.objective = SP_LEAST_MEMORY;
    sp_run_search(&m->space, &run, &least);
    m->space.most_bytes = limit;
    if (least.partial)
        sp_note(s->report, "stopped early: a smaller plan may exist");
    if (least.best.n == 0 && !least.partial) {
        sp_note(s->report, "the space holds no plan at all: no degrees divide this model, batch "
                           "and machine under the given limits");
        return;
    }
    if (least.best.n == 0)
        return;
    sp_put(s->report, SP_Q_SEARCH_LEAST, least.best.found[0].bytes);
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

static void put_machines(struct sp_searching *s)
{
    struct sp_row rows[SP_MAX_MACHINES] = {0};
    static const struct sp_column columns[] = {
        {"machine", "machine", true},
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
    const int cheapest = sp_cheapest_of(s);
    for (int i = 0; i < s->machines; i++) {
        const struct sp_candidate *const m = s->machine[i];
        const struct sp_search_result *const result = &m->result;
        const struct sp_found *const best = sp_best_of(s, i);
        const double step = best ? best->step_s : NAN;
        const double batch = (double)m->base.plan.batch * (double)m->base.plan.seq;
        const double steps = s->args->value.tokens / batch;
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "machines.%d", i);
        sp_scope(s->report, rows[i].prefix);
        sp_put_text(s->report, SP_Q_SEARCH_M_NAME, "%s", m->hw);
        sp_put(s->report, SP_Q_SEARCH_M_DEVICES, (double)sp_chips(&m->base.hw));
        sp_put(s->report, SP_Q_SEARCH_M_STEP, step);
        sp_put(s->report, SP_Q_SEARCH_M_MFU, best ? rates_of(s, m, step).mfu : NAN);
        sp_put(s->report, SP_Q_SEARCH_M_MEMORY, best ? best->bytes : NAN);
        sp_put(s->report, SP_Q_SEARCH_M_TOKENS, batch / step);
        sp_put(s->report, SP_Q_SEARCH_M_DAYS, steps * step / 86400);
        sp_put(s->report, SP_Q_SEARCH_M_COST, steps * sp_cost_of_step(m, step));
        sp_put_bargain(s, i, cheapest, step, steps * sp_cost_of_step(m, step));
        sp_put_machine_lead(s, i);
        sp_put_list_price(s->report, &m->price);
        sp_put(s->report, SP_Q_SEARCH_M_LIMIT, m->space.most_bytes);
        sp_put_text(s->report, SP_Q_SEARCH_M_PROFILE, "%s%s", m->base.profile.name,
                    m->base.own_profile ? "" : " (borrowed)");
        if (s->machines > 1)
            put_points(s->report, s->run.front ? result->front.found : result->best.found,
                       (size_t)(s->run.front ? result->front.n : result->best.n), rows[i].prefix);
    }
    sp_scope(s->report, "");
    if (s->machines > 1) {
        sp_line(s->report, " ");
        sp_table(s->report, columns, sizeof columns / sizeof *columns, rows, (size_t)s->machines);
        sp_note_machine_ties(s);
        sp_note_prices(s);
    }
    sp_note_budget(s);
}

/* A batch that hardly any number of replicas divides. */
static void note_divisors(struct sp_searching *s)
{
    const int64_t batch = s->machine[0]->base.plan.batch;
    int64_t even = 1;
    while (batch % (2 * even) == 0)
        even *= 2;
    if (even * 16 < batch)
        sp_note(s->report, "few numbers of replicas divide %lld sequences: %.0f would be rounder",
                (long long)batch, exp2(round(log2((double)batch))));
}

/* What all machines have in common, and of one machine all. */
static void put_problem(struct sp_searching *s)
{
    const struct sp_planned *const base = &s->machine[0]->base;
    if (s->machines > 1) {
        sp_line(s->report, "%s on %d machines: batch of %lld sequences of %lld tokens; %s",
                base->model.name, s->machines, (long long)base->plan.batch,
                (long long)base->plan.seq, base->precision.name);
        return;
    }
    sp_line(s->report,
            "%s on %s, %lld devices: batch of %lld sequences of %lld tokens; %s, framework %s, "
            "profile %s%s",
            base->model.name, s->machine[0]->hw, (long long)sp_chips(&base->hw),
            (long long)base->plan.batch, (long long)base->plan.seq, base->precision.name,
            base->framework.framework.name, base->profile.name,
            base->own_profile ? "" : " (borrowed)");
}

/* Profiles of stacks that no run is known of are said where machines are compared. */
static void note_borrowed(struct sp_searching *s)
{
    char names[512] = "";
    for (int i = 0; i < s->machines; i++) {
        const struct sp_candidate *const m = s->machine[i];
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

bool sp_report_search(struct sp_searching *s, struct sp_error *error)
{
    struct sp_report *const r = s->report;
    (void)error;
    sp_put_text(r, SP_Q_SEARCH_OBJECTIVE, "%s",
                s->run.front ? s->args->text[SP_O_pareto] : sp_goal_names[s->goal]);
    sp_put(r, SP_Q_SEARCH_LIMIT, s->machine[0]->space.most_bytes);
    sp_restate_robust(s);
    const struct outcome outcome = put_counts(s);
    sp_answer_is(r, "plans");
    put_problem(s);
    sp_line(r, "space      {plans_total} plans: {plans_evaluated} evaluated, {excluded.memory} too "
               "large for {most_bytes} a device; ruled out in whole branches: "
               "{excluded.memory_bound} by memory, {excluded.objective_bound} by the objective");
    sp_line(r, "proof      %s",
            outcome.proven
                ? "every plan was evaluated or is provably no better: the optimum under the model"
                : "not every plan was looked at");
    sp_line(r, "timings    {elapsed_s}, threads: {threads}, {decided_per_s} plans decided and "
               "{evaluated_per_s} evaluated a second");
    put_machines(s);
    const size_t listed = put_plans(s, outcome.partial);
    if (listed == 0 && !outcome.partial)
        put_least(s);
    else if (listed == 0)
        sp_line(r, "no plan was found before the interrupt, which says nothing about the rest of "
                   "the space");
    sp_note_batch(r, &s->machine[0]->base);
    note_divisors(s);
    if (s->machines > 1)
        note_borrowed(s);
    sp_note(r, "estimates, as `step`; docs/accuracy.md says how right they are");
    return true;
}
