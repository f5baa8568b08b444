/* lr: one optimizer step: learning rate, Adam's corrections, decay, clipping, and the batch. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cli/command.h"

#include <scaleplan/training.h>

static const char *const decays[] = {"cosine", "linear", "constant", NULL};
static const char *const rules[] = {"none", "linear", "sqrt", NULL};

static const struct sp_taken options[] = {
    SP_TAKE(step),
    SP_TAKE(lr),
    SP_TAKE(min_lr, .fallback = "0"),
    SP_TAKE(warmup, .fallback = "0"),
    SP_TAKE(total_steps),
    SP_TAKE(decay, .fallback = "cosine", .choices = decays),
    SP_TAKE(beta1, .fallback = "0.9"),
    SP_TAKE(beta2, .fallback = "0.999"),
    SP_TAKE(weight_decay),
    SP_TAKE(grad_norm),
    SP_TAKE(max_norm, .fallback = "1"),
    SP_TAKE(micro_batch, .fallback = "1"),
    SP_TAKE(microbatches, .alias = "grad-acc", .excludes = SP_THESE(SP_O_batch)),
    SP_TAKE(dp, .fallback = "1"),
    SP_TAKE(batch),
    SP_TAKE(seq),
    SP_TAKE(scale_rule, .fallback = "none", .choices = rules),
    SP_TAKE(base_batch),
};

static const struct sp_example examples[] = {
    {"lr --step 1000 --lr 3e-4 --min-lr 3e-5 --warmup 2000 --total-steps 100k",
     "the learning rate, and Adam's bias corrections"},
    {"lr --grad-norm 4 --max-norm 1 --get clip_factor", "what clipping does"},
    {"lr --batch 4M --seq 4096 --micro-batch 2 --dp 128", "gradient accumulation"},
    {"lr --micro-batch 4 --microbatches 8 --dp 16 --seq 2048", "effective batch"},
    {NULL, NULL},
};

/* What was asked, and what the rows of lr.def show of it. */
struct lr {
    const struct sp_option_values *v;
    struct sp_lr_schedule schedule;
    double grad_acc, seq;
    double sequences; /* batch to reach; NAN when --microbatches tells the batch */
    double base_batch_tokens, batch_sequences, batch_tokens;
    bool has_batch; /* some part of the batch is given */
    bool is_wanted; /* a batch to reach is given */
    enum sp_lr_rule rule;
    double lr, decay_left, correction1, correction2, clip_factor; /* of the step */
    bool warms;                                                   /* the step is of the warmup */
    char schedule_text[96];
};

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

static bool check_schedule(const struct lr *s, struct sp_error *error)
{
    const struct sp_lr_schedule *p = &s->schedule;
    if (!isnan(p->total_steps) && p->warmup_steps > p->total_steps)
        return sp_fail(error, SP_INPUT, "--warmup: %g steps are more than the total of %g",
                       p->warmup_steps, p->total_steps);
    if (isnan(s->v->step) || isnan(s->v->lr))
        return true;
    if (p->decay != SP_DECAY_CONSTANT && isnan(p->total_steps) && s->v->step > p->warmup_steps)
        return sp_fail(error, SP_USAGE,
                       "--total-steps is needed after the warmup (or --decay constant)");
    if (p->decay != SP_DECAY_CONSTANT && p->min_lr > p->peak_lr)
        return sp_fail(error, SP_INPUT, "--min-lr: %g is above the peak of %g", p->min_lr,
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
        .warmup_steps = v->warmup,
        .total_steps = v->total_steps,
        .decay = (enum sp_lr_decay)v->decay};
    if (isnan(v->step) && isnan(v->lr) && isnan(v->grad_norm) && !s->has_batch)
        return sp_fail(error, SP_USAGE,
                       "what to work out is needed: --step (with --lr), --grad-norm, or a batch "
                       "(--micro-batch, --microbatches, --dp, --batch)");
    return check_schedule(s, error);
}

/* What the rows show of the step that was asked for; NAN where none was. */
static void work_out(struct lr *s)
{
    const struct sp_option_values *const v = s->v;
    const struct sp_lr_schedule *p = &s->schedule;
    const bool known = !isnan(v->step) && !isnan(v->lr);
    s->warms = v->step < p->warmup_steps;
    s->lr = known ? sp_lr_at(p, v->step) : NAN;
    s->decay_left = known ? sp_lr_decay_left(p, v->step) : NAN;
    s->correction1 = sp_adam_bias_correction(v->beta1, v->step);
    s->correction2 = sp_adam_bias_correction(v->beta2, v->step);
    s->clip_factor = isnan(v->grad_norm) ? NAN : sp_clip_factor(v->max_norm, v->grad_norm);
    snprintf(s->schedule_text, sizeof s->schedule_text, "warmup %s steps (--warmup), %s%s",
             sp_human_text(p->warmup_steps, SP_NUMBER), decays[p->decay],
             p->decay == SP_DECAY_CONSTANT ? " after it (--decay)" : " decay (--decay)");
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct lr s = {0};
    if (!load(args, &s, error))
        return false;
    work_out(&s);
    put_lr_rows(report, &s);
    return true;
}

const struct sp_command sp_cmd_lr = {
    .name = "lr",
    .summary = "one optimizer step: learning rate, Adam's corrections, clipping, effective batch",
    .about =
        "At a step: the learning rate with linear warmup and decay, Adam's bias corrections and "
        "the "
        "step size they make, AdamW's decay and the factor by which clipping scales a gradient. "
        "And the batch: effective sequences and tokens from micro-batch, accumulation and "
        "replicas, "
        "or the accumulation that a batch needs. Only what is given is worked out.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
