/* Beside the list of a search: problems close by that are better, and why a space is empty. */
#include "cli/search_nearby.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/words.h"

/* A problem close by. */
struct nearby_rows {
    const struct sp_planned *base;
    double batch_tokens, step_s, tokens_per_s, found_tokens_per_s; /* NAN: none was found */
    char option[128];
    char *command;
};

#define SP_PART search_nearby
#define SP_PART_OF struct nearby_rows
#include "answer/put_rows.h"

/* The command's own line with one option in place of another, and another batch unless that is "";
 * free() it. */
static char *same_line(const char *command, const struct sp_args *args, enum sp_option_id id,
                       const char *value, const char *batch)
{
    const enum sp_option_id except[] = {id,
                                        SP_O_format,
                                        SP_O_get,
                                        SP_O_explain,
                                        SP_O_check,
                                        SP_O_timings,
                                        SP_O_threads,
                                        SP_O_plot,
                                        SP_O_plot_width,
                                        SP_O_report,
                                        batch[0] ? SP_O_batch : id,
                                        SP_NO_OPTION};
    struct sp_words words = {0};
    sp_add_word(&words, "%s", command);
    sp_add_all(&words, args, except);
    sp_add_option(&words, sp_option_name(id), value);
    if (batch[0])
        sp_add_option(&words, sp_option_name(SP_O_batch), batch);
    char *const line = sp_shell_line(&words);
    sp_free_words(&words);
    return line;
}

static double tokens_of_batch(const struct sp_planned *p)
{
    return (double)p->plan.batch * (double)p->plan.seq;
}

/* Puts a nearby problem, and adds its words to the line. */
static void put_one(const struct sp_asked_near *asked, const struct sp_nearby *nearby,
                    enum sp_option_id id, bool both, char *words, size_t size)
{
    const struct sp_planned *const p = &nearby->at->base;
    const int64_t used = sp_chips(&p->hw);
    const size_t at = strlen(words);
    struct nearby_rows rows = {
        .base = p, .batch_tokens = tokens_of_batch(p), .step_s = nearby->step_s};
    char value[48], batch[48] = "", gain[64] = "", devices[48] = "", scope[48];
    rows.tokens_per_s = rows.batch_tokens / rows.step_s;
    rows.found_tokens_per_s = rows.tokens_per_s / nearby->gain;
    if (id == SP_O_batch || both)
        snprintf(both ? batch : value, sizeof value, "%lldx%lld", (long long)p->plan.batch,
                 (long long)p->plan.seq);
    if (id == SP_O_batch)
        ;
    else if (id == SP_O_idle)
        snprintf(value, sizeof value, "%lld", (long long)(asked->devices - used));
    else if (id == SP_O_fix)
        snprintf(value, sizeof value, "tp=%lld",
                 (long long)nearby->at->result.best.found[0].plan.tp);
    else
        snprintf(value, sizeof value, "%.30s-%lld", p->hw.name, (long long)used);
    if (id == SP_O_idle && !asked->named[0])
        snprintf(devices, sizeof devices, " (%lld devices)", (long long)used);
    if (id == SP_O_fix)
        snprintf(devices, sizeof devices, " (TP over parts of axes)");
    if (isnan(nearby->gain))
        snprintf(gain, sizeof gain, "step %s", sp_human_text(rows.step_s, SP_SECONDS));
    else
        snprintf(gain, sizeof gain, "+%.0f %%%s", 100 * (nearby->gain - 1), at ? "" : " tokens/s");
    snprintf(rows.option, sizeof rows.option, "--%s %s%s%s", sp_option_name(id), value,
             both ? " --batch " : "", batch);
    snprintf(words + at, size - at, "%s%s%s: %s", at ? "; " : "", rows.option, devices, gain);
    rows.command = same_line(asked->command, asked->args, id, value, batch);
    snprintf(scope, sizeof scope, "%snearby.%s", asked->scope,
             both               ? "both"
             : id == SP_O_batch ? "batch"
             : id == SP_O_fix   ? "parts"
                                : "devices");
    sp_scope(asked->report, scope);
    put_search_nearby_rows(asked->report, &rows);
    sp_scope(asked->report, "");
    free(rows.command);
}

bool sp_put_close_by(const struct sp_asked_near *asked, const struct sp_close_by *found)
{
    char words[512] = "";
    const enum sp_option_id fewer = asked->idles ? SP_O_idle : SP_O_hw;
    if (found->batch.at)
        put_one(asked, &found->batch, SP_O_batch, false, words, sizeof words);
    if (found->devices.at)
        put_one(asked, &found->devices, fewer, false, words, sizeof words);
    if (found->both.at)
        put_one(asked, &found->both, fewer, true, words, sizeof words);
    if (found->parts.at)
        put_one(asked, &found->parts, SP_O_fix, false, words, sizeof words);
    if (words[0])
        sp_line(asked->report, "nearby     %s%s%s", asked->named, asked->named[0] ? " " : "",
                words);
    return words[0] != '\0';
}

void sp_put_fewer_devices(struct sp_report *r, const struct sp_args *args, const char *command,
                          const char *name, const struct sp_finding *fewer)
{
    const struct sp_planned *const p = &fewer->at->base;
    struct nearby_rows rows = {.base = p,
                               .batch_tokens = tokens_of_batch(p),
                               .step_s = fewer->step_s,
                               .found_tokens_per_s = NAN};
    char value[48], days[48] = "", scope[32];
    rows.tokens_per_s = rows.batch_tokens / rows.step_s;
    snprintf(value, sizeof value, "%lldx%lld", (long long)p->plan.batch, (long long)p->plan.seq);
    snprintf(rows.option, sizeof rows.option, "--batch %s", value);
    if (!isnan(p->problem.tokens))
        snprintf(
            days, sizeof days, ", %s",
            sp_human_text(sp_days_of_steps(p->problem.tokens, rows.batch_tokens, fewer->run_step_s),
                          SP_DAYS));
    rows.command = same_line(command, args, SP_O_batch, value, "");
    snprintf(scope, sizeof scope, "nearby.%s", name);
    sp_scope(r, scope);
    put_search_nearby_rows(r, &rows);
    sp_scope(r, "");
    sp_line(r, "nearby     %s: %.0f %s (step %s%s)", rows.option, fewer->value, name,
            sp_human_text(rows.step_s, SP_SECONDS), days);
    free(rows.command);
}

/* A change that gives plans to a space that is empty or too small. */
struct empty_rows {
    const char *cause;
    char change[64];
};

#define SP_PART search_empty
#define SP_PART_OF struct empty_rows
#include "answer/put_rows.h"

static void put_empty(struct sp_report *r, const struct empty_rows *rows)
{
    sp_scope(r, "empty");
    put_search_empty_rows(r, rows);
    sp_scope(r, "");
}

/* "504 devices = 8 x 63". */
static void split_odd(int64_t n, char *out, size_t size)
{
    const int64_t odd = sp_odd_part(n);
    if (odd == 1 || odd == n)
        snprintf(out, size, "%lld", (long long)n);
    else
        snprintf(out, size, "%lld = %lld x %lld", (long long)n, (long long)(n / odd),
                 (long long)odd);
}

void sp_put_emptied(struct sp_report *r, const struct sp_planned *p, const struct sp_emptied *why)
{
    struct empty_rows rows = {.cause = sp_empty_causes[why->cause]};
    char devices[64], batch[64], line[256], all[400];
    split_odd(sp_chips(&p->hw), devices, sizeof devices);
    split_odd(p->plan.batch, batch, sizeof batch);
    if (why->cause == SP_EMPTY_BATCH)
        snprintf(rows.change, sizeof rows.change, "--batch %lldx%lld", (long long)why->change.batch,
                 (long long)p->plan.seq);
    else if (why->cause == SP_EMPTY_DEVICES)
        snprintf(rows.change, sizeof rows.change, "--idle %lld",
                 (long long)(sp_chips(&p->hw) - why->change.devices));
    else if (why->cause == SP_EMPTY_OPTION)
        snprintf(rows.change, sizeof rows.change, "other values of %s",
                 sp_plan_fields[why->field].name);
    else if (why->cause == SP_EMPTY_OPTIONS)
        snprintf(rows.change, sizeof rows.change, "none of --fix, --only and --max-...");
    if (why->cause == SP_EMPTY_BATCH || why->cause == SP_EMPTY_DEVICES)
        snprintf(line, sizeof line,
                 "no degrees multiply to %s devices and divide a batch of %s sequences", devices,
                 batch);
    else if (why->cause == SP_EMPTY_MODEL)
        snprintf(line, sizeof line,
                 "no degrees of this model multiply to %s devices; no batch or number of devices "
                 "nearby has a plan",
                 devices);
    else
        snprintf(line, sizeof line, "the options exclude all plans");
    snprintf(all, sizeof all, "%s%s%s", line, rows.change[0] ? "; there are plans with " : "",
             rows.change);
    sp_say_lack(r, all);
    sp_line(r, "empty      %s", all);
    put_empty(r, &rows);
}

/* The fewest devices on which some plan fits, if none fits on these. */
static void put_too_small(const struct sp_searching *s)
{
    const struct sp_planned *const p = &s->of.machine[0]->base;
    struct empty_rows rows = {.cause = "memory"};
    struct sp_finding f;
    char lack[128] = "no plan fits";
    if (p->hw.slices > 1)
        return;
    sp_find_fitting(&s->of, &f);
    if (!isnan(f.value)) {
        snprintf(rows.change, sizeof rows.change, "--hw %.40s-%.0f", p->hw.name, f.value);
        const bool is_timed = !isnan(p->problem.days) || !isnan(p->problem.max_step_s);
        sp_line(s->report, "%s at least %.0f devices (%s)", is_timed ? "in time   " : "to fit    ",
                f.value, rows.change);
        sp_append(lack, sizeof lack, "; there are plans with %s", rows.change);
    }
    free(f.at);
    sp_say_lack(s->report, lack);
    put_empty(s->report, &rows);
}

/* For several machines, each has a line that begins with its name. */
static bool put_near_machine(const struct sp_searching *s, int machine,
                             const struct sp_close_by *found)
{
    const bool several = s->of.machines > 1;
    struct sp_asked_near asked = {.report = s->report,
                                  .args = s->args,
                                  .command = "search",
                                  .devices = s->of.machine[machine]->asked.devices,
                                  .idles = true,
                                  .named = several ? s->of.machine[machine]->hw : ""};
    if (several)
        snprintf(asked.scope, sizeof asked.scope, "machines.%d.", machine);
    return sp_put_close_by(&asked, found);
}

void sp_put_nearby(const struct sp_searching *s, enum sp_search_outcome outcome)
{
    const bool several = s->of.machines > 1;
    for (int i = 0; i < s->of.machines && s->of.run.shards == 1; i++) {
        struct sp_close_by found;
        sp_look_close_by(&s->of, i, &found);
        if (outcome == SP_SEARCH_EMPTY && !several) {
            const struct sp_emptied why = sp_why_empty(&s->of, i, &found);
            sp_put_emptied(s->report, &s->of.machine[i]->base, &why);
        }
        if (several && i != sp_best_machine_but(&s->of, -1))
            sp_stand_in(s->report, SP_SPARE);
        if (!put_near_machine(s, i, &found) && outcome == SP_SEARCH_TOO_LARGE && !several)
            put_too_small(s);
        sp_stand_in(s->report, SP_BOTH);
        sp_free_close_by(&found);
    }
}
