/* scaling: what a compute budget buys, by published scaling laws. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "commands/scaling.h"

static const struct sp_taken options[] = {
    SP_TAKE(flops),
    SP_OPTIONS_SIZED_MODEL,
    SP_TAKE(tokens),
    SP_TAKE(loss),
    SP_TAKE(law, .fallback = "chinchilla"),
    SP_TAKE(batch),
    SP_TAKE(noise_scale),
    SP_TAKE(year),
    SP_TAKE(since, .fallback = "2014"),
    SP_TAKE(compute_trend, .fallback = "training-compute"),
    SP_TAKE(algorithms_trend, .fallback = "algorithms"),
    SP_TAKE(from_batch),
};

static const struct sp_example examples[] = {
    {"scaleplan scaling --flops 5.76e23", "the size and tokens of Chinchilla, and of other laws"},
    {"scaleplan scaling --model llama3-8b --tokens 15T --law besiroglu",
     "the loss of a model trained far beyond the optimum"},
    {"scaleplan scaling --params 7B --loss 2.2 --get tokens", "tokens that reach a loss"},
    {"scaleplan scaling --flops 1e21 --batch 4M --noise-scale 2M --from-batch 1M",
     "what a larger batch buys"},
    {"scaleplan scaling --year 2023",
     "effective compute relative to 2014, and the share of compute"},
    {NULL, NULL},
};

double sp_params_of_law(const struct sp_scaling_law *law, const struct sp_model *model)
{
    const struct sp_params p = sp_count_params(model);
    return law->without_embedding && sp_model_has_shape(model) ? p.active - p.embedding : p.active;
}

static bool take_model(const struct sp_args *args, struct sp_scaling_question *s,
                       struct sp_error *error)
{
    static struct sp_model model;
    s->from_model = args->given.model || args->given.shape;
    s->given.params = args->value.params;
    if (!s->from_model)
        return true;
    if (!sp_model_of(args, &s->sources, &model, error))
        return false;
    s->given.params = sp_params_of_law(&s->law, &model);
    return true;
}

static bool check_given(const struct sp_scaling_question *s, struct sp_error *error)
{
    const struct sp_scaling_run *g = &s->given;
    const int n = !isnan(g->flops) + !isnan(g->params) + !isnan(g->tokens);
    const bool loss = !isnan(g->loss);
    if (isnan(s->batch) != isnan(s->noise))
        return sp_fail(error, SP_USAGE, "--batch and --noise-scale need each other");
    if (!isnan(s->from) && isnan(s->batch))
        return sp_fail(error, SP_USAGE, "--from-batch needs --batch and --noise-scale");
    if (!isnan(s->year) && s->year < s->since)
        return sp_fail(error, SP_USAGE, "--year %g is before --since %g", s->year, s->since);
    if (n == 0 && !loss && isnan(s->batch) && isnan(s->year))
        return sp_fail(error, SP_USAGE,
                       "a budget is needed: --flops, --model or --params, --tokens, or --loss");
    if (n > 2 || (loss && (n > 1 || !isnan(g->flops))))
        return sp_fail(
            error, SP_USAGE,
            "too much is given: at most two of --flops, a size and --tokens; with --loss "
            "a size or --tokens alone");
    if (loss && s->law.form == SP_FORM_NONE)
        return sp_fail(error, SP_INPUT, "--loss: the law %s tells no loss; another --law does",
                       sp_safe(s->law.name));
    return true;
}

static bool unreachable(const struct sp_scaling_question *s, struct sp_error *error)
{
    const bool n = !isnan(s->given.params), d = !isnan(s->given.tokens);
    const double least =
        sp_law_loss(&s->law, n ? s->given.params : INFINITY, d ? s->given.tokens : INFINITY);
    return sp_fail(error, SP_INPUT,
                   "--loss %g: no %s reaches it by the law %s, whose least is %.4g", s->given.loss,
                   n   ? "number of tokens"
                   : d ? "size"
                       : "budget",
                   sp_safe(s->law.name), least);
}

static bool load(const struct sp_args *args, struct sp_scaling_question *s, struct sp_error *error)
{
    s->sources = sp_sources_of(args);
    s->given.flops = args->value.flops;
    s->given.tokens = args->value.tokens;
    s->given.loss = args->value.loss;
    s->noise = args->value.noise_scale;
    s->year = args->value.year;
    s->since = args->value.since;
    if (!isnan(s->year) &&
        (!sp_load_trend(args->value.compute_trend, &s->sources, &s->compute, error) ||
         !sp_load_trend(args->value.algorithms_trend, &s->sources, &s->algorithms, error)))
        return false;
    if (!sp_load_law(args->value.law, &s->sources, &s->law, error) || !take_model(args, s, error) ||
        !sp_tokens_of(args, SP_O_batch, &s->batch, NULL, error) ||
        !sp_tokens_of(args, SP_O_from_batch, &s->from, NULL, error) || !check_given(s, error))
        return false;
    s->run = sp_scaling_solve(&s->law, &s->given);
    if (!isnan(s->given.loss) && !isfinite(s->run.flops))
        return unreachable(s, error);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_scaling_question question = {.report = report, .law_spec = args->value.law};
    return load(args, &question, error) && sp_answer_scaling(&question, error);
}

const struct sp_command sp_cmd_scaling = {
    .name = "scaling",
    .summary = "what a compute budget buys: optimal size and tokens, loss, larger batches",
    .about =
        "From any two of budget, size and tokens the third; from one of them the compute-optimal "
        "rest; from a loss what reaches it. One token costs 6 FLOPs a parameter. The law and its "
        "constants are data (`scaleplan list laws`, --set law.loss.alpha=0.3392). With "
        "--batch and --noise-scale: how many more steps and tokens a batch takes than the fewest "
        "possible.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
