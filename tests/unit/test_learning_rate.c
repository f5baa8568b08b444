/* One optimizer step, by hand. */
#include "check.h"

#include <scaleplan/forms.h>
#include <scaleplan/training.h>

static const struct sp_lr_schedule cosine = {.peak_lr = 3e-4,
                                             .min_lr = 3e-5,
                                             .warmup_steps = 2000,
                                             .total_steps = 10000,
                                             .decay = SP_DECAY_COSINE};

static void schedule(void **state)
{
    (void)state;
    assert_close(sp_lr_at(&cosine, 0), 0, 0);
    assert_close(sp_lr_at(&cosine, 1), 1.5e-7, 1e-14); /* 3e-4 / 2000 */
    assert_close(sp_lr_at(&cosine, 1000), 1.5e-4, 1e-14);
    assert_close(sp_lr_at(&cosine, 2000), 3e-4, 1e-14);
    /* A quarter of the 8000 later steps: (1 + cos 45 deg)/2 = 0.853553; half: 1/2. */
    assert_close(sp_lr_decay_left(&cosine, 4000), 0.8535533905932737, 1e-14);
    assert_close(sp_lr_at(&cosine, 6000), 1.65e-4, 1e-14);
    assert_close(sp_lr_at(&cosine, 10000), 3e-5, 1e-14);
    assert_close(sp_lr_at(&cosine, 1e15), 3e-5, 1e-14);
    struct sp_lr_schedule other = cosine;
    other.decay = SP_DECAY_LINEAR; /* 3e-4 - 2.7e-4 / 4 */
    assert_close(sp_lr_at(&other, 4000), 2.325e-4, 1e-14);
    other.decay = SP_DECAY_CONSTANT;
    other.total_steps = NAN;
    assert_close(sp_lr_at(&other, 1e6), 3e-4, 1e-14);
    other = cosine;
    other.warmup_steps = 0; /* no warmup: the first steps are at the peak */
    assert_close(sp_lr_at(&other, 0), 3e-4, 1e-14);
    other.warmup_steps = other.total_steps;
    assert_close(sp_lr_at(&other, 10000), 3e-4, 1e-14);
    assert_close(sp_lr_at(&other, 10001), 3e-5, 1e-14);
}

static void never_above_the_peak(void **state)
{
    (void)state;
    double before = 0;
    for (double step = 0; step <= 12000; step++) {
        const double lr = sp_lr_at(&cosine, step);
        assert_true(lr >= 0 && lr <= 3e-4 * (1 + 1e-15));
        assert_true(step <= 2000 ? lr >= before : lr <= before * (1 + 1e-15));
        before = lr;
    }
}

static void adam(void **state)
{
    (void)state;
    assert_close(sp_adam_bias_correction(0.9, 1), 0.1, 1e-14);
    assert_close(sp_adam_bias_correction(0.9, 2), 0.19, 1e-14);
    assert_close(sp_adam_bias_correction(0.999, 2), 0.001999, 1e-12);
    assert_close(sp_adam_bias_correction(0.95, 10), 0.4012630607616211, 1e-13); /* 1 - 0.95^10 */
    assert_close(sp_adam_bias_correction(0.9, 0), 0, 0);
    assert_close(sp_adam_bias_correction(0.9, 1e15), 1, 0);
    /* Step 1: sqrt(0.001)/0.1 = 0.316228. */
    assert_close(sp_adam_step_size(1e-3, 0.1, 0.001), 3.1622776601683794e-4, 1e-12);
    assert_true(isnan(sp_adam_step_size(1e-3, 0, 0)));
    assert_close(sp_adamw_decay_factor(3e-4, 0.1), 0.99997, 1e-15);
}

static void clipping(void **state)
{
    (void)state;
    assert_close(sp_clip_factor(1, 4), 0.25, 0);
    assert_close(sp_clip_factor(1, 1), 1, 0);
    assert_close(sp_clip_factor(1, 0.5), 1, 0);
    assert_close(sp_clip_factor(1, 0), 1, 0);
}

static void batch(void **state)
{
    (void)state;
    assert_close(sp_effective_batch(4, 8, 16), 512, 0);
    /* 4 M tokens of 4096 are 976.6 sequences; 128 replicas of 2 take 256 at a time: 3.8. */
    assert_close(sp_grad_accumulation(4e6 / 4096, 2, 128), 4, 0);
    assert_close(sp_grad_accumulation(4e6 / 4096, 2, 512), 1, 0);
    assert_close(sp_grad_accumulation(1024, 2, 128), 4, 0);
    assert_close(sp_grad_accumulation(1, 8, 8), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule), cmocka_unit_test(never_above_the_peak),
        cmocka_unit_test(adam),     cmocka_unit_test(clipping),
        cmocka_unit_test(batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
