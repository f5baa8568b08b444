/* Schedules of the learning rate. Adam's corrections, weight decay, clipping and the batch of a step
 * are closed forms: forms/learning.def. */
#ifndef SCALEPLAN_LEARNING_RATE_H
#define SCALEPLAN_LEARNING_RATE_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How the learning rate falls after the warmup. */
enum sp_lr_decay { SP_DECAY_COSINE, SP_DECAY_LINEAR, SP_DECAY_CONSTANT };

/* How the peak follows the batch. */
enum sp_lr_rule { SP_LR_FIXED, SP_LR_LINEAR, SP_LR_SQRT };

/* Peak for a batch of `batch` where `base_lr` is right for `base_batch`: base_lr times their ratio
 * (Goyal et al. 2017, section 2.1), or its root (Krizhevsky 2014, section 5), or base_lr. */
double sp_scaled_lr(enum sp_lr_rule rule, double base_lr, double batch, double base_batch);

/* Linear warmup from 0 to peak_lr over warmup_steps, then decay to min_lr at total_steps, and
 * min_lr from there on. */
struct sp_lr_schedule {
    double peak_lr, min_lr;
    double warmup_steps, total_steps; /* total_steps: NAN for a constant rate */
    enum sp_lr_decay decay;
};

/* Share of the decay that is still to come at a step, 1 right after the warmup to 0 at the end:
 * cosine (1 + cos(pi x))/2 (Loshchilov & Hutter 2017, SGDR, equation 5), linear 1 - x, where x is
 * the share of the steps after the warmup that are done. */
double sp_lr_decay_left(const struct sp_lr_schedule *schedule, double step);

/* Learning rate of optimizer step `step`: step 0 is before the first update, warmup_steps the
 * first at the peak. */
double sp_lr_at(const struct sp_lr_schedule *schedule, double step);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
