/* One optimizer step: learning rate, Adam's corrections, weight decay, clipping, and the batch. */
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

/* 1 - beta^step, step counted from 1. Adam, Kingma & Ba 2015, section 3. */
double sp_adam_bias_correction(double beta, double step);

/* lr sqrt(1 - beta2^t) / (1 - beta1^t): the step size with both corrections folded in; NAN at step
 * 0. Kingma & Ba 2015, section 2. */
double sp_adam_step_size(double lr, double beta1, double beta2, double step);

/* 1 - lr weight_decay: what AdamW multiplies a weight by in one step. Loshchilov & Hutter 2019,
 * algorithm 2 with the learning rate as the schedule's multiplier (as PyTorch and Optax do). */
double sp_adamw_decay_factor(double lr, double weight_decay);

/* min(1, max_norm / norm): what clipping multiplies a gradient of norm `norm` by. Pascanu et al.
 * 2013, algorithm 1. */
double sp_clip_factor(double norm, double max_norm);

/* Sequences of one optimizer step: micro_batch sequences, grad_acc times, on dp replicas. */
double sp_effective_batch(double micro_batch, double grad_acc, double dp);

/* Micro-batches that a replica adds up to reach a batch of `batch` sequences: the next whole
 * number. */
double sp_grad_accumulation(double batch, double micro_batch, double dp);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
