/* scaling: the report. */
#include <math.h>
#include <string.h>

#include "commands/scaling.h"

/* "L = 1.69 + 406.4/N^0.34 + 410.7/D^0.28" */
static void describe_loss(const struct sp_scaling_law *law, char *out, size_t size)
{
    char n[7][32];
    const double numbers[] = {law->E, law->A, law->alpha, law->B, law->beta, law->N_c, law->D_c};
    for (int i = 0; i < 7; i++)
        snprintf(n[i], sizeof n[i], "%.6g", numbers[i]);
    if (law->form == SP_FORM_SUM)
        snprintf(out, size, "L = %s + %s/N^%s + %s/D^%s", n[0], n[1], n[2], n[3], n[4]);
    else if (law->form == SP_FORM_KAPLAN)
        snprintf(out, size, "L = ((%s/N)^(%s/%s) + %s/D)^%s", n[5], n[2], n[4], n[6], n[4]);
    else
        snprintf(out, size, "the law tells no loss");
}

/* How each rule makes the power law N = g (C/6)^a. */
static const enum sp_quantity_id coefficients[] = {
    [SP_RULE_MINIMUM] = SP_Q_SCALING_COEFFICIENT_MINIMUM,
    [SP_RULE_RATIO] = SP_Q_SCALING_COEFFICIENT_RATIO,
    [SP_RULE_PARAMS_POWER] = SP_Q_SCALING_COEFFICIENT_PARAMS,
    [SP_RULE_TOKENS_POWER] = SP_Q_SCALING_COEFFICIENT_TOKENS,
};
static const enum sp_quantity_id exponents[] = {
    [SP_RULE_MINIMUM] = SP_Q_SCALING_EXPONENT_MINIMUM,
    [SP_RULE_RATIO] = SP_Q_SCALING_EXPONENT_RATIO,
    [SP_RULE_PARAMS_POWER] = SP_Q_SCALING_EXPONENT_PARAMS,
    [SP_RULE_TOKENS_POWER] = SP_Q_SCALING_EXPONENT_TOKENS,
};

/* The text of a member of the law's file. */
static void put_law_text(const struct sp_scaling_question *s, enum sp_quantity_id id,
                         const cJSON *root, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(root, key);
    if (cJSON_IsString(node))
        sp_put_text(s->report, id, "%s", node->valuestring);
    else
        sp_put_null(s->report, id);
}

static bool put_law(const struct sp_scaling_question *s, struct sp_error *error)
{
    char formula[256];
    struct sp_config config;
    const struct sp_law_power n = sp_law_power(&s->law);
    if (strcmp(s->law_spec, "-") == 0) { /* standard input has been read */
        sp_put_null(s->report, SP_Q_SCALING_LAW_SOURCE);
    } else {
        if (!sp_open_config(SP_LAWS, s->law_spec, &s->sources, &config, error))
            return false;
        put_law_text(s, SP_Q_SCALING_LAW_SOURCE, config.json.root, "source");
        put_law_text(s, SP_Q_SCALING_LAW_NOTE, config.json.root, "note");
        sp_config_free(&config);
    }
    describe_loss(&s->law, formula, sizeof formula);
    sp_put_text(s->report, SP_Q_SCALING_LAW, "%s", s->law.name);
    sp_put_text(s->report, SP_Q_SCALING_FORMULA, "%s", formula);
    sp_put(s->report, coefficients[s->law.rule], n.coefficient);
    sp_put(s->report, exponents[s->law.rule], n.exponent);
    return true;
}

static void put_symbols(const struct sp_scaling_question *s)
{
    struct sp_report *r = s->report;
    const struct sp_scaling_law *law = &s->law;
    const struct sp_law_power n = sp_law_power(law);
    sp_symbol(r, "g", n.coefficient, "", "compute-optimal N = g (C/6)^a");
    sp_symbol(r, "a", n.exponent, "", "compute-optimal N = g (C/6)^a");
    sp_symbol(r, "k", law->rule == SP_RULE_RATIO ? law->tokens_per_param : law->coefficient, "",
              law->rule == SP_RULE_RATIO ? "tokens per parameter" : "coefficient of the law");
    sp_symbol(r, "p", law->exponent, "", "exponent of the law");
    sp_symbol(r, "C_0", law->unit_flops, "FLOPs", "budget that the coefficient is for");
    sp_symbol(r, "E", law->E, "nats", "irreducible loss");
    sp_symbol(r, "A", law->A, "", "scale of the parameters' term");
    sp_symbol(r, "B", law->B, "", "scale of the tokens' term");
    sp_symbol(r, "alpha", law->alpha, "", "exponent of the parameters");
    sp_symbol(r, "beta", law->beta, "", "exponent of the tokens");
    sp_symbol(r, "N_c", law->N_c, "parameters", "scale of the parameters' term");
    sp_symbol(r, "D_c", law->D_c, "tokens", "scale of the tokens' term");
    sp_symbol(r, "C", s->given.flops, "FLOPs", "option --flops");
    sp_symbol(r, "N", s->given.params, "parameters", "%s",
              s->from_model ? "the model's parameters" : "option --params");
    sp_symbol(r, "D", s->given.tokens, "tokens", "option --tokens");
    sp_symbol(r, "target", s->given.loss, "nats", "option --loss");
}

/* Which formula gave each part of the run, by what was given. */
static void put_run(const struct sp_scaling_question *s)
{
    struct sp_report *r = s->report;
    const struct sp_scaling_run *given = &s->given, *run = &s->run;
    const bool kaplan = s->law.form == SP_FORM_KAPLAN, sum = s->law.form == SP_FORM_SUM;
    const bool c = !isnan(given->flops), n = !isnan(given->params), d = !isnan(given->tokens);
    const bool l = !isnan(given->loss);
    const enum sp_quantity_id flops = c                             ? SP_Q_SCALING_FLOPS_GIVEN
                                      : (n && d) || (l && (n || d)) ? SP_Q_SCALING_FLOPS
                                      : l && s->law.rule == SP_RULE_MINIMUM
                                          ? SP_Q_SCALING_FLOPS_FOR_LOSS
                                      : l ? SP_Q_SCALING_FLOPS_FOR_LOSS_FOUND
                                      : n ? SP_Q_SCALING_FLOPS_FOR_PARAMS
                                          : SP_Q_SCALING_FLOPS_FOR_TOKENS;
    const enum sp_quantity_id params = n        ? SP_Q_SCALING_PARAMS_GIVEN
                                       : !d     ? SP_Q_SCALING_PARAMS
                                       : !l     ? SP_Q_SCALING_PARAMS_REST
                                       : kaplan ? SP_Q_SCALING_PARAMS_FOR_LOSS_KAPLAN
                                                : SP_Q_SCALING_PARAMS_FOR_LOSS_SUM;
    const enum sp_quantity_id tokens = d          ? SP_Q_SCALING_TOKENS_GIVEN
                                       : !l || !n ? SP_Q_SCALING_TOKENS
                                       : kaplan   ? SP_Q_SCALING_TOKENS_FOR_LOSS_KAPLAN
                                                  : SP_Q_SCALING_TOKENS_FOR_LOSS_SUM;
    sp_put(r, params, run->params);
    sp_put(r, tokens, run->tokens);
    sp_put(r, flops, run->flops);
    sp_put(r, SP_Q_SCALING_PF_DAYS, run->flops / 86400 / 1e15);
    sp_put(r, SP_Q_SCALING_RATIO, run->tokens / run->params);
    sp_put(r,
           l        ? SP_Q_SCALING_LOSS_GIVEN
           : kaplan ? SP_Q_SCALING_LOSS_KAPLAN
                    : SP_Q_SCALING_LOSS_SUM,
           run->loss);
    sp_put(r, SP_Q_SCALING_LOSS_IRREDUCIBLE, sum ? s->law.E : NAN);
    sp_put(r, SP_Q_SCALING_LOSS_PARAMS, sp_law_loss_of_params(&s->law, run->params));
    sp_put(r, SP_Q_SCALING_LOSS_TOKENS, sp_law_loss_of_tokens(&s->law, run->tokens));
}

static void put_optimal(const struct sp_scaling_question *s)
{
    const struct sp_scaling_run budget = {s->run.flops, NAN, NAN, NAN};
    const struct sp_scaling_run best = sp_scaling_solve(&s->law, &budget);
    sp_scope(s->report, "optimal");
    sp_put(s->report, SP_Q_SCALING_OPTIMAL_PARAMS, best.params);
    sp_put(s->report, SP_Q_SCALING_OPTIMAL_TOKENS, best.tokens);
    sp_put(s->report, SP_Q_SCALING_RATIO, best.tokens / best.params);
    sp_put(s->report, SP_Q_SCALING_OPTIMAL_LOSS, best.loss);
    sp_scope(s->report, "");
}

/* Every law's answer to the same budget. */
struct comparison {
    const struct sp_scaling_question *scaling;
    struct sp_row rows[64];
    size_t n;
};

static void put_other_law(const char *name, void *context)
{
    struct comparison *c = context;
    struct sp_report *const r = c->scaling->report;
    struct sp_sources sources = c->scaling->sources;
    struct sp_scaling_law law;
    struct sp_error ignored = {0};
    sources.n_sets = 0; /* --set is for the law of --law */
    if (c->n == sizeof c->rows / sizeof *c->rows || strlen(name) > 60 || strchr(name, '.'))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->rows[i].label, name) == 0)
            return; /* the user's own hides the built-in one */
    if (!sp_load_law(name, &sources, &law, &ignored))
        return;
    const struct sp_scaling_run budget = {c->scaling->run.flops, NAN, NAN, NAN};
    const struct sp_scaling_run best = sp_scaling_solve(&law, &budget);
    struct sp_row *row = &c->rows[c->n++];
    *row = (struct sp_row){0};
    snprintf(row->label, sizeof row->label, "%s", sp_safe(name));
    snprintf(row->prefix, sizeof row->prefix, "laws.%s", sp_safe(name));
    sp_scope(r, row->prefix);
    sp_put(r, SP_Q_SCALING_LAW_PARAMS, best.params);
    sp_put(r, SP_Q_SCALING_LAW_TOKENS, best.tokens);
    sp_put(r, SP_Q_SCALING_LAW_RATIO, best.tokens / best.params);
    sp_put(r, SP_Q_SCALING_LAW_LOSS, best.loss);
}

static void put_comparison(const struct sp_scaling_question *s)
{
    static const struct sp_column columns[] = {{NULL, "same budget by law", true},
                                               {"params", "parameters", false},
                                               {"tokens", "tokens", false},
                                               {"tokens_per_param", "tokens/parameter", false},
                                               {"loss", "loss", false}};
    static struct comparison c;
    c = (struct comparison){.scaling = s};
    sp_each_config(SP_LAWS, &s->sources, put_other_law, &c);
    sp_scope(s->report, "");
    sp_line(s->report, " ");
    sp_table(s->report, columns, sizeof columns / sizeof *columns, c.rows, c.n);
}

static void put_batch(const struct sp_scaling_question *s)
{
    struct sp_report *r = s->report;
    const double steps = sp_steps_over_min(s->batch, s->noise);
    const double tokens = sp_tokens_over_min(s->batch, s->noise);
    const double least = s->run.tokens;
    sp_scope(r, "batch");
    sp_symbol(r, "batch", s->batch, "tokens", "option --batch");
    sp_symbol(r, "B_noise", s->noise, "tokens", "gradient noise scale (--noise-scale)");
    sp_symbol(r, "from", s->from, "tokens", "option --from-batch");
    sp_symbol(r, "E_min", least, "tokens", "tokens that a tiny batch needs");
    sp_put(r, SP_Q_SCALING_BATCH, s->batch);
    sp_put(r, SP_Q_SCALING_NOISE, s->noise);
    sp_put(r, SP_Q_SCALING_STEPS_OVER_MIN, steps);
    sp_put(r, SP_Q_SCALING_TOKENS_OVER_MIN, tokens);
    sp_put(r, SP_Q_SCALING_EFFICIENCY, 1 / tokens);
    sp_put(r, SP_Q_SCALING_MIN_TOKENS, least);
    sp_put(r, SP_Q_SCALING_MIN_STEPS, least / s->noise);
    sp_put(r, SP_Q_SCALING_STEPS, least / s->noise * steps);
    sp_put(r, SP_Q_SCALING_BATCH_TOKENS, least * tokens);
    sp_put(r, SP_Q_SCALING_SPEEDUP, sp_steps_over_min(s->from, s->noise) / steps);
    sp_put(r, SP_Q_SCALING_EXTRA, tokens / sp_tokens_over_min(s->from, s->noise));
    sp_scope(r, "");
}

static int n_given(const struct sp_scaling_run *g)
{
    return !isnan(g->flops) + !isnan(g->params) + !isnan(g->tokens) + !isnan(g->loss);
}

static void lay_out_run(const struct sp_scaling_question *s)
{
    struct sp_report *r = s->report;
    sp_line(r, "run        {params} parameters%s, {tokens} tokens%s, {flops}%s = {pf_days} PF-days",
            isnan(s->given.params)     ? ""
            : s->law.without_embedding ? " (given, without embedding)"
                                       : " (given)",
            isnan(s->given.tokens) ? "" : " (given)", isnan(s->given.flops) ? "" : " (given)");
    sp_line(r, "           {tokens_per_param} tokens a parameter; 6 FLOPs a parameter and token");
    sp_line(r, "loss       {loss}%s",
            s->law.form == SP_FORM_SUM
                ? " nats a token: {loss_terms.irreducible} irreducible, {loss_terms.params} of the "
                  "model's size, {loss_terms.tokens} of the data"
                : " nats a token");
    if (n_given(&s->given) > 1)
        sp_line(
            r, "optimal    {optimal.params} parameters on {optimal.tokens} tokens for this budget: "
               "loss {optimal.loss}");
    sp_line(r, "law        {law}: {loss_formula} (--law)");
    sp_line(r, "           compute-optimal N = {optimum.coefficient} (C/6)^{optimum.exponent}");
    sp_line(r, "           {law_source}");
}

static void lay_out_batch(const struct sp_scaling_question *s)
{
    struct sp_report *r = s->report;
    sp_line(r, " ");
    sp_line(r, "batch      {batch.batch_tokens} tokens at a noise scale of "
               "{batch.noise_scale_tokens}: {batch.steps_over_min} times the fewest steps, "
               "{batch.tokens_over_min} times the fewest tokens (efficiency {batch.efficiency})");
    if (!isnan(s->run.tokens))
        sp_line(r,
                "           {batch.steps} steps and {batch.tokens} tokens, where {tokens} are what "
                "a tiny batch needs");
    if (!isnan(s->from))
        sp_line(r,
                "           against a batch of %s: {batch.fewer_steps} times fewer steps, "
                "{batch.more_tokens} times more tokens",
                sp_human_text(s->from, SP_TOKENS));
}

/* Says where a trend is carried beyond the years that it was seen in. */
static void note_beyond(const struct sp_scaling_question *s, const struct sp_trend *t)
{
    const double first = (double)t->first_year, last = (double)t->last_year;
    if ((first > 0 && s->since < first) || (last > 0 && s->year > last + 1))
        sp_note(s->report, "%s was seen from %g to %g: beyond it is carried on as it was",
                sp_safe(t->name), first, last);
}

static void put_progress(const struct sp_scaling_question *s)
{
    struct sp_report *r = s->report;
    const struct sp_trend *const c = &s->compute.trend, *const a = &s->algorithms.trend;
    const struct sp_progress p = sp_progress_between(c, a, s->since, s->year);
    sp_scope(r, "progress");
    sp_symbol(r, "from", s->since, "", "option --since");
    sp_symbol(r, "to", s->year, "", "option --year");
    sp_symbol(r, "f_c", c->factor, "", "%s: factor", c->name);
    sp_symbol(r, "T_c", c->years, "years", "%s: in so many years", c->name);
    sp_symbol(r, "f_a", a->factor, "", "%s: factor", a->name);
    sp_symbol(r, "T_a", a->years, "years", "%s: in so many years", a->name);
    sp_put(r, SP_Q_SCALING_PROGRESS_COMPUTE, p.compute);
    sp_put(r, SP_Q_SCALING_PROGRESS_ALGORITHMS, p.algorithms);
    sp_put(r, SP_Q_SCALING_PROGRESS_EFFECTIVE, p.effective);
    sp_put(r, SP_Q_SCALING_PROGRESS_SHARE, p.compute_share);
    sp_put(r, SP_Q_SCALING_PROGRESS_ALGORITHMS_SHARE, 1 - p.compute_share);
    sp_symbol(r, "run_flops", s->run.flops, "FLOPs", "of the run");
    sp_put(r, SP_Q_SCALING_PROGRESS_FLOPS, s->run.flops * p.algorithms);
    sp_scope(r, "");
    if (!isnan(s->run.flops))
        sp_line(r, " ");
    sp_line(r,
            "progress   from %g to %g: compute {progress.compute} times (%s), algorithms "
            "{progress.algorithms} times (%s), effective compute {progress.effective} times; share "
            "of compute {progress.compute_share}, of algorithms {progress.algorithms_share}",
            s->since, s->year, sp_safe(c->name), sp_safe(a->name));
    sp_line(r, "           the run is worth {progress.flops} by the algorithms of %g", s->since);
    note_beyond(s, c);
    note_beyond(s, a);
}

bool sp_answer_scaling(const struct sp_scaling_question *s, struct sp_error *error)
{
    const bool has_run = isfinite(s->run.flops);
    put_symbols(s);
    if (!put_law(s, error))
        return false;
    put_run(s);
    put_optimal(s);
    if (has_run)
        lay_out_run(s);
    if (!isnan(s->batch)) {
        put_batch(s);
        lay_out_batch(s);
    }
    if (!isnan(s->year))
        put_progress(s);
    if (has_run)
        put_comparison(s);
    return true;
}
