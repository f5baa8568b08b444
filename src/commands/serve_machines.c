/* serve: several machines of --hw, compared by their instances. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "commands/serve.h"

enum { MOST_MACHINES = 16 };

/* One machine of --hw with its instances, best first or a front. */
struct rival {
    char hw[128];
    struct sp_args args;
    struct serve f;
    struct sp_serve_point points[SP_SERVE_POINTS];
    int n;
    struct sp_error why; /* that it answers no request of these; 0 lines: it does */
    const char *reason;  /* that none of its instances is in the list; NULL: one is */
};
#define SP_ROWS "commands/serve_machine.def"
#define SP_ROWS_OF struct rival
#define SP_PUT_ROWS put_machine
#include "answer/put_rows.h"

/* An instance among those of all machines. */
struct entry {
    const struct rival *of;
    const struct sp_serve_point *point;
    double usd; /* of a million tokens, read or generated; NAN: no price */
};

struct contest {
    const struct sp_args *args;
    struct sp_report *report;
    struct rival *rival[MOST_MACHINES];
    int n;
    enum sp_serve_objective objective;
    bool front;
};

/* Less is better; chips of different machines cost differently. */
static double score(const struct contest *c, const struct entry *e)
{
    return c->objective == SP_SERVE_COST ? e->usd : sp_serve_score(e->point, c->objective);
}

/* The instance that degrees ask for, where it is in time. */
static void take_asked(struct rival *v)
{
    const struct serve *const f = &v->f;
    const struct sp_steady y = sp_state_of_service(f);
    if (!sp_serves(f))
        return;
    v->points[0] = (struct sp_serve_point){.chips = f->service.chips,
                                           .replicas = f->replicas,
                                           .sequences = f->B,
                                           .tp = f->service.tp,
                                           .attention_dp = f->service.attention_dp,
                                           .tokens_per_s_per_chip =
                                               sp_share_of_instance(y.tokens_per_s, f->group_chips),
                                           .steady = y};
    v->n = 1;
}

/* False with an error for what is wrong on any machine; a load that this one alone does not serve
 * is its own reason. */
static bool open_machine(struct contest *c, const char *hw, const struct sp_sources *sources,
                         struct sp_error *error)
{
    if (c->n == MOST_MACHINES)
        return sp_fail(error, SP_INPUT, "--hw: more than %d machines", MOST_MACHINES);
    struct rival *const v = calloc(1, sizeof *v);
    if (!v)
        abort();
    c->rival[c->n++] = v;
    if (!*hw || strlen(hw) >= sizeof v->hw)
        return sp_fail(error, SP_INPUT, "--hw %s: an empty or too long name in the list",
                       sp_safe(c->args->value.hw));
    snprintf(v->hw, sizeof v->hw, "%s", hw);
    v->args = *c->args;
    v->args.value.hw = v->args.text[SP_O_hw] = v->hw;
    v->f = (struct serve){.args = &v->args, .report = c->report, .textbook = sources->textbook};
    if (!sp_load_service(&v->f, sources, error))
        return false;
    if (c->objective == SP_SERVE_COST && isnan(v->f.price.usd_per_h))
        return sp_fail(error, SP_INPUT, "no price of %s is known: give --price", v->f.hw.name);
    const bool loaded = sp_load_sequences(&v->f, &v->why);
    if (!v->f.degrees.given)
        v->n = sp_find_serve_points(&v->f, v->points);
    else if (loaded)
        take_asked(v);
    return true;
}

static bool open_machines(struct contest *c, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(c->args);
    const char *list = c->args->value.hw;
    const size_t size = strlen(list) + 1;
    char *const hw = malloc(size);
    bool ok = true;
    if (!hw)
        abort();
    while (ok && sp_next_item(&list, hw, size))
        ok = open_machine(c, hw, &sources, error);
    free(hw);
    const struct sp_hardware *machines[MOST_MACHINES];
    const char *specs[MOST_MACHINES];
    for (int i = 0; ok && i < c->n; i++) {
        machines[i] = &c->rival[i]->f.hw;
        specs[i] = c->rival[i]->hw;
    }
    return ok && sp_check_price(c->args, machines, specs, c->n, error);
}

/* Whether a machine's price makes it worse, or nothing is known of both. */
static bool costs_no_less(const struct entry *a, const struct entry *b)
{
    return isnan(a->usd) || isnan(b->usd) || a->usd >= b->usd;
}

/* Chips of different machines are not one unit: --objective cost compares money, and the front has
 * three coordinates. */
static bool beaten(const struct entry *all, size_t n, const struct entry *e)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].of != e->of && sp_serve_covers(all[i].point, e->point) &&
            costs_no_less(e, &all[i]))
            return true;
    return false;
}

/* What a million tokens of an instance cost. USD; NAN: no price. */
static double usd_of(const struct serve *f, const struct sp_serve_point *p)
{
    const double chip_s = sp_chip_seconds_of_token(p, f->service.input, f->service.output);
    return sp_usd_per_mtoken(chip_s, f->price.usd_per_h);
}

/* Instances of all machines: a front, or ordered by the objective. */
static size_t gather(const struct contest *c, struct entry **entries)
{
    size_t n = 0, left = 0;
    struct entry *const all = calloc((size_t)c->n * SP_SERVE_POINTS + 1, sizeof *all);
    struct entry *const kept = calloc((size_t)c->n * SP_SERVE_POINTS + 1, sizeof *kept);
    if (!all || !kept)
        abort();
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->rival[i]->n; k++) {
            const struct sp_serve_point *const p = &c->rival[i]->points[k];
            all[n++] = (struct entry){c->rival[i], p, usd_of(&c->rival[i]->f, p)};
        }
    for (size_t i = 0; i < n; i++) {
        if (c->front && beaten(all, n, &all[i]))
            continue;
        size_t at = left++;
        for (; at > 0 && score(c, &all[i]) < score(c, &kept[at - 1]); at--)
            kept[at] = kept[at - 1];
        kept[at] = all[i];
    }
    free(all);
    *entries = kept;
    return left;
}

static const char *why_not(const struct rival *v)
{
    return v->n > 0              ? "others beat all of its instances"
           : v->why.lines > 0    ? v->why.text
           : !v->f.holds_weights ? "it does not hold the weights"
                                 : "no instance holds the requests in time";
}

/* Each machine with its best instance, or why it has none. */
static void put_machines(const struct contest *c, const struct entry *entries, size_t n)
{
    struct sp_report *const r = c->report;
    for (int i = 0; i < c->n; i++) {
        struct rival *const v = c->rival[i];
        const struct entry *best = NULL;
        char prefix[32];
        for (size_t k = 0; k < n && !best; k++)
            best = entries[k].of == v ? &entries[k] : NULL;
        v->reason = best ? NULL : why_not(v);
        snprintf(prefix, sizeof prefix, "machines.%d", i);
        sp_scope(r, prefix);
        put_machine(r, v);
        if (best)
            sp_put_serve_point(&v->f, best->point);
    }
    sp_scope(r, "");
}

static const struct sp_column columns[] = {{"hw", "machine", true},
                                           {"devices", "chips", false},
                                           {"replicas", "instances", false},
                                           {"tp", "TP", false},
                                           {"attention_dp", "attention DP", false},
                                           {"batch", "sequences", false},
                                           {"tpot_s", "between tokens", false},
                                           {"ttft_s", "first token", false},
                                           {"tokens_per_s_per_user", "a user", false},
                                           {"tokens_per_s_per_device", "a chip", false},
                                           {"cost_usd_per_mtoken", "a Mtoken", false},
                                           {"reason", "why not", true}};

static void lay_out(const struct contest *c, size_t shown, size_t n)
{
    struct sp_row rows[SP_SERVE_POINTS] = {0}, machines[MOST_MACHINES] = {0};
    const size_t n_columns = sizeof columns / sizeof *columns;
    for (int i = 0; i < c->n; i++)
        snprintf(machines[i].prefix, sizeof machines[i].prefix, "machines.%d", i);
    for (size_t i = 0; i < shown; i++)
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "points.%zu", i);
    sp_line(c->report, "{verdict}");
    sp_line(c->report, " ");
    sp_table(c->report, columns, n_columns, machines, (size_t)c->n);
    if (shown == 0)
        return;
    sp_line(c->report, " ");
    sp_table(c->report, columns, n_columns - 1, rows, shown);
    sp_line(c->report, "%zu of %zu instances of all machines, %s (--top)", shown, n,
            c->front ? "that no other beats in both rates and price" : "best first by --objective");
}

static void put_verdict(const struct contest *c, const struct entry *best)
{
    struct sp_report *const r = c->report;
    sp_put_bool(r, SP_Q_SERVE_FITS, best != NULL);
    sp_put_bool(r, SP_Q_SERVE_SLO, best != NULL);
    if (!best) {
        sp_put_text(r, SP_Q_SERVE_VERDICT, "No: none of %d machines serves these requests", c->n);
        return;
    }
    sp_put_text(r, SP_Q_SERVE_BEST, "%s", best->of->hw);
    sp_put_text(r, SP_Q_SERVE_VERDICT,
                "Yes: %s is best by %s of %d machines: %s a chip, a token every %s", best->of->hw,
                c->front ? "latency" : sp_serve_objectives[c->objective], c->n,
                sp_human_text(best->point->tokens_per_s_per_chip, SP_TOKENS_PER_S),
                sp_human_text(best->point->steady.tpot_s, SP_SECONDS));
}

/* Closed forms beside estimates look better than they are. */
static void note_closed_forms(const struct contest *c)
{
    bool estimated = false;
    for (int i = 0; i < c->n; i++)
        estimated = estimated || c->rival[i]->f.instance.estimated;
    for (int i = 0; i < c->n && estimated; i++)
        if (!c->rival[i]->f.instance.estimated)
            sp_note(c->report,
                    "%s has closed forms alone, which no engine reaches: it is not comparable with "
                    "the estimates of the others",
                    c->rival[i]->hw);
}

static void answer(const struct contest *c)
{
    struct entry *entries;
    const size_t n = gather(c, &entries), top = (size_t)c->args->value.top;
    const size_t shown = n < top ? n : top;
    put_verdict(c, n > 0 ? &entries[0] : NULL);
    put_machines(c, entries, n);
    for (size_t i = 0; i < shown; i++) {
        const int at = sp_shown_point((int)i, (int)shown, (int)n, c->front);
        char prefix[32];
        snprintf(prefix, sizeof prefix, "points.%zu", i);
        sp_scope(c->report, prefix);
        sp_put_text(c->report, SP_Q_SERVE_POINT_HW, "%s", entries[at].of->hw);
        sp_put_serve_point(&entries[at].of->f, entries[at].point);
    }
    sp_scope(c->report, "");
    lay_out(c, shown, n);
    note_closed_forms(c);
    free(entries);
}

bool sp_compare_serving(const struct sp_args *args, struct sp_report *report,
                        struct sp_error *error)
{
    static const enum sp_option_id of_one[] = {SP_O_disaggregate, SP_O_replicas, SP_O_step_time,
                                               SP_NO_OPTION};
    struct contest c = {.args = args, .report = report};
    for (int i = 0; of_one[i] != SP_NO_OPTION; i++)
        if (args->given_at[of_one[i]])
            return sp_fail(error, SP_USAGE, "--%s is about one machine, --hw names several",
                           sp_option_name(of_one[i]));
    c.front = args->given.front;
    c.objective = c.front ? SP_SERVE_LATENCY : (enum sp_serve_objective)args->value.objective;
    const bool ok = open_machines(&c, error);
    if (ok)
        answer(&c);
    for (int i = 0; i < c.n; i++)
        free(c.rival[i]);
    return ok;
}
