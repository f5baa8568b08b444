/* lr: one optimizer step: learning rate, Adam's corrections, decay, clipping, and the batch. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cli/command.h"

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
    SP_TAKE(grad_acc),
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
    {"scaleplan lr --micro-batch 4 --grad-acc 8 --dp 16 --seq 2048", "effective batch"},
    {NULL, NULL},
};

struct lr {
    struct sp_lr_schedule schedule;
    double step, base_lr, beta1, beta2, weight_decay, grad_norm, max_norm;
    double micro_batch, grad_acc, dp, seq;
    double sequences; /* batch to reach; NAN when --grad-acc tells the batch */
    double base_batch_tokens, batch_tokens;
    bool has_batch; /* some part of the batch is given */
    enum sp_lr_rule rule;
    struct sp_report *report;
};

static bool load_batch(const struct sp_args *args, struct lr *s, struct sp_error *error)
{
    double tokens;
    const double seq = args->value.seq;
    s->seq = isnan(seq) ? 4096 : seq;
    s->micro_batch = args->value.micro_batch;
    s->grad_acc = args->value.grad_acc;
    s->dp = args->value.dp;
    s->sequences = args->value.sequences;
    s->rule = (enum sp_lr_rule)args->value.scale_rule;
    if (!sp_tokens_of(args, SP_O_batch, &tokens, &s->seq, error) ||
        !sp_tokens_of(args, SP_O_base_batch, &s->base_batch_tokens, NULL, error))
        return false;
    if (!isnan(tokens) + !isnan(s->sequences) + !isnan(s->grad_acc) > 1)
        return sp_fail(error, SP_USAGE, "--batch, --sequences and --grad-acc exclude each other");
    if ((s->rule == SP_LR_FIXED) != isnan(s->base_batch_tokens))
        return sp_fail(error, SP_USAGE, "--scale-rule and --base-batch need each other");
    if (!isnan(tokens))
        s->sequences = tokens / s->seq;
    s->has_batch = !isnan(s->sequences) || !isnan(s->grad_acc) || args->given.micro_batch ||
                   args->given.dp || args->given.seq || s->rule != SP_LR_FIXED;
    if (isnan(s->grad_acc))
        s->grad_acc =
            isnan(s->sequences) ? 1 : sp_grad_accumulation(s->sequences, s->micro_batch, s->dp);
    s->batch_tokens = sp_effective_batch(s->micro_batch, s->grad_acc, s->dp) * s->seq;
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
                       "(--micro-batch, --grad-acc, --dp, --batch)");
    return check_schedule(s, error);
}

static void put_symbols(const struct lr *s)
{
    struct sp_report *r = s->report;
    const struct sp_lr_schedule *p = &s->schedule;
    sp_symbol(r, "b", s->micro_batch, "sequences", "micro-batch");
    sp_symbol(r, "X", s->dp, "", "data-parallel replicas");
    sp_symbol(r, "K", s->grad_acc, "", "micro-batches per step and replica");
    sp_symbol(r, "T", s->seq, "tokens", "sequence length");
    sp_symbol(r, "sequences", s->sequences, "sequences", "batch to reach");
    sp_symbol(r, "batch", s->batch_tokens, "tokens", "effective batch");
    sp_symbol(r, "base_batch", s->base_batch_tokens, "tokens", "batch that --lr was found for");
    sp_symbol(r, "eta", s->base_lr, "", "option --lr");
    sp_symbol(r, "lr_min", p->min_lr, "", "option --min-lr");
    sp_symbol(r, "t", s->step, "steps", "option --step");
    sp_symbol(r, "t_warmup", p->warmup_steps, "steps", "option --warmup");
    sp_symbol(r, "beta1", s->beta1, "", "option --beta1");
    sp_symbol(r, "beta2", s->beta2, "", "option --beta2");
    sp_symbol(r, "lambda", s->weight_decay, "", "option --weight-decay");
    sp_symbol(r, "norm", s->grad_norm, "", "norm of the gradient");
    sp_symbol(r, "max_norm", s->max_norm, "", "option --max-norm");
}

static void put_batch(const struct lr *s)
{
    struct sp_report *r = s->report;
    const bool wanted = !isnan(s->sequences);
    sp_put(r, SP_Q_LR_MICRO_BATCH, s->micro_batch);
    sp_put(r, SP_Q_LR_DP, s->dp);
    sp_put(r, wanted ? SP_Q_LR_GRAD_ACC : SP_Q_LR_GRAD_ACC_GIVEN, s->grad_acc);
    sp_put(r, SP_Q_LR_GRAD_ACC_EXACT, s->sequences / (s->micro_batch * s->dp));
    sp_put(r, SP_Q_LR_EFFECTIVE_BATCH, sp_effective_batch(s->micro_batch, s->grad_acc, s->dp));
    sp_put(r, SP_Q_LR_EFFECTIVE_TOKENS, s->batch_tokens);
    if (!s->has_batch)
        return;
    sp_line(
        r,
        "batch      {effective_batch} sequences = {effective_batch_tokens} tokens: {micro_batch} "
        "a pass (--micro-batch) x {grad_acc} (%s) x {dp} replicas (--dp), sequences of %s",
        wanted ? "gradient accumulation" : "--grad-acc", sp_human_text(s->seq, SP_TOKENS));
    if (wanted && s->grad_acc * s->micro_batch * s->dp != s->sequences)
        sp_note(
            r,
            "the batch asked for is %s sequences: no whole number of micro-batches gives it, and "
            "the next larger one is taken",
            sp_human_text(s->sequences, SP_NUMBER));
}

static void put_rate(const struct lr *s)
{
    static const enum sp_quantity_id peaks[] = {SP_Q_LR_PEAK, SP_Q_LR_PEAK_LINEAR,
                                                SP_Q_LR_PEAK_SQRT};
    struct sp_report *r = s->report;
    const struct sp_lr_schedule *p = &s->schedule;
    const bool warms = s->step < p->warmup_steps;
    const double lr = isnan(s->step) || isnan(s->base_lr) ? NAN : sp_lr_at(p, s->step);
    sp_put(r, SP_Q_LR_STEP, s->step);
    sp_put(r, peaks[s->rule], p->peak_lr);
    sp_put(r, SP_Q_LR_DECAY_LEFT, isnan(lr) ? NAN : sp_lr_decay_left(p, s->step));
    sp_put(r, warms ? SP_Q_LR_WARMUP : SP_Q_LR_DECAYED, lr);
    sp_put(r, SP_Q_LR_BIAS1, sp_adam_bias_correction(s->beta1, s->step));
    sp_put(r, SP_Q_LR_BIAS2, sp_adam_bias_correction(s->beta2, s->step));
    sp_put(r, SP_Q_LR_STEP_SIZE, sp_adam_step_size(lr, s->beta1, s->beta2, s->step));
    sp_put(r, SP_Q_LR_DECAY_FACTOR, sp_adamw_decay_factor(lr, s->weight_decay));
    sp_put(r, SP_Q_LR_DECAY_STEPS, 1 / (lr * s->weight_decay));
    if (isnan(s->step) && !isnan(s->base_lr))
        sp_line(r, "lr         peak {lr_peak} (--lr%s); --step gives that of a step",
                s->rule == SP_LR_FIXED ? "" : ", --scale-rule, --base-batch");
    if (!isnan(lr))
        sp_line(
            r, "lr         {lr} at step {step}%s: peak {lr_peak}, warmup %s steps (--warmup), %s%s",
            warms ? " of the warmup" : "", sp_human_text(p->warmup_steps, SP_NUMBER),
            decays[p->decay],
            p->decay == SP_DECAY_CONSTANT ? " after it (--decay)" : " decay (--decay)");
    if (!isnan(lr) && p->decay != SP_DECAY_CONSTANT)
        sp_line(r, "           to %s (--min-lr) at step %s (--total-steps)",
                sp_human_text(p->min_lr, SP_NUMBER), sp_human_text(p->total_steps, SP_NUMBER));
    if (!isnan(s->step))
        sp_line(
            r,
            "adam       bias corrections {bias_correction1} and {bias_correction2} (--beta1 %g, "
            "--beta2 %g)%s",
            s->beta1, s->beta2, isnan(lr) ? "" : "; effective step size {step_size}");
    sp_line(r,
            "adamw      weights times {weight_decay_factor!} a step; 1/e in {weight_decay_steps} "
            "steps");
}

static void put_clip(const struct lr *s)
{
    const double factor = isnan(s->grad_norm) ? NAN : sp_clip_factor(s->grad_norm, s->max_norm);
    sp_put(s->report, s->grad_norm == 0 ? SP_Q_LR_CLIP_ZERO : SP_Q_LR_CLIP, factor);
    sp_put(s->report, SP_Q_LR_CLIPPED_NORM, s->grad_norm * factor);
    sp_line(s->report,
            "clip       gradient times {clip_factor}: norm {clipped_norm} (--max-norm %g)",
            s->max_norm);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct lr s = {.report = report};
    if (!load(args, &s, error))
        return false;
    put_symbols(&s);
    put_rate(&s);
    put_clip(&s);
    put_batch(&s);
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
