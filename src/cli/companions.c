/* --reference, --teacher, --teacher-top-k. */
#include "cli/companions.h"

#include <math.h>
#include <string.h>

#include <scaleplan/layer.h>

#include "base/quote.h"

static const enum sp_option_id options[SP_COMPANION_ROLES] = {SP_O_reference, SP_O_teacher};

/* Cuts off the word after a model's last colon; a path may have other colons. */
static const char *cut_place(char *text)
{
    static const char *const places[] = {"offloaded", "shared-base"};
    char *const colon = strrchr(text, ':');
    for (size_t i = 0; colon && i < sizeof places / sizeof *places; i++)
        if (strcmp(colon + 1, places[i]) == 0) {
            *colon = '\0';
            return places[i];
        }
    return "";
}

/* The trained model and machine that the companions are for. */
struct trained {
    const struct sp_args *args;
    const struct sp_sources *sources;
    const struct sp_hardware *hw;
    struct sp_model *model;
};

static bool take_one(const struct trained *t, enum sp_companion_role role,
                     struct sp_companions *companions, struct sp_error *error)
{
    const char *const option = sp_option_name(options[role]);
    const char *const given = t->args->text[options[role]];
    char name[512];
    struct sp_model model;
    if (!given || (role == SP_REFERENCE && strcmp(given, "precomputed") == 0))
        return true;
    if (!sp_model_has_shape(t->model))
        return sp_fail(error, SP_INPUT, "--%s: the trained model has no known shape", option);
    snprintf(name, sizeof name, "%s", given);
    const char *const place = cut_place(name);
    const bool shared = strcmp(place, "shared-base") == 0, away = strcmp(place, "offloaded") == 0;
    if (strcmp(name, t->model->name) == 0) /* that of a typed shape is in no file */
        model = *t->model;
    else if (!sp_load_model(name, t->sources, &model, error))
        return false;
    if (!sp_model_has_shape(&model))
        return sp_fail(error, SP_INPUT, "--%s: %s has no known shape", option, model.name);
    if (model.vocab != t->model->vocab)
        return sp_fail(error, SP_INPUT,
                       "--%s %s: its vocabulary of %lld differs from that of %s, %lld: their "
                       "probabilities cannot be compared",
                       option, model.name, (long long)model.vocab, t->model->name,
                       (long long)t->model->vocab);
    if (shared && (role != SP_REFERENCE || t->model->tuning.trainable != SP_TRAIN_LORA))
        return sp_fail(error, SP_INPUT, "--%s: :shared-base needs adapters (--trainable lora)",
                       option);
    if (shared && strcmp(model.name, t->model->name) != 0)
        return sp_fail(error, SP_INPUT, "--%s: the base of the adapters is %s, not %s", option,
                       t->model->name, model.name);
    if (away && t->hw && !(sp_host_bytes_per_s(&t->hw->chip) > 0))
        return sp_fail(error, SP_INPUT, "--%s: the host link of %s is not published", option,
                       t->hw->name);
    companions->of[role].place = shared ? SP_COMPANION_SHARED
                                 : away ? SP_COMPANION_OFFLOADED
                                        : SP_COMPANION_HELD;
    companions->of[role].model = sp_forward_model(shared ? t->model : &model);
    t->model->tuning.companions = companions;
    return true;
}

bool sp_take_companions(const struct sp_args *args, const struct sp_sources *sources,
                        const struct sp_hardware *hw, struct sp_model *model,
                        struct sp_companions *companions, struct sp_error *error)
{
    const struct trained trained = {args, sources, hw, model};
    *companions = (struct sp_companions){.logit_bytes = 0};
    if (!sp_option_taken(args, SP_O_reference))
        return true;
    const double top = args->value.teacher_top_k;
    if (!take_one(&trained, SP_REFERENCE, companions, error) ||
        !take_one(&trained, SP_TEACHER, companions, error))
        return false;
    if (!args->given.teacher)
        return true;
    const double outputs = (double)sp_head_outputs(&companions->of[SP_TEACHER].model);
    if (outputs <= 0 || top > outputs)
        return sp_fail(error, SP_INPUT, "--teacher %s: it has %.0f outputs per token",
                       companions->of[SP_TEACHER].model.name, outputs);
    companions->logit_bytes = isnan(top) ? 2 * outputs : 6 * top;
    return true;
}

bool sp_check_companions(const struct sp_companions *companions, const struct sp_plan *of_trained,
                         const struct sp_hardware *hw, struct sp_error *error)
{
    for (int i = 0; i < SP_COMPANION_ROLES; i++) {
        const struct sp_model *const model = &companions->of[i].model;
        if (companions->of[i].place == SP_COMPANION_NONE)
            continue;
        const struct sp_plan plan = sp_companion_plan(model, of_trained);
        const enum sp_plan_problem problem = sp_check_plan(model, &plan, sp_chips(hw), hw->slices);
        if (problem != SP_PLAN_OK)
            return sp_fail(error, SP_INPUT, "--%s %s: the plan does not apply to it: %s",
                           sp_option_name(options[i]), model->name, sp_plan_problem_text(problem));
    }
    return true;
}

/* Whether a reference's outputs were stored, in which case it computes nothing. */
static bool is_stored(const struct sp_args *args, int role)
{
    const char *const given = args->value.reference;
    return role == SP_REFERENCE && given && strcmp(given, "precomputed") == 0;
}

/* Opens the scope of a companion and puts its facts; false if there is none. */
static bool put_role(struct sp_report *r, const struct sp_args *args,
                     const struct sp_companions *companions, int role)
{
    static const char *const places[] = {"", "held on the devices", "with the hosts",
                                         "the base of the adapters"};
    const struct sp_model *const model = &companions->of[role].model;
    const bool stored = is_stored(args, role);
    if (companions->of[role].place == SP_COMPANION_NONE && !stored)
        return false;
    sp_scope(r, sp_option_name(options[role]));
    sp_put_text(r, SP_Q_COMPANION_MODEL, "%s", stored ? "precomputed" : model->name);
    sp_put_text(r, SP_Q_COMPANION_PLACE, "%s",
                stored ? "its outputs are stored" : places[companions->of[role].place]);
    sp_put(r, SP_Q_COMPANION_FLOPS, stored ? 0 : 2 * sp_count_params(model).active);
    if (role == SP_TEACHER)
        sp_put(r, SP_Q_COMPANION_LOGITS, companions->logit_bytes);
    return true;
}

void sp_put_companions(struct sp_report *r, const struct sp_args *args,
                       const struct sp_companions *companions, const struct sp_plan *plan,
                       const struct sp_estimate *e)
{
    static const char *const lines[] = {
        "reference  {reference.model}, {reference.place}: {reference.forward_s} of the step, "
        "{reference.bytes} per device; {reference.pairs} pairs",
        "teacher    {teacher.model}, {teacher.place}: {teacher.forward_s} of the step, "
        "{teacher.bytes} per device"};
    for (int i = 0; i < SP_COMPANION_ROLES; i++) {
        if (!put_role(r, args, companions, i))
            continue;
        sp_put(r, SP_Q_COMPANION_FORWARD, e->companions.forward_s[i]);
        sp_put(r, SP_Q_COMPANION_BYTES, e->companions.bytes[i]);
        if (i == SP_REFERENCE)
            sp_put(r, SP_Q_COMPANION_PAIRS, (double)plan->batch / 2);
        sp_scope(r, "");
        sp_line(r, "%s", lines[i]);
    }
    if (args->given.reference && plan->batch % 2 != 0)
        sp_note(r, "a pair is two sequences, chosen and rejected; the batch has %lld",
                (long long)plan->batch);
}

void sp_put_companion_work(struct sp_report *r, const struct sp_args *args,
                           const struct sp_companions *companions,
                           const double bytes[SP_COMPANION_ROLES])
{
    static const char *const lines[] = {
        "reference    {reference.model}, {reference.place}: {reference.flops_per_token} per token "
        "forward%s",
        "teacher      {teacher.model}, {teacher.place}: {teacher.flops_per_token} per token "
        "forward%s"};
    static const char *const held[] = {", {reference.bytes} per device",
                                       ", {teacher.bytes} per device"};
    for (int i = 0; i < SP_COMPANION_ROLES; i++) {
        if (!put_role(r, args, companions, i))
            continue;
        if (bytes)
            sp_put(r, SP_Q_COMPANION_BYTES, bytes[i]);
        sp_scope(r, "");
        sp_line(r, lines[i], bytes ? held[i] : "");
    }
}
