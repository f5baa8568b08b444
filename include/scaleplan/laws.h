/* Scaling laws over parameters and tokens, and trends over years. */
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
 * Compute-optimal models and the trade of steps against batch. A token costs 6 FLOPs per parameter,
 * so C = 6 N D.
 *
 * N  active parameters    D  training tokens    C  FLOPs    L  loss, nats per token
 */

/* How a law chooses N and D for a budget. In each case N = g (C/6)^a and D = (C/6) / N. */
enum sp_law_rule {
    SP_RULE_MINIMUM,      /* minimises the loss of SP_FORM_SUM */
    SP_RULE_RATIO,        /* D = tokens_per_param N */
    SP_RULE_PARAMS_POWER, /* N = coefficient (C / unit_flops)^exponent */
    SP_RULE_TOKENS_POWER  /* D = coefficient (C / unit_flops)^exponent */
};

/* How the loss depends on N and D. */
enum sp_law_form {
    SP_FORM_SUM,    /* L = E + A/N^alpha + B/D^beta (Hoffmann et al. 2022, equation 10) */
    SP_FORM_KAPLAN, /* L = ((N_c/N)^(alpha/beta) + D_c/D)^beta (Kaplan et al. 2020, equation 1.5) */
    SP_FORM_NONE    /* the law gives no loss */
};

/* A published law. Exponents lie between 0 and 1, coefficients are positive; members that its rule
 * and form do not use are NAN. */
struct sp_scaling_law {
    char name[64];
    int rule, form;         /* enum sp_law_rule, enum sp_law_form */
    bool without_embedding; /* N excludes the embedding (Kaplan et al. 2020) */
    double tokens_per_param;
    double coefficient, exponent, unit_flops;
    double E, A, B, alpha, beta;
    double N_c, D_c;
};

/* The model's parameters as the law counts them. */
double sp_params_of_law(const struct sp_scaling_law *law, const struct sp_model *model);

/* Compute-optimal N = coefficient (C/6)^exponent, C in FLOPs. */
struct sp_law_power {
    double coefficient, exponent;
};
struct sp_law_power sp_law_power(const struct sp_scaling_law *law);

/* Loss (nats per token) after training `params` parameters on `tokens` tokens; NAN if the law gives
 * none. */
double sp_law_loss(const struct sp_scaling_law *law, double params, double tokens);

/* Compute-optimal number of parameters for a budget of `flops`. */
double sp_law_optimal_params(const struct sp_scaling_law *law, double flops);

/* The budget (FLOPs) for which a number of parameters or tokens is compute-optimal. */
double sp_law_flops_for_params(const struct sp_scaling_law *law, double params);
double sp_law_flops_for_tokens(const struct sp_scaling_law *law, double tokens);

/* Tokens that reach a loss with `params` parameters, and parameters that reach it with `tokens`
 * tokens; NAN if none do. */
double sp_law_tokens_for_loss(const struct sp_scaling_law *law, double params, double loss);
double sp_law_params_for_loss(const struct sp_scaling_law *law, double tokens, double loss);

/* Smallest compute-optimal budget (FLOPs) that reaches a loss; NAN if none below 1e60 does. Closed
 * form if the law's rule minimises its loss, else bisection. */
double sp_law_flops_for_loss(const struct sp_scaling_law *law, double loss);

/* A run; NAN marks what is not given or not determined. */
struct sp_scaling_run {
    double flops, params, tokens, loss;
};

/* Completes a run from one or two of budget, size and tokens, or from a loss, alone or with a size
 * or tokens. The rest is chosen compute-optimal. */
struct sp_scaling_run sp_scaling_solve(const struct sp_scaling_law *law,
                                       const struct sp_scaling_run *given);

/*
 * == Trends ==
 *
 * Quantities that grow or fall by a constant factor per year: compute, algorithms, memories.
 */

/* A value in a year. */
enum { SP_MOST_TREND_POINTS = 64 };
struct sp_trend_point {
    char name[32];
    double year, value; /* year 2020.5: the middle of 2020 */
};

/* A published rate: growth by `factor` (below 1: decline) every `years` years, observed from
 * `first_year` to `last_year`. `years_low` and `years_high` bound `years`; NAN: no range is
 * published. */
struct sp_trend {
    char name[64], unit[64];
    double factor, years, years_low, years_high;
    int64_t first_year, last_year; /* 0: not stated */
    struct sp_trend_point point[SP_MOST_TREND_POINTS];
    int points;
};

/* Growth per year, factor^(1 / years). */
double sp_trend_growth(const struct sp_trend *trend);

/* Doubling time in years, years ln 2 / ln factor; negative: halving time. */
double sp_trend_doubling_years(const struct sp_trend *trend);

/* Factor between two years: factor^((to - from) / years). */
double sp_trend_between(const struct sp_trend *trend, double from, double to);

/* Growth per year by a least-squares line through the logarithms of the points; NAN with fewer than
 * two different years. */
double sp_trend_fitted_growth(const struct sp_trend *trend);

/* Progress since a year from more compute, better algorithms, and both, with compute's share of the
 * logarithm. Ho et al. 2024, "Algorithmic progress in language models", section 3: effective
 * compute is compute times the algorithmic saving. */
struct sp_progress {
    double compute, algorithms, effective; /* factors */
    double compute_share;                  /* NAN in that year itself */
};
struct sp_progress sp_progress_between(const struct sp_trend *compute,
                                       const struct sp_trend *algorithms, double from, double to);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
