/* What grows: scaling laws of loss over parameters and tokens, trends over years. */
#ifndef SCALEPLAN_LAWS_H
#define SCALEPLAN_LAWS_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/forms.h>
#include <scaleplan/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Scaling laws ==
 *
 * What a compute budget buys: scaling laws of loss over parameters and tokens, and the trade of
 * steps against batch. One token costs 6 FLOPs a parameter, so C = 6 N D throughout.
 *
 *   N  parameters that one token passes    D  training tokens    C  FLOPs    L  loss, nats a token
 */

/* How a law picks N and D for a budget. Each is a power law N = g (C/6)^a, D = (C/6) / N. */
enum sp_law_rule {
    SP_RULE_MINIMUM,      /* the least loss of a SP_FORM_SUM */
    SP_RULE_RATIO,        /* D = tokens_per_param N */
    SP_RULE_PARAMS_POWER, /* N = coefficient (C / unit_flops)^exponent */
    SP_RULE_TOKENS_POWER  /* D = coefficient (C / unit_flops)^exponent */
};

/* How the loss depends on N and D. */
enum sp_law_form {
    SP_FORM_SUM,    /* L = E + A/N^alpha + B/D^beta (Hoffmann et al. 2022, equation 10) */
    SP_FORM_KAPLAN, /* L = ((N_c/N)^(alpha/beta) + D_c/D)^beta (Kaplan et al. 2020, equation 1.5) */
    SP_FORM_NONE    /* the law tells no loss */
};

/* A published law, checked: exponents lie between 0 and 1, coefficients are positive. Members that
 * the rule or the form does not use are NAN. */
struct sp_scaling_law {
    char name[64];
    int rule, form;         /* enum sp_law_rule, enum sp_law_form */
    bool without_embedding; /* N leaves the embedding out (Kaplan et al. 2020) */
    double tokens_per_param;
    double coefficient, exponent, unit_flops;
    double E, A, B, alpha, beta;
    double N_c, D_c;
};

/* The parameters of a model as the law counts them. */
double sp_params_of_law(const struct sp_scaling_law *law, const struct sp_model *model);

/* N = coefficient (C/6)^exponent: the compute-optimal size, in parameters, C in FLOPs. */
struct sp_law_power {
    double coefficient, exponent;
};
struct sp_law_power sp_law_power(const struct sp_scaling_law *law);

/* Loss, nats a token, of a model of `params` parameters after `tokens` tokens; NAN when the law
 * tells none. */
double sp_law_loss(const struct sp_scaling_law *law, double params, double tokens);

/* Compute-optimal parameters of a budget of `flops`. */
double sp_law_optimal_params(const struct sp_scaling_law *law, double flops);

/* The budget, in FLOPs, for which a size or a number of tokens is compute-optimal. */
double sp_law_flops_for_params(const struct sp_scaling_law *law, double params);
double sp_law_flops_for_tokens(const struct sp_scaling_law *law, double tokens);

/* Tokens that bring a model of `params` parameters to a loss, and parameters that reach it in
 * `tokens` tokens; NAN when none do. */
double sp_law_tokens_for_loss(const struct sp_scaling_law *law, double params, double loss);
double sp_law_params_for_loss(const struct sp_scaling_law *law, double tokens, double loss);

/* The smallest compute-optimal budget, in FLOPs, that reaches a loss; NAN when none below 1e60
 * does. Closed form where the law's rule is its own minimum, else by bisection. */
double sp_law_flops_for_loss(const struct sp_scaling_law *law, double loss);

/* A run: NAN stands for what is not given and for what the law does not tell. */
struct sp_scaling_run {
    double flops, params, tokens, loss;
};

/* Completes a run from what is given: a budget; a size; tokens; two of these three; a loss, alone
 * or with a size or tokens. What is left open is chosen compute-optimal. */
struct sp_scaling_run sp_scaling_solve(const struct sp_scaling_law *law,
                                       const struct sp_scaling_run *given);

/*
 * == Trends ==
 *
 * What grows or falls by the same factor every year: compute, algorithms, memories.
 */

/* A figure of some year. */
enum { SP_MOST_TREND_POINTS = 32 };
struct sp_trend_point {
    char name[32];
    double year, value; /* year 2020.5: the middle of 2020 */
};

/* A published rate: in each `years` years it grows by `factor` (below 1: falls); `years_low` and
 * `years_high` bound the time of that factor; NAN: no range is published. It was found from
 * `first_year` to `last_year`. */
struct sp_trend {
    char name[64], unit[64];
    double factor, years, years_low, years_high;
    int64_t first_year, last_year; /* 0: not said */
    struct sp_trend_point point[SP_MOST_TREND_POINTS];
    int points;
};

/* Factor in a year, years^-1: factor^(1 / years). */
double sp_trend_growth(const struct sp_trend *trend);

/* Years in which it doubles: years ln 2 / ln factor; below 0 those in which it halves. */
double sp_trend_doubling_years(const struct sp_trend *trend);

/* Factor between two years: factor^((to - from) / years). */
double sp_trend_between(const struct sp_trend *trend, double from, double to);

/* Factor in a year of the line through the points that is nearest to their logarithms (least
 * squares); NAN with fewer than two years among them. */
double sp_trend_fitted_growth(const struct sp_trend *trend);

/* How far training came since a year: by more compute, by needing less of it, and by both; the
 * share of the logarithm that compute has. Ho et al. 2024, "Algorithmic progress in language
 * models", section 3: effective compute is compute times what algorithms save. */
struct sp_progress {
    double compute, algorithms, effective; /* factors */
    double compute_share;                  /* NAN in the year itself */
};
struct sp_progress sp_progress_between(const struct sp_trend *compute,
                                       const struct sp_trend *algorithms, double from, double to);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
