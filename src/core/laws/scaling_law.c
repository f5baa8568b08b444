/* The closed forms of scaling_law.h, and the budgets found by bisection. */
#include <math.h>

#include <scaleplan/laws.h>

static const double flops_per_token_param = 6;

struct sp_law_power sp_law_power(const struct sp_scaling_law *law)
{
    const double alpha = law->alpha, beta = law->beta, k = law->coefficient, p = law->exponent;
    const double unit = pow(flops_per_token_param / law->unit_flops, p);
    switch (law->rule) {
    case SP_RULE_MINIMUM: /* Hoffmann et al. 2022, equation 4 */
        return (struct sp_law_power){pow(alpha * law->A / (beta * law->B), 1 / (alpha + beta)),
                                     beta / (alpha + beta)};
    case SP_RULE_RATIO:
        return (struct sp_law_power){1 / sqrt(law->tokens_per_param), 0.5};
    case SP_RULE_PARAMS_POWER:
        return (struct sp_law_power){k * unit, p};
    default:
        return (struct sp_law_power){1 / (k * unit), 1 - p};
    }
}

double sp_law_loss_of_params(const struct sp_scaling_law *law, double params)
{
    return law->form == SP_FORM_SUM ? law->A / pow(params, law->alpha) : NAN;
}

double sp_law_loss_of_tokens(const struct sp_scaling_law *law, double tokens)
{
    return law->form == SP_FORM_SUM ? law->B / pow(tokens, law->beta) : NAN;
}

double sp_law_loss(const struct sp_scaling_law *law, double params, double tokens)
{
    const double alpha = law->alpha, beta = law->beta;
    switch (law->form) {
    case SP_FORM_SUM:
        return law->E + sp_law_loss_of_params(law, params) + sp_law_loss_of_tokens(law, tokens);
    case SP_FORM_KAPLAN:
        return pow(pow(law->N_c / params, alpha / beta) + law->D_c / tokens, beta);
    default:
        return NAN;
    }
}

/* Kaplan's tokens follow from C = 6 N D, not from his fit of tokens, which is for runs at the
 * critical batch. */
double sp_law_optimal_params(const struct sp_scaling_law *law, double flops)
{
    const struct sp_law_power n = sp_law_power(law);
    return n.coefficient * pow(flops / flops_per_token_param, n.exponent);
}

double sp_law_flops_for_params(const struct sp_scaling_law *law, double params)
{
    const struct sp_law_power n = sp_law_power(law);
    return flops_per_token_param * pow(params / n.coefficient, 1 / n.exponent);
}

double sp_law_flops_for_tokens(const struct sp_scaling_law *law, double tokens)
{
    const struct sp_law_power n = sp_law_power(law);
    return flops_per_token_param * pow(tokens * n.coefficient, 1 / (1 - n.exponent));
}

/* x where it is positive: a loss below the law's floor has no solution. */
static double positive(double x)
{
    return x > 0 ? x : NAN;
}

double sp_law_tokens_for_loss(const struct sp_scaling_law *law, double params, double loss)
{
    const double alpha = law->alpha, beta = law->beta;
    switch (law->form) {
    case SP_FORM_SUM:
        return pow(law->B / positive(loss - law->E - law->A / pow(params, alpha)), 1 / beta);
    case SP_FORM_KAPLAN:
        return law->D_c / positive(pow(loss, 1 / beta) - pow(law->N_c / params, alpha / beta));
    default:
        return NAN;
    }
}

double sp_law_params_for_loss(const struct sp_scaling_law *law, double tokens, double loss)
{
    const double alpha = law->alpha, beta = law->beta;
    switch (law->form) {
    case SP_FORM_SUM:
        return pow(law->A / positive(loss - law->E - law->B / pow(tokens, beta)), 1 / alpha);
    case SP_FORM_KAPLAN:
        return law->N_c / pow(positive(pow(loss, 1 / beta) - law->D_c / tokens), beta / alpha);
    default:
        return NAN;
    }
}

static double optimal_loss(const struct sp_scaling_law *law, double flops)
{
    const double params = sp_law_optimal_params(law, flops);
    return sp_law_loss(law, params, flops / (flops_per_token_param * params));
}

/* The loss falls with the budget; 200 halvings of its logarithm leave nothing to rounding. */
static double bisect_flops(const struct sp_scaling_law *law, double loss)
{
    double low = 0, high = 60; /* powers of ten */
    if (!(optimal_loss(law, 1e60) <= loss) || !(optimal_loss(law, 1) >= loss))
        return NAN;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        if (optimal_loss(law, pow(10, middle)) > loss)
            low = middle;
        else
            high = middle;
    }
    return pow(10, high);
}

double sp_law_flops_for_loss(const struct sp_scaling_law *law, double loss)
{
    if (law->form == SP_FORM_NONE)
        return NAN;
    if (law->rule != SP_RULE_MINIMUM)
        return bisect_flops(law, loss);
    /* At the optimum both terms fall as (C/6)^-(alpha a), as alpha a = beta (1 - a). */
    const struct sp_law_power n = sp_law_power(law);
    const double g = n.coefficient;
    const double sum = law->A * pow(g, -law->alpha) + law->B * pow(g, law->beta);
    const double flops =
        flops_per_token_param * pow(sum / positive(loss - law->E), 1 / (law->alpha * n.exponent));
    return flops <= 1e60 ? flops : NAN;
}

struct sp_scaling_run sp_scaling_solve(const struct sp_scaling_law *law,
                                       const struct sp_scaling_run *given)
{
    struct sp_scaling_run run = *given;
    const bool has_n = !isnan(run.params), has_d = !isnan(run.tokens);
    if (!isnan(run.loss)) {
        if (has_n)
            run.tokens = sp_law_tokens_for_loss(law, run.params, run.loss);
        else if (has_d)
            run.params = sp_law_params_for_loss(law, run.tokens, run.loss);
        else
            run.flops = sp_law_flops_for_loss(law, run.loss);
    } else if (isnan(run.flops) && has_n != has_d) {
        run.flops = has_n ? sp_law_flops_for_params(law, run.params)
                          : sp_law_flops_for_tokens(law, run.tokens);
    }
    if (isnan(run.flops))
        run.flops = flops_per_token_param * run.params * run.tokens;
    if (isnan(run.params))
        run.params = isnan(run.tokens) ? sp_law_optimal_params(law, run.flops)
                                       : run.flops / (flops_per_token_param * run.tokens);
    if (isnan(run.tokens))
        run.tokens = run.flops / (flops_per_token_param * run.params);
    if (isnan(run.loss))
        run.loss = sp_law_loss(law, run.params, run.tokens);
    return run;
}

double sp_steps_over_min(double batch, double noise)
{
    return 1 + noise / batch;
}

double sp_tokens_over_min(double batch, double noise)
{
    return 1 + batch / noise;
}

double sp_critical_batch_of_loss(double loss)
{
    return 2e8 * pow(loss, -1 / 0.21);
}
