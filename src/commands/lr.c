/* lr: one optimizer step: learning rate, Adam's corrections, decay, clipping, and the batch. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "cli/command.h"
#include "pictures/curves.h"

#include <scaleplan/training.h>

static const char *const decays[] = {"cosine", "linear", "constant", "wsd", "inverse-sqrt", NULL};
static const char *const rules[] = {"none", "linear", "sqrt", NULL};

static const struct sp_taken options[] = {
    SP_TAKE(step),
    SP_TAKE(seen, .excludes = SP_THESE(SP_O_step)),
    SP_TAKE(lr),
    SP_TAKE(min_lr, .fallback = "0"),
    SP_TAKE(warmup, .fallback = "0"),
    SP_TAKE(total_steps),
    SP_TAKE(warmup_tokens, .excludes = SP_THESE(SP_O_warmup)),
    SP_TAKE(tokens, .excludes = SP_THESE(SP_O_total_steps)),
    SP_TAKE(decay, .fallback = "cosine", .choices = decays),
    SP_TAKE(cooldown, .fallback = "0.1", .needs = SP_THESE(SP_O_decay)),
    SP_TAKE(beta1, .fallback = "0.9"),
    SP_TAKE(beta2, .fallback = "0.999"),
    SP_TAKE(epsilon, .fallback = "1e-8"),
    SP_TAKE(weight_decay),
    SP_TAKE(grad),
    SP_TAKE(param, .needs = SP_THESE(SP_O_grad, SP_O_lr)),
    SP_TAKE(grad_norm),
    SP_TAKE(max_norm, .fallback = "1"),
    SP_TAKE(micro_batch, .fallback = "1"),
    SP_TAKE(microbatches, .alias = "grad-acc", .excludes = SP_THESE(SP_O_batch)),
    SP_TAKE(dp, .fallback = "1"),
    SP_TAKE(batch),
    SP_TAKE(seq),
    SP_TAKE(scale_rule, .fallback = "none", .choices = rules),
    SP_TAKE(base_batch),
    SP_TAKE(plot, .needs = SP_THESE(SP_O_lr)),
    SP_OPTION_PLOT_WIDTH,
};

static const struct sp_example examples[] = {
    {"lr --step 1000 --lr 3e-4 --min-lr 3e-5 --warmup 2000 --total-steps 100k",
     "learning rate and Adam's bias corrections"},
    {"lr --grad 0.1,-0.2,0.3 --lr 1e-3", "Adam's moments and update, step by step"},
    {"lr --seen 1B --lr 6e-4 --warmup-tokens 375M --tokens 260B --batch 3.2M",
     "a schedule in tokens"},
    {"lr --grad-norm 4 --max-norm 1 --get clip_factor", "what clipping does"},
    {"lr --batch 4M --seq 4096 --micro-batch 2 --dp 128", "gradient accumulation"},
    {"lr --micro-batch 4 --microbatches 8 --dp 16 --seq 2048", "effective batch"},
    {NULL, NULL},
};

enum { MOST_GRADIENTS = 64 };

/* Ten steps a second would take twelve days: a larger number must be a number of tokens. */
#define MOST_STEPS 1e7

/* A step of Adam on one parameter. */
struct adam {
    const struct sp_option_values *v;
    double step, g;
    struct sp_adam_moments before, after;
    double correction1, correction2, m_hat, v_hat;
};

/* The question, and the values shown by the rows of lr.def. */
struct lr {
    const struct sp_option_values *v;
    struct sp_lr_schedule schedule;
    double grad_acc, seq;
    double sequences; /* batch to reach; NAN when --microbatches gives the batch */
    double base_batch_tokens, batch_sequences, batch_tokens;
    bool has_batch; /* some part of the batch is given */
    bool is_wanted; /* a batch to reach is given */
    bool in_tokens; /* the schedule is */
    double step;    /* NAN: no step is asked about */
    struct adam adam[MOST_GRADIENTS];
    int n_adam;        /* 0: no gradients */
    struct adam *last; /* of them */
    double param, update, decay;
    enum sp_lr_rule rule;
    double lr, decay_left, correction1, correction2, clip_factor; /* of the step */
    bool warms; /* the step is part of the warmup */
    char schedule_text[96];
};

#define SP_PART lr_adam
#define SP_PART_OF struct adam
#include "answer/put_rows.h"

static void put_adam(struct sp_report *r, const struct lr *s)
{
    for (int i = 0; i < s->n_adam; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.0f", s->adam[i].step);
        sp_begin_row(r, label, "adam.%d", i);
        put_lr_adam_rows(r, &s->adam[i]);
    }
    sp_scope(r, "");
}

#define SP_PART lr
#define SP_PART_OF struct lr
#include "answer/put_rows.h"

static bool load_batch(const struct sp_args *args, struct lr *s, struct sp_error *error)
{
    const struct sp_option_values *const v = s->v;
    double tokens;
    s->seq = isnan(v->seq) ? 4096 : v->seq;
    s->rule = (enum sp_lr_rule)v->scale_rule;
    if (!sp_tokens_of(args, SP_O_batch, &tokens, &s->seq, error) ||
        !sp_tokens_of(args, SP_O_base_batch, &s->base_batch_tokens, NULL, error))
        return false;
    if ((s->rule == SP_LR_FIXED) != isnan(s->base_batch_tokens))
        return sp_fail(error, SP_USAGE, "--scale-rule and --base-batch need each other");
    s->sequences = sp_sequences_of(tokens, s->seq);
    s->is_wanted = !isnan(s->sequences);
    s->has_batch = s->is_wanted || !isnan(v->microbatches) || args->given.micro_batch ||
                   args->given.dp || args->given.seq || s->rule != SP_LR_FIXED;
    s->grad_acc = !isnan(v->microbatches) ? v->microbatches
                  : s->is_wanted ? sp_grad_accumulation(s->sequences, v->micro_batch, v->dp)
                                 : 1;
    s->batch_sequences = sp_effective_batch(v->micro_batch, s->grad_acc, v->dp);
    s->batch_tokens = sp_batch_tokens(s->batch_sequences, s->seq);
    return true;
}

/* The schedule's points in steps; those in tokens need the tokens of a step. */
static bool load_steps(const struct sp_args *args, struct lr *s, struct sp_error *error)
{
    const struct sp_option_values *const v = s->v;
    const double batch = s->batch_tokens;
    const bool warmup = args->given.warmup_tokens;
    s->in_tokens = warmup || args->given.tokens || args->given.seen;
    if (s->in_tokens && !s->has_batch)
        return sp_fail(error, SP_USAGE, "--warmup-tokens, --tokens and --seen need --batch");
    s->step = args->given.seen ? sp_steps_of_tokens(v->seen, batch) : v->step;
    s->schedule.warmup_steps = warmup ? sp_steps_of_tokens(v->warmup_tokens, batch) : v->warmup;
    s->schedule.total_steps =
        args->given.tokens ? sp_steps_of_tokens(v->tokens, batch) : v->total_steps;
    return true;
}

/* One more step of Adam, from the moments before it. */
static void add_gradient(struct lr *s, double step, double g, struct sp_adam_moments before)
{
    const struct sp_option_values *const v = s->v;
    struct adam *const a = &s->adam[s->n_adam++];
    *a = (struct adam){.v = v, .step = step, .g = g, .before = before};
    a->after.m = sp_adam_first_moment(v->beta1, before.m, g);
    a->after.v = sp_adam_second_moment(v->beta2, before.v, g);
    a->correction1 = sp_adam_bias_correction(v->beta1, step);
    a->correction2 = sp_adam_bias_correction(v->beta2, step);
    a->m_hat = sp_adam_corrected(a->after.m, a->correction1);
    a->v_hat = sp_adam_corrected(a->after.v, a->correction2);
    s->last = a;
}

/* --grad: one gradient per step, or a single one for all steps up to --step. */
static bool load_gradients(struct lr *s, struct sp_error *error)
{
    const char *list = s->v->grad;
    char word[64];
    double g = NAN;
    struct sp_adam_moments before = {0, 0};
    if (s->v->param && !sp_parse_signed(s->v->param, &s->param))
        return sp_fail(error, SP_INPUT, "--param: \"%s\" is not a number", sp_safe(s->v->param));
    if (!list)
        return true;
    while (sp_next_item(&list, word, sizeof word)) {
        if (!sp_parse_signed(word, &g) || fabs(g) > 1e30)
            return sp_fail(error, SP_INPUT, "--grad: \"%s\" is not a number", sp_safe(word));
        if (s->n_adam == MOST_GRADIENTS)
            return sp_fail(error, SP_INPUT, "--grad: more than %d gradients", MOST_GRADIENTS);
        if (s->last)
            before = s->last->after;
        add_gradient(s, s->n_adam + 1, g, before);
    }
    if (s->n_adam == 1 && s->step >= 1) {
        s->n_adam = 0;
        add_gradient(s, s->step, g,
                     sp_adam_same_gradient(g, s->step - 1, s->v->beta1, s->v->beta2));
    }
    if (!isnan(s->step) && s->step != s->last->step)
        return sp_fail(error, SP_INPUT, "--grad: %d gradients, but --step %g", s->n_adam, s->step);
    s->step = s->last->step;
    return true;
}

/* --warmup and --total-steps count steps; --warmup-tokens and --tokens give the same in tokens. */
static bool check_steps(const struct lr *s, struct sp_error *error)
{
    const struct {
        const char *name, *in_tokens;
        double steps;
    } given[] = {{"warmup", "warmup-tokens", s->v->warmup},
                 {"total-steps", "tokens", s->v->total_steps}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].steps > MOST_STEPS)
            return sp_fail(error, SP_INPUT,
                           "--%s: %s steps are more than the most, %s; --%s takes tokens",
                           given[i].name, sp_human_text(given[i].steps, SP_COUNT),
                           sp_human_text(MOST_STEPS, SP_COUNT), given[i].in_tokens);
    return true;
}

static bool check_schedule(const struct lr *s, struct sp_error *error)
{
    const struct sp_lr_schedule *p = &s->schedule;
    if (!check_steps(s, error))
        return false;
    if (!isnan(p->total_steps) && p->warmup_steps > p->total_steps)
        return sp_fail(error, SP_INPUT, "--warmup: %g steps exceed the total of %g",
                       p->warmup_steps, p->total_steps);
    if (isnan(s->step) || isnan(s->v->lr))
        return true;
    if (sp_lr_decay_ends(p->decay) && isnan(p->total_steps) && s->step > p->warmup_steps)
        return sp_fail(error, SP_USAGE, "after the warmup, give --total-steps or --decay constant");
    if (p->decay != SP_DECAY_CONSTANT && p->min_lr > p->peak_lr)
        return sp_fail(error, SP_INPUT, "--min-lr: %g exceeds the peak of %g", p->min_lr,
                       p->peak_lr);
    return true;
}

static bool load(const struct sp_args *args, struct lr *s, struct sp_error *error)
{
    const struct sp_option_values *const v = s->v = &args->value;
    if (!load_batch(args, s, error))
        return false;
    s->schedule = (struct sp_lr_schedule){
        .peak_lr = sp_scaled_lr(s->rule, v->lr, s->batch_tokens, s->base_batch_tokens),
        .min_lr = v->min_lr,
        .cooldown = v->cooldown,
        .decay = v->grad && !args->given.decay && isnan(v->total_steps) && isnan(v->tokens)
                     ? SP_DECAY_CONSTANT
                     : (enum sp_lr_decay)v->decay};
    if (!load_steps(args, s, error) || !load_gradients(s, error) || !check_schedule(s, error))
        return false;
    if (isnan(s->step) && isnan(v->lr) && isnan(v->grad_norm) && !s->has_batch)
        return sp_fail(error, SP_USAGE,
                       "nothing to compute: give --step (with --lr), --grad, --grad-norm, or a "
                       "batch (--micro-batch, --microbatches, --dp, --batch)");
    return true;
}

/* The values shown by the rows for the requested step; NAN if none was requested. */
static void work_out(struct lr *s)
{
    const struct sp_option_values *const v = s->v;
    const struct sp_lr_schedule *p = &s->schedule;
    const bool known = !isnan(s->step) && !isnan(v->lr);
    s->warms = s->step < p->warmup_steps;
    s->lr = known ? sp_lr_at(p, s->step) : NAN;
    s->decay_left = known ? sp_lr_decay_left(p, s->step) : NAN;
    s->correction1 = sp_adam_bias_correction(v->beta1, s->step);
    s->correction2 = sp_adam_bias_correction(v->beta2, s->step);
    s->decay = isnan(v->weight_decay) ? 1 : sp_adamw_decay_factor(s->lr, v->weight_decay);
    if (s->last)
        s->update = sp_adam_update(s->lr, s->last->m_hat, s->last->v_hat, v->epsilon);
    s->clip_factor = isnan(v->grad_norm) ? NAN : sp_clip_factor(v->max_norm, v->grad_norm);
    snprintf(s->schedule_text, sizeof s->schedule_text, "warmup %s steps (%s), %s%s",
             sp_human_text(p->warmup_steps, SP_NUMBER),
             isnan(v->warmup_tokens) ? "--warmup" : "--warmup-tokens", decays[p->decay],
             p->decay == SP_DECAY_CONSTANT ? " after it (--decay)" : " decay (--decay)");
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    struct lr s = {.param = NAN, .update = NAN};
    (void)report;
    return load(args, &s, error) ? sp_draw_lr(&s.schedule, s.step) : NULL;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct lr s = {.param = NAN, .update = NAN};
    if (!load(args, &s, error))
        return false;
    work_out(&s);
    put_lr_rows(report, &s);
    return true;
}

const struct sp_command sp_cmd_lr = {
    .name = "lr",
    .summary = "one optimizer step: learning rate, Adam's corrections, clipping, effective batch",
    .about = "Computes what the given options determine: the learning rate at a step, with linear "
             "warmup and decay; Adam's bias corrections and step size, AdamW's decay, the clipping "
             "factor; the effective batch, or the accumulation that a batch needs.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
