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
    SP_TAKE(microbatches, .alias = "grad-acc"),
    SP_TAKE(dp, .fallback = "1"),
    SP_TAKE(batch),
    SP_TAKE(sequences),
    SP_TAKE(seq),
    SP_TAKE(scale_rule, .fallback = "none", .choices = rules),
    SP_TAKE(base_batch),
};

static const struct sp_example examples[] = {
    {"scaleplan lr --step 1000 --lr 3e-4 --min-lr 3e-5 --warmup 2000 --total-steps 100k",
     "the learning rate, and Adam's bias corrections"},
    {"scaleplan lr --grad-norm 4 --max-norm 1 --get clip_factor", "what clipping does"},
    {"scaleplan lr --batch 4M --seq 4096 --micro-batch 2 --dp 128", "gradient accumulation"},
    {"scaleplan lr --micro-batch 4 --microbatches 8 --dp 16 --seq 2048", "effective batch"},
    {NULL, NULL},
};

/* What was asked, and what the rows of lr.def show of it. */
struct lr {
    struct sp_lr_schedule schedule;
    double step, base_lr, beta1, beta2, weight_decay, grad_norm, max_norm;
    double micro_batch, grad_acc, dp, seq;
    double sequences; /* batch to reach; NAN when --microbatches tells the batch */
    double base_batch_tokens, batch_sequences, batch_tokens;
    bool has_batch; /* some part of the batch is given */
    bool is_wanted; /* a batch to reach is given */
    enum sp_lr_rule rule;
    double lr, decay_left, correction1, correction2, clip_factor; /* of the step */
    bool warms;                                                   /* the step is of the warmup */
    char schedule_text[96];
};

#define SP_ROWS "commands/lr.def"
#define SP_ROWS_OF struct lr
#define SP_PUT_ROWS put_rows
#include "answer/put_rows.h"

static bool load_batch(const struct sp_args *args, struct lr *s, struct sp_error *error)
{
    double tokens;
    const double seq = args->value.seq;
    s->seq = isnan(seq) ? 4096 : seq;
    s->micro_batch = args->value.micro_batch;
    s->grad_acc = args->value.microbatches;
    s->dp = args->value.dp;
    s->sequences = args->value.sequences;
    s->rule = (enum sp_lr_rule)args->value.scale_rule;
    if (!sp_tokens_of(args, SP_O_batch, &tokens, &s->seq, error) ||
        !sp_tokens_of(args, SP_O_base_batch, &s->base_batch_tokens, NULL, error))
        return false;
    if (!isnan(tokens) + !isnan(s->sequences) + !isnan(s->grad_acc) > 1)
        return sp_fail(error, SP_USAGE,
                       "--batch, --sequences and --microbatches exclude each other");
    if ((s->rule == SP_LR_FIXED) != isnan(s->base_batch_tokens))
        return sp_fail(error, SP_USAGE, "--scale-rule and --base-batch need each other");
    if (!isnan(tokens))
        s->sequences = tokens / s->seq;
    s->has_batch = !isnan(s->sequences) || !isnan(s->grad_acc) || args->given.micro_batch ||
                   args->given.dp || args->given.seq || s->rule != SP_LR_FIXED;
    if (isnan(s->grad_acc))
        s->grad_acc =
            isnan(s->sequences) ? 1 : sp_grad_accumulation(s->sequences, s->micro_batch, s->dp);
    s->is_wanted = !isnan(s->sequences);
    s->batch_sequences = sp_effective_batch(s->micro_batch, s->grad_acc, s->dp);
    s->batch_tokens = sp_batch_tokens(s->batch_sequences, s->seq);
    return true;
}

static bool check_schedule(const struct lr *s, struct sp_error *error)
{
    const struct sp_lr_schedule *p = &s->schedule;
    if (!isnan(p->total_steps) && p->warmup_steps > p->total_steps)
        return sp_fail(error, SP_INPUT, "--warmup: %g steps are more than the total of %g",
                       p->warmup_steps, p->total_steps);
    if (isnan(s->step) || isnan(s->base_lr))
        return true;
    if (p->decay != SP_DECAY_CONSTANT && isnan(p->total_steps) && s->step > p->warmup_steps)
        return sp_fail(error, SP_USAGE,
                       "--total-steps is needed after the warmup (or --decay constant)");
    if (p->decay != SP_DECAY_CONSTANT && p->min_lr > p->peak_lr)
        return sp_fail(error, SP_INPUT, "--min-lr: %g is above the peak of %g", p->min_lr,
                       p->peak_lr);
    return true;
}

static bool load(const struct sp_args *args, struct lr *s, struct sp_error *error)
{
    s->step = args->value.step;
    s->base_lr = args->value.lr;
    s->beta1 = args->value.beta1;
    s->beta2 = args->value.beta2;
    s->weight_decay = args->value.weight_decay;
    s->grad_norm = args->value.grad_norm;
    s->max_norm = args->value.max_norm;
    if (!load_batch(args, s, error))
        return false;
    s->schedule = (struct sp_lr_schedule){
        .peak_lr = sp_scaled_lr(s->rule, s->base_lr, s->batch_tokens, s->base_batch_tokens),
        .min_lr = args->value.min_lr,
        .warmup_steps = args->value.warmup,
        .total_steps = args->value.total_steps,
        .decay = (enum sp_lr_decay)args->value.decay};
    if (isnan(s->step) && isnan(s->base_lr) && isnan(s->grad_norm) && !s->has_batch)
        return sp_fail(error, SP_USAGE,
                       "what to work out is needed: --step (with --lr), --grad-norm, or a batch "
                       "(--micro-batch, --microbatches, --dp, --batch)");
    return check_schedule(s, error);
}

/* What the rows show of the step that was asked for; NAN where none was. */
static void work_out(struct lr *s)
{
    const struct sp_lr_schedule *p = &s->schedule;
    const bool known = !isnan(s->step) && !isnan(s->base_lr);
    s->warms = s->step < p->warmup_steps;
    s->lr = known ? sp_lr_at(p, s->step) : NAN;
    s->decay_left = known ? sp_lr_decay_left(p, s->step) : NAN;
    s->correction1 = sp_adam_bias_correction(s->beta1, s->step);
    s->correction2 = sp_adam_bias_correction(s->beta2, s->step);
    s->clip_factor = isnan(s->grad_norm) ? NAN : sp_clip_factor(s->max_norm, s->grad_norm);
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
    put_rows(report, &s);
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
