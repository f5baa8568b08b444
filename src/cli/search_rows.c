/* The list of plans of a search as a report, for `search` and `merge`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <scaleplan/estimate.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/plan_fields.h"
#include "cli/search_layout.h"
#include "cli/search_machine_rows.h"
#include "cli/search_nearby.h"
#include "cli/plan_rows.h"
#include "cli/plan_table.h"
#include "answer/utilisation.h"

/* A plan of the list, after the rows of `step`. */
struct plan_rows {
    const struct sp_ranked *one, *first;
    const struct sp_planned *planned;
    const char *name, *waits_for;
    char *command;
    double waits_pct, run_step_s, mfu, tokens, usd_per_h, octaves;
    bool robust, ranks_time, tie, grounded;
};

static void put_run(struct sp_report *r, const struct plan_rows *s)
{
    sp_put_run(r, s->planned, s->run_step_s, s->tokens, s->usd_per_h);
}

#define SP_PART search_plan
#define SP_PART_OF struct plan_rows
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
    sp_estimate_planned(&planned, s->of.convention, SP_WITH_ALL, &e);
    sp_put_step(s->report, &planned, &e);
    const size_t most = sp_most_time_beside_matmuls(&e.time);
    const struct plan_rows rows = {.one = one,
                                   .first = all,
                                   .planned = &planned,
                                   .name = name,
                                   .command = sp_step_line(s, m, &one->found->plan, NULL),
                                   .waits_for = sp_time_parts[most].name,
                                   .waits_pct =
                                       sp_percent_of(sp_time_part(&e.time, most), e.time.step),
                                   .run_step_s = sp_run_step_s(&s->of, one->found),
                                   .mfu = e.rates.mfu,
                                   .tokens = s->args->value.tokens,
                                   .usd_per_h = m->base.problem.price.usd_per_h,
                                   .octaves = sp_octaves_of(m, &one->found->plan),
                                   .grounded = s->of.grounded,
                                   .robust = s->of.robust,
                                   .ranks_time = sp_ranks_time(&s->of),
                                   .tie = at > 0 && sp_ties_with_first(&s->of, all, at)};
    put_search_plan_rows(s->report, &rows);
    free(rows.command);
}

static struct sp_plan *room_for_plans(size_t n)
{
    struct sp_plan *const plans = sp_must(calloc(n + 1, sizeof *plans));
    return plans;
}

/* The plan that the estimate alone would put first. */
struct faster_rows {
    const struct sp_found *found;
    double first_step_s, octaves;
    bool hides_list, is_tie; /* is_tie: ahead by less than the error of a lead */
    const char *name;
    char *command;
};

#define SP_PART search_faster
#define SP_PART_OF struct faster_rows
#include "answer/put_rows.h"

/* The answer as a whole. */
struct search_rows {
    struct sp_searching *s;
    const struct sp_search *of;
    const struct sp_candidate *first;
    const struct sp_planned *base; /* of the first */
    struct sp_search_sum sum;
    const char *objective, *above_peak, *full_above_peak;
    char *arguments;
    bool timings, attends, is_empty;
    struct sp_ranked *all; /* `found` plans, of which `n` are listed */
    size_t found, n;
    char price[160];
    bool hides_list; /* left out of the short text, which shows machines or another plan instead */
    bool is_laid_out;
    struct sp_laid_out laid_out; /* the plan that unequal stages make faster than the first */
    int n_ties;                  /* plans that tie with the first */
    double lead;
    char ties[5 * SP_SEARCH_TOP * SP_MAX_MACHINES]; /* "2, 3 and 4 tie" */
    struct sp_least least;                          /* if nothing fits */
    enum sp_verdict verdict;                        /* of the first plan */
    char idle[48];                                  /* number of devices that stay idle */
    char constraints[240];                          /* of the space: devices, batch, options */
    char borrowed[512]; /* profiles without a known run, where machines are compared */
};

#define HAS_LEAD (s->n > 1 && sp_ranks_time(s->of))
/* The limit is the memory where running out is unlikely, not an option or what a tight plan needs.
 */
#define HAS_SAFE_LIMIT                                                                             \
    (s->verdict == SP_VERDICT_YES && isnan(s->of->limits.most_bytes) &&                            \
     isnan(s->of->limits.headroom))

/* "take 1.05 % longer": the second plan of the list compared with the first, by the value that
 * ranks them. */
static const char *second_words(const struct search_rows *s, struct sp_text *room)
{
    static const char *const of_goal[][4] = {
        [SP_GOAL_STEP] = {"take", "longer", "less", "as long"},
        [SP_GOAL_COST] = {"cost", "more", "less", "as much"},
        [SP_GOAL_MFU] = {"have an MFU", "lower", "higher", "lower"}};
    const char *const *const words = of_goal[s->of->problem.goal];
    const double more = sp_percent_more(s->all[1].value, s->all[0].value);
    snprintf(room->s, sizeof room->s, "%s to %s %s %s%s",
             s->of->grounded ? "expected" : "estimated", words[0], sp_human_lead(fabs(more)),
             words[more >= 100 ? 3 : 1 + (more < 0)],
             more < 0        ? ", but is less simple"
             : s->of->robust ? " at the bad ends"
                             : "");
    return room->s;
}

static void put_machines(struct sp_report *report, const struct search_rows *rows)
{
    (void)report;
    sp_put_machines(rows->s, rows->n > 0 ? rows->all : NULL);
}

/* Buying compared with renting; with one machine the keys are at the top level. */
static void put_purchases(struct sp_report *r, const struct search_rows *s)
{
    for (int i = 0; i < s->of->machines; i++) {
        char scope[32] = "";
        if (s->of->machines > 1)
            snprintf(scope, sizeof scope, "machines.%d", i);
        sp_scope(r, scope);
        sp_put_purchase(r, s->of->machine[i]->hw, &s->of->machine[i]->base.problem.price, NAN, NAN);
    }
    sp_scope(r, "");
}

/* The list under plans.0, plans.1, ...: short names tell its plans apart. */
static void put_list(struct sp_report *r, const struct search_rows *s)
{
    struct sp_plan *const listed = room_for_plans(s->n);
    for (size_t i = 0; i < s->n; i++)
        listed[i] = s->all[i].found->plan;
    struct sp_short_name *const names = sp_names_of_plans(listed, s->n);
    for (size_t i = 0; i < s->n; i++) {
        char place[24];
        snprintf(place, sizeof place, "%zu", i + 1);
        sp_begin_row(r, place, "plans.%zu", i);
        put_plan(s->s, s->all, i, names[i].text);
    }
    free(names);
    free(listed);
    sp_stand_in(r, s->s->args->given.top ? SP_LISTED
                   : s->hides_list       ? SP_DETAILS
                   : s->of->run.front    ? SP_SPREAD
                                         : SP_BOTH);
    sp_put_plan_table(s->s, s->all, s->n);
    sp_stand_in(r, SP_BOTH);
}

static void put_faster(struct sp_report *r, const struct search_rows *s)
{
    const struct sp_ranked *const first = &s->all[0];
    const struct sp_candidate *const m = s->of->machine[first->machine];
    const struct sp_found *const found = sp_faster_than_first(s->of, first);
    if (!found)
        return;
    const struct sp_plan both[] = {first->found->plan, found->plan};
    struct sp_short_name *const names = sp_names_of_plans(both, 2);
    struct faster_rows rows = {.found = found,
                               .first_step_s = first->found->step_s,
                               .hides_list = s->hides_list || s->is_laid_out,
                               .is_tie = sp_is_tie(found->step_s, first->found->step_s, s->lead),
                               .octaves = sp_octaves_of(m, &found->plan),
                               .name = names[1].text,
                               .command = sp_step_line(s->s, m, &found->plan, NULL)};
    put_search_faster_rows(r, &rows);
    free(rows.command);
    free(names);
}

static void put_laid_out(struct sp_report *r, const struct search_rows *s)
{
    (void)r;
    if (s->is_laid_out)
        sp_put_laid_out(s->s, &s->all[0], &s->laid_out, s->lead, s->hides_list);
}

/* The robust plan beside the fastest as estimated. */
struct robust_rows {
    const struct sp_found *best;
    struct sp_as_estimated other;
    char *command; /* of the other */
};

#define SP_PART search_robust
#define SP_PART_OF struct robust_rows
#include "answer/put_rows.h"

static void put_robust(struct sp_report *r, const struct search_rows *s)
{
    const struct sp_ranked *const best = &s->all[0];
    struct robust_rows rows = {.best = best->found};
    if (!sp_find_as_estimated(s->of, best, &rows.other))
        return;
    rows.command =
        sp_step_line(s->s, s->of->machine[best->machine], &rows.other.fastest.plan, NULL);
    put_search_robust_rows(r, &rows);
    free(rows.command);
}

/* "512 devices, batch exactly 1024". */
static void say_constraints(const struct sp_search *s, char *out, size_t size)
{
    const struct sp_candidate *const m = s->machine[0];
    const bool about = sp_is_free_batch(&m->base.problem.batch);
    char devices[64];
    if (s->machines > 1)
        snprintf(devices, sizeof devices, "all devices");
    else if (m->least_devices < m->asked.devices)
        snprintf(devices, sizeof devices, "%lld to %lld devices", (long long)m->least_devices,
                 (long long)m->asked.devices);
    else
        snprintf(devices, sizeof devices, "%lld devices", (long long)m->asked.devices);
    const struct sp_asked_batch *const batch = &m->base.problem.batch;
    const bool whole = s->machines == 1 && m->space.whole_axes && m->space.n_boxes > 1;
    snprintf(out, size, "%s, batch %s %.6g%s%s", devices, about ? "within 5 % of" : "exactly",
             about ? batch->tokens / batch->seq : (double)m->asked.batch,
             whole ? ", TP over whole axes (--any: over parts)" : "",
             sp_is_limited(&s->limits) ? ", within the given options" : "");
}

static void put_nearby(struct sp_report *r, const struct search_rows *s)
{
    (void)r;
    sp_put_nearby(s->s, s->n > 0         ? SP_SEARCH_FOUND
                        : s->is_empty    ? SP_SEARCH_EMPTY
                        : s->sum.partial ? SP_SEARCH_STOPPED
                                         : SP_SEARCH_TOO_LARGE);
}

static void note_batch(struct sp_report *r, const struct search_rows *s)
{
    struct sp_planned best = *s->base;
    if (s->n > 0) /* the first plan's batch and machine */
        sp_planned_of(&s->of->machine[s->all[0].machine]->base, s->all[0].found, &best);
    sp_note_batch(r, &best);
}

#define SP_PART search
#define SP_PART_OF struct search_rows
#include "answer/put_rows.h"

/* The search's own words as JSON, which `merge` needs; free() it. */
static char *words_of(const struct sp_searching *s)
{
    static const enum sp_option_id except[] = {
        SP_O_shard, SP_O_format,  SP_O_get,   SP_O_explain, SP_O_threads,
        SP_O_check, SP_O_timings, SP_O_write, SP_O_quiet,   SP_NO_OPTION};
    struct sp_words words = {0};
    cJSON *const list = cJSON_CreateArray();
    sp_add_word(&words, "search");
    sp_add_all(&words, s->args, except);
    for (int i = 0; i < words.n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(words.word[i]));
    char *const text = sp_must(cJSON_PrintUnformatted(list));
    cJSON_Delete(list);
    sp_free_words(&words);
    return text;
}

/* The plans to list: a part lists those of every machine, because `merge` needs each machine's
 * best. */
static void rank_plans(struct search_rows *s, bool all_of_front)
{
    const struct sp_search_run *const run = &s->of->run;
    const size_t wanted = (size_t)run->wanted;
    s->all = sp_rank_plans(s->of, &s->found);
    s->n = s->found;
    if (run->shards > 1 || s->n <= wanted || (run->front && all_of_front))
        return;
    if (run->front)
        sp_thin_out(s->all, s->n, wanted);
    s->n = wanted;
}

static void find_ties(struct search_rows *s)
{
    size_t last = 0;
    for (size_t i = 1; i < s->n; i++)
        if (sp_ties_with_first(s->of, s->all, i))
            last = i;
    for (size_t i = 1; i <= last; i++)
        if (sp_ties_with_first(s->of, s->all, i))
            sp_append(s->ties, sizeof s->ties, "%s%zu",
                      s->n_ties++ == 0 ? ""
                      : i == last      ? " and "
                                       : ", ",
                      i + 1);
    sp_append(s->ties, sizeof s->ties, "%s",
              s->n_ties == 0   ? "no plan ties"
              : s->n_ties == 1 ? " ties"
                               : " tie");
    s->lead = sp_first_lead_log(s->of, s->all);
}

static enum sp_verdict verdict_of(const struct sp_search *s, const struct sp_ranked *ranked)
{
    const struct sp_step_inputs in = sp_inputs_of(&s->machine[ranked->machine]->base);
    return sp_plan_verdict(&in, ranked->found->bytes);
}

/* Lines about the list or, if nothing fits, about the smallest plan. */
static void read_list(const struct sp_searching *s, struct search_rows *rows)
{
    rank_plans(rows, !s->args->given.top);
    rows->least.bytes = NAN;
    rows->verdict = rows->n > 0 ? verdict_of(&s->of, &rows->all[0]) : SP_VERDICT_NO;
    if (rows->n == 0 && !rows->sum.partial) {
        rows->least = sp_least_memory(&s->of);
        rows->is_empty = isnan(rows->least.bytes) && !rows->least.partial;
    }
    if (rows->n == 0)
        return;
    rows->is_laid_out = sp_find_laid_out(&s->of, rows->all, rows->n, &rows->laid_out);
    find_ties(rows);
    const struct sp_rates rates =
        sp_rates_on(&s->of, rows->all[0].machine, rows->all[0].found->step_s);
    rows->above_peak = sp_above_peak(rates.mfu, s->of.convention);
    rows->attends = sp_attention_counts(&rates);
    if (s->of.convention != SP_FLOPS_FULL)
        rows->full_above_peak = sp_above_peak(rates.mfu_by[SP_FLOPS_FULL], SP_FLOPS_FULL);
    if (s->of.machines == 1 && s->args->given.tokens)
        sp_price_text(&s->of.machine[0]->base.problem.price, rows->price, sizeof rows->price);
}

void sp_report_search(struct sp_searching *s)
{
    struct search_rows rows = {.s = s,
                               .of = &s->of,
                               .first = s->of.machine[0],
                               .base = &s->of.machine[0]->base,
                               .objective = s->of.run.front ? s->args->text[SP_O_pareto]
                                                            : sp_goal_names[s->of.problem.goal],
                               .hides_list =
                                   s->of.machines > 1 || s->args->value.against || s->from,
                               .timings = s->timings};
    sp_restate_robust(&s->of);
    rows.sum = sp_sum_up(&s->of);
    if (rows.base->left_idle > 0)
        snprintf(rows.idle, sizeof rows.idle, " (%lld of %lld stay idle)",
                 (long long)rows.base->left_idle, (long long)rows.first->asked.devices);
    say_constraints(&s->of, rows.constraints, sizeof rows.constraints);
    read_list(s, &rows);
    for (int i = 0; i < s->of.machines && s->of.machines > 1; i++) {
        const struct sp_planned *const p = &s->of.machine[i]->base;
        if (!p->own_profile)
            sp_append(rows.borrowed, sizeof rows.borrowed, "%s%s", rows.borrowed[0] ? ", " : "",
                      p->profile.name);
    }
    if (s->of.run.shards > 1)
        rows.arguments = words_of(s);
    if (s->of.run.front)
        sp_answer_is(s->report, "plans");
    else
        sp_answer_is_first_of(s->report, "plans");
    put_search_rows(s->report, &rows);
    sp_put_length(s->report, &rows.base->model, (double)rows.base->plan.seq);
    cJSON_free(rows.arguments);
    free(rows.all);
}
