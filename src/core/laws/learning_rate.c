/* Schedules of the learning rate; see forms/learning.def for the closed forms. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/training.h>

double sp_scaled_lr(enum sp_lr_rule rule, double base_lr, double batch, double base_batch)
{
    if (rule == SP_LR_LINEAR)
        return sp_lr_scaled_linearly(base_lr, batch, base_batch);
    return rule == SP_LR_SQRT ? sp_lr_scaled_by_root(base_lr, batch, base_batch) : base_lr;
}

double sp_lr_decay_left(const struct sp_lr_schedule *s, double step)
{
    const double pi = 3.14159265358979323846;
    const double held = s->decay == SP_DECAY_WSD
                            ? fmax(s->warmup_steps, s->total_steps * (1 - s->cooldown))
                            : s->warmup_steps;
    if (s->decay == SP_DECAY_CONSTANT || step <= held)
        return 1;
    if (s->decay == SP_DECAY_ISQRT)
        return sqrt(fmax(held, 1) / step);
    if (step >= s->total_steps)
        return 0;
    const double done = (step - held) / (s->total_steps - held);
    return s->decay == SP_DECAY_COSINE ? (1 + cos(pi * done)) / 2 : 1 - done;
}

bool sp_lr_decay_ends(enum sp_lr_decay decay)
{
    return decay != SP_DECAY_CONSTANT && decay != SP_DECAY_ISQRT;
}

struct sp_adam_moments sp_adam_same_gradient(double g, double steps, double beta1, double beta2)
{
    return (struct sp_adam_moments){g * sp_adam_bias_correction(beta1, steps),
                                    g * g * sp_adam_bias_correction(beta2, steps)};
}

/* Steps count from 1; the last warmup step is at the peak. */
double sp_lr_at(const struct sp_lr_schedule *s, double step)
{
    if (step < s->warmup_steps)
        return sp_lr_in_warmup(s->peak_lr, step, s->warmup_steps);
    return sp_lr_decayed(s->min_lr, s->peak_lr, sp_lr_decay_left(s, step));
}
