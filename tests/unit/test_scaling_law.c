/* Scaling laws: values that can be worked out on paper, the published ones, and the inverses. */
#include "check.h"

#include <scaleplan/laws.h>
#include <scaleplan/training.h>

#include "config/load.h"

/* alpha = beta = 1/2: g = A/B, a = 1/2. With A = 400, B = 100: N = 4 sqrt(C/6). */
static const struct sp_scaling_law simple = {.rule = SP_RULE_MINIMUM,
                                             .form = SP_FORM_SUM,
                                             .E = 1,
                                             .A = 400,
                                             .B = 100,
                                             .alpha = 0.5,
                                             .beta = 0.5};

static void minimum(void **state)
{
    (void)state;
    const struct sp_law_power n = sp_law_power(&simple);
    assert_close(n.coefficient, 4, 1e-15);
    assert_close(n.exponent, 0.5, 1e-15);
    /* C = 6e20: N = 4e10, D = 1e20 / 4e10 = 2.5e9. L = 1 + 400/2e5 + 100/5e4 = 1.004. */
    assert_close(sp_law_optimal_params(&simple, 6e20), 4e10, 1e-14);
    assert_close(sp_law_loss(&simple, 4e10, 2.5e9), 1.004, 1e-15);
    assert_close(sp_law_flops_for_params(&simple, 4e10), 6e20, 1e-14);
    assert_close(sp_law_flops_for_tokens(&simple, 2.5e9), 6e20, 1e-14);
    assert_close(sp_law_flops_for_loss(&simple, 1.004), 6e20, 1e-12);
    assert_close(sp_law_tokens_for_loss(&simple, 4e10, 1.004), 2.5e9, 1e-12);
    assert_close(sp_law_params_for_loss(&simple, 2.5e9, 1.004), 4e10, 1e-12);
}

/* The optimum is a minimum: at the same budget a size 1 % off is worse on both sides. */
static void minimum_is_least(void **state)
{
    (void)state;
    static const char *const names[] = {"chinchilla-3", "besiroglu"};
    for (size_t i = 0; i < 2; i++) {
        struct sp_scaling_law law;
        struct sp_error error = {0};
        assert_true(sp_load_law(names[i], &(struct sp_sources){0}, &law, &error));
        for (double flops = 1e15; flops < 1e28; flops *= 17) {
            const double N = sp_law_optimal_params(&law, flops);
            const double least = sp_law_loss(&law, N, flops / (6 * N));
            assert_true(sp_law_loss(&law, 1.01 * N, flops / (6 * 1.01 * N)) > least);
            assert_true(sp_law_loss(&law, 0.99 * N, flops / (6 * 0.99 * N)) > least);
        }
    }
}

static void floors(void **state)
{
    (void)state;
    /* A model of 160 000 parameters keeps a loss of 400/400 = 1 above E: it never gets below 2. */
    assert_true(isnan(sp_law_tokens_for_loss(&simple, 160000, 2)));
    assert_close(sp_law_tokens_for_loss(&simple, 160000, 2.5), 40000, 1e-12); /* 100/200 = 0.5 */
    assert_true(isnan(sp_law_params_for_loss(&simple, 10000, 2)));            /* 100/100 = 1 */
    assert_true(isnan(sp_law_flops_for_loss(&simple, 1)));
    assert_true(isnan(sp_law_flops_for_loss(&simple, 0.5)));
}

/* ((3/4)^1 + 1/4)^0.5 = 1. */
static void kaplan_form(void **state)
{
    (void)state;
    const struct sp_scaling_law law = {
        .form = SP_FORM_KAPLAN, .N_c = 3, .D_c = 1, .alpha = 0.5, .beta = 0.5};
    assert_close(sp_law_loss(&law, 4, 4), 1, 1e-15);
    assert_close(sp_law_tokens_for_loss(&law, 4, 1), 4, 1e-14);
    assert_close(sp_law_params_for_loss(&law, 4, 1), 4, 1e-14);
    assert_true(isnan(sp_law_tokens_for_loss(&law, 1, 1)));
}

/* k = 10, p = 1/2, C_0 = 100: at C = 400 ten times two are 20. */
static void power_rules(void **state)
{
    (void)state;
    struct sp_scaling_law law = {.rule = SP_RULE_PARAMS_POWER,
                                 .form = SP_FORM_NONE,
                                 .coefficient = 10,
                                 .exponent = 0.5,
                                 .unit_flops = 100};
    assert_close(sp_law_optimal_params(&law, 400), 20, 1e-14);
    assert_close(sp_law_flops_for_params(&law, 20), 400, 1e-14);
    assert_true(isnan(sp_law_loss(&law, 20, 1)));
    assert_true(isnan(sp_law_tokens_for_loss(&law, 20, 1)));
    assert_true(isnan(sp_law_params_for_loss(&law, 20, 1)));
    assert_true(isnan(sp_law_flops_for_loss(&law, 1)));
    law.rule = SP_RULE_TOKENS_POWER; /* D = 20, N = 400 / 120 */
    assert_close(sp_law_optimal_params(&law, 400), 400.0 / 120, 1e-14);
    assert_close(sp_law_flops_for_tokens(&law, 20), 400, 1e-13);
}

/* Every built-in law: inverses undo the optimum, and loss falls with the budget. */
static void inverses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sp_n_builtins; i++) {
        struct sp_scaling_law law;
        struct sp_error error = {0};
        if (sp_builtins[i].kind != SP_LAWS)
            continue;
        assert_true(sp_load_law(sp_builtins[i].name, &(struct sp_sources){0}, &law, &error));
        double before = INFINITY;
        for (double flops = 1e16; flops < 1e28; flops *= 31) {
            const double N = sp_law_optimal_params(&law, flops), D = flops / (6 * N);
            const double loss = sp_law_loss(&law, N, D);
            assert_close(sp_law_flops_for_params(&law, N), flops, 1e-10);
            assert_close(sp_law_flops_for_tokens(&law, D), flops, 1e-10);
            if (law.form == SP_FORM_NONE)
                continue;
            assert_true(loss < before);
            before = loss;
            assert_close(sp_law_tokens_for_loss(&law, N, loss), D, 1e-9);
            assert_close(sp_law_params_for_loss(&law, D, loss), N, 1e-9);
            assert_close(sp_law_flops_for_loss(&law, loss), flops, 1e-9);
        }
    }
}

/* Chinchilla: 5.76e23 FLOPs. 20 tokens per parameter give sqrt(4.8e21) = 69.3 B on 1.39 T; the
 * paper trained 70 B on 1.4 T. Its own parametric fit asks for 32 B on 3.0 T with the printed
 * exponents; Besiroglu et al. find about 20 tokens per parameter again. */
static void published(void **state)
{
    (void)state;
    const struct sp_sources sources = {0};
    struct sp_scaling_law law;
    struct sp_error error = {0};
    assert_true(sp_load_law("chinchilla", &sources, &law, &error));
    assert_close(sp_law_optimal_params(&law, 5.76e23), 4e10 * sqrt(3), 1e-14);
    assert_close(sp_law_optimal_params(&law, 5.76e23), 70e9, 0.02);
    /* 1.69 + 406.4/4867.8 + 410.7/2517.2 = 1.69 + 0.0835 + 0.1632 */
    assert_close(sp_law_loss(&law, 70e9, 1.4e12), 1.9366, 1e-4);
    assert_true(sp_load_law("chinchilla-3", &sources, &law, &error));
    assert_close(sp_law_optimal_params(&law, 5.76e23), 32.2e9, 0.01);
    assert_true(sp_load_law("besiroglu", &sources, &law, &error));
    assert_close(sp_law_optimal_params(&law, 5.76e23), 70e9, 0.05);
    assert_true(sp_load_law("kaplan", &sources, &law, &error)); /* one PF-day: 1.3 B */
    assert_close(sp_law_optimal_params(&law, 8.64e19), 1.3e9, 1e-12);
    assert_true(sp_load_law("llama3", &sources, &law, &error)); /* 16.55 T, 402 B for 405B */
    const double N = sp_law_optimal_params(&law, 3.8e25);
    assert_close(N, 402e9, 0.04);
    assert_close(3.8e25 / (6 * N), 16.55e12, 0.02);
}

/* The given quantities determine the computed ones. */
static void solving(void **state)
{
    (void)state;
    const double none = NAN;
    static const struct {
        struct sp_scaling_run given;
    } rows[] = {
        {{6e20, NAN, NAN, NAN}},   {{NAN, 4e10, NAN, NAN}},   {{NAN, NAN, 2.5e9, NAN}},
        {{NAN, 4e10, 2.5e9, NAN}}, {{6e20, 4e10, NAN, NAN}},  {{6e20, NAN, 2.5e9, NAN}},
        {{NAN, NAN, NAN, 1.004}},  {{NAN, 4e10, NAN, 1.004}}, {{NAN, NAN, 2.5e9, 1.004}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sp_scaling_run run = sp_scaling_solve(&simple, &rows[i].given);
        assert_close(run.flops, 6e20, 1e-11);
        assert_close(run.params, 4e10, 1e-11);
        assert_close(run.tokens, 2.5e9, 1e-11);
        assert_close(run.loss, 1.004, 1e-14);
    }
    const struct sp_scaling_run nothing =
        sp_scaling_solve(&simple, &(struct sp_scaling_run){none, none, none, none});
    assert_true(isnan(nothing.flops) && isnan(nothing.loss));
}

/* A batch of the noise scale takes twice the fewest steps and tokens; (S/S_min - 1)(E/E_min - 1) =
 * 1 everywhere (McCandlish et al. 2018, equation 2.11). */
static void steps_and_batch(void **state)
{
    (void)state;
    assert_close(sp_steps_over_min(2e6, 2e6), 2, 1e-15);
    assert_close(sp_tokens_over_min(2e6, 2e6), 2, 1e-15);
    assert_close(sp_steps_over_min(4e6, 2e6), 1.5, 1e-15);
    assert_close(sp_tokens_over_min(4e6, 2e6), 3, 1e-15);
    for (double batch = 1e3; batch < 1e9; batch *= 7)
        assert_close((sp_steps_over_min(batch, 2e6) - 1) * (sp_tokens_over_min(batch, 2e6) - 1), 1,
                     1e-9);
}

/* Of 2.5, 2.6, 2.8, 2.9 around their middle: sum of x y = 0.7, of x^2 = 5, the rest 0.002 over 2
 * degrees of freedom. Means of four: 3.275, 2.925, 2.675, 2.625, 2.7. */
static void course_of_a_loss(void **state)
{
    (void)state;
    const double rising[] = {4, 3.5, 3, 2.6, 2.5, 2.6, 2.8, 2.9};
    const struct sp_loss_curve up = sp_read_loss_curve(rising, 8);
    assert_close(up.window, 4, 0);
    assert_close(up.mean, 2.7, 1e-14);
    assert_close(up.slope, 0.14, 1e-12);
    assert_close(up.error, sqrt(0.002 / 2 / 5), 1e-10);
    assert_true(up.rises);
    assert_close(up.least, 2.625, 1e-14);
    assert_close(up.since_least, 1, 0);
    assert_close(up.spikes, 0, 0);
    const double flat[] = {3, 3, 3, 3, 3, 3, 3, 3, 3};
    assert_false(sp_read_loss_curve(flat, 9).rises);
    assert_close(sp_read_loss_curve(flat, 9).spikes, 0, 0);
    /* 2.9 and 3.1 in turn: a slope of 0.6 / 10 x 0.1 from noise, and 3.9 is 9 deviations of 0.1
     * above 3. */
    const double noisy[] = {2.9, 3.1, 2.9, 3.1, 2.9, 3.1, 2.9, 3.1};
    assert_close(sp_read_loss_curve(noisy, 8).slope, 0.04, 1e-12);
    assert_false(sp_read_loss_curve(noisy, 8).rises);
    const double spike[] = {2.9, 3.1, 2.9, 3.1, 3.9, 3.1, 2.9, 3.1};
    assert_close(sp_read_loss_curve(spike, 8).spikes, 1, 0);
    double below[] = {2.9, 3.1, 2.9, 3.1, 3.69, 3.1, 2.9, 3.1}; /* 6.9 deviations */
    assert_close(sp_read_loss_curve(below, 8).spikes, 0, 0);
    below[4] = 3.71;
    assert_close(sp_read_loss_curve(below, 8).spikes, 1, 0);
    /* at most 1000 in a window: 5000 values that fall by 1 each */
    double long_run[5000];
    for (int i = 0; i < 5000; i++)
        long_run[i] = 5000 - i;
    const struct sp_loss_curve down = sp_read_loss_curve(long_run, 5000);
    assert_close(down.window, 1000, 0);
    assert_close(down.slope, -1, 1e-12);
    assert_close(down.mean, 500.5, 1e-12);
    assert_close(down.since_least, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimum),         cmocka_unit_test(minimum_is_least),
        cmocka_unit_test(floors),          cmocka_unit_test(kaplan_form),
        cmocka_unit_test(power_rules),     cmocka_unit_test(inverses),
        cmocka_unit_test(published),       cmocka_unit_test(solving),
        cmocka_unit_test(steps_and_batch), cmocka_unit_test(course_of_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
