/* Maps laws to closed forms, and finds budgets by bisection. */
#include <math.h>

#include <scaleplan/laws.h>

double sp_params_of_law(const struct sp_scaling_law *law, const struct sp_model *model)
{
    const struct sp_params p = sp_count_params(model);
    return law->without_embedding && sp_model_has_shape(model) ? p.active - p.embedding : p.active;
}

struct sp_law_power sp_law_power(const struct sp_scaling_law *law)
{
    const double k = law->coefficient, p = law->exponent;
    switch (law->rule) {
    case SP_RULE_MINIMUM:
        return (struct sp_law_power){sp_optimum_coefficient(law->A, law->alpha, law->B, law->beta),
                                     sp_optimum_exponent(law->alpha, law->beta)};
    case SP_RULE_RATIO:
        return (struct sp_law_power){sp_ratio_coefficient(law->tokens_per_param), 0.5};
    case SP_RULE_PARAMS_POWER:
        return (struct sp_law_power){sp_params_power_coefficient(k, p, law->unit_flops), p};
    default:
        return (struct sp_law_power){sp_tokens_power_coefficient(k, p, law->unit_flops),
                                     sp_tokens_power_exponent(p)};
    }
}

double sp_law_loss(const struct sp_scaling_law *law, double params, double tokens)
{
    switch (law->form) {
    case SP_FORM_SUM:
        return sp_loss_sum(params, tokens, law->E, law->A, law->alpha, law->B, law->beta);
    case SP_FORM_KAPLAN:
        return sp_loss_kaplan(params, tokens, law->N_c, law->alpha, law->D_c, law->beta);
    default:
        return NAN;
    }
}

/* Tokens follow from C = 6 N D, not from Kaplan's own fit, which is for runs at the critical
 * batch. */
double sp_law_optimal_params(const struct sp_scaling_law *law, double flops)
{
    const struct sp_law_power n = sp_law_power(law);
    return sp_optimal_params(flops, n.coefficient, n.exponent);
}

double sp_law_flops_for_params(const struct sp_scaling_law *law, double params)
{
    const struct sp_law_power n = sp_law_power(law);
    return sp_budget_for_params(params, n.coefficient, n.exponent);
}

double sp_law_flops_for_tokens(const struct sp_scaling_law *law, double tokens)
{
    const struct sp_law_power n = sp_law_power(law);
    return sp_budget_for_tokens(tokens, n.coefficient, n.exponent);
}

/* No solution below the loss of infinite data or size: pow() of a negative base would return one
 * for whole exponents. */
double sp_law_tokens_for_loss(const struct sp_scaling_law *law, double params, double loss)
{
    if (!(loss > sp_law_loss(law, params, INFINITY)))
        return NAN;
    return law->form == SP_FORM_SUM
               ? sp_tokens_for_loss_sum(loss, params, law->E, law->A, law->alpha, law->B, law->beta)
               : sp_tokens_for_loss_kaplan(loss, params, law->N_c, law->alpha, law->D_c, law->beta);
}

double sp_law_params_for_loss(const struct sp_scaling_law *law, double tokens, double loss)
{
    if (!(loss > sp_law_loss(law, INFINITY, tokens)))
        return NAN;
    return law->form == SP_FORM_SUM
               ? sp_params_for_loss_sum(loss, tokens, law->E, law->A, law->alpha, law->B, law->beta)
               : sp_params_for_loss_kaplan(loss, tokens, law->N_c, law->alpha, law->D_c, law->beta);
}

static double optimal_loss(const struct sp_scaling_law *law, double flops)
{
    const double params = sp_law_optimal_params(law, flops);
    return sp_law_loss(law, params, sp_tokens_of_budget(flops, params));
}

/* The loss falls with the budget; 200 halvings of its logarithm exhaust double precision. */
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
    if (!(loss > law->E))
        return NAN;
    const struct sp_law_power n = sp_law_power(law);
    const double flops = sp_budget_for_loss(loss, law->E, law->A, law->alpha, law->B, law->beta,
                                            n.coefficient, n.exponent);
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
        run.flops = sp_training_flops(run.params, run.tokens);
    if (isnan(run.params))
        run.params = isnan(run.tokens) ? sp_law_optimal_params(law, run.flops)
                                       : sp_params_of_budget(run.flops, run.tokens);
    if (isnan(run.tokens))
        run.tokens = sp_tokens_of_budget(run.flops, run.params);
    if (isnan(run.loss))
        run.loss = sp_law_loss(law, run.params, run.tokens);
    return run;
}
