/* The formulas of learning_rate.h. */
#include <math.h>

#include <scaleplan/training.h>

double sp_scaled_lr(enum sp_lr_rule rule, double base_lr, double batch, double base_batch)
{
    if (rule == SP_LR_LINEAR)
        return base_lr * batch / base_batch;
    return rule == SP_LR_SQRT ? base_lr * sqrt(batch / base_batch) : base_lr;
}

double sp_lr_decay_left(const struct sp_lr_schedule *s, double step)
{
    const double pi = 3.14159265358979323846;
    if (s->decay == SP_DECAY_CONSTANT || step <= s->warmup_steps)
        return 1;
    if (step >= s->total_steps)
        return 0;
    const double done = (step - s->warmup_steps) / (s->total_steps - s->warmup_steps);
    return s->decay == SP_DECAY_LINEAR ? 1 - done : (1 + cos(pi * done)) / 2;
}

double sp_lr_at(const struct sp_lr_schedule *s, double step)
{
    if (step < s->warmup_steps)
        return s->peak_lr * step / s->warmup_steps;
    return s->min_lr + (s->peak_lr - s->min_lr) * sp_lr_decay_left(s, step);
}

double sp_adam_bias_correction(double beta, double step)
{
    return 1 - pow(beta, step);
}

double sp_adam_step_size(double lr, double beta1, double beta2, double step)
{
    const double first = sp_adam_bias_correction(beta1, step);
    if (!(first > 0))
        return NAN;
    return lr * sqrt(sp_adam_bias_correction(beta2, step)) / first;
}

double sp_adamw_decay_factor(double lr, double weight_decay)
{
    return 1 - lr * weight_decay;
}

double sp_clip_factor(double norm, double max_norm)
{
    return norm > max_norm ? max_norm / norm : 1;
}

double sp_effective_batch(double micro_batch, double grad_acc, double dp)
{
    return micro_batch * grad_acc * dp;
}

double sp_grad_accumulation(double batch, double micro_batch, double dp)
{
    return fmax(1, ceil(batch / (micro_batch * dp)));
}
