/* --against of `step` and `search`: a second plan beside the first. */
#include "cli/against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/flops.h>

#include "base/memory.h"
#include "answer/time_parts.h"
#include "cli/named_plan.h"
#include "cli/plan_fields.h"
#include "study/search_machines.h"

/* Two plans. */
struct against {
    const char *text; /* of --against */
    const struct sp_planned *first, *other;
    const struct sp_estimate *e, *o;
    double s_per_token, other_s_per_token, least_log;
    bool tie, differs;
    char fields[400];   /* "dp 8 -> 4, tp 8 -> 4" */
    char where[160];    /* "TP exposed +2.44 s, bubble +440 ms" */
    const char *behind; /* the plan that needs more seconds per token */
};

/* A field, a part of the time, a part of the memory. */
struct field_rows {
    const char *first, *other;
};
struct part_rows {
    double first, other;
};

#define SP_PART step_against_field
#define SP_PART_OF struct field_rows
#include "answer/put_rows.h"

#define SP_PART step_against_time
#define SP_PART_OF struct part_rows
#include "answer/put_rows.h"

#define SP_PART step_against_memory
#define SP_PART_OF struct part_rows
#include "answer/put_rows.h"

static void put_field(struct sp_report *r, struct against *s, const char *key, const char *first,
                      const char *other)
{
    if (strcmp(first, other) == 0)
        return;
    sp_append(s->fields, sizeof s->fields, "%s%s %s -> %s", s->fields[0] ? ", " : "", key,
              *first ? first : "none", *other ? other : "none");
    sp_begin_row(r, NULL, "against.plan.%s", key);
    put_step_against_field_rows(r, &(struct field_rows){first, other});
}

/* The differences between the problems, which a file may contain. */
static void put_problem(struct sp_report *r, struct against *s)
{
    const struct sp_planned *const a = s->first, *const b = s->other;
    char hw[2][160], batch[2][64];
    const struct sp_planned *const of[] = {a, b};
    for (int i = 0; i < 2; i++) {
        snprintf(hw[i], sizeof hw[i], "%s, %lld devices", of[i]->hw.name,
                 (long long)sp_chips(&of[i]->hw));
        snprintf(batch[i], sizeof batch[i], "%lldx%lld", (long long)of[i]->plan.batch,
                 (long long)of[i]->plan.seq);
    }
    const struct {
        enum sp_quantity_id row;
        const char *first, *other;
    } parts[] = {
        {SP_Q_STEP_HW, hw[0], hw[1]},
        {SP_Q_STEP_BATCH, batch[0], batch[1]},
        {SP_Q_STEP_FRAMEWORK, a->framework.framework.name, b->framework.framework.name},
        {SP_Q_STEP_PROFILE, a->profile.name, b->profile.name},
        {SP_Q_STEP_PRECISION, a->precision.name, b->precision.name},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_field(r, s, sp_quantity(parts[i].row).key, parts[i].first, parts[i].other);
}

static void put_fields(struct sp_report *r, struct against *s)
{
    put_problem(r, s);
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        char first[SP_PLAN_TEXT], other[SP_PLAN_TEXT];
        sp_format_plan(&s->first->plan, &sp_plan_fields[i], first);
        sp_format_plan(&s->other->plan, &sp_plan_fields[i], other);
        put_field(r, s, sp_quantity(sp_plan_rows[i]).key, first, other);
    }
    s->differs = s->fields[0] != '\0';
    sp_stand_in(r, SP_BRIEF);
    if (s->differs)
        sp_line(r, "differs    %s", s->fields);
    sp_stand_in(r, SP_DETAILS);
    sp_list_table(r, "against.plan", ": differs, plan, other");
    sp_stand_in(r, SP_BOTH);
}

static void put_part(struct sp_report *r, bool time, const char *name, double first, double other)
{
    const struct part_rows part = {first, other};
    sp_begin_row(r, NULL, "against.%s.%s", time ? "time" : "memory", name);
    if (time)
        put_step_against_time_rows(r, &part);
    else
        put_step_against_memory_rows(r, &part);
    if (!(first > 0 || other > 0))
        sp_drop_row(r);
}

static double companions_s(const struct sp_estimate *e)
{
    double sum = 0;
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        sum += e->companions.forward_s[i];
    return sum;
}

static void put_time(struct sp_report *r, const struct against *s)
{
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        put_part(r, true, sp_time_parts[i].name, sp_time_part(&s->e->time, i),
                 sp_time_part(&s->o->time, i));
    put_part(r, true, "companions", companions_s(s->e), companions_s(s->o));
    put_part(r, true, "step", s->e->time.step, s->o->time.step);
    sp_list_table(r, "against.time", ": time, plan_s, other_s, change_s: other - plan");
}

/* The parts of the fullest stage, which add up to the device's bytes. */
static void put_memory(struct sp_report *r, const struct against *s)
{
    const struct sp_stage_memory *const a = &s->e->memory, *const b = &s->o->memory;
    const struct {
        const char *name;
        int64_t first, other;
    } parts[] = {
        {"params", a->params, b->params},
        {"grads", a->grads, b->grads},
        {"optimizer", a->optimizer, b->optimizer},
        {"activations", a->activations, b->activations},
        {"buffers", a->buffers, b->buffers},
        {"runtime", a->device - a->live, b->device - b->live},
        {"device", a->device, b->device},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_part(r, false, parts[i].name, (double)parts[i].first, (double)parts[i].other);
    sp_list_table(r, "against.memory",
                  ": memory, plan_bytes, other_bytes, change_bytes: other - plan");
}

static double change_of(const struct against *s, size_t part)
{
    return sp_time_part(&s->o->time, part) - sp_time_part(&s->e->time, part);
}

/* The three parts of the step that differ most, by a hundredth of it or more. */
static void say_where(struct against *s)
{
    enum { SAID = 3 };
    bool said[SP_TIME_PARTS] = {false};
    for (int n = 0; n < SAID; n++) {
        size_t most = 0;
        for (size_t i = 1; i < SP_TIME_PARTS; i++)
            if (said[most] || (!said[i] && fabs(change_of(s, i)) > fabs(change_of(s, most))))
                most = i;
        const double change = change_of(s, most);
        if (said[most] || fabs(change) < s->e->time.step / 100)
            return;
        said[most] = true;
        sp_append(s->where, sizeof s->where, "%s%s %c%s", n > 0 ? ", " : "",
                  sp_quantity(sp_time_parts[most].id).label, change < 0 ? '-' : '+',
                  sp_human_text(fabs(change), SP_SECONDS));
    }
}

#define SP_PART step_against
#define SP_PART_OF struct against
#include "answer/put_rows.h"

static double s_per_token(const struct sp_planned *p, const struct sp_estimate *e)
{
    return e->time.step / sp_batch_tokens((double)p->plan.batch, (double)p->plan.seq);
}

/* A token must be the same work for both; otherwise their times cannot be compared. */
static bool check_work(const struct sp_planned *a, const struct sp_planned *b,
                       struct sp_error *error)
{
    const double seq = (double)a->plan.seq, other = (double)b->plan.seq;
    return (seq == other && sp_tuned_flops(&a->model, 1, seq, SP_FLOPS_FULL) ==
                                sp_tuned_flops(&b->model, 1, other, SP_FLOPS_FULL)) ||
           sp_fail(
               error, SP_INPUT,
               "--against: %s at %.0f tokens per sequence is different work from %s at %.0f: give "
               "a plan with the same model and sequence length",
               b->model.name, other, a->model.name, seq);
}

static void compare(struct sp_report *r, struct against *s)
{
    s->s_per_token = s_per_token(s->first, s->e);
    s->other_s_per_token = s_per_token(s->other, s->o);
    s->least_log = sp_plans_lead_log(s->first, s->other);
    s->tie = sp_is_tie(s->s_per_token, s->other_s_per_token, s->least_log);
    s->behind = s->other_s_per_token < s->s_per_token ? "the first plan" : "that plan";
    say_where(s);
    put_fields(r, s);
    sp_stand_in(r, SP_DETAILS);
    put_time(r, s);
    put_memory(r, s);
    sp_stand_in(r, SP_BOTH);
    put_step_against_rows(r, s);
}

bool sp_report_against(struct sp_report *r, const struct sp_args *args,
                       const struct sp_planned *first, const struct sp_estimate *e,
                       struct sp_error *error)
{
    struct sp_estimate o;
    struct sp_named_plan *const named = sp_must(calloc(1, sizeof *named));
    struct against s = {
        .text = args->value.against, .first = first, .other = &named->planned, .e = e, .o = &o};
    const bool ok = sp_read_named_plan(args, first, "against", s.text, named, error) &&
                    check_work(first, s.other, error);
    if (ok) {
        sp_estimate_planned(s.other, e->rates.convention, 0, &o);
        compare(r, &s);
        for (int i = 0; named->launch.format && i < named->launch.notes; i++)
            sp_note(r, "%s: %s", sp_safe(s.text), named->launch.note[i]);
    }
    free(named);
    return ok;
}
