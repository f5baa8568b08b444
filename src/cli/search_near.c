/* search --near and --explain-rejects: one plan against its neighbours, and against the best. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search_report.h"
#include "step_report.h"

extern const struct sp_command sp_cmd_step;

/* The plan that the user named, by the path of `step`. What cannot be read is an `error`; what is
 * no plan has its reason in `invalid`. */
static bool load_plan(struct sp_searching *s, const struct sp_sources *sources, const char *option,
                      const char *plan, struct sp_planned *planned, struct sp_error *invalid,
                      struct sp_error *error)
{
    static struct sp_args args;
    struct sp_words words;
    if (!sp_plan_words(s, option, plan, &words, error))
        return false;
    const bool ok = sp_parse_command(&sp_cmd_step, words.n, words.word, &args, error) &&
                    sp_plan_of(&args, sources, planned, invalid);
    sp_free_words(&words);
    return ok;
}

struct neighbour {
    char change[64];
    double step_s, bytes;
};

struct neighbours {
    const struct sp_planned *from;
    struct neighbour near[96];
    size_t n;
};

static void judge(const struct sp_planned *p, double *step_s, double *bytes)
{
    struct sp_stage_memory m;
    const struct sp_step_inputs in = sp_inputs_of(p);
    sp_fullest_stage(&p->model, &p->precision, &p->plan, &p->framework.framework, &m);
    *step_s = sp_estimate_step(&in).step;
    *bytes = (double)m.device;
}

__attribute__((format(printf, 3, 4))) static void
add(struct neighbours *all, const struct sp_planned *changed, const char *format, ...)
{
    if (sp_check_plan(&changed->model, &changed->plan, sp_chips(&changed->hw)) != SP_PLAN_OK ||
        all->n == sizeof all->near / sizeof *all->near)
        return;
    struct neighbour *const near = &all->near[all->n++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(near->change, sizeof near->change, format, arguments);
    va_end(arguments);
    judge(changed, &near->step_s, &near->bytes);
}

/* States stay shared by as large a part of the replicas as before. */
static void share_again(const struct sp_plan *from, struct sp_plan *plan)
{
    const int64_t before = from->dp * from->cp, now = plan->dp * plan->cp;
    plan->shards = from->shards == before || now % from->shards != 0 ? now : from->shards;
    plan->sequence_parallel = plan->tp > 1 && (from->sequence_parallel || from->tp == 1);
}

/* A factor of two from one degree to another. */
static void move_degrees(struct neighbours *all)
{
    static const struct {
        const char *name;
        size_t offset;
    } degrees[] = {{"dp", offsetof(struct sp_plan, dp)},
                   {"tp", offsetof(struct sp_plan, tp)},
                   {"pp", offsetof(struct sp_plan, pp)},
                   {"cp", offsetof(struct sp_plan, cp)}};
    static struct sp_planned changed;
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            changed = *all->from;
            struct sp_plan *const plan = &changed.plan;
            int64_t *const less = (int64_t *)(void *)((char *)plan + degrees[from].offset);
            int64_t *const more = (int64_t *)(void *)((char *)plan + degrees[to].offset);
            if (from == to || *less % 2 != 0)
                continue;
            *less /= 2;
            *more *= 2;
            if (plan->pp == 1) {
                plan->schedule = SP_1F1B;
                plan->vpp = 1;
            }
            share_again(&all->from->plan, plan);
            add(all, &changed, "%s %lld, %s %lld", degrees[from].name, (long long)*less,
                degrees[to].name, (long long)*more);
        }
}

/* Twice and half of a number. */
static void scale_number(struct neighbours *all, const char *name, size_t offset, int64_t most)
{
    static struct sp_planned changed;
    for (int half = 0; half < 2; half++) {
        changed = *all->from;
        int64_t *const value = (int64_t *)(void *)((char *)&changed.plan + offset);
        if (half && *value % 2 != 0)
            continue;
        *value = half ? *value / 2 : *value * 2;
        if (*value > most)
            continue;
        if (offset == offsetof(struct sp_plan, vpp))
            changed.plan.schedule =
                *value > 1 ? (all->from->plan.vpp > 1 ? all->from->plan.schedule : SP_INTERLEAVED)
                           : SP_1F1B;
        add(all, &changed, "%s %lld", name, (long long)*value);
    }
}

static void change_names(struct neighbours *all)
{
    static struct sp_planned changed;
    const struct sp_plan *const plan = &all->from->plan;
    for (int i = 0; i < SP_POLICIES; i++) {
        changed = *all->from;
        sp_use_policy(&changed, sp_policies[i].name);
        changed.plan.recompute.offload = plan->recompute.offload;
        if (changed.remat != all->from->remat)
            add(all, &changed, "remat %s", sp_policies[i].name);
    }
    for (int zero = 0; zero < 4; zero++) {
        changed = *all->from;
        changed.plan.zero = zero;
        if (zero != plan->zero && plan->dp * plan->cp > 1)
            add(all, &changed, "zero %d", zero);
    }
    for (int i = 1; i < SP_SCHEDULES && plan->pp > 1; i++) {
        changed = *all->from;
        changed.plan.schedule = (enum sp_schedule)i;
        if (changed.plan.schedule != plan->schedule)
            add(all, &changed, "schedule %s", sp_schedule_names[i]);
    }
    changed = *all->from;
    changed.plan.sequence_parallel = !plan->sequence_parallel;
    if (plan->tp > 1)
        add(all, &changed, "sp %s", sp_on_off[!changed.plan.sequence_parallel]);
    changed = *all->from;
    changed.plan.stages_inside = !plan->stages_inside;
    if (plan->pp > 1)
        add(all, &changed, "placement %s", sp_placement_names[changed.plan.stages_inside]);
    changed = *all->from;
    changed.plan.recompute.offload = !plan->recompute.offload;
    if (changed.hw.chip.pcie_bytes_per_s > 0)
        add(all, &changed, "offload %s", sp_on_off[!changed.plan.recompute.offload]);
}

static int faster(const void *a, const void *b)
{
    const double x = ((const struct neighbour *)a)->step_s,
                 y = ((const struct neighbour *)b)->step_s;
    return (x > y) - (x < y);
}

static void put_neighbours(struct sp_searching *s, struct neighbours *all, double step_s,
                           double bytes)
{
    static struct sp_row rows[96];
    static const struct sp_column columns[] = {
        {"change", "change", true},
        {"gain_pct", "gain %", false},
        {"step_s", "step", false},
        {"device_bytes", "memory", false},
        {"memory_change_bytes", "more", false},
        {"fits", "fits", true},
    };
    for (size_t i = 0; i < all->n; i++) {
        const struct neighbour *const near = &all->near[i];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "near.%zu", i);
        sp_scope(s->report, rows[i].prefix);
        sp_put_text(s->report, SP_Q_NEAR_CHANGE, "%s", near->change);
        sp_put(s->report, SP_Q_NEAR_STEP, near->step_s);
        sp_put(s->report, SP_Q_NEAR_GAIN, 100 * (1 - near->step_s / step_s));
        sp_put(s->report, SP_Q_NEAR_MEMORY, near->bytes);
        sp_put(s->report, SP_Q_NEAR_MEMORY_CHANGE, near->bytes - bytes);
        sp_put_bool(s->report, SP_Q_NEAR_FITS, near->bytes <= s->machine[0]->space.most_bytes);
    }
    sp_scope(s->report, "");
    sp_line(s->report, " ");
    sp_table(s->report, columns, sizeof columns / sizeof *columns, rows, all->n);
}

static void put_named(struct sp_searching *s, const struct sp_planned *planned)
{
    struct sp_stage_memory memory;
    const struct sp_step_inputs in = sp_inputs_of(planned);
    const struct sp_step_time time = sp_estimate_step(&in);
    const int64_t stage = sp_fullest_stage(&planned->model, &planned->precision, &planned->plan,
                                           &planned->framework.framework, &memory);
    sp_scope(s->report, "plan");
    sp_put_step(s->report, planned, &time, &memory, stage, 0);
    sp_scope(s->report, "");
    sp_put(s->report, SP_Q_SEARCH_LIMIT, s->machine[0]->space.most_bytes);
    sp_line(s->report,
            "plan       {plan.model} on {plan.machine}: dp {plan.dp} tp {plan.tp} pp {plan.pp} vpp "
            "{plan.vpp} cp {plan.cp} ep {plan.ep}, ZeRO {plan.zero} over {plan.shards}, "
            "{plan.schedule}, micro-batch {plan.micro_batch}, recompute {plan.remat}: step "
            "{plan.time.step_s}, MFU {plan.mfu}, {plan.memory.device_bytes} of {most_bytes}");
}

bool sp_report_near(struct sp_searching *s, const struct sp_sources *sources, const char *plan,
                    struct sp_error *error)
{
    static struct sp_planned planned;
    static struct neighbours all;
    double step_s, bytes;
    if (!load_plan(s, sources, "near", plan, &planned, error, error))
        return false;
    judge(&planned, &step_s, &bytes);
    all = (struct neighbours){.from = &planned};
    move_degrees(&all);
    scale_number(&all, "vpp", offsetof(struct sp_plan, vpp), planned.plan.pp > 1 ? 1024 : 1);
    scale_number(&all, "micro-batch", offsetof(struct sp_plan, micro_batch), INT32_MAX);
    scale_number(&all, "ep", offsetof(struct sp_plan, ep), INT32_MAX);
    scale_number(&all, "fsdp", offsetof(struct sp_plan, shards),
                 planned.plan.zero > 0 ? INT32_MAX : 0);
    change_names(&all);
    qsort(all.near, all.n, sizeof *all.near, faster);
    put_named(s, &planned);
    put_neighbours(s, &all, step_s, bytes);
    return true;
}

/* Where the plan spends more than the best one. */
static void put_losses(struct sp_searching *s, const struct sp_planned *planned,
                       const struct sp_planned *best)
{
    static struct sp_row rows[32];
    static const struct sp_column columns[] = {{NULL, "component", true},
                                               {"loss_s", "beyond the best", false}};
    const struct sp_step_inputs a = sp_inputs_of(planned), b = sp_inputs_of(best);
    const struct sp_step_time mine = sp_estimate_step(&a), theirs = sp_estimate_step(&b);
    for (size_t i = 0; i < sp_n_time_parts; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "losses.%s", sp_time_parts[i].name);
        snprintf(rows[i].label, sizeof rows[i].label, "%s", sp_time_parts[i].name);
        sp_scope(s->report, rows[i].prefix);
        sp_put(s->report, SP_Q_REJECT_PART, sp_time_part(&mine, i) - sp_time_part(&theirs, i));
    }
    sp_scope(s->report, "");
    sp_line(s->report, " ");
    sp_table(s->report, columns, sizeof columns / sizeof *columns, rows, sp_n_time_parts);
}

static void compare_with_best(struct sp_searching *s, const struct sp_planned *planned,
                              double step_s)
{
    static struct sp_planned best;
    struct sp_candidate *const m = s->machine[0];
    s->run.front = false;
    s->run.wanted = SP_SEARCH_TOP;
    sp_search_machine(s, 0);
    const struct sp_best *const list = &m->result.best;
    int ahead = 0;
    while (ahead < list->n && list->found[ahead].step_s < step_s)
        ahead++;
    sp_put(s->report, SP_Q_REJECT_RANK, ahead);
    if (ahead == 0) {
        sp_put_text(s->report, SP_Q_REJECT_VERDICT, "not rejected: no plan of the space is faster");
        sp_line(s->report, "verdict    {verdict}");
        return;
    }
    sp_planned_of(&m->base, &list->found[0], &best);
    sp_put_text(s->report, SP_Q_REJECT_VERDICT,
                "fits, but %.2f %% slower than the best plan; %s%d plans are ahead of it",
                100 * (step_s / list->found[0].step_s - 1),
                ahead == SP_SEARCH_TOP ? "at least " : "", ahead);
    struct sp_words words;
    sp_step_words(s, 0, &list->found[0], &words);
    char *const line = sp_shell_line(&words);
    sp_put_text(s->report, SP_Q_SEARCH_REPEAT, "scaleplan %s", line);
    free(line);
    sp_free_words(&words);
    sp_line(s->report, "verdict    {verdict}");
    sp_line(s->report, "best       {command!}");
    put_losses(s, planned, &best);
}

bool sp_report_reject(struct sp_searching *s, const struct sp_sources *sources, const char *plan,
                      struct sp_error *error)
{
    static struct sp_planned planned;
    struct sp_error why = {0};
    double step_s, bytes;
    if (!load_plan(s, sources, "explain-rejects", plan, &planned, &why, error)) {
        if (why.lines == 0)
            return false;
        sp_put_text(s->report, SP_Q_REJECT_VERDICT, "invalid: %s", why.text);
        sp_line(s->report, "verdict    {verdict}");
        return true;
    }
    judge(&planned, &step_s, &bytes);
    put_named(s, &planned);
    const double most = s->machine[0]->space.most_bytes;
    if (bytes <= most) {
        compare_with_best(s, &planned, step_s);
        return true;
    }
    char over[32];
    sp_human(bytes - most, SP_BYTES, over, sizeof over);
    sp_put_text(s->report, SP_Q_REJECT_VERDICT,
                "does not fit: %s a device too much (--near shows "
                "what would make it fit)",
                over);
    sp_line(s->report, "verdict    {verdict}");
    return true;
}
